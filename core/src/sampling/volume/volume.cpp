// SPDX-License-Identifier: Apache-2.0
#include "sampling/volume/volume.hpp"

#include <algorithm>

#include "cpu/kernels.hpp"
#include "memory.hpp"
#include "sampling/grid_sample.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

// Rough time of one output value, ns. Only the number of threads depends on it, never a result.
double value_cost(const VolumeJob& job) {
  static const double by_mode[] = {1.2, 0.5, 6};
  return by_mode[job.spec.mode];
}

// Pieces of up to this many tiles: coordinates and tables are each tile's own.
constexpr int64_t tiles_per_piece = 8;

struct Tiles {
  int64_t points, per_piece, pieces;

  explicit Tiles(const VolumeJob& job, int64_t others) : points(job.points()), per_piece(tiles_per_piece) {
    constexpr int64_t enough = 32;  // pieces
    const int64_t tiles = (points + tile_points - 1) / tile_points;
    while (per_piece > 1 && (tiles + per_piece - 1) / per_piece * others < enough) per_piece /= 2;
    pieces = (tiles + per_piece - 1) / per_piece;
  }
  template <class Run>
  void each_tile(int64_t index, VolumePiece piece, Run&& run) const {
    const int64_t begin = index * per_piece * tile_points, end = std::min(begin + per_piece * tile_points, points);
    for (piece.first = begin; piece.first < end; piece.first += tile_points) {
      piece.count = (int32_t)std::min<int64_t>(tile_points, end - piece.first);
      run(piece);
    }
  }
};

Outcome run_tiles(const VolumeJob& job, SampleVolume kernel, double cost) {
  const Tiles tiles(job, job.batches);
  return parallel_for(job.batches * tiles.pieces, cost, [&](int64_t i, int) {
    VolumePiece piece = {};
    piece.n = i / tiles.pieces;
    piece.c1 = job.channels;
    tiles.each_tile(i % tiles.pieces, piece, [&](const VolumePiece& tile) { kernel(job, tile); });
  });
}

// Channels packed into blocks. Below this much scratch; volumes of which one block does not fit are read as they lie.
constexpr int64_t most_scratch = int64_t{256} << 20;

struct Blocks {
  int64_t channels, count, bytes;  // of a block; blocks; of a block

  explicit Blocks(const VolumeJob& job)
      : channels(kernels().volume.block_channels(job.x_type, job.channels)),
        count((job.channels + channels - 1) / channels),
        bytes(std::min(job.voxels(), int64_t{1} << 40) * channels * (job.x_type == GW_FLOAT64 ? 8 : 4)) {}

  VolumePiece piece(const VolumeJob& job, int64_t n, int64_t block) const {
    VolumePiece p = {};
    p.n = n;
    p.c0 = block * channels;
    p.c1 = std::min(p.c0 + channels, job.channels);
    return p;
  }
};

// A piece is a block of channels of one volume: who packs it samples it.
Outcome run_whole_blocks(const VolumeJob& job, const Blocks& blocks, int workers, double cost) {
  const VolumeKernels& k = kernels().volume;
  const Scratch<char> memory = scratch<char>((size_t)(blocks.bytes * workers));
  const Tiles tiles(job, INT32_MAX);
  return parallel_for_with(workers, job.batches * blocks.count, cost, [&](int64_t i, int worker) {
    const VolumePiece piece = blocks.piece(job, i / blocks.count, i % blocks.count);
    char* packed = memory.get() + worker * blocks.bytes;
    k.pack_rows[job.x_type](job, piece.n, piece.c0, piece.c1, 0, job.size[1] * job.size[2], packed);
    for (int64_t t = 0; t < tiles.pieces; ++t)
      tiles.each_tile(t, piece, [&](const VolumePiece& tile) { k.packed[job.spec.mode][job.x_type](job, tile, packed); });
  });
}

// All threads pack some blocks of a volume and then sample them.
Outcome run_shared_blocks(const VolumeJob& job, const Blocks& blocks, double cost) {
  const VolumeKernels& k = kernels().volume;
  const int64_t at_once = std::clamp<int64_t>(most_scratch / blocks.bytes, 1, blocks.count);
  const Scratch<char> memory = scratch<char>((size_t)(blocks.bytes * at_once));
  const int64_t rows = job.size[1] * job.size[2];
  const int64_t rows_at_once = std::max<int64_t>(1, 2048 / job.size[0]), row_pieces = (rows + rows_at_once - 1) / rows_at_once;
  const double block_cost = cost / (double)(job.batches * blocks.count);
  for (int64_t n = 0; n < job.batches; ++n)
    for (int64_t b = 0; b < blocks.count; b += at_once) {
      const int64_t here = std::min(at_once, blocks.count - b);
      Outcome outcome = parallel_for(here * row_pieces, block_cost * (double)here * 0.2, [&](int64_t i, int) {
        const VolumePiece piece = blocks.piece(job, n, b + i / row_pieces);
        const int64_t row = i % row_pieces * rows_at_once;
        k.pack_rows[job.x_type](job, n, piece.c0, piece.c1, row, std::min(row + rows_at_once, rows),
                                memory.get() + i / row_pieces * blocks.bytes);
      });
      if (outcome == Outcome::interrupted) return outcome;
      const Tiles tiles(job, here);
      outcome = parallel_for(here * tiles.pieces, block_cost * (double)here, [&](int64_t i, int) {
        const VolumePiece piece = blocks.piece(job, n, b + i / tiles.pieces);
        const char* packed = memory.get() + i / tiles.pieces * blocks.bytes;
        tiles.each_tile(i % tiles.pieces, piece,
                        [&](const VolumePiece& tile) { k.packed[job.spec.mode][job.x_type](job, tile, packed); });
      });
      if (outcome == Outcome::interrupted) return outcome;
    }
  return Outcome::done;
}

// A point's value is the same in either way, so the number of threads may choose.
Outcome run_packed(const VolumeJob& job, const Blocks& blocks, double cost) {
  const int64_t pieces = job.batches * blocks.count;
  const int workers = workers_for(pieces, cost);
  if (pieces >= 2 * workers && blocks.bytes * workers <= most_scratch) return run_whole_blocks(job, blocks, workers, cost);
  return run_shared_blocks(job, blocks, cost);
}

// Packing reads and writes every voxel once; then a vector of channels costs what one channel of a point does otherwise.
bool worth_packing(const VolumeJob& job, const Blocks& blocks) {
  constexpr int64_t fewest_channels = 4;
  return job.channels >= fewest_channels && blocks.bytes <= most_scratch &&
         job.voxels() * blocks.channels < int64_t{1} << 29 && job.points() * 4 >= job.voxels();
}

bool has_dense_points(const gw_tensor& t, int64_t step) {  // canonical
  for (int a = 4; a >= 2; --a) {
    if (t.shape[a] != 1 && t.stride[a] != step) return false;
    step *= t.shape[a];
  }
  return true;
}

// The canonical strides of a contiguous array, channels second or last.
gw_tensor dense(const gw_tensor& t, bool channels_last, void* data) {
  gw_tensor r = t;
  r.data = data;
  int64_t stride = channels_last ? t.shape[1] : 1;
  for (int a = 4; a >= 2; --a) {
    r.stride[a] = stride;
    stride *= t.shape[a];
  }
  r.stride[1] = channels_last ? 1 : stride;
  r.stride[0] = channels_last ? stride : stride * t.shape[1];
  return r;
}

}  // namespace

gw_status sample_volume(const gw_grid_sample_spec& spec, const gw_tensor& x_given, const gw_tensor& grid_given,
                        const gw_tensor& out_given, const VolumeJob* plan) {
  check_spec(spec);
  check_volume_inputs(spec, x_given, grid_given);
  check_tensor("out", out_given, false);
  check_volume_output(spec, "out", out_given, x_given, grid_given);
  check_writable("out", out_given);
  check_no_overlap("out", out_given, "x", x_given);
  check_no_overlap("out", out_given, "grid", grid_given);
  if (element_count(out_given) == 0) return GW_OK;

  gw_tensor x = canonical_volume(spec, x_given);
  const gw_tensor grid = canonical_volume_grid(grid_given), out = canonical_volume(spec, out_given);
  VolumeJob job = describe_volume(spec, x, grid, x_given.rank - 2);
  const VolumeKernels& k = kernels().volume;
  const double cost = value_cost(job) * (double)job.points() * (double)job.batches * (double)job.channels;
  const bool double_coordinates = grid.dtype == GW_FLOAT64 && x.dtype != GW_FLOAT64;
  bool by_definition = double_coordinates || job.wide;
  // The memory decides which kernel runs, not the axis order.
  const bool interleaved = !by_definition && x.shape[1] > 1 && x.stride[1] == 1 && !(x.stride[4] == 1 && x.shape[4] > 1);
  const Blocks blocks(job);
  const bool packed = !by_definition && !interleaved && worth_packing(job, blocks);

  Scratch<char> x_copy, out_copy;
  const auto copy_of = [](const gw_tensor& t) { return scratch<char>((size_t)(element_count(t) * type_size(t.dtype))); };
  const bool rows = x.stride[4] == 1 || x.shape[4] == 1;
  if (!by_definition && !interleaved && !packed && !rows && job.voxels() / 16 > job.points()) {
    by_definition = true;  // a copy would take longer
  } else if (!by_definition && !interleaved && !packed && !rows) {
    x_copy = copy_of(x);
    const gw_tensor copy = dense(x, false, x_copy.get());
    copy_tensor(x, copy);
    x = copy;
    job = describe_volume(spec, x, grid, job.axes);
  }
  gw_tensor to = out;
  if (interleaved ? out.stride[1] != 1 || !has_dense_points(out, out.shape[1]) : !has_dense_points(out, 1)) {
    out_copy = copy_of(out);
    to = dense(out, interleaved, out_copy.get());
  }
  if (plan) {
    for (int a = 0; a < job.axes; ++a) job.planned[a] = plan->planned[a];
    job.planned_step = plan->planned_step;
    job.planned_double = plan->planned_double;
  }
  job.out = to.data;
  job.o_n = to.stride[0];
  job.o_c = to.stride[1];
  job.o_p = interleaved ? job.channels : 1;
  const Outcome outcome = packed ? run_packed(job, blocks, cost)
                                 : run_tiles(job, by_definition ? k.exact[job.x_type][double_coordinates]
                                                  : interleaved             ? k.interleaved[spec.mode][job.x_type]
                                                                            : k.planar[spec.mode][job.x_type],
                                             cost);
  if (outcome == Outcome::interrupted) return GW_ERROR_INTERRUPTED;
  if (out_copy) copy_tensor(to, out);
  return GW_OK;
}

}  // namespace gw
