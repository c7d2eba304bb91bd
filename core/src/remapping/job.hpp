// SPDX-License-Identifier: Apache-2.0
// One call of remap as the kernels see it, and the kernels' shapes.
#pragma once

#include <cstdint>

namespace gw {

constexpr int remap_modes = 4;   // gw_remap_mode
constexpr int remap_taps_at_most = 8;
constexpr int remap_fractions = 32;  // of a pixel, where coordinates are rounded

struct RemapJob {
  int32_t mode, border;  // gw_remap_mode, gw_border
  int32_t table;         // weights come from the tables of 1/32 pixel
  int64_t height, width, channels;
  int64_t in_h, in_w, in_c;     // strides in elements
  int64_t out_h, out_w, out_c;
  double reach_x[2], reach_y[2];  // coordinates are held between these
  const void* image;
  void* out;
  double border_value[4];       // of channel c modulo 4, as the image's type holds it
  const float* weights;         // [32 y][32 x][taps y][taps x]
  const int16_t* fixed_weights; // the same in 1/32768, adding up to 1
};

// Samples `count` pixels of the output's row `row` from column `first` at pixel coordinates x, y.
template <class X>
using RemapPiece = void (*)(const RemapJob&, const X* x, const X* y, int64_t row, int64_t first, int64_t count);

}  // namespace gw
