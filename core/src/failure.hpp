// SPDX-License-Identifier: Apache-2.0
// A failed check on its way to the C interface, which turns it into a status and a sentence.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "gridwave/gridwave.h"

namespace gw {

struct Failure : std::runtime_error {
  gw_status status;
  Failure(gw_status s, const std::string& text) : std::runtime_error(text), status(s) {}
};

// A sentence as printf makes it.
[[noreturn]] __attribute__((format(printf, 2, 3))) void fail(gw_status status, const char* format, ...);

std::string shape_text(const gw_tensor& t);
const char* type_name(int32_t dtype);

}  // namespace gw
