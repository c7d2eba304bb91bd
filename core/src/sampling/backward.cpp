// SPDX-License-Identifier: Apache-2.0
// Backward kernels of one instruction set.
#include "cpu/kernels.hpp"
#include "sampling/exact.hpp"

namespace gw {
namespace GW_ISA {

void add_backward_kernels(Kernels&) {}

}  // namespace GW_ISA
}  // namespace gw
