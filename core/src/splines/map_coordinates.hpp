// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gridwave/splines.h"

namespace gw {

gw_status map_coordinates(const gw_spline_spec& spec, const gw_tensor& x, const gw_tensor& coordinates,
                          const gw_tensor& out);
gw_status map_affine(const gw_spline_spec& spec, const gw_tensor& x, const gw_tensor& matrix, const gw_tensor& out);
gw_status spline_filter(const gw_spline_spec& spec, const gw_tensor& x, int32_t axis);

}  // namespace gw
