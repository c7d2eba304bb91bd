// SPDX-License-Identifier: Apache-2.0
// Kernels of one instruction set for planned grids: tables, and sampling by them with channels last.
#include "cpu/kernels.hpp"
#include "sampling/interleaved_bilinear.hpp"
#include "sampling/volume/coordinates.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
static void plan_coordinates(const SampleJob& job, int64_t n, T* x, T* y) {
  Coordinates<T> at;
  Piece piece = {};
  piece.rows = 1;
  for (; piece.first < job.points(); piece.first += tile_points) {
    piece.length = (int32_t)min_of<int64_t>(tile_points, job.points() - piece.first);
    coordinates<T>(job, n, piece, at);
    memcpy(x + piece.first, at.x, (size_t)piece.length * sizeof(T));
    memcpy(y + piece.first, at.y, (size_t)piece.length * sizeof(T));
  }
  // The lanes behind a tile's last point are grid values of 0.
  for (int i = 0; i < simd<T>::lanes; ++i) at.x[i] = at.y[i] = T(0);
  transform_axis<T>(job.spec, job.width, 1, at.x, nullptr);
  transform_axis<T>(job.spec, job.height, 1, at.y, nullptr);
  x[job.points()] = at.x[0];
  y[job.points()] = at.y[0];
}
static void plan_any_coordinates(const SampleJob& job, int64_t n, bool wide, void* x, void* y) {
  if (wide) plan_coordinates(job, n, static_cast<double*>(x), static_cast<double*>(y));
  else plan_coordinates(job, n, static_cast<float*>(x), static_cast<float*>(y));
}

template <class T>
static void plan_volume(const VolumeJob& job, int64_t n, void* const (&axes)[3]) {
  VolumeCoordinates<T> at;
  for (int64_t first = 0; first < job.points(); first += tile_points) {
    const int count = (int)min_of<int64_t>(tile_points, job.points() - first);
    volume_coordinates<T>(job, n, first, count, at);
    for (int a = 0; a < 3; ++a) memcpy(static_cast<T*>(axes[a]) + first, at.p[a], (size_t)count * sizeof(T));
  }
  for (int a = 0; a < 3; ++a) {
    for (int i = 0; i < simd<T>::lanes; ++i) at.p[a][i] = T(0);
    transform_axis<T>(job.spec, job.size[a], 1, at.p[a], nullptr);
    static_cast<T*>(axes[a])[job.points()] = at.p[a][0];
  }
}
static void plan_volume_coordinates(const VolumeJob& job, int64_t n, bool wide, void* const (&axes)[3]) {
  if (wide) plan_volume<double>(job, n, axes);
  else plan_volume<float>(job, n, axes);
}

template <class T>
static void tabulate_points(const SampleJob& job, int64_t n, int64_t first, int count, PlannedPoint<T>* entries) {
  Coordinates<T> at;
  BilinearTable<T> table;
  Piece piece = {};
  piece.first = first;
  piece.rows = 1;
  piece.length = count;
  coordinates<T>(job, n, piece, at);
  tabulate_bilinear<T>(job, count, at, table);
  for (int i = 0; i < count; ++i) {
    const int32_t pixel = table.offset[0][i];
    PlannedPoint<T>& e = entries[i];
    e.point = (int32_t)(first + i);
    const bool counts = pixel != outside;
    e.pixel = counts ? pixel : -1;
    e.right = counts ? table.offset[1][i] - pixel : 0;
    e.down = counts ? table.offset[2][i] - pixel : 0;
    for (int k = 0; k < 4; ++k) e.weight[k] = table.weight[k][i];
  }
}
static void tabulate_any_points(const SampleJob& job, int64_t n, int64_t first, int count, bool wide, void* entries) {
  if (wide) tabulate_points(job, n, first, count, static_cast<PlannedPoint<double>*>(entries));
  else tabulate_points(job, n, first, count, static_cast<PlannedPoint<float>*>(entries));
}

// Pixels that are written here and there are asked for this many points ahead (16384 random points of 128 x 128 x 64 floats:
// 0.42 against 0.46 ms, alike for 2 to 8; in a smooth grid it would cost 3 in a hundred).
constexpr int64_t store_distance = 4;

template <class S>
static void sample_points(const SampleJob& job, const PlannedPiece& piece) {
  typedef typename storage<S>::compute T;
  const PlannedPoint<T>* e = static_cast<const PlannedPoint<T>*>(piece.entries);
  const int64_t channels = piece.c1 - piece.c0;
  const S* x = static_cast<const S*>(job.x) + piece.n * job.x_n + piece.c0;
  S* out = static_cast<S*>(job.out) + piece.n * job.o_n + piece.c0;
  const int64_t lead = aligned_lead(x, job, channels);
  for (int64_t i = 0; i < piece.count; ++i, ++e) {
    S* to = out + e->point * job.channels;
    if (piece.scattered && i + store_distance < piece.count) {
      const char* later = reinterpret_cast<const char*>(out + e[store_distance].point * job.channels);
      for (int64_t k = 0; k < channels * (int64_t)sizeof(S); k += line_bytes) __builtin_prefetch(later + k, 1);
    }
    if (e->pixel < 0) {
      memset(to, 0, (size_t)channels * sizeof(S));
      continue;
    }
    const BilinearPoint<S> point(x + e->pixel * job.x_w, e->right * job.x_w, e->down * job.x_w, e->weight);
    store_channels<S>(point, to, channels, lead);
  }
}

void add_plan_kernels(Kernels& k) {
  k.plan.coordinates = plan_any_coordinates;
  k.plan.volume_coordinates = plan_volume_coordinates;
  k.plan.tabulate = tabulate_any_points;
  k.plan.sample[GW_FLOAT32] = sample_points<float>;
  k.plan.sample[GW_FLOAT64] = sample_points<double>;
  k.plan.sample[GW_FLOAT16] = sample_points<float16>;
  k.plan.sample[GW_BFLOAT16] = sample_points<bfloat16>;
  k.plan.sample[GW_UINT8] = sample_points<uint8_t>;
  k.plan.sample[GW_INT8] = sample_points<int8_t>;
  k.plan.sample[GW_UINT16] = sample_points<uint16_t>;
}

}  // namespace GW_ISA
}  // namespace gw
