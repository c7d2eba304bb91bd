// SPDX-License-Identifier: Apache-2.0
// Forward kernels of volumes and signals of one instruction set, for planes of many channels: packed into blocks of a
// vector, so that one load brings a tap for all of them. Read as they lie, a vector of points needs as many loads for
// each of its taps and channels.
#include "cpu/kernels.hpp"
#include "sampling/planar_table.hpp"
#include "sampling/volume/tables.hpp"
#include "simd/transpose.hpp"
#include "sampling/backward_pack.hpp"

namespace gw {
namespace GW_ISA {

static int block_channels(int32_t type, int64_t) { return type == GW_FLOAT64 ? simd<double>::lanes : simd<float>::lanes; }

// Rows [row0, row1), counted along y and then z, of volume n, channels [c0, c1).
template <class S>
static void pack_rows(const VolumeJob& job, int64_t n, int64_t c0, int64_t c1, int64_t row0, int64_t row1, void* to) {
  typedef typename storage<S>::compute T;
  constexpr int k = simd<T>::lanes;
  T* block = static_cast<T*>(to);
  for (int64_t c = c0; c < c1; c += k, block += job.voxels() * k)
    for (int64_t row = row0; row < row1; ++row) {
      const S* x = static_cast<const S*>(job.x) + n * job.x_n + c * job.x_c + row / job.size[1] * job.x_s[2] +
                   row % job.size[1] * job.x_s[1];
      pack_run<S, T>(x, job.x_s[0], job.x_c, job.size[0], min_of<int64_t>(k, c1 - c), block + row * job.size[0] * k, k);
    }
}

template <class S, int mode, int axes>
static void packed_piece(const VolumeJob& job, const VolumePiece& piece, const void* packed) {
  typedef typename storage<S>::compute T;
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  constexpr int lanes = s::lanes;
  VolumeCoordinates<T> at;
  VolumeTable<mode, axes, T> table;
  volume_coordinates<T>(job, piece.n, piece.first, piece.count, at);
  VolumeJob dense = job;
  dense.x_s[0] = lanes;
  dense.x_s[1] = job.size[0] * lanes;
  dense.x_s[2] = job.size[1] * job.size[0] * lanes;
  table.build(dense, at, piece.count);
  const T* block = static_cast<const T*>(packed);
  const int channels = (int)(piece.c1 - piece.c0);
  const bool streamed =
      vector_is_line && sizeof(S) == 4 && job.batches * job.channels * job.points() * 4 > streamed_output_bytes;
  constexpr bool settles = storage<S>::has_nan && VolumeTable<mode, axes, T>::folds_weights;
  S* out = static_cast<S*>(job.out) + piece.n * job.o_n + piece.c0 * job.o_c + piece.first;
  const auto load = [](const T* p) __attribute__((always_inline)) { return s::load(p); };
  for (int i = 0; i < piece.count; i += lanes) {
    const int here = min_of(lanes, piece.count - i);
    V r[lanes];
    I odd = I{};
    for (int j = 0; j < lanes; ++j) {
      r[j] = table.value(block, min_of(i + j, piece.count - 1), load);
      if (settles) odd |= r[j] != r[j];
    }
    transpose(r);
    if (settles && any(odd))
      for (int j = 0; j < channels; ++j)
        settle_volume<S, T>(job, piece.n, at, piece.c0 + j, 0, i, 1, here, reinterpret_cast<T*>(r + j));
    if (here == lanes) {
      for (int j = 0; j < channels; ++j) write_vector<S>(out + j * job.o_c + i, r[j], streamed);
    } else {
      S last[lanes];
      for (int j = 0; j < channels; ++j) {
        storage<S>::store_vector(last, r[j]);
        memcpy(out + j * job.o_c + i, last, sizeof(S) * (size_t)here);
      }
    }
  }
  if (streamed) stream_fence();
}

template <class S, int mode>
static void packed_of(const VolumeJob& job, const VolumePiece& piece, const void* packed) {
  if (job.axes == 1) packed_piece<S, mode, 1>(job, piece, packed);
  else packed_piece<S, mode, 3>(job, piece, packed);
}

template <class S>
static void add_packed(VolumeKernels& k, int type) {
  k.pack_rows[type] = pack_rows<S>;
  k.packed[GW_BILINEAR][type] = packed_of<S, GW_BILINEAR>;
  k.packed[GW_NEAREST][type] = packed_of<S, GW_NEAREST>;
  k.packed[GW_BICUBIC][type] = packed_of<S, GW_BICUBIC>;
}

void add_packed_volume_kernels(Kernels& k) {
  k.volume.block_channels = block_channels;
  add_packed<float>(k.volume, GW_FLOAT32);
  add_packed<double>(k.volume, GW_FLOAT64);
  add_packed<float16>(k.volume, GW_FLOAT16);
  add_packed<bfloat16>(k.volume, GW_BFLOAT16);
  add_packed<uint8_t>(k.volume, GW_UINT8);
  add_packed<int8_t>(k.volume, GW_INT8);
  add_packed<uint16_t>(k.volume, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
