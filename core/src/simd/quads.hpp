// SPDX-License-Identifier: Apache-2.0
// A vector as groups of four lanes: one group holds four neighbouring pixels of one point.
#pragma once

#include "simd/quad.hpp"

namespace gw {
namespace GW_ISA {

constexpr int quads = simd<float>::lanes / 4;

// Four vectors, each group of four lanes transposed on its own.
GW_INLINE void transpose_quads(VF (&r)[4]) {
#if defined(__AVX512F__)
  const __m512 a = _mm512_unpacklo_ps((__m512)r[0], (__m512)r[1]), b = _mm512_unpackhi_ps((__m512)r[0], (__m512)r[1]);
  const __m512 c = _mm512_unpacklo_ps((__m512)r[2], (__m512)r[3]), d = _mm512_unpackhi_ps((__m512)r[2], (__m512)r[3]);
  r[0] = (VF)_mm512_shuffle_ps(a, c, 0x44);
  r[1] = (VF)_mm512_shuffle_ps(a, c, 0xee);
  r[2] = (VF)_mm512_shuffle_ps(b, d, 0x44);
  r[3] = (VF)_mm512_shuffle_ps(b, d, 0xee);
#elif defined(__AVX2__)
  const __m256 a = _mm256_unpacklo_ps((__m256)r[0], (__m256)r[1]), b = _mm256_unpackhi_ps((__m256)r[0], (__m256)r[1]);
  const __m256 c = _mm256_unpacklo_ps((__m256)r[2], (__m256)r[3]), d = _mm256_unpackhi_ps((__m256)r[2], (__m256)r[3]);
  r[0] = (VF)_mm256_shuffle_ps(a, c, 0x44);
  r[1] = (VF)_mm256_shuffle_ps(a, c, 0xee);
  r[2] = (VF)_mm256_shuffle_ps(b, d, 0x44);
  r[3] = (VF)_mm256_shuffle_ps(b, d, 0xee);
#else
  const VI even = {0, 4, 1, 5}, odd = {2, 6, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
  const VF a = __builtin_shuffle(r[0], r[1], even), b = __builtin_shuffle(r[0], r[1], odd);
  const VF c = __builtin_shuffle(r[2], r[3], even), d = __builtin_shuffle(r[2], r[3], odd);
  r[0] = __builtin_shuffle(a, c, low);
  r[1] = __builtin_shuffle(a, c, high);
  r[2] = __builtin_shuffle(b, d, low);
  r[3] = __builtin_shuffle(b, d, high);
#endif
}

// Lane j of every group in all four of its lanes.
template <int j>
GW_INLINE VF spread_quads(VF v) {
#if defined(__AVX512F__)
  return (VF)_mm512_permute_ps((__m512)v, j * 0x55);
#elif defined(__AVX2__)
  return (VF)_mm256_permute_ps((__m256)v, j * 0x55);
#else
  const VI lane = {j, j, j, j};
  return __builtin_shuffle(v, lane);
#endif
}

// Four elements from each of p + offset[0], p + offset[4], ...: one group each.
GW_INLINE VF load_quads(const float* p, const int32_t* offset) {
#if defined(__AVX512F__)
  const __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + offset[0])), _mm_loadu_ps(p + offset[4]), 1);
  const __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + offset[8])), _mm_loadu_ps(p + offset[12]), 1);
  return (VF)_mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
#elif defined(__AVX2__)
  return (VF)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + offset[0])), _mm_loadu_ps(p + offset[4]), 1);
#else
  return simd<float>::load(p + offset[0]);
#endif
}
// The others: gathered as bits, then widened as a whole vector.
template <class S>
GW_INLINE VF load_quads(const S* p, const int32_t* offset) {
  S element[4 * quads];
  for (int q = 0; q < quads; ++q) memcpy(element + 4 * q, p + offset[4 * q], 4 * sizeof(S));
  return storage<S>::load_vector(element);
}

#if defined(__x86_64__)
// Eight bytes each, put together in registers: stored and loaded again as a vector they would have to leave for cache.
template <class S>
GW_INLINE VF load_quads_of_words(const S* p, const int32_t* offset) {
  alignas(32) S element[4 * quads];
#if defined(__AVX512F__)
  const __m128i a = _mm_castpd_si128(load_halves(p + offset[0], p + offset[4]));
  const __m128i b = _mm_castpd_si128(load_halves(p + offset[8], p + offset[12]));
  *reinterpret_cast<V16U*>(element) = (V16)_mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
#elif defined(__AVX2__)
  *reinterpret_cast<V16U*>(element) =
      (V16)_mm_castpd_si128(load_halves(p + offset[0], p + offset[4]));
#else
  memcpy(element, p + offset[0], 8);
#endif
  return storage<S>::load_vector(element);
}
GW_INLINE VF load_quads(const float16* p, const int32_t* offset) { return load_quads_of_words(p, offset); }
GW_INLINE VF load_quads(const bfloat16* p, const int32_t* offset) { return load_quads_of_words(p, offset); }
GW_INLINE VF load_quads(const uint16_t* p, const int32_t* offset) { return load_quads_of_words(p, offset); }

template <class S>
GW_INLINE VF load_quads_of_bytes(const S* p, const int32_t* offset) {
  alignas(16) S element[4 * quads];
  int32_t word[quads];
  for (int q = 0; q < quads; ++q) memcpy(&word[q], p + offset[4 * q], 4);
#if defined(__AVX512F__)
  *reinterpret_cast<V8U*>(element) = (V8)_mm_setr_epi32(word[0], word[1], word[2], word[3]);
#else
  memcpy(element, word, sizeof word);
#endif
  return storage<S>::load_vector(element);
}
GW_INLINE VF load_quads(const uint8_t* p, const int32_t* offset) { return load_quads_of_bytes(p, offset); }
GW_INLINE VF load_quads(const int8_t* p, const int32_t* offset) { return load_quads_of_bytes(p, offset); }
#endif

// A row of four pixels of C channels in one vector: 4 * C lanes.
#if defined(__AVX512F__)
// w[i] in the lanes of pixel i.
template <int C>
GW_INLINE VF spread_pixels(const float* w) {
  const VI lane = VI{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} / C;
  return (VF)_mm512_permutexvar_ps((__m512i)lane, _mm512_castps128_ps512(_mm_loadu_ps(w)));
}
// The sum of the four pixels.
template <int C>
GW_INLINE QF add_pixels(VF v) {
  v += (VF)_mm512_alignr_epi32((__m512i)v, (__m512i)v, 2 * C);
  v += (VF)_mm512_alignr_epi32((__m512i)v, (__m512i)v, C);
  return (QF)_mm512_castps512_ps128((__m512)v);
}
#endif

}  // namespace GW_ISA
}  // namespace gw
