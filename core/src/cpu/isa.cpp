// SPDX-License-Identifier: Apache-2.0
#include "cpu/isa.hpp"

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
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  static const Choice list[] = {{"x86-64-v4", v4, isa_v4::table}, {"x86-64-v3", v3, isa_v3::table},
                                {"x86-64-v2", true, isa_v2::table}};
#else
  static const Choice list[] = {{"neon", true, isa_neon::table}};
#endif
  *count = (int)(sizeof(list) / sizeof(list[0]));
  return list;
}

const Choice& choose() {
  int count;
  const Choice* list = choices(&count);
  int best = 0;
  while (!list[best].available) ++best;
  // A name that is unknown or better than the CPU changes nothing: it may force a lower set, never an illegal one.
  if (const char* wanted = std::getenv("GRIDWAVE_ISA"))
    for (int i = best; i < count; ++i)
      if (std::strcmp(wanted, list[i].name) == 0) return list[i];
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
  while (!list->available) ++list;
  return list->name;
}

}  // namespace gw
