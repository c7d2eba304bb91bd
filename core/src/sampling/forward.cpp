// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set.
#include "sampling/exact.hpp"
#include "cpu/kernels.hpp"

namespace gw {
namespace GW_ISA {

template <class S>
static void add_forward(Kernels& k, int type) {
  typedef typename storage<S>::compute T;
  for (int mode = 0; mode < mode_count; ++mode)
    for (int layout = 0; layout < 2; ++layout) k.forward[mode][type][layout] = sample_piece_exact<S, T>;
  for (int layout = 0; layout < 2; ++layout) {
    k.forward_exact[type][0] = sample_piece_exact<S, T>;
    k.forward_exact[type][1] = sample_piece_exact<S, double>;
  }
}

void add_forward_kernels(Kernels& k) {
  add_forward<float>(k, GW_FLOAT32);
  add_forward<double>(k, GW_FLOAT64);
  add_forward<float16>(k, GW_FLOAT16);
  add_forward<bfloat16>(k, GW_BFLOAT16);
  add_forward<uint8_t>(k, GW_UINT8);
  add_forward<int8_t>(k, GW_INT8);
  add_forward<uint16_t>(k, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
