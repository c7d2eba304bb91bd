// SPDX-License-Identifier: Apache-2.0
//
// One pool per process, one loop at a time. The caller works too, and could do all of it alone: it never waits for a
// thread that has not begun. A thread joins a loop by taking its first piece under the mutex, and the caller, when no
// piece is left, closes the loop under the same mutex. So a thread that wakes late finds the door closed, and the
// caller waits for pieces that were taken, nothing else.
#include "threads/pool.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "threads/loop.hpp"
#include "threads/placement.hpp"

#if defined(__PIC__) && !defined(__PIE__)
#define GW_MAY_BE_UNLOADED 1  // compiled for a shared library
#include <dlfcn.h>
#endif

namespace gw {
namespace {

// Waits a little for something that is likely to come soon. Measured on 2 cores, work of 200 us cut into 8: a caller
// that spins for the last piece of another thread instead of sleeping at once gains 20% (145 -> 115 us); a thread that
// waits 20 us for the next loop before it sleeps gains another 12% (102 us) if that comes within 10 us, as the stages
// of an operator do (20 us of work: 26 -> 12 us). Longer pauses are slept through.
template <class Ready>
void spin_until(Ready ready) noexcept {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  do {
    for (int i = 0; i < 16; ++i) {
      if (ready()) return;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("isb");  // "yield" is a no-op on most cores; this one takes a moment
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
}

// ---- the pool -------------------------------------------------------------------------------------------------------

class Pool {
 public:
  static Pool& of_this_process();

  bool claim() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void run(Loop& loop, int workers, double cost_ns);  // after claim(); gives the pool back

 private:
  class Door;

  void open(Loop& loop, int workers);
  void close() noexcept;
  void grow(int threads) noexcept;
  void wake_two() noexcept;
  void serve(int number);
  static void* thread_main(void* pool);
  static void forked_child() noexcept;

  std::atomic<bool> busy_{false};
  int threads_ = 0;  // changed by the claimant only
  std::atomic<int> named_{0};

  std::mutex mutex_;
  std::condition_variable opened_, emptied_;
  // Under mutex_; the atomic ones are changed under it and read without it too.
  Loop* loop_ = nullptr;
  int places_ = 0;  // how many more threads may join
  int next_worker_ = 1;
  int caller_cpu_ = -1;
  std::atomic<int> working_{0};       // threads that joined and have not left
  std::atomic<int64_t> openings_{0};  // loops so far: tells a spinning thread that there is a new one

  Pool* abandoned_ = nullptr;  // the pool this process had before a fork

  static std::atomic<Pool*> current_;
  static Pool* before_fork_;
  friend struct ForkHandler;
};

std::atomic<Pool*> Pool::current_{nullptr};
Pool* Pool::before_fork_ = nullptr;

// In the child of a fork only the forking thread lives on. The pool's threads are gone and its mutex may be held by
// one of them, so the child does not touch it: it puts the pool aside (reachable, which keeps leak checkers content)
// and makes a new one at its first loop. Nothing is locked around a fork, so nothing can wait there, in either process.
struct ForkHandler {
  ForkHandler() noexcept { pthread_atfork(nullptr, nullptr, &Pool::forked_child); }
};
const ForkHandler fork_handler;

void Pool::forked_child() noexcept {
  Pool* pool = current_.exchange(nullptr);
  if (pool == nullptr) return;
  pool->abandoned_ = before_fork_;
  before_fork_ = pool;
}

// The pool is never destroyed, on purpose. At exit its threads may sleep in opened_ or even work for another thread;
// destroying what they use would crash or hang (pthread_cond_destroy waits for waiters), and joining them would make
// exit() wait for work that nobody needs. They end with the process.
Pool& Pool::of_this_process() {
  Pool* pool = current_.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  Pool* fresh = new Pool;
  if (current_.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;  // another thread was first; this one has no threads yet
  return *pool;
}

// Opens a loop to the threads, and closes it however the caller leaves, waiting for those inside.
class Pool::Door {
 public:
  Door(Pool& pool, Loop& loop, int workers) : pool_(pool), loop_(loop) { pool_.open(loop, workers); }
  ~Door() {
    loop_.stop();
    if (current_.load(std::memory_order_relaxed) == &pool_) pool_.close();
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

 private:
  Pool& pool_;
  Loop& loop_;
};

void Pool::run(Loop& loop, int workers, double cost_ns) {
  bool forked = false;
  {
    const Door door(*this, loop, workers);
    loop.work(loop.take(), 0, Interrupts(cost_ns));
    forked = current_.load(std::memory_order_relaxed) != this;
  }
  // A body that forks: in the child the pieces of the other threads are lost. It may still leave by an exception or an
  // interrupt, but it cannot finish.
  if (forked && !loop.error && !loop.interrupted) {
    throw std::runtime_error("gridwave: the process forked inside a parallel loop; its other threads are gone");
  }
}

void Pool::open(Loop& loop, int workers) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    loop_ = &loop;
    caller_cpu_ = current_cpu();
    places_ = workers - 1;
    next_worker_ = 1;
    openings_.fetch_add(1, std::memory_order_relaxed);
  }
  wake_two();
  if (threads_ < workers - 1) grow(workers - 1);
}

void Pool::close() noexcept {
  const auto empty = [this] { return working_.load(std::memory_order_acquire) == 0; };
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    loop_ = nullptr;
  }
  if (!empty()) {
    spin_until(empty);
    std::unique_lock<std::mutex> lock(mutex_);
    emptied_.wait(lock, empty);
  }
  busy_.store(false, std::memory_order_release);
}

// Waking costs the waker several microseconds a thread, so it goes by a tree: whoever joins wakes two more.
void Pool::wake_two() noexcept {
  opened_.notify_one();
  opened_.notify_one();
}

void name_this_thread(int number) noexcept {
  char name[16];  // the most Linux takes
  std::snprintf(name, sizeof name, "gridwave-%d", number);
#if defined(__linux__)
  pthread_setname_np(pthread_self(), name);
#elif defined(__APPLE__)
  pthread_setname_np(name);
#endif
}

void Pool::serve(int number) {
  name_this_thread(number);
  const auto may_join = [this] { return loop_ != nullptr && places_ > 0 && loop_->has_pieces(); };
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    opened_.wait(lock, may_join);
    if (caller_cpu_ >= 0 && caller_cpu_ == current_cpu()) {
      // Linux likes to wake a thread where its waker runs, in virtual machines in particular, whose other CPUs look
      // taken when they sleep. A piece taken there would only be waited for, so first go elsewhere. Measured: work of
      // 40 us took 70 us with the piece taken at once, 40 us after moving to a busy CPU and 21 us to a free one.
      const int cpu = caller_cpu_;
      lock.unlock();
      leave_cpu(cpu);
      lock.lock();
      if (!may_join()) continue;
    }
    Loop& loop = *loop_;
    const int64_t piece = loop.take();
    if (piece >= loop.pieces) continue;
    --places_;
    const bool more = places_ > 0;
    const int worker = next_worker_++;
    working_.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();

    if (more) wake_two();
    std::fesetenv(&loop.floating);
    loop.work(piece, worker, Interrupts(0));
    if (current_.load(std::memory_order_relaxed) != this) std::_Exit(EXIT_FAILURE);  // a body forked; nobody waits here

    lock.lock();
    const int64_t opening = openings_.load(std::memory_order_relaxed);
    const bool last = working_.fetch_sub(1, std::memory_order_release) == 1;  // from here on `loop` may be gone
    if (last && loop_ == nullptr) emptied_.notify_one();
    lock.unlock();
    spin_until([&] { return openings_.load(std::memory_order_relaxed) != opening; });
    lock.lock();
  }
}

void* Pool::thread_main(void* pool) {
  Pool& self = *static_cast<Pool*>(pool);
  self.serve(self.named_.fetch_add(1, std::memory_order_relaxed) + 1);
  return nullptr;
}

// Code that a sleeping thread will return to may not be unmapped: dlclose() of this library does nothing from here on.
void stay_loaded() noexcept {
#if defined(GW_MAY_BE_UNLOADED) && defined(RTLD_NOLOAD) && defined(RTLD_NODELETE)
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&stay_loaded), &library) != 0 && library.dli_fname != nullptr) {
    dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
#endif
}

// Best effort: with fewer threads than wished for, loops are slower and nothing else.
void Pool::grow(int threads) noexcept {
  if (threads_ == 0) stay_loaded();
  // A new thread inherits the mask. Signals are for the application's threads; but faults raised by a worker itself
  // have to reach crash handlers, and cannot be held back anyway.
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, fault);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    while (threads_ < threads && pthread_create(&thread, &attributes, &Pool::thread_main, this) == 0) ++threads_;
    pthread_attr_destroy(&attributes);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

int workers_for(int64_t pieces, double cost_ns) noexcept {
  if (pieces <= 1 || !(cost_ns >= thread_worth_ns) || this_thread().in_loop) return 1;
  double workers = std::min(num_threads(), most_threads);
  workers = std::min(workers, cost_ns / thread_worth_ns + 1);
  return static_cast<int>(std::min(workers, static_cast<double>(pieces)));
}

Outcome run_pieces(int workers, int64_t pieces, double cost_ns, PieceBody body) {
  // Half of the range stays free so that take() cannot overflow after the end.
  constexpr int64_t most_pieces = std::numeric_limits<int64_t>::max() / 2;
  if (workers > 1 && pieces > 1 && pieces <= most_pieces && !this_thread().in_loop) {
    Pool& pool = Pool::of_this_process();
    if (pool.claim()) {
      Loop loop(pieces, body);
      pool.run(loop, static_cast<int>(std::min<int64_t>(workers, pieces)), cost_ns);
      if (loop.error) std::rethrow_exception(loop.error);
      return loop.interrupted ? Outcome::interrupted : Outcome::done;
    }
  }
  return run_here(pieces, cost_ns, body);
}

}  // namespace gw
