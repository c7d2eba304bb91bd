// SPDX-License-Identifier: Apache-2.0
// Pillow's three filters at one position inside the image. Differences of neighbours are taken in the pixel's own
// type (int for uint8, with int32 wrapping), the rest in double; integers are truncated.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gridwave/gridwave.h"
#include "transforming/convert.hpp"

namespace gw {

template <class T>
struct PillowSource {
  const T* data;
  int64_t width, height, row_step, step, channel_step;
  explicit PillowSource(const gw_tensor& t)
      : data(static_cast<const T*>(t.data)), width(t.shape[1]), height(t.shape[0]), row_step(t.stride[0]),
        step(t.stride[1]), channel_step(t.stride[2]) {}
  const T* row(int64_t y) const { return data + y * row_step; }
};

inline int64_t clipped(int64_t i, int64_t length) { return i < 0 ? 0 : i < length ? i : length - 1; }

// A number whose sums wrap, as int32 sums do in the machine.
struct Wrapping {
  uint32_t bits;
  friend Wrapping operator+(Wrapping a, Wrapping b) { return {a.bits + b.bits}; }
  friend Wrapping operator-(Wrapping a, Wrapping b) { return {a.bits - b.bits}; }
  explicit operator double() const { return (double)(int32_t)bits; }
};
template <class T>
auto number(T v) {
  if constexpr (std::is_same_v<T, int32_t>) return Wrapping{(uint32_t)v};
  else if constexpr (std::is_integral_v<T>) return (int)v;
  else return v;  // float and double
}

template <class T>
T stored(double v) {
  if constexpr (std::is_same_v<T, int32_t>) return truncated<int32_t>(v);
  else if constexpr (std::is_integral_v<T>)
    return v <= 0.0 ? 0 : v >= (double)(T)-1 ? (T)-1 : (T)v;
  else return (T)v;
}

template <class T>
double linear(T a, T b, double d) {
  const auto p = number(a), q = number(b);
  return (double)p + (double)(q - p) * d;
}

// Keys' cubic with a = -1.
template <class T>
double cubic(T a, T b, T c, T e, double d) {
  const auto v1 = number(a), v2 = number(b), v3 = number(c), v4 = number(e);
  const auto difference = v1 - v2;
  const double p1 = (double)v2, p2 = (double)(v3 - v1), p3 = (double)(difference + difference + v3 - v4);
  const double p4 = (double)(v2 - v1 - v3 + v4);
  return p1 + d * (p2 + d * (p3 + d * p4));
}

struct NearestFilter {
  static constexpr double cost_ns = 1;
  template <class T>
  struct At {
    const T* pixel;
    At(const PillowSource<T>& from, double x, double y) : pixel(from.row((int64_t)y) + (int64_t)x * from.step) {}
    T value(int64_t c) const { return pixel[c]; }
  };
};

struct BilinearFilter {
  static constexpr double cost_ns = 4;
  template <class T>
  struct At {
    const T *upper, *lower;  // lower is null past the last row
    int64_t x0, x1;
    double dx, dy;
    At(const PillowSource<T>& from, double x, double y) {
      const double fx = std::floor(x - 0.5), fy = std::floor(y - 0.5);
      const int64_t i = (int64_t)fx, j = (int64_t)fy;
      dx = x - 0.5 - fx;
      dy = y - 0.5 - fy;
      x0 = clipped(i, from.width) * from.step;
      x1 = clipped(i + 1, from.width) * from.step;
      upper = from.row(clipped(j, from.height));
      lower = j + 1 < from.height ? from.row(j + 1) : nullptr;
    }
    T value(int64_t c) const {
      const double above = linear(upper[x0 + c], upper[x1 + c], dx);
      const double below = lower ? linear(lower[x0 + c], lower[x1 + c], dx) : above;
      return stored<T>(linear(above, below, dy));
    }
  };
};

struct BicubicFilter {
  static constexpr double cost_ns = 15;
  template <class T>
  struct At {
    const T* rows[4];  // null outside, but for the first: such a row is the one before it again
    int64_t at[4];
    double dx, dy;
    At(const PillowSource<T>& from, double x, double y) {
      const double fx = std::floor(x - 0.5), fy = std::floor(y - 0.5);
      const int64_t i = (int64_t)fx - 1, j = (int64_t)fy - 1;
      dx = x - 0.5 - fx;
      dy = y - 0.5 - fy;
      for (int k = 0; k < 4; ++k) at[k] = clipped(i + k, from.width) * from.step;
      rows[0] = from.row(clipped(j, from.height));
      for (int k = 1; k < 4; ++k) rows[k] = j + k >= 0 && j + k < from.height ? from.row(j + k) : nullptr;
    }
    T value(int64_t c) const {
      double v[4], last = 0;
      for (int k = 0; k < 4; ++k) {
        const T* row = rows[k];
        if (row) last = cubic(row[at[0] + c], row[at[1] + c], row[at[2] + c], row[at[3] + c], dx);
        v[k] = last;
      }
      return stored<T>(cubic(v[0], v[1], v[2], v[3], dy));
    }
  };
};

}  // namespace gw
