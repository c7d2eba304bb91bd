// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gridwave/transforms.h"

namespace gw {

gw_status projective_transform(const gw_projective_transform_spec& spec, const gw_tensor& images,
                               const gw_tensor& transforms, const gw_tensor& out);

}  // namespace gw
