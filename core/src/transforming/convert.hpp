// SPDX-License-Identifier: Apache-2.0
// Conversions that C leaves undefined outside the integer's range, as x86 does them: the recorded programs ran there.
#pragma once

#include <cstdint>
#include <limits>

namespace gw {

// The lowest integer for NaN and for what does not fit.
template <class Integer, class Real>
Integer truncated(Real v) {
  constexpr Real limit = -(Real)std::numeric_limits<Integer>::min();  // a power of two, so exact
  return v >= -limit && v < limit ? (Integer)v : std::numeric_limits<Integer>::min();
}

}  // namespace gw
