// SPDX-License-Identifier: Apache-2.0
// One piece of the gradient: channels go by blocks of a few vectors; where an array does not lie that way in memory (its
// channels apart, of another type, or not whole vectors) its block is packed into scratch memory and unpacked at the end.
#pragma once

#include "sampling/backward_loops.hpp"
#include "sampling/backward_pack.hpp"

namespace gw {
namespace GW_ISA {

// What the piece works on, and where in scratch memory it is.
template <class S, class T, int L, int mode>
struct Layout {
  typedef Reach<mode> reach;
  bool wants_x, wants_grid;
  bool direct_x, direct_d, direct_g;
  int64_t width;              // channels of a block, rounded up to vectors
  int64_t x_low, x_high;      // rows of x that are read
  int64_t points_per_tile;
  int64_t row;                // elements from a row of scratch to the next
  int64_t x_bytes, d_bytes, g_bytes;

  Layout(const BackwardJob& job, const BackwardPiece& piece) {
    wants_x = job.grad_x != nullptr;
    wants_grid = piece.sums != nullptr && mode != GW_NEAREST;
    const int64_t channels = piece.c1 - piece.c0, whole = (channels + L - 1) / L * L;
    constexpr bool same = sizeof(S) == sizeof(T);
    const bool vectors = same && channels == whole;
    const int64_t reach_d = (job.gx_h < 0 ? -job.gx_h : job.gx_h) / 2 * job.height / (int64_t(1) << 24) +
                            (job.gx_w < 0 ? -job.gx_w : job.gx_w) / 2 * job.width / (int64_t(1) << 24);
    direct_x = vectors && job.x_c == 1 && wants_grid;
    direct_d = vectors && job.gx_c == 1 && reach_d < 32 && wants_x;
    if (wants_x && wants_grid && !(direct_x && direct_d && job.x_h == job.gx_h && job.x_w == job.gx_w))
      direct_x = direct_d = false;
    direct_g = vectors && job.go_c == 1 && job.go_h == job.go_w * job.out_width;
    x_low = max_of<int64_t>(piece.y0 - reach::halo_before, 0);
    x_high = min_of<int64_t>(piece.y1 + reach::halo_after, job.height);
    // Blocks of more channels compute coordinates less often, but two images of them should stay in a second-level
    // cache.
    const int64_t rows = piece.y1 - piece.y0 + reach::halo_before + reach::halo_after, pixels = rows * job.width;
    int64_t most = 4 * L;
    while (most > L && pixels * most * (int64_t)sizeof(T) > block_bytes) most /= 2;
    width = direct_x == wants_grid && direct_d == wants_x && direct_g ? min_of<int64_t>(whole, 32 * L) : min_of(whole, most);
    points_per_tile = !direct_g && width * (int64_t)sizeof(T) > 128 ? 128 : tile_points;
    row = spread(job.width * width * (int64_t)sizeof(T)) / (int64_t)sizeof(T);
    x_bytes = direct_x || !wants_grid ? 0 : spread(rounded(rows * row * (int64_t)sizeof(T)));
    d_bytes = direct_d || !wants_x ? 0 : rounded((piece.y1 - piece.y0) * row * (int64_t)sizeof(T));
    g_bytes = direct_g ? 0 : rounded(points_per_tile * width * (int64_t)sizeof(T));
  }
  static constexpr int64_t block_bytes = int64_t(1) << 19;
  // A store and a load whose addresses differ by nearly a multiple of 4096 wait for each other.
  static int64_t spread(int64_t bytes) {
    const int64_t low = bytes % 4096;
    return low < 1088 ? bytes - low + 1088 : low > 3008 ? bytes - low + 4096 + 1088 : bytes;
  }
  static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }
};

template <class S, class T>
inline void pack_points(const BackwardJob& job, const S* from, int64_t first, int64_t count, int64_t channels, T* to,
                        int64_t width) {
  int64_t row = first / job.out_width, column = first % job.out_width;
  if (job.go_h == job.go_w * job.out_width) {
    pack_run<S, T>(from + row * job.go_h + column * job.go_w, job.go_w, job.go_c, count, channels, to, width);
    return;
  }
  while (count > 0) {
    const int64_t run = min_of(count, job.out_width - column);
    pack_run<S, T>(from + row * job.go_h + column * job.go_w, job.go_w, job.go_c, run, channels, to, width);
    to += run * width;
    count -= run;
    column = 0;
    ++row;
  }
}

template <class T, int L, int mode>
inline void run_tile(const BackwardJob& job, const BackwardPiece& piece, const Blocks<T>& b, PointTile<T>& t,
                     const Sums<T>& to) {
  const bool wants_grid = to.to != nullptr, wants_x = b.d != nullptr;
  if (mode == GW_NEAREST) {
    if (wants_x) nearest_inside<T, L>(b, t);
  } else if (mode == GW_BILINEAR) {
    if (wants_x && wants_grid) bilinear_inside<T, L, true, true>(b, t, to);
    else if (wants_x) bilinear_inside<T, L, true, false>(b, t, to);
    else bilinear_inside<T, L, false, true>(b, t, to);
    bilinear_edges<T, L>(job, piece, b, t, to);
  } else {
    if (wants_x && wants_grid) bicubic_points<T, L, true, true>(job.spec, b, t, to);
    else if (wants_x) bicubic_points<T, L, true, false>(job.spec, b, t, to);
    else bicubic_points<T, L, false, true>(job.spec, b, t, to);
    bicubic_edges<T, L>(job, piece, b, t, to);
  }
}

template <class S, int L, int mode>
void backward_blocks(const BackwardJob& job, const BackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  const Layout<S, T, L, mode> layout(job, piece);
  char* scratch = static_cast<char*>(piece.scratch);
  T* const x_block = reinterpret_cast<T*>(scratch);
  T* const d_block = reinterpret_cast<T*>(scratch + layout.x_bytes);
  T* const g_block = reinterpret_cast<T*>(scratch + layout.x_bytes + layout.d_bytes);
  const bool wants_grid = layout.wants_grid, wants_x = layout.wants_x;
  PointTile<T> t;
  for (int64_t c = piece.c0; c < piece.c1; c += layout.width) {
    const int64_t channels = min_of(layout.width, piece.c1 - c);
    Blocks<T> b = {};
    b.vectors = (int32_t)((channels + L - 1) / L);
    const int64_t width = b.vectors * L;
    const S* x = static_cast<const S*>(job.x) + piece.n * job.x_n + c * job.x_c;
    const S* g = static_cast<const S*>(job.grad_output) + piece.n * job.go_n + c * job.go_c;
    S* d = static_cast<S*>(job.grad_x) + piece.n * job.gx_n + c * job.gx_c + piece.y0 * job.gx_h;
    b.pixel = layout.direct_x ? job.x_w : layout.direct_d ? job.gx_w : width;
    b.row = layout.direct_x ? job.x_h : layout.direct_d ? job.gx_h : layout.row;
    if (wants_grid && layout.direct_x) {
      b.x = reinterpret_cast<const T*>(x + piece.y0 * job.x_h);
    } else if (wants_grid) {
      b.x = x_block + (piece.y0 - layout.x_low) * b.row;
      for (int64_t y = layout.x_low; y < layout.x_high; ++y)
        pack_run<S, T>(x + y * job.x_h, job.x_w, job.x_c, job.width, channels, x_block + (y - layout.x_low) * b.row,
                       width);
    }
    if (wants_x) {
      b.d = layout.direct_d ? reinterpret_cast<T*>(d) : d_block;
      for (int64_t y = 0; y < piece.y1 - piece.y0; ++y) {
        if (b.pixel == width)
          memset(b.d + y * b.row, 0, sizeof(T) * (size_t)(width * job.width));
        else
          for (int64_t k = 0; k < job.width; ++k) memset(b.d + y * b.row + k * b.pixel, 0, sizeof(T) * (size_t)width);
      }
    }
    for (int64_t first = 0; first < job.points(); first += layout.points_per_tile) {
      const int32_t length = (int32_t)min_of<int64_t>(layout.points_per_tile, job.points() - first);
      const Piece tile = {piece.n, piece.n + 1, c, c + channels, first, 1, length};
      coordinates<T>(job, piece.n, tile, t.at, &t.slope);
      sort_points<T, mode>(job, piece, b, length, t);
      if (t.inside + t.edge == 0) continue;
      if (layout.direct_g) {
        b.g = reinterpret_cast<const T*>(g + first * job.go_w);
        b.g_point = job.go_w;
      } else {
        pack_points<S, T>(job, g, first, length, channels, g_block, width);
        b.g = g_block;
        b.g_point = width;
      }
      if (mode == GW_NEAREST && t.inside == 0) continue;
      const Sums<T> to = {wants_grid ? static_cast<T*>(piece.sums) + 2 * first : nullptr, c != piece.c0};
      run_tile<T, L, mode>(job, piece, b, t, to);
    }
    if (wants_x && !layout.direct_d)
      for (int64_t y = 0; y < piece.y1 - piece.y0; ++y)
        unpack_run<S, T>(d_block + y * b.row, width, job.width, channels, d + y * job.gx_h, job.gx_w, job.gx_c);
  }
}

template <class S, int L, int mode>
int64_t backward_blocks_bytes(const BackwardJob& job, const BackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  const Layout<S, T, L, mode> layout(job, piece);
  return layout.x_bytes + layout.d_bytes + layout.g_bytes;
}

}  // namespace GW_ISA
}  // namespace gw
