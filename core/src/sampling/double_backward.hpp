// SPDX-License-Identifier: Apache-2.0
// What one call of the gradient of grid_sample's gradient asks of the kernels: plain data, compiled into every
// translation unit. One, two or three spatial axes: the leading ones of three that are not there have length 1.
#pragma once

#include "gridwave/gridwave.h"
#include "sampling/job.hpp"

namespace gw {

// An array by its strides in elements; of a grid, c is the stride of the components. Null data: not given, not wanted.
struct Strided {
  void* data;
  int64_t n, c, s[3];
};

struct DoubleBackwardJob {
  Spec spec;
  int32_t axes;                // spatial axes, 1 to 3; component k of the grid runs along axis 2 - k of three
  int32_t x_type, grid_type;   // gw_dtype, of all images and of all grids
  int64_t batches, channels;
  int64_t in[3], out[3];       // lengths of the spatial axes of x and of the output
  Strided grad_grad_x, grad_grad_grid, grad_output, x, grid;
  Strided grad_grad_output, grad_x, grad_grid;

  int64_t pixels() const { return in[0] * in[1] * in[2]; }
  int64_t points() const { return out[0] * out[1] * out[2]; }
  // Does anything depend on x? nearest has no slope, and without grad_grad_grid nothing multiplies one.
  bool has_slopes() const { return grad_grad_grid.data != nullptr && spec.mode != GW_NEAREST; }
  bool wants_sums() const { return grad_grid.data != nullptr && spec.mode != GW_NEAREST; }
};

// Arrays of an image that a piece may want as rows of its channels, one behind the other: read from a packed copy, or
// summed apart.
enum RowArrays { rows_of_x = 1, rows_of_grad_grad_x = 2, rows_of_grad_x = 4 };

// One piece owns its destinations: `channels` channels from c0 of the image n, computed as rows of `width`: less than one
// row, or some whole ones where channels lie side by side, which share the weights of a point; and, where
// an image's points are shared out among pieces, the points [first, last) and a sum of grad_x of its own.
struct DoubleBackwardPiece {
  int64_t n, c0;
  int32_t channels, width;  // width: 1, 4 or 16
  int32_t row() const { return channels < width ? width : channels; }  // what a packed pixel takes
  int64_t first, last;
  bool shared;              // the image's points are shared out: the rows are given, and grad_x is added up afterwards
  void* rows[3];            // memory for rows of x, grad_grad_x and grad_x, aligned to 64; null where not wanted
  void* sums;               // [point][axis], of the arithmetic's type: this block's share of grad_grid
};

struct DoubleBackwardKernel {
  void (*run)(const DoubleBackwardJob&, const DoubleBackwardPiece&);
  // Which rows a piece wants, and the bytes of each; -1: more than 63 bits count.
  int (*rows)(const DoubleBackwardJob&, const DoubleBackwardPiece&, int64_t* bytes);
  // For shared points. pack: fills rows 0 (x) or 1 (grad_grad_x) of the whole image; add: writes the lines [first, last)
  // of grad_x, the sum of `count` rows that lie `bytes` apart from piece.rows[2] on.
  void (*pack)(const DoubleBackwardJob&, const DoubleBackwardPiece&, int which);
  void (*add)(const DoubleBackwardJob&, const DoubleBackwardPiece&, int64_t count, int64_t bytes, int64_t first,
              int64_t last);
  // grad_grid of the points [first, last) of image n: the sums of its blocks, added in order.
  void (*combine)(const DoubleBackwardJob&, const void* sums, int64_t blocks, int64_t n, int64_t first, int64_t last);
};

}  // namespace gw
