// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: every mode, channels last.
#include "cpu/kernels.hpp"
#include "sampling/interleaved_bilinear.hpp"

namespace gw {
namespace GW_ISA {

template <class S>
static void add_interleaved(Kernels& k, int type) {
  k.forward[GW_BILINEAR][type][1] = sample_interleaved_bilinear<S>;
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
