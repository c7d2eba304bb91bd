// SPDX-License-Identifier: Apache-2.0
// What one call of grid_sample or its gradient asks of the kernels: plain data, checked already. Compiled into every
// translation unit, so nothing in it depends on an instruction set.
#pragma once

#include <stdint.h>

namespace gw {

// Output points of a tile: what one pass of the coordinate stage covers. 256 points keep the tables of every mode
// (at most 40 bytes a point and mode) in a 32 KiB first-level cache, beside the rows they point at.
constexpr int tile_points = 256;

struct Spec {
  int32_t mode, padding, align_corners, layout;
  int32_t rounding, pad_order, cubic_padding, nonfinite;
  double cubic_coeff_a;
  int32_t unnormalise, reflection, border_slope;
};

// Strides count elements.
struct SampleJob {
  Spec spec;
  const void* x;
  const void* grid;
  int32_t x_type, grid_type;                       // gw_dtype
  int64_t batches, channels, height, width;        // of x
  int64_t out_height, out_width;
  int64_t x_n, x_c, x_h, x_w;                      // strides of x
  int64_t g_n, g_h, g_w, g_k;                      // strides of grid; g_n = 0: the batch shares one grid
  int32_t wide;                                    // an offset inside one image may pass 2^31

  // forward: out has contiguous points (NCHW: point stride 1, channel stride o_c; NHWC: point stride channels)
  void* out;
  int64_t o_n, o_c;

  // Of a plan, or null: the coordinate stage's results, grid after grid of `planned_step` points, each followed by what
  // the lanes behind a tile's last point hold. In double for a double grid.
  const void *planned_x, *planned_y;
  int64_t planned_step;
  int32_t planned_double;

  int64_t points() const { return out_height * out_width; }
};

// One piece of forward work: a tile of output points, for batches [n0, n1) that share its grid, channels [c0, c1).
struct Piece {
  int64_t n0, n1, c0, c1;
  int64_t first;   // output point, counted along (Ho, Wo)
  int32_t rows;    // the tile is `rows` runs of `length` points, `out_width` apart
  int32_t length;
};

typedef void (*SamplePiece)(const SampleJob&, const Piece&);
typedef void (*SamplePackedPiece)(const SampleJob&, const Piece&, const void* packed);

}  // namespace gw
