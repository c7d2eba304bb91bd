// SPDX-License-Identifier: Apache-2.0
// Weights of the taps as polynomials of the fraction, and the poles of the filters that undo them at the samples.
#pragma once

#include <cstdint>

#include "splines/job.hpp"

namespace gw {

// weights[tap][power] for a fraction in [0, 1) past the middle tap (even orders: past half a sample before it).
void spline_weights(int32_t order, int32_t basis, double (*weights)[spline_taps_at_most]);

// Poles inside the unit circle of the filter of a B-spline: order / 2 of them.
int spline_poles(int32_t order, double* poles);

// What the samples are multiplied by before the poles, so that a constant stays itself.
double spline_gain(int32_t order);

}  // namespace gw
