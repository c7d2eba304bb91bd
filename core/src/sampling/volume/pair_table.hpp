// SPDX-License-Identifier: Apache-2.0
// Linear sampling of a tile by pairs of samples that are neighbours along x and always lie inside: where a tap lies outside
// the pair is moved inwards, and the missing tap weighs 0.
#pragma once

#include "sampling/planar_table.hpp"
#include "sampling/volume/tables.hpp"
#include "simd/pairs.hpp"

namespace gw {
namespace GW_ISA {

// Offsets of the pair in each of the point's rows (1 or 4: y changes faster) and weights.
template <int axes, class T>
struct alignas(64) PairTable {
  static constexpr int rows = axes == 1 ? 1 : 4;
  int32_t row[rows][tile_points];
  T near[axes][tile_points], far[axes][tile_points];

  void build(const VolumeJob& job, const VolumeCoordinates<T>& at, int count) {
    typedef simd<T> s;
    typedef typename s::I I;
    typedef typename s::index index;
    for (int i = 0; i < count; i += s::lanes) {
      const Pair<T> x = pair_of<T>(s::load(at.p[0] + i), job.size[0]);
      s::store(near[0] + i, x.near);
      s::store(far[0] + i, x.far);
      I to[rows] = {x.first * s::splat_index((index)job.x_s[0])};
      for (int a = 1; a < axes; ++a) {
        const I last = s::splat_index((index)(job.size[a] - 1)), stride = s::splat_index((index)job.x_s[a]), zero = I{};
        const typename s::V p = s::load(at.p[a] + i), floor = s::floor(p), w = p - floor;
        const I first = s::to_index(floor);
        s::store(near[a] + i, select((first >= zero) & (first <= last), s::splat(1) - w, typename s::V{}));
        s::store(far[a] + i, select((first >= zero - 1) & (first < last), w, typename s::V{}));
        const I low = select(first < zero, zero, select(first > last, last, first));
        const I step = (first >= zero) & (first < last) & stride;
        for (int r = 0; r < a; ++r) {
          to[r] += low * stride;
          to[r + a] = to[r] + step;
        }
      }
      for (int r = 0; r < rows; ++r) s::store_index(row[r] + i, to[r]);
    }
  }

  template <class S>
  GW_INLINE typename simd<T>::V value(const S* plane, int i) const {
    typedef simd<T> s;
    typedef typename s::V V;
    V v[rows];
    for (int r = 0; r < rows; ++r) {
      V left, right;
      load_pairs(plane, row[r] + i, left, right);
      v[r] = s::fma(right, s::load(far[0] + i), left * s::load(near[0] + i));
    }
    if constexpr (axes == 1) return v[0];
    else {
      const V above = s::load(near[1] + i), below = s::load(far[1] + i);
      const V front = s::fma(v[1], below, v[0] * above), back = s::fma(v[3], below, v[2] * above);
      return s::fma(back, s::load(far[2] + i), front * s::load(near[2] + i));
    }
  }
};

}  // namespace GW_ISA
}  // namespace gw
