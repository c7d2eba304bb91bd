// SPDX-License-Identifier: Apache-2.0
// Bilinear, channels last: four pixels per output point, their channels in whole vectors.
#pragma once

#include "sampling/coordinates.hpp"
#include "sampling/interleaved_output.hpp"
#include "simd/quad.hpp"

namespace gw {
namespace GW_ISA {

// Taps of one axis: position in elements and weight. A tap outside the image is replaced by its neighbour inside, and
// the two share that one's weight in halves: exact, as a tap that does not count must not turn an infinity into NaN.
template <class T>
struct AxisTaps {
  typename simd<T>::I low, high, missing;
  typename simd<T>::V low_weight, high_weight;
};

template <class T>
GW_INLINE AxisTaps<T> axis_taps(typename simd<T>::V p, int64_t size, int64_t stride) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  typedef typename s::index index;
  const V f = s::floor(p), w = p - f;
  const I first = s::to_index(f), second = first + s::splat_index(1), last = s::splat_index((index)(size - 1));
  const I has_first = (first >= I{}) & (first <= last), has_second = (second >= I{}) & (second <= last);
  const V rest = s::splat(1) - w, half = s::splat(T(0.5));
  AxisTaps<T> a;
  a.low = select(has_first, first, second) * s::splat_index((index)stride);
  a.high = select(has_second, second, first) * s::splat_index((index)stride);
  a.low_weight = select(has_first, select(has_second, rest, rest * half), w * half);
  a.high_weight = select(has_second, select(has_first, w, w * half), rest * half);
  a.missing = ~(has_first | has_second);
  return a;
}

template <class T>
struct BilinearTable {
  alignas(64) int32_t offset[4][tile_points];
  alignas(64) T weight[4][tile_points];
};

template <class T>
inline void tabulate_bilinear(const SampleJob& job, int count, const Coordinates<T>& at, BilinearTable<T>& t) {
  typedef simd<T> s;
  for (int i = 0; i < count; i += s::lanes) {
    const AxisTaps<T> x = axis_taps<T>(s::load(at.x + i), job.width, job.x_w);
    const AxisTaps<T> y = axis_taps<T>(s::load(at.y + i), job.height, job.x_h);
    s::store_index(t.offset[0] + i, select(x.missing | y.missing, s::splat_index(outside), y.low + x.low));
    s::store_index(t.offset[1] + i, y.low + x.high);
    s::store_index(t.offset[2] + i, y.high + x.low);
    s::store_index(t.offset[3] + i, y.high + x.high);
    s::store(t.weight[0] + i, y.low_weight * x.low_weight);
    s::store(t.weight[1] + i, y.low_weight * x.high_weight);
    s::store(t.weight[2] + i, y.high_weight * x.low_weight);
    s::store(t.weight[3] + i, y.high_weight * x.high_weight);
  }
}

// One output point: `channels` values at `out`.
template <class S>
struct BilinearPoint {
  typedef typename storage<S>::compute T;
  typedef simd<T> s;
  typedef typename s::V V;
  const S *a, *b, *c, *d;
  V wa, wb, wc, wd;

  GW_INLINE BilinearPoint(const S* x, const BilinearTable<T>& t, int i)
      : a(x + t.offset[0][i]), b(x + t.offset[1][i]), c(x + t.offset[2][i]), d(x + t.offset[3][i]),
        wa(s::splat(t.weight[0][i])), wb(s::splat(t.weight[1][i])), wc(s::splat(t.weight[2][i])),
        wd(s::splat(t.weight[3][i])) {}
  // Pixels `right` and `down` elements apart.
  GW_INLINE BilinearPoint(const S* first, int64_t right, int64_t down, const T* weight)
      : a(first), b(first + right), c(first + down), d(first + down + right), wa(s::splat(weight[0])),
        wb(s::splat(weight[1])), wc(s::splat(weight[2])), wd(s::splat(weight[3])) {}
  GW_INLINE V at(int64_t k) const {
    V v = storage<S>::load_vector(a + k) * wa;
    v = s::fma(storage<S>::load_vector(b + k), wb, v);
    v = s::fma(storage<S>::load_vector(c + k), wc, v);
    return s::fma(storage<S>::load_vector(d + k), wd, v);
  }
  GW_INLINE V some(int count) const {
    V v = load_some<S>(a, count) * wa;
    v = s::fma(load_some<S>(b, count), wb, v);
    v = s::fma(load_some<S>(c, count), wc, v);
    return s::fma(load_some<S>(d, count), wd, v);
  }
};

// Channels before the first that is aligned in every pixel; 0 if pixels are not all aligned alike.
template <class S>
GW_INLINE int64_t aligned_lead(const S* x, const SampleJob& job, int64_t channels) {
  constexpr int64_t lanes = simd<typename storage<S>::compute>::lanes, bytes = lanes * sizeof(S);
  if (job.x_w % lanes != 0 || job.x_h % lanes != 0 || channels < 2 * lanes) return 0;
  return (int64_t)(-reinterpret_cast<uintptr_t>(x) & (bytes - 1)) / (int64_t)sizeof(S);
}

// All channels of a point. The last vector overlaps the one before it, so that a tail costs no more than a vector.
template <class S, class Point>
GW_INLINE void store_channels(const Point& point, S* out, int64_t channels, int64_t lead) {
  constexpr int64_t lanes = Point::s::lanes;
  if (channels < lanes) {
    store_some<S>(out, point.some((int)channels), (int)channels);
    return;
  }
  if (lead > 0) storage<S>::store_vector(out, point.at(0));
  int64_t k = lead;
  for (; k + 4 * lanes <= channels; k += 4 * lanes)
    for (int u = 0; u < 4; ++u) storage<S>::store_vector(out + k + u * lanes, point.at(k + u * lanes));
  for (; k + lanes <= channels; k += lanes) storage<S>::store_vector(out + k, point.at(k));
  if (k < channels) storage<S>::store_vector(out + channels - lanes, point.at(channels - lanes));
}

// The same for a pixel of two to four channels.
template <int C, class S>
GW_INLINE typename quad<typename storage<S>::compute>::V blend_pixel(
    const S* x, const BilinearTable<typename storage<S>::compute>& t, int i) {
  typedef quad<typename storage<S>::compute> q;
  typename q::V v = load_pixel<C>(x + t.offset[0][i]) * q::splat(t.weight[0][i]);
  v = q::fma(load_pixel<C>(x + t.offset[1][i]), q::splat(t.weight[1][i]), v);
  v = q::fma(load_pixel<C>(x + t.offset[2][i]), q::splat(t.weight[2][i]), v);
  return q::fma(load_pixel<C>(x + t.offset[3][i]), q::splat(t.weight[3][i]), v);
}

// C: channels if they are 2 to 4, else 0.
template <class S, int C>
void sample_interleaved_bilinear(const SampleJob& job, const Piece& piece) {
  typedef typename storage<S>::compute T;
  Coordinates<T> at;
  BilinearTable<T> table;
  const int64_t channels = piece.c1 - piece.c0;
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      const int count = coordinates<T>(job, n, piece, at);
      tabulate_bilinear<T>(job, count, at, table);
    }
    const S* x = static_cast<const S*>(job.x) + n * job.x_n + piece.c0;
    if constexpr (C > 0) {
      const bool far = is_far<S>(job);
      write_points<S>(job, piece, n, 0, [&](int i, S* to, bool spill) __attribute__((always_inline)) {
        typename quad<T>::V v = {};
        if (far) {
          const int next = (i + prefetch_distance) % tile_points;
          prefetch(x + table.offset[1][next]);
          prefetch(x + table.offset[3][next]);
        }
        if (table.offset[0][i] != outside) v = blend_pixel<C>(x, table, i);
        if (spill)
          store_quad(to, v);
        else
          store_pixel<C>(to, v);
      });
    } else {
      const int64_t lead = aligned_lead(x, job, channels);
      const int phase = (int)(-lead * (int64_t)sizeof(S) & (line_bytes - 1));
      write_points<S>(job, piece, n, phase, [&](int i, S* to, bool) __attribute__((always_inline)) {
        if (table.offset[0][i] == outside)
          memset(to, 0, (size_t)channels * sizeof(S));
        else
          store_channels<S>(BilinearPoint<S>(x, table, i), to, channels, lead);
      });
    }
  }
}

}  // namespace GW_ISA
}  // namespace gw
