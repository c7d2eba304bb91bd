// SPDX-License-Identifier: Apache-2.0
// A tile of points sorted for the gradient of volumes: those whose taps all lie inside the volume and the piece's planes,
// with voxel and weights, and the rest, which are done tap by tap.
#pragma once

#include "sampling/volume/taps.hpp"
#include "simd/lanes.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct VolumePoints {
  static constexpr int room = tile_points + 64;
  VolumeCoordinates<T> at, slope;
  int64_t id[tile_points];                      // of the tile's points, among all
  int inside, below, edge;                      // how many; `below` of those inside begin in plane z0 - 1
  int32_t point[room], offset[room];            // of those inside: which, and where its lowest voxel is
  alignas(64) T w[3][room];                     // p - floor(p)
  int32_t edge_point[tile_points];

  // Points [first, first + count) of the piece's.
  void load(const VolumeJob& job, const VolumeBackwardPiece& piece, int64_t first, int count) {
    if (piece.list) {
      for (int i = 0; i < count; ++i) id[i] = piece.list[first + i];
      if (id[count - 1] - id[0] == count - 1)
        volume_coordinates<T>(job, piece.n, id[0], count, at, &slope);
      else
        listed_coordinates<T>(job, piece.n, piece.list + first, count, at, &slope);
    } else {
      for (int i = 0; i < count; ++i) id[i] = first + i;
      volume_coordinates<T>(job, piece.n, first, count, at, &slope);
    }
  }
};

// The plane that owns a point at z: of its cell, padded or at least brought inside.
template <class T>
GW_INLINE int64_t owner_plane(const VolumeJob& job, T z) {
  const T f = floor_of(z);
  if (job.spec.mode == GW_BICUBIC) {
    const int64_t plane = cubic_tap<T>(job.spec, f, job.size[2]);
    if (plane >= 0) return plane;
  }
  return f < T(0) ? 0 : f > (T)(job.size[2] - 1) ? job.size[2] - 1 : min_of((int64_t)f, job.size[2] - 1);
}

// Bands that points have a part in: as their owner, or by a tap. May name one too many.
template <class T>
inline void band_ranges(const VolumeJob& job, int64_t n, int64_t first, int32_t count, const uint16_t* band_of, BandRange* to) {
  typedef simd<T> s;
  typedef typename s::V V;
  VolumeCoordinates<T> at;
  volume_axes<T>(job, n, first, count, 2, 3, at);
  const int64_t last = job.size[2] - 1;
  if (job.spec.mode != GW_BICUBIC && !job.wide) {
    alignas(64) int32_t plane[tile_points];
    for (int i = 0; i < count; i += s::lanes)
      s::store_index(plane + i, s::to_index(s::min(s::max(s::floor(s::load(at.p[2] + i)), V{}), s::splat((T)last))));
    const int32_t reach = job.spec.mode == GW_BILINEAR ? 1 : 0;
    for (int i = 0; i < count; ++i) to[i] = {band_of[plane[i]], band_of[min_of<int32_t>(plane[i] + reach, (int32_t)last)]};
    return;
  }
  for (int i = 0; i < count; ++i) {
    int64_t low = owner_plane<T>(job, at.p[2][i]), high = low;
    const AxisTaps<T> t = axis_taps<T>(job.spec, at.p[2][i], job.size[2]);
    for (int k = 0; k < t.count; ++k) {
      low = min_of(low, t.index[k]);
      high = max_of(high, t.index[k]);
    }
    to[i] = {band_of[low], band_of[high]};
  }
}

// No tap of these points counts: their gradient is 0.
template <class T>
GW_INLINE void clear_sums(const VolumeJob& job, const VolumeBackwardPiece& piece, const VolumePoints<T>& t, int p) {
  if (piece.x == nullptr) return;
  if (job.axes == 3) {
    const int64_t plane = owner_plane<T>(job, t.at.p[2][p]);
    if (plane < piece.z0 || plane >= piece.z1) return;
  }
  for (int a = 0; a < job.axes; ++a) static_cast<T*>(piece.sums)[job.axes * t.id[p] + a] = T(0);
}

template <class T, int mode, int axes>
inline void sort_volume_points(const VolumeJob& job, const VolumeBackwardPiece& piece, int count, VolumePoints<T>& t) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  typedef typename s::index index;
  constexpr T after = mode == GW_BILINEAR ? T(1) : T(0);  // taps reach this far from the cell
  t.inside = t.below = t.edge = 0;
  if (mode == GW_BICUBIC || job.wide) {
    for (int i = 0; i < count; ++i) t.edge_point[t.edge++] = i;
    return;
  }
  // Where grad_x has a halo, points between bands are like any other; those of the band below come last, since their
  // share of the grid's gradient is not ours.
  const bool halo = mode == GW_BILINEAR && axes == 3 && piece.halo;
  T low[3] = {}, high[3], first_plane = T(0);
  for (int a = 0; a < 3; ++a) high[a] = (T)(job.size[a] - 1) - after;
  if (axes == 3) {
    first_plane = (T)piece.z0;
    low[2] = halo && piece.z0 > 0 ? first_plane - T(1) : first_plane;
    high[2] = (T)(piece.z1 - 1) - (halo && piece.z1 < job.size[2] ? T(0) : after);
  }
  int32_t below[tile_points];
  int inside = 0, others = 0;
  alignas(64) T weight[3][s::lanes];
  for (int i = 0; i < count; i += s::lanes) {
    const int length = min_of<int>(s::lanes, count - i);
    I in = ~I{}, offset = I{}, gone = I{}, ours = ~I{};
    V w[axes];
    for (int a = axes - 1; a >= 0; --a) {
      const V p = s::load(t.at.p[a] + i), f = mode == GW_NEAREST ? p : s::floor(p);
      const I here = (f >= s::splat(low[a])) & (f <= s::splat(high[a]));
      in &= here;
      gone |= (f < s::splat(-after)) | (f > s::splat((T)(job.size[a] - 1)));
      if (a == 2 && halo) ours = f >= s::splat(first_plane);
      offset += (s::to_index(f) & here) * s::splat_index((index)piece.step[a]);
      w[a] = p - f;
    }
    if (length == s::lanes && !any(~(in & ours))) {
      for (int k = 0; k < s::lanes; ++k) t.point[inside + k] = i + k;
      s::store_index(t.offset + inside, offset);
      for (int a = 0; a < axes; ++a) s::store(t.w[a] + inside, w[a]);
      inside += s::lanes;
      continue;
    }
    for (int a = 0; a < axes; ++a) s::store(weight[a], w[a]);
    for (int k = 0; k < length; ++k) {
      if (in[k] && ours[k]) {
        t.point[inside] = i + k;
        t.offset[inside] = (int32_t)offset[k];
        for (int a = 0; a < axes; ++a) t.w[a][inside] = weight[a][k];
        ++inside;
      } else if (in[k]) {
        below[others++] = i + k;
      } else if (gone[k]) {
        clear_sums(job, piece, t, i + k);
      } else {
        t.edge_point[t.edge++] = i + k;
      }
    }
  }
  t.below = others;
  for (int k = 0; k < others; ++k) {
    const int p = below[k];
    int64_t offset = 0;
    for (int a = 0; a < axes; ++a) {
      const T f = floor_of(t.at.p[a][p]);
      t.w[a][inside] = t.at.p[a][p] - f;
      offset += (int64_t)f * piece.step[a];
    }
    t.point[inside] = p;
    t.offset[inside++] = (int32_t)offset;
  }
  for (int k = 0; k < 16; ++k) t.offset[inside + k] = inside > 0 ? t.offset[inside - 1] : 0;  // may be prefetched
  t.inside = inside;
}

}  // namespace GW_ISA
}  // namespace gw
