// SPDX-License-Identifier: Apache-2.0
// The kernel table of one instruction set. Compiled once for each, as are the files that fill it.
#include "cpu/kernels.hpp"


namespace gw {
namespace GW_ISA {

void add_forward_kernels(Kernels& k);
void add_planar_kernels(Kernels& k);
void add_nearest_kernels(Kernels& k);
void add_packed_kernels(Kernels& k);
void add_interleaved_kernels(Kernels& k);
void add_cubic_kernels(Kernels& k);
void add_backward_kernels(Kernels& k);
void add_double_backward_kernels(Kernels& k);
void add_volume_kernels(Kernels& k);
void add_planar_volume_kernels(Kernels& k);
void add_packed_volume_kernels(Kernels& k);
void add_volume_backward_kernels(Kernels& k);
void add_planar_volume_backward_kernels(Kernels& k);
void add_plan_kernels(Kernels& k);
void add_remap_kernels(Kernels& k);
void add_remap_lanes_kernels(Kernels& k);
void add_spline_direct_kernels(Kernels& k);
void add_spline_row_kernels(Kernels& k);
void add_spline_filter_kernels(Kernels& k);
void add_conversions(Kernels& k);

const Kernels& table() {
  static Kernels k;
  static const bool filled = [] {
    k.name = GW_ISA_NAME;
    k.lanes = GW_ISA_LANES;
    add_forward_kernels(k);
    add_planar_kernels(k);
    add_nearest_kernels(k);
    add_packed_kernels(k);
    add_interleaved_kernels(k);
    add_cubic_kernels(k);
    add_backward_kernels(k);
    add_double_backward_kernels(k);
    add_volume_kernels(k);
    add_planar_volume_kernels(k);
    add_packed_volume_kernels(k);
    add_volume_backward_kernels(k);
    add_planar_volume_backward_kernels(k);
    add_plan_kernels(k);
    add_remap_kernels(k);
    add_remap_lanes_kernels(k);
    add_spline_direct_kernels(k);
    add_spline_row_kernels(k);
    add_spline_filter_kernels(k);
    add_conversions(k);
    return true;
  }();
  (void)filled;
  return k;
}

}  // namespace GW_ISA
}  // namespace gw
