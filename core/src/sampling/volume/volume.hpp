// SPDX-License-Identifier: Apache-2.0
// grid_sample of volumes, x (N, C, D, H, W), and of signals, x (N, C, W), from checked arrays to pieces of work.
#pragma once

#include "gridwave/gridwave.h"
#include "sampling/volume/job.hpp"

namespace gw {

// Whether x is for these functions: signals and volumes are, images are not.
inline bool is_volume(const gw_tensor& x) { return x.rank == 3 || x.rank == 5; }

// Raises Failure naming the argument and the rule; x has 3 or 5 axes.
void check_volume_inputs(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid);
void check_volume_output(const gw_grid_sample_spec& spec, const char* name, const gw_tensor& out, const gw_tensor& x,
                         const gw_tensor& grid);

// As N, C, D, H, W: a signal's height and depth are 1.
gw_tensor canonical_volume(const gw_grid_sample_spec& spec, const gw_tensor& t);
gw_tensor canonical_volume_grid(const gw_tensor& grid);

// Fills what describes x and grid, both canonical, for forward and backward alike.
VolumeJob describe_volume(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid, int32_t axes);

// `plan`: has the coordinates of the grid, or null.
gw_status sample_volume(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid, const gw_tensor& out,
                        const VolumeJob* plan = nullptr);
gw_status sample_volume_backward(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x,
                                 const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid);

}  // namespace gw
