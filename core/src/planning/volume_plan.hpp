// SPDX-License-Identifier: Apache-2.0
// A grid of a volume that stays: its coordinates are computed once.
#pragma once

#include "gridwave/gridwave.h"
#include "memory.hpp"
#include "sampling/volume/job.hpp"

namespace gw {

class VolumePlan {
 public:
  VolumePlan(const gw_grid_sample_spec& spec, int64_t depth, int64_t height, int64_t width, const gw_tensor& grid);

  gw_status execute(const gw_tensor& x, const gw_tensor& out) const;
  gw_status backward(const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor* grad_x,
                     const gw_tensor* grad_grid) const;
  void report(gw_grid_report& report) const;

 private:
  void check_size(const gw_tensor& x) const;

  gw_grid_sample_spec spec_;
  Scratch<char> grid_memory_, coordinates_;
  gw_tensor grid_;  // the copy, contiguous
  VolumeJob job_;   // one channel of a volume without gaps
};

}  // namespace gw
