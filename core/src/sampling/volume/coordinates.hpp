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

// Axes [a0, a1) of the tile.
template <class G, class T>
inline void load_volume_grid(const VolumeJob& job, int64_t n, int64_t first, int count, int a0, int a1,
                             VolumeCoordinates<T>& at) {
  const G* base = static_cast<const G*>(job.grid) + n * job.g_n;
  int64_t w = first % job.out_size[0], h = first / job.out_size[0] % job.out_size[1];
  int64_t d = first / job.out_size[0] / job.out_size[1];
  int i = 0;
  while (i < count) {
    const int run = (int)min_of<int64_t>(count - i, job.out_size[0] - w);
    const G* g = base + d * job.g_s[2] + h * job.g_s[1] + w * job.g_s[0];
    if (a1 - a0 == 3 && job.g_k == 1 && job.g_s[0] == 3) {
      for (int k = 0; k < run; ++k) {
        at.p[0][i + k] = (T)storage<G>::load(g + 3 * k);
        at.p[1][i + k] = (T)storage<G>::load(g + 3 * k + 1);
        at.p[2][i + k] = (T)storage<G>::load(g + 3 * k + 2);
      }
    } else {
      for (int a = a0; a < a1; ++a)
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
    for (int a = a0; a < a1; ++a) at.p[a][i] = T(0);
}

// Of points that do not follow each other.
template <class G, class T>
inline void load_listed_grid(const VolumeJob& job, int64_t n, const int32_t* list, int count, VolumeCoordinates<T>& at) {
  const G* base = static_cast<const G*>(job.grid) + n * job.g_n;
  const bool one_run = job.out_size[1] == 1 && job.out_size[2] == 1;
  int i = 0;
  for (; i < count; ++i) {
    int64_t p = list[i], offset = p * job.g_s[0];
    if (!one_run) {
      const int64_t row = p / job.out_size[0];
      offset = (p - row * job.out_size[0]) * job.g_s[0] + row % job.out_size[1] * job.g_s[1] +
               row / job.out_size[1] * job.g_s[2];
    }
    if (one_run) __builtin_prefetch(base + list[i + tile_points / 4] * job.g_s[0]);
    for (int a = 0; a < job.axes; ++a) at.p[a][i] = (T)storage<G>::load(base + offset + a * job.g_k);
  }
  for (; i % simd<T>::lanes != 0; ++i)
    for (int a = 0; a < job.axes; ++a) at.p[a][i] = T(0);
}
template <class T>
inline void listed_coordinates(const VolumeJob& job, int64_t n, const int32_t* list, int count, VolumeCoordinates<T>& at,
                               VolumeCoordinates<T>* slope) {
  switch (job.grid_type) {
    case GW_FLOAT64: load_listed_grid<double, T>(job, n, list, count, at); break;
    case GW_FLOAT16: load_listed_grid<float16, T>(job, n, list, count, at); break;
    case GW_BFLOAT16: load_listed_grid<bfloat16, T>(job, n, list, count, at); break;
    default: load_listed_grid<float, T>(job, n, list, count, at);
  }
  for (int a = 0; a < job.axes; ++a) transform_axis<T>(job.spec, job.size[a], count, at.p[a], slope ? slope->p[a] : nullptr);
}

// What a plan has computed already.
template <class T>
inline void planned_axes(const VolumeJob& job, int64_t n, int64_t first, int count, int a0, int a1, VolumeCoordinates<T>& at) {
  const int64_t start = job.g_n != 0 ? n * job.planned_step : 0;
  for (int a = a0; a < a1; ++a) {
    const T* const p = static_cast<const T*>(job.planned[a]) + start;
    memcpy(at.p[a], p + first, (size_t)count * sizeof(T));
    for (int i = count; i % simd<T>::lanes != 0; ++i) at.p[a][i] = p[job.points()];
  }
}

// Fills axes [a0, a1) of `at` (and, if `slope` is given, derivatives by the grid value) for `count` points of volume n.
template <class T>
inline void volume_axes(const VolumeJob& job, int64_t n, int64_t first, int count, int a0, int a1, VolumeCoordinates<T>& at,
                        VolumeCoordinates<T>* slope = nullptr) {
  if (job.planned[0] && !slope && job.planned_double == (sizeof(T) == 8))
    return planned_axes<T>(job, n, first, count, a0, a1, at);
  switch (job.grid_type) {
    case GW_FLOAT64: load_volume_grid<double, T>(job, n, first, count, a0, a1, at); break;
    case GW_FLOAT16: load_volume_grid<float16, T>(job, n, first, count, a0, a1, at); break;
    case GW_BFLOAT16: load_volume_grid<bfloat16, T>(job, n, first, count, a0, a1, at); break;
    default: load_volume_grid<float, T>(job, n, first, count, a0, a1, at);
  }
  for (int a = a0; a < a1; ++a)
    transform_axis<T>(job.spec, job.size[a], count, at.p[a], slope ? slope->p[a] : nullptr);
}
template <class T>
inline void volume_coordinates(const VolumeJob& job, int64_t n, int64_t first, int count, VolumeCoordinates<T>& at,
                               VolumeCoordinates<T>* slope = nullptr) {
  volume_axes<T>(job, n, first, count, 0, job.axes, at, slope);
}

}  // namespace GW_ISA
}  // namespace gw
