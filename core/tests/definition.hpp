// SPDX-License-Identifier: Apache-2.0
// grid_sample and its gradients once more, for images, volumes and signals, one point and one tap at a time, for the
// drivers to compare with.
//
// Coordinates are computed in T, the type the library promises to compute them in, by the reference framework's
// expressions, so that ties and whole pixels fall alike; all that follows is in double. Beside each value stands the
// largest error that rounding in T may make: for every tap its rounding of weight and product, times what it weighs.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "arrays.hpp"

struct Results {
  std::vector<double> value, allowed;
  explicit Results(int64_t n = 0) : value(static_cast<size_t>(n)), allowed(static_cast<size_t>(n)) {}
  void add(int64_t i, double v, double error) {
    value[static_cast<size_t>(i)] += v;
    allowed[static_cast<size_t>(i)] += error;
  }
};

// A coordinate, its derivative by the grid value, and whether it is too far away for anything to be promised.
template <class T>
struct Position {
  T p = 0, slope = 0;
  bool outside = false, anywhere = false;
};

template <class T>
class Definition {
 public:
  static constexpr double eps = sizeof(T) == 4 ? 0x1p-23 : 0x1p-52;

  Definition(const gw_grid_sample_spec& spec, const Array& x, const Array& grid) : s_(spec), x_(x), grid_(grid) {
    const bool last = s_.layout == GW_NHWC;
    axes_ = x->rank - 2;
    n_ = x->shape[0], c_ = x->shape[last ? axes_ + 1 : 1];
    points_ = 1;
    for (int a = 0; a < axes_; ++a) {
      size_[a] = x->shape[(last ? axes_ : axes_ + 1) - a];
      points_ *= grid->shape[1 + a];
    }
  }
  int64_t points() const { return points_; }
  int64_t outputs() const { return n_ * c_ * points(); }
  int64_t output(int64_t n, int64_t c, int64_t p) const {  // row-major position in out's shape
    return s_.layout == GW_NHWC ? (n * points() + p) * c_ + c : (n * c_ + c) * points() + p;
  }
  int64_t pixel(int64_t n, int64_t c, const int64_t (&at)[3]) const {
    int64_t voxel = 0, voxels = 1;
    for (int a = axes_ - 1; a >= 0; --a) voxel = voxel * size_[a] + at[a], voxels *= size_[a];
    return s_.layout == GW_NHWC ? (n * voxels + voxel) * c_ + c : (n * c_ + c) * voxels + voxel;
  }

  Results forward(std::vector<char>* anywhere = nullptr) const {
    Results r(outputs());
    each_tap([&](int64_t n, int64_t p, const Tap& tap) {
      for (int64_t c = 0; c < c_; ++c) {
        const double v = value(n, c, tap);
        r.add(output(n, c, p), v * tap.weight, std::fabs(v) * tap.weight_error);
      }
    }, [&](int64_t n, int64_t p) {
      if (anywhere) anywhere->resize(static_cast<size_t>(outputs()));
      for (int64_t c = 0; anywhere && c < c_; ++c) (*anywhere)[static_cast<size_t>(output(n, c, p))] = 1;
    });
    return r;
  }

  // grad_x as x's shape, grad_grid as grid's. False if a point may be anywhere: then nothing can be compared.
  bool backward(const Array& grad_output, Results& grad_x, Results& grad_grid) const {
    bool certain = true;
    grad_x = Results(x_.count());
    grad_grid = Results(grid_.count());
    std::vector<double> contributions(grad_x.value.size());
    each_tap([&](int64_t n, int64_t p, const Tap& tap) {
      for (int64_t c = 0; c < c_; ++c) {
        const double g = grad_output.get(output(n, c, p)), v = value(n, c, tap);
        const int64_t to = pixel(n, c, tap.at), point = (n * points() + p) * axes_;
        grad_x.add(to, g * tap.weight, std::fabs(g) * tap.weight_error);
        contributions[static_cast<size_t>(to)] += std::fabs(g * tap.weight);
        // Sums over channels and taps round once for each, whatever their order.
        const double scale = std::fabs(g * v), order = 2.0 * static_cast<double>(c_) * eps;
        for (int a = 0; a < axes_; ++a)
          grad_grid.add(point + a, g * v * tap.d[a], scale * (tap.d_error[a] + std::fabs(tap.d[a]) * order));
      }
    }, [&](int64_t, int64_t) { certain = false; });
    // As many as 16 taps of a point may fall together, 64 in a volume.
    const double order = eps * (axes_ == 3 ? 64.0 : 16.0) * static_cast<double>(points());
    for (size_t i = 0; i < contributions.size(); ++i) grad_x.allowed[i] += contributions[i] * order;
    return certain;
  }

 private:
  struct Tap {
    int64_t at[3];
    double weight, weight_error, d[3], d_error[3];
  };
  struct AxisTap {
    int64_t index;  // -1: does not count
    double weight, error, slope, slope_error;
  };

  double value(int64_t n, int64_t c, const Tap& tap) const { return x_.get(pixel(n, c, tap.at)); }

  static T reflected(T p, T low, T span2, bool* odd) {
    const T q = std::fabs(p - low), extra = q - std::trunc(q / span2) * span2, back = span2 - extra;
    if (odd) *odd = (p < low) != (extra > back);
    return (extra > back ? back : extra) + low;
  }
  // About the first mirror, then about the last.
  static T reflected_once(T p, T low, T span, bool* odd) {
    const T q = std::fabs(p - low);
    *odd = (p < low) != (q > span);
    return span - std::fabs(q - span) + low;
  }
  static T clipped(T p, T size) {  // NaN: 0
    if (!(p > T(0))) return T(0);
    return p < size - 1 ? p : size - 1;
  }
  T rounded(T p) const {
    if (s_.rounding == GW_HALF_UP) return std::floor(p + T(0.5));
    return s_.rounding == GW_HALF_AWAY ? std::round(p) : std::nearbyint(p);
  }

  Position<T> position(T g, int64_t length) const {
    const T size = static_cast<T>(length), low = s_.align_corners ? T(0) : T(-0.5);
    const T span2 = T(2) * (s_.align_corners ? size - 1 : size);
    const bool nearest = s_.mode == GW_NEAREST, cubic = s_.mode == GW_BICUBIC;
    Position<T> r;
    const T half = (s_.align_corners ? size - 1 : size) / 2;
    T p = s_.align_corners ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
    if (s_.unnormalise == GW_SCALED) p = g * half + (size - 1) / 2;
    if (s_.unnormalise == GW_SCALED_FUSED) p = std::fma(g, half, half) + low;
    if (s_.nonfinite == GW_NONFINITE_LOWER_BORDER && !(std::fabs(p) <= T(0x1p62))) p = low;
    if (nearest && s_.pad_order == GW_PAD_INDEX) p = rounded(p);
    r.slope = half;
    if (cubic) {
      if (s_.padding == GW_ZEROS) {
        r.outside = !(p > T(-4) && p < size + T(3));
      } else if (s_.padding == GW_BORDER && s_.cubic_padding == GW_CUBIC_COORDINATE) {
        if (!(p >= low && p <= size - 1 - low)) p = clipped(p, size), r.slope = 0;  // beyond the outer edges
      } else if (!(std::fabs(p) <= T(0x1p30))) {  // taps cannot be told apart: an edge pixel, or with reflection any
        r.anywhere = s_.padding == GW_REFLECTION && std::isfinite(p);
        p = s_.padding == GW_REFLECTION ? T(0) : clipped(p, size);
        r.slope = 0;
      } else if (std::fabs(p) >= T(0x1p22) && s_.padding == GW_REFLECTION) {
        r.anywhere = true;
      }
    } else if (s_.padding == GW_ZEROS) {
      r.outside = !(p > T(-2) && p < size + T(1));
    } else {
      bool odd = false;
      // Whole numbers are rounded before they are mirrored about the edges; out here T has no halves to mirror them about.
      r.anywhere = nearest && s_.pad_order == GW_PAD_INDEX && s_.padding == GW_REFLECTION &&
                   std::isfinite(p) && std::fabs(p) >= T(0.25 / eps);
      if (s_.padding == GW_REFLECTION)
        p = !(span2 > 0)                        ? T(0)
            : s_.reflection == GW_REFLECT_ONCE ? reflected_once(p, low, span2 / 2, &odd)
                                               : reflected(p, low, span2, &odd);
      if (odd) r.slope = -r.slope;
      if (!(s_.border_slope == GW_BORDER_SLOPE_INSIDE ? p >= T(0) && p <= size - 1 : p > T(0) && p < size - 1)) r.slope = 0;
      p = clipped(p, size);
    }
    if (nearest && s_.pad_order != GW_PAD_INDEX && !r.outside) p = rounded(p);
    r.p = p;
    return r;
  }

  int64_t counted(int64_t i, int64_t length) const {
    if (i >= 0 && i < length) return i;
    if (s_.mode != GW_BICUBIC || s_.padding == GW_ZEROS) return -1;
    if (s_.padding == GW_BORDER) return i < 0 ? 0 : length - 1;
    if (s_.reflection == GW_REFLECT_ONCE) {  // in half pixels, from the first mirror
      const int64_t mirror = s_.align_corners ? 0 : -1, span = 2 * (s_.align_corners ? length - 1 : length);
      const int64_t from = std::llabs(2 * i - mirror), to = (span - std::llabs(from - span) + mirror) / 2;
      return to < 0 ? 0 : to >= length ? length - 1 : to;
    }
    // Whole indices: mirrored about pixel centres with align_corners, about edges without.
    const int64_t period = s_.align_corners ? 2 * (length - 1) : 2 * length;
    if (period == 0) return 0;
    i = (i % period + period) % period;
    return i < length ? i : s_.align_corners ? period - i : period - 1 - i;
  }

  static double keys(double d, double a) {  // at distance d
    d = std::fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  }
  static double keys_slope(double d, double a) {  // by d
    const double sign = d < 0 ? -1 : 1;
    d = std::fabs(d);
    if (d <= 1) return sign * (3 * (a + 2) * d - 2 * (a + 3)) * d;
    return d < 2 ? sign * ((3 * a * d - 10 * a) * d + 8 * a) : 0;
  }

  // Taps of one axis; slopes are by the grid value.
  int axis_taps(const Position<T>& at, int64_t length, AxisTap* taps) const {
    const double p = static_cast<double>(at.p), first = std::floor(p), t = p - first;
    const double slope = static_cast<double>(at.slope), size = std::fabs(slope);
    if (s_.mode == GW_NEAREST) {
      taps[0] = {counted(static_cast<int64_t>(p), length), 1, 0, 0, 0};
      return 1;
    }
    if (s_.mode == GW_BILINEAR) {
      for (int i = 0; i < 2; ++i)
        taps[i] = {counted(static_cast<int64_t>(first) + i, length), i ? t : 1 - t, 2 * eps, (i ? 1 : -1) * slope,
                   2 * eps * size};
      return 2;
    }
    // Horner's scheme for the outer taps cancels terms of 8 a; multiples of -0.75 are exact, those of others round too.
    const double a = s_.cubic_coeff_a, magnitude = a == -0.75 ? 1 : 3.4 * (std::fabs(a) > 1 ? std::fabs(a) : 1);
    for (int i = 0; i < 4; ++i) {
      const double d = i - 1 - t;  // distance of the tap, seen from p
      taps[i] = {counted(static_cast<int64_t>(first) + i - 1, length), keys(d, a), 12 * eps * magnitude,
                 -keys_slope(d, a) * slope, 32 * eps * magnitude * size};
    }
    return 4;
  }

  template <class Take, class Anywhere>
  void each_tap(Take take, Anywhere anywhere) const {
    for (int64_t n = 0; n < n_; ++n)
      for (int64_t i = 0; i < points(); ++i) {
        AxisTap taps[3][4] = {{{0, 1, 0, 0, 0}}, {{0, 1, 0, 0, 0}}, {{0, 1, 0, 0, 0}}};
        int counts[3] = {1, 1, 1};
        bool outside = false, unknown = false;
        for (int a = 0; a < axes_; ++a) {
          const Position<T> p = position(static_cast<T>(grid_.get((n * points() + i) * axes_ + a)), size_[a]);
          outside = outside || p.outside;
          unknown = unknown || p.anywhere;
          if (!p.outside && !p.anywhere) counts[a] = axis_taps(p, size_[a], taps[a]);
        }
        if (outside) continue;
        if (unknown) {
          anywhere(n, i);
          continue;
        }
        for (int l = 0; l < counts[2]; ++l)
          for (int j = 0; j < counts[1]; ++j)
            for (int k = 0; k < counts[0]; ++k) {
              const AxisTap* const t[3] = {&taps[0][k], &taps[1][j], &taps[2][l]};
              if (t[0]->index < 0 || t[1]->index < 0 || t[2]->index < 0) continue;
              Tap tap = {{t[0]->index, t[1]->index, t[2]->index}, 1, 0, {}, {}};
              multiply(t, -1, &tap.weight, &tap.weight_error);
              for (int a = 0; a < axes_; ++a) multiply(t, a, &tap.d[a], &tap.d_error[a]);
              take(n, i, tap);
            }
      }
  }

  // The product of the axes' weights, that of axis `slope` replaced by its slope.
  void multiply(const AxisTap* const (&t)[3], int slope, double* value, double* error) const {
    *value = slope == 0 ? t[0]->slope : t[0]->weight;
    *error = slope == 0 ? t[0]->slope_error : t[0]->error;
    if (axes_ == 1) *error += 20 * eps * std::fabs(*value);
    for (int a = 1; a < axes_; ++a) {
      const double b = slope == a ? t[a]->slope : t[a]->weight, db = slope == a ? t[a]->slope_error : t[a]->error;
      *error = std::fabs(*value) * db + std::fabs(b) * *error + *error * db + 20 * eps * std::fabs(*value * b);
      *value *= b;
    }
  }

  gw_grid_sample_spec s_;
  const Array &x_, &grid_;
  int axes_;
  int64_t n_, c_, size_[3], points_;
};

// The largest finite value of a dtype, and its unit of rounding.
inline double most(int dtype) {
  static const double values[dtype_count] = {FLT_MAX, DBL_MAX, 65504, 0x1.fep127, 255, 127, 65535};
  return values[dtype];
}
inline double rounding(int dtype) {
  static const double values[4] = {0x1p-24, 0x1p-53, 0x1p-11, 0x1p-8};
  return values[dtype];
}

// Does element i of a result agree with the definition?
inline bool agrees(const Array& result, int64_t i, const Results& want) {
  const double got = result.get(i), value = want.value[static_cast<size_t>(i)];
  const double allowed = want.allowed[static_cast<size_t>(i)];
  const int dtype = result->dtype;
  if (!std::isfinite(value)) return !std::isfinite(got);  // infinite or NaN: which of them, the order of a sum decides
  if (!is_float(dtype)) {
    const double low = dtype == GW_INT8 ? -128 : 0;
    const double inside = value < low ? low : value > most(dtype) ? most(dtype) : value;
    return std::fabs(got - inside) <= 0.5 + allowed;
  }
  if (std::fabs(value) + allowed >= most(dtype)) return true;
  return std::fabs(got - value) <= allowed + std::fabs(value) * rounding(dtype) * 1.01 + (dtype == GW_FLOAT16 ? 0x1p-25 : 0x1p-149);
}
