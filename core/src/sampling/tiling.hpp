// SPDX-License-Identifier: Apache-2.0
// How an output image is cut into tiles and pieces of work: by shapes alone, so that bits do not depend on threads.
#pragma once

#include <algorithm>

#include "sampling/job.hpp"

namespace gw {

// Narrow outputs are cut along their flattened points. Wide ones are cut into columns of at most one tile, and a piece
// is a block of rows of one column, so that a rotated grid reads a compact part of the image.
struct Tiling {
  int64_t tile_length, columns, rows, rows_per_piece, row_blocks;
  bool flat;

  static constexpr int64_t most_rows = 16;

  explicit Tiling(const SampleJob& job) {
    const int64_t width = job.out_width;
    flat = width <= tile_points;
    if (flat) {
      tile_length = tile_points;
      columns = 1;
      rows = (job.points() + tile_points - 1) / tile_points;
    } else {
      const int64_t wanted = (width + tile_points - 1) / tile_points;
      tile_length = ((width + wanted - 1) / wanted + 15) / 16 * 16;
      columns = (width + tile_length - 1) / tile_length;
      rows = job.out_height;
    }
    set_rows(most_rows);
  }
  Tiling() = default;

  void set_rows(int64_t per_piece) {
    rows_per_piece = per_piece;
    row_blocks = (rows + per_piece - 1) / per_piece;
  }
  int64_t pieces() const { return columns * row_blocks; }

  // Calls run(piece) for each tile of piece `index`; images and channels are the caller's to fill.
  template <class Run>
  void each_tile(const SampleJob& job, int64_t index, Piece piece, Run&& run) const {
    const int64_t column = index % columns, first_row = index / columns * rows_per_piece;
    piece.rows = 1;
    for (int64_t row = first_row; row < std::min(first_row + rows_per_piece, rows); ++row) {
      const int64_t start = flat ? row * tile_points : column * tile_length;
      piece.first = flat ? start : row * job.out_width + start;
      piece.length = (int32_t)std::min(tile_length, (flat ? job.points() : job.out_width) - start);
      run(piece);
    }
  }
};

}  // namespace gw
