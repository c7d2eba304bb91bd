// SPDX-License-Identifier: Apache-2.0
#include "cpu/isa.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gw {
namespace {

struct Choice {
  const char* name;
  bool available;
  const Kernels& (*table)();
};

// Best first. The lists are what GCC's -march=x86-64-v2, -v3 and -v4 may emit.
const Choice* choices(int* count) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt");
  [[maybe_unused]] const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  static const Choice list[] = {
#if defined(GW_HAS_KERNELS_V4)
      {"x86-64-v4", v4, isa_v4::table},
#endif
#if defined(GW_HAS_KERNELS_V3)
      {"x86-64-v3", v3, isa_v3::table},
#endif
#if defined(GW_HAS_KERNELS_V2)
      {"x86-64-v2", v2, isa_v2::table},
#endif
  };
#else
  static const Choice list[] = {{"neon", true, isa_neon::table}};
#endif
  *count = (int)(sizeof(list) / sizeof(list[0]));
  return list;
}

// The lowest is not asked about: below it nothing runs.
int best_of(const Choice* list, int count) {
  int best = 0;
  while (best + 1 < count && !list[best].available) ++best;
  return best;
}

const Choice& choose() {
  int count;
  const Choice* list = choices(&count);
  const int best = best_of(list, count);
  // It may force a lower set, never one this CPU cannot run; a name that is neither is said to be ignored, since tests of
  // a lower set would pass on the best one unnoticed.
  if (const char* wanted = std::getenv("GRIDWAVE_ISA")) {
    for (int i = best; i < count; ++i)
      if (std::strcmp(wanted, list[i].name) == 0) return list[i];
    if (*wanted != 0)
      std::fprintf(stderr, "gridwave: GRIDWAVE_ISA=%s is ignored: this CPU and build have no such kernels; %s runs\n", wanted,
                   list[best].name);
  }
  return list[best];
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose().table();
  return chosen;
}

const char* best_isa() {
  int count;
  const Choice* list = choices(&count);
  return list[best_of(list, count)].name;
}

}  // namespace gw
