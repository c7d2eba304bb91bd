// SPDX-License-Identifier: Apache-2.0
// Samples to B-spline coefficients, several lines side by side; conversions in and out. Compiled once for each
// instruction set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/kernels.hpp"
#include "gridwave/splines.h"

namespace gw {
namespace GW_ISA {
namespace {

// After this many samples a pole's power is below a double's rounding.
inline int64_t horizon(double pole) { return (int64_t)std::ceil(std::log(1e-18) / std::log(std::fabs(pole))); }

template <int width>
struct Vector {
  typedef double type __attribute__((vector_size(width * sizeof(double))));
};
template <>
struct Vector<1> {
  typedef double type;
};

// c[i] += z c[i - 1] upwards, c[i] = z (c[i + 1] - c[i]) downwards; where they begin is the boundary's: as if the samples
// went on for ever as it says. Sums end at the horizon, or after one period, then divided by 1 - z^period.
template <int width, int count>
struct Lines {
  using V = typename Vector<width>::type;
  struct Set {
    V v[count];
  };
  double* data;
  int64_t n, step;
  double z;

  Set at(int64_t i) const {
    Set s;
    std::memcpy(&s, data + i * step, sizeof s);
    return s;
  }
  void put(int64_t i, const Set& s) const { std::memcpy(data + i * step, &s, sizeof s); }
  static void add(Set& to, const Set& from, double factor) {
    for (int l = 0; l < count; ++l) to.v[l] += from.v[l] * factor;
  }
  static void scale(Set& to, double factor) {
    for (int l = 0; l < count; ++l) to.v[l] *= factor;
  }

  void begin_mirror(Set& sum) const {
    const int64_t far = horizon(z), most = std::min(n, far);
    double power = 1;
    for (int64_t i = 0; i < most; ++i, power *= z) add(sum, at(i), power);
    if (n >= far) return;
    for (int64_t i = n - 2; i >= 1; --i, power *= z) add(sum, at(i), power);
    scale(sum, 1 / (1 - power));
  }
  // SciPy adds up in place of the first sample: its last term takes the sum so far for that sample.
  void begin_reflect(Set& sum, bool in_place) const {
    const int64_t far = horizon(z), most = std::min(n, far);
    double power = z;
    for (int64_t i = 0; i < most; ++i, power *= z) add(sum, at(i), power);
    if (n < far) {
      for (int64_t i = n - 1; i >= 1; --i, power *= z) add(sum, at(i), power);
      Set first = at(0);
      if (in_place) {
        first = sum;
        add(first, at(n - 1), -std::pow(z, (double)n));
        scale(first, 1 / z);
      }
      add(sum, first, power);
      scale(sum, 1 / (1 - power));
    }
    add(sum, at(0), 1);
  }
  void begin_wrap(Set& sum) const {
    const int64_t far = horizon(z), most = std::min(n, far);
    add(sum, at(0), 1);
    double power = z;
    for (int64_t i = 1; i < most; ++i, power *= z) add(sum, at(n - i), power);
    if (n < far) scale(sum, 1 / (1 - power));
  }
  void end_wrap(Set& sum) const {
    const int64_t far = horizon(z), most = std::min(n, far);
    add(sum, at(n - 1), -z);
    double power = -z * z;
    for (int64_t i = 0; i < most - 1; ++i, power *= z) add(sum, at(i), power);
    if (n < far) scale(sum, 1 / (1 - std::pow(z, (double)n)));
  }

  void run(int32_t boundary, bool in_place) const {  // n >= 2
    Set c = {};
    if (boundary == GW_SPLINE_REFLECT) begin_reflect(c, in_place);
    else if (boundary == GW_SPLINE_GRID_WRAP) begin_wrap(c);
    else begin_mirror(c);
    put(0, c);
    for (int64_t i = 1; i < n; ++i) {
      const Set s = at(i);
      for (int l = 0; l < count; ++l) c.v[l] = s.v[l] + c.v[l] * z;
      put(i, c);
    }
    c = {};
    if (boundary == GW_SPLINE_REFLECT) add(c, at(n - 1), z / (z - 1));
    else if (boundary == GW_SPLINE_GRID_WRAP) end_wrap(c);
    else add(c, at(n - 1), z / (z * z - 1)), add(c, at(n - 2), z * z / (z * z - 1));
    put(n - 1, c);
    for (int64_t i = n - 2; i >= 0; --i) {
      const Set s = at(i);
      for (int l = 0; l < count; ++l) c.v[l] = (c.v[l] - s.v[l]) * z;
      put(i, c);
    }
  }
};

void filter(double* data, int64_t n, int64_t step, int64_t lines, double pole, int32_t boundary, bool in_place) {
  int64_t l = 0;
  for (; l + spline_lines <= lines; l += spline_lines)
    Lines<8, spline_lines / 8>{data + l, n, step, pole}.run(boundary, in_place);
  for (; l + 4 <= lines; l += 4) Lines<4, 1>{data + l, n, step, pole}.run(boundary, in_place);
  for (; l < lines; ++l) Lines<1, 1>{data + l, n, step, pole}.run(boundary, in_place);
}

// to[column][row] = from[row][column]
void turn(const double* from, int64_t from_step, double* to, int64_t to_step, int64_t rows, int64_t columns) {
  int64_t j = 0;
  for (; j + 8 <= columns; j += 8)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t l = 0; l < 8; ++l) to[(j + l) * to_step + i] = from[i * from_step + j + l];
  for (; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) to[j * to_step + i] = from[i * from_step + j];
}

template <class T>
void load(const void* from, int64_t step, double scale, double* to, int64_t count) {
  const T* p = static_cast<const T*>(from);
  if (step == 1)
    for (int64_t i = 0; i < count; ++i) to[i] = (double)p[i] * scale;
  else
    for (int64_t i = 0; i < count; ++i) to[i] = (double)p[i * step] * scale;
}

// Integers: half away from zero, by adding a half as SciPy does, and saturated; NaN as the lowest.
template <class T>
inline T stored(double v) {
  if constexpr (std::is_floating_point_v<T>) {
    return (T)v;
  } else {
    constexpr double low = (double)std::numeric_limits<T>::min();
    constexpr double high = sizeof(T) == 8 ? 9223372036854774784.0 : (double)std::numeric_limits<T>::max();
    v = v > 0 ? v + 0.5 : v - 0.5;
    return v > low ? (v < high ? (T)v : (v > high ? std::numeric_limits<T>::max() : (T)high))
                   : std::numeric_limits<T>::min();
  }
}

template <class T>
void store(const double* from, void* to, int64_t step, int64_t count) {
  T* p = static_cast<T*>(to);
  if (step == 1)
    for (int64_t i = 0; i < count; ++i) p[i] = stored<T>(from[i]);
  else
    for (int64_t i = 0; i < count; ++i) p[i * step] = stored<T>(from[i]);
}

template <class T>
void add(Kernels& k, int type) {
  k.splines.load[type] = load<T>;
  k.splines.store[type] = store<T>;
}

}  // namespace

void add_spline_filter_kernels(Kernels& k) {
  k.splines.filter = filter;
  k.splines.turn = turn;
  add<float>(k, GW_FLOAT32);
  add<double>(k, GW_FLOAT64);
  add<uint8_t>(k, GW_UINT8);
  add<int8_t>(k, GW_INT8);
  add<uint16_t>(k, GW_UINT16);
  add<int16_t>(k, GW_INT16);
  add<int32_t>(k, GW_INT32);
  add<int64_t>(k, GW_INT64);
}

}  // namespace GW_ISA
}  // namespace gw
