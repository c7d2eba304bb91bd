// SPDX-License-Identifier: Apache-2.0
// The backward loops over channels: for each point, grad_output times the weights is added to the pixels under the
// taps, and grad_output times the pixels is summed for the grid's gradient.
#pragma once

#include "sampling/backward_pack.hpp"
#include "sampling/backward_tile.hpp"

namespace gw {
namespace GW_ISA {

// How many points ahead pixels are fetched: a rotated grid leaves a row of the image after a few pixels, which the
// processor does not foresee (720p, 3 channels: 112 to 88 ms; 128 x 128 images of 64 channels are 5% slower with it).
constexpr int ahead_points = 24;

// Where the grid's gradient goes: the tile's first point.
template <class T>
struct Sums {
  T* to;     // null: not wanted
  bool add;  // to what earlier channels left
  GW_INLINE void put(int point, T dx, T dy) const {
    T* p = to + 2 * point;
    p[0] = add ? p[0] + dx : dx;
    p[1] = add ? p[1] + dy : dy;
  }
};

template <class T, int L>
inline void bilinear_slopes(const PointTile<T>& t, const T* folded, int first, int count, const Sums<T>& to) {
  typedef four<T> s;
  typedef typename s::V V;
  for (int k = 0; k < count; k += 4) {
    V r[4];
    for (int i = 0; i < 4; ++i) r[i] = unfold<T, L>(folded + L * (k + i));
    transpose4(r);
    const V wx = s::load(t.wx + first + k), wy = s::load(t.wy + first + k);
    const V dx = (r[1] - r[0]) * (T(1) - wy) + (r[3] - r[2]) * wy;
    const V dy = (r[2] - r[0]) * (T(1) - wx) + (r[3] - r[1]) * wx;
    const int n = min_of(4, count - k);
    for (int i = 0; i < n; ++i) {
      const int p = t.point[first + k + i];
      to.put(p, dx[i] * t.slope.x[p], dy[i] * t.slope.y[p]);
    }
  }
}

template <class T, int L, bool wants_x, bool wants_grid>
inline void bilinear_inside(const Blocks<T>& b, const PointTile<T>& t, const Sums<T>& to) {
  typedef lanes_of<T, L> s;
  typedef typename s::V V;
  constexpr int run = 16;
  alignas(64) T folded[run * L];
  const int64_t pixel = b.pixel, row = b.row, g_point = b.g_point;
  const int32_t vectors = b.vectors;
  const T* const g_base = b.g;
  const T* const x_base = b.x;
  T* const d_base = b.d;
  const int inside = t.inside;
  for (int first = 0; first < inside; first += run) {
    const int count = min_of(run, inside - first);
    for (int k = 0; k < count; ++k) {
      const int64_t offset = t.offset[first + k];
      const T* __restrict g = g_base + t.point[first + k] * g_point;
      const T* __restrict x = x_base + offset;
      T* __restrict d = d_base + offset;
      if (L == 4) {
        const int64_t ahead = t.offset[first + k + ahead_points];
        if (wants_grid) {
          __builtin_prefetch(x_base + ahead);
          __builtin_prefetch(x_base + ahead + row);
        }
        if (wants_x) {
          __builtin_prefetch(d_base + ahead, 1);
          __builtin_prefetch(d_base + ahead + row, 1);
        }
      }
      const T wx = t.wx[first + k], wy = t.wy[first + k], ux = T(1) - wx, uy = T(1) - wy;
      const V w00 = s::splat(ux * uy), w01 = s::splat(wx * uy), w10 = s::splat(ux * wy), w11 = s::splat(wx * wy);
      V s00 = {}, s01 = {}, s10 = {}, s11 = {};
      for (int v = 0; v < vectors; ++v, g += L, x += L, d += L) {
        const V gv = s::load(g);
        if (wants_grid) {
          s00 = fused(gv, s::load(x), s00);
          s01 = fused(gv, s::load(x + pixel), s01);
          s10 = fused(gv, s::load(x + row), s10);
          s11 = fused(gv, s::load(x + row + pixel), s11);
        }
        if (wants_x) {
          s::store(d, fused(gv, w00, s::load(d)));
          s::store(d + pixel, fused(gv, w01, s::load(d + pixel)));
          s::store(d + row, fused(gv, w10, s::load(d + row)));
          s::store(d + row + pixel, fused(gv, w11, s::load(d + row + pixel)));
        }
      }
      if (wants_grid) s::store(folded + L * k, fold_four(s{}, s00, s01, s10, s11));
    }
    if (wants_grid) bilinear_slopes<T, L>(t, folded, first, count, to);
  }
}

template <class V4>
GW_INLINE auto sum_of(const V4& v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// A tap of a point at the edge: x or d may be null.
template <class T, int L>
GW_INLINE T edge_tap(const T* g, const T* x, T* d, T w, int32_t vectors) {
  typedef lanes_of<T, L> s;
  typedef typename s::V V;
  const V wv = s::splat(w);
  V sum = {};
  for (int v = 0; v < vectors; ++v) {
    const V gv = s::load(g + v * L);
    if (x) sum = fused(gv, s::load(x + v * L), sum);
    if (d) s::store(d + v * L, fused(gv, wv, s::load(d + v * L)));
  }
  if (!x) return T(0);
  alignas(64) T lane[L];
  s::store(lane, sum);
  return sum_of(unfold<T, L>(lane));
}

GW_INLINE int64_t clamp_of(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

template <class T, int L>
inline void bilinear_edges(const BackwardJob& job, const BackwardPiece& piece, const Blocks<T>& b, PointTile<T>& t,
                           const Sums<T>& to) {
  for (int e = 0; e < t.edge; ++e) {
    const int p = t.edge_point[e];
    const T fx = floor_of(t.at.x[p]), fy = floor_of(t.at.y[p]), wx = t.at.x[p] - fx, wy = t.at.y[p] - fy;
    const int64_t x0 = (int64_t)fx, y0 = (int64_t)fy, owner = clamp_of(y0, 0, job.height - 1);
    const bool owned = to.to && owner >= piece.y0 && owner < piece.y1;
    T dot[4];
    for (int i = 0; i < 4; ++i) {
      const int64_t x = x0 + (i & 1), y = y0 + (i >> 1);
      const bool in = x >= 0 && x < job.width && y >= 0 && y < job.height;
      const bool in_d = in && b.d && y >= piece.y0 && y < piece.y1, in_x = in && owned;
      dot[i] = T(0);
      if (in_d || in_x)
        dot[i] = edge_tap<T, L>(b.g + p * b.g_point, in_x ? b.x + (y - piece.y0) * b.row + x * b.pixel : nullptr,
                                in_d ? b.d + (y - piece.y0) * b.row + x * b.pixel : nullptr,
                                (i & 1 ? wx : T(1) - wx) * (i >> 1 ? wy : T(1) - wy), b.vectors);
    }
    if (owned)
      to.put(p, ((dot[1] - dot[0]) * (T(1) - wy) + (dot[3] - dot[2]) * wy) * t.slope.x[p],
             ((dot[2] - dot[0]) * (T(1) - wx) + (dot[3] - dot[1]) * wx) * t.slope.y[p]);
  }
}

template <class T, int L>
inline void nearest_inside(const Blocks<T>& b, const PointTile<T>& t) {
  typedef lanes_of<T, L> s;
  for (int k = 0; k < t.inside; ++k) {
    const T* __restrict g = b.g + t.point[k] * b.g_point;
    T* __restrict d = b.d + t.offset[k];
    for (int v = 0; v < b.vectors; ++v) s::store(d + v * L, s::load(d + v * L) + s::load(g + v * L));
  }
}

template <class T, int L, bool wants_x, bool wants_grid>
inline void bicubic_inside(const Spec& spec, const Blocks<T>& b, const PointTile<T>& t, const Sums<T>& to) {
  typedef lanes_of<T, L> s;
  typedef typename s::V V;
  const T a = (T)spec.cubic_coeff_a;
  for (int k = 0; k < t.inside; ++k) {
    const T* __restrict g = b.g + t.point[k] * b.g_point;
    const T* __restrict x = b.x + t.offset[k];
    T* __restrict d = b.d + t.offset[k];
    T cx[4], cy[4], sx[4], sy[4];
    cubic_weights<T>(t.wx[k], a, cx);
    cubic_weights<T>(t.wy[k], a, cy);
    if (wants_grid) {
      cubic_slopes<T>(t.wx[k], a, sx);
      cubic_slopes<T>(t.wy[k], a, sy);
    }
    V dx = {}, dy = {};
    for (int v = 0; v < b.vectors; ++v, g += L, x += L, d += L) {
      const V gv = s::load(g);
      V px = {}, py = {};
      for (int j = 0; j < 4; ++j) {
        if (wants_grid) {
          const T* xr = x + j * b.row;
          V along = s::load(xr) * s::splat(cx[0]), slope = s::load(xr) * s::splat(sx[0]);
          for (int i = 1; i < 4; ++i) {
            const V pixel = s::load(xr + i * b.pixel);
            along = fused(pixel, s::splat(cx[i]), along);
            slope = fused(pixel, s::splat(sx[i]), slope);
          }
          px = fused(slope, s::splat(cy[j]), px);
          py = fused(along, s::splat(sy[j]), py);
        }
        if (wants_x) {
          T* dr = d + j * b.row;
          const V gy = gv * s::splat(cy[j]);
          for (int i = 0; i < 4; ++i)
            s::store(dr + i * b.pixel, fused(gy, s::splat(cx[i]), s::load(dr + i * b.pixel)));
        }
      }
      if (wants_grid) {
        dx = fused(gv, px, dx);
        dy = fused(gv, py, dy);
      }
    }
    if (wants_grid) {
      alignas(64) T folded[L];
      s::store(folded, fold_four(s{}, dx, dy, dx, dy));
      const auto sum = unfold<T, L>(folded);
      const int p = t.point[k];
      to.put(p, sum[0] * t.slope.x[p], sum[1] * t.slope.y[p]);
    }
  }
}

// Pixels of four floats, side by side: a row of taps is one vector of sixteen, or two of eight (720p, 3 channels: 147 to
// 91 ms; 883 to 415 at random points, where fetching ahead counts).
//
// Windows of neighbouring points overlap without being equal, and a load that takes part of a store still on its way to
// the cache waits for it. So points are taken a quarter of the tile apart in turns, always in the same order (the image's
// gradient alone: 71 to 56 ms).
template <int W, bool wants_x, bool wants_grid>
inline void bicubic_rows(const Spec& spec, const Blocks<float>& b, const PointTile<float>& t, const Sums<float>& to) {
  typedef lanes_of<float, W> s;
  typedef typename s::V V;
  constexpr int Q = 16 / W;
  const float a = (float)spec.cubic_coeff_a;
  // Keys' weights and slopes as polynomials of t, a tap a lane.
  const F4 k3 = {a, a + 2, -(a + 2), -a}, k2 = {-2 * a, -(a + 3), 2 * a + 3, a}, k1 = {a, 0, -a, 0}, k0 = {0, 1, 0, 0};
  const F4 d2 = k3 * 3.0f, d1 = k2 * 2.0f;
  constexpr int streams = 4;
  const int length = t.inside / streams;
  const int64_t row = b.row;
  for (int i = 0; i < t.inside; ++i) {
    const int k = i < streams * length ? i % streams * length + i / streams : i;
    const int next = k + 8;
    const float* __restrict g = b.g + t.point[k] * b.g_point;
    const float* __restrict x = b.x + t.offset[k];
    float* __restrict d = b.d + t.offset[k];
    const int64_t ahead = t.offset[next];
    for (int j = 0; j < 4; ++j) {
      if (wants_grid) __builtin_prefetch(b.x + ahead + j * row + 8);
      if (wants_x) __builtin_prefetch(b.d + ahead + j * row + 8, 1);
    }
    const F4 tx = four<float>::splat(t.wx[k]), ty = four<float>::splat(t.wy[k]);
    const F4 cx = fused(fused(fused(k3, tx, k2), tx, k1), tx, k0), cy = fused(fused(fused(k3, ty, k2), ty, k1), ty, k0);
    const F4 sx = fused(fused(d2, tx, d1), tx, k1), sy = fused(fused(d2, ty, d1), ty, k1);
    const V gv = repeat_four(s{}, four<float>::load(g));
    V along[Q], across[Q];
    for (int q = 0; q < Q; ++q) {
      const V gw = gv * spread_four(s{}, cx, q);
      V px = {}, py = {};
      for (int j = 0; j < 4; ++j) {
        if (wants_grid) {
          const V pixels = s::load(x + j * row + q * W);
          px = fused(pixels, s::splat(cy[j]), px);
          py = fused(pixels, s::splat(sy[j]), py);
        }
        if (wants_x) {
          float* to_row = d + j * row + q * W;
          s::store(to_row, fused(gw, s::splat(cy[j]), s::load(to_row)));
        }
      }
      along[q] = px * (gv * spread_four(s{}, sx, q));
      across[q] = py * gw;
    }
    if (wants_grid) {
      V dx = along[0], dy = across[0];
      for (int q = 1; q < Q; ++q) {
        dx += along[q];
        dy += across[q];
      }
      alignas(64) float folded[W];
      s::store(folded, fold_four(s{}, dx, dy, dx, dy));
      const F4 sum = unfold<float, W>(folded);
      const int p = t.point[k];
      to.put(p, sum[0] * t.slope.x[p], sum[1] * t.slope.y[p]);
    }
  }
}

// By rows where that can be: pixels of four floats and vectors of at least eight.
template <class T, int L, bool wants_x, bool wants_grid>
inline void bicubic_points(const Spec& spec, const Blocks<T>& b, const PointTile<T>& t, const Sums<T>& to) {
  if constexpr (L == 4 && sizeof(T) == 4 && simd<float>::lanes >= 8) {
    if (b.pixel == 4) return bicubic_rows<simd<float>::lanes, wants_x, wants_grid>(spec, b, t, to);
  }
  bicubic_inside<T, L, wants_x, wants_grid>(spec, b, t, to);
}

template <class T, int L>
inline void bicubic_edges(const BackwardJob& job, const BackwardPiece& piece, const Blocks<T>& b, PointTile<T>& t,
                          const Sums<T>& to) {
  const T a = (T)job.spec.cubic_coeff_a;
  for (int e = 0; e < t.edge; ++e) {
    const int p = t.edge_point[e];
    const T fx = floor_of(t.at.x[p]), fy = floor_of(t.at.y[p]);
    T cx[4], cy[4], sx[4], sy[4];
    cubic_weights<T>(t.at.x[p] - fx, a, cx);
    cubic_weights<T>(t.at.y[p] - fy, a, cy);
    cubic_slopes<T>(t.at.x[p] - fx, a, sx);
    cubic_slopes<T>(t.at.y[p] - fy, a, sy);
    int64_t column[4], row[4];
    for (int i = 0; i < 4; ++i) {
      column[i] = cubic_tap<T>(job.spec, fx + T(i - 1), job.width);
      row[i] = cubic_tap<T>(job.spec, fy + T(i - 1), job.height);
    }
    const int64_t cell = row[1] >= 0 ? row[1] : clamp_of((int64_t)fy, 0, job.height - 1);
    const bool owned = to.to && cell >= piece.y0 && cell < piece.y1;
    T dx = T(0), dy = T(0);
    for (int j = 0; j < 4; ++j) {
      if (row[j] < 0) continue;
      const bool in_d = b.d && row[j] >= piece.y0 && row[j] < piece.y1;
      if (!in_d && !owned) continue;
      for (int i = 0; i < 4; ++i) {
        if (column[i] < 0) continue;
        const T dot =
            edge_tap<T, L>(b.g + p * b.g_point,
                           owned ? b.x + (row[j] - piece.y0) * b.row + column[i] * b.pixel : nullptr,
                           in_d ? b.d + (row[j] - piece.y0) * b.row + column[i] * b.pixel : nullptr, cx[i] * cy[j],
                           b.vectors);
        dx += dot * (sx[i] * cy[j]);
        dy += dot * (cx[i] * sy[j]);
      }
    }
    if (owned) to.put(p, dx * t.slope.x[p], dy * t.slope.y[p]);
  }
}

}  // namespace GW_ISA
}  // namespace gw
