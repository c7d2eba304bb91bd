// SPDX-License-Identifier: Apache-2.0
// What the drivers share: a CHECK that prints where it failed, and random numbers that are the same everywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

inline std::atomic<int> failures{0};

// Prints file:line and what fails, the first few times; the exit status of a driver says whether anything did.
#define CHECK(condition)                                                                                \
  do {                                                                                                  \
    if (!(condition) && ++failures <= 20) std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
  } while (0)

// SplitMix64: the standard library's distributions differ between libraries.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool one_in(int64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};
