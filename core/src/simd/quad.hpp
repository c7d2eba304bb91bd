// SPDX-License-Identifier: Apache-2.0
// Four lanes whatever the instruction set: a pixel of two to four channels.
#pragma once

#include "simd/partial.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct quad;

template <>
struct quad<float> {
  typedef float V __attribute__((vector_size(16)));
  typedef float VU __attribute__((vector_size(16), aligned(4), may_alias));
  typedef int32_t I __attribute__((vector_size(16)));
  static GW_INLINE V splat(float v) { return v - V{}; }
#if defined(__x86_64__)
#if defined(__FMA__)
  static GW_INLINE V fma(V a, V b, V c) { return (V)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c); }
#else
  static GW_INLINE V fma(V a, V b, V c) { return a * b + c; }
#endif
  static GW_INLINE V min(V a, V b) { return (V)_mm_min_ps((__m128)a, (__m128)b); }
  static GW_INLINE V max(V a, V b) { return (V)_mm_max_ps((__m128)a, (__m128)b); }
  static GW_INLINE V rint(V a) { return (V)_mm_round_ps((__m128)a, 0x08); }
#else
  static GW_INLINE V fma(V a, V b, V c) { return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b); }
  static GW_INLINE V min(V a, V b) { return (V)vminnmq_f32((float32x4_t)a, (float32x4_t)b); }
  static GW_INLINE V max(V a, V b) { return (V)vmaxnmq_f32((float32x4_t)a, (float32x4_t)b); }
  static GW_INLINE V rint(V a) { return (V)vrndnq_f32((float32x4_t)a); }
#endif
};

template <>
struct quad<double> {
  typedef double V __attribute__((vector_size(32)));
  typedef double VU __attribute__((vector_size(32), aligned(8), may_alias));
  static GW_INLINE V splat(double v) { return v - V{}; }
#if defined(__FMA__)
  static GW_INLINE V fma(V a, V b, V c) { return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#else
  static GW_INLINE V fma(V a, V b, V c) { return a * b + c; }
#endif
};

typedef quad<float>::V QF;
typedef quad<float>::I QI;
typedef uint16_t Q16 __attribute__((vector_size(8)));
typedef uint8_t Q8 __attribute__((vector_size(4)));
typedef int8_t Q8S __attribute__((vector_size(4)));

GW_INLINE QF widen_quad(float16, uint64_t bits) {
#if defined(__F16C__)
  return (QF)_mm_cvtph_ps(_mm_cvtsi64_si128((int64_t)bits));
#elif defined(__aarch64__)
  return (QF)vcvt_f32_f16(vreinterpret_f16_u64(vcreate_u64(bits)));
#else
  QF r;
  for (int i = 0; i < 4; ++i) r[i] = widen(float16{(uint16_t)(bits >> (16 * i))});
  return r;
#endif
}
GW_INLINE QF widen_quad(bfloat16, uint64_t bits) {
  typedef uint32_t U __attribute__((vector_size(16)));
  Q16 h;
  memcpy(&h, &bits, 8);
  return (QF)(__builtin_convertvector(h, U) << 16);
}
GW_INLINE QF widen_quad(uint16_t, uint64_t bits) {
  Q16 h;
  memcpy(&h, &bits, 8);
  return __builtin_convertvector(__builtin_convertvector(h, QI), QF);
}
GW_INLINE QF widen_quad(uint8_t, uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  Q8 h;
  memcpy(&h, &low, 4);
  return __builtin_convertvector(__builtin_convertvector(h, QI), QF);
}
GW_INLINE QF widen_quad(int8_t, uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  Q8S h;
  memcpy(&h, &low, 4);
  return __builtin_convertvector(__builtin_convertvector(h, QI), QF);
}

// A pixel of C channels, nothing beyond it read; lanes C and up are zero.
template <int C, class S>
GW_INLINE QF load_pixel(const S* p) { return widen_quad(S{}, read_bytes(p, C * (int)sizeof(S))); }
template <int C>
GW_INLINE QF load_pixel(const float* p) {
  if (C == 4) return *reinterpret_cast<const quad<float>::VU*>(p);
#if defined(__AVX512VL__)
  return (QF)_mm_maskz_loadu_ps((1 << C) - 1, p);
#elif defined(__AVX__)
  return (QF)_mm_maskload_ps(p, _mm_setr_epi32(-1, -1, C > 2 ? -1 : 0, 0));
#else
  return QF{p[0], p[1], C > 2 ? p[C - 1] : 0.0f, 0.0f};
#endif
}
template <int C>
GW_INLINE quad<double>::V load_pixel(const double* p) {
  if (C == 4) return *reinterpret_cast<const quad<double>::VU*>(p);
#if defined(__AVX512VL__)
  return (quad<double>::V)_mm256_maskz_loadu_pd((1 << C) - 1, p);
#elif defined(__AVX__)
  return (quad<double>::V)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, C > 2 ? -1 : 0, 0));
#else
  return quad<double>::V{p[0], p[1], C > 2 ? p[C - 1] : 0.0, 0.0};
#endif
}

#if defined(__x86_64__)
// Among the first C lanes.
template <int C>
GW_INLINE bool any_nan(QF v) {
  return (_mm_movemask_ps((__m128)(v != v)) & ((1 << C) - 1)) != 0;
}
#endif

GW_INLINE QI saturate_quad(QF v, float low, float high) {
  typedef quad<float> q;
  v = v == v ? v : QF{};
  return __builtin_convertvector(q::rint(q::min(q::max(v, q::splat(low)), q::splat(high))), QI);
}
GW_INLINE uint64_t narrow_quad(float16, QF v) {
#if defined(__F16C__)
  return (uint64_t)_mm_cvtsi128_si64(_mm_cvtps_ph((__m128)v, 0));
#elif defined(__aarch64__)
  return vget_lane_u64(vreinterpret_u64_f16(vcvt_f16_f32((float32x4_t)v)), 0);
#else
  uint64_t bits = 0;
  for (int i = 0; i < 4; ++i) bits |= (uint64_t)narrow_half((float)v[i]).bits << (16 * i);
  return bits;
#endif
}
GW_INLINE uint64_t bits_of_quad(Q16 h) {
  uint64_t bits;
  memcpy(&bits, &h, 8);
  return bits;
}
GW_INLINE uint64_t narrow_quad(bfloat16, QF v) {
  typedef uint32_t U __attribute__((vector_size(16)));
  const U bits = (U)v;
  const U rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, quiet = bits >> 16 | 0x40u;
  return bits_of_quad(__builtin_convertvector(v == v ? rounded : quiet, Q16));
}
GW_INLINE uint64_t narrow_quad(uint16_t, QF v) {
  return bits_of_quad(__builtin_convertvector(saturate_quad(v, 0.0f, 65535.0f), Q16));
}
GW_INLINE uint64_t narrow_quad(uint8_t, QF v) {
  const Q8 h = __builtin_convertvector(saturate_quad(v, 0.0f, 255.0f), Q8);
  uint32_t bits;
  memcpy(&bits, &h, 4);
  return bits;
}
GW_INLINE uint64_t narrow_quad(int8_t, QF v) {
  const Q8S h = __builtin_convertvector(saturate_quad(v, -128.0f, 127.0f), Q8S);
  uint32_t bits;
  memcpy(&bits, &h, 4);
  return bits;
}

// Four elements, of which the first C count: for places where the next pixel is written later.
template <class S>
GW_INLINE void store_quad(S* p, QF v) { write_bytes(p, narrow_quad(S{}, v), 4 * (int)sizeof(S)); }
GW_INLINE void store_quad(float* p, QF v) { *reinterpret_cast<quad<float>::VU*>(p) = v; }
GW_INLINE void store_quad(double* p, quad<double>::V v) { *reinterpret_cast<quad<double>::VU*>(p) = v; }

// C elements and no more.
template <int C, class S>
GW_INLINE void store_pixel(S* p, QF v) { write_bytes(p, narrow_quad(S{}, v), C * (int)sizeof(S)); }
template <int C>
GW_INLINE void store_pixel(float* p, QF v) {
  for (int c = 0; c < C; ++c) p[c] = v[c];
}
template <int C>
GW_INLINE void store_pixel(double* p, quad<double>::V v) {
  for (int c = 0; c < C; ++c) p[c] = v[c];
}

}  // namespace GW_ISA
}  // namespace gw
