// SPDX-License-Identifier: Apache-2.0
#include "splines/basis.hpp"

#include <algorithm>
#include <cmath>

#include "gridwave/splines.h"

namespace gw {
namespace {

// b_j of order n at fraction u is ((n - j + u) b_{j-1} + (1 + j - u) b_j) / n of order n - 1.
void b_spline_weights(int32_t order, double (*w)[spline_taps_at_most]) {
  w[0][0] = 1;
  for (int n = 1; n <= order; ++n)
    for (int j = n; j >= 0; --j) {
      double next[spline_taps_at_most] = {};
      for (int p = 0; p < n; ++p) {
        const double left = j > 0 ? w[j - 1][p] : 0, here = j < n ? w[j][p] : 0;
        next[p] += ((n - j) * left + (1 + j) * here) / n;
        next[p + 1] += (left - here) / n;
      }
      std::copy(next, next + spline_taps_at_most, w[j]);
    }
}

}  // namespace

void spline_weights(int32_t order, int32_t basis, double (*w)[spline_taps_at_most]) {
  for (int j = 0; j < spline_taps_at_most; ++j) std::fill(w[j], w[j] + spline_taps_at_most, 0.0);
  if (basis == GW_BASIS_B_SPLINE || order < 2) return b_spline_weights(order, w);
  if (order == 2) {  // Lagrange through -1, 0, 1 at u - 1/2
    const double rows[3][3] = {{0.375, -1, 0.5}, {0.75, 1, -1}, {-0.125, 0, 0.5}};
    for (int j = 0; j < 3; ++j) std::copy(rows[j], rows[j] + 3, w[j]);
  } else {  // Keys, a = -1/2
    const double rows[4][4] = {{0, -0.5, 1, -0.5}, {1, 0, -2.5, 1.5}, {0, 0.5, 2, -1.5}, {0, 0, -0.5, 0.5}};
    for (int j = 0; j < 4; ++j) std::copy(rows[j], rows[j] + 4, w[j]);
  }
}

int spline_poles(int32_t order, double* poles) {
  // Roots of sum over j of b_j z^j, symmetric: with s = z + 1/z < -2, z is the smaller root of z^2 - s z + 1.
  const auto inside = [](double s) { return 2 / (s - std::sqrt(s * s - 4)); };
  switch (order) {
    case 2: poles[0] = inside(-6); return 1;  // 1 6 1
    case 3: poles[0] = inside(-4); return 1;  // 1 4 1
    case 4:                                   // 1 76 230 76 1: s^2 + 76 s + 228
      poles[0] = inside(-38 + std::sqrt(1216.0));
      poles[1] = inside(-38 - std::sqrt(1216.0));
      return 2;
    case 5:  // 1 26 66 26 1: s^2 + 26 s + 64
      poles[0] = inside(-13 + std::sqrt(105.0));
      poles[1] = inside(-13 - std::sqrt(105.0));
      return 2;
    default: return 0;
  }
}

double spline_gain(int32_t order) {
  double poles[2], gain = 1;
  const int count = spline_poles(order, poles);
  for (int i = 0; i < count; ++i) gain *= (1 - poles[i]) * (1 - 1 / poles[i]);
  return gain;
}

}  // namespace gw
