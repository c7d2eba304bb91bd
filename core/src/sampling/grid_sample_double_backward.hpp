// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gridwave/gridwave.h"

namespace gw {

// The arrays of a call; null: not given (zero), or not wanted.
struct DoubleBackwardArrays {
  const gw_tensor *grad_grad_x, *grad_grad_grid, *grad_output, *x, *grid;
  const gw_tensor *grad_grad_output, *grad_x, *grad_grid;
};

gw_status grid_sample_double_backward(const gw_grid_sample_spec& spec, const DoubleBackwardArrays& arrays);

}  // namespace gw
