// SPDX-License-Identifier: Apache-2.0
//
// Which CPU a thread runs on, as far as the pool cares.
#pragma once

namespace gw {

int current_cpu() noexcept;  // -1 if unknown

// Moves this thread to another CPU it may use, if there is one. Its affinity stays what it was.
void leave_cpu(int cpu) noexcept;

}  // namespace gw
