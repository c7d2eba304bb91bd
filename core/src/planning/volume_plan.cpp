// SPDX-License-Identifier: Apache-2.0
#include "planning/volume_plan.hpp"

#include <algorithm>
#include <new>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "planning/grid_plan.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/volume.hpp"
#include "tensor.hpp"

namespace gw {
namespace {

int64_t bytes_of(int64_t count, int64_t size) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) throw std::bad_alloc();
  return bytes;
}

}  // namespace

VolumePlan::VolumePlan(const gw_grid_sample_spec& spec, int64_t depth, int64_t height, int64_t width, const gw_tensor& grid)
    : spec_(spec) {
  check_spec(spec);
  if (depth < 1 || height < 1 || width < 1)
    fail(GW_ERROR_SHAPE, "size must be (D, H, W), all at least 1; got (%lld, %lld, %lld)", (long long)depth,
         (long long)height, (long long)width);
  int64_t voxels;
  if (__builtin_mul_overflow(height, width, &voxels) || __builtin_mul_overflow(voxels, depth, &voxels) ||
      voxels > (int64_t{1} << 60))
    fail(GW_ERROR_SHAPE, "size has more voxels than 64 bits count: (%lld, %lld, %lld)", (long long)depth,
         (long long)height, (long long)width);
  if (grid.rank != 5)
    fail(GW_ERROR_SHAPE, "grid must have shape (N, D_out, H_out, W_out, 3) for volumes of a depth, a height and a width; got %s",
         shape_text(grid).c_str());
  gw_tensor model = {};
  model.dtype = grid.dtype;
  model.rank = 5;
  const int64_t planar[5] = {grid.shape[0], 1, depth, height, width};
  const int64_t interleaved[5] = {grid.shape[0], depth, height, width, 1};
  std::copy_n(spec.layout == GW_NHWC ? interleaved : planar, 5, model.shape);
  char nothing = 0;
  model = contiguous(model, &nothing);
  check_volume_inputs(spec, model, grid);
  grid_memory_ = scratch<char>((size_t)bytes_of(std::max<int64_t>(element_count(grid), 1), type_size(grid.dtype)));
  grid_ = contiguous(grid, grid_memory_.get());
  if (element_count(grid) > 0) copy_tensor(grid, grid_);

  model.data = nullptr;
  job_ = describe_volume(spec, canonical_volume(spec, model), grid_, 3);
  const int64_t grids = grid.shape[0], step = job_.points() + 1;
  const bool wide = grid.dtype == GW_FLOAT64;
  const int64_t item = wide ? 8 : 4;
  coordinates_ = scratch<char>((size_t)bytes_of(std::max<int64_t>(grids * step, 1), 3 * item));
  char* const axes[3] = {coordinates_.get(), coordinates_.get() + grids * step * item,
                         coordinates_.get() + 2 * grids * step * item};
  for (int64_t n = 0; n < grids; ++n) {
    void* const to[3] = {axes[0] + n * step * item, axes[1] + n * step * item, axes[2] + n * step * item};
    kernels().plan.volume_coordinates(job_, n, wide, to);
  }
  for (int a = 0; a < 3; ++a) job_.planned[a] = axes[a];
  job_.planned_step = step;
  job_.planned_double = wide;
}

void VolumePlan::check_size(const gw_tensor& x) const {
  if (x.rank != 5)
    fail(GW_ERROR_SHAPE, "x must be a volume as planned, %s; got shape %s",
         spec_.layout == GW_NHWC ? "(N, D, H, W, C)" : "(N, C, D, H, W)", shape_text(x).c_str());
  const gw_tensor c = canonical_volume(spec_, x);
  if (c.shape[2] != job_.size[2] || c.shape[3] != job_.size[1] || c.shape[4] != job_.size[0])
    fail(GW_ERROR_SHAPE, "x must have the depth, height and width that were planned, %lld, %lld and %lld; got shape %s as %s",
         (long long)job_.size[2], (long long)job_.size[1], (long long)job_.size[0], shape_text(x).c_str(),
         spec_.layout == GW_NHWC ? "(N, D, H, W, C)" : "(N, C, D, H, W)");
}

gw_status VolumePlan::execute(const gw_tensor& x, const gw_tensor& out) const {
  check_size(x);
  return sample_volume(spec_, x, grid_of_batch(grid_, x), out, &job_);
}

void VolumePlan::report(gw_grid_report& r) const { report_points(spec_, grid_, job_.size, r); }

}  // namespace gw
