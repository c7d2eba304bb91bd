// SPDX-License-Identifier: Apache-2.0
// Bicubic taps of a tile as windows of 4 x 4 adjacent pixels that always lie inside the image. Where taps lie outside,
// the window is moved inwards and their weights go where padding puts them: nowhere, to the edge, to the mirrored pixel.
// Mirrored taps always land in the window: four neighbours fold into at most four neighbours.
#pragma once

#include "sampling/cubic_taps.hpp"
#include "simd/quads.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct AxisWindow {
  typename simd<T>::I start;
  typename simd<T>::V weight[4];
  bool folded;  // for some lane not every pixel of the window is just one tap
};

template <class T>
GW_INLINE AxisWindow<T> axis_window(const Spec& spec, typename simd<T>::V p, int64_t size) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  const CubicTaps<T> taps = cubic_taps<T>(spec, p, size);
  AxisWindow<T> w;
  w.folded = !taps.in_order;
  w.start = taps.position[0];
  if (taps.in_order) {
    for (int k = 0; k < 4; ++k) w.weight[k] = taps.weight[k];
    return w;
  }
  for (int j = 1; j < 4; ++j) w.start = select(taps.position[j] < w.start, taps.position[j], w.start);
  const I last = s::splat_index((typename s::index)(size - 4));
  w.start = select(w.start < last, w.start, last);
  for (int k = 0; k < 4; ++k) {
    w.weight[k] = V{};
    for (int j = 0; j < 4; ++j) w.weight[k] += select(taps.position[j] - w.start == k, taps.weight[j], V{});
  }
  return w;
}

// Weights of one point lie together, four columns or four rows. Points of a block are dealt into its vectors so that
// transposing in groups of four brings sums back in order: vector g of a block holds points g, g + 4, ... (doubles: one
// point after another).
template <class T>
struct alignas(64) WindowTable {
  int32_t offset[tile_points];
  T column_weight[4 * tile_points], row_weight[4 * tile_points];
  bool folded[tile_points / simd<T>::lanes];
  // Of blocks whose windows lie close together and are read as one: rows > 0.
  int32_t base[tile_points / simd<T>::lanes];
  uint8_t rows[tile_points / simd<T>::lanes], vectors[tile_points / simd<T>::lanes];
};

// One window for a whole block costs four permutes and five multiplications a row, loads apart; four points by
// themselves 16 loads and 12 insertions: 64 planes of 128 x 128, a smooth grid: 0.95 ns a value against 1.54; 256 planes
// of 32 x 88 at 200 x 200: 0.79 against 1.54.
constexpr int most_rows = 10;

struct alignas(64) SharedTable {
  int32_t lane[tile_points];
  float column[4][tile_points];
  float row[most_rows][tile_points];
};

// True if the block's windows fit in one of at most most_rows rows of one or two vectors inside the plane.
GW_INLINE bool share_window(const SampleJob& job, const AxisWindow<float>& x, const AxisWindow<float>& y, int b,
                            WindowTable<float>& t, SharedTable& shared) {
  typedef simd<float> s;
  t.rows[b] = 0;
  if (!has_lane_shuffle) return false;
  const int32_t x0 = min_lane(x.start), y0 = min_lane(y.start);
  const int span = max_lane(x.start) - x0 + 4, rows = max_lane(y.start) - y0 + 4;
  if (rows > most_rows || span > 2 * s::lanes) return false;
  const int length = span <= s::lanes ? s::lanes : 2 * s::lanes;
  // The last row must end inside the plane, so the window may have to start further left.
  const int64_t plane = (job.height - 1) * job.x_h + job.width;
  const int64_t base = (int64_t)y0 * job.x_h + x0, end = base + (int64_t)(rows - 1) * job.x_h + length;
  const int64_t shift = end > plane ? end - plane : 0;
  if (shift > base || span + shift > length) return false;
  t.base[b] = (int32_t)(base - shift);
  t.rows[b] = (uint8_t)rows;
  t.vectors[b] = (uint8_t)(length / s::lanes);
  const int i = b * s::lanes;
  s::store_index(shared.lane + i, x.start - s::splat_index((int32_t)(x0 - shift)));
  for (int k = 0; k < 4; ++k) s::store(shared.column[k] + i, x.weight[k]);
  for (int r = 0; r < rows; ++r) {
    const VI d = s::splat_index(r + y0) - y.start;
    VF w = {};
    for (int k = 0; k < 4; ++k) w = select(d == k, y.weight[k], w);
    s::store(shared.row[r] + i, w);
  }
  return true;
}
GW_INLINE bool share_window(const SampleJob&, const AxisWindow<double>&, const AxisWindow<double>&, int b,
                            WindowTable<double>& t, SharedTable&) {
  t.rows[b] = 0;
  return false;
}

template <bool two, class S>
GW_INLINE VF sample_shared(const S* plane, int64_t row, const WindowTable<float>& t, const SharedTable& shared, int b) {
  typedef simd<float> s;
  const int i = b * s::lanes;
  VI lane[4];
  VF column[4];
  for (int k = 0; k < 4; ++k) {
    lane[k] = s::load_index(shared.lane + i) + k;
    column[k] = s::load(shared.column[k] + i);
  }
  const S* p = plane + t.base[b];
  VF sum = {};
  for (int r = 0; r < t.rows[b]; ++r, p += row) {
    const VF v = storage<S>::load_vector(p), u = two ? storage<S>::load_vector(p + s::lanes) : v;
    VF h = (two ? __builtin_shuffle(v, u, lane[0]) : __builtin_shuffle(v, lane[0])) * column[0];
    for (int k = 1; k < 4; ++k)
      h = s::fma(two ? __builtin_shuffle(v, u, lane[k]) : __builtin_shuffle(v, lane[k]), column[k], h);
    sum = s::fma(h, s::load(shared.row[r] + i), sum);
  }
  return sum;
}

GW_INLINE void store_weights(float* to, VF (&w)[4]) {
  transpose_quads(w);
  for (int g = 0; g < 4; ++g) simd<float>::store(to + g * simd<float>::lanes, w[g]);
}
GW_INLINE void store_weights(double* to, simd<double>::V (&w)[4]) {
  for (int i = 0; i < simd<double>::lanes; ++i)
    for (int k = 0; k < 4; ++k) to[4 * i + k] = w[k][i];
}

// Where point i's four column and row weights start.
template <class T>
GW_INLINE int weight_at(int i) {
  constexpr int lanes = simd<T>::lanes;
  return sizeof(T) == 4 ? (i & -lanes) * 4 + (i & 3) * lanes + (i & (lanes - 1) & -4) : 4 * i;
}

// `shared` may be null: every point by itself.
template <class T>
inline void tabulate_windows(const SampleJob& job, int count, const Coordinates<T>& at, WindowTable<T>& t,
                             SharedTable* shared) {
  typedef simd<T> s;
  for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
    AxisWindow<T> x = axis_window<T>(job.spec, s::load(at.x + i), job.width);
    AxisWindow<T> y = axis_window<T>(job.spec, s::load(at.y + i), job.height);
    t.folded[b] = x.folded || y.folded;
    if (shared && share_window(job, x, y, b, t, *shared)) {
      t.folded[b] = true;  // one point's pixels are not all another's taps
      continue;
    }
    s::store_index(t.offset + i, y.start * s::splat_index((typename s::index)job.x_h) +
                                      x.start * s::splat_index((typename s::index)job.x_w));
    store_weights(t.column_weight + 4 * i, x.weight);
    store_weights(t.row_weight + 4 * i, y.weight);
  }
}

// A vector of points from i on.
template <class S>
GW_INLINE VF sample_windows(const S* plane, int64_t row, const WindowTable<float>& t, int i) {
  typedef simd<float> s;
  VF sum[4];
  for (int g = 0; g < 4; ++g) {
    const int32_t* offset = t.offset + i + g;
    const float* weight = t.row_weight + 4 * i + g * s::lanes;
    const VF w = s::load(weight);
    VF v = load_quads(plane, offset) * spread_quads<0>(w);
    v = s::fma(load_quads(plane + row, offset), spread_quads<1>(w), v);
    v = s::fma(load_quads(plane + 2 * row, offset), spread_quads<2>(w), v);
    v = s::fma(load_quads(plane + 3 * row, offset), spread_quads<3>(w), v);
    sum[g] = v * s::load(t.column_weight + 4 * i + g * s::lanes);
  }
  transpose_quads(sum);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
GW_INLINE simd<double>::V sample_windows(const double* plane, int64_t row, const WindowTable<double>& t, int i) {
  typedef quad<double> q;
  simd<double>::V r;
  for (int k = 0; k < simd<double>::lanes; ++k) {
    const double* p = plane + t.offset[i + k];
    const double* w = t.row_weight + 4 * (i + k);
    q::V v = load_pixel<4>(p) * q::splat(w[0]);
    for (int j = 1; j < 4; ++j) v = q::fma(load_pixel<4>(p + j * row), q::splat(w[j]), v);
    v *= load_pixel<4>(t.column_weight + 4 * (i + k));
    r[k] = (v[0] + v[1]) + (v[2] + v[3]);
  }
  return r;
}

}  // namespace GW_ISA
}  // namespace gw
