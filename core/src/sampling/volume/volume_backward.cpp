// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample of volumes and signals from checked arrays to pieces of work.
#include <algorithm>
#include <cstring>
#include <new>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/volume.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

typedef Scratch<char> Memory;

int64_t product(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) throw std::bad_alloc();
  return r;
}
Memory allocate(int64_t count, int64_t bytes) { return scratch<char>((size_t)product(count, bytes)); }

void check_like(const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model) {
  bool fits = t.rank == model.rank;
  for (int i = 0; fits && i < t.rank; ++i) fits = t.shape[i] == model.shape[i];
  if (!fits)
    fail(GW_ERROR_SHAPE, "%s must have the shape of %s, %s; got %s", name, model_name, shape_text(model).c_str(),
         shape_text(t).c_str());
  if (t.dtype != model.dtype)
    fail(GW_ERROR_DTYPE, "%s must have the dtype of %s, %s; got %s", name, model_name, type_name(model.dtype),
         type_name(t.dtype));
}

void check_arguments(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x,
                     const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  check_spec(spec);
  if (grad_x == nullptr && grad_grid == nullptr)
    fail(GW_ERROR_ARGUMENT, "grad_x and grad_grid are both null: ask for at least one gradient");
  check_volume_inputs(spec, x, grid);
  if (!is_float(x.dtype))
    fail(GW_ERROR_DTYPE, "x must be float16, bfloat16, float32 or float64 to have a gradient; got %s",
         type_name(x.dtype));
  check_tensor("grad_output", grad_output, false);
  check_volume_output(spec, "grad_output", grad_output, x, grid);
  const gw_tensor* const inputs[3] = {&grad_output, &x, &grid};
  static const char* const input_names[3] = {"grad_output", "x", "grid"};
  const auto check_output = [&](const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model) {
    check_tensor(name, t, false);
    check_like(name, t, model_name, model);
    check_writable(name, t);
    for (int i = 0; i < 3; ++i) check_no_overlap(name, t, input_names[i], *inputs[i]);
  };
  if (grad_x) check_output("grad_x", *grad_x, "x", x);
  if (grad_grid) check_output("grad_grid", *grad_grid, "grid", grid);
  if (grad_x && grad_grid) check_no_overlap("grad_x", *grad_x, "grad_grid", *grad_grid);
}

bool is_contiguous(const gw_tensor& t) {
  int64_t stride = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] != 1 && t.stride[i] != stride) return false;
    stride *= t.shape[i];
  }
  return true;
}

// Whether the voxels of a canonical volume lie `step` apart, rows and planes without gaps.
bool is_dense(const gw_tensor& t, int64_t step) {
  for (int a = 4; a >= 2; --a) {
    if (t.shape[a] != 1 && t.stride[a] != step) return false;
    step *= t.shape[a];
  }
  return true;
}

// Rough time of one value, ns. Only the number of threads depends on it, never a result.
double value_cost(const VolumeJob& job) {
  static const double by_mode[] = {2.5, 0.7, 20};
  return by_mode[job.spec.mode];
}

// How a call is cut: by shapes alone, so that bits do not depend on the number of threads. A unit is a block of channels
// of one volume. Where there are few units, planes of grad_x are shared out in bands; each looks at all points.
struct Cut {
  int64_t channels, blocks, units, bands, planes;  // channels of a block; planes of a band

  Cut(const VolumeJob& job, bool direct) {
    constexpr int64_t enough = 8, fewest_planes = 4, fewest_values = 1 << 16;
    const bool wide = job.x_type == GW_FLOAT64;
    const int64_t most = direct ? 64 : wide ? 8 : 16;
    channels = job.channels <= 4 ? 4 : job.channels <= 8 ? 8 : std::min(most, (job.channels + 3) / 4 * 4);
    blocks = (job.channels + channels - 1) / channels;
    units = job.batches * blocks;
    bands = 1;
    if (units < enough && job.points() * job.channels * job.batches >= fewest_values)
      bands = std::clamp<int64_t>(job.size[2] / fewest_planes, 1, (enough + units - 1) / std::max<int64_t>(units, 1));
    planes = (job.size[2] + bands - 1) / bands;
    bands = (job.size[2] + planes - 1) / planes;
  }
  VolumeBackwardPiece piece(const VolumeBackwardJob& job, int64_t unit) const {
    VolumeBackwardPiece p = {};
    p.n = unit / blocks;
    p.c0 = unit % blocks * channels;
    p.c1 = std::min(p.c0 + channels, job.channels);
    p.width = (p.c1 - p.c0 + 3) / 4 * 4;
    if (p.width > 8 && p.width < 16) p.width = 16;
    p.z1 = job.size[2];
    p.step = p.width;
    return p;
  }
};

// Everything about one call that its phases share.
struct Gradient {
  const VolumeKernels& k = kernels().volume;
  VolumeBackwardJob job = {};
  bool direct = false, wants_x = false, wants_grid = false;
  int64_t value_bytes = 4;       // of the arithmetic type
  int64_t half = 0, unit_bytes = 0;  // scratch of a unit: x, then grad_x
  int64_t sums_bytes = 0;        // of a unit
  int64_t rows = 0;

  // Scratch memory of a unit, and its sums.
  void bind(VolumeBackwardPiece& piece, char* scratch, char* sums) const {
    if (direct) {
      const int64_t at = piece.c0 * value_bytes;
      piece.step = job.channels;
      piece.x = wants_grid ? static_cast<const char*>(job.x) + piece.n * job.x_n * value_bytes + at : nullptr;
      piece.d = wants_x ? static_cast<char*>(job.grad_x) + piece.n * job.gx_n * value_bytes + at : nullptr;
    } else {
      piece.x = wants_grid ? scratch : nullptr;
      piece.d = wants_x ? scratch + (wants_grid ? half : 0) : nullptr;
    }
    piece.sums = sums;
  }
  void begin_rows(const VolumeBackwardPiece& piece, int64_t row0, int64_t row1) const {
    const int64_t row = job.size[0] * piece.step * value_bytes;
    if (wants_grid && !direct) k.pack_x[job.x_type](job, piece, row0, row1, const_cast<void*>(piece.x));
    if (!wants_x) return;
    char* d = static_cast<char*>(piece.d);
    if (!direct || piece.width == job.channels) {
      std::memset(d + row0 * row, 0, (size_t)((row1 - row0) * row));
    } else {
      const int64_t voxel = piece.step * value_bytes;
      for (int64_t v = row0 * job.size[0]; v < row1 * job.size[0]; ++v)
        std::memset(d + v * voxel, 0, (size_t)((piece.c1 - piece.c0) * value_bytes));
    }
  }
  void run_band(VolumeBackwardPiece piece, const Cut& cut, int64_t band) const {
    piece.z0 = band * cut.planes;
    piece.z1 = std::min(piece.z0 + cut.planes, job.size[2]);
    k.backward[job.spec.mode][job.x_type](job, piece);
  }
  void end_rows(const VolumeBackwardPiece& piece, int64_t row0, int64_t row1) const {
    if (wants_x && !direct) k.unpack_d[job.x_type](job, piece, row0, row1, piece.d);
  }
};

constexpr int64_t most_scratch = int64_t{256} << 20;

// A piece is a unit, from packing to unpacking.
Outcome run_whole_units(const Gradient& g, const Cut& cut, int64_t unit0, int64_t unit1, int workers, double cost, char* sums) {
  const Memory memory = allocate(workers, g.unit_bytes);
  return parallel_for_with(workers, unit1 - unit0, cost, [&](int64_t i, int worker) {
    VolumeBackwardPiece piece = cut.piece(g.job, unit0 + i);
    g.bind(piece, memory.get() + worker * g.unit_bytes, sums + i * g.sums_bytes);
    g.begin_rows(piece, 0, g.rows);
    for (int64_t band = 0; band < cut.bands; ++band) g.run_band(piece, cut, band);
    g.end_rows(piece, 0, g.rows);
  });
}

// All threads pack some units, then take their bands, then unpack them.
Outcome run_shared_units(const Gradient& g, const Cut& cut, int64_t unit0, int64_t unit1, double cost, char* sums) {
  const int64_t at_once = std::clamp<int64_t>(most_scratch / std::max<int64_t>(g.unit_bytes, 1), 1, unit1 - unit0);
  const Memory memory = allocate(at_once, g.unit_bytes);
  const int64_t rows_at_once = std::max<int64_t>(1, 2048 / g.job.size[0]);
  const int64_t row_pieces = (g.rows + rows_at_once - 1) / rows_at_once;
  for (int64_t first = unit0; first < unit1; first += at_once) {
    const int64_t here = std::min(at_once, unit1 - first);
    const double share = cost * (double)here / (double)(unit1 - unit0);
    const auto bound = [&](int64_t i) {
      VolumeBackwardPiece piece = cut.piece(g.job, first + i);
      g.bind(piece, memory.get() + i * g.unit_bytes, sums + (first - unit0 + i) * g.sums_bytes);
      return piece;
    };
    const auto each_row_piece = [&](auto&& body) {
      return parallel_for(here * row_pieces, share * 0.2, [&](int64_t i, int) {
        const int64_t row = i % row_pieces * rows_at_once;
        body(bound(i / row_pieces), row, std::min(row + rows_at_once, g.rows));
      });
    };
    Outcome outcome = each_row_piece([&](const VolumeBackwardPiece& p, int64_t a, int64_t b) { g.begin_rows(p, a, b); });
    if (outcome == Outcome::interrupted) return outcome;
    outcome = parallel_for(here * cut.bands, share,
                           [&](int64_t i, int) { g.run_band(bound(i / cut.bands), cut, i % cut.bands); });
    if (outcome == Outcome::interrupted) return outcome;
    if (g.wants_x && !g.direct)
      outcome = each_row_piece([&](const VolumeBackwardPiece& p, int64_t a, int64_t b) { g.end_rows(p, a, b); });
    if (outcome == Outcome::interrupted) return outcome;
  }
  return Outcome::done;
}

// Writes points [first, last) of grad_grid: the sums of the blocks, added in order; none: zeros.
template <class T>
void write_grid(const VolumeBackwardJob& job, const T* sums, int64_t blocks, const gw_tensor& to, int64_t n, int64_t first,
                int64_t last) {
  const int axes = job.axes;
  const int64_t step = axes * job.points(), width = to.shape[3], height = to.shape[2];
  for (int64_t p = first; p < last; ++p) {
    const int64_t at = n * to.stride[0] + p / width / height * to.stride[1] + p / width % height * to.stride[2] +
                       p % width * to.stride[3];
    for (int a = 0; a < axes; ++a) {
      T total = T(0);
      for (int64_t b = 0; b < blocks; ++b) total += sums[b * step + axes * p + a];
      const int64_t offset = at + a * to.stride[4];
      switch (to.dtype) {
        case GW_FLOAT32: static_cast<float*>(to.data)[offset] = (float)total; break;
        case GW_FLOAT64: static_cast<double*>(to.data)[offset] = (double)total; break;
        default: {
          const float v = (float)total;
          kernels().narrow(to.dtype, &v, static_cast<uint16_t*>(to.data) + offset, 1);
        }
      }
    }
  }
}

}  // namespace

gw_status sample_volume_backward(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x_given,
                                 const gw_tensor& grid_given, const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  check_arguments(spec, grad_output, x_given, grid_given, grad_x, grad_grid);
  const gw_tensor x = canonical_volume(spec, x_given), grid = canonical_volume_grid(grid_given);
  gw_tensor go = canonical_volume(spec, grad_output);
  const gw_tensor gx = grad_x ? canonical_volume(spec, *grad_x) : gw_tensor{};
  const gw_tensor gg = grad_grid ? canonical_volume_grid(*grad_grid) : gw_tensor{};
  if (x.shape[0] == 0) return GW_OK;

  Gradient g;
  static_cast<VolumeJob&>(g.job) = describe_volume(spec, x, grid, x_given.rank - 2);
  VolumeBackwardJob& job = g.job;
  g.wants_x = grad_x != nullptr && job.channels > 0;
  g.wants_grid = grad_grid != nullptr && spec.mode != GW_NEAREST && job.channels > 0 && job.points() > 0;
  g.value_bytes = job.x_type == GW_FLOAT64 ? 8 : 4;
  if (job.voxels() >= int64_t{1} << 31) job.wide = 1;

  Memory go_copy;  // points in one run, planes where it has to be copied
  const int64_t point = go.shape[4] > 1 ? go.stride[4] : go.shape[3] > 1 ? go.stride[3] : go.stride[2];
  job.go_p = job.points() > 1 ? point : 1;
  if (!is_dense(go, job.go_p)) {
    go_copy = allocate(element_count(go), type_size(go.dtype));
    const gw_tensor copy = contiguous(go, go_copy.get());
    copy_tensor(go, copy);
    go = copy;
    job.go_p = 1;
  }
  job.grad_output = go.data;
  job.go_n = go.stride[0];
  job.go_c = go.stride[1];
  job.grad_x = gx.data;
  job.gx_n = gx.stride[0];
  job.gx_c = gx.stride[1];
  for (int a = 0; a < 3; ++a) job.gx_s[a] = gx.stride[4 - a];

  // Channels-last arrays of the arithmetic type and whole vectors are read and added to as they lie.
  const int64_t channels = job.channels;
  g.direct = type_size(x.dtype) == g.value_bytes && channels % 4 == 0 && (channels <= 8 || channels % 16 == 0) &&
             (!g.wants_grid || (x.stride[1] == 1 && is_dense(x, channels))) &&
             (!g.wants_x || (gx.stride[1] == 1 && is_dense(gx, channels)));
  const Cut cut(job, g.direct);
  g.rows = job.size[1] * job.size[2];
  if (!g.direct && (g.wants_x || g.wants_grid)) {
    const int64_t bytes = product(product(g.rows, job.size[0]), (cut.channels > 8 ? 16 : cut.channels) * g.value_bytes);
    g.half = (bytes + 4095) / 4096 * 4096 + 1088;  // a store and a load nearly a multiple of 4096 apart wait for each other
    g.unit_bytes = (g.wants_x && g.wants_grid ? 2 : 1) * g.half;
  }
  g.sums_bytes = product(job.axes * job.points(), g.value_bytes);

  // Batches at a time, so that their sums stay small.
  const bool in_place = g.wants_grid && cut.blocks == 1 && type_size(gg.dtype) == g.value_bytes && is_contiguous(gg);
  const int64_t batch_bytes = g.wants_grid && !in_place ? product(cut.blocks, g.sums_bytes) : 0;
  const int64_t batches_at_once =
      std::clamp<int64_t>(most_scratch / 2 / std::max<int64_t>(batch_bytes, 1), 1, job.batches);
  const Memory own_sums = allocate(batches_at_once, batch_bytes);
  const double cost = value_cost(job) * (double)job.points() * (double)job.batches * (double)channels +
                      0.5 * (double)job.voxels() * (double)job.batches * (double)channels;
  constexpr int64_t run = 4096;
  const int64_t runs = (job.points() + run - 1) / run;
  for (int64_t n = 0; n < job.batches; n += batches_at_once) {
    const int64_t here = std::min(batches_at_once, job.batches - n);
    const double share = cost * (double)here / (double)job.batches;
    char* const sums = in_place ? static_cast<char*>(gg.data) + n * g.sums_bytes : own_sums.get();
    Outcome outcome = Outcome::done;
    if (g.wants_x || g.wants_grid) {
      const int64_t unit0 = n * cut.blocks, unit1 = (n + here) * cut.blocks;
      const int workers = workers_for(unit1 - unit0, share);
      if ((workers == 1 && workers_for(INT32_MAX, share) == 1) ||
          (unit1 - unit0 >= 2 * workers && workers * g.unit_bytes <= most_scratch))
        outcome = run_whole_units(g, cut, unit0, unit1, workers, share, sums);
      else
        outcome = run_shared_units(g, cut, unit0, unit1, share, sums);
    }
    if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
    if (!grad_grid || in_place) continue;
    const int64_t blocks = g.wants_grid ? cut.blocks : 0;
    outcome = parallel_for(runs * here, 6.0 * (double)job.points() * (double)here, [&](int64_t i, int) {
      const int64_t b = i / runs, first = i % runs * run, end = std::min(first + run, job.points());
      const char* from = own_sums.get() + b * batch_bytes;
      if (g.value_bytes == 8) write_grid(job, reinterpret_cast<const double*>(from), blocks, gg, n + b, first, end);
      else write_grid(job, reinterpret_cast<const float*>(from), blocks, gg, n + b, first, end);
    });
    if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  }
  return GW_OK;
}

}  // namespace gw
