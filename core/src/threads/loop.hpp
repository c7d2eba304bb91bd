// SPDX-License-Identifier: Apache-2.0
//
// Inside the pool: what a thread is doing, and one loop over pieces.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstdint>
#include <exception>

#include "threads/pool.hpp"

namespace gw {

struct ThisThread {
  bool in_loop = false;      // inside a body or an interrupt check: loops begun here run here
  bool interrupted = false;  // a loop begun in the current body was interrupted: the enclosing one has to end too
  int32_t (*check)(void*) = nullptr;
  void* context = nullptr;
};
ThisThread& this_thread() noexcept;

// Asks this thread's interrupt check, at most every 50 ms. Loops that end in 5 ms never read the clock.
class Interrupts {
 public:
  explicit Interrupts(double cost_ns) noexcept;
  bool ask() { return on_ && ask_if_due(); }  // true: stop

 private:
  bool ask_if_due();

  bool on_;
  int64_t next_ = 0;
};

// A loop that several threads work on.
struct Loop {
  Loop(int64_t all, PieceBody piece_body) noexcept;

  int64_t take() noexcept { return next.fetch_add(1, std::memory_order_relaxed); }  // >= pieces: none left
  bool has_pieces() const noexcept { return next.load(std::memory_order_relaxed) < pieces; }
  void stop() noexcept { next.store(pieces, std::memory_order_relaxed); }

  // Runs the piece that was taken, and then takes more until there are none. A body's exception stays in `error`.
  void work(int64_t piece, int worker, Interrupts interrupts);

  const PieceBody body;
  const int64_t pieces;
  std::fenv_t floating;  // of the caller: rounding, flushing of denormals, traps
  std::atomic<bool> interrupted{false};
  std::atomic<bool> failed{false};
  std::exception_ptr error;                  // written once, by the thread that turns `failed`
  alignas(64) std::atomic<int64_t> next{0};  // alone in its cache line: everyone writes it
};

// The whole loop on this thread, as worker 0.
Outcome run_here(int64_t pieces, double cost_ns, PieceBody body);

}  // namespace gw
