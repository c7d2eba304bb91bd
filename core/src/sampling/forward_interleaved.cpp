// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: every mode, channels last.
#include "cpu/kernels.hpp"
#include "sampling/exact.hpp"

namespace gw {
namespace GW_ISA {

void add_interleaved_kernels(Kernels&) {}

}  // namespace GW_ISA
}  // namespace gw
