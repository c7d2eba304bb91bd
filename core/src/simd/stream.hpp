// SPDX-License-Identifier: Apache-2.0
// Output written past the caches: whole lines that are not read again need not be fetched before they are written.
#pragma once

#include "simd/vec.hpp"

namespace gw {
namespace GW_ISA {

constexpr int line_bytes = 64;

// One line to aligned memory, from anywhere.
GW_INLINE void stream_line(char* to, const char* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  for (int i = 0; i < line_bytes; i += 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i)));
#elif defined(__x86_64__)
  for (int i = 0; i < line_bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
#else
  memcpy(to, from, line_bytes);
#endif
}

// A vector that is a whole line, to aligned memory.
GW_INLINE void stream_vector(float* to, simd<float>::V v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, (__m512)v);
#else
  simd<float>::store(to, v);
#endif
}
constexpr bool vector_is_line = GW_VEC_BYTES == line_bytes;

// Outputs larger than a core's share of the last-level cache would only push x out of it.
constexpr int64_t streamed_output_bytes = int64_t{8} << 20;

// After the last line: other threads see them.
GW_INLINE void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

GW_INLINE void prefetch(const void* p) { __builtin_prefetch(p); }

// Consecutive bytes on their way to memory: the producer writes at next(), up to `slack` bytes past what it then claims
// with advance(), and only claimed bytes ever reach memory. What is produced lies aligned in the buffer, and what is
// read from it may not: a store across two lines costs more than a load.
class LineBuffer {
 public:
  static constexpr int capacity = 4096, slack = 128;

  explicit GW_INLINE LineBuffer(void* to, int phase)
      : to_(static_cast<char*>(to)), home_(line_bytes + phase), first_(home_), fill_(home_) {}
  GW_INLINE char* next() { return buffer_ + fill_; }
  // At most `capacity` bytes at a time.
  GW_INLINE void advance(int bytes) {
    fill_ += bytes;
    if (fill_ >= capacity) flush();
  }
  GW_INLINE void finish() {
    flush();
    memcpy(to_, buffer_ + first_, (size_t)(fill_ - first_));
    first_ = fill_;
  }

 private:
  void flush() {
    const int head = (int)(-reinterpret_cast<uintptr_t>(to_) & (line_bytes - 1));
    if (fill_ - first_ < head + line_bytes) return;
    if (head > 0) {
      memcpy(to_, buffer_ + first_, (size_t)head);
      to_ += head;
      first_ += head;
    }
    for (; fill_ - first_ >= line_bytes; first_ += line_bytes, to_ += line_bytes) stream_line(to_, buffer_ + first_);
    // The rest goes right before the place where production starts again.
    const int rest = fill_ - first_;
    memcpy(buffer_ + home_ - line_bytes, buffer_ + fill_ - line_bytes, line_bytes);
    first_ = home_ - rest;
    fill_ = home_;
  }

  alignas(64) char buffer_[2 * line_bytes + 2 * capacity + slack];
  char* to_;           // where buffer_[first_] belongs
  int home_;           // where production starts
  int first_, fill_;
};

}  // namespace GW_ISA
}  // namespace gw
