// SPDX-License-Identifier: Apache-2.0
// Bilinear, two to four channels with pixels side by side: both pixels of a row are one vector of eight lanes.
// Against four pixels by themselves (16384 points of 128 x 128 x 3): uint8 3.2 ns a point, not 6.7; float16 2.7, not 3.8;
// float32 2.6, not 2.9. Without masked loads the pixel after the last would be read, so only with AVX-512.
#pragma once

#include "sampling/exact.hpp"
#include "sampling/interleaved_output.hpp"
#include "simd/quad.hpp"

#if defined(__AVX512F__)
namespace gw {
namespace GW_ISA {

// 2 * C elements as floats, nothing beyond them read.
template <int C>
GW_INLINE __m256 load_pair(const float* p) { return _mm256_maskz_loadu_ps((__mmask8)((1 << 2 * C) - 1), p); }
template <int C>
GW_INLINE __m256 load_pair(const float16* p) {
  return _mm256_cvtph_ps(_mm_maskz_loadu_epi16((__mmask8)((1 << 2 * C) - 1), p));
}
template <int C>
GW_INLINE __m256i load_pair_words(const void* p) {
  return _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16((__mmask8)((1 << 2 * C) - 1), p));
}
template <int C>
GW_INLINE __m256 load_pair(const bfloat16* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(load_pair_words<C>(p), 16));
}
template <int C>
GW_INLINE __m256 load_pair(const uint16_t* p) { return _mm256_cvtepi32_ps(load_pair_words<C>(p)); }
template <int C>
GW_INLINE __m256 load_pair(const uint8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_maskz_loadu_epi8((__mmask16)((1 << 2 * C) - 1), p)));
}
template <int C>
GW_INLINE __m256 load_pair(const int8_t* p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_maskz_loadu_epi8((__mmask16)((1 << 2 * C) - 1), p)));
}

// The adjacent pair of one axis, moved into the image; a tap that does not count weighs 0.
struct AxisPair {
  VI start;
  VF near, far;
  bool folded;
};
GW_INLINE AxisPair axis_pair(VF p, int64_t size) {
  typedef simd<float> s;
  const VF f = s::floor(p), w = p - f, rest = s::splat(1) - w;
  const VI i = s::to_index(f), last = s::splat_index((int32_t)size - 2);
  AxisPair a;
  a.start = select(i < VI{}, VI{}, select(i > last, last, i));
  a.folded = any(a.start != i);
  a.near = select(i == a.start, rest, select(i == -1, w, VF{}));
  a.far = select(i == a.start, w, select(i == last + 1, rest, VF{}));
  return a;
}

struct alignas(64) PairTable {
  int32_t offset[tile_points];
  float upper[tile_points], lower[tile_points], left[tile_points], right[tile_points];
  bool folded[tile_points / simd<float>::lanes];
};

inline void tabulate_pairs(const SampleJob& job, int count, const Coordinates<float>& at, PairTable& t) {
  typedef simd<float> s;
  for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
    const AxisPair x = axis_pair(s::load(at.x + i), job.width), y = axis_pair(s::load(at.y + i), job.height);
    s::store_index(t.offset + i, y.start * s::splat_index((int32_t)job.x_h) + x.start * s::splat_index((int32_t)job.x_w));
    s::store(t.upper + i, y.near);
    s::store(t.lower + i, y.far);
    s::store(t.left + i, x.near);
    s::store(t.right + i, x.far);
    t.folded[b] = x.folded || y.folded;
  }
}

template <class S, int C>
void sample_pixel_pairs(const SampleJob& job, const Piece& piece) {
  Coordinates<float> at;
  PairTable t;
  const bool far = is_far<S>(job);
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      const int count = coordinates<float>(job, n, piece, at);
      tabulate_pairs(job, count, at, t);
    }
    const S* x = static_cast<const S*>(job.x) + n * job.x_n;
    write_points<S>(job, piece, n, 0, [&](int i, S* to, bool spill) __attribute__((always_inline)) {
      if (far) {
        const S* next = x + t.offset[(i + prefetch_distance) % tile_points];
        prefetch(next);
        prefetch(next + job.x_h);
      }
      const S* p = x + t.offset[i];
      __m256 rows = _mm256_mul_ps(load_pair<C>(p), _mm256_set1_ps(t.upper[i]));
      rows = _mm256_fmadd_ps(load_pair<C>(p + job.x_h), _mm256_set1_ps(t.lower[i]), rows);
      const __m256i words = _mm256_castps_si256(rows);
      const __m128 right = _mm256_castps256_ps128(_mm256_castsi256_ps(_mm256_alignr_epi32(words, words, C)));
      QF v = (QF)_mm_fmadd_ps(right, _mm_set1_ps(t.right[i]),
                              _mm_mul_ps(_mm256_castps256_ps128(rows), _mm_set1_ps(t.left[i])));
      if (storage<S>::has_nan && t.folded[i / simd<float>::lanes] && any_nan<C>(v))
        for (int c = 0; c < C; ++c) {
          const Plane<S> plane = {x + c, job.x_h, job.x_w, job.height, job.width};
          v[c] = sample_bilinear<S, float>(plane, at.x[i], at.y[i]);
        }
      if (spill)
        store_quad(to, v);
      else
        store_pixel<C>(to, v);
    });
  }
}

}  // namespace GW_ISA
}  // namespace gw
#endif
