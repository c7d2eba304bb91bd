// SPDX-License-Identifier: Apache-2.0
// Arrays for the drivers: every dtype and any strides, between pages that must not be touched, in memory of which every
// byte that belongs to no element is checked. Conversions are written here once more, in double.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "gridwave/gridwave.h"

constexpr int dtype_count = 7, stored_dtype_count = 10;  // those that grid_sample takes; all
inline bool is_float(int dtype) { return dtype <= GW_BFLOAT16; }
inline int64_t size_of(int dtype) {
  static const int64_t sizes[stored_dtype_count] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 8};
  return sizes[dtype];
}

// Of a 16-bit float with `fraction` bits of fraction and exponents down to 2^lowest.
inline double half_value(uint16_t bits, int fraction, int lowest) {
  const int exponent = (bits & 0x7fff) >> fraction, mantissa = bits & ((1 << fraction) - 1);
  const int special = (1 << (15 - fraction)) - 1;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == special) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, lowest - fraction);
  return sign * std::ldexp(mantissa + (1 << fraction), lowest - fraction + exponent - 1);
}
// To nearest, half to even.
inline uint16_t half_bits(double value, int fraction, int lowest) {
  const int special = (1 << (15 - fraction)) - 1;
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | special << fraction | 1 << (fraction - 1));
  value = std::fabs(value);
  if (std::isinf(value)) return static_cast<uint16_t>(sign | special << fraction);
  int exponent = lowest;
  if (value >= std::ldexp(1, lowest)) std::frexp(value, &exponent), --exponent;
  const double units = std::nearbyint(std::ldexp(value, fraction - exponent));
  const auto steps = static_cast<int64_t>(units) + (static_cast<int64_t>(exponent - lowest) << fraction);
  const int64_t most = static_cast<int64_t>(special) << fraction;
  return static_cast<uint16_t>(sign | (steps > most ? most : steps));
}

// Not inlined: GCC would warn about the cases that the caller's type rules out.
[[gnu::noinline]] inline double load(int dtype, const void* p) {
  const auto as = [&](auto v) {
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  switch (dtype) {
    case GW_FLOAT32: return as(float());
    case GW_FLOAT64: return as(double());
    case GW_FLOAT16: return half_value(as(uint16_t()), 10, -14);
    case GW_BFLOAT16: return half_value(as(uint16_t()), 7, -126);
    case GW_UINT8: return as(uint8_t());
    case GW_INT8: return as(int8_t());
    case GW_INT16: return as(int16_t());
    case GW_INT32: return as(int32_t());
    case GW_INT64: return static_cast<double>(as(int64_t()));
    default: return as(uint16_t());
  }
}
inline void store(int dtype, void* p, double value) {
  const auto put = [&](auto v) { std::memcpy(p, &v, sizeof v); };
  switch (dtype) {
    case GW_FLOAT32: return put(static_cast<float>(value));
    case GW_FLOAT64: return put(value);
    case GW_FLOAT16: return put(half_bits(value, 10, -14));
    case GW_BFLOAT16: return put(half_bits(value, 7, -126));
    case GW_UINT8: return put(static_cast<uint8_t>(value));
    case GW_INT8: return put(static_cast<int8_t>(value));
    case GW_INT16: return put(static_cast<int16_t>(value));
    case GW_INT32: return put(static_cast<int32_t>(value));
    case GW_INT64: return put(static_cast<int64_t>(value));
    default: return put(static_cast<uint16_t>(value));
  }
}

// How an array lies in memory.
enum class Lies { dense, turned, padded, backwards, spread, shared, count };  // shared: one item for the whole batch

// Whole pages with an untouchable one before and after.
class Pages {
 public:
  explicit Pages(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    inner_ = (bytes + page - 1) / page * page;
    all_ = inner_ + 2 * page;
    void* p = mmap(nullptr, all_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || (inner_ && mprotect(static_cast<char*>(p) + page, inner_, PROT_READ | PROT_WRITE) != 0))
      std::perror("mmap"), std::abort();
    base_ = static_cast<char*>(p);
    begin_ = base_ + page;
  }
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept {
    std::swap(base_, other.base_), std::swap(begin_, other.begin_), std::swap(inner_, other.inner_);
    std::swap(all_, other.all_);
    return *this;
  }
  Pages(const Pages&) = delete;
  ~Pages() {
    if (base_) munmap(base_, all_);
  }
  char* begin() const { return begin_; }
  size_t size() const { return inner_; }

 private:
  char *base_ = nullptr, *begin_ = nullptr;
  size_t inner_ = 0, all_ = 0;
};

class Array {
 public:
  // Flush with the page after it (so that reading one element too far is a crash), or with the one before.
  Array(int dtype, const std::vector<int64_t>& shape, Lies lies = Lies::dense, bool at_end = true)
      : lies_(lies), pages_(place(dtype, shape, lies, at_end)) {
    t_.data = origin_ = pages_.begin() + offset_;
    if (pages_.size()) std::memset(pages_.begin(), filling, pages_.size());
  }

  const gw_tensor* tensor() const { return &t_; }
  const gw_tensor* operator->() const { return &t_; }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < t_.rank; ++i) n *= t_.shape[i];
    return n;
  }

  // Element i in row-major order of the shape.
  char* address(int64_t i) const {
    int64_t at = 0;
    for (int a = t_.rank - 1; a >= 0; --a) {
      at += i % t_.shape[a] * t_.stride[a];
      i /= t_.shape[a];
    }
    return origin_ + at * size_of(t_.dtype);
  }
  double get(int64_t i) const { return load(t_.dtype, address(i)); }
  void set(int64_t i, double value) { store(t_.dtype, address(i), value); }
  double at(int64_t i, int64_t j, int64_t k, int64_t l) const {
    const int64_t offset = i * t_.stride[0] + j * t_.stride[1] + k * t_.stride[2] + l * t_.stride[3];
    return load(t_.dtype, origin_ + offset * size_of(t_.dtype));
  }

  // For outputs: bytes outside the elements are as they were made.
  bool surroundings_intact() const {
    std::vector<bool> element(pages_.size());
    const int64_t size = size_of(t_.dtype), n = count();
    for (int64_t i = 0; i < n; ++i) {
      const char* p = address(i);
      for (int64_t b = 0; b < size; ++b) element[static_cast<size_t>(p - pages_.begin() + b)] = true;
    }
    for (size_t b = 0; b < pages_.size(); ++b)
      if (!element[b] && pages_.begin()[b] != filling) return false;
    return true;
  }
  bool untouched() const {  // nothing was written at all
    for (size_t b = 0; b < pages_.size(); ++b)
      if (pages_.begin()[b] != filling) return false;
    return true;
  }
  // For inputs: all bytes, to compare before and after.
  std::vector<char> bytes() const { return {pages_.begin(), pages_.begin() + pages_.size()}; }
  bool same_as(const std::vector<char>& before) const {
    return before.size() == pages_.size() && (before.empty() || std::memcmp(before.data(), pages_.begin(), before.size()) == 0);
  }
  Lies lies() const { return lies_; }

 private:
  static constexpr char filling = 0x5a;

  Pages place(int dtype, const std::vector<int64_t>& shape, Lies lies, bool at_end) {
    t_ = gw_tensor{};
    t_.dtype = dtype;
    t_.rank = static_cast<int32_t>(shape.size());
    int order[GW_MAX_RANK];  // from the axis that varies fastest
    for (int i = 0; i < t_.rank; ++i) order[i] = t_.rank - 1 - i;
    if (lies == Lies::turned && t_.rank >= 3) {  // channels last for an NCHW shape, and the other way round
      order[0] = 1;
      for (int i = 1; i < t_.rank - 1; ++i) order[i] = t_.rank - i;
    }
    int64_t step = lies == Lies::spread ? 3 : 1, low = 0, high = 0;
    bool empty = false;
    for (int i = 0; i < t_.rank; ++i) {
      const int axis = order[i];
      const int64_t length = shape[static_cast<size_t>(axis)];
      empty = empty || length == 0;
      t_.shape[axis] = length;
      t_.stride[axis] = lies == Lies::shared && axis == 0 ? 0 : lies == Lies::backwards ? -step : step;
      step *= length > 0 ? length : 1;
      if (lies == Lies::padded) step += i + 1;
      if (lies == Lies::shared && axis == 0) continue;
      if (length > 0) (t_.stride[axis] < 0 ? low : high) += (length - 1) * t_.stride[axis];
    }
    const int64_t bytes = empty ? 0 : (high - low + 1) * size_of(dtype);
    Pages pages(static_cast<size_t>(bytes));
    offset_ = -low * size_of(dtype) + (at_end ? static_cast<int64_t>(pages.size()) - bytes : 0);
    return pages;
  }

  gw_tensor t_ = {};
  Lies lies_;
  int64_t offset_ = 0;
  char* origin_ = nullptr;
  Pages pages_;
};
