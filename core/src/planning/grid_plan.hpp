// SPDX-License-Identifier: Apache-2.0
// A grid that stays, with tables computed once.
#pragma once

#include <mutex>

#include "gridwave/gridwave.h"
#include "memory.hpp"
#include "planning/job.hpp"

namespace gw {

// What every point of every grid reads, in the order it is gone through: by blocks of the image, points outside last.
struct PlannedTable {
  Scratch<char> entries;  // PlannedPoint<float>, or <double> for a double grid; `points` of each grid
  int64_t entry_bytes;
  bool scattered;  // most entries are not followed by the next point's
};

// A planned grid as a call has it: one for each image, if need be the same.
gw_tensor grid_of_batch(const gw_tensor& own, const gw_tensor& x);

// Gradients of a planned grid, `own`; that of a grid which serves many images is summed over them.
typedef gw_status (*SampleBackward)(const gw_grid_sample_spec&, const gw_tensor& grad_output, const gw_tensor& x,
                                    const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid);
gw_status backward_of_plan(SampleBackward backward, const gw_grid_sample_spec& spec, const gw_tensor& own,
                           const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor* grad_x,
                           const gw_tensor* grad_grid);

// Where the points of a contiguous grid are, in an image (x, y) or volume (x, y, z) of these sizes.
void report_points(const gw_grid_sample_spec& spec, const gw_tensor& grid, const int64_t* size, gw_grid_report& report);

class GridPlan {
 public:
  GridPlan(const gw_grid_sample_spec& spec, int64_t height, int64_t width, const gw_tensor& grid);

  gw_status execute(const gw_tensor& x, const gw_tensor& out) const;
  gw_status backward(const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor* grad_x,
                     const gw_tensor* grad_grid) const;
  void report(gw_grid_report& r) const {
    const int64_t size[2] = {job_.width, job_.height};
    report_points(spec_, grid_, size, r);
  }

 private:
  void check_size(const gw_tensor& x) const;
  const PlannedTable& table() const;
  void fill_table(PlannedTable& table) const;

  gw_grid_sample_spec spec_;
  Scratch<char> grid_memory_, coordinates_;
  gw_tensor grid_;     // the copy, contiguous
  SampleJob job_;      // one channel of an image without gaps
  bool tabulates_;     // bilinear, and offsets fit
  mutable std::once_flag once_;
  mutable PlannedTable table_;
};

}  // namespace gw
