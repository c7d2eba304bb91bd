// SPDX-License-Identifier: Apache-2.0
// Weights at every 1/32 of a pixel along both axes, in float and in 1/32768.
#pragma once

#include <cstdint>
#include <vector>

namespace gw {

struct RemapTable {
  std::vector<float> weights;          // [32 y][32 x][taps][taps]
  std::vector<int16_t> fixed_weights;  // each square adds up to 32768
};

// Made once for each gw_remap_mode other than nearest.
const RemapTable& remap_table(int32_t mode);

}  // namespace gw
