// SPDX-License-Identifier: Apache-2.0
#include "threads/budget.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace gw {
namespace {

constexpr const char* blanks = " \t\r\n";

// Digits only, no sign and no exponent: -1 if the text is anything else. Large values stick at a cap far above any
// use, so that nothing overflows.
long long digits(const std::string& text) {
  constexpr long long cap = 1000000000000000000;
  if (text.empty()) return -1;
  long long value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value > cap / 10 - 1 ? cap : value * 10 + (c - '0');
  }
  return value;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // stays empty if the file is not there
  return line;
}

double ratio(long long quota, long long period) {
  return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period) : 0.0;
}

// The smaller of two limits of which either may be 0, "none".
double tighter(double a, double b) {
  if (a <= 0) return b;
  if (b <= 0) return a;
  return std::min(a, b);
}

// A group is held back by its own quota and by those of all its parents. Inside a container the path is often the
// host's and does not exist here: then only the root answers, which is the container's own group.
template <class Read>
double tightest_up_to_root(const std::string& mount, std::string path, Read read) {
  double cpus = 0;
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    cpus = tighter(cpus, read(mount + path));
    if (path.empty()) return cpus;
    const size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
}

int usable_cpus() {
#if defined(__linux__)
  // The kernel refuses a mask that is too small for its CPUs, so it grows until it is not refused.
  for (int bits = 1024; bits <= 1 << 18; bits *= 4) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<size_t>(bits));
    if (mask == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(bits));
    const int count = sched_getaffinity(0, bytes, mask) == 0 ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (count > 0) return count;
  }
#endif
  const unsigned count = std::thread::hardware_concurrency();  // 0 if unknown
  return count == 0 ? 1 : static_cast<int>(std::min(count, static_cast<unsigned>(most_threads)));
}

double cgroup_quota() {
#if defined(__linux__)
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream text;
  text << file.rdbuf();
  return budget::cpus_from_cgroup("/sys/fs/cgroup", text.str());
#else
  return 0;
#endif
}

// Evaluated by the first call that needs it. No function-local static: a fork while another thread is inside its
// guard would leave the child waiting for ever. Two threads that race here find the same number.
int default_threads() noexcept {
  static std::atomic<int> known{0};
  int threads = known.load(std::memory_order_relaxed);
  if (threads == 0) {
    try {
      threads = budget::default_from(std::getenv("GRIDWAVE_NUM_THREADS"), std::getenv("OMP_NUM_THREADS"),
                                     usable_cpus(), cgroup_quota());
    } catch (...) {  // out of memory while reading a small file: no reason to fail the call
      threads = 1;
    }
    known.store(threads, std::memory_order_relaxed);
  }
  return threads;
}

std::atomic<int> process_threads{0};
thread_local int local_threads = 0;

}  // namespace

bool set_num_threads(int threads) noexcept {
  if (threads < 0) return false;
  process_threads.store(std::min(threads, most_threads), std::memory_order_relaxed);
  return true;
}

bool set_local_num_threads(int threads) noexcept {
  if (threads < 0) return false;
  local_threads = std::min(threads, most_threads);
  return true;
}

int local_num_threads() noexcept { return local_threads; }

int num_threads() noexcept {
  if (local_threads > 0) return local_threads;
  const int threads = process_threads.load(std::memory_order_relaxed);
  return threads > 0 ? threads : default_threads();
}

namespace budget {

int threads_from_variable(const char* text) {
  if (text == nullptr) return 0;
  const std::string all = text;
  const long long value = digits(trimmed(all.substr(0, all.find(','))));
  return value <= 0 ? 0 : static_cast<int>(std::min<long long>(value, most_threads));
}

double cpus_from_cpu_max(const std::string& text) {
  std::istringstream words(text);
  std::string quota, period, more;
  if (!(words >> quota >> period) || words >> more) return 0;
  return ratio(digits(quota), digits(period));  // "max" has no digits: no limit
}

double cpus_from_cfs(const std::string& quota, const std::string& period) {
  return ratio(digits(trimmed(quota)), digits(trimmed(period)));  // "-1" has no plain digits: no limit
}

std::string path_in_cgroup(const std::string& proc_cgroup, const char* controller) {
  std::istringstream lines(proc_cgroup);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/some/path", v2 "0::/some/path"
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    std::istringstream names(line.substr(first + 1, second - first - 1));
    std::string name;
    bool found = *controller == '\0' && second == first + 1;
    while (!found && std::getline(names, name, ',')) found = name == controller;
    if (found && !path.empty() && path[0] == '/') return path;
  }
  return {};
}

double cpus_from_cgroup(const std::string& root, const std::string& proc_cgroup) {
  double cpus = 0;
  const std::string v2 = path_in_cgroup(proc_cgroup, "");
  if (!v2.empty()) {
    for (const char* mount : {"", "/unified"}) {  // "/unified": both versions side by side
      cpus = tighter(cpus, tightest_up_to_root(root + mount, v2, [](const std::string& group) {
                       return cpus_from_cpu_max(first_line_of(group + "/cpu.max"));
                     }));
    }
  }
  const std::string v1 = path_in_cgroup(proc_cgroup, "cpu");
  if (!v1.empty()) {
    for (const char* mount : {"/cpu", "/cpu,cpuacct"}) {  // usually links to one another
      cpus = tighter(cpus, tightest_up_to_root(root + mount, v1, [](const std::string& group) {
                       return cpus_from_cfs(first_line_of(group + "/cpu.cfs_quota_us"),
                                            first_line_of(group + "/cpu.cfs_period_us"));
                     }));
    }
  }
  return cpus;
}

int default_from(const char* gridwave, const char* openmp, int cpus, double quota) {
  for (const char* variable : {gridwave, openmp}) {
    const int threads = threads_from_variable(variable);
    if (threads > 0) return threads;
  }
  const double allowed = tighter(cpus, std::ceil(quota));
  return static_cast<int>(std::clamp(allowed, 1.0, static_cast<double>(most_threads)));
}

}  // namespace budget
}  // namespace gw
