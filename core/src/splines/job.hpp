// SPDX-License-Identifier: Apache-2.0
// One call of map_coordinates as the kernels see it, and the kernels' shapes.
#pragma once

#include <cstdint>

#include "gridwave/gridwave.h"

namespace gw {

constexpr int spline_types = GW_INT64 + 1;  // gw_dtype
constexpr int spline_taps_at_most = 6;
constexpr int spline_tile = 128;  // points at a time: coordinates, offsets and weights of three axes in the first cache
constexpr int spline_lines = 16;  // lines filtered side by side: two vectors of doubles hide each other's latency

struct SplineJob {
  int32_t rank, taps;
  int32_t folding;        // gw_spline_boundary of coordinates; -1: they are not moved
  int32_t taps_boundary;  // gw_spline_boundary of taps: reflect, mirror, grid-constant, nearest or grid-wrap
  int32_t half_away;
  double weights[spline_taps_at_most][spline_taps_at_most];  // [tap][power of the fraction]
  int64_t length[GW_MAX_RANK], stride[GW_MAX_RANK];          // of the samples, in elements
  int64_t before;    // samples laid out before the first and after the last: taps are read there without a question
  double shift;      // added to coordinates
  double cval;
  const void* samples;
};

// Samples `count` <= spline_tile points at the coordinates [axis][spline_tile], which it may change.
using SplinePiece = void (*)(const SplineJob&, double (*coordinates)[spline_tile], int64_t count, double* out);

struct SplineKernels {
  SplinePiece direct[spline_types];  // samples where the caller has them; null for types that are not taken
  SplinePiece rows[spline_taps_at_most + 1];  // [taps], 3 and more: float64 with `before` samples around
  void (*load[spline_types])(const void* from, int64_t step, double scale, double* to, int64_t count);
  void (*store[spline_types])(const double* from, void* to, int64_t step, int64_t count);
  // n numbers, `step` apart, of `lines` neighbouring lines, through one pole; boundary reflect, mirror or grid-wrap.
  void (*filter)(double* data, int64_t n, int64_t step, int64_t lines, double pole, int32_t boundary, bool in_place);
  void (*turn)(const double* from, int64_t from_step, double* to, int64_t to_step, int64_t rows, int64_t columns);
};

}  // namespace gw
