// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample's gradient from checked arrays to pieces of work.
#include "sampling/grid_sample_double_backward.hpp"

#include <new>
#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "sampling/double_backward.hpp"
#include "sampling/gradient_checks.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/volume.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

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
  check_differentiable(*a.x);
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

// Fewer planes, a block of channels of an image each, leave threads without work.
constexpr int64_t enough_planes = 4;

struct ChannelBlock {
  int64_t c0;
  int32_t channels, width;
};

// Sixteen at a time, then fours and a single one: rows are packed to their width, and few should be padding. Channels
// that lie side by side in the arithmetic's type are read there, up to four rows at a time, if that leaves pieces enough:
// a row of a cache line in each kilobyte finds little room in the cache.
std::vector<ChannelBlock> blocks_of(const DoubleBackwardJob& job) {
  constexpr int64_t row = 16;
  const int64_t share = job.batches * (job.channels / row) / enough_planes;
  const int64_t most_rows = share < 1 ? 1 : share > 4 ? 4 : share;
  const bool ready = job.x_type == GW_FLOAT32 || job.x_type == GW_FLOAT64;
  bool side_by_side = ready;
  for (const Strided* a : {&job.grad_grad_x, &job.grad_output, &job.x, &job.grad_grad_output, &job.grad_x})
    side_by_side = side_by_side && (a->data == nullptr || a->c == 1);
  std::vector<ChannelBlock> blocks;
  for (int64_t c = 0; c < job.channels;) {
    const int64_t left = job.channels - c;
    const int32_t width = left > 8 ? (int32_t)row : left > 1 ? 4 : 1;
    auto count = (int32_t)(left < width ? left : width);
    if (side_by_side && left >= 2 * row) count = (int32_t)((left < most_rows * row ? left : most_rows * row) / row * row);
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

// Into how many shares the points of an image are cut, by shapes alone: where there are few planes, for other threads to
// have something to do. Every share sums a grad_x of its own, so not where points are few beside the pixels.
int64_t shares_of(const DoubleBackwardJob& job, int64_t planes) {
  constexpr int64_t fewest_points = 1 << 12;
  const bool few = planes > 0 && planes < enough_planes;
  return few && job.points() >= fewest_points && job.points() >= job.pixels() / 4 ? enough_planes : 1;
}

}  // namespace

gw_status grid_sample_double_backward(const gw_grid_sample_spec& spec, const DoubleBackwardArrays& arrays) {
  check_arguments(spec, arrays);
  if (arrays.x->shape[0] == 0) return GW_OK;
  const DoubleBackwardJob job = job_of(spec, arrays);
  const DoubleBackwardKernel& kernel = kernels().double_backward[job.x_type][job.axes - 1];
  const std::vector<ChannelBlock> blocks = blocks_of(job);
  const auto block_count = (int64_t)blocks.size();
  const int64_t planes = job.batches * block_count, points = job.points(), shares = shares_of(job, planes);
  const int64_t share = (points + shares - 1) / shares;
  const auto piece_at = [&](int64_t plane, int64_t which) {
    const ChannelBlock& block = blocks[(size_t)(plane % block_count)];
    DoubleBackwardPiece piece = {};
    piece.n = plane / block_count;
    piece.c0 = block.c0;
    piece.channels = block.channels;
    piece.width = block.width;
    piece.first = which * share < points ? which * share : points;
    piece.last = piece.first + share < points ? piece.first + share : points;
    piece.shared = shares > 1;
    return piece;
  };

  const int64_t sum_bytes = points * job.axes * (job.x_type == GW_FLOAT64 ? 8 : 4);
  Scratch<char> sums;
  if (job.wants_sums()) sums = allocate(planes, sum_bytes);
  const double cost = cost_of(job);
  const int workers = workers_for(planes * shares, cost);
  // Rows belong to a worker; or, where points are shared out, to a plane, which has a grad_x for each share.
  int64_t room = 0;
  for (int64_t i = 0; i < block_count; ++i) {
    int64_t bytes = 0;
    const int wanted = kernel.rows(job, piece_at(i, 0), &bytes);
    const int64_t count = (wanted & 1) + (wanted >> 1 & 1) + (wanted >> 2) * shares;
    if (bytes < 0 || __builtin_mul_overflow(count, bytes, &bytes)) throw std::bad_alloc();
    room = bytes > room ? bytes : room;
  }
  const Scratch<char> memory = allocate(shares > 1 ? planes : workers, room);
  const auto give_rows = [&](DoubleBackwardPiece& piece, char* at, int64_t which) {
    int64_t bytes = 0;
    const int wanted = kernel.rows(job, piece, &bytes);
    for (int i = 0; i < 2; ++i)
      if ((wanted >> i & 1) != 0) {
        piece.rows[i] = at;
        at += bytes;
      }
    if ((wanted & rows_of_grad_x) != 0) piece.rows[2] = at + which * bytes;
    return bytes;
  };
  Outcome outcome = Outcome::done;
  if (shares > 1)
    outcome = parallel_for(2 * planes, 2.0 * (double)planes * (double)job.pixels(), [&](int64_t index, int) {
      DoubleBackwardPiece piece = piece_at(index / 2, 0);
      give_rows(piece, memory.get() + index / 2 * room, 0);
      if (piece.rows[index % 2]) kernel.pack(job, piece, (int)(index % 2));
    });
  if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  outcome = parallel_for_with(workers, planes * shares, cost, [&](int64_t index, int worker) {
    const int64_t plane = index / shares, which = index % shares;
    DoubleBackwardPiece piece = piece_at(plane, which);
    give_rows(piece, memory.get() + (shares > 1 ? plane : worker) * room, which);
    if (job.wants_sums()) piece.sums = sums.get() + plane * sum_bytes;
    kernel.run(job, piece);
  });
  if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  if (shares > 1 && job.grad_x.data && job.has_slopes()) {
    const int64_t lines = job.in[0] * job.in[1], runs = lines < 16 ? lines : 16;
    outcome = parallel_for(planes * runs, 4.0 * (double)planes * (double)job.pixels(), [&](int64_t index, int) {
      DoubleBackwardPiece piece = piece_at(index / runs, 0);
      const int64_t bytes = give_rows(piece, memory.get() + index / runs * room, 0), run = index % runs;
      kernel.add(job, piece, shares, bytes, lines * run / runs, lines * (run + 1) / runs);
    });
  }
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
