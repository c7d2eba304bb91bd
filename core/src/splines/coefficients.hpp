// SPDX-License-Identifier: Apache-2.0
// The coefficients of samples: a filtered copy with room around it, so that taps beyond the ends are read like any other.
#pragma once

#include "gridwave/splines.h"
#include "memory.hpp"
#include "splines/job.hpp"

namespace gw {

// SciPy extends samples of nearest and grid-constant by this many before it filters them.
constexpr int64_t spline_padding = 12;

struct Coefficients {
  Scratch<double> data;
  double* origin;  // of index (0, ..., 0)
};

// The boundary that samples are filtered with: reflect, mirror or grid-wrap.
int32_t filter_boundary(int32_t boundary);

// One axis of a float64 array through every pole, `scale`d before by the caller. Lines of length 1 stay as they are.
gw_status filter_axis(const gw_spline_spec& spec, double* data, int32_t rank, const int64_t* length,
                      const int64_t* stride, int32_t axis);

// Filters x along all axes and lays the result out with job.before coefficients on every side; sets the job's samples,
// lengths and strides.
gw_status make_coefficients(const gw_spline_spec& spec, const gw_tensor& x, SplineJob& job, Coefficients& to);

}  // namespace gw
