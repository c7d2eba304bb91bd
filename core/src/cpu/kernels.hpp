// SPDX-License-Identifier: Apache-2.0
// The kernel table: one per instruction set, filled by code compiled for it, chosen once at load.
#pragma once

#include "planning/job.hpp"
#include "remapping/job.hpp"
#include "sampling/backward.hpp"
#include "sampling/double_backward.hpp"
#include "sampling/job.hpp"
#include "sampling/volume/job.hpp"
#include "splines/job.hpp"

namespace gw {

constexpr int type_count = 7;  // gw_dtype, up to GW_UINT16: what grid_sample takes
constexpr int mode_count = 3;  // gw_mode

struct Kernels {
  const char* name;
  int32_t lanes;                                         // floats in a vector
  SamplePiece forward[mode_count][type_count][2];        // [mode][type of x][layout]
  SamplePiece forward_exact[type_count][2];              // [type of x][coordinates in double]

  // Channels packed into blocks, for grids that jump about; null where there is no such kernel.
  int (*block_channels)(int32_t type, int64_t channels);  // 0: not packed
  int (*scattered_blocks)(const SampleJob&, const Piece&, int* blocks);
  void (*pack_rows[type_count])(const SampleJob&, int64_t n, int64_t c0, int64_t c1, int64_t row0, int64_t row1,
                                void* packed);
  SamplePackedPiece forward_packed[mode_count][type_count];

  BackwardKernel backward[mode_count][type_count];        // [mode][type of x]; floats only
  BackwardKernel backward_exact[type_count];
  DoubleBackwardKernel double_backward[type_count][3];   // [type of x][spatial axes - 1]; floats only
  VolumeKernels volume;
  PlanKernels plan;
  SplineKernels splines;

  // [mode][type of image][weights from tables]; null for types that are not taken
  RemapPiece<float> remap_float[remap_modes][type_count][2];
  RemapPiece<double> remap_double[remap_modes][type_count][2];
  RemapPiece<float> remap_lanes_float[remap_modes][type_count];  // after the tables' for one channel; null: nothing to do
  RemapPiece<double> remap_lanes_double[remap_modes][type_count];

  void (*widen)(int32_t type, const void* from, float* to, int64_t count);  // 16-bit floats to float
  void (*narrow)(int32_t type, const float* from, void* to, int64_t count);
};

// The kernels in use.
const Kernels& kernels();
const char* best_isa();

}  // namespace gw
