// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample's gradient, for one, two or three spatial axes.
//
// y = sum over taps of w x, w a product of one weight per axis. The first gradient is grad_x = go w and, for component k
// of the grid, grad_grid_k = sum over channels of go x dw/dg_k. What comes in, ggx and ggg, is contracted with them:
//
//   L = sum over points, channels, taps of go (w ggx + dw x),   dw = sum over k of ggg_k dw/dg_k
//
// and differentiated by go, x and g. Along ggg every product of weights is differentiated at once, as dual numbers:
// {w, dw} and, for the slope along k, {dw/dg_k, sum over l of ggg_l d2w/dg_k dg_l}.
#include "sampling/double_backward.hpp"

#include "cpu/kernels.hpp"
#include "sampling/double_backward_rows.hpp"
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

// Offsets of the points [first, first + count) in an array with the output's spatial axes.
inline void offsets_of(const int64_t (&lengths)[3], const int64_t (&s)[3], int64_t first, int count, int64_t* to) {
  int64_t k = first % lengths[2], j = first / lengths[2] % lengths[1], i = first / lengths[2] / lengths[1];
  for (int p = 0; p < count; ++p) {
    to[p] = i * s[0] + j * s[1] + k * s[2];
    if (++k < lengths[2]) continue;
    k = 0;
    if (++j < lengths[1]) continue;
    j = 0;
    ++i;
  }
}

// A tile of points: coordinates, their slopes and grad_grad_grid, by component.
template <class T>
struct Tile {
  alignas(64) T at[3][tile_points];
  alignas(64) T slope[3][tile_points];
  alignas(64) T along[3][tile_points];
  int64_t offset[tile_points];
};

template <class T>
inline void load_component(const Strided& a, int32_t type, int64_t n, int k, int count, const int64_t* offset, T* to) {
  for (int p = 0; p < count; ++p) to[p] = load_as<T>(type, a.data, n * a.n + k * a.c + offset[p]);
}

template <class T, int axes>
inline void fill_tile(const DoubleBackwardJob& job, int64_t n, int64_t first, int count, Tile<T>& tile) {
  offsets_of(job.out, job.grid.s, first, count, tile.offset);
  for (int k = 0; k < axes; ++k) {
    load_component(job.grid, job.grid_type, n, k, count, tile.offset, tile.at[k]);
    for (int p = count; p % simd<T>::lanes != 0; ++p) tile.at[k][p] = T(0);
    transform_axis<T>(job.spec, job.in[2 - k], count, tile.at[k], tile.slope[k]);
  }
  if (!job.has_slopes()) return;
  offsets_of(job.out, job.grad_grad_grid.s, first, count, tile.offset);
  for (int k = 0; k < axes; ++k)
    load_component(job.grad_grad_grid, job.grid_type, n, k, count, tile.offset, tile.along[k]);
}

// Pairs, then pairs of pairs: one order for every instruction set.
template <class T, int width>
GW_INLINE T sum_of(typename RowOf<T, width>::V v) {
  T a[width];
  memcpy(a, &v, sizeof v);
  for (int half = width / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a[i] += a[i + half];
  return a[0];
}

// What a piece reads and writes at the taps. Without a given array its block has no data.
struct Blocks {
  Block x, ggx, gx;
};

template <class T, int axes, int width>
struct Point {
  typedef typename RowOf<T, width>::V V;
  V out;         // of grad_grad_output
  V slope[axes]; // of grad_grid, before the sum over channels

  GW_INLINE void run(const Blocks& b, const DualTaps<T> (&t)[3], V go, bool reads_x) {
    out = V{};
    for (int k = 0; k < axes; ++k) slope[k] = V{};
    for (int i = 0; i < t[0].count; ++i)
      for (int j = 0; j < t[1].count; ++j) {
        const Dual<T> outer = axes < 3 ? t[1].weight[j] : t[0].weight[i] * t[1].weight[j];
        const Dual<T> by_y = axes < 3 ? t[1].slope[j] : t[0].weight[i] * t[1].slope[j];
        const Dual<T> by_z = axes < 3 ? Dual<T>{} : t[0].slope[i] * t[1].weight[j];
        const int64_t x = t[0].index[i] * b.x.s[0] + t[1].index[j] * b.x.s[1];
        const int64_t ggx = t[0].index[i] * b.ggx.s[0] + t[1].index[j] * b.ggx.s[1];
        const int64_t gx = t[0].index[i] * b.gx.s[0] + t[1].index[j] * b.gx.s[1];
        for (int k = 0; k < t[2].count; ++k) {
          const int64_t column = t[2].index[k];
          const Dual<T> w = axes < 2 ? t[2].weight[k] : outer * t[2].weight[k];
          const Dual<T> by[3] = {axes < 2 ? t[2].slope[k] : outer * t[2].slope[k], by_y * t[2].weight[k],
                                 by_z * t[2].weight[k]};
          if (b.ggx.data) {
            const V v = load_row<T, width>(b.ggx, ggx + column * b.ggx.s[2]);
            out += v * w.v;
            for (int a = 0; a < axes; ++a) slope[a] += v * by[a].v;
          }
          if (reads_x) {
            const V v = load_row<T, width>(b.x, x + column * b.x.s[2]);
            out += v * w.d;
            for (int a = 0; a < axes; ++a) slope[a] += v * by[a].d;
          }
          if (b.gx.data) {
            const int64_t offset = gx + column * b.gx.s[2];
            store_row<T, width>(b.gx, offset, load_row<T, width>(b.gx, offset) + go * w.d);
          }
        }
      }
  }
};

// Rows pay where points read more of them than there are; rows that lie ready cost nothing.
inline bool is_packed(const DoubleBackwardJob& job, const Block& b) {
  static const int64_t by_mode[] = {2, 1, 4};
  int64_t reads = 1;
  for (int i = 0; i < job.axes; ++i) reads *= by_mode[job.spec.mode];
  return !b.rows && job.points() >= job.pixels() / reads;
}

// Which rows are packed or summed apart, and the memory of each.
template <class T>
struct Room {
  bool x, ggx, gx;
  int64_t row_bytes;  // of one image's packed rows; -1: more than 63 bits count

  Room(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece) {
    const bool reads_x = job.has_slopes() && (job.grad_grad_output.data || job.wants_sums());
    x = reads_x && is_packed(job, block_of<T>(job.x, job.x_type, piece));
    ggx = job.grad_grad_x.data && is_packed(job, block_of<T>(job.grad_grad_x, job.x_type, piece));
    // Half-precision sums have to be kept in float whatever the number of points.
    const Block sum = block_of<T>(job.grad_x, job.x_type, piece);
    gx = job.grad_x.data && job.has_slopes() && (is_packed(job, sum) || job.x_type == GW_FLOAT16 ||
                                                 job.x_type == GW_BFLOAT16);
    if (__builtin_mul_overflow(job.pixels(), (int64_t)sizeof(T) * piece.width, &row_bytes)) row_bytes = -1;
    else row_bytes = (row_bytes + 63) / 64 * 64;
  }
};

template <class T>
int64_t double_backward_bytes(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece) {
  const Room<T> room(job, piece);
  const int64_t count = (room.x ? 1 : 0) + (room.ggx ? 1 : 0) + (room.gx ? 1 : 0);
  int64_t bytes;
  if (count == 0) return 0;
  if (room.row_bytes < 0 || __builtin_mul_overflow(count, room.row_bytes, &bytes)) return -1;
  return bytes;
}

template <class T, int axes, int width>
void double_backward_piece(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece) {
  typedef typename RowOf<T, width>::V V;
  const Room<T> room(job, piece);
  const bool slopes = job.has_slopes(), wants_out = job.grad_grad_output.data != nullptr;
  char* memory = static_cast<char*>(piece.scratch);
  const auto take = [&] {
    T* const at = reinterpret_cast<T*>(memory);
    memory += room.row_bytes;
    return at;
  };
  Blocks b = {};
  const auto place = [&](const Strided& from, bool pack) {
    const Block given = block_of<T>(from, job.x_type, piece);
    if (!pack) return given;
    T* const rows = take();
    pack_rows<T>(given, job.in, width, rows);
    return packed<T>(given, job.in, width, rows);
  };
  const bool reads_x = slopes && (wants_out || piece.sums);
  if (reads_x) b.x = place(job.x, room.x);
  if (job.grad_grad_x.data) b.ggx = place(job.grad_grad_x, room.ggx);
  Block grad_x = {};
  if (job.grad_x.data) {
    grad_x = block_of<T>(job.grad_x, job.x_type, piece);
    if (room.gx) {
      T* const rows = take();
      memset(rows, 0, (size_t)room.row_bytes);
      b.gx = packed<T>(grad_x, job.in, width, rows);
    } else {
      clear(grad_x, job.in);
      if (slopes) b.gx = grad_x;
    }
  }
  const Block go = block_of<T>(job.grad_output, job.x_type, piece);
  const Block out = block_of<T>(job.grad_grad_output, job.x_type, piece);

  Tile<T> tile;
  DualTaps<T> taps[3];
  for (int a = 0; a < 3 - axes; ++a) {
    taps[a].count = 0;
    taps[a].add(0, {T(1), T(0)}, {T(0), T(0)});
  }
  int64_t go_at[tile_points], out_at[tile_points];
  const bool reads_go = b.gx.data || piece.sums;
  const bool has_work = wants_out || reads_go;
  const int64_t points = job.points();
  for (int64_t first = 0; has_work && first < points; first += tile_points) {
    const int count = (int)min_of<int64_t>(tile_points, points - first);
    fill_tile<T, axes>(job, piece.n, first, count, tile);
    if (reads_go) offsets_of(job.out, job.grad_output.s, first, count, go_at);
    if (wants_out) offsets_of(job.out, job.grad_grad_output.s, first, count, out_at);
    for (int p = 0; p < count; ++p) {
      for (int k = 0; k < axes; ++k)
        find_taps<T>(job.spec, job.in[2 - k], tile.at[k][p], tile.slope[k][p], slopes ? tile.along[k][p] : T(0),
                     taps[2 - k]);
      const V g = reads_go ? load_row<T, width>(go, go_at[p]) : V{};
      Point<T, axes, width> point;
      point.run(b, taps, g, reads_x);
      if (wants_out) store_row<T, width>(out, out_at[p], point.out);
      if (!piece.sums) continue;
      T* const sums = static_cast<T*>(piece.sums) + (first + p) * axes;
      for (int k = 0; k < axes; ++k) sums[k] = sum_of<T, width>(point.slope[k] * g);
    }
  }
  if (room.gx) unpack_rows<T>(reinterpret_cast<const T*>(b.gx.data), job.in, width, grad_x);
}

template <class T, int axes>
void double_backward_run(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece) {
  if (piece.width == 16) double_backward_piece<T, axes, 16>(job, piece);
  else if (piece.width == 4) double_backward_piece<T, axes, 4>(job, piece);
  else double_backward_piece<T, axes, 1>(job, piece);
}

template <class T, int axes>
void double_backward_combine(const DoubleBackwardJob& job, const void* sums, int64_t blocks, int64_t n, int64_t first,
                             int64_t last) {
  int64_t offset[tile_points];
  const Strided& to = job.grad_grid;
  const int64_t points = job.points();
  for (int64_t p = first; p < last; p += tile_points) {
    const int count = (int)min_of<int64_t>(tile_points, last - p);
    offsets_of(job.out, to.s, p, count, offset);
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < axes; ++k) {
        T total = T(0);
        for (int64_t b = 0; b < blocks; ++b) total += static_cast<const T*>(sums)[(b * points + p + i) * axes + k];
        store_as<T>(job.grid_type, to.data, n * to.n + k * to.c + offset[i], total);
      }
  }
}

template <class T>
static void add_double_backward(Kernels& k, int type) {
  k.double_backward[type][0] = {double_backward_run<T, 1>, double_backward_bytes<T>, double_backward_combine<T, 1>};
  k.double_backward[type][1] = {double_backward_run<T, 2>, double_backward_bytes<T>, double_backward_combine<T, 2>};
  k.double_backward[type][2] = {double_backward_run<T, 3>, double_backward_bytes<T>, double_backward_combine<T, 3>};
}

void add_double_backward_kernels(Kernels& k) {
  add_double_backward<float>(k, GW_FLOAT32);
  add_double_backward<double>(k, GW_FLOAT64);
  add_double_backward<float>(k, GW_FLOAT16);
  add_double_backward<float>(k, GW_BFLOAT16);
}

}  // namespace GW_ISA
}  // namespace gw
