// SPDX-License-Identifier: Apache-2.0
// Sums of images with one channel in the order of OpenCV 4 on x86-64 with AVX-512: a level of uint16 in a thousand
// pixels. They go over pixels whose taps are all inside, after the kernel of the tables has done every pixel. Found by
// trying orders on 12,000 random pixels: the ones here leave none, the next best of each 7 or more.
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/kernels.hpp"

namespace gw {
namespace GW_ISA {
namespace {

inline float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return std::fma(a, b, c);
#else
  return (float)((double)a * (double)b + (double)c);  // the product is exact; the call would cost 5 ns
#endif
}

template <class T>
inline T stored(float v) {
  if constexpr (std::is_same_v<T, float>) return v;
  constexpr float low = (float)std::numeric_limits<T>::min(), high = (float)std::numeric_limits<T>::max();
  return (T)std::nearbyint(v > low ? (v < high ? v : high) : low);
}

// Where a pixel's first tap is, if all are inside, and its weights.
template <class T, int taps>
struct Taps {
  const T* first = nullptr;
  const float* w = nullptr;

  template <class X>
  Taps(const RemapJob& job, X x, X y) {
    const int64_t sx = fractions_of(x), sy = fractions_of(y);
    const int64_t ix = pixel_of(sx) - (taps / 2 - 1), iy = pixel_of(sy) - (taps / 2 - 1);
    if (ix < 0 || iy < 0 || ix + taps > job.width || iy + taps > job.height) return;
    first = static_cast<const T*>(job.image) + iy * job.in_h + ix * job.in_w;
    w = job.weights + ((sy & 31) * 32 + (sx & 31)) * taps * taps;
  }
};

// Sixteen pixels at a time of each run of pixels inside; the last ones of a run stay as they are.
template <class T, class X>
void linear(const RemapJob& job, const X* x, const X* y, int64_t row, int64_t first, int64_t count) {
  constexpr int64_t vector = 16;
  T* out = static_cast<T*>(job.out) + row * job.out_h + first * job.out_w;
  for (int64_t k = 0, end; k < count; k = end + 1) {
    for (end = k; end < count && Taps<T, 2>(job, x[end], y[end]).first; ++end) {}
    for (const int64_t last = k + (end - k) / vector * vector; k < last; ++k) {
      const Taps<T, 2> at(job, x[k], y[k]);
      const T *top = at.first, *bottom = top + job.in_h;
      const float low = fused((float)bottom[0], at.w[2], (float)bottom[job.in_w] * at.w[3]);
      out[k * job.out_w] = stored<T>(fused((float)top[0], at.w[0], fused((float)top[job.in_w], at.w[1], low)));
    }
  }
}

// Four sums, each of every fourth tap of a row, row by row; then the first with the third, the second with the fourth.
template <class T, class X, int taps>
void wide(const RemapJob& job, const X* x, const X* y, int64_t row, int64_t first, int64_t count) {
  T* out = static_cast<T*>(job.out) + row * job.out_h + first * job.out_w;
  for (int64_t k = 0; k < count; ++k, out += job.out_w) {
    const Taps<T, taps> at(job, x[k], y[k]);
    if (!at.first) continue;
    float lane[4] = {};
    for (int i = 0; i < taps; ++i)
      for (int j = 0; j < taps; ++j)
        lane[j % 4] = fused((float)at.first[i * job.in_h + j * job.in_w], at.w[i * taps + j], lane[j % 4]);
    *out = stored<T>((lane[0] + lane[2]) + (lane[1] + lane[3]));
  }
}

template <class T>
void add(Kernels& k, int type) {
  k.remap_lanes_float[GW_REMAP_LINEAR][type] = linear<T, float>;
  k.remap_lanes_double[GW_REMAP_LINEAR][type] = linear<T, double>;
  k.remap_lanes_float[GW_REMAP_CUBIC][type] = wide<T, float, 4>;
  k.remap_lanes_double[GW_REMAP_CUBIC][type] = wide<T, double, 4>;
  if (type == GW_FLOAT32) return;  // its Lanczos has no lanes
  k.remap_lanes_float[GW_REMAP_LANCZOS4][type] = wide<T, float, 8>;
  k.remap_lanes_double[GW_REMAP_LANCZOS4][type] = wide<T, double, 8>;
}

}  // namespace

void add_remap_lanes_kernels(Kernels& k) {
  add<float>(k, GW_FLOAT32);
  add<uint16_t>(k, GW_UINT16);
}

}  // namespace GW_ISA
}  // namespace gw
