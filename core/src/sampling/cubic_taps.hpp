// SPDX-License-Identifier: Apache-2.0
// The four taps of one axis of bicubic sampling, a vector of points at a time: where they land and what they weigh.
#pragma once

#include "sampling/exact.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct CubicTaps {
  typename simd<T>::I position[4];  // inside the image, also of taps that do not count
  typename simd<T>::V weight[4];    // 0 if the tap does not count
  typename simd<T>::I counts[4];
  bool all_count, in_order;         // for all lanes: every tap counts; position[i] = position[0] + i too
};

template <class T>
GW_INLINE CubicTaps<T> cubic_taps(const Spec& spec, typename simd<T>::V p, int64_t size) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  CubicTaps<T> t;
  const V f = s::floor(p);
  cubic_weights<T>(p - f, (T)spec.cubic_coeff_a, t.weight);
  const Axis<T> axis = axis_of<T>(spec, size);
  const V first = f - s::splat(1), last = f + s::splat(2);
  t.all_count = t.in_order = !any((first < V{}) | (last > s::splat(axis.size - 1)));
  if (t.in_order) {
    t.position[0] = s::to_index(first);
    for (int i = 1; i < 4; ++i) t.position[i] = t.position[0] + s::splat_index(i);
    for (int i = 0; i < 4; ++i) t.counts[i] = ~I{};
    return t;
  }
  t.all_count = spec.padding != GW_ZEROS;
  for (int i = 0; i < 4; ++i) {
    V tap = f + s::splat(T(i - 1));
    const I inside = (tap >= V{}) & (tap <= s::splat(axis.size - 1));
    t.counts[i] = t.all_count ? ~I{} : inside;
    t.weight[i] = select(t.counts[i], t.weight[i], V{});
    if (spec.padding == GW_REFLECTION) {
      const V mirrored = axis.span2 <= 0                       ? V{}
                         : spec.reflection == GW_REFLECT_ONCE ? reflect_once<T>(tap, axis)
                                                              : reflect<T>(tap, axis);
      tap = select(inside, tap, mirrored);
    }
    t.position[i] = s::to_index(clip<T>(tap, axis));
  }
  return t;
}

}  // namespace GW_ISA
}  // namespace gw
