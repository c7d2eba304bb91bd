// SPDX-License-Identifier: Apache-2.0
// The coordinate stage of volumes and signals: each axis of a tile of points by the expressions of images.
#pragma once

#include "sampling/coordinates.hpp"
#include "sampling/volume/job.hpp"

namespace gw {
namespace GW_ISA {

// Voxel coordinates of a tile's points along x, y and z (a signal's: x alone), or their derivatives.
template <class T>
struct VolumeCoordinates {
  alignas(64) T p[3][tile_points];
};

template <class G, class T>
inline void load_volume_grid(const VolumeJob& job, int64_t n, int64_t first, int count, VolumeCoordinates<T>& at) {
  const G* base = static_cast<const G*>(job.grid) + n * job.g_n;
  int64_t w = first % job.out_size[0], h = first / job.out_size[0] % job.out_size[1];
  int64_t d = first / job.out_size[0] / job.out_size[1];
  int i = 0;
  while (i < count) {
    const int run = (int)min_of<int64_t>(count - i, job.out_size[0] - w);
    const G* g = base + d * job.g_s[2] + h * job.g_s[1] + w * job.g_s[0];
    if (job.axes == 3 && job.g_k == 1 && job.g_s[0] == 3) {
      for (int k = 0; k < run; ++k) {
        at.p[0][i + k] = (T)storage<G>::load(g + 3 * k);
        at.p[1][i + k] = (T)storage<G>::load(g + 3 * k + 1);
        at.p[2][i + k] = (T)storage<G>::load(g + 3 * k + 2);
      }
    } else {
      for (int a = 0; a < job.axes; ++a)
        for (int k = 0; k < run; ++k) at.p[a][i + k] = (T)storage<G>::load(g + k * job.g_s[0] + a * job.g_k);
    }
    i += run;
    w = 0;
    if (++h == job.out_size[1]) {
      h = 0;
      ++d;
    }
  }
  for (; i % simd<T>::lanes != 0; ++i)
    for (int a = 0; a < job.axes; ++a) at.p[a][i] = T(0);
}

// Fills `at` (and, if `slope` is given, derivatives by the grid value) for `count` points of volume n.
template <class T>
inline void volume_coordinates(const VolumeJob& job, int64_t n, int64_t first, int count, VolumeCoordinates<T>& at,
                               VolumeCoordinates<T>* slope = nullptr) {
  switch (job.grid_type) {
    case GW_FLOAT64: load_volume_grid<double, T>(job, n, first, count, at); break;
    case GW_FLOAT16: load_volume_grid<float16, T>(job, n, first, count, at); break;
    case GW_BFLOAT16: load_volume_grid<bfloat16, T>(job, n, first, count, at); break;
    default: load_volume_grid<float, T>(job, n, first, count, at);
  }
  for (int a = 0; a < job.axes; ++a)
    transform_axis<T>(job.spec, job.size[a], count, at.p[a], slope ? slope->p[a] : nullptr);
}

}  // namespace GW_ISA
}  // namespace gw
