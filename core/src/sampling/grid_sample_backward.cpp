// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample from checked arrays to pieces of work.
#include <memory>
#include <new>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "sampling/gradient_checks.hpp"
#include "sampling/grid_sample.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

void check_arguments(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x,
                     const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  check_spec(spec);
  check_wanted(grad_x, grad_grid);
  check_sampling_inputs(spec, x, grid, false);
  check_differentiable(x);
  check_tensor("grad_output", grad_output, false);
  const gw_tensor image = canonical(spec, x);
  gw_tensor wanted = grad_output;
  wanted.rank = 4;
  const int64_t planar[4] = {image.shape[0], image.shape[1], grid.shape[1], grid.shape[2]};
  const int64_t interleaved[4] = {planar[0], planar[2], planar[3], planar[1]};
  bool fits = grad_output.rank == 4;
  for (int i = 0; i < 4; ++i) {
    wanted.shape[i] = (spec.layout == GW_NCHW ? planar : interleaved)[i];
    fits = fits && grad_output.shape[i] == wanted.shape[i];
  }
  if (!fits)
    fail(GW_ERROR_SHAPE, "grad_output must have the shape of the output, %s; got %s", shape_text(wanted).c_str(),
         shape_text(grad_output).c_str());
  if (grad_output.dtype != x.dtype)
    fail(GW_ERROR_DTYPE, "grad_output must have the dtype of x, %s; got %s", type_name(x.dtype),
         type_name(grad_output.dtype));
  check_gradients(grad_output, x, grid, grad_x, grad_grid);
}

typedef Scratch<char> Memory;
int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }
Memory allocate(int64_t count, int64_t bytes) {
  int64_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) throw std::bad_alloc();
  return scratch<char>((size_t)all);
}
void* at(const Memory& memory, int64_t index, int64_t bytes) { return memory.get() + index * bytes; }

// How a call is cut: by shapes alone, so that bits do not depend on the number of threads.
struct Cut {
  int64_t groups, channels_per_group, bands, rows_per_band;
};

// Pieces enough for some threads to end together. Channels first: groups of at least 16, whose sums of the grid's
// gradient are kept apart and added at the end (so they stay below an eighth of grad_output). Then bands of rows of
// grad_x: every band looks at all points and takes those that reach it, which costs it the coordinates (a fifth of the
// time at three channels) and, if points have to be packed, those again; so there are few, and only where there is much
// to do. Channels-last arrays are read as they lie: bands cost them little, and half a pixel at a time twice the time
// (256 channels).
Cut cut(const BackwardJob& job, const BackwardKernel& kernel) {
  constexpr int64_t enough = 8, fewest_channels = 16, most_bands = 4, fewest_rows = 8, fewest_points = 1 << 12;
  Cut c;
  const bool interleaved = job.go_c == 1 && job.channels > 4;
  c.groups = job.channels > 0 ? 1 : 0;
  c.channels_per_group = job.channels;
  if (!interleaved && job.channels >= 2 * fewest_channels) {
    const int64_t wanted = (enough + job.batches - 1) / job.batches;
    c.channels_per_group =
        ((job.channels + wanted - 1) / wanted + fewest_channels - 1) / fewest_channels * fewest_channels;
    c.groups = (job.channels + c.channels_per_group - 1) / c.channels_per_group;
  }
  c.bands = 1;
  c.rows_per_band = job.height;
  const int64_t pieces = job.batches * c.groups;
  if (kernel.bands && pieces > 0 && pieces < 4 && job.points() >= fewest_points) {
    int64_t bands = most_bands;
    while (bands > 1 && job.height / bands < fewest_rows) --bands;
    c.rows_per_band = (job.height + bands - 1) / bands;
    c.bands = (job.height + c.rows_per_band - 1) / c.rows_per_band;
  }
  return c;
}

double value_cost(const BackwardJob& job) {
  static const double by_mode[] = {1, 0.5, 4};
  return by_mode[job.spec.mode];
}

// Adds the groups' sums, in order, into grad_grid.
template <class T>
void write_element(const Kernels& k, void* to, int64_t offset, int32_t type, T value) {
  switch (type) {
    case GW_FLOAT32: static_cast<float*>(to)[offset] = (float)value; break;
    case GW_FLOAT64: static_cast<double*>(to)[offset] = (double)value; break;
    default: {
      const float v = (float)value;
      k.narrow(type, &v, static_cast<uint16_t*>(to) + offset, 1);
    }
  }
}

template <class T>
void combine(const Kernels& k, const BackwardJob& job, const T* sums, int64_t groups, const gw_tensor& to, int64_t n,
             int64_t first, int64_t last) {
  const int64_t step = 2 * job.points();
  constexpr int64_t run = 256;
  T total[2 * run];
  for (int64_t p = first; p < last; p += run) {
    const int64_t count = 2 * (last - p < run ? last - p : run);
    for (int64_t i = 0; i < count; ++i) total[i] = groups > 0 ? sums[2 * p + i] : T(0);
    for (int64_t g = 1; g < groups; ++g)
      for (int64_t i = 0; i < count; ++i) total[i] += sums[g * step + 2 * p + i];
    int64_t row = p / job.out_width, column = p % job.out_width;
    for (int64_t i = 0; i < count; i += 2) {
      const int64_t offset = n * to.stride[0] + row * to.stride[1] + column * to.stride[2];
      write_element<T>(k, to.data, offset, to.dtype, total[i]);
      write_element<T>(k, to.data, offset + to.stride[3], to.dtype, total[i + 1]);
      if (++column == job.out_width) {
        column = 0;
        ++row;
      }
    }
  }
}

}  // namespace

gw_status grid_sample_backward(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x,
                               const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  check_arguments(spec, grad_output, x, grid, grad_x, grad_grid);
  const gw_tensor image = canonical(spec, x), go = canonical(spec, grad_output);
  const gw_tensor gx = grad_x ? canonical(spec, *grad_x) : gw_tensor{};
  BackwardJob job = {};
  static_cast<SampleJob&>(job) = describe(spec, image, grid);
  job.x = x.data;
  job.grid = grid.data;
  job.grad_output = go.data;
  job.go_n = go.stride[0];
  job.go_c = go.stride[1];
  job.go_h = go.stride[2];
  job.go_w = go.stride[3];
  job.grad_x = gx.data;
  job.gx_n = gx.stride[0];
  job.gx_c = gx.stride[1];
  job.gx_h = gx.stride[2];
  job.gx_w = gx.stride[3];
  if (job.batches == 0) return GW_OK;

  const Kernels& k = kernels();
  const BackwardKernel kernel = job.wide ? k.backward_exact[job.x_type] : k.backward[spec.mode][job.x_type];
  const Cut c = cut(job, kernel);
  const bool nearest = spec.mode == GW_NEAREST;  // its grid gradient is 0
  const int64_t groups = c.groups, bands = c.bands, sum_size = job.x_type == GW_FLOAT64 ? 8 : 4;
  const int64_t pieces = nearest && !grad_x ? 0 : job.batches * groups * bands;
  const double cost =
      value_cost(job) * (double)job.points() * (double)job.batches * (double)job.channels +
      0.3 * (double)job.height * (double)job.width * (double)job.batches * (double)job.channels;
  const auto piece_at = [&](int64_t index) {
    BackwardPiece piece = {};
    const int64_t band = index % bands, group = index / bands % groups;
    piece.n = index / bands / groups;
    piece.c0 = group * c.channels_per_group;
    piece.c1 = piece.c0 + c.channels_per_group < job.channels ? piece.c0 + c.channels_per_group : job.channels;
    piece.y0 = band * c.rows_per_band;
    piece.y1 = piece.y0 + c.rows_per_band < job.height ? piece.y0 + c.rows_per_band : job.height;
    return piece;
  };

  // Where one group's sums are the whole gradient they are written in place.
  const int64_t sums_bytes = 2 * job.points() * sum_size;
  Memory sums;
  const int64_t sum_groups = grad_grid && !nearest ? groups : 0;
  const bool in_place = sum_groups == 1 && type_size(grid.dtype) == sum_size && is_contiguous(*grad_grid);
  if (sum_groups > 0 && !in_place) sums = allocate(job.batches * sum_groups, sums_bytes);
  char* const sums_at = static_cast<char*>(in_place ? grad_grid->data : sums.get());
  const int workers = workers_for(pieces, cost);
  Memory scratch;
  int64_t scratch_bytes = 0;
  if (pieces > 0) {
    for (int64_t index : {int64_t{0}, (groups - 1) * bands}) {  // the last group has fewer channels
      BackwardPiece piece = piece_at(index);
      piece.sums = sums_at;
      const int64_t bytes = rounded(kernel.scratch_bytes(job, piece));
      scratch_bytes = bytes > scratch_bytes ? bytes : scratch_bytes;
    }
    scratch = allocate(workers, scratch_bytes);
  }
  Outcome outcome = parallel_for_with(workers, pieces, cost, [&](int64_t index, int worker) {
    BackwardPiece piece = piece_at(index);
    piece.scratch = at(scratch, worker, scratch_bytes);
    piece.sums = sum_groups > 0 ? sums_at + index / bands * sums_bytes : nullptr;
    kernel.run(job, piece);
  });
  if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  if (!grad_grid || in_place || job.points() == 0) return GW_OK;

  constexpr int64_t run = 4096;
  const int64_t runs = (job.points() + run - 1) / run;
  outcome = parallel_for(runs * job.batches, 4.0 * (double)job.points() * (double)job.batches,
                         [&](int64_t index, int) {
                           const int64_t n = index / runs, first = index % runs * run;
                           const int64_t last = first + run < job.points() ? first + run : job.points();
                           const void* from = sums_at + n * sum_groups * sums_bytes;
                           if (sum_size == 8)
                             combine(k, job, static_cast<const double*>(from), sum_groups, *grad_grid, n, first, last);
                           else
                             combine(k, job, static_cast<const float*>(from), sum_groups, *grad_grid, n, first, last);
                         });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

}  // namespace gw
