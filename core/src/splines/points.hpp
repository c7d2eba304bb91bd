// SPDX-License-Identifier: Apache-2.0
// Where a tile of points is: coordinates moved by the boundary, and split into a first tap and a fraction.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "splines/boundary.hpp"
#include "splines/job.hpp"

namespace gw {
namespace GW_ISA {
namespace {

// 32 bits: lengths are below 2^30, and AVX2 has no conversion to 64-bit integers.
struct PlacedAxis {
  int32_t first[spline_tile];    // index of the first tap
  double fraction[spline_tile];  // in [0, 1)
  bool inside;                   // every tap of every point is a sample
};

struct Placed {
  PlacedAxis axis[GW_MAX_RANK];
  bool inside;          // of all axes
  bool any_outside;     // some points are cval
  bool outside[spline_tile];
};

inline double half_away(double c) {
  const double whole = std::trunc(c);
  return std::fabs(c - whole) >= 0.5 ? whole + std::copysign(1.0, c) : whole;
}

// Coordinates beyond the samples, one by one.
inline void move_outside(const SplineJob& job, int axis, double* c, int64_t count, Placed& to) {
  const int64_t n = job.length[axis];
  for (int64_t k = 0; k < count; ++k) {
    if (c[k] >= 0 && c[k] <= (double)(n - 1)) continue;
    double moved;
    if (job.folding >= 0) {
      moved = fold(c[k], n, job.folding);
    } else {
      if (job.taps == 1 && job.half_away) c[k] = half_away(c[k]);  // a period may be odd
      moved = tamed(c[k], n, job.taps_boundary, job.taps);
    }
    if (moved != moved) {
      to.outside[k] = to.any_outside = true;
      moved = 0;
    }
    c[k] = moved;
  }
}

inline void place_axis(const SplineJob& job, int axis, double* c, int64_t count, Placed& to) {
  if (job.shift != 0)
    for (int64_t k = 0; k < count; ++k) c[k] += job.shift;
  const double last = (double)(job.length[axis] - 1);
  int beyond = 0;
  for (int64_t k = 0; k < count; ++k) beyond |= !(c[k] >= 0 && c[k] <= last);
  if (beyond) move_outside(job, axis, c, count, to);
  PlacedAxis& p = to.axis[axis];
  const int32_t back = (job.taps - 1) / 2;
  const double half = job.taps % 2 ? 0.5 : 0.0;
  if (job.taps == 1 && job.half_away) {
    for (int64_t k = 0; k < count; ++k) p.first[k] = (int32_t)half_away(c[k]);
  } else {
    for (int64_t k = 0; k < count; ++k) {
      const double from = c[k] + half, whole = std::floor(from);
      p.fraction[k] = from - whole;
      p.first[k] = (int32_t)whole - back;
    }
  }
  int32_t low = std::numeric_limits<int32_t>::max(), high = std::numeric_limits<int32_t>::min();
  for (int64_t k = 0; k < count; ++k) {
    low = p.first[k] < low ? p.first[k] : low;
    high = p.first[k] > high ? p.first[k] : high;
  }
  p.inside = low >= 0 && (int64_t)high + job.taps <= job.length[axis];
  to.inside &= p.inside;
}

inline void place(const SplineJob& job, double (*coordinates)[spline_tile], int64_t count, Placed& to) {
  to.inside = true;
  to.any_outside = false;
  for (int64_t k = 0; k < count; ++k) to.outside[k] = false;
  for (int axis = 0; axis < job.rank; ++axis) place_axis(job, axis, coordinates[axis], count, to);
}

inline void write_outside(const SplineJob& job, const Placed& placed, int64_t count, double* out) {
  if (!placed.any_outside) return;
  for (int64_t k = 0; k < count; ++k)
    if (placed.outside[k]) out[k] = job.cval;
}

}  // namespace
}  // namespace GW_ISA
}  // namespace gw
