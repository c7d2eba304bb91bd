// SPDX-License-Identifier: Apache-2.0
// Fewer elements than a vector has lanes: nothing beyond them is read or written. The other lanes load as zero.
#pragma once

#include "simd/storage.hpp"

namespace gw {
namespace GW_ISA {

// Up to eight bytes as an integer, and back, by two loads that overlap: no loop, no call.
GW_INLINE uint64_t read_bytes(const void* from, int bytes) {
  const char* p = static_cast<const char*>(from);
  if (bytes == 8) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
  }
  if (bytes >= 4) {
    uint32_t low, high;
    memcpy(&low, p, 4);
    memcpy(&high, p + bytes - 4, 4);
    return low | (uint64_t)high << (8 * (bytes - 4));
  }
  if (bytes >= 2) {
    uint16_t low, high;
    memcpy(&low, p, 2);
    memcpy(&high, p + bytes - 2, 2);
    return (uint64_t)low | (uint64_t)high << (8 * (bytes - 2));
  }
  return bytes == 1 ? (uint64_t)(uint8_t)*p : 0;
}
GW_INLINE void write_bytes(void* to, uint64_t v, int bytes) {
  char* p = static_cast<char*>(to);
  if (bytes == 8) {
    memcpy(p, &v, 8);
  } else if (bytes >= 4) {
    const uint32_t low = (uint32_t)v, high = (uint32_t)(v >> (8 * (bytes - 4)));
    memcpy(p, &low, 4);
    memcpy(p + bytes - 4, &high, 4);
  } else if (bytes >= 2) {
    const uint16_t low = (uint16_t)v, high = (uint16_t)(v >> (8 * (bytes - 2)));
    memcpy(p, &low, 2);
    memcpy(p + bytes - 2, &high, 2);
  } else if (bytes == 1) {
    *p = (char)v;
  }
}

// `bytes` < 8 * words of them into whole words, and back.
template <int words>
GW_INLINE void read_words(uint64_t* to, const void* from, int bytes) {
  const char* p = static_cast<const char*>(from);
  for (int i = 0; i < words; ++i) {
    const int left = bytes - 8 * i;
    to[i] = left <= 0 ? 0 : read_bytes(p + 8 * i, left < 8 ? left : 8);
  }
}
template <int words>
GW_INLINE void write_words(void* to, const uint64_t* from, int bytes) {
  char* p = static_cast<char*>(to);
  for (int i = 0; i < words; ++i) {
    const int left = bytes - 8 * i;
    if (left > 0) write_bytes(p + 8 * i, from[i], left < 8 ? left : 8);
  }
}

// A vector of S's arithmetic type from its first `count` elements, 0 <= count < lanes (AVX-512: <= lanes).
template <class S>
GW_INLINE typename simd<typename storage<S>::compute>::V load_some(const S* p, int count) {
  constexpr int lanes = simd<typename storage<S>::compute>::lanes;
  alignas(64) uint64_t word[(lanes * sizeof(S) + 7) / 8];
  read_words<(lanes * sizeof(S) + 7) / 8>(word, p, count * (int)sizeof(S));
  return storage<S>::load_vector(reinterpret_cast<const S*>(word));
}
template <class S>
GW_INLINE void store_some(S* p, typename simd<typename storage<S>::compute>::V v, int count) {
  constexpr int lanes = simd<typename storage<S>::compute>::lanes;
  alignas(64) uint64_t word[(lanes * sizeof(S) + 7) / 8];
  storage<S>::store_vector(reinterpret_cast<S*>(word), v);
  write_words<(lanes * sizeof(S) + 7) / 8>(p, word, count * (int)sizeof(S));
}

#if defined(__AVX512F__)
GW_INLINE uint32_t first_lanes(int count) { return (1u << count) - 1u; }

template <>
GW_INLINE VF load_some<float>(const float* p, int count) {
  return (VF)_mm512_maskz_loadu_ps((__mmask16)first_lanes(count), p);
}
template <>
GW_INLINE void store_some<float>(float* p, VF v, int count) {
  _mm512_mask_storeu_ps(p, (__mmask16)first_lanes(count), (__m512)v);
}
template <>
GW_INLINE simd<double>::V load_some<double>(const double* p, int count) {
  return (simd<double>::V)_mm512_maskz_loadu_pd((__mmask8)first_lanes(count), p);
}
template <>
GW_INLINE void store_some<double>(double* p, simd<double>::V v, int count) {
  _mm512_mask_storeu_pd(p, (__mmask8)first_lanes(count), (__m512d)v);
}
#define GW_SOME_16(S)                                                                                  \
  template <>                                                                                          \
  GW_INLINE VF load_some<S>(const S* p, int count) {                                                   \
    alignas(32) uint16_t bits[16];                                                                     \
    *reinterpret_cast<V16U*>(bits) = (V16)_mm256_maskz_loadu_epi16((__mmask16)first_lanes(count), p);  \
    return storage<S>::load_vector(reinterpret_cast<const S*>(bits));                                  \
  }                                                                                                    \
  template <>                                                                                          \
  GW_INLINE void store_some<S>(S* p, VF v, int count) {                                                \
    alignas(32) uint16_t bits[16];                                                                     \
    storage<S>::store_vector(reinterpret_cast<S*>(bits), v);                                           \
    const V16 narrow = (V16)*reinterpret_cast<const V16U*>(bits);                                      \
    _mm256_mask_storeu_epi16(p, (__mmask16)first_lanes(count), (__m256i)narrow);                       \
  }
#define GW_SOME_8(S)                                                                               \
  template <>                                                                                      \
  GW_INLINE VF load_some<S>(const S* p, int count) {                                               \
    alignas(16) uint8_t bits[16];                                                                  \
    *reinterpret_cast<V8U*>(bits) = (V8)_mm_maskz_loadu_epi8((__mmask16)first_lanes(count), p);    \
    return storage<S>::load_vector(reinterpret_cast<const S*>(bits));                              \
  }                                                                                                \
  template <>                                                                                      \
  GW_INLINE void store_some<S>(S* p, VF v, int count) {                                            \
    alignas(16) uint8_t bits[16];                                                                  \
    storage<S>::store_vector(reinterpret_cast<S*>(bits), v);                                       \
    const V8 narrow = (V8)*reinterpret_cast<const V8U*>(bits);                                     \
    _mm_mask_storeu_epi8(p, (__mmask16)first_lanes(count), (__m128i)narrow);                       \
  }
GW_SOME_16(float16)
GW_SOME_16(bfloat16)
GW_SOME_16(uint16_t)
GW_SOME_8(uint8_t)
GW_SOME_8(int8_t)
#undef GW_SOME_16
#undef GW_SOME_8
#elif defined(__AVX2__)
GW_INLINE __m256i first_lanes(int words) {
  alignas(32) static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones + 8 - words));
}
template <>
GW_INLINE VF load_some<float>(const float* p, int count) {
  return (VF)_mm256_maskload_ps(p, first_lanes(count));
}
template <>
GW_INLINE void store_some<float>(float* p, VF v, int count) {
  _mm256_maskstore_ps(p, first_lanes(count), (__m256)v);
}
template <>
GW_INLINE simd<double>::V load_some<double>(const double* p, int count) {
  return (simd<double>::V)_mm256_maskload_pd(p, first_lanes(2 * count));
}
template <>
GW_INLINE void store_some<double>(double* p, simd<double>::V v, int count) {
  _mm256_maskstore_pd(p, first_lanes(2 * count), (__m256d)v);
}
#endif

}  // namespace GW_ISA
}  // namespace gw
