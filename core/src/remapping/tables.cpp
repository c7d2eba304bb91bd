// SPDX-License-Identifier: Apache-2.0
#include "remapping/tables.hpp"

#include <algorithm>
#include <cmath>

#include "gridwave/gridwave.h"
#include "remapping/job.hpp"

namespace gw {
namespace {

void weights_along(int32_t mode, float t, float* w) {
  if (mode == GW_REMAP_LINEAR) {
    w[0] = 1.f - t;
    w[1] = t;
  } else if (mode == GW_REMAP_CUBIC) {
    constexpr float a = -0.75f;
    w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
    w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    w[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
    w[3] = 1.f - w[0] - w[1] - w[2];
  } else {
    // sinc(d) sinc(d / 4) at d = t + 3 - i, its common factors left to the division by the sum. The sine of the
    // eight distances is one sine and cosine turned by quarters of a half turn.
    constexpr double s = 0.70710678118654752440;
    static const double turn[8][2] = {{1, 0}, {-s, -s}, {0, 1}, {s, -s}, {-1, 0}, {s, s}, {0, -1}, {-s, s}};
    if (t == 0) {
      for (int i = 0; i < 8; ++i) w[i] = i == 3;
      return;
    }
    constexpr double quarter = 3.14159265358979323846 * 0.25;
    const double y0 = -(t + 3) * quarter, s0 = std::sin(y0), c0 = std::cos(y0);
    float sum = 0;
    for (int i = 0; i < 8; ++i) {
      const double y = -(t + 3 - i) * quarter;
      w[i] = (float)((turn[i][0] * s0 + turn[i][1] * c0) / (y * y));
      sum += w[i];
    }
    sum = 1.f / sum;
    for (int i = 0; i < 8; ++i) w[i] *= sum;
  }
}

RemapTable make(int32_t mode) {
  const int taps = mode == GW_REMAP_LINEAR ? 2 : mode == GW_REMAP_CUBIC ? 4 : 8, square = taps * taps;
  float along[remap_fractions][remap_taps_at_most];
  for (int i = 0; i < remap_fractions; ++i) weights_along(mode, (float)i / remap_fractions, along[i]);
  RemapTable table;
  table.weights.resize((size_t)(remap_fractions * remap_fractions * square));
  table.fixed_weights.resize(table.weights.size());
  float* w = table.weights.data();
  int16_t* q = table.fixed_weights.data();
  for (int i = 0; i < remap_fractions; ++i)
    for (int j = 0; j < remap_fractions; ++j, w += square, q += square) {
      int sum = 0;
      for (int k = 0; k < square; ++k) {
        w[k] = along[i][k / taps] * along[j][k % taps];
        q[k] = (int16_t)std::min(std::max(std::lrint(w[k] * 32768.f), -32768L), 32767L);
        sum += q[k];
      }
      if (sum == 32768) continue;
      // What is missing goes to the largest, what is too much to the smallest, of the four taps past the middle.
      const int half = taps / 2, last = taps == 2 ? half + 1 : half + 2;
      int low = half * taps + half, high = low;
      for (int y = half; y < last; ++y)
        for (int x = half; x < last; ++x) {
          const int k = y * taps + x;
          if (q[k] < q[low]) low = k;
          else if (q[k] > q[high]) high = k;
        }
      int16_t& changed = sum < 32768 ? q[high] : q[low];
      changed = (int16_t)(changed - (sum - 32768));
    }
  return table;
}

}  // namespace

const RemapTable& remap_table(int32_t mode) {
  static const RemapTable linear = make(GW_REMAP_LINEAR), cubic = make(GW_REMAP_CUBIC),
                          lanczos = make(GW_REMAP_LANCZOS4);
  return mode == GW_REMAP_LINEAR ? linear : mode == GW_REMAP_CUBIC ? cubic : lanczos;
}

}  // namespace gw
