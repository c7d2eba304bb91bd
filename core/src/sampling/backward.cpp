// SPDX-License-Identifier: Apache-2.0
// Backward kernels of one instruction set.
#include "cpu/kernels.hpp"
#include "sampling/backward_exact.hpp"

namespace gw {
namespace GW_ISA {

template <class S>
static void add_backward(Kernels& k, int type) {
  k.backward_exact[type] = BackwardKernel{backward_piece_exact<S>, backward_exact_bytes<S>, false};
  for (int mode = 0; mode < mode_count; ++mode) k.backward[mode][type] = k.backward_exact[type];
}

void add_backward_kernels(Kernels& k) {
  add_backward<float>(k, GW_FLOAT32);
  add_backward<double>(k, GW_FLOAT64);
  add_backward<float16>(k, GW_FLOAT16);
  add_backward<bfloat16>(k, GW_BFLOAT16);
}

}  // namespace GW_ISA
}  // namespace gw
