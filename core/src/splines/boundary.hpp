// SPDX-License-Identifier: Apache-2.0
// Which sample stands for one beyond the ends: of coordinates and of taps.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "gridwave/splines.h"

namespace gw {

// A coordinate moved to where the samples are, as SciPy moves it: NaN where there is nothing. Results lie in (-1, n);
// what is left outside [0, n - 1] is for the taps' boundary. The order of operations shows in ties of order 0.
inline double fold(double c, int64_t length, int32_t boundary) {
  const double n = (double)length;
  if (c >= 0 && c <= n - 1) return c;
  if (!(std::fabs(c) <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::quiet_NaN();
  const bool below = c < 0;
  switch (boundary) {
    case GW_SPLINE_MIRROR: {
      if (length == 1) return 0;
      const double period = 2 * n - 2;
      if (below) {
        c = period * std::trunc(-c / period) + c;
        c = c <= 1 - n ? c + period : -c;
      } else {
        c -= period * std::trunc(c / period);
        if (c >= n) c = period - c;
      }
      break;
    }
    case GW_SPLINE_REFLECT: {
      if (length == 1) return 0;
      const double period = 2 * n;
      if (below) {
        if (c < -period) c = period * std::trunc(-c / period) + c;
        c = c < -n ? c + period : -c - 1;
      } else {
        c -= period * std::trunc(c / period);
        if (c >= n) c = period - c - 1;
      }
      break;
    }
    case GW_SPLINE_WRAP: {
      if (length == 1) return 0;
      const double period = n - 1;
      c = below ? c + period * (std::trunc(-c / period) + 1) : c - period * std::trunc(c / period);
      break;
    }
    case GW_SPLINE_GRID_WRAP: {
      if (length == 1) return 0;
      c = below ? c + n * (std::trunc((-1 - c) / n) + 1) : c - n * std::trunc(c / n);
      break;
    }
    default: return std::numeric_limits<double>::quiet_NaN();
  }
  // Of coordinates past 2^52 periods nothing is left but rounding.
  return c > -1 ? (c < n ? c : n - 1) : 0;
}

// A coordinate moved by whole periods of the taps, near enough for 32-bit indices, or held where all taps are outside.
inline double tamed(double c, int64_t length, int32_t boundary, int taps) {
  const double n = (double)length, room = taps + 1;
  if (c >= -room && c <= n + room) return c;
  if (c != c) return c;
  const double period = boundary == GW_SPLINE_MIRROR      ? 2 * n - 2
                        : boundary == GW_SPLINE_REFLECT   ? 2 * n
                        : boundary == GW_SPLINE_GRID_WRAP ? n
                                                          : 0;
  if (period == 0) return c < 0 ? -room : n + room;
  const double moved = c - period * std::floor(c / period);
  return moved >= 0 && moved <= period ? moved : std::numeric_limits<double>::quiet_NaN();
}

// The sample that stands for tap i; -1 where that is cval.
inline int64_t resolve_tap(int64_t i, int64_t n, int32_t boundary) {
  if ((uint64_t)i < (uint64_t)n) return i;
  switch (boundary) {
    case GW_SPLINE_MIRROR: {
      if (n == 1) return 0;
      int64_t m = i % (2 * n - 2);
      if (m < 0) m += 2 * n - 2;
      return m < n ? m : 2 * n - 2 - m;
    }
    case GW_SPLINE_REFLECT: {
      int64_t m = i % (2 * n);
      if (m < 0) m += 2 * n;
      return m < n ? m : 2 * n - 1 - m;
    }
    case GW_SPLINE_GRID_WRAP: {
      const int64_t m = i % n;
      return m < 0 ? m + n : m;
    }
    case GW_SPLINE_NEAREST: return i < 0 ? 0 : n - 1;
    default: return -1;
  }
}

}  // namespace gw
