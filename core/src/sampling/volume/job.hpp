// SPDX-License-Identifier: Apache-2.0
// What one call on volumes (three spatial axes) or signals (one) asks of the kernels: plain data, checked already.
// Compiled into every translation unit, so nothing in it depends on an instruction set.
#pragma once

#include "sampling/job.hpp"

namespace gw {

// Axes are counted as a grid point has them: 0 is x (along W), 1 is y (H), 2 is z (D). A signal is a volume of height and
// depth 1 whose points have one coordinate. Strides count elements.
struct VolumeJob {
  Spec spec;
  const void* x;
  const void* grid;
  int32_t x_type, grid_type;              // gw_dtype
  int32_t axes;                           // coordinates of a point: 1 or 3
  int32_t wide;                           // an offset inside one volume may pass 2^31
  int64_t batches, channels;
  int64_t size[3];                        // of x
  int64_t x_n, x_c, x_s[3];
  int64_t out_size[3];                    // of the grid; axes that lie one behind the other may have been joined
  int64_t g_n, g_s[3], g_k;

  // forward: the points of out are o_p apart, in the grid's order
  void* out;
  int64_t o_n, o_c, o_p;

  // Of a plan, or null: along each axis as SampleJob's.
  const void* planned[3];
  int64_t planned_step;
  int32_t planned_double;

  int64_t points() const { return out_size[0] * out_size[1] * out_size[2]; }
  int64_t voxels() const { return size[0] * size[1] * size[2]; }
};

// One tile of points, for channels [c0, c1) of volume n.
struct VolumePiece {
  int64_t n, c0, c1;
  int64_t first;   // point
  int32_t count;   // at most tile_points
};

// The gradient.
struct VolumeBackwardJob : VolumeJob {
  const void* grad_output;                // of x's type; points go_p apart, in the grid's order
  int64_t go_n, go_c, go_p;
  void* grad_x;                           // of x's type
  int64_t gx_n, gx_c, gx_s[3];
};

// One piece owns its destinations: planes [z0, z1) of channels [c0, c1) of grad_x of volume n. A point belongs to the
// piece whose planes hold its (padded) cell; its share of the grid's gradient, summed over the piece's channels, goes to
// sums[axes * point + axis].
struct VolumeBackwardPiece {
  int64_t n, c0, c1, z0, z1;
  int64_t width;    // channels of the block: c1 - c0 rounded up to whole vectors
  int64_t step[3];  // to the next voxel along x, y, z, in the blocks of x and d
  const void* x;    // the block of x, in the arithmetic type; null: the grid's gradient is not wanted
  void* d;          // that of grad_x, to be added to; null: not wanted
  bool halo;        // d has room for planes z0 - 1 and z1, whose contents do not matter
  void* sums;       // in the arithmetic type
  const int32_t* list;  // the points that may have a part in the piece; null: all. Two tiles more may be read
  int64_t points;       // how many
};

// Bands [first, last] of planes that a point may have a part in.
struct BandRange {
  uint16_t first, last;
  bool operator==(const BandRange& other) const { return first == other.first && last == other.last; }
};

typedef void (*SampleVolume)(const VolumeJob&, const VolumePiece&);
typedef void (*SamplePackedVolume)(const VolumeJob&, const VolumePiece&, const void* packed);

constexpr int volume_types = 7, volume_modes = 3;  // as type_count, mode_count

struct VolumeKernels {
  SampleVolume exact[volume_types][2];                   // [type of x][coordinates in double]: any strides and sizes
  SampleVolume interleaved[volume_modes][volume_types];  // x_c = o_c = 1, o_p = channels
  SampleVolume planar[volume_modes][volume_types];       // x_s[0] = o_p = 1; null where there is no such kernel

  // Channels packed into blocks: [block][voxel][channel], the last block filled up with zeros.
  int (*block_channels)(int32_t type, int64_t channels);
  void (*pack_rows[volume_types])(const VolumeJob&, int64_t n, int64_t c0, int64_t c1, int64_t row0, int64_t row1, void* to);
  SamplePackedVolume packed[volume_modes][volume_types]; // o_p = 1; channels of one block

  // The gradient; floats only. Rows as pack_rows takes them, of x into blocks and of blocks into grad_x; `x` and `d` of
  // the piece stand for plane 0.
  void (*backward[volume_modes][volume_types])(const VolumeBackwardJob&, const VolumeBackwardPiece&);
  // The same of planes as they lie (x_s[0] = gx_s[0] = go_p = 1), two samples or more along every axis; null: there is none.
  void (*backward_planar[volume_modes][volume_types])(const VolumeBackwardJob&, const VolumeBackwardPiece&);
  void (*pack_x[volume_types])(const VolumeBackwardJob&, const VolumeBackwardPiece&, int64_t row0, int64_t row1);
  // Those of a tile; band_of[plane]. [arithmetic in double]
  void (*band_ranges[2])(const VolumeJob&, int64_t n, int64_t first, int32_t count, const uint16_t* band_of, BandRange*);
  void (*unpack_d[volume_types])(const VolumeBackwardJob&, const VolumeBackwardPiece&, int64_t row0, int64_t row1);
};

}  // namespace gw
