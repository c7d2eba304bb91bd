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
  int inside, edge;                             // how many
  int32_t point[room], voxel[room];             // of those inside: which, and the number of its lowest voxel
  alignas(64) T w[3][room];                     // p - floor(p)
  int32_t edge_point[tile_points];
};

// The plane that owns a point: of its cell, brought inside.
template <class T>
GW_INLINE int64_t owner_plane(const VolumeJob& job, const VolumePoints<T>& t, int p) {
  if (job.axes < 3) return 0;
  const T z = floor_of(t.at.p[2][p]);
  return z < T(0) ? 0 : min_of((int64_t)z, job.size[2] - 1);
}

// Does the piece have a part in point p: as its owner, or because a tap lies in its planes?
template <class T>
inline bool has_part(const VolumeJob& job, const VolumeBackwardPiece& piece, const VolumePoints<T>& t, int p) {
  if (piece.z0 == 0 && piece.z1 == job.size[2]) return true;
  const int64_t owner = owner_plane(job, t, p);
  if (owner >= piece.z0 && owner < piece.z1) return true;
  if (job.spec.mode == GW_BICUBIC) {  // padded taps may be anywhere near
    const AxisTaps<T> z = axis_taps<T>(job.spec, t.at.p[2][p], job.size[2]);
    for (int k = 0; k < z.count; ++k)
      if (z.index[k] >= piece.z0 && z.index[k] < piece.z1) return true;
    return false;
  }
  return job.spec.mode == GW_BILINEAR && owner + 1 == piece.z0;
}

template <class T, int mode, int axes>
inline void sort_volume_points(const VolumeJob& job, const VolumeBackwardPiece& piece, int count, VolumePoints<T>& t) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  typedef typename s::index index;
  constexpr T after = mode == GW_BILINEAR ? T(1) : T(0);  // taps reach this far from the cell
  int inside = 0, edge = 0;
  const bool by_list = mode == GW_BICUBIC || job.wide;
  for (int i = 0; i < count; i += s::lanes) {
    const int length = min_of<int>(s::lanes, count - i);
    if (by_list) {
      for (int k = 0; k < length; ++k)
        if (has_part(job, piece, t, i + k)) t.edge_point[edge++] = i + k;
      continue;
    }
    I in = ~I{}, voxel = I{};
    V w[axes];
    for (int a = axes - 1; a >= 0; --a) {
      const V p = s::load(t.at.p[a] + i), f = mode == GW_NEAREST ? p : s::floor(p);
      const T low = a == 2 ? (T)piece.z0 : T(0), high = (T)((a == 2 ? piece.z1 : job.size[a]) - 1) - after;
      const I here = (f >= s::splat(low)) & (f <= s::splat(high));
      in &= here;
      voxel = voxel * s::splat_index((index)job.size[a]) + (s::to_index(f) & here);
      w[a] = p - f;
    }
    if (length == s::lanes && !any(~in)) {
      for (int k = 0; k < s::lanes; ++k) t.point[inside + k] = i + k;
      s::store_index(t.voxel + inside, voxel);
      for (int a = 0; a < axes; ++a) s::store(t.w[a] + inside, w[a]);
      inside += s::lanes;
      continue;
    }
    for (int k = 0; k < length; ++k) {
      if (in[k]) {
        t.point[inside] = i + k;
        t.voxel[inside] = (int32_t)voxel[k];
        for (int a = 0; a < axes; ++a) t.w[a][inside] = w[a][k];
        ++inside;
      } else if (has_part(job, piece, t, i + k)) {
        t.edge_point[edge++] = i + k;
      }
    }
  }
  for (int k = 0; k < 16; ++k) t.voxel[inside + k] = 0;  // may be prefetched
  t.inside = inside;
  t.edge = edge;
}

}  // namespace GW_ISA
}  // namespace gw
