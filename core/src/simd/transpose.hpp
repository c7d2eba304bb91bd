// SPDX-License-Identifier: Apache-2.0
// Square transposes in registers, as wide as a vector of floats, and copies between planes and blocks of channels.
#pragma once

#include "simd/storage.hpp"

namespace gw {
namespace GW_ISA {

GW_INLINE void transpose(VF (&r)[simd<float>::lanes]) {
#if defined(__AVX512F__)
  __m512 t[16], u[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps((__m512)r[i], (__m512)r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps((__m512)r[i], (__m512)r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int k = 0; k < 2; ++k) {
      const __m512d a = _mm512_castps_pd(t[i + k]), b = _mm512_castps_pd(t[i + k + 2]);
      u[i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      u[i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  for (int k = 0; k < 4; ++k) {
    const __m512 a = _mm512_shuffle_f32x4(u[k], u[k + 4], 0x88), b = _mm512_shuffle_f32x4(u[k], u[k + 4], 0xdd);
    const __m512 c = _mm512_shuffle_f32x4(u[k + 8], u[k + 12], 0x88), d = _mm512_shuffle_f32x4(u[k + 8], u[k + 12], 0xdd);
    r[k] = (VF)_mm512_shuffle_f32x4(a, c, 0x88);
    r[k + 8] = (VF)_mm512_shuffle_f32x4(a, c, 0xdd);
    r[k + 4] = (VF)_mm512_shuffle_f32x4(b, d, 0x88);
    r[k + 12] = (VF)_mm512_shuffle_f32x4(b, d, 0xdd);
  }
#elif defined(__AVX2__)
  __m256 t[8], u[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps((__m256)r[i], (__m256)r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps((__m256)r[i], (__m256)r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      const __m256d a = _mm256_castps_pd(t[i + k]), b = _mm256_castps_pd(t[i + k + 2]);
      u[i + 2 * k] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, b));
      u[i + 2 * k + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, b));
    }
  for (int k = 0; k < 4; ++k) {
    r[k] = (VF)_mm256_permute2f128_ps(u[k], u[k + 4], 0x20);
    r[k + 4] = (VF)_mm256_permute2f128_ps(u[k], u[k + 4], 0x31);
  }
#else
  const VI even = {0, 4, 2, 6}, odd = {1, 5, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
  const VF a = __builtin_shuffle(r[0], r[1], even), b = __builtin_shuffle(r[0], r[1], odd);
  const VF c = __builtin_shuffle(r[2], r[3], even), d = __builtin_shuffle(r[2], r[3], odd);
  r[0] = __builtin_shuffle(a, c, low);
  r[1] = __builtin_shuffle(b, d, low);
  r[2] = __builtin_shuffle(a, c, high);
  r[3] = __builtin_shuffle(b, d, high);
#endif
}

GW_INLINE void transpose(simd<double>::V (&r)[simd<double>::lanes]) {
  typedef simd<double>::V V;
#if defined(__AVX512F__)
  __m512d t[8];
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm512_unpacklo_pd((__m512d)r[i], (__m512d)r[i + 1]);
    t[i + 1] = _mm512_unpackhi_pd((__m512d)r[i], (__m512d)r[i + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    const __m512d a = _mm512_shuffle_f64x2(t[k], t[k + 2], 0x88), b = _mm512_shuffle_f64x2(t[k], t[k + 2], 0xdd);
    const __m512d c = _mm512_shuffle_f64x2(t[k + 4], t[k + 6], 0x88), d = _mm512_shuffle_f64x2(t[k + 4], t[k + 6], 0xdd);
    r[k] = (V)_mm512_shuffle_f64x2(a, c, 0x88);
    r[k + 4] = (V)_mm512_shuffle_f64x2(a, c, 0xdd);
    r[k + 2] = (V)_mm512_shuffle_f64x2(b, d, 0x88);
    r[k + 6] = (V)_mm512_shuffle_f64x2(b, d, 0xdd);
  }
#elif defined(__AVX2__)
  __m256d t[4];
  for (int i = 0; i < 4; i += 2) {
    t[i] = _mm256_unpacklo_pd((__m256d)r[i], (__m256d)r[i + 1]);
    t[i + 1] = _mm256_unpackhi_pd((__m256d)r[i], (__m256d)r[i + 1]);
  }
  for (int k = 0; k < 2; ++k) {
    r[k] = (V)_mm256_permute2f128_pd(t[k], t[k + 2], 0x20);
    r[k + 2] = (V)_mm256_permute2f128_pd(t[k], t[k + 2], 0x31);
  }
#else
  const V a = {r[0][0], r[1][0]}, b = {r[0][1], r[1][1]};
  r[0] = a;
  r[1] = b;
#endif
}

typedef float VF4 __attribute__((vector_size(16)));
typedef float VF4U __attribute__((vector_size(16), aligned(4), may_alias));

GW_INLINE VF4 load4(const float* p) { return *reinterpret_cast<const VF4U*>(p); }
GW_INLINE void store4(float* p, VF4 v) { *reinterpret_cast<VF4U*>(p) = v; }

// Four vectors of four to their transpose, of any element type.
template <class V4>
GW_INLINE void transpose4(V4 (&r)[4]) {
  const V4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  const V4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6), d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// `count` elements of each of `channels` <= lanes planes, `step` apart, to blocks of one vector; missing channels are 0.
template <class S, class T>
inline void planes_to_blocks(const S* plane, int64_t step, int channels, int64_t count, T* block) {
  typedef typename simd<T>::V V;
  constexpr int lanes = simd<T>::lanes;
  int64_t p = 0;
  for (; p + lanes <= count; p += lanes) {
    V r[lanes];
    for (int c = 0; c < lanes; ++c) r[c] = c < channels ? storage<S>::load_vector(plane + c * step + p) : V{};
    transpose(r);
    for (int k = 0; k < lanes; ++k) simd<T>::store(block + (p + k) * lanes, r[k]);
  }
  for (; p < count; ++p)
    for (int c = 0; c < lanes; ++c) block[p * lanes + c] = c < channels ? storage<S>::load(plane + c * step + p) : T(0);
}

// The same to blocks of four floats, for images of few channels.
template <class S>
inline void planes_to_pixels(const S* plane, int64_t step, int channels, int64_t count, float* pixel) {
  int64_t p = 0;
  for (; p + 4 <= count; p += 4) {
    VF4 r[4];
    for (int c = 0; c < 4; ++c)
      for (int k = 0; k < 4; ++k) r[c][k] = c < channels ? storage<S>::load(plane + c * step + p + k) : 0.0f;
    transpose4(r);
    for (int k = 0; k < 4; ++k) store4(pixel + (p + k) * 4, r[k]);
  }
  for (; p < count; ++p)
    for (int c = 0; c < 4; ++c) pixel[p * 4 + c] = c < channels ? storage<S>::load(plane + c * step + p) : 0.0f;
}

}  // namespace GW_ISA
}  // namespace gw
