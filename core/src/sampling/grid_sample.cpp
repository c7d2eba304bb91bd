// SPDX-License-Identifier: Apache-2.0
#include "sampling/grid_sample.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "sampling/order.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

// Rough time of one output value, ns. Only the number of threads depends on it, never a result.
double value_cost(const SampleJob& job) {
  static const double by_mode[] = {0.6, 0.4, 1.2};
  return by_mode[job.spec.mode];
}

// Few tiles: pieces are made smaller, and then channels are cut as well, at the price of computing coordinates again.
void cut(SamplePlan& p) {
  const SampleJob& job = p.job;
  constexpr int64_t enough_pieces = 32, fewest_channels = 32;
  p.tiling = Tiling(job);
  p.batch_blocks = job.g_n == 0 ? 1 : job.batches;
  p.batches_per_block = job.g_n == 0 ? job.batches : 1;
  p.channels_per_block = job.channels;
  const auto channel_blocks = [&] {
    return job.channels == 0 ? 0 : (job.channels + p.channels_per_block - 1) / p.channels_per_block;
  };
  const auto pieces = [&] { return p.batch_blocks * p.tiling.pieces() * channel_blocks(); };
  while (p.tiling.rows_per_piece > 1 && pieces() < enough_pieces) p.tiling.set_rows(p.tiling.rows_per_piece / 2);
  while (p.channels_per_block >= 2 * fewest_channels && pieces() < enough_pieces)
    p.channels_per_block = (p.channels_per_block / 2 + 15) / 16 * 16;
  p.channel_blocks = channel_blocks();
}

void run_piece(const SamplePlan& p, const SampleJob& job, int64_t index) {
  const int64_t channel_block = index % p.channel_blocks, rest = index / p.channel_blocks;
  const int64_t batch_block = rest / p.tiling.pieces();
  Piece piece = {};
  piece.n0 = batch_block * p.batches_per_block;
  piece.n1 = std::min(piece.n0 + p.batches_per_block, job.batches);
  piece.c0 = channel_block * p.channels_per_block;
  piece.c1 = std::min(piece.c0 + p.channels_per_block, job.channels);
  p.tiling.each_tile(job, rest % p.tiling.pieces(), piece, [&](const Piece& tile) { p.kernel(job, tile); });
}

std::unique_ptr<char[]> allocate(const gw_tensor& t) {
  return std::unique_ptr<char[]>(new char[(size_t)(element_count(t) * type_size(t.dtype))]);
}

// Strides a contiguous NHWC array of canonical (N, C, H, W) shape has.
gw_tensor channels_last(const gw_tensor& t, void* data) {
  gw_tensor r = t;
  r.data = data;
  r.stride[1] = 1;
  r.stride[3] = t.shape[1];
  r.stride[2] = t.shape[1] * t.shape[3];
  r.stride[0] = t.shape[1] * t.shape[3] * t.shape[2];
  return r;
}

bool is_planar(const gw_tensor& t) {
  return (t.shape[3] == 1 || t.stride[3] == 1) && (t.shape[2] == 1 || t.stride[2] >= t.shape[3]);
}
bool is_interleaved(const gw_tensor& t) { return t.shape[1] == 1 || t.stride[1] == 1; }
bool has_dense_points(const gw_tensor& t, int64_t step) {
  return (t.shape[3] == 1 || t.stride[3] == step) && (t.shape[2] == 1 || t.stride[2] == step * t.shape[3]);
}

}  // namespace

SamplePlan plan_grid_sample(const gw_grid_sample_spec& spec, const gw_tensor& x, const gw_tensor& grid,
                            const gw_tensor& out, bool plan_only) {
  check_spec(spec);
  check_sampling_inputs(spec, x, grid, plan_only);
  check_tensor("out", out, plan_only);
  SamplePlan p = {};
  p.x = p.x_given = canonical(spec, x);
  p.grid = grid;
  const gw_tensor& o = out;
  const int64_t expected[4] = {p.x.shape[0], p.x.shape[1], grid.shape[1], grid.shape[2]};
  gw_tensor wanted = o;
  wanted.rank = 4;
  for (int i = 0; i < 4; ++i) wanted.shape[spec.layout == GW_NHWC ? (i == 0 ? 0 : i == 1 ? 3 : i - 1) : i] = expected[i];
  bool fits = o.rank == 4;
  for (int i = 0; fits && i < 4; ++i) fits = o.shape[i] == wanted.shape[i];
  if (!fits)
    fail(GW_ERROR_SHAPE, "out must have shape %s; got %s", shape_text(wanted).c_str(), shape_text(o).c_str());
  if (o.dtype != x.dtype)
    fail(GW_ERROR_DTYPE, "out must have the dtype of x, %s; got %s", type_name(x.dtype), type_name(o.dtype));
  check_writable("out", o);
  p.out = canonical(spec, o);

  // The memory decides which kernel runs, not the axis order: a channels-last array in NCHW order is read as it lies.
  bool interleaved = p.x.shape[1] > 1 && is_interleaved(p.x) && !(p.x.stride[3] == 1 && p.x.shape[3] > 1);
  if (!interleaved && !is_planar(p.x)) {
    p.pack_x = true;
    p.x = spec.layout == GW_NHWC ? channels_last(p.x, nullptr) : contiguous(p.x, nullptr);
    interleaved = spec.layout == GW_NHWC && p.x.shape[1] > 1;
  }
  p.pack_out = interleaved ? !(is_interleaved(p.out) && has_dense_points(p.out, p.out.shape[1]))
                           : !has_dense_points(p.out, 1);
  p.job = describe(spec, p.x, grid);
  p.job.spec.layout = interleaved ? GW_NHWC : GW_NCHW;
  const Kernels& k = kernels();
  const bool double_coordinates = grid.dtype == GW_FLOAT64 && x.dtype != GW_FLOAT64;
  p.kernel = double_coordinates || p.job.wide ? k.forward_exact[x.dtype][double_coordinates]
                                              : k.forward[spec.mode][x.dtype][interleaved];
  cut(p);
  p.cost_ns = value_cost(p.job) * (double)p.job.points() * (double)p.job.batches * (double)p.job.channels;
  return p;
}

gw_status execute(const SamplePlan& plan, const void* x, const void* grid, void* out) {
  const SamplePlan& p = plan;
  const int64_t pieces = p.batch_blocks * p.tiling.pieces() * p.channel_blocks;
  if (element_count(p.out) == 0 || pieces == 0) return GW_OK;
  SampleJob job = p.job;
  std::unique_ptr<char[]> packed_x, packed_out;
  job.x = x;
  job.grid = grid;
  job.out = out;
  gw_tensor dense = p.out;
  if (p.pack_x) {
    packed_x = allocate(p.x);
    gw_tensor to = p.x;
    to.data = packed_x.get();
    gw_tensor from = p.x_given;
    from.data = const_cast<void*>(x);
    copy_tensor(from, to);
    job.x = packed_x.get();
  }
  if (p.pack_out) {
    packed_out = allocate(p.out);
    dense = job.spec.layout == GW_NHWC ? channels_last(p.out, packed_out.get()) : contiguous(p.out, packed_out.get());
    job.out = packed_out.get();
  }
  job.o_n = dense.stride[0];
  job.o_c = dense.stride[1];
  const Order order = order_of(p, job);
  const Outcome outcome =
      order == Order::packed   ? run_packed(p, job)
      : order == Order::planes ? run_planes(p, job)
                               : parallel_for(pieces, p.cost_ns, [&](int64_t i, int) { run_piece(p, job, i); });
  if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  if (p.pack_out) {
    gw_tensor to = p.out;
    to.data = out;
    copy_tensor(dense, to);
  }
  return GW_OK;
}

}  // namespace gw
