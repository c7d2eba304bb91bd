// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample of volumes and signals from checked arrays to pieces of work.
#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "sampling/gradient_checks.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/volume/bands.hpp"
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

void check_arguments(const gw_grid_sample_spec& spec, const gw_tensor& grad_output, const gw_tensor& x,
                     const gw_tensor& grid, const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  check_spec(spec);
  check_wanted(grad_x, grad_grid);
  check_volume_inputs(spec, x, grid);
  check_differentiable(x);
  check_tensor("grad_output", grad_output, false);
  check_volume_output(spec, "grad_output", grad_output, x, grid);
  check_gradients(grad_output, x, grid, grad_x, grad_grid);
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

// A store and a load whose addresses differ by nearly a multiple of 4096 wait for each other, as the eight taps of a
// point would where rows are 64 voxels of 64 bytes. So rows and planes of blocks, and the blocks of x and grad_x, are kept
// apart where they need be.
struct Steps {
  int64_t bytes[3], half;  // to the next voxel, row, plane; of a block of `planes`

  static bool near(int64_t bytes, int64_t room) {
    const int64_t low = ((bytes % 4096) + 4096) % 4096;
    return low < room || low > 4096 - room;
  }
  Steps(const VolumeJob& job, int64_t planes, int64_t width, int64_t value_bytes) {
    bytes[0] = width * value_bytes;
    bytes[1] = product(job.size[0], bytes[0]);
    const bool spread = job.size[0] * bytes[0] >= 2048;  // narrower rows would grow too much
    while (spread && near(bytes[1], 512)) bytes[1] += 64;
    bytes[2] = product(job.size[1], bytes[1]);
    const auto plane_near = [&] {
      return near(bytes[2], 512) || near(bytes[2] - bytes[1], 512) || near(bytes[2] + bytes[1], 512);
    };
    for (int k = 0; k < 64 && spread && plane_near(); ++k) bytes[2] += 64;
    half = (product(planes, bytes[2]) + 63) / 64 * 64;
    const auto half_near = [&] {
      for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
          if (near(half + z * bytes[2] + y * bytes[1], 192)) return true;
      return false;
    };
    for (int k = 0; k < 64 && half_near(); ++k) half += 64;
  }
};

// Everything that the pieces of a call share.
struct Gradient {
  const VolumeKernels& k = kernels().volume;
  VolumeBackwardJob job = {};
  bool direct = false, planar = false;          // memory is used as it lies: channels last, or planes
  bool wants_x = false, wants_grid = false;
  int64_t value_bytes = 4;                      // of the arithmetic type
  int64_t x_bytes = 0, scratch_bytes = 0;       // of a piece: x, and grad_x after it
  int64_t sums_bytes = 0;                       // of a unit

  // Planes of x that a band reads beyond its own: taps padded one by one stay within two planes of the padded cell.
  int64_t before() const { return job.spec.mode == GW_BICUBIC ? 2 : 0; }
  int64_t after() const { return job.spec.mode == GW_BICUBIC ? 2 : 1; }

  void run(const VolumeCut& cut, VolumeBackwardPiece piece, char* scratch) const {
    int64_t x0 = 0;
    if (planar) {
      const int64_t x_at = piece.n * job.x_n + piece.c0 * job.x_c, d_at = piece.n * job.gx_n + piece.c0 * job.gx_c;
      piece.x = wants_grid ? static_cast<const char*>(job.x) + x_at * value_bytes : nullptr;
      piece.d = wants_x ? static_cast<char*>(job.grad_x) + d_at * value_bytes : nullptr;
      if (wants_x) clear_planes(piece);
      return k.backward_planar[job.spec.mode][job.x_type](job, piece);
    }
    if (direct) {
      const int64_t at = piece.c0 * value_bytes;
      piece.step[0] = job.channels;
      piece.step[1] = job.size[0] * piece.step[0];
      piece.step[2] = job.size[1] * piece.step[1];
      piece.x = wants_grid ? static_cast<const char*>(job.x) + piece.n * job.x_n * value_bytes + at : nullptr;
      piece.d = wants_x ? static_cast<char*>(job.grad_x) + piece.n * job.gx_n * value_bytes + at : nullptr;
    } else {
      const Steps steps(job, cut.planes + 4, piece.width, value_bytes);
      for (int a = 0; a < 3; ++a) piece.step[a] = steps.bytes[a] / value_bytes;
      x0 = std::max<int64_t>(piece.z0 - before(), 0);
      piece.x = wants_grid ? scratch - x0 * steps.bytes[2] : nullptr;
      piece.d = wants_x ? scratch + x_bytes - (piece.z0 - 1) * steps.bytes[2] : nullptr;
      piece.halo = true;
    }
    if (wants_grid && !direct)
      k.pack_x[job.x_type](job, piece, x0 * job.size[1], std::min(piece.z1 + after(), job.size[2]) * job.size[1]);
    if (wants_x) clear(piece);
    k.backward[job.spec.mode][job.x_type](job, piece);
    if (wants_x && !direct) k.unpack_d[job.x_type](job, piece, piece.z0 * job.size[1], piece.z1 * job.size[1]);
  }

 private:
  void clear_planes(const VolumeBackwardPiece& piece) const {
    const bool whole = job.gx_s[1] == job.size[0] || job.size[1] == 1;
    const int64_t rows = whole ? 1 : job.size[1], length = job.size[0] * (whole ? job.size[1] : 1);
    for (int64_t c = 0; c < piece.c1 - piece.c0; ++c)
      for (int64_t z = piece.z0; z < piece.z1; ++z)
        for (int64_t y = 0; y < rows; ++y)
          std::memset(static_cast<char*>(piece.d) + (c * job.gx_c + z * job.gx_s[2] + y * job.gx_s[1]) * value_bytes, 0,
                      (size_t)(length * value_bytes));
  }
  void clear(const VolumeBackwardPiece& piece) const {
    const bool whole = !direct || piece.width == job.channels;
    for (int64_t row = piece.z0 * job.size[1]; row < piece.z1 * job.size[1]; ++row) {
      char* const to = static_cast<char*>(piece.d) +
                       (row / job.size[1] * piece.step[2] + row % job.size[1] * piece.step[1]) * value_bytes;
      if (whole) {
        std::memset(to, 0, (size_t)(job.size[0] * piece.width * value_bytes));
      } else {
        for (int64_t v = 0; v < job.size[0]; ++v)
          std::memset(to + v * piece.step[0] * value_bytes, 0, (size_t)(piece.width * value_bytes));
      }
    }
  }
};

constexpr int64_t most_scratch = int64_t{256} << 20;

// Writes points [first, last) of grad_grid: the sums of the blocks, added in order; none: zeros.
template <class T>
void write_grid(const VolumeBackwardJob& job, const T* sums, int64_t blocks, const gw_tensor& to, int64_t n, int64_t first,
                int64_t last) {
  const int axes = job.axes;
  const int64_t step = axes * job.points();
  if (to.dtype == (sizeof(T) == 8 ? GW_FLOAT64 : GW_FLOAT32) && is_contiguous(to)) {
    T* const out = static_cast<T*>(to.data) + n * step;
    if (blocks == 0) std::memset(out + axes * first, 0, sizeof(T) * (size_t)(axes * (last - first)));
    for (int64_t b = 0; b < blocks; ++b)
      for (int64_t i = axes * first; i < axes * last; ++i) out[i] = b == 0 ? sums[i] : out[i] + sums[b * step + i];
    return;
  }
  const int64_t width = to.shape[3], height = to.shape[2];
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

bool k_planar(const VolumeJob& job) {
  return kernels().volume.backward_planar[job.spec.mode][job.x_type] != nullptr;
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
  const auto fits = [&](int a) { return spec.mode == GW_NEAREST || job.size[a] >= 2; };
  const auto reaches = [&](const int64_t (&stride)[3]) {
    for (int a = 0; a < job.axes; ++a)
      if (stride[a] < 0 || stride[a] * job.size[a] >= int64_t{1} << 29) return false;
    return true;
  };
  g.planar = !job.wide && channels > 0 && k_planar(job) && (spec.mode == GW_NEAREST || channels <= 3) && fits(0) &&
             (job.axes == 1 || (fits(1) && fits(2))) && (!g.wants_grid || (job.x_s[0] == 1 && reaches(job.x_s))) &&
             (!g.wants_x || (job.gx_s[0] == 1 && reaches(job.gx_s))) && job.go_p == 1;
  if (g.planar) g.direct = false;
  const VolumeCut cut(job, g.direct, g.planar);
  if (!g.direct && !g.planar && (g.wants_x || g.wants_grid)) {
    const int64_t width = cut.channels > 8 && cut.channels < 16 ? 16 : cut.channels;
    const Steps steps(job, cut.planes + 4, width, g.value_bytes);
    g.x_bytes = g.wants_grid ? steps.half : 0;
    g.scratch_bytes = g.x_bytes + (g.wants_x ? steps.half : 0);
    if (product(job.size[2], steps.bytes[2]) / g.value_bytes >= int64_t{1} << 31) job.wide = 1;
  }
  g.sums_bytes = product(job.axes * job.points(), g.value_bytes);

  // Batches at a time, so that their sums stay small.
  const bool in_place = g.wants_grid && cut.blocks == 1 && type_size(gg.dtype) == g.value_bytes && is_contiguous(gg);
  const int64_t batch_bytes = g.wants_grid && !in_place ? product(cut.blocks, g.sums_bytes) : 0;
  const int64_t list_bytes = cut.bands > 1 && job.g_n != 0 ? 5 * job.points() : 0;
  const int64_t batches_at_once =
      std::clamp<int64_t>(most_scratch / 2 / std::max<int64_t>(batch_bytes + list_bytes, 1), 1, job.batches);
  const Memory own_sums = allocate(batches_at_once, batch_bytes);
  const double cost = value_cost(job) * (double)job.points() * (double)job.batches * (double)channels +
                      0.5 * (double)job.voxels() * (double)job.batches * (double)channels;
  std::vector<BandLists> lists;
  constexpr int64_t run = 4096;
  const int64_t runs = (job.points() + run - 1) / run;
  for (int64_t n = 0; n < job.batches; n += batches_at_once) {
    const int64_t here = std::min(batches_at_once, job.batches - n);
    const double share = cost * (double)here / (double)job.batches;
    char* const sums = in_place ? static_cast<char*>(gg.data) + n * g.sums_bytes : own_sums.get();
    if (g.wants_x || g.wants_grid) {
      if (cut.bands > 1 && (job.g_n != 0 || lists.empty())) {
        lists.clear();
        for (int64_t b = 0; b < (job.g_n != 0 ? here : 1); ++b) {
          lists.emplace_back(job, n + b, cut);
          if (lists.back().interrupted) return GW_ERROR_INTERRUPTED;
        }
      }
      const int64_t pieces = here * cut.blocks * cut.bands;
      const auto fitting = (int)std::clamp<int64_t>(most_scratch / std::max<int64_t>(g.scratch_bytes, 1), 1, INT32_MAX);
      const int workers = std::min(workers_for(pieces, share), fitting);
      const Memory memory = allocate(workers, g.scratch_bytes);
      const Outcome outcome = parallel_for_with(workers, pieces, share, [&](int64_t i, int worker) {
        const int64_t unit = i / cut.bands, band = i % cut.bands;
        VolumeBackwardPiece piece = cut.piece(job, n * cut.blocks + unit, band);
        if (cut.bands > 1) {
          const BandLists& list = lists[job.g_n != 0 ? (size_t)(unit / cut.blocks) : 0];
          piece.list = list.points.get() + list.start[(size_t)band];
          piece.points = list.start[(size_t)band + 1] - list.start[(size_t)band];
        }
        piece.sums = sums + unit * g.sums_bytes;
        g.run(cut, piece, memory.get() + worker * g.scratch_bytes);
      });
      if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
    }
    if (!grad_grid || in_place) continue;
    const int64_t blocks = g.wants_grid ? cut.blocks : 0;
    const Outcome outcome = parallel_for(runs * here, 6.0 * (double)job.points() * (double)here, [&](int64_t i, int) {
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
