// SPDX-License-Identifier: Apache-2.0
// Other orders of work for grids that jump about.
#pragma once

#include "sampling/grid_sample.hpp"
#include "threads/pool.hpp"

namespace gw {

// How the pieces of a plan are gone through: tile by tile with all channels; through channels packed into blocks; or
// plane by plane.
enum class Order { tiles, packed, planes };

// Looks at a few tiles of the grid, chosen by shapes alone.
Order order_of(const SamplePlan& plan, const SampleJob& job);
Outcome run_packed(const SamplePlan& plan, const SampleJob& job);
Outcome run_planes(const SamplePlan& plan, const SampleJob& job);

}  // namespace gw
