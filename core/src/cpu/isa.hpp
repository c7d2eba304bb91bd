// SPDX-License-Identifier: Apache-2.0
// Entry points of each instruction set's kernels; null where this build does not have them.
#pragma once

#include "cpu/kernels.hpp"

namespace gw {
#if defined(__x86_64__)
namespace isa_v2 { const Kernels& table(); }
namespace isa_v3 { const Kernels& table(); }
namespace isa_v4 { const Kernels& table(); }
#else
namespace isa_neon { const Kernels& table(); }
#endif
}  // namespace gw
