// SPDX-License-Identifier: Apache-2.0
// Gradients of a planned grid.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "planning/grid_plan.hpp"
#include "planning/volume_plan.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/volume.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

// Sums `batches` gradients of `count` values each into the first element on, in order, in double.
template <class T>
Outcome sum_batches(const T* from, int64_t batches, int64_t count, const gw_tensor& to) {
  constexpr int64_t run = 4096;
  return parallel_for((count + run - 1) / run, 0.5 * (double)count * (double)batches, [&](int64_t piece, int) {
    for (int64_t i = piece * run; i < std::min((piece + 1) * run, count); ++i) {
      double sum = 0;
      for (int64_t n = 0; n < batches; ++n) sum += (double)from[n * count + i];
      int64_t rest = i, offset = 0;
      for (int axis = to.rank - 1; axis > 0; rest /= to.shape[axis], --axis) offset += rest % to.shape[axis] * to.stride[axis];
      const float single = (float)sum;
      if (to.dtype == GW_FLOAT64) static_cast<double*>(to.data)[offset] = sum;
      else if (to.dtype == GW_FLOAT32) static_cast<float*>(to.data)[offset] = single;
      else kernels().narrow(to.dtype, &single, static_cast<uint16_t*>(to.data) + offset, 1);
    }
  });
}

bool same_shape(const gw_tensor& a, const gw_tensor& b) {
  return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
}

}  // namespace

gw_status backward_of_plan(SampleBackward backward, const gw_grid_sample_spec& spec, const gw_tensor& own,
                           const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor* grad_x,
                           const gw_tensor* grad_grid) {
  gw_tensor grid = grid_of_batch(own, x);
  if (!grad_grid || grid.shape[0] == own.shape[0]) return backward(spec, grad_output, x, grid, grad_x, grad_grid);

  // One grid, many images. Sixteen bits are summed before they are rounded: coordinates of a widened grid are the same.
  check_tensor("grad_grid", *grad_grid, false);
  if (!same_shape(*grad_grid, own))
    fail(GW_ERROR_SHAPE, "grad_grid must have the shape of grid, %s; got %s", shape_text(own).c_str(),
         shape_text(*grad_grid).c_str());
  if (grad_grid->dtype != own.dtype)
    fail(GW_ERROR_DTYPE, "grad_grid must have the dtype of grid, %s; got %s", type_name(own.dtype),
         type_name(grad_grid->dtype));
  check_writable("grad_grid", *grad_grid);
  check_no_overlap("grad_grid", *grad_grid, "grad_output", grad_output);
  check_no_overlap("grad_grid", *grad_grid, "x", x);
  if (grad_x) check_no_overlap("grad_x", *grad_x, "grad_grid", *grad_grid);
  const int64_t count = element_count(own), batches = x.shape[0];
  Scratch<char> widened;
  if (type_size(grid.dtype) == 2) {
    widened = scratch<char>((size_t)count * 4 + 4);
    kernels().widen(grid.dtype, own.data, reinterpret_cast<float*>(widened.get()), count);
    grid.data = widened.get();
    grid.dtype = GW_FLOAT32;
  }
  int64_t bytes;
  if (__builtin_mul_overflow(count * type_size(grid.dtype), std::max<int64_t>(batches, 1), &bytes)) throw std::bad_alloc();
  const Scratch<char> all = scratch<char>((size_t)bytes);
  const gw_tensor each = contiguous(grid, all.get());
  const gw_status status = backward(spec, grad_output, x, grid, grad_x, &each);
  if (status != GW_OK || count == 0) return status;
  const Outcome outcome = each.dtype == GW_FLOAT64
                              ? sum_batches(static_cast<const double*>(each.data), batches, count, *grad_grid)
                              : sum_batches(static_cast<const float*>(each.data), batches, count, *grad_grid);
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

gw_status GridPlan::backward(const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor* grad_x,
                             const gw_tensor* grad_grid) const {
  check_size(x);
  return backward_of_plan(grid_sample_backward, spec_, grid_, grad_output, x, grad_x, grad_grid);
}

gw_status VolumePlan::backward(const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor* grad_x,
                               const gw_tensor* grad_grid) const {
  check_size(x);
  return backward_of_plan(sample_volume_backward, spec_, grid_, grad_output, x, grad_x, grad_grid);
}

}  // namespace gw
