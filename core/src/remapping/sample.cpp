// SPDX-License-Identifier: Apache-2.0
// Sampling of images at pixel coordinates, pixels of any number of channels side by side. Compiled once for each
// instruction set.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/kernels.hpp"

namespace gw {
namespace GW_ISA {
namespace {

template <class X>
inline X held(X p, const double* reach) {  // NaN lies before the first pixel
  return p > X(reach[0]) ? (p < X(reach[1]) ? p : X(reach[1])) : X(reach[0]);
}

template <class F>
inline F fused(F a, F b, F c) {
#if defined(__FMA__) || defined(__aarch64__)
  return std::fma(a, b, c);
#else
  // Halves of integer images show whether a product was rounded, and OpenCV's are not. A product of floats is exact in
  // double; without the instruction std::fma would be a call for each tap.
  if constexpr (std::is_same_v<F, float>) return (float)((double)a * (double)b + (double)c);
  else return a * b + c;
#endif
}

// The index inside [0, n) that stands for i; -1 where nothing does. Remainders, not loops: a coordinate may lie
// a billion reflections away, and an axis may have one pixel.
inline int64_t resolve(int64_t i, int64_t n, int32_t border) {
  if ((uint64_t)i < (uint64_t)n) return i;
  switch (border) {
    case GW_BORDER_REPLICATE: return i < 0 ? 0 : n - 1;
    case GW_BORDER_REFLECT: {
      int64_t m = i % (2 * n);
      if (m < 0) m += 2 * n;
      return m < n ? m : 2 * n - 1 - m;
    }
    case GW_BORDER_REFLECT_101: {
      if (n == 1) return 0;
      int64_t m = i % (2 * n - 2);
      if (m < 0) m += 2 * n - 2;
      return m < n ? m : 2 * n - 2 - m;
    }
    case GW_BORDER_WRAP: {
      const int64_t m = i % n;
      return m < 0 ? m + n : m;
    }
    default: return -1;
  }
}

template <class T, class F>
inline T stored(F v) {
  if constexpr (std::is_floating_point_v<T>) {
    return (T)v;
  } else {
    constexpr F low = (F)std::numeric_limits<T>::min(), high = (F)std::numeric_limits<T>::max();
    return (T)std::nearbyint(v > low ? (v < high ? v : high) : low);
  }
}

template <class F>
inline void cubic_weights(F t, F* w) {
  constexpr F a = F(-0.75);
  const F u = 1 - t;
  w[0] = a * t * u * u;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
  w[3] = a * u * t * t;
}

template <class F>
inline void lanczos_weights(F given, F* w) {
  const double t = (double)given, pi = 3.14159265358979323846;
  if (t == 0) {
    for (int i = 0; i < 8; ++i) w[i] = i == 3;
    return;
  }
  double all[8], sum = 0;
  for (int i = 0; i < 8; ++i) {
    const double d = t + 3 - i;
    all[i] = d == 0 ? 0.25 * pi * pi : std::sin(pi * d) * std::sin(0.25 * pi * d) / (d * d);
    sum += all[i];
  }
  for (int i = 0; i < 8; ++i) w[i] = (F)(all[i] / sum);
}

template <class T, class X>
void nearest(const RemapJob& job, const X* x, const X* y, int64_t row, int64_t first, int64_t count) {
  const T* image = static_cast<const T*>(job.image);
  T* out = static_cast<T*>(job.out) + row * job.out_h + first * job.out_w;
  for (int64_t k = 0; k < count; ++k, out += job.out_w) {
    const int64_t ix = resolve((int64_t)std::nearbyint(held(x[k], job.reach_x)), job.width, job.border);
    const int64_t iy = resolve((int64_t)std::nearbyint(held(y[k], job.reach_y)), job.height, job.border);
    if ((ix | iy) < 0) {
      if (job.border == GW_BORDER_TRANSPARENT) continue;
      for (int64_t c = 0; c < job.channels; ++c) out[c * job.out_c] = (T)job.border_value[c & 3];
      continue;
    }
    const T* from = image + iy * job.in_h + ix * job.in_w;
    for (int64_t c = 0; c < job.channels; ++c) out[c * job.out_c] = from[c * job.in_c];
  }
}

template <class F, class T>
inline F mixed(T a, T b, T c, T d, F tx, F ty) {
  const F top = fused(tx, (F)b - (F)a, (F)a), bottom = fused(tx, (F)d - (F)c, (F)c);
  return fused(ty, bottom - top, top);
}

template <class T, class X>
void linear(const RemapJob& job, const X* x, const X* y, int64_t row, int64_t first, int64_t count) {
  using F = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<X, double>, double, float>;
  const T* image = static_cast<const T*>(job.image);
  T* out = static_cast<T*>(job.out) + row * job.out_h + first * job.out_w;
  for (int64_t k = 0; k < count; ++k, out += job.out_w) {
    const X px = held(x[k], job.reach_x), py = held(y[k], job.reach_y), fx = std::floor(px), fy = std::floor(py);
    const F tx = (F)px - (F)fx, ty = (F)py - (F)fy;
    const int64_t ix = (int64_t)fx, iy = (int64_t)fy;
    if ((uint64_t)ix < (uint64_t)(job.width - 1) && (uint64_t)iy < (uint64_t)(job.height - 1)) {
      const T* p = image + iy * job.in_h + ix * job.in_w;
      for (int64_t c = 0; c < job.channels; ++c, p += job.in_c)
        out[c * job.out_c] = stored<T>(mixed<F>(p[0], p[job.in_w], p[job.in_h], p[job.in_h + job.in_w], tx, ty));
      continue;
    }
    const int64_t x0 = resolve(ix, job.width, job.border), x1 = resolve(ix + 1, job.width, job.border);
    const int64_t y0 = resolve(iy, job.height, job.border), y1 = resolve(iy + 1, job.height, job.border);
    if (job.border == GW_BORDER_TRANSPARENT && ((x0 < 0 && x1 < 0) || (y0 < 0 && y1 < 0))) continue;
    for (int64_t c = 0; c < job.channels; ++c) {
      const T other = job.border == GW_BORDER_TRANSPARENT ? out[c * job.out_c] : (T)job.border_value[c & 3];
      const auto at = [&](int64_t i, int64_t j) {
        return (i | j) < 0 ? other : image[i * job.in_h + j * job.in_w + c * job.in_c];
      };
      out[c * job.out_c] = stored<T>(mixed<F>(at(y0, x0), at(y0, x1), at(y1, x0), at(y1, x1), tx, ty));
    }
  }
}

// Where the taps of a pixel are.
template <int taps>
struct Window {
  int64_t x[taps], y[taps];
  bool inside;

  Window(const RemapJob& job, int64_t ix, int64_t iy) {
    inside = ix >= 0 && iy >= 0 && ix + taps <= job.width && iy + taps <= job.height;
    if (inside) {
      for (int i = 0; i < taps; ++i) x[i] = (ix + i) * job.in_w, y[i] = (iy + i) * job.in_h;
      return;
    }
    for (int i = 0; i < taps; ++i) {
      const int64_t a = resolve(ix + i, job.width, job.border), b = resolve(iy + i, job.height, job.border);
      x[i] = a < 0 ? absent : a * job.in_w;
      y[i] = b < 0 ? absent : b * job.in_h;
    }
  }
  static constexpr int64_t absent = std::numeric_limits<int64_t>::min();
  bool there(int i, int j) const { return inside || (y[i] != absent && x[j] != absent); }
  bool nowhere() const {
    bool none_x = true, none_y = true;
    for (int i = 0; i < taps; ++i) none_x &= x[i] == absent, none_y &= y[i] == absent;
    return !inside && (none_x || none_y);
  }
};

template <class T, class X, int taps>
void wide(const RemapJob& job, const X* x, const X* y, int64_t row, int64_t first, int64_t count) {
  using F = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<X, double>, double, float>;
  const T* image = static_cast<const T*>(job.image);
  T* out = static_cast<T*>(job.out) + row * job.out_h + first * job.out_w;
  for (int64_t k = 0; k < count; ++k, out += job.out_w) {
    const X px = held(x[k], job.reach_x), py = held(y[k], job.reach_y), fx = std::floor(px), fy = std::floor(py);
    const Window<taps> window(job, (int64_t)fx - (taps / 2 - 1), (int64_t)fy - (taps / 2 - 1));
    const bool transparent = job.border == GW_BORDER_TRANSPARENT;
    if (transparent && window.nowhere()) continue;
    F wx[taps], wy[taps];
    if constexpr (taps == 4) {
      cubic_weights((F)px - (F)fx, wx);
      cubic_weights((F)py - (F)fy, wy);
    } else {
      lanczos_weights((F)px - (F)fx, wx);
      lanczos_weights((F)py - (F)fy, wy);
    }
    for (int64_t c = 0; c < job.channels; ++c) {
      const F other = transparent ? (F)out[c * job.out_c] : (F)(T)job.border_value[c & 3];
      F sum = 0;
      for (int i = 0; i < taps; ++i) {
        F along = 0;
        for (int j = 0; j < taps; ++j) {
          const F sample = window.there(i, j) ? (F)image[window.y[i] + window.x[j] + c * job.in_c] : other;
          along = fused(wx[j], sample, along);
        }
        sum = fused(wy[i], along, sum);
      }
      out[c * job.out_c] = stored<T>(sum);
    }
  }
}

// Weights from the tables. Sums of uint8 are whole numbers of 1/32768, rounded half up.
template <class T, class X, int taps>
void tabled(const RemapJob& job, const X* x, const X* y, int64_t row, int64_t first, int64_t count) {
  constexpr bool whole = std::is_same_v<T, uint8_t>;
  using F = std::conditional_t<whole, int32_t, std::conditional_t<std::is_same_v<T, double>, double, float>>;
  using W = std::conditional_t<whole, int16_t, float>;
  const T* image = static_cast<const T*>(job.image);
  T* out = static_cast<T*>(job.out) + row * job.out_h + first * job.out_w;
  const W* weights;
  if constexpr (whole) weights = job.fixed_weights;
  else weights = job.weights;
  for (int64_t k = 0; k < count; ++k, out += job.out_w) {
    const int64_t sx = fractions_of(x[k]), sy = fractions_of(y[k]);
    const int64_t cx = pixel_of(sx), cy = pixel_of(sy), ix = cx - (taps / 2 - 1), iy = cy - (taps / 2 - 1);
    RemapJob rule = job;
    if (job.border == GW_BORDER_TRANSPARENT) {  // kept unless the middle is inside; then there are taps all round
      if ((uint64_t)cx >= (uint64_t)job.width || (uint64_t)cy >= (uint64_t)job.height) continue;
      rule.border = taps == 2 ? GW_BORDER_REPLICATE : GW_BORDER_REFLECT_101;
    }
    const Window<taps> window(rule, ix, iy);
    const W* w = weights + ((sy & 31) * 32 + (sx & 31)) * taps * taps;
    for (int64_t c = 0; c < job.channels; ++c) {
      const F other = (F)(T)job.border_value[c & 3];
      F sum = 0;
      if (window.nowhere()) {
        out[c * job.out_c] = (T)other;
        continue;
      }
      if (taps == 2) {
        const auto at = [&](int i, int j) {
          return window.there(i, j) ? (F)image[window.y[i] + window.x[j] + c * job.in_c] : other;
        };
        sum = at(0, 0) * w[0] + at(0, 1) * w[1] + at(1, 0) * w[2] + at(1, 1) * w[3];
      } else if (window.inside) {
        for (int i = 0; i < taps; ++i) {
          const T* p = image + window.y[i] + window.x[0] + c * job.in_c;
          F along = (F)p[0] * w[i * taps];
          for (int j = 1; j < taps; ++j) along += (F)p[j * job.in_w] * w[i * taps + j];
          sum += along;
        }
      } else {
        sum = whole ? other * F(32768) : other;
        for (int i = 0; i < taps; ++i)
          for (int j = 0; j < taps; ++j)
            if (window.there(i, j))
              sum += ((F)image[window.y[i] + window.x[j] + c * job.in_c] - other) * w[i * taps + j];
      }
      if constexpr (whole) out[c * job.out_c] = (T)std::min(std::max((sum + (1 << 14)) >> 15, 0), 255);
      else out[c * job.out_c] = stored<T>(sum);
    }
  }
}

template <class X>
struct Sets;
template <>
struct Sets<float> {
  static auto& of(Kernels& k) { return k.remap_float; }
};
template <>
struct Sets<double> {
  static auto& of(Kernels& k) { return k.remap_double; }
};

template <class T, class X>
void add(Kernels& k, int type) {
  auto& set = Sets<X>::of(k);
  set[GW_REMAP_NEAREST][type][0] = set[GW_REMAP_NEAREST][type][1] = nearest<T, X>;
  set[GW_REMAP_LINEAR][type][0] = linear<T, X>;
  set[GW_REMAP_CUBIC][type][0] = wide<T, X, 4>;
  set[GW_REMAP_LANCZOS4][type][0] = wide<T, X, 8>;
  set[GW_REMAP_LINEAR][type][1] = tabled<T, X, 2>;
  set[GW_REMAP_CUBIC][type][1] = tabled<T, X, 4>;
  set[GW_REMAP_LANCZOS4][type][1] = tabled<T, X, 8>;
}

}  // namespace

void add_remap_kernels(Kernels& k) {
  add<float, float>(k, GW_FLOAT32);
  add<double, float>(k, GW_FLOAT64);
  add<uint8_t, float>(k, GW_UINT8);
  add<uint16_t, float>(k, GW_UINT16);
  add<float, double>(k, GW_FLOAT32);
  add<double, double>(k, GW_FLOAT64);
  add<uint8_t, double>(k, GW_UINT8);
  add<uint16_t, double>(k, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
