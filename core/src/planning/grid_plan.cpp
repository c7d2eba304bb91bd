// SPDX-License-Identifier: Apache-2.0
#include "planning/grid_plan.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "sampling/grid_sample.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

// Points are visited block by block of the image, in their own order within one: 64 pixels of 64 floats stay in a
// first-level cache of 32 KiB, so every line is fetched once, wherever the grid jumps. What is written are whole lines.
constexpr int block_shift = 3;
constexpr int64_t most_blocks = 1 << 20;

// Narrower pixels would be written in parts of lines, at random.
constexpr int64_t narrowest_pixel = 64;

// What an order of blocks saves in x it may lose in the output: nearest reads no more than it writes, and large outputs
// are written past the caches, which takes them in their own order.
constexpr int64_t largest_sorted_output = 8 << 20;

constexpr int64_t most_points = int64_t{1} << 30;

gw_tensor image_of(const gw_grid_sample_spec& spec, int64_t batches, int64_t height, int64_t width, int32_t dtype) {
  gw_tensor t = {};
  t.dtype = dtype;
  t.rank = 4;
  const int64_t planar[4] = {batches, 1, height, width}, interleaved[4] = {batches, height, width, 1};
  for (int i = 0; i < 4; ++i) t.shape[i] = spec.layout == GW_NHWC ? interleaved[i] : planar[i];
  return t;
}

int64_t bytes_of(int64_t count, int64_t size) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) throw std::bad_alloc();
  return bytes;
}

}  // namespace

GridPlan::GridPlan(const gw_grid_sample_spec& spec, int64_t height, int64_t width, const gw_tensor& grid) : spec_(spec) {
  check_spec(spec);
  if (height < 1 || width < 1)
    fail(GW_ERROR_SHAPE, "size must be (H, W), both at least 1; got (%lld, %lld)", (long long)height, (long long)width);
  int64_t pixels;
  if (__builtin_mul_overflow(height, width, &pixels) || pixels > (int64_t{1} << 60))
    fail(GW_ERROR_SHAPE, "size has more pixels than 64 bits count: (%lld, %lld)", (long long)height, (long long)width);
  if (grid.rank == 5 || grid.rank == 3)
    fail(GW_ERROR_SHAPE, "grid must have shape (N, H_out, W_out, 2) for images of a height and a width; got %s",
         shape_text(grid).c_str());
  gw_tensor model = image_of(spec, grid.rank == 4 ? grid.shape[0] : 1, height, width, grid.dtype);
  model = contiguous(model, nullptr);
  check_sampling_inputs(spec, model, grid, true);
  check_tensor("grid", grid, false);
  grid_memory_ = scratch<char>((size_t)bytes_of(std::max<int64_t>(element_count(grid), 1), type_size(grid.dtype)));
  grid_ = contiguous(grid, grid_memory_.get());
  if (element_count(grid) > 0) copy_tensor(grid, grid_);

  model.data = nullptr;
  job_ = describe(spec, canonical(spec, model), grid_);
  job_.x_w = 1;
  job_.x_h = width;
  job_.grid = grid_.data;
  const int64_t grids = grid.shape[0], points = job_.points();
  const bool wide = grid.dtype == GW_FLOAT64;
  const int64_t item = wide ? 8 : 4, step = points + 1;
  coordinates_ = scratch<char>((size_t)bytes_of(std::max<int64_t>(grids * step, 1), 2 * item));
  char* const x = coordinates_.get();
  char* const y = x + grids * step * item;
  for (int64_t n = 0; n < grids; ++n)
    kernels().plan.coordinates(job_, n, wide, x + n * step * item, y + n * step * item);
  job_.planned_x = x;
  job_.planned_y = y;
  job_.planned_step = step;
  job_.planned_double = wide;
  tabulates_ = spec.mode == GW_BILINEAR && !job_.wide && pixels < (int64_t{1} << 31) && points < most_points;
  if (tabulates_ && spec.layout == GW_NHWC) table();
}

const PlannedTable& GridPlan::table() const {
  std::call_once(once_, [&] { fill_table(table_); });
  return table_;
}

// A counting sort by blocks; what lies outside comes last.
void GridPlan::fill_table(PlannedTable& t) const {
  const int64_t points = job_.points(), grids = grid_.shape[0];
  const bool wide = job_.planned_double;
  t.entry_bytes = wide ? sizeof(PlannedPoint<double>) : sizeof(PlannedPoint<float>);
  int shift = block_shift;
  const auto blocks_of = [&](int64_t size) { return ((size - 1) >> shift) + 1; };
  while (blocks_of(job_.height) * blocks_of(job_.width) > most_blocks) ++shift;
  const int64_t columns = blocks_of(job_.width), blocks = columns * blocks_of(job_.height);
  t.entries = scratch<char>((size_t)bytes_of(std::max<int64_t>(points * grids, 1), t.entry_bytes));
  const Scratch<char> unsorted = scratch<char>((size_t)bytes_of(std::max<int64_t>(points, 1), t.entry_bytes));
  std::vector<int32_t> block_of((size_t)points);
  std::vector<int64_t> start((size_t)blocks + 2);
  int64_t leaps = 0;
  for (int64_t n = 0; n < grids; ++n) {
    std::fill(start.begin(), start.end(), 0);
    for (int64_t first = 0; first < points; first += tile_points) {
      const int count = (int)std::min<int64_t>(tile_points, points - first);
      char* entries = unsorted.get() + first * t.entry_bytes;
      kernels().plan.tabulate(job_, n, first, count, wide, entries);
      for (int i = 0; i < count; ++i) {
        int32_t head[2];  // point, pixel
        std::memcpy(head, entries + i * t.entry_bytes, sizeof head);
        const int64_t pixel = head[1];
        const int64_t block =
            pixel < 0 ? blocks : (pixel / job_.width >> shift) * columns + (pixel % job_.width >> shift);
        block_of[(size_t)(first + i)] = (int32_t)block;
        ++start[(size_t)block + 1];
      }
    }
    for (int64_t b = 0; b <= blocks; ++b) start[(size_t)b + 1] += start[(size_t)b];
    char* const sorted = t.entries.get() + n * points * t.entry_bytes;
    for (int64_t i = 0; i < points; ++i)
      std::memcpy(sorted + start[(size_t)block_of[(size_t)i]]++ * t.entry_bytes, unsorted.get() + i * t.entry_bytes,
                  (size_t)t.entry_bytes);
    for (int64_t i = 1; i < points; ++i) {
      int32_t before, here;
      std::memcpy(&before, sorted + (i - 1) * t.entry_bytes, sizeof before);
      std::memcpy(&here, sorted + i * t.entry_bytes, sizeof here);
      leaps += here != before + 1;
    }
  }
  t.scattered = leaps * 2 > points * grids;
}

void GridPlan::check_size(const gw_tensor& x) const {
  if (x.rank != 4) return;  // refused with a sentence later
  const gw_tensor c = canonical(spec_, x);
  if (c.shape[2] != job_.height || c.shape[3] != job_.width)
    fail(GW_ERROR_SHAPE, "x must have the height and width that were planned, %lld and %lld; got shape %s as %s",
         (long long)job_.height, (long long)job_.width, shape_text(x).c_str(),
         spec_.layout == GW_NCHW ? "(N, C, H, W)" : "(N, H, W, C)");
}

gw_tensor grid_of_batch(const gw_tensor& own, const gw_tensor& x) {
  gw_tensor g = own;
  if (x.rank != g.rank || g.shape[0] != 1) {
    if (x.rank == g.rank && x.shape[0] != g.shape[0])
      fail(GW_ERROR_SHAPE, "x must have the batch size of the planned grid, %lld; got shape %s", (long long)g.shape[0],
           shape_text(x).c_str());
    return g;
  }
  g.shape[0] = x.shape[0];
  g.stride[0] = 0;
  return g;
}

gw_status GridPlan::execute(const gw_tensor& x, const gw_tensor& out) const {
  check_size(x);
  const gw_tensor grid = grid_of_batch(grid_, x);
  SamplePlan p = plan_grid_sample(spec_, x, grid, out, false);
  check_no_overlap("out", out, "x", x);
  SampleJob& job = p.job;
  job.planned_x = job_.planned_x;
  job.planned_y = job_.planned_y;
  job.planned_step = job_.planned_step;
  job.planned_double = job_.planned_double;
  const bool sorted = tabulates_ && job.spec.layout == GW_NHWC && !p.pack_x && !p.pack_out &&
                      p.kernel == kernels().forward[spec_.mode][job.x_type][1] && job.x_h == job.width * job.x_w &&
                      job.channels * type_size(job.x_type) >= narrowest_pixel &&
                      element_count(out) * type_size(job.x_type) <= largest_sorted_output;
  if (!sorted || element_count(out) == 0) return gw::execute(p, x.data, grid_.data, out.data);

  job.x = x.data;
  job.out = out.data;
  job.o_n = p.out.stride[0];
  job.o_c = p.out.stride[1];
  const PlannedTable& t = table();
  const auto kernel = kernels().plan.sample[job.x_type];
  constexpr int64_t enough_pieces = 32, fewest_points = 16, most = 512;
  const int64_t points = job.points();
  const int64_t wanted = (points * job.batches + enough_pieces - 1) / enough_pieces;
  const int64_t per_piece = std::min(std::max(wanted, fewest_points), most);
  const int64_t pieces = (points + per_piece - 1) / per_piece;
  const Outcome outcome = parallel_for(pieces * job.batches, p.cost_ns * 0.5, [&](int64_t i, int) {
    PlannedPiece piece = {};
    piece.n = i / pieces;
    const int64_t first = i % pieces * per_piece, grid_index = job.g_n != 0 ? piece.n : 0;
    piece.entries = t.entries.get() + (grid_index * points + first) * t.entry_bytes;
    piece.count = std::min(per_piece, points - first);
    piece.c1 = job.channels;
    piece.scattered = t.scattered;
    kernel(job, piece);
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

}  // namespace gw
