// SPDX-License-Identifier: Apache-2.0
// One point at a time, with a list of the taps that count along each axis, and 64-bit offsets: the definition. Fast
// paths hand it what they cannot do: points whose result is not a number (a tap that does not count has a weight of zero
// there, and zero times infinity is NaN), offsets past 2^31, strides of any kind.
#pragma once

#include "sampling/exact.hpp"
#include "sampling/volume/coordinates.hpp"

namespace gw {
namespace GW_ISA {

// The taps of one axis that count.
template <class T>
struct AxisTaps {
  int count;
  int64_t index[4];
  T weight[4], slope[4];  // the weight's derivative by the coordinate

  void add(int64_t i, int64_t size, T w, T s = T(0)) {
    if (i < 0 || i >= size) return;
    index[count] = i;
    slope[count] = s;
    weight[count++] = w;
  }
};

template <class T, bool slopes = false>
inline AxisTaps<T> axis_taps(const Spec& spec, T p, int64_t size) {
  AxisTaps<T> t;
  t.count = 0;
  if (spec.mode == GW_NEAREST) {
    t.add((int64_t)p, size, T(1));
    return t;
  }
  const T f = floor_of(p), w = p - f;
  if (spec.mode == GW_BILINEAR) {
    t.add((int64_t)f, size, T(1) - w, T(-1));
    t.add((int64_t)f + 1, size, w, T(1));
    return t;
  }
  T c[4], d[4] = {};
  cubic_weights<T>(w, (T)spec.cubic_coeff_a, c);
  if (slopes) cubic_slopes<T>(w, (T)spec.cubic_coeff_a, d);
  for (int i = 0; i < 4; ++i) t.add(cubic_tap<T>(spec, f + T(i - 1), size), size, c[i], d[i]);
  return t;
}

// Those of point i along all axes; an axis that points have no coordinate for has one tap of weight 1.
template <class T, bool slopes = false>
inline void point_taps(const VolumeJob& job, const VolumeCoordinates<T>& at, int i, AxisTaps<T> (&t)[3]) {
  for (int a = 0; a < 3; ++a) {
    if (a < job.axes) {
      t[a] = axis_taps<T, slopes>(job.spec, at.p[a][i], job.size[a]);
    } else {
      t[a].count = 0;
      t[a].add(0, 1, T(1));
    }
  }
}

// Row by row and plane by plane: few terms in every sum, so few roundings.
template <class S, class T>
inline T sample_taps(const VolumeJob& job, const S* x, const AxisTaps<T> (&t)[3]) {
  T sum = 0;
  for (int k = 0; k < t[2].count; ++k) {
    T plane = 0;
    for (int j = 0; j < t[1].count; ++j) {
      const S* row = x + t[2].index[k] * job.x_s[2] + t[1].index[j] * job.x_s[1];
      T along = 0;
      for (int i = 0; i < t[0].count; ++i) along += (T)storage<S>::load(row + t[0].index[i] * job.x_s[0]) * t[0].weight[i];
      plane += along * t[1].weight[j];
    }
    sum += plane * t[2].weight[k];
  }
  return sum;
}

// A whole piece this way. T may be wider than S's own arithmetic: integers with a float64 grid.
template <class S, class T>
void sample_volume_exact(const VolumeJob& job, const VolumePiece& piece) {
  VolumeCoordinates<T> at;
  volume_coordinates<T>(job, piece.n, piece.first, piece.count, at);
  AxisTaps<T> t[3];
  const S* x = static_cast<const S*>(job.x) + piece.n * job.x_n;
  S* out = static_cast<S*>(job.out) + piece.n * job.o_n + piece.first * job.o_p;
  for (int i = 0; i < piece.count; ++i, out += job.o_p) {
    point_taps<T>(job, at, i, t);
    for (int64_t c = piece.c0; c < piece.c1; ++c)
      storage<S>::store(out + c * job.o_c, sample_taps<S, T>(job, x + c * job.x_c, t));
  }
}

}  // namespace GW_ISA
}  // namespace gw
