// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: every mode, channels last.
#include "cpu/kernels.hpp"
#include "sampling/interleaved_bilinear.hpp"
#include "sampling/interleaved_cubic.hpp"
#include "sampling/interleaved_nearest.hpp"
#include "sampling/interleaved_pairs.hpp"

namespace gw {
namespace GW_ISA {

template <class S, int C>
static void narrow_bilinear(const SampleJob& job, const Piece& piece) {
#if defined(__AVX512F__)
  if constexpr (sizeof(typename storage<S>::compute) == 4)
    if (job.x_w == C && job.width >= 2 && job.height >= 2) return sample_pixel_pairs<S, C>(job, piece);
#endif
  sample_interleaved_bilinear<S, C>(job, piece);
}

// By the number of channels: up to four are one short vector.
template <class S>
static void bilinear(const SampleJob& job, const Piece& piece) {
  switch (job.channels) {
    case 2: return narrow_bilinear<S, 2>(job, piece);
    case 3: return narrow_bilinear<S, 3>(job, piece);
    case 4: return narrow_bilinear<S, 4>(job, piece);
    default: return sample_interleaved_bilinear<S, 0>(job, piece);
  }
}

template <class S>
static void nearest(const SampleJob& job, const Piece& piece) {
  switch (piece.c1 - piece.c0) {
    case 2: return sample_interleaved_nearest<S, 2 * sizeof(S)>(job, piece);
    case 3: return sample_interleaved_nearest<S, 3 * sizeof(S)>(job, piece);
    case 4: return sample_interleaved_nearest<S, 4 * sizeof(S)>(job, piece);
    default: return sample_interleaved_nearest<S, 0>(job, piece);
  }
}

template <class S>
static void bicubic(const SampleJob& job, const Piece& piece) {
  switch (job.channels) {
    case 2: return sample_interleaved_cubic<S, 2>(job, piece);
    case 3: return sample_interleaved_cubic<S, 3>(job, piece);
    case 4: return sample_interleaved_cubic<S, 4>(job, piece);
    default: return sample_interleaved_cubic<S, 0>(job, piece);
  }
}

template <class S>
static void add_interleaved(Kernels& k, int type) {
  k.forward[GW_BILINEAR][type][1] = bilinear<S>;
  k.forward[GW_NEAREST][type][1] = nearest<S>;
  k.forward[GW_BICUBIC][type][1] = bicubic<S>;
}

void add_interleaved_kernels(Kernels& k) {
  add_interleaved<float>(k, GW_FLOAT32);
  add_interleaved<double>(k, GW_FLOAT64);
  add_interleaved<float16>(k, GW_FLOAT16);
  add_interleaved<bfloat16>(k, GW_BFLOAT16);
  add_interleaved<uint8_t>(k, GW_UINT8);
  add_interleaved<int8_t>(k, GW_INT8);
  add_interleaved<uint16_t>(k, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
