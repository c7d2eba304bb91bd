// SPDX-License-Identifier: Apache-2.0
// What a tile's coordinates mean for nearest sampling of one channel plane after another.
#pragma once

#include "sampling/planar_table.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct alignas(64) NearestTable {
  int32_t offset[tile_points];  // in the plane; 0 where the point lies outside
  int32_t keep[tile_points];    // -1, or 0 where the point lies outside
  int32_t lane[tile_points], row[tile_points];  // in the block's window
  Block block[tile_points / simd<T>::lanes];
};

// Offsets only; with windows, also how each block is best read.
template <class T, bool windows = false>
inline void build_offsets(const SampleJob& job, const Coordinates<T>& at, int count, NearestTable<T>& table) {
  typedef simd<T> s;
  typedef typename s::I I;
  const I width = s::splat_index((typename s::index)job.width), height = s::splat_index((typename s::index)job.height);
  for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
    const I x = s::to_index(s::load(at.x + i)), y = s::to_index(s::load(at.y + i));
    const I inside = (x >= 0) & (x < width) & (y >= 0) & (y < height);
    s::store_index(table.offset + i, (y * s::splat_index((typename s::index)job.x_h) + x) & inside);
    s::store_index(table.keep + i, inside);
    if (!windows) continue;
    Block& block = table.block[b];
    block.reach = !any(inside) ? Reach::outside : any(~inside) ? Reach::pairs_at_edge : Reach::pairs;
    if constexpr (windows && has_lane_shuffle && sizeof(T) == 4) {
      I lane, row;
      if (block.reach == Reach::outside || !fit_window(job, x, y, inside, 1, block, lane, row)) continue;
      s::store_index(table.lane + i, lane);
      s::store_index(table.row + i, row | ~inside);  // row -1 is in no window
    }
  }
}

}  // namespace GW_ISA
}  // namespace gw
