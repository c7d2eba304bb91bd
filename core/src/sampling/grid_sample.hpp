// SPDX-License-Identifier: Apache-2.0
// grid_sample from checked arrays to pieces of work.
#pragma once

#include "gridwave/gridwave.h"
#include "sampling/tiling.hpp"
#include "sampling/job.hpp"

namespace gw {

// A call whose arrays have been checked and described; memory is bound at execution.
struct SamplePlan {
  SampleJob job;
  gw_tensor x_given, x, grid, out;  // canonical axis order N, C, H, W (grid: N, H, W, 2); x as kernels read it
  bool pack_x, pack_out;            // kernels want a contiguous copy
  SamplePiece kernel;
  int64_t batch_blocks, batches_per_block, channel_blocks, channels_per_block;
  Tiling tiling;
  double cost_ns;
};

// Raises Failure naming the argument and the rule.
void check_spec(const gw_grid_sample_spec& spec);
void check_sampling_inputs(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid, bool plan);

// Those about dtypes alone, and the kernels' form of a checked spec.
void check_sampling_dtypes(const gw_tensor& x, const gw_tensor& grid);
Spec spec_of(const gw_grid_sample_spec& spec);

// Fills what describes x and grid, for forward and backward alike; x in canonical order.
SampleJob describe(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid);
gw_tensor canonical(const gw_grid_sample_spec& spec, const gw_tensor& t);

SamplePlan plan_grid_sample(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid,
                            const gw_tensor& out, bool plan_only);
gw_status execute(const SamplePlan& plan, const void* x, const void* grid, void* out);

gw_status grid_sample_backward(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x,
                               const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid);

}  // namespace gw
