// SPDX-License-Identifier: Apache-2.0
// What the kernels of a planned grid work on: plain data, compiled into every translation unit.
#pragma once

#include "sampling/volume/job.hpp"

namespace gw {

// What one point reads of an image whose rows have no gaps. T: the type of its weights.
template <class T>
struct PlannedPoint {
  int32_t point;        // along (Ho, Wo)
  int32_t pixel;        // the first of four, y * W + x; -1: no tap counts
  int32_t right, down;  // pixels to the others: 0 or 1, 0 or W
  T weight[4];
};

// One piece of work: `count` entries of a table, for channels [c0, c1) of image n.
struct PlannedPiece {
  const void* entries;
  int64_t count, n, c0, c1;
  bool scattered;  // neighbours in the table are not neighbours in the output
};

struct PlanKernels {
  // The coordinate stage for all points of grid n, and for one lane behind them; T is double if `wide`.
  void (*coordinates)(const SampleJob&, int64_t n, bool wide, void* x, void* y);
  void (*volume_coordinates)(const VolumeJob&, int64_t n, bool wide, void* const (&axes)[3]);
  // What `count` points from `first` on read of a bilinear plan: PlannedPoint<T>.
  void (*tabulate)(const SampleJob&, int64_t n, int64_t first, int count, bool wide, void* entries);
  void (*sample[7])(const SampleJob&, const PlannedPiece&);  // [type of x]; channels last
};

}  // namespace gw
