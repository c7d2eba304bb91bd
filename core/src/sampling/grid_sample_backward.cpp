// SPDX-License-Identifier: Apache-2.0
#include "failure.hpp"
#include "sampling/grid_sample.hpp"

namespace gw {

gw_status grid_sample_backward(const gw_grid_sample_spec&, const gw_tensor&, const gw_tensor&, const gw_tensor&,
                               const gw_tensor*, const gw_tensor*) {
  fail(GW_ERROR_UNSUPPORTED, "grid_sample_backward is not available yet");
}

}  // namespace gw
