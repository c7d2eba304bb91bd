// SPDX-License-Identifier: Apache-2.0
// Nearest, channels last: a pixel is copied as it is, whatever its type.
#pragma once

#include "sampling/coordinates.hpp"
#include "sampling/interleaved_output.hpp"
#include "simd/partial.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
inline void tabulate_nearest(const SampleJob& job, int count, const Coordinates<T>& at, int32_t* offset) {
  typedef simd<T> s;
  typedef typename s::I I;
  typedef typename s::index index;
  const I right = s::splat_index((index)(job.width - 1)), bottom = s::splat_index((index)(job.height - 1));
  for (int i = 0; i < count; i += s::lanes) {
    const I x = s::to_index(s::load(at.x + i)), y = s::to_index(s::load(at.y + i));
    const I inside = (x >= I{}) & (x <= right) & (y >= I{}) & (y <= bottom);
    const I to = y * s::splat_index((index)job.x_h) + x * s::splat_index((index)job.x_w);
    s::store_index(offset + i, select(inside, to, s::splat_index(outside)));
  }
}

typedef uint8_t Bytes __attribute__((vector_size(GW_VEC_BYTES)));
typedef uint8_t BytesU __attribute__((vector_size(GW_VEC_BYTES), aligned(1), may_alias));

GW_INLINE void copy_pixel(char* to, const char* from, int64_t bytes) {
  constexpr int64_t width = GW_VEC_BYTES;
  if (bytes >= width) {
    int64_t k = 0;
    for (; k + width <= bytes; k += width)
      *reinterpret_cast<BytesU*>(to + k) = *reinterpret_cast<const BytesU*>(from + k);
    if (k < bytes)
      *reinterpret_cast<BytesU*>(to + bytes - width) = *reinterpret_cast<const BytesU*>(from + bytes - width);
    return;
  }
#if defined(__AVX512BW__)
  const __mmask64 first = ((uint64_t)1 << bytes) - 1;
  _mm512_mask_storeu_epi8(to, first, _mm512_maskz_loadu_epi8(first, from));
#else
  uint64_t word[width / 8];
  read_words<width / 8>(word, from, (int)bytes);
  write_words<width / 8>(to, word, (int)bytes);
#endif
}

// `bytes`: of a pixel if it has one of the common short lengths, else 0.
template <class S, int bytes>
void sample_interleaved_nearest(const SampleJob& job, const Piece& piece) {
  typedef typename storage<S>::compute T;
  Coordinates<T> at;
  alignas(64) int32_t offset[tile_points];
  const int64_t pixel_bytes = (piece.c1 - piece.c0) * (int64_t)sizeof(S);
  const bool far = bytes > 0 && is_far<S>(job);
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      const int count = coordinates<T>(job, n, piece, at);
      tabulate_nearest<T>(job, count, at, offset);
    }
    const S* x = static_cast<const S*>(job.x) + n * job.x_n + piece.c0;
    write_points<S>(job, piece, n, 0, [&](int i, S* to, bool) __attribute__((always_inline)) {
      const int32_t from = offset[i];
      if (far) prefetch(x + offset[(i + prefetch_distance) % tile_points]);
      if (from == outside)
        memset(to, 0, bytes > 0 ? (size_t)bytes : (size_t)pixel_bytes);
      else if (bytes > 0)
        memcpy(to, x + from, (size_t)bytes);
      else
        copy_pixel(reinterpret_cast<char*>(to), reinterpret_cast<const char*>(x + from), pixel_bytes);
    });
  }
}

}  // namespace GW_ISA
}  // namespace gw
