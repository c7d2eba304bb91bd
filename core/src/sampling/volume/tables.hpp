// SPDX-License-Identifier: Apache-2.0
// What a tile's coordinates mean in memory: offsets and weights, computed a vector of points at a time and used for every
// channel. Taps that do not count point anywhere inside and weigh 0, so that no point needs a test; values that are not
// numbers are done again by definition.
#pragma once

#include "sampling/cubic_taps.hpp"
#include "sampling/volume/taps.hpp"

namespace gw {
namespace GW_ISA {

constexpr int32_t no_voxel = INT32_MIN;

template <int mode, int axes, class T>
struct VolumeTable;

template <int axes, class T>
struct alignas(64) VolumeTable<GW_BILINEAR, axes, T> {
  static constexpr bool folds_weights = true;
  int32_t base[tile_points];        // of the lowest corner
  int32_t step[axes][tile_points];  // to the next one along each axis; 0 where that would lie outside
  T near[axes][tile_points], far[axes][tile_points];

  void build(const VolumeJob& job, const VolumeCoordinates<T>& at, int count) {
    typedef simd<T> s;
    typedef typename s::V V;
    typedef typename s::I I;
    typedef typename s::index index;
    for (int i = 0; i < count; i += s::lanes) {
      I sum = I{};
      for (int a = 0; a < axes; ++a) {
        const V p = s::load(at.p[a] + i), floor = s::floor(p), w = p - floor;
        const I first = s::to_index(floor), last = s::splat_index((index)(job.size[a] - 1)), zero = I{};
        const I stride = s::splat_index((index)job.x_s[a]);
        s::store(near[a] + i, select((first >= zero) & (first <= last), s::splat(1) - w, V{}));
        s::store(far[a] + i, select((first >= zero - 1) & (first < last), w, V{}));
        const I low = select(first < zero, zero, select(first > last, last, first));
        sum += low * stride;
        s::store_index(step[a] + i, (first >= zero) & (first < last) & stride);
      }
      s::store_index(base + i, sum);
    }
  }

  // The value of point i; `at` loads a vector of channels from an address.
  template <class S, class At>
  GW_INLINE typename simd<T>::V value(const S* x, int i, At at) const {
    typedef simd<T> s;
    typedef typename s::V V;
    const S* p = x + base[i];
    const V left = s::splat(near[0][i]), right = s::splat(far[0][i]);
    const int32_t dx = step[0][i];
    const auto row = [&](const S* q) __attribute__((always_inline)) { return s::fma(at(q + dx), right, at(q) * left); };
    if constexpr (axes == 1) {
      return row(p);
    } else {
      const V above = s::splat(near[1][i]), below = s::splat(far[1][i]);
      const int32_t dy = step[1][i], dz = step[2][i];
      const auto plane = [&](const S* q) __attribute__((always_inline)) { return s::fma(row(q + dy), below, row(q) * above); };
      return s::fma(plane(p + dz), s::splat(far[2][i]), plane(p) * s::splat(near[2][i]));
    }
  }
};

template <int axes, class T>
struct alignas(64) VolumeTable<GW_NEAREST, axes, T> {
  static constexpr bool folds_weights = false;
  int32_t base[tile_points];  // no_voxel: outside

  void build(const VolumeJob& job, const VolumeCoordinates<T>& at, int count) {
    typedef simd<T> s;
    typedef typename s::I I;
    typedef typename s::index index;
    for (int i = 0; i < count; i += s::lanes) {
      I sum = I{}, inside = ~I{};
      for (int a = 0; a < axes; ++a) {
        const I at_axis = s::to_index(s::load(at.p[a] + i));
        inside &= (at_axis >= I{}) & (at_axis <= s::splat_index((index)(job.size[a] - 1)));
        sum += at_axis * s::splat_index((index)job.x_s[a]);
      }
      s::store_index(base + i, select(inside, sum, s::splat_index(no_voxel)));
    }
  }
  template <class S, class At>
  GW_INLINE typename simd<T>::V value(const S* x, int i, At at) const {
    typedef typename simd<T>::V V;
    return base[i] == no_voxel ? V{} : (V)at(x + base[i]);
  }
};

template <int axes, class T>
struct alignas(64) VolumeTable<GW_BICUBIC, axes, T> {
  static constexpr bool folds_weights = true;
  int32_t offset[axes][4][tile_points];
  T weight[axes][4][tile_points];

  void build(const VolumeJob& job, const VolumeCoordinates<T>& at, int count) {
    typedef simd<T> s;
    for (int i = 0; i < count; i += s::lanes)
      for (int a = 0; a < axes; ++a) {
        const CubicTaps<T> t = cubic_taps<T>(job.spec, s::load(at.p[a] + i), job.size[a]);
        for (int k = 0; k < 4; ++k) {
          s::store_index(offset[a][k] + i, t.position[k] * s::splat_index((typename s::index)job.x_s[a]));
          s::store(weight[a][k] + i, t.weight[k]);
        }
      }
  }
  template <class S, class At>
  GW_INLINE typename simd<T>::V value(const S* x, int i, At at) const {
    typedef simd<T> s;
    typedef typename s::V V;
    const auto row = [&](const S* q) __attribute__((always_inline)) {
      V v = at(q + offset[0][0][i]) * s::splat(weight[0][0][i]);
      for (int k = 1; k < 4; ++k) v = s::fma(at(q + offset[0][k][i]), s::splat(weight[0][k][i]), v);
      return v;
    };
    if constexpr (axes == 1) {
      return row(x);
    } else {
      V sum = V{};
      for (int k = 0; k < 4; ++k) {
        const S* q = x + offset[2][k][i];
        V plane = row(q + offset[1][0][i]) * s::splat(weight[1][0][i]);
        for (int j = 1; j < 4; ++j) plane = s::fma(row(q + offset[1][j][i]), s::splat(weight[1][j][i]), plane);
        sum = s::fma(plane, s::splat(weight[2][k][i]), sum);
      }
      return sum;
    }
  }
};

// Does again, by definition, what is not a number among `count` values; value k is that of point i + k * points_step in
// channel c + k * channels_step.
template <class S, class T>
static __attribute__((noinline)) void settle_volume(const VolumeJob& job, int64_t n, const VolumeCoordinates<T>& at,
                                                    int64_t c, int channels_step, int i, int points_step, int count,
                                                    T* values) {
  AxisTaps<T> t[3];
  for (int k = 0; k < count; ++k) {
    if (values[k] == values[k]) continue;
    point_taps<T>(job, at, i + k * points_step, t);
    const S* x = static_cast<const S*>(job.x) + n * job.x_n + (c + k * channels_step) * job.x_c;
    values[k] = sample_taps<S, T>(job, x, t);
  }
}

}  // namespace GW_ISA
}  // namespace gw
