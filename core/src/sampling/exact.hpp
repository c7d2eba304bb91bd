// SPDX-License-Identifier: Apache-2.0
// One point at a time, tap by tap, with 64-bit offsets: the definition. Fast paths hand it what they cannot do: points
// whose result is not a number (a folded edge weight of zero times infinity is NaN, where the tap should not count at
// all), images too small for a window, offsets past 2^31, strides of any kind.
#pragma once

#include "sampling/coordinates.hpp"

namespace gw {
namespace GW_ISA {

GW_INLINE double floor_of(double v) { return simd<double>::floor(simd<double>::splat(v))[0]; }
GW_INLINE float floor_of(float v) { return simd<float>::floor(simd<float>::splat(v))[0]; }

// c[i]: weights of taps floor(p) - 1 .. floor(p) + 2 at t = p - floor(p), Keys' cubic with constant a. The outer two,
// ((s a - 5 a) s + 8 a) s - 4 a at s = t + 1 and 2 - t, are written as products: that polynomial's terms are up to 40
// times its value, and engines that do not cancel so are up to 2e-6 more exact.
template <class T, class V>
GW_INLINE void cubic_weights(V t, T a, V c[4]) {
  const V one = t * T(0) + T(1), u = one - t;
  c[0] = a * t * u * u;
  c[1] = ((a + T(2)) * t - (a + T(3))) * t * t + one;
  c[2] = ((a + T(2)) * u - (a + T(3))) * u * u + one;
  c[3] = a * u * t * t;
}

// Their derivatives with respect to t. Signed: the absolute values of the operator page do not sum to zero.
template <class T, class V>
GW_INLINE void cubic_slopes(V t, T a, V d[4]) {
  const V one = t * T(0) + T(1), u = one - t, s = t + one, r = u + one;
  d[0] = (T(3) * a * s - T(10) * a) * s + T(8) * a;
  d[1] = (T(3) * (a + T(2)) * t - T(2) * (a + T(3))) * t;
  d[2] = -((T(3) * (a + T(2)) * u - T(2) * (a + T(3))) * u);
  d[3] = -((T(3) * a * r - T(10) * a) * r + T(8) * a);
}

// Where a cubic tap lands: -1 if it does not count.
template <class T>
GW_INLINE int64_t cubic_tap(const Spec& spec, T tap, int64_t size) {
  if (tap >= T(0) && tap <= (T)(size - 1)) return (int64_t)tap;
  if (spec.padding == GW_ZEROS) return -1;
  const Axis<T> a = axis_of<T>(spec, size);
  typename simd<T>::V v = simd<T>::splat(tap);
  if (spec.padding == GW_REFLECTION && a.span2 <= 0) v = typename simd<T>::V{};
  else if (spec.padding == GW_REFLECTION) v = spec.reflection == GW_REFLECT_ONCE ? reflect_once<T>(v, a) : reflect<T>(v, a);
  const int64_t i = (int64_t)clip<T>(v, a)[0];
  return i < size ? i : size - 1;  // a float may round a large size up
}

// An image plane of one channel.
template <class S>
struct Plane {
  const S* data;
  int64_t h, w;  // strides
  int64_t height, width;
  GW_INLINE bool inside(int64_t y, int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }
  GW_INLINE const S* at(int64_t y, int64_t x) const { return data + y * h + x * w; }
};

template <class S, class T>
inline T sample_bilinear(const Plane<S>& p, T px, T py) {
  const T fx = floor_of(px), fy = floor_of(py), wx = px - fx, wy = py - fy;
  const int64_t x = (int64_t)fx, y = (int64_t)fy;
  T sum = 0;
  if (p.inside(y, x)) sum += (T)storage<S>::load(p.at(y, x)) * ((T(1) - wx) * (T(1) - wy));
  if (p.inside(y, x + 1)) sum += (T)storage<S>::load(p.at(y, x + 1)) * (wx * (T(1) - wy));
  if (p.inside(y + 1, x)) sum += (T)storage<S>::load(p.at(y + 1, x)) * ((T(1) - wx) * wy);
  if (p.inside(y + 1, x + 1)) sum += (T)storage<S>::load(p.at(y + 1, x + 1)) * (wx * wy);
  return sum;
}

template <class S, class T>
inline T sample_nearest(const Plane<S>& p, T px, T py) {
  const int64_t x = (int64_t)px, y = (int64_t)py;
  return p.inside(y, x) ? (T)storage<S>::load(p.at(y, x)) : T(0);
}

template <class S, class T>
inline T sample_bicubic(const Spec& spec, const Plane<S>& p, T px, T py) {
  const T fx = floor_of(px), fy = floor_of(py), a = (T)spec.cubic_coeff_a;
  T cx[4], cy[4];
  cubic_weights<T>(px - fx, a, cx);
  cubic_weights<T>(py - fy, a, cy);
  int64_t column[4];
  for (int i = 0; i < 4; ++i) column[i] = cubic_tap<T>(spec, fx + T(i - 1), p.width);
  T sum = 0;
  for (int j = 0; j < 4; ++j) {
    const int64_t y = cubic_tap<T>(spec, fy + T(j - 1), p.height);
    if (y < 0) continue;
    T row = 0;
    for (int i = 0; i < 4; ++i)
      if (column[i] >= 0) row += (T)storage<S>::load(p.at(y, column[i])) * cx[i];
    sum += row * cy[j];
  }
  return sum;
}

template <class S, class T>
inline T sample_exact(const Spec& spec, const Plane<S>& p, T px, T py) {
  if (spec.mode == GW_NEAREST) return sample_nearest<S, T>(p, px, py);
  if (spec.mode == GW_BICUBIC) return sample_bicubic<S, T>(spec, p, px, py);
  return sample_bilinear<S, T>(p, px, py);
}

// A whole piece this way. T may be wider than S's own arithmetic: integer images with a float64 grid.
template <class S, class T>
void sample_piece_exact(const SampleJob& job, const Piece& piece) {
  Coordinates<T> at;
  const bool planar = job.spec.layout == GW_NCHW;
  const int64_t point_stride = planar ? 1 : job.channels, channel_stride = planar ? job.o_c : 1;
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) coordinates<T>(job, n, piece, at);
    for (int64_t c = piece.c0; c < piece.c1; ++c) {
      const Plane<S> plane = {static_cast<const S*>(job.x) + n * job.x_n + c * job.x_c, job.x_h, job.x_w, job.height,
                              job.width};
      S* out = static_cast<S*>(job.out) + n * job.o_n + c * channel_stride;
      for (int r = 0, i = 0; r < piece.rows; ++r) {
        S* o = out + (piece.first + r * job.out_width) * point_stride;
        for (int k = 0; k < piece.length; ++k, ++i, o += point_stride)
          storage<S>::store(o, sample_exact<S, T>(job.spec, plane, at.x[i], at.y[i]));
      }
    }
  }
}

}  // namespace GW_ISA
}  // namespace gw
