// SPDX-License-Identifier: Apache-2.0
// The rules of grid_sample's arguments, each with a sentence.
#include "failure.hpp"
#include "sampling/grid_sample.hpp"
#include "tensor.hpp"

namespace gw {
namespace {

void check_code(const char* name, int32_t code, int32_t last) {
  if (code < 0 || code > last) fail(GW_ERROR_ARGUMENT, "%s has code %d; the codes are 0 to %d", name, code, last);
}

// Small enough to be converted to int32 in a vector, with room for taps outside; exact as a float.
constexpr int64_t widest_fast_axis = int64_t{1} << 24;
constexpr int64_t widest_fast_image = int64_t{1} << 31;

bool is_wide(const gw_tensor& x) {  // canonical
  const auto reach = [&](int axis) {
    const int64_t stride = x.stride[axis] < 0 ? -x.stride[axis] : x.stride[axis];
    int64_t r;
    return __builtin_mul_overflow(stride, x.shape[axis], &r) ? widest_fast_image : r;
  };
  return x.shape[2] >= widest_fast_axis || x.shape[3] >= widest_fast_axis || reach(2) >= widest_fast_image / 2 ||
         reach(3) >= widest_fast_image / 2;
}

}  // namespace

void check_spec(const gw_grid_sample_spec& s) {
  check_code("mode", s.mode, GW_BICUBIC);
  check_code("padding", s.padding, GW_REFLECTION);
  check_code("align_corners", s.align_corners, 1);
  check_code("layout", s.layout, GW_NHWC);
  check_code("rounding", s.rounding, GW_HALF_UP);
  check_code("pad_order", s.pad_order, GW_PAD_INDEX);
  check_code("cubic_padding", s.cubic_padding, GW_CUBIC_COORDINATE);
  check_code("nonfinite", s.nonfinite, GW_NONFINITE_LOWER_BORDER);
  check_code("unnormalise", s.unnormalise, GW_SCALED_FUSED);
  check_code("reflection", s.reflection, GW_REFLECT_ONCE);
  check_code("border_slope", s.border_slope, GW_BORDER_SLOPE_INSIDE);
  if (!(s.cubic_coeff_a >= -1e6 && s.cubic_coeff_a <= 1e6))
    fail(GW_ERROR_ARGUMENT, "cubic_coeff_a must be a finite number; got %g", s.cubic_coeff_a);
}

void check_sampling_dtypes(const gw_tensor& x, const gw_tensor& grid) {
  if (!is_float(grid.dtype))
    fail(GW_ERROR_DTYPE, "grid must be float16, bfloat16, float32 or float64; got %s", type_name(grid.dtype));
  if (x.dtype > GW_UINT16)
    fail(GW_ERROR_DTYPE, "x must have dtype float32, float64, float16, bfloat16, uint8, int8, uint16; got %s: convert it",
         type_name(x.dtype));
  const bool half_with_float = (x.dtype == GW_FLOAT16 || x.dtype == GW_BFLOAT16) && grid.dtype == GW_FLOAT32;
  if (is_float(x.dtype) && x.dtype != grid.dtype && !half_with_float)
    fail(GW_ERROR_DTYPE,
         "grid must have the dtype of x (float16 and bfloat16 x may have a float32 grid); got x %s, grid %s: convert one",
         type_name(x.dtype), type_name(grid.dtype));
}

void check_sampling_inputs(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid, bool plan) {
  const char* axes = spec.layout == GW_NCHW ? "(N, C, H, W)" : "(N, H, W, C)";
  check_tensor("x", x, plan);
  check_tensor("grid", grid, plan);
  if (x.rank == 5)
    fail(GW_ERROR_UNSUPPORTED, "x must have shape %s here; got %s: this function is for images", axes,
         shape_text(x).c_str());
  if (x.rank != 4)
    fail(GW_ERROR_SHAPE, "x must have 4 axes %s, 3 for signals or 5 for volumes; got shape %s", axes, shape_text(x).c_str());
  if (grid.rank != 4 || grid.shape[3] != 2)
    fail(GW_ERROR_SHAPE, "grid must have shape (N, H_out, W_out, 2), last axis (x, y), to sample a 4-D x; got %s%s",
         shape_text(grid).c_str(),
         grid.rank == 4 && grid.shape[1] == 2 ? ": move the axis of length 2 to the end" : "");
  if (grid.shape[0] != x.shape[0])
    fail(GW_ERROR_SHAPE, "grid must have the batch size of x; got grid %s for x %s: broadcast one grid over the batch with numpy.broadcast_to",
         shape_text(grid).c_str(), shape_text(x).c_str());
  const gw_tensor c = canonical(spec, x);
  if (c.shape[2] == 0 || c.shape[3] == 0)
    fail(GW_ERROR_SHAPE, "x must have a height and width of at least 1 to be sampled; got shape %s as %s",
         shape_text(x).c_str(), axes);
  check_sampling_dtypes(x, grid);
}

gw_tensor canonical(const gw_grid_sample_spec& spec, const gw_tensor& t) {
  if (spec.layout == GW_NCHW) return t;
  const int order[4] = {0, 3, 1, 2};
  return permuted(t, order);
}

Spec spec_of(const gw_grid_sample_spec& spec) {
  return Spec{spec.mode,          spec.padding,     spec.align_corners, spec.layout,
              spec.rounding,      spec.pad_order,   spec.cubic_padding, spec.nonfinite,
              spec.cubic_coeff_a, spec.unnormalise, spec.reflection,    spec.border_slope};
}

SampleJob describe(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid) {
  SampleJob job = {};
  job.spec = spec_of(spec);
  job.x_type = x.dtype;
  job.grid_type = grid.dtype;
  job.batches = x.shape[0];
  job.channels = x.shape[1];
  job.height = x.shape[2];
  job.width = x.shape[3];
  job.out_height = grid.shape[1];
  job.out_width = grid.shape[2];
  job.x_n = x.stride[0];
  job.x_c = x.stride[1];
  job.x_h = x.stride[2];
  job.x_w = x.stride[3];
  job.g_n = grid.shape[0] > 1 ? grid.stride[0] : 0;
  job.g_h = grid.stride[1];
  job.g_w = grid.stride[2];
  job.g_k = grid.stride[3];
  job.wide = is_wide(x);
  return job;
}

}  // namespace gw
