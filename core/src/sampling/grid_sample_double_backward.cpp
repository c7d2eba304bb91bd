// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample's gradient from checked arrays to pieces of work.
#include "sampling/grid_sample_double_backward.hpp"

#include <new>
#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "sampling/double_backward.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/volume.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

void check_like(const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model) {
  check_tensor(name, t, false);
  bool fits = t.rank == model.rank;
  for (int i = 0; fits && i < t.rank; ++i) fits = t.shape[i] == model.shape[i];
  if (!fits)
    fail(GW_ERROR_SHAPE, "%s must have the shape of %s, %s; got %s", name, model_name, shape_text(model).c_str(),
         shape_text(t).c_str());
  if (t.dtype != model.dtype)
    fail(GW_ERROR_DTYPE, "%s must have the dtype of %s, %s; got %s", name, model_name, type_name(model.dtype),
         type_name(t.dtype));
}

// Where the channels are, and the first spatial axis.
int channel_axis(const gw_grid_sample_spec& spec, const gw_tensor& x) { return spec.layout == GW_NCHW ? 1 : x.rank - 1; }
int first_spatial(const gw_grid_sample_spec& spec) { return spec.layout == GW_NCHW ? 2 : 1; }

void check_output(const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model,
                  const DoubleBackwardArrays& a) {
  check_like(name, t, model_name, model);
  check_writable(name, t);
  const gw_tensor* const inputs[] = {a.grad_grad_x, a.grad_grad_grid, a.grad_output, a.x, a.grid};
  static const char* const names[] = {"grad_grad_x", "grad_grad_grid", "grad_output", "x", "grid"};
  for (int i = 0; i < 5; ++i)
    if (inputs[i]) check_no_overlap(name, t, names[i], *inputs[i]);
}

void check_arguments(const gw_grid_sample_spec& spec, const DoubleBackwardArrays& a) {
  check_spec(spec);
  if (!a.grad_grad_output && !a.grad_x && !a.grad_grid)
    fail(GW_ERROR_ARGUMENT, "grad_grad_output, grad_x and grad_grid are all null: ask for at least one gradient");
  if (is_volume(*a.x)) check_volume_inputs(spec, *a.x, *a.grid);
  else check_sampling_inputs(spec, *a.x, *a.grid, false);
  if (!is_float(a.x->dtype))
    fail(GW_ERROR_DTYPE, "x must be float16, bfloat16, float32 or float64 to have a gradient; got %s",
         type_name(a.x->dtype));
  gw_tensor output = *a.x;
  for (int i = 0; i < a.x->rank - 2; ++i) output.shape[first_spatial(spec) + i] = a.grid->shape[1 + i];
  check_like("grad_output", *a.grad_output, "the output", output);
  if (a.grad_grad_x) check_like("grad_grad_x", *a.grad_grad_x, "x", *a.x);
  if (a.grad_grad_grid) check_like("grad_grad_grid", *a.grad_grad_grid, "grid", *a.grid);

  const gw_tensor* const outputs[] = {a.grad_grad_output, a.grad_x, a.grad_grid};
  const gw_tensor* const models[] = {a.grad_output, a.x, a.grid};
  static const char* const names[] = {"grad_grad_output", "grad_x", "grad_grid"};
  static const char* const model_names[] = {"grad_output", "x", "grid"};
  for (int i = 0; i < 3; ++i) {
    if (!outputs[i]) continue;
    check_output(names[i], *outputs[i], model_names[i], *models[i], a);
    for (int j = 0; j < i; ++j)
      if (outputs[j]) check_no_overlap(names[i], *outputs[i], names[j], *outputs[j]);
  }
}

// Spatial axes go to the end of three.
Strided image_of(const gw_grid_sample_spec& spec, const gw_tensor* t) {
  Strided a = {};
  if (!t) return a;
  a.data = t->data;
  a.n = t->stride[0];
  a.c = t->stride[channel_axis(spec, *t)];
  const int axes = t->rank - 2;
  for (int i = 0; i < axes; ++i) a.s[3 - axes + i] = t->stride[first_spatial(spec) + i];
  return a;
}
Strided grid_of(const gw_tensor* t) {
  Strided a = {};
  if (!t) return a;
  a.data = t->data;
  a.n = t->stride[0];
  a.c = t->stride[t->rank - 1];
  const int axes = t->rank - 2;
  for (int i = 0; i < axes; ++i) a.s[3 - axes + i] = t->stride[1 + i];
  return a;
}

DoubleBackwardJob job_of(const gw_grid_sample_spec& spec, const DoubleBackwardArrays& a) {
  DoubleBackwardJob job = {};
  job.spec = spec_of(spec);
  job.axes = a.x->rank - 2;
  job.x_type = a.x->dtype;
  job.grid_type = a.grid->dtype;
  job.batches = a.x->shape[0];
  job.channels = a.x->shape[channel_axis(spec, *a.x)];
  for (int i = 0; i < 3; ++i) {
    const int axis = i - (3 - job.axes);
    job.in[i] = axis < 0 ? 1 : a.x->shape[first_spatial(spec) + axis];
    job.out[i] = axis < 0 ? 1 : a.grid->shape[1 + axis];
  }
  job.grad_grad_x = image_of(spec, a.grad_grad_x);
  job.grad_output = image_of(spec, a.grad_output);
  job.x = image_of(spec, a.x);
  job.grad_grad_output = image_of(spec, a.grad_grad_output);
  job.grad_x = image_of(spec, a.grad_x);
  job.grad_grad_grid = grid_of(a.grad_grad_grid);
  job.grid = grid_of(a.grid);
  job.grad_grid = grid_of(a.grad_grid);
  return job;
}

struct ChannelBlock {
  int64_t c0;
  int32_t channels, width;
};

// Sixteen at a time, then fours and a single one: rows are packed to their width, and few should be padding.
std::vector<ChannelBlock> blocks_of(int64_t channels) {
  std::vector<ChannelBlock> blocks;
  for (int64_t c = 0; c < channels;) {
    const int64_t left = channels - c;
    const int32_t width = left > 8 ? 16 : left > 1 ? 4 : 1;
    const auto count = (int32_t)(left < width ? left : width);
    blocks.push_back({c, count, width});
    c += count;
  }
  return blocks;
}

Scratch<char> allocate(int64_t count, int64_t bytes) {
  int64_t all;
  if (bytes < 0 || __builtin_mul_overflow(count, bytes, &all)) throw std::bad_alloc();
  return scratch<char>((size_t)all);
}

// Nanoseconds: a point costs its taps' weights, and each channel its share.
double cost_of(const DoubleBackwardJob& job) {
  double taps = 1;
  for (int i = 0; i < job.axes; ++i) taps *= job.spec.mode == GW_BICUBIC ? 4 : job.spec.mode == GW_BILINEAR ? 2 : 1;
  const double channels = (double)job.batches * (double)job.channels;
  return channels * ((double)job.points() * (1 + 0.8 * taps) + 1.0 * (double)job.pixels());
}

}  // namespace

gw_status grid_sample_double_backward(const gw_grid_sample_spec& spec, const DoubleBackwardArrays& arrays) {
  check_arguments(spec, arrays);
  if (arrays.x->shape[0] == 0) return GW_OK;
  const DoubleBackwardJob job = job_of(spec, arrays);
  const DoubleBackwardKernel& kernel = kernels().double_backward[job.x_type][job.axes - 1];
  const std::vector<ChannelBlock> blocks = blocks_of(job.channels);
  const auto block_count = (int64_t)blocks.size();
  const int64_t pieces = job.batches * block_count, points = job.points();
  const auto piece_at = [&](int64_t index) {
    const ChannelBlock& block = blocks[(size_t)(index % block_count)];
    return DoubleBackwardPiece{index / block_count, block.c0, block.channels, block.width, nullptr, nullptr};
  };

  const int64_t sum_bytes = points * job.axes * (job.x_type == GW_FLOAT64 ? 8 : 4);
  Scratch<char> sums;
  if (job.wants_sums()) sums = allocate(pieces, sum_bytes);
  const double cost = cost_of(job);
  const int workers = workers_for(pieces, cost);
  int64_t room = 0;
  for (int64_t i = 0; i < block_count; ++i) {
    const int64_t bytes = kernel.scratch_bytes(job, piece_at(i));
    if (bytes < 0) throw std::bad_alloc();
    room = bytes > room ? bytes : room;
  }
  const Scratch<char> memory = allocate(workers, room);
  Outcome outcome = parallel_for_with(workers, pieces, cost, [&](int64_t index, int worker) {
    DoubleBackwardPiece piece = piece_at(index);
    piece.scratch = memory.get() + worker * room;
    if (job.wants_sums()) piece.sums = sums.get() + index * sum_bytes;
    kernel.run(job, piece);
  });
  if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  if (!job.grad_grid.data || points == 0) return GW_OK;

  constexpr int64_t run = 4096;
  const int64_t runs = (points + run - 1) / run;
  outcome = parallel_for(runs * job.batches, 4.0 * (double)points * (double)job.batches, [&](int64_t index, int) {
    const int64_t n = index / runs, first = index % runs * run;
    const int64_t last = first + run < points ? first + run : points;
    const char* from = job.wants_sums() ? sums.get() + n * block_count * sum_bytes : nullptr;
    kernel.combine(job, from, from ? block_count : 0, n, first, last);
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

}  // namespace gw
