// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gridwave/gridwave.h"

namespace gw {

gw_status remap(const gw_remap_spec& spec, const gw_tensor& image, const gw_tensor& map_x, const gw_tensor& map_y,
                const gw_tensor& out);
gw_status warp(const gw_remap_spec& spec, const gw_tensor& image, const double* matrix, const gw_tensor& out);

}  // namespace gw
