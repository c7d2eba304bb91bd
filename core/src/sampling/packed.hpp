// SPDX-License-Identifier: Apache-2.0
// Sampling through packed channels, for grids that jump about in images larger than the first-level cache.
#pragma once

#include "sampling/grid_sample.hpp"
#include "threads/pool.hpp"

namespace gw {

// Whether the plan's kernels have a packed form and this grid wants it. Looks at a few tiles, chosen by shapes alone.
bool jumps_about(const SamplePlan& plan, const SampleJob& job);
Outcome run_packed(const SamplePlan& plan, const SampleJob& job);

}  // namespace gw
