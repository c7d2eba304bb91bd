// SPDX-License-Identifier: Apache-2.0
// Vectors at the native width of the instruction set this file is compiled for: 16 bytes (x86-64-v2, NEON),
// 32 (x86-64-v3), 64 (x86-64-v4). A 64-byte vector on AVX2 made a variable shuffle 16 times slower than two of 32.
//
// Included only by kernels, which are compiled once per instruction set inside namespace gw::GW_ISA. Nothing here may
// come from a std:: template: the linker keeps one copy of those, and it might be one this CPU cannot run.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if !defined(GW_ISA)
#error "GW_ISA names the namespace of this instruction set's kernels"
#endif

#if defined(__AVX512F__)
#define GW_VEC_BYTES 64
#elif defined(__AVX2__)
#define GW_VEC_BYTES 32
#else
#define GW_VEC_BYTES 16
#endif

#define GW_INLINE inline __attribute__((always_inline))

namespace gw {
namespace GW_ISA {

template <class T>
GW_INLINE T min_of(T a, T b) { return b < a ? b : a; }
template <class T>
GW_INLINE T max_of(T a, T b) { return a < b ? b : a; }

// A shuffle of lanes by a vector of indices is one instruction from AVX2 on; before that it is a table of bytes or a
// loop, and paths built on it are not used.
#if defined(__AVX2__)
constexpr bool has_lane_shuffle = true;
#else
constexpr bool has_lane_shuffle = false;
#endif

template <class T>
struct simd;

template <>
struct simd<float> {
  static constexpr int lanes = GW_VEC_BYTES / 4;
  typedef float V __attribute__((vector_size(GW_VEC_BYTES)));
  typedef int32_t I __attribute__((vector_size(GW_VEC_BYTES)));
  typedef float VU __attribute__((vector_size(GW_VEC_BYTES), aligned(4), may_alias));
  typedef int32_t IU __attribute__((vector_size(GW_VEC_BYTES), aligned(4), may_alias));
  typedef int32_t index;

  static GW_INLINE V load(const float* p) { return *reinterpret_cast<const VU*>(p); }
  static GW_INLINE void store(float* p, V v) { *reinterpret_cast<VU*>(p) = v; }
  static GW_INLINE I load_index(const int32_t* p) { return *reinterpret_cast<const IU*>(p); }
  static GW_INLINE void store_index(int32_t* p, I v) { *reinterpret_cast<IU*>(p) = v; }
  static GW_INLINE I to_index(V v) { return __builtin_convertvector(v, I); }
  static GW_INLINE V to_value(I v) { return __builtin_convertvector(v, V); }

#if defined(__AVX512F__)
  static GW_INLINE V min(V a, V b) { return (V)_mm512_min_ps((__m512)a, (__m512)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm512_max_ps((__m512)a, (__m512)b); }
  static GW_INLINE V floor(V a) { return (V)_mm512_roundscale_ps((__m512)a, 0x09); }
  static GW_INLINE V rint(V a) { return (V)_mm512_roundscale_ps((__m512)a, 0x08); }
  static GW_INLINE V trunc(V a) { return (V)_mm512_roundscale_ps((__m512)a, 0x0b); }
  static GW_INLINE V fma(V a, V b, V c) { return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c); }
#elif defined(__AVX2__)
  static GW_INLINE V min(V a, V b) { return (V)_mm256_min_ps((__m256)a, (__m256)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm256_max_ps((__m256)a, (__m256)b); }
  static GW_INLINE V floor(V a) { return (V)_mm256_round_ps((__m256)a, 0x09); }
  static GW_INLINE V rint(V a) { return (V)_mm256_round_ps((__m256)a, 0x08); }
  static GW_INLINE V trunc(V a) { return (V)_mm256_round_ps((__m256)a, 0x0b); }
  static GW_INLINE V fma(V a, V b, V c) { return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c); }
#elif defined(__x86_64__)
  static GW_INLINE V min(V a, V b) { return (V)_mm_min_ps((__m128)a, (__m128)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm_max_ps((__m128)a, (__m128)b); }
  static GW_INLINE V floor(V a) { return (V)_mm_round_ps((__m128)a, 0x09); }
  static GW_INLINE V rint(V a) { return (V)_mm_round_ps((__m128)a, 0x08); }
  static GW_INLINE V trunc(V a) { return (V)_mm_round_ps((__m128)a, 0x0b); }
  static GW_INLINE V fma(V a, V b, V c) { return a * b + c; }
#else
  // vminnm and vmaxnm give the number when the other is NaN: what the x86 instructions do for a NaN on the left.
  static GW_INLINE V min(V a, V b) { return (V)vminnmq_f32((float32x4_t)a, (float32x4_t)b); }
  static GW_INLINE V max(V a, V b) { return (V)vmaxnmq_f32((float32x4_t)a, (float32x4_t)b); }
  static GW_INLINE V floor(V a) { return (V)vrndmq_f32((float32x4_t)a); }
  static GW_INLINE V rint(V a) { return (V)vrndnq_f32((float32x4_t)a); }
  static GW_INLINE V trunc(V a) { return (V)vrndq_f32((float32x4_t)a); }
  static GW_INLINE V fma(V a, V b, V c) { return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
#endif
  static GW_INLINE V splat(float v) { return v - V{}; }
  static GW_INLINE I splat_index(int32_t v) { return v - I{}; }
  static GW_INLINE V abs(V a) { return (V)((I)a & splat_index(0x7fffffff)); }
};

template <>
struct simd<double> {
  static constexpr int lanes = GW_VEC_BYTES / 8;
  typedef double V __attribute__((vector_size(GW_VEC_BYTES)));
  typedef int64_t I __attribute__((vector_size(GW_VEC_BYTES)));
  typedef double VU __attribute__((vector_size(GW_VEC_BYTES), aligned(8), may_alias));
  typedef int32_t H __attribute__((vector_size(GW_VEC_BYTES / 2)));
  typedef int32_t HU __attribute__((vector_size(GW_VEC_BYTES / 2), aligned(4), may_alias));
  typedef int64_t index;

  static GW_INLINE V load(const double* p) { return *reinterpret_cast<const VU*>(p); }
  static GW_INLINE void store(double* p, V v) { *reinterpret_cast<VU*>(p) = v; }
  // Tables hold 32-bit indices whatever the value type.
  static GW_INLINE I load_index(const int32_t* p) { return __builtin_convertvector((H)*reinterpret_cast<const HU*>(p), I); }
  static GW_INLINE void store_index(int32_t* p, I v) { *reinterpret_cast<HU*>(p) = __builtin_convertvector(v, H); }
  // By way of 32 bits: only AVX-512 converts double to int64 in one instruction, and indices fit.
  static GW_INLINE I to_index(V v) { return __builtin_convertvector(__builtin_convertvector(v, H), I); }
  static GW_INLINE V to_value(I v) { return __builtin_convertvector(__builtin_convertvector(v, H), V); }

#if defined(__AVX512F__)
  static GW_INLINE V min(V a, V b) { return (V)_mm512_min_pd((__m512d)a, (__m512d)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm512_max_pd((__m512d)a, (__m512d)b); }
  static GW_INLINE V floor(V a) { return (V)_mm512_roundscale_pd((__m512d)a, 0x09); }
  static GW_INLINE V rint(V a) { return (V)_mm512_roundscale_pd((__m512d)a, 0x08); }
  static GW_INLINE V trunc(V a) { return (V)_mm512_roundscale_pd((__m512d)a, 0x0b); }
  static GW_INLINE V fma(V a, V b, V c) { return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#elif defined(__AVX2__)
  static GW_INLINE V min(V a, V b) { return (V)_mm256_min_pd((__m256d)a, (__m256d)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm256_max_pd((__m256d)a, (__m256d)b); }
  static GW_INLINE V floor(V a) { return (V)_mm256_round_pd((__m256d)a, 0x09); }
  static GW_INLINE V rint(V a) { return (V)_mm256_round_pd((__m256d)a, 0x08); }
  static GW_INLINE V trunc(V a) { return (V)_mm256_round_pd((__m256d)a, 0x0b); }
  static GW_INLINE V fma(V a, V b, V c) { return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#elif defined(__x86_64__)
  static GW_INLINE V min(V a, V b) { return (V)_mm_min_pd((__m128d)a, (__m128d)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm_max_pd((__m128d)a, (__m128d)b); }
  static GW_INLINE V floor(V a) { return (V)_mm_round_pd((__m128d)a, 0x09); }
  static GW_INLINE V rint(V a) { return (V)_mm_round_pd((__m128d)a, 0x08); }
  static GW_INLINE V trunc(V a) { return (V)_mm_round_pd((__m128d)a, 0x0b); }
  static GW_INLINE V fma(V a, V b, V c) { return a * b + c; }
#else
  static GW_INLINE V min(V a, V b) { return (V)vminnmq_f64((float64x2_t)a, (float64x2_t)b); }
  static GW_INLINE V max(V a, V b) { return (V)vmaxnmq_f64((float64x2_t)a, (float64x2_t)b); }
  static GW_INLINE V floor(V a) { return (V)vrndmq_f64((float64x2_t)a); }
  static GW_INLINE V rint(V a) { return (V)vrndnq_f64((float64x2_t)a); }
  static GW_INLINE V trunc(V a) { return (V)vrndq_f64((float64x2_t)a); }
  static GW_INLINE V fma(V a, V b, V c) { return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b); }
#endif
  static GW_INLINE V splat(double v) { return v - V{}; }
  static GW_INLINE I splat_index(int64_t v) { return v - I{}; }
  static GW_INLINE V abs(V a) { return (V)((I)a & splat_index(0x7fffffffffffffff)); }
};

// Lanes of `v` where `mask` (0 or -1) is set, else `otherwise`.
template <class Mask, class Vector>
GW_INLINE Vector select(Mask mask, Vector v, Vector otherwise) { return mask ? v : otherwise; }

// True if any lane of a comparison is set.
GW_INLINE bool any(simd<float>::I mask) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__x86_64__)
  return _mm_movemask_ps((__m128)mask) != 0;
#else
  return vmaxvq_u32((uint32x4_t)mask) != 0;
#endif
}
GW_INLINE bool any(simd<double>::I mask) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_pd((__m256d)mask) != 0;
#elif defined(__x86_64__)
  return _mm_movemask_pd((__m128d)mask) != 0;
#else
  return vmaxvq_u32(vreinterpretq_u32_s64((int64x2_t)mask)) != 0;
#endif
}

#if defined(__x86_64__)
// Eight bytes from anywhere into each half: _mm_load_sd and _mm_loadh_pd read a double, which has to lie on one.
GW_INLINE __m128d load_halves(const void* low, const void* high) {
  typedef double anywhere __attribute__((aligned(1), may_alias));
  return (__m128d){*static_cast<const anywhere*>(low), *static_cast<const anywhere*>(high)};
}
#endif

// The smallest and largest lane.
GW_INLINE int32_t min_lane(simd<float>::I v) {
#if defined(__AVX512F__)
  return _mm512_reduce_min_epi32((__m512i)v);
#elif defined(__AVX2__)
  __m128i h = _mm_min_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
  h = _mm_min_epi32(h, _mm_shuffle_epi32(h, 0x4e));
  return _mm_cvtsi128_si32(_mm_min_epi32(h, _mm_shuffle_epi32(h, 0xb1)));
#else
  int32_t m = v[0];
  for (int i = 1; i < simd<float>::lanes; ++i) m = min_of(m, v[i]);
  return m;
#endif
}
GW_INLINE int32_t max_lane(simd<float>::I v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_epi32((__m512i)v);
#elif defined(__AVX2__)
  __m128i h = _mm_max_epi32(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
  h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(h, _mm_shuffle_epi32(h, 0xb1)));
#else
  int32_t m = v[0];
  for (int i = 1; i < simd<float>::lanes; ++i) m = max_of(m, v[i]);
  return m;
#endif
}

}  // namespace GW_ISA
}  // namespace gw
