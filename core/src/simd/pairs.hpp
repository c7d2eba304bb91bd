// SPDX-License-Identifier: Apache-2.0
// Adjacent pairs of elements from scattered places: one load fetches both columns of a bilinear tap. Hardware gathers
// only tie with scalar loads on the CPUs measured, and cost twice as many for pairs.
#pragma once

#include "simd/storage.hpp"

namespace gw {
namespace GW_ISA {

// One 32-bit word of two 16-bit elements per lane, at p + offset.
template <class S>
GW_INLINE VI load_words(const S* p, const int32_t* offset) {
  alignas(GW_VEC_BYTES) int32_t word[simd<float>::lanes];
  for (int k = 0; k < simd<float>::lanes; ++k) memcpy(&word[k], p + offset[k], 4);
  return simd<float>::load_index(word);
}

#if defined(__AVX512F__)
GW_INLINE __m512 load_eight_pairs(const float* p, const int32_t* o) {
  const __m128d a = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[0])), (const double*)(p + o[1]));
  const __m128d b = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[2])), (const double*)(p + o[3]));
  const __m128d c = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[4])), (const double*)(p + o[5]));
  const __m128d d = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[6])), (const double*)(p + o[7]));
  const __m256d ab = _mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1);
  const __m256d cd = _mm256_insertf128_pd(_mm256_castpd128_pd256(c), d, 1);
  return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(ab), cd, 1));
}
GW_INLINE void load_pairs(const float* p, const int32_t* o, VF& left, VF& right) {
  const __m512 a = load_eight_pairs(p, o), b = load_eight_pairs(p, o + 8);
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  left = (VF)_mm512_permutex2var_ps(a, even, b);
  right = (VF)_mm512_permutex2var_ps(a, _mm512_add_epi32(even, _mm512_set1_epi32(1)), b);
}
#elif defined(__AVX2__)
GW_INLINE void load_pairs(const float* p, const int32_t* o, VF& left, VF& right) {
  // Points 0 1 4 5 and 2 3 6 7, so that one in-lane shuffle leaves them in order.
  const __m128d a = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[0])), (const double*)(p + o[1]));
  const __m128d b = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[4])), (const double*)(p + o[5]));
  const __m128d c = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[2])), (const double*)(p + o[3]));
  const __m128d d = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[6])), (const double*)(p + o[7]));
  const __m256 ab = _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1));
  const __m256 cd = _mm256_castpd_ps(_mm256_insertf128_pd(_mm256_castpd128_pd256(c), d, 1));
  left = (VF)_mm256_shuffle_ps(ab, cd, 0x88);
  right = (VF)_mm256_shuffle_ps(ab, cd, 0xdd);
}
#elif defined(__x86_64__)
GW_INLINE void load_pairs(const float* p, const int32_t* o, VF& left, VF& right) {
  const __m128d a = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[0])), (const double*)(p + o[1]));
  const __m128d b = _mm_loadh_pd(_mm_load_sd((const double*)(p + o[2])), (const double*)(p + o[3]));
  left = (VF)_mm_shuffle_ps(_mm_castpd_ps(a), _mm_castpd_ps(b), 0x88);
  right = (VF)_mm_shuffle_ps(_mm_castpd_ps(a), _mm_castpd_ps(b), 0xdd);
}
#else
GW_INLINE void load_pairs(const float* p, const int32_t* o, VF& left, VF& right) {
  const float32x4_t a = vcombine_f32(vld1_f32(p + o[0]), vld1_f32(p + o[1]));
  const float32x4_t b = vcombine_f32(vld1_f32(p + o[2]), vld1_f32(p + o[3]));
  left = (VF)vuzp1q_f32(a, b);
  right = (VF)vuzp2q_f32(a, b);
}
#endif

typedef simd<double>::V VD;

#if defined(__AVX512F__)
GW_INLINE __m512d load_four_pairs(const double* p, const int32_t* o) {
  const __m256d ab = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + o[0])), _mm_loadu_pd(p + o[1]), 1);
  const __m256d cd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + o[2])), _mm_loadu_pd(p + o[3]), 1);
  return _mm512_insertf64x4(_mm512_castpd256_pd512(ab), cd, 1);
}
GW_INLINE void load_pairs(const double* p, const int32_t* o, VD& left, VD& right) {
  const __m512d a = load_four_pairs(p, o), b = load_four_pairs(p, o + 4);
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  left = (VD)_mm512_permutex2var_pd(a, even, b);
  right = (VD)_mm512_permutex2var_pd(a, _mm512_add_epi64(even, _mm512_set1_epi64(1)), b);
}
#elif defined(__AVX2__)
GW_INLINE void load_pairs(const double* p, const int32_t* o, VD& left, VD& right) {
  // Points 0 2 and 1 3, so that one in-lane unpack leaves them in order.
  const __m256d a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + o[0])), _mm_loadu_pd(p + o[2]), 1);
  const __m256d b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + o[1])), _mm_loadu_pd(p + o[3]), 1);
  left = (VD)_mm256_unpacklo_pd(a, b);
  right = (VD)_mm256_unpackhi_pd(a, b);
}
#else
GW_INLINE void load_pairs(const double* p, const int32_t* o, VD& left, VD& right) {
  left = VD{p[o[0]], p[o[1]]};
  right = VD{p[o[0] + 1], p[o[1] + 1]};
}
#endif

typedef uint32_t VW __attribute__((vector_size(GW_VEC_BYTES)));

GW_INLINE void load_pairs(const bfloat16* p, const int32_t* o, VF& left, VF& right) {
  const VW word = (VW)load_words(p, o);
  left = (VF)(word << 16);
  right = (VF)(word & 0xffff0000u);
}
GW_INLINE void load_pairs(const float16* p, const int32_t* o, VF& left, VF& right) {
  const VW word = (VW)load_words(p, o);
  left = widen_half(__builtin_convertvector(word & 0xffffu, V16));
  right = widen_half(__builtin_convertvector(word >> 16, V16));
}
GW_INLINE void load_pairs(const uint16_t* p, const int32_t* o, VF& left, VF& right) {
  const VW word = (VW)load_words(p, o);
  left = simd<float>::to_value((VI)(word & 0xffffu));
  right = simd<float>::to_value((VI)(word >> 16));
}
// 8-bit pairs: 16 bits each.
template <class S>
GW_INLINE VI load_bytes(const S* p, const int32_t* offset) {
  alignas(GW_VEC_BYTES) uint16_t word[simd<float>::lanes];
  for (int k = 0; k < simd<float>::lanes; ++k) memcpy(&word[k], p + offset[k], 2);
  return __builtin_convertvector(*reinterpret_cast<const V16*>(word), VI);
}
GW_INLINE void load_pairs(const uint8_t* p, const int32_t* o, VF& left, VF& right) {
  const VI word = load_bytes(p, o);
  left = simd<float>::to_value(word & 0xff);
  right = simd<float>::to_value(word >> 8);
}
GW_INLINE void load_pairs(const int8_t* p, const int32_t* o, VF& left, VF& right) {
  const VI word = load_bytes(p, o);
  left = simd<float>::to_value(word << 24 >> 24);
  right = simd<float>::to_value(word << 16 >> 24);
}

}  // namespace GW_ISA
}  // namespace gw
