// SPDX-License-Identifier: Apache-2.0
// A tile of points sorted for the backward loops: those whose taps all lie inside the image and the piece's rows, with
// offsets and weights, and the rest, which are done tap by tap.
#pragma once

#include "sampling/backward.hpp"
#include "sampling/exact.hpp"
#include "simd/lanes.hpp"

namespace gw {
namespace GW_ISA {

// Pixels of `vectors` vectors each: x and the gradient from the piece's first row on, with the same strides (one offset
// for both: registers for addresses are scarce), grad_output from the tile's first point on. Strides count elements.
// d: null if not wanted; x: null if the grid's gradient is not.
template <class T>
struct Blocks {
  const T* x;
  T* d;
  const T* g;
  int64_t row, pixel, g_point;
  int32_t vectors;
};

// How far taps reach from the cell a point lies in.
template <int mode>
struct Reach;
template <>
struct Reach<GW_BILINEAR> { static constexpr int before = 0, after = 1, halo_before = 0, halo_after = 1; };
template <>
struct Reach<GW_NEAREST> { static constexpr int before = 0, after = 0, halo_before = 0, halo_after = 0; };
// A tap padded on its own stays within 2 rows of the padded cell: clamping and reflecting bring points no further apart.
template <>
struct Reach<GW_BICUBIC> { static constexpr int before = 1, after = 2, halo_before = 2, halo_after = 2; };

template <class T>
struct PointTile {
  static constexpr int room = tile_points + 64;
  Coordinates<T> at, slope;
  int inside, edge;                                // how many
  int32_t point[room], offset[room];               // of those inside: which, and where its first tap is
  alignas(64) T wx[room], wy[room];                // p - floor(p)
  int32_t edge_point[tile_points];
};

template <class T, int mode>
inline void sort_points(const BackwardJob& job, const BackwardPiece& piece, const Blocks<T>& b, int count,
                        PointTile<T>& t) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  typedef Reach<mode> reach;
  typedef typename s::index index;
  const V x_last = s::splat((T)(job.width - 1 - reach::after)), x_first = s::splat((T)reach::before);
  const V y_last = s::splat((T)(piece.y1 - 1 - reach::after)), y_first = s::splat((T)(piece.y0 + reach::before));
  // Points that leave this piece's rows alone: below or above, where no padding brings them back.
  const bool above = piece.y0 > 0, below = piece.y1 < job.height;
  const V skip_low = s::splat((T)(piece.y0 - reach::after)), skip_high = s::splat((T)(piece.y1 - 1 + reach::before));
  const V row_low = s::splat((T)reach::before), row_high = s::splat((T)(job.height - 1 - reach::after));
  int inside = 0, edge = 0;
  for (int i = 0; i < count; i += s::lanes) {
    const V x = s::load(t.at.x + i), y = s::load(t.at.y + i);
    const V fx = mode == GW_NEAREST ? x : s::floor(x), fy = mode == GW_NEAREST ? y : s::floor(y);
    I in = (fx >= x_first) & (fx <= x_last) & (fy >= y_first) & (fy <= y_last);
    const I column = s::to_index(fx - x_first) & in, row = s::to_index(fy - y_first) & in;
    const I offset = row * s::splat_index((index)b.row) + column * s::splat_index((index)b.pixel);
    const V wx = x - fx, wy = y - fy;
    const int length = min_of<int>(s::lanes, count - i);
    if (length == s::lanes && !any(~in)) {
      for (int k = 0; k < s::lanes; ++k) t.point[inside + k] = i + k;
      s::store_index(t.offset + inside, offset);
      s::store(t.wx + inside, wx);
      s::store(t.wy + inside, wy);
      inside += s::lanes;
      continue;
    }
    I skip = I{};
    if (above) skip |= fy < skip_low;
    if (below) skip |= fy > skip_high;
    if (mode == GW_BICUBIC) skip &= (fy >= row_low) & (fy <= row_high);
    for (int k = 0; k < length; ++k) {
      if (in[k]) {
        t.point[inside] = i + k;
        t.offset[inside] = (int32_t)offset[k];
        t.wx[inside] = wx[k];
        t.wy[inside] = wy[k];
        ++inside;
      } else if (!skip[k]) {
        t.edge_point[edge++] = i + k;
      }
    }
  }
  for (int k = 0; k < 48; ++k) t.offset[inside + k] = 0;  // may be prefetched
  t.inside = inside;
  t.edge = edge;
}

}  // namespace GW_ISA
}  // namespace gw
