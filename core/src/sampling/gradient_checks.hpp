// SPDX-License-Identifier: Apache-2.0
// The rules that gradients of images, volumes and signals share, each with a sentence.
#pragma once

#include "gridwave/gridwave.h"

namespace gw {

// t describes an array of the model's shape and dtype.
void check_like(const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model);

// x is of floats.
void check_differentiable(const gw_tensor& x);

// A gradient is asked for.
void check_wanted(const gw_tensor* grad_x, const gw_tensor* grad_grid);

// Those asked for are like what they belong to, may be written, and overlap nothing.
void check_gradients(const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor& grid, const gw_tensor* grad_x,
                     const gw_tensor* grad_grid);

}  // namespace gw
