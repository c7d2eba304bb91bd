// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample's gradient, for one, two or three spatial axes.
//
// y = sum over taps of w x, w a product of one weight per axis. The first gradient is grad_x = go w and, for component k
// of the grid, grad_grid_k = sum over channels of go x dw/dg_k. What comes in, ggx and ggg, is contracted with them:
//
//   L = sum over points, channels, taps of go (w ggx + dw x),   dw = sum over k of ggg_k dw/dg_k
//
// and differentiated by go, x and g.
#include "sampling/double_backward.hpp"

#include "cpu/kernels.hpp"
#include "sampling/double_backward_rows.hpp"
#include "sampling/double_backward_taps.hpp"

namespace gw {
namespace GW_ISA {

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

  // Of the row of channels that begins at `channel` of the block.
  GW_INLINE void run(const Blocks& b, const DualTaps<T> (&t)[3], V go, bool reads_x, int64_t channel) {
    out = V{};
    for (int k = 0; k < axes; ++k) slope[k] = V{};
    for (int i = 0; i < t[0].count; ++i)
      for (int j = 0; j < t[1].count; ++j) {
        const Dual<T> outer = axes < 3 ? t[1].weight[j] : t[0].weight[i] * t[1].weight[j];
        const Dual<T> by_y = axes < 3 ? t[1].slope[j] : t[0].weight[i] * t[1].slope[j];
        const Dual<T> by_z = axes < 3 ? Dual<T>{} : t[0].slope[i] * t[1].weight[j];
        const int64_t x = channel + t[0].index[i] * b.x.s[0] + t[1].index[j] * b.x.s[1];
        const int64_t ggx = channel + t[0].index[i] * b.ggx.s[0] + t[1].index[j] * b.ggx.s[1];
        const int64_t gx = channel + t[0].index[i] * b.gx.s[0] + t[1].index[j] * b.gx.s[1];
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

inline bool reads_x(const DoubleBackwardJob& job) {
  return job.has_slopes() && (job.grad_grad_output.data || job.wants_sums());
}

template <class T>
int double_backward_rows(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece, int64_t* bytes) {
  int wanted = 0;
  if (reads_x(job) && is_packed(job, block_of<T>(job.x, job.x_type, piece))) wanted |= rows_of_x;
  if (job.grad_grad_x.data && is_packed(job, block_of<T>(job.grad_grad_x, job.x_type, piece)))
    wanted |= rows_of_grad_grad_x;
  // Sums of half precision have to be kept in float whatever the number of points.
  const bool half = job.x_type == GW_FLOAT16 || job.x_type == GW_BFLOAT16;
  if (job.grad_x.data && job.has_slopes() &&
      (piece.shared || half || is_packed(job, block_of<T>(job.grad_x, job.x_type, piece))))
    wanted |= rows_of_grad_x;
  if (__builtin_mul_overflow(job.pixels(), (int64_t)sizeof(T) * piece.row(), bytes)) *bytes = -1;
  else *bytes = (*bytes + 63) / 64 * 64;
  return wanted;
}

template <class T>
void double_backward_pack(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece, int which) {
  const Block given = block_of<T>(which == 0 ? job.x : job.grad_grad_x, job.x_type, piece);
  pack_rows<T>(given, job.in, piece.row(), static_cast<T*>(piece.rows[which]));
}

template <class T>
void double_backward_add(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece, int64_t count, int64_t bytes,
                         int64_t first, int64_t last) {
  unpack_rows<T>(static_cast<const T*>(piece.rows[2]), count, bytes / (int64_t)sizeof(T), job.in, first, last,
                 piece.row(), block_of<T>(job.grad_x, job.x_type, piece));
}

// The blocks a piece works on; what it packs itself is packed here.
template <class T>
inline Blocks place_blocks(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece) {
  Blocks b = {};
  const auto place = [&](const Strided& from, int which) {
    const Block given = block_of<T>(from, job.x_type, piece);
    if (!piece.rows[which]) return given;
    if (!piece.shared) double_backward_pack<T>(job, piece, which);
    return packed<T>(given, job.in, piece.row(), piece.rows[which]);
  };
  if (reads_x(job)) b.x = place(job.x, 0);
  if (job.grad_grad_x.data) b.ggx = place(job.grad_grad_x, 1);
  if (!job.grad_x.data) return b;
  const Block given = block_of<T>(job.grad_x, job.x_type, piece);
  if (piece.rows[2]) {
    b.gx = packed<T>(given, job.in, piece.row(), piece.rows[2]);
    memset(b.gx.data, 0, sizeof(T) * (size_t)(job.pixels() * piece.row()));
  } else if (!piece.shared || piece.first == 0) {
    clear(given, job.in);
    if (job.has_slopes()) b.gx = given;
  }
  return b;
}

template <class T, int axes, int width>
void double_backward_piece(const DoubleBackwardJob& job, const DoubleBackwardPiece& piece) {
  typedef typename RowOf<T, width>::V V;
  const Blocks b = place_blocks<T>(job, piece);
  const bool slopes = job.has_slopes(), wants_out = job.grad_grad_output.data != nullptr;
  const Block go = block_of<T>(job.grad_output, job.x_type, piece);
  const Block out = block_of<T>(job.grad_grad_output, job.x_type, piece);

  Tile<T> tile;
  DualTaps<T> taps[3];
  for (int a = 0; a < 3 - axes; ++a) {
    taps[a].count = 0;
    taps[a].add(0, {T(1), T(0)}, {T(0), T(0)});
  }
  int64_t go_at[tile_points], out_at[tile_points];
  alignas(64) V go_rows[tile_points], out_rows[tile_points];
  const bool reads_go = b.gx.data || piece.sums;
  const bool has_work = wants_out || reads_go;
  for (int64_t first = piece.first; has_work && first < piece.last; first += tile_points) {
    const int count = (int)min_of<int64_t>(tile_points, piece.last - first);
    fill_tile<T, axes>(job, piece.n, first, count, tile);
    if (reads_go) {
      offsets_of(job.out, job.grad_output.s, first, count, go_at);
      if (!go.rows) gather_points<T>(go, go_at, count, width, reinterpret_cast<T*>(go_rows));
    }
    if (wants_out) offsets_of(job.out, job.grad_grad_output.s, first, count, out_at);
    for (int p = 0; p < count; ++p) {
      for (int k = 0; k < axes; ++k)
        find_taps<T>(job.spec, job.in[2 - k], tile.at[k][p], tile.slope[k][p], slopes ? tile.along[k][p] : T(0),
                     taps[2 - k]);
      T* const sums = piece.sums ? static_cast<T*>(piece.sums) + (first + p) * axes : nullptr;
      for (int64_t channel = 0; channel < piece.row(); channel += width) {
        const V g = !reads_go ? V{} : go.rows ? load_row<T, width>(go, go_at[p] + channel) : go_rows[p];
        Point<T, axes, width> point;
        point.run(b, taps, g, b.x.data != nullptr, channel);
        if (wants_out && out.rows) store_row<T, width>(out, out_at[p] + channel, point.out);
        else out_rows[p] = point.out;
        for (int k = 0; sums && k < axes; ++k)
          sums[k] = (channel > 0 ? sums[k] : T(0)) + sum_of<T, width>(point.slope[k] * g);
      }
    }
    if (wants_out && !out.rows) scatter_points<T>(reinterpret_cast<const T*>(out_rows), out_at, count, width, out);
  }
  if (piece.rows[2] && !piece.shared) double_backward_add<T>(job, piece, 1, 0, 0, job.in[0] * job.in[1]);
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

template <class T, int axes>
static DoubleBackwardKernel double_backward_kernel() {
  return {double_backward_run<T, axes>, double_backward_rows<T>, double_backward_pack<T>, double_backward_add<T>,
          double_backward_combine<T, axes>};
}

template <class T>
static void add_double_backward(Kernels& k, int type) {
  k.double_backward[type][0] = double_backward_kernel<T, 1>();
  k.double_backward[type][1] = double_backward_kernel<T, 2>();
  k.double_backward[type][2] = double_backward_kernel<T, 3>();
}

void add_double_backward_kernels(Kernels& k) {
  add_double_backward<float>(k, GW_FLOAT32);
  add_double_backward<double>(k, GW_FLOAT64);
  add_double_backward<float>(k, GW_FLOAT16);
  add_double_backward<float>(k, GW_BFLOAT16);
}

}  // namespace GW_ISA
}  // namespace gw
