// SPDX-License-Identifier: Apache-2.0
// Backward kernels of one instruction set.
#include "sampling/backward_blocks.hpp"

#include "cpu/kernels.hpp"
#include "sampling/backward_exact.hpp"

namespace gw {
namespace GW_ISA {

template <class S, int mode>
static void piece_of(const BackwardJob& job, const BackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  constexpr int wide = simd<T>::lanes > 4 ? simd<T>::lanes : 4;
  if (piece.c1 - piece.c0 <= 4 || wide == 4) backward_blocks<S, 4, mode>(job, piece);
  else if (wide == 16 && piece.c1 - piece.c0 <= 8) backward_blocks<S, wide == 16 ? 8 : wide, mode>(job, piece);
  else backward_blocks<S, wide, mode>(job, piece);
}

template <class S, int mode>
static int64_t bytes_of(const BackwardJob& job, const BackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  constexpr int wide = simd<T>::lanes > 4 ? simd<T>::lanes : 4;
  if (piece.c1 - piece.c0 <= 4 || wide == 4) return backward_blocks_bytes<S, 4, mode>(job, piece);
  if (wide == 16 && piece.c1 - piece.c0 <= 8) return backward_blocks_bytes<S, wide == 16 ? 8 : wide, mode>(job, piece);
  return backward_blocks_bytes<S, wide, mode>(job, piece);
}

template <class S>
static void add_backward(Kernels& k, int type) {
  k.backward_exact[type] = BackwardKernel{backward_piece_exact<S>, backward_exact_bytes<S>, false};
  k.backward[GW_BILINEAR][type] = BackwardKernel{piece_of<S, GW_BILINEAR>, bytes_of<S, GW_BILINEAR>, true};
  k.backward[GW_NEAREST][type] = BackwardKernel{piece_of<S, GW_NEAREST>, bytes_of<S, GW_NEAREST>, true};
  k.backward[GW_BICUBIC][type] = BackwardKernel{piece_of<S, GW_BICUBIC>, bytes_of<S, GW_BICUBIC>, true};
}

void add_backward_kernels(Kernels& k) {
  add_backward<float>(k, GW_FLOAT32);
  add_backward<double>(k, GW_FLOAT64);
  add_backward<float16>(k, GW_FLOAT16);
  add_backward<bfloat16>(k, GW_BFLOAT16);
}

}  // namespace GW_ISA
}  // namespace gw
