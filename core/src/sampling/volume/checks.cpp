// SPDX-License-Identifier: Apache-2.0
// The rules of grid_sample's arguments for volumes and signals, each with a sentence.
#include "failure.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/volume.hpp"
#include "tensor.hpp"

namespace gw {
namespace {

constexpr int64_t widest_fast_axis = int64_t{1} << 24;   // exact as a float, with room for taps outside
constexpr int64_t widest_fast_reach = int64_t{1} << 29;  // of one axis; three of them stay below 2^31

const char* axes_text(const gw_grid_sample_spec& spec, int rank) {
  const bool last = spec.layout == GW_NHWC;
  return rank == 3 ? (last ? "(N, W, C)" : "(N, C, W)") : (last ? "(N, D, H, W, C)" : "(N, C, D, H, W)");
}

bool is_wide(const gw_tensor& x) {  // canonical
  for (int a = 2; a < 5; ++a) {
    const int64_t stride = x.stride[a] < 0 ? -x.stride[a] : x.stride[a];
    int64_t reach;
    if (x.shape[a] >= widest_fast_axis || __builtin_mul_overflow(stride, x.shape[a], &reach) || reach >= widest_fast_reach)
      return true;
  }
  return false;
}

}  // namespace

void check_volume_inputs(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid) {
  check_tensor("x", x, false);
  check_tensor("grid", grid, false);
  const int axes = x.rank - 2;
  const char* wanted = axes == 1 ? "(N, W_out, 1), last axis (x,)" : "(N, D_out, H_out, W_out, 3), last axis (x, y, z)";
  if (grid.rank != x.rank)
    fail(GW_ERROR_SHAPE, "grid must have shape %s, since x has %d axes, %s; got grid %s for x %s%s", wanted, x.rank,
         axes_text(spec, x.rank), shape_text(grid).c_str(), shape_text(x).c_str(),
         grid.rank == 4 && x.rank == 3 ? ": one image needs an axis for the batch" : "");
  if (grid.shape[grid.rank - 1] != axes)
    fail(GW_ERROR_SHAPE, "grid must have shape %s, to sample a %d-D x; got %s%s", wanted, x.rank, shape_text(grid).c_str(),
         axes == 3 && grid.shape[1] == 3 ? ": move the axis of length 3 to the end" : "");
  if (grid.shape[0] != x.shape[0])
    fail(GW_ERROR_SHAPE, "grid must have the batch size of x; got grid %s for x %s: broadcast one grid over the batch with numpy.broadcast_to",
         shape_text(grid).c_str(), shape_text(x).c_str());
  const gw_tensor c = canonical_volume(spec, x);
  if (c.shape[2] == 0 || c.shape[3] == 0 || c.shape[4] == 0)
    fail(GW_ERROR_SHAPE, "x must have at least one sample along every spatial axis; got shape %s as %s",
         shape_text(x).c_str(), axes_text(spec, x.rank));
  check_sampling_dtypes(x, grid);
}

void check_volume_output(const gw_grid_sample_spec& spec, const char* name, const gw_tensor& out, const gw_tensor& x,
                         const gw_tensor& grid) {
  const int rank = x.rank, channel = spec.layout == GW_NHWC ? rank - 1 : 1;
  gw_tensor wanted = x;
  for (int a = 1, from = 1; a < rank; ++a)
    if (a != channel) wanted.shape[a] = grid.shape[from++];
  bool fits = out.rank == rank;
  for (int a = 0; fits && a < rank; ++a) fits = out.shape[a] == wanted.shape[a];
  if (!fits) fail(GW_ERROR_SHAPE, "%s must have shape %s; got %s", name, shape_text(wanted).c_str(), shape_text(out).c_str());
  if (out.dtype != x.dtype)
    fail(GW_ERROR_DTYPE, "%s must have the dtype of x, %s; got %s", name, type_name(x.dtype), type_name(out.dtype));
}

gw_tensor canonical_volume(const gw_grid_sample_spec& spec, const gw_tensor& t) {
  gw_tensor r = t;
  r.rank = 5;
  const int channel = spec.layout == GW_NHWC ? t.rank - 1 : 1;
  const auto put = [&](int to, int from) {
    r.shape[to] = from < 0 ? 1 : t.shape[from];
    r.stride[to] = from < 0 ? 0 : t.stride[from];
  };
  put(1, channel);
  int from = channel == 1 ? 2 : 1;
  for (int to = 2; to < 5; ++to) put(to, t.rank == 3 && to < 4 ? -1 : from++);
  return r;
}

gw_tensor canonical_volume_grid(const gw_tensor& grid) {
  if (grid.rank == 5) return grid;
  gw_tensor r = grid;
  r.rank = 5;
  for (int a = 1; a < 3; ++a) {
    r.shape[a] = 1;
    r.stride[a] = 0;
    r.shape[a + 2] = grid.shape[a];
    r.stride[a + 2] = grid.stride[a];
  }
  return r;
}

VolumeJob describe_volume(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid, int32_t axes) {
  VolumeJob job = {};
  job.spec = spec_of(spec);
  job.x = x.data;
  job.grid = grid.data;
  job.x_type = x.dtype;
  job.grid_type = grid.dtype;
  job.axes = axes;
  job.batches = x.shape[0];
  job.channels = x.shape[1];
  job.x_n = x.stride[0];
  job.x_c = x.stride[1];
  for (int a = 0; a < 3; ++a) {
    job.size[a] = x.shape[4 - a];
    job.x_s[a] = x.stride[4 - a];
    job.out_size[a] = grid.shape[3 - a];
    job.g_s[a] = grid.stride[3 - a];
  }
  job.g_n = grid.shape[0] > 1 ? grid.stride[0] : 0;
  job.g_k = grid.stride[4];
  for (int a = 1; a < 3; ++a)  // axes of points that lie one behind the other are one
    if (job.out_size[a] == 1 || (job.g_s[a] == job.g_s[0] * job.out_size[0] && (a == 1 || job.out_size[1] == 1))) {
      job.out_size[0] *= job.out_size[a];
      job.out_size[a] = 1;
    }
  job.wide = is_wide(x);
  return job;
}

}  // namespace gw
