// SPDX-License-Identifier: Apache-2.0
// Scratch memory of one call.
#pragma once

#include <cstddef>
#include <memory>

namespace gw {

struct FreeScratch {
  void operator()(void* memory) const noexcept;
};
template <class T>
using Scratch = std::unique_ptr<T[], FreeScratch>;

// Uninitialised, aligned to 64 bytes; large blocks lie on huge pages where the system has them. Raises std::bad_alloc.
void* allocate_scratch(std::size_t bytes);

template <class T>
Scratch<T> scratch(std::size_t count) {
  return Scratch<T>(static_cast<T*>(allocate_scratch(count * sizeof(T))));
}

}  // namespace gw
