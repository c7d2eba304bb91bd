// SPDX-License-Identifier: Apache-2.0
// What a tile's coordinates mean for one channel plane after another: computed once, used for every channel.
//
// A point's two columns are an adjacent pair of pixels that always lies inside the image; where a tap lies outside,
// the pair is moved inwards and the weight of the missing tap is 0. Blocks of one vector of neighbouring points whose
// pixels fit in a few rows of one or two vectors are read as windows and permuted in registers.
#pragma once

#include "sampling/exact.hpp"
#include "simd/stream.hpp"

namespace gw {
namespace GW_ISA {

// A window costs one or two loads, two permutes and three multiplications a row, a pair two loads and two shuffles a
// point: beyond these rows pairs are cheaper (Zen 4, 64-byte vectors, measured at 3 to 8 rows).
constexpr int max_rows = 6;

enum class Reach : uint8_t { outside, pairs, pairs_at_edge, window, double_window };

struct Block {
  Reach reach;
  uint8_t rows;   // of a window
  int32_t base;   // offset of a window's first element in the plane
};

template <class T>
struct alignas(64) PlanarTable {
  static constexpr int lanes = simd<T>::lanes;
  int32_t upper[tile_points], lower[tile_points];  // offsets of the pair in its two rows
  T left[tile_points], right[tile_points];         // weights of the columns
  T above[tile_points], below[tile_points];        // weights of the rows
  int32_t lane[tile_points];                       // of the left column in its block's window
  T row_weight[max_rows][tile_points];             // of each window row
  Block block[tile_points / lanes];
};

// The adjacent pair of one axis: its first index and two weights.
template <class T>
struct Pair {
  typename simd<T>::I first, index;  // moved inwards; floor of the coordinate
  typename simd<T>::V near, far;
};

template <class T>
GW_INLINE Pair<T> pair_of(typename simd<T>::V p, int64_t size) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  Pair<T> r;
  const V floor = s::floor(p), w = p - floor;
  r.index = s::to_index(floor);
  const I last = s::splat_index((typename s::index)(size - 1)), zero = I{};
  const V a = select((r.index >= zero) & (r.index <= last), s::splat(1) - w, V{});
  const V b = select((r.index >= zero - 1) & (r.index < last), w, V{});
  const I second_last = last - 1;
  r.first = select(r.index < zero, zero, select(r.index > second_last, second_last, r.index));
  const I shift = r.index - r.first;
  r.near = select(shift == 0, a, select(shift < zero, b, V{}));
  r.far = select(shift == 0, b, select(shift > zero, a, V{}));
  return r;
}

// Finds the window of a block whose points read `taps` pixels from (x, y) on along each axis; points where `counts` is
// not set take no part, they may point anywhere in it. Fills where each point's first pixel lies in the window.
GW_INLINE bool fit_window(const SampleJob& job, VI x, VI y, VI counts, int taps, Block& block, VI& lane, VI& first_row) {
  typedef simd<float> s;
  const VI far_off = s::splat_index(0x7fffffff);
  const int32_t x0 = min_lane(select(counts, x, far_off)), x1 = max_lane(select(counts, x, VI{}));
  const int32_t y0 = min_lane(select(counts, y, far_off)), y1 = max_lane(select(counts, y, VI{}));
  const int rows = y1 - y0 + taps, span = x1 - x0 + taps;
  if (rows > max_rows || span > 2 * s::lanes) return false;
  const int length = span <= s::lanes ? s::lanes : 2 * s::lanes;
  // The last row's window must end inside the plane, so it may have to start further left.
  const int64_t plane = (job.height - 1) * job.x_h + job.width;
  const int64_t base = (int64_t)y0 * job.x_h + x0, end = base + (int64_t)(rows - 1) * job.x_h + length;
  const int64_t shift = end > plane ? end - plane : 0;
  if (shift > base || span + shift > length) return false;
  block.reach = length == s::lanes ? Reach::window : Reach::double_window;
  block.rows = (uint8_t)rows;
  block.base = (int32_t)(base - shift);
  const VI last = s::splat_index((int32_t)(span - taps + shift));
  lane = x - s::splat_index((int32_t)(x0 - shift));
  lane = select(lane < VI{}, VI{}, select(lane > last, last, lane));
  first_row = y - s::splat_index(y0);
  return true;
}

// Brings a window into the first-level cache. While one plane is sampled the next one's share of the same tile is
// fetched: with 3 channels of 720 x 1280 a third of the time went into waiting for it (29 against 21 ms). It costs
// more than it brings where planes fit in the second-level cache, and for pairs everywhere.
constexpr int64_t far_plane_bytes = 256 << 10;

template <class S, class T>
GW_INLINE void fetch(const S* plane, int64_t row, const Block& block) {
  if (block.reach != Reach::window && block.reach != Reach::double_window) return;
  const S* p = plane + block.base;
  const int last = (block.reach == Reach::window ? 1 : 2) * simd<T>::lanes - 1;
  for (int r = 0; r < block.rows; ++r, p += row) {
    __builtin_prefetch(p);
    __builtin_prefetch(p + last);
  }
}

// Whether an output of planes is written past the caches: large, and its vectors are whole lines.
template <class S>
GW_INLINE bool is_streamed(const SampleJob& job) {
  return vector_is_line && sizeof(S) == 4 && job.batches * job.channels * job.points() * 4 > streamed_output_bytes;
}

template <class S, class V>
GW_INLINE void write_vector(S* to, V v, bool streamed) {
  if constexpr (vector_is_line && sizeof(S) == 4) {
    if (streamed && ((uintptr_t)to & (line_bytes - 1)) == 0) return stream_vector(reinterpret_cast<float*>(to), v);
  }
  (void)streamed;
  storage<S>::store_vector(to, v);
}

// Pairs and weights of a tile; needs width and height of at least 2 and offsets below 2^31. With windows, also tells how
// each block is best read.
template <class T, bool windows = false>
inline void build_pairs(const SampleJob& job, const Coordinates<T>& at, int count, PlanarTable<T>& table) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  const typename s::index row = (typename s::index)job.x_h;
  const I last_x = s::splat_index((typename s::index)(job.width - 1));
  const I last_y = s::splat_index((typename s::index)(job.height - 1));
  for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
    const Pair<T> x = pair_of<T>(s::load(at.x + i), job.width), y = pair_of<T>(s::load(at.y + i), job.height);
    s::store(table.left + i, x.near);
    s::store(table.right + i, x.far);
    s::store(table.above + i, y.near);
    s::store(table.below + i, y.far);
    const I offset = y.first * s::splat_index(row) + x.first;
    s::store_index(table.upper + i, offset);
    s::store_index(table.lower + i, offset + s::splat_index(row));
    if (!windows) continue;

    Block& block = table.block[b];
    const I inner = (x.index >= 0) & (x.index < last_x) & (y.index >= 0) & (y.index < last_y);
    const I counts = (x.index >= -1) & (x.index <= last_x) & (y.index >= -1) & (y.index <= last_y);
    block.reach = !any(counts) ? Reach::outside : any(~inner) ? Reach::pairs_at_edge : Reach::pairs;
    if constexpr (windows && has_lane_shuffle && sizeof(T) == 4) {
      I lane, first_row;
      if (block.reach == Reach::outside || !fit_window(job, x.first, y.first, counts, 2, block, lane, first_row)) continue;
      s::store_index(table.lane + i, lane);
      for (int r = 0; r < block.rows; ++r) {
        const I d = s::splat_index(r) - first_row;
        s::store(table.row_weight[r] + i, select(d == 0, y.near, select(d == 1, y.far, V{})));
      }
    }
  }
}

template <class T>
inline void build_table(const SampleJob& job, const Coordinates<T>& at, int count, PlanarTable<T>& table) {
  build_pairs<T, true>(job, at, count, table);
}

}  // namespace GW_ISA
}  // namespace gw
