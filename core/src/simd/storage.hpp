// SPDX-License-Identifier: Apache-2.0
// Element types in memory, and how they become the type arithmetic is done in: float16, bfloat16 and the integers are
// computed in float, one rounding at the store; float and double in themselves.
#pragma once

#include "simd/vec.hpp"

namespace gw {

// Bit patterns; distinct types so that templates tell them from integers.
struct float16 { uint16_t bits; };
struct bfloat16 { uint16_t bits; };

namespace GW_ISA {

GW_INLINE float float_of(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
GW_INLINE uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

GW_INLINE float widen(float16 h) {
#if defined(__F16C__)
  return _cvtsh_ss(h.bits);
#elif defined(__aarch64__)
  __fp16 f;
  memcpy(&f, &h.bits, 2);
  return f;
#else
  // The exponent is rebiased by a multiplication, which also turns subnormal halves into normal floats.
  const uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00u) return float_of(sign | 0x7f800000u | (rest & 0x3ffu) << 13 | (rest > 0x7c00u ? 0x400000u : 0u));
  return float_of(sign | bits_of(float_of(rest << 13) * float_of(0x77800000u)));
#endif
}
GW_INLINE float16 narrow_half(float f) {
#if defined(__F16C__)
  return float16{(uint16_t)_cvtss_sh(f, 0)};
#elif defined(__aarch64__)
  const __fp16 h = (__fp16)f;
  float16 r;
  memcpy(&r.bits, &h, 2);
  return r;
#else
  const uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return float16{(uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu))};
  if (rest >= 0x477ff000u) return float16{(uint16_t)(sign | 0x7c00u)};  // rounds to 65536 or more
  if (rest < 0x38800000u)  // subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits
    return float16{(uint16_t)(sign | (bits_of(float_of(rest) + 0.5f) - 0x3f000000u))};
  return float16{(uint16_t)(sign | ((rest + 0xfffu + (rest >> 13 & 1u) - 0x38000000u) >> 13))};
#endif
}
GW_INLINE float widen(bfloat16 h) { return float_of((uint32_t)h.bits << 16); }
GW_INLINE bfloat16 narrow_bfloat(float f) {
  const uint32_t bits = bits_of(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return bfloat16{(uint16_t)(bits >> 16 | 0x40u)};
  return bfloat16{(uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

typedef simd<float>::V VF;
typedef simd<float>::I VI;
// As many 16-bit and 8-bit elements as a vector has floats.
typedef uint16_t V16 __attribute__((vector_size(GW_VEC_BYTES / 2)));
typedef uint16_t V16U __attribute__((vector_size(GW_VEC_BYTES / 2), aligned(2), may_alias));
typedef uint8_t V8 __attribute__((vector_size(GW_VEC_BYTES / 4)));
typedef uint8_t V8U __attribute__((vector_size(GW_VEC_BYTES / 4), aligned(1), may_alias));
typedef int8_t V8S __attribute__((vector_size(GW_VEC_BYTES / 4)));
typedef int8_t V8SU __attribute__((vector_size(GW_VEC_BYTES / 4), aligned(1), may_alias));

// To 32-bit integers and back, of values that fit. GCC 12 takes a conversion of a whole AVX-512 vector to or from bytes
// apart into scalars: bilinear, 64 channels of uint8, 99 ns a point with it, 16 without.
GW_INLINE VI widen_integers(V16 v) {
#if defined(__AVX512F__)
  return (VI)_mm512_cvtepu16_epi32((__m256i)v);
#elif defined(__AVX2__)
  return (VI)_mm256_cvtepu16_epi32((__m128i)v);
#else
  return __builtin_convertvector(v, VI);
#endif
}
GW_INLINE VI widen_integers(V8 v) {
#if defined(__AVX512F__)
  return (VI)_mm512_cvtepu8_epi32((__m128i)v);
#elif defined(__AVX2__)
  return (VI)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)v));
#else
  return __builtin_convertvector(v, VI);
#endif
}
GW_INLINE VI widen_integers(V8S v) {
#if defined(__AVX512F__)
  return (VI)_mm512_cvtepi8_epi32((__m128i)v);
#elif defined(__AVX2__)
  return (VI)_mm256_cvtepi8_epi32(_mm_cvtsi64_si128((int64_t)v));
#else
  return __builtin_convertvector(v, VI);
#endif
}
GW_INLINE V16 narrow_to_words(VI v) {
#if defined(__AVX512F__)
  return (V16)_mm512_cvtepi32_epi16((__m512i)v);
#elif defined(__AVX2__)
  const __m256i packed = _mm256_packus_epi32((__m256i)v, (__m256i)v);
  return (V16)_mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
#else
  return __builtin_convertvector(v, V16);
#endif
}
GW_INLINE V8 narrow_to_bytes(VI v) {
#if defined(__AVX512F__)
  return (V8)_mm512_cvtepi32_epi8((__m512i)v);
#else
  return __builtin_convertvector(v, V8);
#endif
}

// widen(bits) of a vector of 16-bit patterns.
GW_INLINE VF widen_half(V16 h) {
#if defined(__AVX512F__)
  return (VF)_mm512_cvtph_ps((__m256i)h);
#elif defined(__AVX2__)
  return (VF)_mm256_cvtph_ps((__m128i)h);
#elif defined(__aarch64__)
  return (VF)vcvt_f32_f16(vreinterpret_f16_u16((uint16x4_t)h));
#else
  VF r;
  for (int i = 0; i < simd<float>::lanes; ++i) r[i] = widen(float16{h[i]});
  return r;
#endif
}
GW_INLINE V16 narrow_half(VF f) {
#if defined(__AVX512F__)
  return (V16)_mm512_cvtps_ph((__m512)f, 0);
#elif defined(__AVX2__)
  return (V16)_mm256_cvtps_ph((__m256)f, 0);
#elif defined(__aarch64__)
  return (V16)vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)f));
#else
  V16 r;
  for (int i = 0; i < simd<float>::lanes; ++i) r[i] = narrow_half(f[i]).bits;
  return r;
#endif
}
GW_INLINE VF widen_bfloat(V16 h) {
  typedef uint32_t U __attribute__((vector_size(GW_VEC_BYTES)));
  return (VF)((U)widen_integers(h) << 16);
}
GW_INLINE V16 narrow_bfloat(VF f) {
  typedef uint32_t U __attribute__((vector_size(GW_VEC_BYTES)));
  const U bits = (U)f;
  const U rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const U quiet = bits >> 16 | 0x40u;
  return narrow_to_words((VI)(f == f ? rounded : quiet));
}

// A vector rounded half to even and kept inside [low, high]; NaN gives 0.
GW_INLINE VI saturate(VF v, float low, float high) {
  typedef simd<float> s;
  v = select(v == v, v, VF{});
  return s::to_index(s::rint(s::min(s::max(v, s::splat(low)), s::splat(high))));
}

// The same for one double.
GW_INLINE int32_t round_saturate(double v, double low, double high) {
  v = v == v ? v : 0.0;
  v = v < low ? low : v > high ? high : v;
  return (int32_t)simd<double>::rint(simd<double>::splat(v))[0];
}

template <class S>
struct storage;  // compute: the arithmetic type; load/store of one element; of a whole vector of compute lanes

template <>
struct storage<float> {
  typedef float compute;
  static constexpr bool has_nan = true;
  static GW_INLINE float load(const float* p) { return *p; }
  static GW_INLINE void store(float* p, float v) { *p = v; }
  static GW_INLINE VF load_vector(const float* p) { return simd<float>::load(p); }
  static GW_INLINE void store_vector(float* p, VF v) { simd<float>::store(p, v); }
};
template <>
struct storage<double> {
  typedef double compute;
  static constexpr bool has_nan = true;
  static GW_INLINE double load(const double* p) { return *p; }
  static GW_INLINE void store(double* p, double v) { *p = v; }
  static GW_INLINE simd<double>::V load_vector(const double* p) { return simd<double>::load(p); }
  static GW_INLINE void store_vector(double* p, simd<double>::V v) { simd<double>::store(p, v); }
};
template <>
struct storage<float16> {
  typedef float compute;
  static constexpr bool has_nan = true;
  static GW_INLINE float load(const float16* p) { return widen(*p); }
  static GW_INLINE void store(float16* p, float v) { *p = narrow_half(v); }
  static GW_INLINE VF load_vector(const float16* p) { return widen_half((V16)*reinterpret_cast<const V16U*>(p)); }
  static GW_INLINE void store_vector(float16* p, VF v) { *reinterpret_cast<V16U*>(p) = narrow_half(v); }
};
template <>
struct storage<bfloat16> {
  typedef float compute;
  static constexpr bool has_nan = true;
  static GW_INLINE float load(const bfloat16* p) { return widen(*p); }
  static GW_INLINE void store(bfloat16* p, float v) { *p = narrow_bfloat(v); }
  static GW_INLINE VF load_vector(const bfloat16* p) { return widen_bfloat((V16)*reinterpret_cast<const V16U*>(p)); }
  static GW_INLINE void store_vector(bfloat16* p, VF v) { *reinterpret_cast<V16U*>(p) = narrow_bfloat(v); }
};
template <>
struct storage<uint8_t> {
  typedef float compute;
  static constexpr bool has_nan = false;
  static GW_INLINE float load(const uint8_t* p) { return (float)*p; }
  static GW_INLINE void store(uint8_t* p, double v) { *p = (uint8_t)round_saturate(v, 0.0, 255.0); }
  static GW_INLINE void store(uint8_t* p, float v) { *p = (uint8_t)saturate(simd<float>::splat(v), 0.0f, 255.0f)[0]; }
  static GW_INLINE VF load_vector(const uint8_t* p) {
    return simd<float>::to_value(widen_integers((V8)*reinterpret_cast<const V8U*>(p)));
  }
  static GW_INLINE void store_vector(uint8_t* p, VF v) {
    *reinterpret_cast<V8U*>(p) = narrow_to_bytes(saturate(v, 0.0f, 255.0f));
  }
};
template <>
struct storage<int8_t> {
  typedef float compute;
  static constexpr bool has_nan = false;
  static GW_INLINE float load(const int8_t* p) { return (float)*p; }
  static GW_INLINE void store(int8_t* p, double v) { *p = (int8_t)round_saturate(v, -128.0, 127.0); }
  static GW_INLINE void store(int8_t* p, float v) { *p = (int8_t)saturate(simd<float>::splat(v), -128.0f, 127.0f)[0]; }
  static GW_INLINE VF load_vector(const int8_t* p) {
    return simd<float>::to_value(widen_integers((V8S)*reinterpret_cast<const V8SU*>(p)));
  }
  static GW_INLINE void store_vector(int8_t* p, VF v) {
    *reinterpret_cast<V8SU*>(p) = (V8S)narrow_to_bytes(saturate(v, -128.0f, 127.0f));
  }
};
template <>
struct storage<uint16_t> {
  typedef float compute;
  static constexpr bool has_nan = false;
  static GW_INLINE float load(const uint16_t* p) { return (float)*p; }
  static GW_INLINE void store(uint16_t* p, double v) { *p = (uint16_t)round_saturate(v, 0.0, 65535.0); }
  static GW_INLINE void store(uint16_t* p, float v) { *p = (uint16_t)saturate(simd<float>::splat(v), 0.0f, 65535.0f)[0]; }
  static GW_INLINE VF load_vector(const uint16_t* p) {
    return simd<float>::to_value(widen_integers((V16)*reinterpret_cast<const V16U*>(p)));
  }
  static GW_INLINE void store_vector(uint16_t* p, VF v) {
    *reinterpret_cast<V16U*>(p) = narrow_to_words(saturate(v, 0.0f, 65535.0f));
  }
};

}  // namespace GW_ISA
}  // namespace gw
