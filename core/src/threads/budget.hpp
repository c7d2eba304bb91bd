// SPDX-License-Identifier: Apache-2.0
//
// How many threads a call may use. First that is set wins:
//   the calling thread's own number, the process-wide number, GRIDWAVE_NUM_THREADS, OMP_NUM_THREADS,
//   and at last what the CPU affinity and the cgroup's CPU quota allow.
#pragma once

#include <string>

namespace gw {

constexpr int most_threads = 1024;

// Both take 0 to give the default back and cap at most_threads. A negative number is refused: false, nothing changed.
bool set_num_threads(int threads) noexcept;
bool set_local_num_threads(int threads) noexcept;

int num_threads() noexcept;        // 1..most_threads: what a call from this thread may use
int local_num_threads() noexcept;  // this thread's own number, 0 if it has none

// The parts of the default, as functions of text so that they can be tested. 0 means "says nothing": absent, malformed
// or unlimited.
namespace budget {

int threads_from_variable(const char* text);                                          // "8", or OpenMP's list "4,2"
double cpus_from_cpu_max(const std::string& text);                                    // v2 cpu.max: "150000 100000"
double cpus_from_cfs(const std::string& quota, const std::string& period);            // v1: "150000", "100000"
std::string path_in_cgroup(const std::string& proc_cgroup, const char* controller);   // controller "" for v2
double cpus_from_cgroup(const std::string& root, const std::string& proc_cgroup);     // root: /sys/fs/cgroup
int default_from(const char* gridwave, const char* openmp, int cpus, double quota);   // 1..most_threads

}  // namespace budget
}  // namespace gw
