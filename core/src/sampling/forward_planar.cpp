// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: bilinear and nearest, channels first.
#include "cpu/kernels.hpp"
#include "sampling/exact.hpp"

namespace gw {
namespace GW_ISA {

void add_planar_kernels(Kernels&) {}

}  // namespace GW_ISA
}  // namespace gw
