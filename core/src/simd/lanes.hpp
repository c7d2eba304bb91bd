// SPDX-License-Identifier: Apache-2.0
// Vectors of a chosen number of lanes, up to the native one: a pixel of three channels wastes one lane of four but
// thirteen of sixteen. At least four lanes, so that two native vectors make one of double where those have two.
#pragma once

#include "simd/vec.hpp"

namespace gw {
namespace GW_ISA {

template <class T, int L>
struct lanes_of {
  typedef T V __attribute__((vector_size(L * sizeof(T))));
  typedef T VU __attribute__((vector_size(L * sizeof(T)), aligned(alignof(T)), may_alias));
  static constexpr int lanes = L;
  static GW_INLINE V load(const T* p) { return *reinterpret_cast<const VU*>(p); }
  static GW_INLINE void store(T* p, const V& v) { *reinterpret_cast<VU*>(p) = v; }
  static GW_INLINE V splat(T v) { return v - V{}; }
};

template <class T>
using four = lanes_of<T, 4>;
typedef four<float>::V F4;
typedef four<double>::V D4;

// a * b + c, fused where the instruction set has it.
template <class V>
GW_INLINE V fused(V a, V b, V c) { return a * b + c; }
#if defined(__FMA__)
GW_INLINE F4 fused(F4 a, F4 b, F4 c) { return (F4)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c); }
GW_INLINE D4 fused(D4 a, D4 b, D4 c) { return (D4)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
typedef lanes_of<float, 8>::V F8;
GW_INLINE F8 fused(F8 a, F8 b, F8 c) { return (F8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#endif
#if defined(__AVX512F__)
typedef lanes_of<float, 16>::V F16;
typedef lanes_of<double, 8>::V D8;
GW_INLINE F16 fused(F16 a, F16 b, F16 c) { return (F16)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
GW_INLINE D8 fused(D8 a, D8 b, D8 c) { return (D8)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#endif
#if defined(__aarch64__)
GW_INLINE F4 fused(F4 a, F4 b, F4 c) { return (F4)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#endif

// Vectors made of one of four lanes: repeated whole, or each lane four times (of eight lanes: the lower or upper two).
// GCC 12 does either by way of memory, and waits for it.
#if defined(__AVX2__)
GW_INLINE F8 repeat_four(const lanes_of<float, 8>&, F4 v) { return (F8)_mm256_set_m128((__m128)v, (__m128)v); }
GW_INLINE F8 spread_four(const lanes_of<float, 8>&, F4 v, int half) {
  const __m256i lower = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), upper = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
  return (F8)_mm256_permutevar8x32_ps(_mm256_castps128_ps256((__m128)v), half == 0 ? lower : upper);
}
#endif
#if defined(__AVX512F__)
GW_INLINE F16 repeat_four(const lanes_of<float, 16>&, F4 v) { return (F16)_mm512_broadcast_f32x4((__m128)v); }
GW_INLINE F16 spread_four(const lanes_of<float, 16>&, F4 v, int) {
  const __m512i lane = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  return (F16)_mm512_permutexvar_ps(lane, _mm512_castps128_ps512((__m128)v));
}
#endif

// Four vectors folded into one whose lanes 4 i + k add up, over i, to the sum of the lanes of vector k. In-lane shuffles
// only, one instruction each.
template <class V>
GW_INLINE V fold_four(const lanes_of<float, 4>&, V a, V b, V c, V d) {
  const V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const V cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}
template <class V>
GW_INLINE V fold_four(const lanes_of<double, 4>&, V a, V b, V c, V d) {
  const V ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const V cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}
template <class T, class V>
GW_INLINE V fold_four(const lanes_of<T, 8>&, V a, V b, V c, V d) {
  const V ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13) + __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  const V cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13) + __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  return __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) + __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
}
template <class V>
GW_INLINE V fold_four(const lanes_of<float, 16>&, V a, V b, V c, V d) {
#define GW_LOW 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define GW_HIGH 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
  const V ab = __builtin_shufflevector(a, b, GW_LOW) + __builtin_shufflevector(a, b, GW_HIGH);
  const V cd = __builtin_shufflevector(c, d, GW_LOW) + __builtin_shufflevector(c, d, GW_HIGH);
#undef GW_LOW
#undef GW_HIGH
  return __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
         __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}

// The rest of it, from memory: loads instead of shuffles.
template <class T, int L>
GW_INLINE typename four<T>::V unfold(const T* folded) {
  typename four<T>::V sum = four<T>::load(folded);
  for (int i = 4; i < L; i += 4) sum += four<T>::load(folded + i);
  return sum;
}

}  // namespace GW_ISA
}  // namespace gw
