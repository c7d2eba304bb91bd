// SPDX-License-Identifier: Apache-2.0
// Between arrays of any strides and blocks: rows of pixels with their channels in whole vectors of the arithmetic type.
#pragma once

#include "simd/lanes.hpp"
#include "simd/storage.hpp"
#include "simd/transpose.hpp"

namespace gw {
namespace GW_ISA {

template <class S, class T>
GW_INLINE void load_four(const S* p, typename four<T>::V& v) {
  for (int k = 0; k < 4; ++k) v[k] = (T)storage<S>::load(p + k);
}

// Whole vectors of floats by transposes in registers, as many pixels as fill them; returns how many that was.
template <class S>
inline int64_t pack_vectors(const S* from, int64_t c, int64_t count, int64_t channels, float* block, int64_t width) {
  constexpr int lanes = simd<float>::lanes;
  constexpr int64_t run = 64;  // pixels at a time: what is written stays in the first-level cache
  const int64_t whole = count / lanes * lanes;
  if (width % lanes != 0) return 0;
  for (int64_t first = 0; first < whole; first += run)
    for (int64_t k = 0; k < width; k += lanes)
      for (int64_t p = first; p < min_of(first + run, whole); p += lanes) {
        VF r[lanes];
        if (k + lanes <= channels)
          for (int i = 0; i < lanes; ++i) r[i] = storage<S>::load_vector(from + (k + i) * c + p);
        else
          for (int i = 0; i < lanes; ++i)
            r[i] = k + i < channels ? storage<S>::load_vector(from + (k + i) * c + p) : VF{};
        transpose(r);
        for (int i = 0; i < lanes; ++i) simd<float>::store(block + (p + i) * width + k, r[i]);
      }
  return whole;
}
template <class S>
inline int64_t pack_vectors(const S*, int64_t, int64_t, int64_t, double*, int64_t) { return 0; }

template <class S>
inline int64_t unpack_vectors(const float* block, int64_t width, int64_t count, int64_t channels, S* to, int64_t c) {
  constexpr int lanes = simd<float>::lanes;
  constexpr int64_t run = 64;
  const int64_t whole = count / lanes * lanes;
  if (width % lanes != 0) return 0;
  for (int64_t first = 0; first < whole; first += run)
    for (int64_t k = 0; k < width; k += lanes)
      for (int64_t p = first; p < min_of(first + run, whole); p += lanes) {
        VF r[lanes];
        for (int i = 0; i < lanes; ++i) r[i] = simd<float>::load(block + (p + i) * width + k);
        transpose(r);
        const int n = (int)min_of<int64_t>(lanes, channels - k);
        for (int i = 0; i < lanes; ++i)
          if (i < n) storage<S>::store_vector(to + (k + i) * c + p, r[i]);
      }
  return whole;
}
template <class S>
inline int64_t unpack_vectors(const double*, int64_t, int64_t, int64_t, S*, int64_t) { return 0; }

// A run of `count` pixels, w apart, with `channels` values, c apart, to `block`: `width` values a pixel, the rest 0.
template <class S, class T>
inline void pack_run(const S* from, int64_t w, int64_t c, int64_t count, int64_t channels, T* block, int64_t width) {
  typedef four<T> f;
  typedef typename f::V V;
  if (c == 1 && w != 1) {
    for (int64_t p = 0; p < count; ++p, from += w, block += width) {
      int64_t k = 0;
      for (; k + simd<T>::lanes <= channels; k += simd<T>::lanes)
        simd<T>::store(block + k, storage<S>::load_vector(from + k));
      for (; k < channels; ++k) block[k] = (T)storage<S>::load(from + k);
      for (; k < width; ++k) block[k] = T(0);
    }
    return;
  }
  int64_t p = w == 1 ? pack_vectors(from, c, count, channels, block, width) : 0;
  if (w == 1 && width % 4 == 0) {  // blocks of two doubles, where that is a vector, go one by one
    for (; p + 4 <= count; p += 4)
      for (int64_t k = 0; k < width; k += 4) {
        V r[4];
        for (int i = 0; i < 4; ++i) {
          r[i] = V{};
          if (k + i < channels) load_four<S, T>(from + (k + i) * c + p, r[i]);
        }
        transpose4(r);
        for (int i = 0; i < 4; ++i) f::store(block + (p + i) * width + k, r[i]);
      }
  }
  for (; p < count; ++p)
    for (int64_t k = 0; k < width; ++k)
      block[p * width + k] = k < channels ? (T)storage<S>::load(from + k * c + p * w) : T(0);
}

// The way back.
template <class S, class T>
inline void unpack_run(const T* block, int64_t width, int64_t count, int64_t channels, S* to, int64_t w, int64_t c) {
  typedef four<T> f;
  typedef typename f::V V;
  if (c == 1 && w != 1) {
    for (int64_t p = 0; p < count; ++p, to += w, block += width) {
      int64_t k = 0;
      for (; k + simd<T>::lanes <= channels; k += simd<T>::lanes)
        storage<S>::store_vector(to + k, simd<T>::load(block + k));
      for (; k < channels; ++k) storage<S>::store(to + k, block[k]);
    }
    return;
  }
  int64_t p = w == 1 ? unpack_vectors(block, width, count, channels, to, c) : 0;
  if (w == 1 && width % 4 == 0) {
    for (; p + 4 <= count; p += 4)
      for (int64_t k = 0; k < channels; k += 4) {
        V r[4];
        for (int i = 0; i < 4; ++i) r[i] = f::load(block + (p + i) * width + k);
        transpose4(r);
        for (int i = 0; i < 4; ++i)
          if (k + i < channels)
            for (int m = 0; m < 4; ++m) storage<S>::store(to + (k + i) * c + p + m, r[i][m]);
      }
  }
  for (; p < count; ++p)
    for (int64_t k = 0; k < channels; ++k) storage<S>::store(to + k * c + p * w, block[p * width + k]);
}

}  // namespace GW_ISA
}  // namespace gw
