// SPDX-License-Identifier: Apache-2.0
// Forward kernels of volumes and signals of one instruction set, for few channels in planes: a vector of points at a
// time, whose taps along x are read as adjacent pairs.
#include "cpu/kernels.hpp"
#include "sampling/volume/pair_table.hpp"
#include "sampling/volume/tables.hpp"

namespace gw {
namespace GW_ISA {

template <class S, int axes>
static void linear_planes(const VolumeJob& job, const VolumePiece& piece) {
  typedef typename storage<S>::compute T;
  typedef simd<T> s;
  VolumeCoordinates<T> at;
  PairTable<axes, T> table;
  volume_coordinates<T>(job, piece.n, piece.first, piece.count, at);
  table.build(job, at, piece.count);
  for (int64_t c = piece.c0; c < piece.c1; ++c) {
    const S* plane = static_cast<const S*>(job.x) + piece.n * job.x_n + c * job.x_c;
    S* out = static_cast<S*>(job.out) + piece.n * job.o_n + c * job.o_c + piece.first;
    for (int i = 0; i < piece.count; i += s::lanes) {
      const int here = min_of(s::lanes, piece.count - i);
      typename s::V v = table.value(plane, i);
      if (storage<S>::has_nan && any(v != v))
        settle_volume<S, T>(job, piece.n, at, c, 0, i, 1, here, reinterpret_cast<T*>(&v));
      if (here == s::lanes) {
        storage<S>::store_vector(out + i, v);
      } else {
        S last[s::lanes];
        storage<S>::store_vector(last, v);
        memcpy(out + i, last, sizeof(S) * (size_t)here);
      }
    }
  }
}

template <class S>
static void linear(const VolumeJob& job, const VolumePiece& piece) {
  if (job.size[0] < 2) return sample_volume_exact<S, typename storage<S>::compute>(job, piece);
  if (job.axes == 1) linear_planes<S, 1>(job, piece);
  else linear_planes<S, 3>(job, piece);
}

template <class S>
static void nearest(const VolumeJob& job, const VolumePiece& piece) {
  typedef typename storage<S>::compute T;
  VolumeCoordinates<T> at;
  VolumeTable<GW_NEAREST, 3, T> three;
  VolumeTable<GW_NEAREST, 1, T> one;
  volume_coordinates<T>(job, piece.n, piece.first, piece.count, at);
  if (job.axes == 1) one.build(job, at, piece.count);
  else three.build(job, at, piece.count);
  const int32_t* from = job.axes == 1 ? one.base : three.base;
  for (int64_t c = piece.c0; c < piece.c1; ++c) {
    const S* plane = static_cast<const S*>(job.x) + piece.n * job.x_n + c * job.x_c;
    S* out = static_cast<S*>(job.out) + piece.n * job.o_n + c * job.o_c + piece.first;
    for (int i = 0; i < piece.count; ++i) out[i] = from[i] == no_voxel ? S{} : plane[from[i]];
  }
}

template <class S>
static void add_planar(VolumeKernels& k, int type) {
  k.planar[GW_BILINEAR][type] = linear<S>;
  k.planar[GW_NEAREST][type] = nearest<S>;
  k.planar[GW_BICUBIC][type] = sample_volume_exact<S, typename storage<S>::compute>;
}

void add_planar_volume_kernels(Kernels& k) {
  add_planar<float>(k.volume, GW_FLOAT32);
  add_planar<double>(k.volume, GW_FLOAT64);
  add_planar<float16>(k.volume, GW_FLOAT16);
  add_planar<bfloat16>(k.volume, GW_BFLOAT16);
  add_planar<uint8_t>(k.volume, GW_UINT8);
  add_planar<int8_t>(k.volume, GW_INT8);
  add_planar<uint16_t>(k.volume, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
