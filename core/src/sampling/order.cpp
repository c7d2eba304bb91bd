// SPDX-License-Identifier: Apache-2.0
#include "sampling/order.hpp"

#include <cstdint>

#include "cpu/kernels.hpp"
#include "memory.hpp"
#include "tensor.hpp"

namespace gw {
namespace {

// With few channels, a plane that stays in the first-level cache is read fastest as it lies. With a whole vector of them
// packing pays even there: 256 planes of 32 x 88 at 200 x 200 random points took 50 ms against 74 ms.
constexpr int64_t cached_plane_bytes = 32 << 10;
constexpr int64_t fewest_channels = 3;

// Four channels of a pixel share a line, so a bilinear point reads 2.5 lines instead of two per channel; but a random
// line of a 16 MB image cost 2.7 ns where one of a 4 MB plane cost 1.2 (Zen 4): 3 channels of 720 x 1280 took a
// quarter longer packed than as planes tile by tile, and a fifth less than those one plane after the other (63 against
// 78 ms in turns), although that computes coordinates three times. nearest, with one line instead of three, is best
// packed (33 against 45 ms).
constexpr int64_t largest_four_channel_image = 4 << 20;
constexpr int64_t largest_cached_plane = 8 << 20;

}  // namespace

Order order_of(const SamplePlan& p, const SampleJob& job) {
  const Kernels& k = kernels();
  if (job.spec.layout != GW_NCHW || k.forward_packed[job.spec.mode][job.x_type] == nullptr ||
      p.kernel != k.forward[job.spec.mode][job.x_type][GW_NCHW])
    return Order::tiles;
  const int64_t plane = job.height * job.width;
  const int block = k.block_channels(job.x_type, job.channels);
  const bool few = block * type_size(job.x_type == GW_FLOAT64 ? GW_FLOAT64 : GW_FLOAT32) <= 16;
  if (block == 0 || job.channels < fewest_channels || job.height < 2 || job.width < 2 || (few && plane * 4 <= cached_plane_bytes) ||
      job.points() * 2 < plane)
    return Order::tiles;
  // Sixteen taps in vectors of channels cost half of sixteen taps of one plane, packing included (64 planes of 128 x 128:
  // 1.4 against 2.0 ms).
  if (job.spec.mode == GW_BICUBIC) return few || plane * 16 > INT32_MAX ? Order::tiles : Order::packed;
  // Sampled often enough, packing costs nothing even where windows would do (256 planes of 32 x 88 at 200 x 200 smooth
  // points: nearest 20 against 29 ms, bilinear even). bfloat16 pays sooner: its windows are widened row by row (64 planes
  // of 128 x 128: 0.57 against 0.70 ms).
  if (!few && job.points() >= (job.x_type == GW_BFLOAT16 ? 1 : 4) * plane) return Order::packed;
  constexpr int64_t probes = 8;
  int64_t scattered = 0, blocks = 0;
  for (int64_t i = 0; i < probes; ++i) {
    Piece piece = {};
    piece.n0 = i % job.batches;
    const int64_t row = p.tiling.rows * (2 * i + 1) / (2 * probes);
    const Tiling& tiling = p.tiling;
    piece.rows = 1;
    piece.first = tiling.flat ? row * tile_points : row * job.out_width + i % tiling.columns * tiling.tile_length;
    piece.length = (int32_t)std::min(tiling.tile_length, tiling.flat ? job.points() - piece.first
                                                               : job.out_width - i % tiling.columns * tiling.tile_length);
    int here;
    scattered += k.scattered_blocks(job, piece, &here);
    blocks += here;
  }
  if (scattered * 2 <= blocks) return Order::tiles;
  if (job.spec.mode == GW_BILINEAR && few && plane * 16 > largest_four_channel_image)
    return plane * 4 <= largest_cached_plane ? Order::planes : Order::tiles;
  return Order::packed;
}

Outcome run_planes(const SamplePlan& p, const SampleJob& job) {
  const int64_t tiles = p.tiling.pieces();
  return parallel_for(job.batches * job.channels * tiles, p.cost_ns, [&](int64_t i, int) {
    Piece piece = {};
    piece.n0 = i / tiles / job.channels;
    piece.n1 = piece.n0 + 1;
    piece.c0 = i / tiles % job.channels;
    piece.c1 = piece.c0 + 1;
    p.tiling.each_tile(job, i % tiles, piece, [&](const Piece& tile) { p.kernel(job, tile); });
  });
}

namespace {

// Channels packed into blocks of this many.
struct Blocks {
  int64_t channels, count, plane, bytes;  // channels of a block, blocks, pixels, bytes of a block

  explicit Blocks(const SampleJob& job)
      : channels(kernels().block_channels(job.x_type, job.channels)),
        count((job.channels + channels - 1) / channels),
        plane(job.height * job.width),
        bytes(plane * channels * (job.x_type == GW_FLOAT64 ? 8 : 4)) {}

  Piece piece(const SampleJob& job, int64_t n, int64_t block) const {
    Piece p = {};
    p.n0 = n;
    p.n1 = n + 1;
    p.c0 = block * channels;
    p.c1 = std::min(p.c0 + channels, job.channels);
    return p;
  }
};

void sample_tiles(const SamplePlan& p, const SampleJob& job, const Piece& piece, int64_t index, const void* packed) {
  const SamplePackedPiece kernel = kernels().forward_packed[job.spec.mode][job.x_type];
  p.tiling.each_tile(job, index, piece, [&](const Piece& tile) { kernel(job, tile, packed); });
}

// A piece is a block of channels of one image: who packs it samples it, from its own cache.
Outcome run_whole_blocks(const SamplePlan& p, const SampleJob& job, const Blocks& blocks, int workers) {
  const Scratch<char> memory = scratch<char>((size_t)(blocks.bytes * workers));
  return parallel_for_with(workers, job.batches * blocks.count, p.cost_ns, [&](int64_t i, int worker) {
    const Piece piece = blocks.piece(job, i / blocks.count, i % blocks.count);
    char* packed = memory.get() + worker * blocks.bytes;
    kernels().pack_rows[job.x_type](job, piece.n0, piece.c0, piece.c1, 0, job.height, packed);
    for (int64_t t = 0; t < p.tiling.pieces(); ++t) sample_tiles(p, job, piece, t, packed);
  });
}

// All threads pack an image and then sample it, block by block so that one block's image stays cached.
Outcome run_shared_blocks(const SamplePlan& p, const SampleJob& job, const Blocks& blocks) {
  const Scratch<char> packed = scratch<char>((size_t)(blocks.bytes * blocks.count));
  constexpr int64_t rows_at_once = 16;
  const int64_t row_pieces = (job.height + rows_at_once - 1) / rows_at_once, tiles = p.tiling.pieces();
  const double image_cost = p.cost_ns / (double)job.batches;
  for (int64_t n = 0; n < job.batches; ++n) {
    Outcome outcome = parallel_for(row_pieces, image_cost * 0.2, [&](int64_t i, int) {
      kernels().pack_rows[job.x_type](job, n, 0, job.channels, i * rows_at_once,
                                      std::min((i + 1) * rows_at_once, job.height), packed.get());
    });
    if (outcome == Outcome::interrupted) return outcome;
    outcome = parallel_for(blocks.count * tiles, image_cost, [&](int64_t i, int) {
      sample_tiles(p, job, blocks.piece(job, n, i / tiles), i % tiles, packed.get() + i / tiles * blocks.bytes);
    });
    if (outcome == Outcome::interrupted) return outcome;
  }
  return Outcome::done;
}

// Up to here a block is short work, and fits with others in a last-level cache.
constexpr int64_t whole_block_bytes = 4 << 20;

}  // namespace

// A point's value is the same in either way, so the number of threads may choose: sharing a block costs them more than
// it brings (64 planes of 128 x 128, random: 0.92 ms with one thread, 1.24 with two).
Outcome run_packed(const SamplePlan& p, const SampleJob& job) {
  const Blocks blocks(job);
  const int workers = workers_for(job.batches * blocks.count, p.cost_ns);
  if (blocks.bytes <= whole_block_bytes && job.batches * blocks.count >= 2 * workers)
    return run_whole_blocks(p, job, blocks, workers);
  return run_shared_blocks(p, job, blocks);
}

}  // namespace gw
