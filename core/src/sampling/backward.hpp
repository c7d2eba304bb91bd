// SPDX-License-Identifier: Apache-2.0
// What one call of grid_sample's gradient asks of the kernels: plain data, compiled into every translation unit.
#pragma once

#include "sampling/job.hpp"

namespace gw {

// Strides count elements, as in SampleJob; any of them may be anything. Either gradient may be null.
struct BackwardJob : SampleJob {
  const void* grad_output;                         // of x's type
  int64_t go_n, go_c, go_h, go_w;
  void* grad_x;                                    // of x's type
  int64_t gx_n, gx_c, gx_h, gx_w;
};

// One piece owns its destinations: rows [y0, y1) and channels [c0, c1) of grad_x of image n. A point belongs to the
// piece whose rows hold its (clamped) cell; its share of the grid's gradient, summed over the piece's channels, goes to
// sums[2 * point] (x) and sums[2 * point + 1] (y).
struct BackwardPiece {
  int64_t n, c0, c1;
  int64_t y0, y1;
  void* sums;      // float, or double for float64; null: the grid's gradient is not wanted
  void* scratch;   // scratch_bytes() of memory of the worker's own, aligned to 64
};

struct BackwardKernel {
  void (*run)(const BackwardJob&, const BackwardPiece&);
  int64_t (*scratch_bytes)(const BackwardJob&, const BackwardPiece&);
  bool bands;      // pieces may have some of the rows; else all of them
};

}  // namespace gw
