// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gridwave/transforms.h"

namespace gw {

gw_status transform_pillow(const gw_pillow_transform_spec& spec, const gw_tensor& image, const gw_tensor& out);
gw_status premultiply(const gw_tensor& image, bool undo, const gw_tensor& out);

}  // namespace gw
