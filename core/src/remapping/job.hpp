// SPDX-License-Identifier: Apache-2.0
// One call of remap as the kernels see it, and the kernels' shapes.
#pragma once

#include <algorithm>
#include <cmath>
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
  int64_t block;                // columns that OpenCV does at a time: its sums begin anew at each block
};

// A coordinate in whole 1/32 of a pixel, half to even. NaN, and what 32 bits cannot hold on either side, are the least
// number, as a processor's conversion has it.
template <class X>
inline int64_t fractions_of(X p) {
  const X v = p * X(remap_fractions);
  return v >= X(-2147483648.0) && v < X(2147483648.0) ? (int64_t)std::nearbyint(v) : -2147483648LL;
}
inline int64_t pixel_of(int64_t fractions) {  // it goes through 16 bits
  return std::clamp<int64_t>(fractions >> 5, -32768, 32767);
}

// Samples `count` pixels of the output's row `row` from column `first` at pixel coordinates x, y.
template <class X>
using RemapPiece = void (*)(const RemapJob&, const X* x, const X* y, int64_t row, int64_t first, int64_t count);

}  // namespace gw
