// SPDX-License-Identifier: Apache-2.0
// The gradient one point at a time, tap by tap, with 64-bit offsets: the definition.
#pragma once

#include "sampling/backward.hpp"
#include "sampling/exact.hpp"

namespace gw {
namespace GW_ISA {

// One channel of one image: x, and the gradient being summed (dense rows of `width`), either of which may be null.
template <class S, class T>
struct GradientPlane {
  Plane<S> x;
  T* sum;

  // One tap with weight w and its derivatives along x and y.
  GW_INLINE void tap(int64_t iy, int64_t ix, T g, T w, T wx, T wy, T* dx, T* dy) const {
    if (sum) sum[iy * x.width + ix] += g * w;
    if (x.data) {
      const T v = (T)storage<S>::load(x.at(iy, ix));
      *dx += g * (v * wx);
      *dy += g * (v * wy);
    }
  }
};

template <class S, class T>
inline void backward_bilinear(const GradientPlane<S, T>& p, T g, T px, T py, T* dx, T* dy) {
  const T fx = floor_of(px), fy = floor_of(py), wx = px - fx, wy = py - fy, ux = T(1) - wx, uy = T(1) - wy;
  const int64_t x = (int64_t)fx, y = (int64_t)fy;
  if (p.x.inside(y, x)) p.tap(y, x, g, ux * uy, -uy, -ux, dx, dy);
  if (p.x.inside(y, x + 1)) p.tap(y, x + 1, g, wx * uy, uy, -wx, dx, dy);
  if (p.x.inside(y + 1, x)) p.tap(y + 1, x, g, ux * wy, -wy, ux, dx, dy);
  if (p.x.inside(y + 1, x + 1)) p.tap(y + 1, x + 1, g, wx * wy, wy, wx, dx, dy);
}

template <class S, class T>
inline void backward_bicubic(const Spec& spec, const GradientPlane<S, T>& p, T g, T px, T py, T* dx, T* dy) {
  const T fx = floor_of(px), fy = floor_of(py), a = (T)spec.cubic_coeff_a;
  T cx[4], cy[4], sx[4], sy[4];
  cubic_weights<T>(px - fx, a, cx);
  cubic_weights<T>(py - fy, a, cy);
  cubic_slopes<T>(px - fx, a, sx);
  cubic_slopes<T>(py - fy, a, sy);
  int64_t column[4];
  for (int i = 0; i < 4; ++i) column[i] = cubic_tap<T>(spec, fx + T(i - 1), p.x.width);
  for (int j = 0; j < 4; ++j) {
    const int64_t y = cubic_tap<T>(spec, fy + T(j - 1), p.x.height);
    if (y < 0) continue;
    for (int i = 0; i < 4; ++i)
      if (column[i] >= 0) p.tap(y, column[i], g, cx[i] * cy[j], sx[i] * cy[j], cx[i] * sy[j], dx, dy);
  }
}

// Adds the point's part to p.sum; gives the derivatives of the sample with respect to px and py, times g.
template <class S, class T>
inline void backward_point(const Spec& spec, const GradientPlane<S, T>& p, T g, T px, T py, T* dx, T* dy) {
  *dx = *dy = T(0);
  if (spec.mode == GW_BICUBIC) return backward_bicubic<S, T>(spec, p, g, px, py, dx, dy);
  if (spec.mode == GW_BILINEAR) return backward_bilinear<S, T>(p, g, px, py, dx, dy);
  if (!p.sum) return;
  const int64_t x = (int64_t)px, y = (int64_t)py;
  if (p.x.inside(y, x)) p.sum[y * p.x.width + x] += g;
}

template <class S>
void backward_piece_exact(const BackwardJob& job, const BackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  Coordinates<T> at, slope;
  T* const sum = job.grad_x ? static_cast<T*>(piece.scratch) : nullptr;
  T* const to = static_cast<T*>(piece.sums);
  const bool wants_slopes = to && job.spec.mode != GW_NEAREST;
  
  for (int64_t c = piece.c0; c < piece.c1; ++c) {
    const S* x = static_cast<const S*>(job.x) + piece.n * job.x_n + c * job.x_c;
    const GradientPlane<S, T> plane = {{wants_slopes ? x : nullptr, job.x_h, job.x_w, job.height, job.width}, sum};
    if (sum) memset(sum, 0, sizeof(T) * (size_t)(job.height * job.width));
    const S* g = static_cast<const S*>(job.grad_output) + piece.n * job.go_n + c * job.go_c;
    for (int64_t first = 0; first < job.points(); first += tile_points) {
      const int32_t length = (int32_t)min_of<int64_t>(tile_points, job.points() - first);
      const Piece tile = {piece.n, piece.n + 1, c, c + 1, first, 1, length};
      coordinates<T>(job, piece.n, tile, at, &slope);
      for (int i = 0; i < length; ++i) {
        const int64_t p = first + i;
        T dx, dy;
        backward_point<S, T>(job.spec, plane,
                             (T)storage<S>::load(g + p / job.out_width * job.go_h + p % job.out_width * job.go_w),
                             at.x[i], at.y[i], &dx, &dy);
        if (!to) continue;
        dx *= slope.x[i];
        dy *= slope.y[i];
        to[2 * p] = c == piece.c0 ? dx : to[2 * p] + dx;
        to[2 * p + 1] = c == piece.c0 ? dy : to[2 * p + 1] + dy;
      }
    }
    if (!sum) continue;
    S* out = static_cast<S*>(job.grad_x) + piece.n * job.gx_n + c * job.gx_c;
    for (int64_t y = 0; y < job.height; ++y)
      for (int64_t k = 0; k < job.width; ++k)
        storage<S>::store(out + y * job.gx_h + k * job.gx_w, sum[y * job.width + k]);
  }
}

template <class S>
int64_t backward_exact_bytes(const BackwardJob& job, const BackwardPiece&) {
  return job.grad_x ? (int64_t)sizeof(typename storage<S>::compute) * job.height * job.width : 0;
}

}  // namespace GW_ISA
}  // namespace gw
