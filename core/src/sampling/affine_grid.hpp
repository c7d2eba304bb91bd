// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gridwave/gridwave.h"

namespace gw {

gw_status affine_grid(const gw_tensor& theta, bool align_corners, int32_t singleton, const gw_tensor& out);
gw_status affine_grid_backward(const gw_tensor& grad_grid, bool align_corners, int32_t singleton,
                               const gw_tensor& grad_theta);

}  // namespace gw
