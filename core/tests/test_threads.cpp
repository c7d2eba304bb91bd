// SPDX-License-Identifier: Apache-2.0
//
// The thread pool and the number of threads. Prints file:line of what fails; the exit status says whether anything did.
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "threads/placement.hpp"
#include "threads/pool.hpp"

// ThreadSanitizer cannot start threads in the child of a process that had several; the fork tests are skipped there.
#if defined(__SANITIZE_THREAD__)
#define GW_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GW_TSAN 1
#endif
#endif
#ifndef GW_TSAN
#define GW_TSAN 0
#endif

static std::atomic<int> failures{0};
#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
      ++failures;                                                             \
    }                                                                         \
  } while (0)

using gw::Outcome;

namespace {

constexpr double large = 1e9;  // ns: always worth all the threads

void nap(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

// One loop in which every piece counts itself and every worker is checked to be alone with its number.
// False if anything is wrong: in a forked child there is no CHECK to report to.
bool loop_is_right(int64_t pieces, int workers, double nap_ms = 0, std::atomic<int>* seen = nullptr) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(pieces > 0 ? pieces : 0));
  std::vector<std::atomic<int>> inside(static_cast<size_t>(workers));
  std::vector<int64_t> before(static_cast<size_t>(workers), -1);
  std::atomic<bool> right{true};
  const Outcome outcome = gw::parallel_for_with(workers, pieces, large, [&](int64_t piece, int worker) {
    if (worker < 0 || worker >= workers || piece < 0 || piece >= pieces) {
      right = false;
      return;
    }
    const auto slot = static_cast<size_t>(worker);
    if (inside[slot].fetch_add(1) != 0) right = false;
    if (before[slot] >= piece) right = false;  // each worker sees its pieces in ascending order
    before[slot] = piece;
    runs[static_cast<size_t>(piece)].fetch_add(1);
    if (nap_ms > 0) nap(nap_ms);
    if (seen != nullptr) seen->fetch_or(1 << worker);
    inside[slot].fetch_sub(1);
  });
  for (auto& count : runs) right = right && count == 1;
  return right && outcome == Outcome::done;
}

void test_every_piece_once() {
  for (int threads : {1, 2, 3, 8, 24}) {
    for (int64_t pieces : {-1, 0, 1, 2, 3, 7, 8, 9, 64, 1000, 5000}) CHECK(loop_is_right(pieces, threads));
  }
}

// A loop in which every piece waits until all workers are in, each with a number of its own: true if they came.
bool all_meet(int workers) {
  std::atomic<int> in{0};
  std::atomic<int64_t> numbers{0};
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  gw::parallel_for_with(workers, workers, large, [&](int64_t, int worker) {
    numbers.fetch_or(int64_t{1} << worker);
    ++in;
    while (in < workers && std::chrono::steady_clock::now() < late) nap(0.1);
  });
  return numbers == (int64_t{1} << workers) - 1;
}

void test_workers_are_unique() {
  CHECK(all_meet(6));
  std::atomic<int> seen{0};
  CHECK(loop_is_right(60, 6, 1.0, &seen));
  CHECK(seen > 0 && seen < 64);
}

// Many workers at the counter at the same time: they start together and then have next to nothing to do.
void test_rush() {
  for (int workers : {2, 2, 4}) {
    std::vector<std::atomic<int>> runs(100000);
    std::vector<int> begun(static_cast<size_t>(workers), 0);
    std::atomic<int> in{0};
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    gw::parallel_for_with(workers, static_cast<int64_t>(runs.size()), large, [&](int64_t piece, int worker) {
      if (begun[static_cast<size_t>(worker)]++ == 0) {
        ++in;
        while (in < workers && std::chrono::steady_clock::now() < late) std::this_thread::yield();
      }
      runs[static_cast<size_t>(piece)].fetch_add(1, std::memory_order_relaxed);
    });
    CHECK(in == workers);
    int64_t right = 0;
    for (auto& count : runs) right += count == 1;
    CHECK(right == static_cast<int64_t>(runs.size()));
  }
}

void test_small_work_stays_here() {
  gw::set_local_num_threads(8);
  CHECK(gw::workers_for(100, gw::thread_worth_ns * 0.99) == 1);
  CHECK(gw::workers_for(100, gw::thread_worth_ns) == 2);
  CHECK(gw::workers_for(100, gw::thread_worth_ns * 3.5) == 4);
  CHECK(gw::workers_for(100, large) == 8);
  CHECK(gw::workers_for(3, large) == 3);
  CHECK(gw::workers_for(1, large) == 1 && gw::workers_for(0, large) == 1 && gw::workers_for(-5, large) == 1);
  CHECK(gw::workers_for(100, std::numeric_limits<double>::quiet_NaN()) == 1);
  CHECK(gw::workers_for(100, -1) == 1);
  CHECK(gw::workers_for(100, std::numeric_limits<double>::infinity()) == 8);
  const auto here = std::this_thread::get_id();
  int64_t next = 0;
  const auto outcome = gw::parallel_for(100, gw::thread_worth_ns / 2, [&](int64_t piece, int worker) {
    CHECK(std::this_thread::get_id() == here && worker == 0 && piece == next);
    ++next;
  });
  CHECK(outcome == Outcome::done && next == 100);
  gw::set_local_num_threads(0);
}

void test_nesting() {
  gw::set_local_num_threads(4);
  std::atomic<int> runs[12][9] = {};
  gw::parallel_for(12, large, [&](int64_t outer, int) {
    const auto here = std::this_thread::get_id();
    CHECK(gw::workers_for(9, large) == 1);
    int64_t next = 0;
    gw::parallel_for_with(4, 9, large, [&](int64_t inner, int worker) {
      CHECK(std::this_thread::get_id() == here && worker == 0 && inner == next);
      ++next;
      ++runs[outer][inner];
    });
    nap(0.2);
  });
  for (auto& row : runs) {
    for (auto& count : row) CHECK(count == 1);
  }
  CHECK(gw::workers_for(9, large) == 4);  // outside again
  gw::set_local_num_threads(0);
}

void test_concurrent_callers() {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([caller] {
      for (int i = 0; i < 300; ++i) CHECK(loop_is_right(1 + (i * 7 + caller) % 40, 2 + i % 4));
    });
  }
  for (auto& caller : callers) caller.join();
}

void test_results_reach_the_caller() {
  std::vector<double> values(4096, 0.0);  // plain memory: a missing hand-over is a data race
  for (int round = 1; round <= 50; ++round) {
    gw::parallel_for_with(4, 64, large, [&](int64_t piece, int) {
      for (size_t i = 0; i < 64; ++i) values[static_cast<size_t>(piece) * 64 + i] += 1;
    });
    bool all = true;
    for (double value : values) all = all && value == round;
    CHECK(all);
  }
}

void test_exceptions() {
  for (int workers : {1, 4}) {
    for (int64_t bad : {0, 5, 30}) {
      std::atomic<int> running{0}, begun{0};
      std::string what;
      try {
        gw::parallel_for_with(workers, 2000, large, [&](int64_t piece, int) {
          ++running;
          ++begun;
          nap(0.05);
          --running;
          if (piece == bad) throw std::runtime_error("piece " + std::to_string(piece));
          nap(0.3);
        });
      } catch (const std::runtime_error& error) {
        what = error.what();
        CHECK(running == 0);
      }
      CHECK(what == "piece " + std::to_string(bad));
      CHECK(begun > bad && begun < 2000);
      CHECK(loop_is_right(50, workers));
    }
  }
  // From a worker's thread, while the caller is busy with a good piece; the caller's own later one is dropped.
  std::atomic<bool> caller_in{false}, thrown{false};
  int caught = 0;
  try {
    gw::parallel_for_with(2, 2, large, [&](int64_t, int worker) {
      if (worker == 0) caller_in = true;
      for (int i = 0; !(worker == 0 ? thrown : caller_in) && i < 5000; ++i) nap(1);
      if (worker == 0) nap(5);
      thrown = true;
      throw worker;
    });
  } catch (int worker) {
    caught = worker;
  }
  CHECK(caught == 1);
  // Out of a nested loop.
  CHECK([] {
    try {
      gw::parallel_for_with(3, 9, large, [&](int64_t, int) {
        gw::parallel_for_with(3, 9, large, [&](int64_t inner, int) {
          if (inner == 3) throw std::string("inner");
        });
      });
    } catch (const std::string& error) {
      return error == "inner";
    }
    return false;
  }());
}

struct Check {
  std::atomic<int> calls{0};
  std::thread::id thread = std::this_thread::get_id();
  int stop_at = 1;
  bool throws = false;

  static int32_t call(void* context) {
    Check& self = *static_cast<Check*>(context);
    CHECK(std::this_thread::get_id() == self.thread);
    CHECK(loop_is_right(5, 3));  // it may use the library itself, in the middle of a loop
    if (self.throws) throw std::runtime_error("from the check");
    return ++self.calls >= self.stop_at;
  }
};

void test_interrupts() {
  Check check;
  gw::set_interrupt_check(&Check::call, &check);
  for (int workers : {1, 3}) {
    check.calls = 0;
    check.stop_at = 2;
    std::atomic<int> begun{0};
    const auto start = std::chrono::steady_clock::now();
    const auto loop = [&](int64_t, int) {
      ++begun;
      nap(2);
    };
    CHECK(gw::parallel_for_with(workers, std::numeric_limits<int64_t>::max() / 4, large, loop) == Outcome::interrupted);
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    CHECK(check.calls == 2 && ms > 90 && ms < 5000);
    CHECK(begun > 5);
    CHECK(loop_is_right(50, 3));

    check.calls = 0;
    CHECK(gw::parallel_for_with(workers, 40, 4e6, loop) == Outcome::done && check.calls == 0);  // small: no asking
    CHECK(gw::parallel_for_with(workers, 2, large, loop) == Outcome::done && check.calls == 0);  // and not too soon

    // In a loop within a body: the enclosing loop ends too, even if the body ignores the outcome and goes on.
    check.stop_at = 1;
    std::atomic<int> outer_begun{0}, inner_interrupted{0};
    CHECK(gw::parallel_for_with(workers, 1000, large, [&](int64_t, int worker) {
            ++outer_begun;
            if (worker != 0) return nap(1);
            const auto outcome = gw::parallel_for(1000, large, [](int64_t, int) { nap(1); });
            if (outcome == Outcome::interrupted) ++inner_interrupted;
            gw::parallel_for(3, 0, [](int64_t, int) {});
          }) == Outcome::interrupted);
    CHECK(inner_interrupted == 1 && check.calls == 1 && outer_begun < 1000);
    CHECK(loop_is_right(50, 3));

    check.throws = true;
    bool caught = false;
    try {
      gw::parallel_for_with(workers, 1000, large, loop);
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
    check.throws = false;
  }
  check.calls = 0;
  std::thread([] { gw::parallel_for_with(1, 60, large, [](int64_t, int) { nap(1); }); }).join();
  gw::set_interrupt_check(nullptr, nullptr);
  CHECK(gw::parallel_for_with(3, 60, large, [](int64_t, int) { nap(2); }) == Outcome::done);
  CHECK(check.calls == 0);  // it was this thread's alone, and it is gone
}

int pool_threads() {
  int count = 0;
#if defined(__linux__)
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* task = readdir(tasks)) {
    std::ifstream file(std::string("/proc/self/task/") + task->d_name + "/comm");
    std::string name;
    if (std::getline(file, name) && name.compare(0, 9, "gridwave-") == 0) ++count;
  }
  closedir(tasks);
#endif
  return count;
}

void test_growth_and_manners() {
  const int before = pool_threads();
  CHECK(loop_is_right(200, 2, 0.05));
  CHECK(pool_threads() == before);
  CHECK(all_meet(30));
#if defined(__linux__)
  CHECK(pool_threads() == 29);
#endif
  gw::set_local_num_threads(3);
  std::atomic<int> most{0};
  std::fesetround(FE_UPWARD);
  gw::parallel_for(100, large, [&](int64_t, int worker) {
    if (worker > most) most = worker;
    CHECK(std::fegetround() == FE_UPWARD);  // the caller's floating-point environment holds everywhere
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    if (worker > 0) CHECK(sigismember(&mask, SIGINT) && sigismember(&mask, SIGPROF) && !sigismember(&mask, SIGSEGV));
    if (worker == 0) CHECK(!sigismember(&mask, SIGINT));
    nap(0.2);
  });
  std::fesetround(FE_TONEAREST);
  CHECK(most <= 2);
  gw::parallel_for(100, large, [&](int64_t, int) { CHECK(std::fegetround() == FE_TONEAREST); });
  gw::set_local_num_threads(0);
}

void test_leaving_a_cpu() {
#if defined(__linux__)
  cpu_set_t before, after;
  if (sched_getaffinity(0, sizeof before, &before) != 0) return;
  bool moved = CPU_COUNT(&before) == 1;  // nowhere to go
  for (int i = 0; i < 50 && !moved; ++i) {  // it may be sent back at once on a busy machine
    const int cpu = gw::current_cpu();
    gw::leave_cpu(cpu);
    moved = gw::current_cpu() != cpu;
  }
  CHECK(moved);
  CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
#endif
  gw::leave_cpu(-1);
  gw::leave_cpu(1 << 30);
}

// ---- fork -----------------------------------------------------------------------------------------------------------

// Runs `work` in a child; true if it returned true there within 20 s.
template <class F>
bool in_child(F work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs is killed, and counts as wrong
    const int before = failures;
    _exit(work() && failures == before ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void test_fork() {
  CHECK(loop_is_right(100, 4));
  CHECK(in_child([] {
    return all_meet(4) &&  // new threads, not just the caller
           in_child([] { return loop_is_right(100, 4); });   // and a child's child
  }));
  CHECK(loop_is_right(100, 4));

  std::atomic<bool> stop{false};  // the pool is busy, its mutex changes hands all the time
  std::thread other([&] {
    while (!stop) CHECK(loop_is_right(20, 4));
  });
  for (int i = 0; i < 40; ++i) {
    CHECK(in_child([] { return loop_is_right(100, 4) && loop_is_right(100, 6); }));
    CHECK(loop_is_right(20, 3));
  }
  stop = true;
  other.join();
}

void test_fork_inside_a_loop() {
  const pid_t parent = getpid();
  for (const bool throws : {false, true}) {
    bool child_right = false;
    std::string what;
    pid_t child = -1;
    try {
      gw::parallel_for_with(3, 60, large, [&](int64_t, int worker) {
        if (worker == 0 && child == -1 && getpid() == parent) {
          nap(2);  // let the others in
          child = fork();
          if (child == 0) alarm(20);
          if (child == 0 && throws) throw std::runtime_error("child leaves");
        }
        nap(0.5);
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    if (getpid() != parent) {  // it got out of the loop, and has a pool that works
      const bool right = throws ? what == "child leaves" : what.find("forked") != std::string::npos;
      _exit(right && loop_is_right(50, 3) ? 0 : 1);
    }
    int status = -1;
    child_right = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    CHECK(child_right && what.empty());
    CHECK(loop_is_right(50, 3));
  }
}

// Ends of a whole process, each in its own (this program with --exit-idle or --exit-busy).
int exit_with_threads(bool busy) {
  alarm(20);
  if (!loop_is_right(50, 4)) return 1;
  if (busy) {  // another thread is in the middle of a loop while static objects are destroyed
    std::thread([] {
      for (;;) gw::parallel_for_with(4, 1000, large, [](int64_t, int) { nap(0.1); });
    }).detach();
    nap(20);
  }
  return 0;
}

void test_exit(const std::string& self) {
  CHECK(std::system(("'" + self + "' --exit-idle").c_str()) == 0);
  CHECK(std::system(("'" + self + "' --exit-busy").c_str()) == 0);
}

void test_stress() {
  int64_t total = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100000; ++i) {
    std::atomic<int> sum{0};
    gw::parallel_for_with(2 + i % 3, 1 + i % 5, large, [&](int64_t piece, int) { sum += static_cast<int>(piece) + 1; });
    const int pieces = 1 + i % 5;
    if (sum != pieces * (pieces + 1) / 2) ++failures;
    total += sum;
  }
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / 1e5;
  std::printf("100000 tiny loops: %.2f us each\n", us);
  CHECK(total == 20000 * (1 + 3 + 6 + 10 + 15));
}

// ---- the number of threads ------------------------------------------------------------------------------------------

void test_set_num_threads() {
  const int initial = gw::num_threads();
  CHECK(initial >= 1 && initial <= gw::most_threads);
  CHECK(gw::set_num_threads(5) && gw::num_threads() == 5 && gw::local_num_threads() == 0);
  CHECK(!gw::set_num_threads(-1) && gw::num_threads() == 5);
  CHECK(gw::set_local_num_threads(2) && gw::num_threads() == 2 && gw::local_num_threads() == 2);
  CHECK(!gw::set_local_num_threads(-3) && gw::num_threads() == 2);
  std::thread([] { CHECK(gw::num_threads() == 5 && gw::local_num_threads() == 0); }).join();
  CHECK(gw::set_local_num_threads(0) && gw::num_threads() == 5);
  CHECK(gw::set_num_threads(1000000) && gw::num_threads() == gw::most_threads);
  CHECK(gw::set_num_threads(0) && gw::num_threads() == initial);
}

void test_texts() {
  using namespace gw::budget;
  CHECK(threads_from_variable(nullptr) == 0 && threads_from_variable("") == 0 && threads_from_variable("  ") == 0);
  CHECK(threads_from_variable("4") == 4 && threads_from_variable(" 4 ") == 4 && threads_from_variable("4,2") == 4);
  CHECK(threads_from_variable("4 , 2") == 4 && threads_from_variable(",2") == 0);
  CHECK(threads_from_variable("0") == 0 && threads_from_variable("-2") == 0 && threads_from_variable("+2") == 0);
  CHECK(threads_from_variable("4x") == 0 && threads_from_variable("4 2") == 0 && threads_from_variable("many") == 0);
  CHECK(threads_from_variable("99999999999999999999999") == gw::most_threads);

  CHECK(cpus_from_cpu_max("150000 100000\n") == 1.5 && cpus_from_cpu_max("max 100000\n") == 0);
  CHECK(cpus_from_cpu_max("") == 0 && cpus_from_cpu_max("150000") == 0 && cpus_from_cpu_max("1 0") == 0);
  CHECK(cpus_from_cpu_max("-5 100000") == 0 && cpus_from_cpu_max("1 2 3") == 0 && cpus_from_cpu_max("a b") == 0);
  CHECK(cpus_from_cfs("250000\n", "100000\n") == 2.5 && cpus_from_cfs("-1", "100000") == 0);
  CHECK(cpus_from_cfs("", "") == 0 && cpus_from_cfs("100000", "0") == 0 && cpus_from_cfs("1e5", "100000") == 0);

  const std::string v1 = "12:cpuset:/a\n4:cpu,cpuacct:/docker/x:y\n1:name=systemd:/s\n";
  CHECK(path_in_cgroup(v1, "cpu") == "/docker/x:y" && path_in_cgroup(v1, "").empty());
  CHECK(path_in_cgroup("0::/user.slice/a\n", "") == "/user.slice/a" && path_in_cgroup("0::/b", "cpu").empty());
  CHECK(path_in_cgroup("", "").empty() && path_in_cgroup("rubbish\n::\n0:", "").empty());

  CHECK(default_from("3", "5", 8, 2) == 3 && default_from(nullptr, "5,2", 8, 2) == 5);
  CHECK(default_from("x", "y", 8, 0) == 8 && default_from("-1", "0", 8, 2.1) == 3);
  CHECK(default_from(nullptr, "", 2, 64) == 2);
  CHECK(default_from("", "", 8, 0.01) == 1 && default_from("", "", 0, 0) == 1);
  CHECK(default_from("", "", 5000, 0) == gw::most_threads && default_from("5000", "", 1, 0) == gw::most_threads);
}

void put(const std::string& path, const char* text) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0700);
  }
  std::ofstream(path) << text;
}

void test_cgroup_tree() {
  char name[] = "/tmp/gridwave_cgroup_XXXXXX";
  CHECK(mkdtemp(name) != nullptr);
  const std::string root = name;
  put(root + "/two/a/b/cpu.max", "max 100000\n");
  put(root + "/two/a/cpu.max", "250000 100000\n");
  put(root + "/two/cpu.max", "broken\n");
  CHECK(gw::budget::cpus_from_cgroup(root + "/two", "0::/a/b\n") == 2.5);             // the parent's
  CHECK(gw::budget::cpus_from_cgroup(root + "/two", "0::/\n") == 0);
  put(root + "/two/a/b/cpu.max", "50000 100000\n");
  CHECK(gw::budget::cpus_from_cgroup(root + "/two", "0::/a/b\n") == 0.5);             // the tighter one
  put(root + "/one/cpu/cpu.cfs_quota_us", "300000\n");
  put(root + "/one/cpu/cpu.cfs_period_us", "100000\n");
  put(root + "/one/cpu/g/cpu.cfs_quota_us", "-1\n");
  put(root + "/one/cpu/g/cpu.cfs_period_us", "100000\n");
  CHECK(gw::budget::cpus_from_cgroup(root + "/one", "1:cpu:/g\n0::/\n") == 3);
  CHECK(gw::budget::cpus_from_cgroup(root + "/one", "1:cpu:/not/here\n") == 3);       // a path of the host's
  CHECK(gw::budget::cpus_from_cgroup(root + "/none", "1:cpu:/g\n0::/g\n") == 0);
  CHECK(gw::budget::cpus_from_cgroup(root, "") == 0);
  CHECK(std::system(("rm -r '" + root + "'").c_str()) == 0);
}

// The default is found once per process, so each environment needs its own process: this program with --default.
int default_under(const std::string& self, const std::string& environment) {
  const std::string clean = "env -u GRIDWAVE_NUM_THREADS -u OMP_NUM_THREADS ";
  const std::string command = clean + environment + " '" + self + "' --default";
  FILE* pipe = popen(command.c_str(), "r");
  int threads = -1;
  if (pipe == nullptr || std::fscanf(pipe, "%d", &threads) != 1) threads = -1;
  if (pipe != nullptr) pclose(pipe);
  return threads;
}

void test_environment(const std::string& self) {
  CHECK(default_under(self, "GRIDWAVE_NUM_THREADS=7 OMP_NUM_THREADS=5") == 7);
  CHECK(default_under(self, "OMP_NUM_THREADS=6,2") == 6);
  const int plain = default_under(self, "");
  CHECK(plain >= 1 && plain <= static_cast<int>(std::thread::hardware_concurrency()));
  CHECK(default_under(self, "GRIDWAVE_NUM_THREADS=-4 OMP_NUM_THREADS=none") == plain);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--default") == 0) {
    std::printf("%d\n", gw::num_threads());
    return 0;
  }
  if (argc > 1 && std::strcmp(argv[1], "--exit-idle") == 0) return exit_with_threads(false);
  if (argc > 1 && std::strcmp(argv[1], "--exit-busy") == 0) return exit_with_threads(true);
  test_texts();
  test_cgroup_tree();
  test_environment(argv[0]);
  test_set_num_threads();
  test_every_piece_once();
  test_workers_are_unique();
  test_rush();
  test_small_work_stays_here();
  test_nesting();
  test_concurrent_callers();
  test_results_reach_the_caller();
  test_exceptions();
  test_interrupts();
  test_growth_and_manners();
  test_leaving_a_cpu();
  if (GW_TSAN) {
    std::puts("fork tests skipped under ThreadSanitizer");
  } else {
    test_fork();
    test_fork_inside_a_loop();
  }
  test_exit(argv[0]);
  test_stress();
  if (failures != 0) std::fprintf(stderr, "%d checks failed\n", failures.load());
  return failures == 0 ? 0 : 1;
}
