// SPDX-License-Identifier: Apache-2.0
#include "threads/loop.hpp"

#include <chrono>

#if defined(__linux__)
#include <time.h>
#endif
#if defined(__GLIBCXX__)
#include <cxxabi.h>
#endif

namespace gw {
namespace {

constexpr double interruptible_ns = 5e6;
constexpr int64_t pause_ns = 50000000;

// Marks this thread as inside a loop, for as long as it lives.
class InLoop {
 public:
  explicit InLoop(ThisThread& me) noexcept : me_(me), in_outer_(me.in_loop), outer_interrupted_(me.interrupted) {
    me_.in_loop = true;
    me_.interrupted = false;
  }
  ~InLoop() {
    me_.in_loop = in_outer_;
    me_.interrupted = outer_interrupted_;
  }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;

 private:
  ThisThread& me_;
  bool in_outer_;
  bool outer_interrupted_;
};

// A clock read between pieces has to be cheap: the coarse one steps every 4 ms but costs 5 ns instead of 23.
int64_t coarse_now_ns() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
  timespec now;
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0) {
    return static_cast<int64_t>(now.tv_sec) * 1000000000 + static_cast<int64_t>(now.tv_nsec);
  }
#endif
  const auto now_exactly = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now_exactly).count();
}

}  // namespace

ThisThread& this_thread() noexcept {
  static thread_local ThisThread me;  // constant initial values, nothing to destroy: no guard, no order
  return me;
}

void set_interrupt_check(int32_t (*check)(void*), void* context) noexcept {
  this_thread().check = check;
  this_thread().context = context;
}

Interrupts::Interrupts(double cost_ns) noexcept : on_(cost_ns >= interruptible_ns && this_thread().check != nullptr) {
  if (on_) next_ = coarse_now_ns() + pause_ns;
}

bool Interrupts::ask_if_due() {
  if (coarse_now_ns() < next_) return false;
  const ThisThread me = this_thread();  // a copy: the check may replace or remove itself
  const bool stop = me.check != nullptr && me.check(me.context) != 0;
  next_ = coarse_now_ns() + pause_ns;  // after the check, which may be slow
  return stop;
}

// A result may not depend on who computes it, so the other threads take over the caller's floating-point environment.
Loop::Loop(int64_t all, PieceBody piece_body) noexcept : body(piece_body), pieces(all) { std::fegetenv(&floating); }

void Loop::work(int64_t piece, int worker, Interrupts interrupts) {
  ThisThread& me = this_thread();
  const InLoop in_loop(me);
  try {
    for (; piece < pieces; piece = take()) {
      bool stopped = interrupts.ask();
      if (!stopped) {
        body(piece, worker);
        stopped = me.interrupted;
      }
      if (stopped) {
        interrupted.store(true, std::memory_order_relaxed);
        stop();
        return;
      }
    }
#if defined(__GLIBCXX__)
  } catch (abi::__forced_unwind&) {  // the thread itself is being ended (pthread_exit): that may not be swallowed
    stop();
    throw;
#endif
  } catch (...) {
    if (!failed.exchange(true)) error = std::current_exception();
    stop();
  }
}

Outcome run_here(int64_t pieces, double cost_ns, PieceBody body) {
  ThisThread& me = this_thread();
  bool stopped = false;
  {
    const InLoop in_loop(me);
    Interrupts interrupts(cost_ns);
    for (int64_t piece = 0; piece < pieces && !stopped; ++piece) {
      stopped = interrupts.ask();
      if (!stopped) {
        body(piece, 0);
        stopped = me.interrupted;
      }
    }
  }
  if (!stopped) return Outcome::done;
  me.interrupted = me.in_loop;  // tells the enclosing loop, if there is one
  return Outcome::interrupted;
}

}  // namespace gw
