// SPDX-License-Identifier: Apache-2.0
//
// parallel_for: a loop over pieces of work that may use several threads.
//
//   gw::parallel_for(pieces, cost_ns, [&](int64_t piece, int worker) { ... });
//
// Every piece runs exactly once; pieces are dealt in ascending order to whoever is free, so a result must not depend
// on who takes which. `worker` differs between threads that run at the same time in this loop: it picks scratch
// memory. A loop inside a body, and a loop that finds the pool busy with another thread's, runs on its own thread as
// worker 0 of its own loop: scratch belongs to one loop.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "threads/budget.hpp"

namespace gw {

enum class Outcome { done, interrupted };

// Work of less than this much time of one thread is not worth a second thread.
// Measured on a 2-core KVM guest (AMD EPYC, Linux 6.18): a sleeping thread runs its first piece 16 us after the call
// (median, 50 us after the loop before), of which 7 us are the caller's, waking it. Four times 15 us. There, two
// threads break even at 40 us of work and gain a third at 60 us. A thread that still spins, less than 20 us after the
// loop before, starts within 1 us. After pauses of milliseconds the guest's other CPU is asleep: 40 to 120 us.
constexpr double thread_worth_ns = 60e3;

// A reference to something callable as (int64_t piece, int worker). It owns nothing and allocates nothing.
class PieceBody {
 public:
  // Not for a PieceBody itself: for one that is not const this would win over the copy constructor, and refer to a
  // reference that may be gone.
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cv_t<F>, PieceBody>>>
  explicit PieceBody(F& body) noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))), call_(&call<F>) {}

  void operator()(int64_t piece, int worker) const { call_(object_, piece, worker); }

 private:
  template <class F>
  static void call(void* object, int64_t piece, int worker) {
    (*static_cast<F*>(object))(piece, worker);
  }

  void* object_;
  void (*call_)(void*, int64_t, int);
};

// check(context) is called now and then from loops of the thread that set it; non-zero ends the loop. It may not
// outlive its context. nullptr removes it.
void set_interrupt_check(int32_t (*check)(void*), void* context) noexcept;

// An upper bound of the workers parallel_for would use for this work if called now from this thread: 1 inside a body
// and for small work, never more than num_threads(), pieces, or cost_ns / thread_worth_ns + 1.
int workers_for(int64_t pieces, double cost_ns) noexcept;

Outcome run_pieces(int workers, int64_t pieces, double cost_ns, PieceBody body);

// Runs body(piece, worker) for every piece in [0, pieces), worker in [0, num_threads()). cost_ns: about how long all of
// it takes one thread. The first exception of a body ends the loop and comes out here, after every running piece has
// finished; so does an interrupt, as Outcome::interrupted (in an enclosing loop too). In both cases the pieces not
// yet begun are skipped.
template <class F>
Outcome parallel_for(int64_t pieces, double cost_ns, F&& body) {
  return run_pieces(workers_for(pieces, cost_ns), pieces, cost_ns, PieceBody(body));
}

// The same with worker in [0, workers), for scratch memory that was sized by workers_for() before: another thread may
// change num_threads() in between.
template <class F>
Outcome parallel_for_with(int workers, int64_t pieces, double cost_ns, F&& body) {
  return run_pieces(workers, pieces, cost_ns, PieceBody(body));
}

}  // namespace gw
