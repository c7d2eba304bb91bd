// SPDX-License-Identifier: Apache-2.0
// The taps of one axis, their weights and slopes, each with its derivative along grad_grad_grid: products of such dual
// numbers over the axes are {w, dw} and, for the slope along k, {dw/dg_k, sum over l of ggg_l d2w/dg_k dg_l}.
#pragma once

#include "sampling/exact.hpp"

namespace gw {
namespace GW_ISA {

// A value and its derivative along grad_grad_grid.
template <class T>
struct Dual {
  T v, d;
};
template <class T>
GW_INLINE Dual<T> operator*(Dual<T> a, Dual<T> b) {
  return {a.v * b.v, a.v * b.d + a.d * b.v};
}

// The taps of one axis that count.
template <class T>
struct DualTaps {
  int count;
  int64_t index[4];
  Dual<T> weight[4], slope[4];  // slope: by the grid's component

  GW_INLINE void add(int64_t i, Dual<T> w, Dual<T> s) {
    index[count] = i;
    weight[count] = w;
    slope[count] = s;
    ++count;
  }
};

// Second derivatives of Keys' weights with respect to t.
template <class T>
GW_INLINE void cubic_curvatures(T t, T a, T e[4]) {
  const T u = T(1) - t, s = t + T(1), r = u + T(1);
  e[0] = T(6) * a * s - T(10) * a;
  e[1] = T(6) * (a + T(2)) * t - T(2) * (a + T(3));
  e[2] = T(6) * (a + T(2)) * u - T(2) * (a + T(3));
  e[3] = T(6) * a * r - T(10) * a;
}

// p: padded coordinate, slope: dp/dg (whose own derivative is 0), along: grad_grad_grid.
template <class T>
GW_INLINE void find_taps(const Spec& spec, int64_t size, T p, T slope, T along, DualTaps<T>& t) {
  t.count = 0;
  const T step = along * slope, f = floor_of(p), part = p - f;
  const auto inside = [&](int64_t i) { return i >= 0 && i < size; };
  const int64_t first = (int64_t)f;
  if (spec.mode == GW_NEAREST) {
    if (inside(first)) t.add(first, {T(1), T(0)}, {T(0), T(0)});
  } else if (spec.mode == GW_BILINEAR) {
    if (inside(first)) t.add(first, {T(1) - part, -step}, {-slope, T(0)});
    if (inside(first + 1)) t.add(first + 1, {part, step}, {slope, T(0)});
  } else {
    const T a = (T)spec.cubic_coeff_a;
    T w[4], d[4], e[4];
    cubic_weights<T>(part, a, w);
    cubic_slopes<T>(part, a, d);
    cubic_curvatures<T>(part, a, e);
    for (int i = 0; i < 4; ++i) {
      const int64_t tap = cubic_tap<T>(spec, f + T(i - 1), size);
      if (tap >= 0) t.add(tap, {w[i], d[i] * step}, {d[i] * slope, e[i] * step * slope});
    }
  }
}

}  // namespace GW_ISA
}  // namespace gw
