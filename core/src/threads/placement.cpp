// SPDX-License-Identifier: Apache-2.0
#include "threads/placement.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace gw {

#if defined(__linux__)

int current_cpu() noexcept { return sched_getcpu(); }

void leave_cpu(int cpu) noexcept {
  cpu_set_t mine;  // too small on machines of more than 1024 CPUs: the call fails, and the thread stays
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  cpu_set_t others = mine;
  CPU_CLR(static_cast<unsigned>(cpu), &others);
  if (CPU_COUNT(&others) == 0) return;
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof mine, &mine);
}

#else

int current_cpu() noexcept { return -1; }
void leave_cpu(int) noexcept {}

#endif

}  // namespace gw
