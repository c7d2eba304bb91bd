// SPDX-License-Identifier: Apache-2.0
// Forward kernels of volumes and signals of one instruction set: by definition, and of channels-last memory.
#include "cpu/kernels.hpp"
#include "sampling/volume/narrow.hpp"
#include "sampling/volume/tables.hpp"
#include "simd/partial.hpp"

namespace gw {
namespace GW_ISA {

template <class S, int mode, int axes>
static void interleaved_piece(const VolumeJob& job, const VolumePiece& piece) {
  typedef typename storage<S>::compute T;
  typedef simd<T> s;
  typedef typename s::V V;
  if constexpr (has_narrow_volumes && sizeof(S) == 4 && mode == GW_BILINEAR)
    if (sample_narrow<axes>(job, piece)) return;
  VolumeCoordinates<T> at;
  VolumeTable<mode, axes, T> table;
  volume_coordinates<T>(job, piece.n, piece.first, piece.count, at);
  table.build(job, at, piece.count);
  const int channels = (int)(piece.c1 - piece.c0);
  const S* x = static_cast<const S*>(job.x) + piece.n * job.x_n + piece.c0;
  S* out = static_cast<S*>(job.out) + piece.n * job.o_n + piece.first * job.o_p + piece.c0;
  const auto whole = [](const S* p) __attribute__((always_inline)) { return storage<S>::load_vector(p); };
  const auto settled = [&](V v, int i, int c, int count) __attribute__((always_inline)) {
    if (storage<S>::has_nan && VolumeTable<mode, axes, T>::folds_weights && any(v != v))
      settle_volume<S, T>(job, piece.n, at, piece.c0 + c, 1, i, 0, count, reinterpret_cast<T*>(&v));
    return v;
  };
  for (int i = 0; i < piece.count; ++i, out += job.o_p) {
    int c = 0;
    for (; c + s::lanes <= channels; c += s::lanes)
      storage<S>::store_vector(out + c, settled(table.value(x + c, i, whole), i, c, s::lanes));
    if (c == channels) continue;
    if (channels >= s::lanes) {  // the last vector overlaps the one before
      c = channels - s::lanes;
      storage<S>::store_vector(out + c, settled(table.value(x + c, i, whole), i, c, s::lanes));
    } else {
      const auto some = [&](const S* p) __attribute__((always_inline)) { return load_some<S>(p, channels); };
      store_some<S>(out, settled(table.value(x, i, some), i, 0, channels), channels);
    }
  }
}

template <class S, int mode>
static void interleaved(const VolumeJob& job, const VolumePiece& piece) {
  if (job.axes == 1) interleaved_piece<S, mode, 1>(job, piece);
  else interleaved_piece<S, mode, 3>(job, piece);
}

template <class S>
static void add_volume(VolumeKernels& k, int type) {
  k.exact[type][0] = sample_volume_exact<S, typename storage<S>::compute>;
  k.exact[type][1] = sample_volume_exact<S, double>;
  k.interleaved[GW_BILINEAR][type] = interleaved<S, GW_BILINEAR>;
  k.interleaved[GW_NEAREST][type] = interleaved<S, GW_NEAREST>;
  k.interleaved[GW_BICUBIC][type] = interleaved<S, GW_BICUBIC>;
}

void add_volume_kernels(Kernels& k) {
  add_volume<float>(k.volume, GW_FLOAT32);
  add_volume<double>(k.volume, GW_FLOAT64);
  add_volume<float16>(k.volume, GW_FLOAT16);
  add_volume<bfloat16>(k.volume, GW_BFLOAT16);
  add_volume<uint8_t>(k.volume, GW_UINT8);
  add_volume<int8_t>(k.volume, GW_INT8);
  add_volume<uint16_t>(k.volume, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
