// SPDX-License-Identifier: Apache-2.0
// Bicubic, channels last: sixteen pixels per output point, their channels in whole vectors.
#pragma once

#include "sampling/cubic_window.hpp"
#include "sampling/interleaved_bilinear.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct CubicTable {
  alignas(64) int32_t column[4][tile_points], row[4][tile_points];  // offsets; row[0] = outside: no tap counts
  alignas(64) T column_weight[4][tile_points], row_weight[4][tile_points];
};

// A tap that does not count takes the place of the nearest one that does, and they share its weight evenly: as with
// bilinear, no pixel is then read that is not a tap. True in lanes where no tap counts.
template <class T>
GW_INLINE typename simd<T>::I share_weights(CubicTaps<T>& t) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  if (t.all_count) return I{};
  V shared[4];
  for (int i = 0; i < 4; ++i) {
    V sum = {}, sharers = {};
    for (int j = 0; j < 4; ++j) {
      const I same = t.position[i] == t.position[j];
      sum += select(same, t.weight[j], V{});
      sharers += select(same, s::splat(1), V{});
    }
    shared[i] = sum / sharers;
  }
  for (int i = 0; i < 4; ++i) t.weight[i] = shared[i];
  return ~(t.counts[0] | t.counts[1] | t.counts[2] | t.counts[3]);
}

template <class T>
inline void tabulate_cubic(const SampleJob& job, int count, const Coordinates<T>& at, CubicTable<T>& t) {
  typedef simd<T> s;
  typedef typename s::index index;
  for (int i = 0; i < count; i += s::lanes) {
    CubicTaps<T> x = cubic_taps<T>(job.spec, s::load(at.x + i), job.width);
    CubicTaps<T> y = cubic_taps<T>(job.spec, s::load(at.y + i), job.height);
    const typename s::I missing = share_weights<T>(x) | share_weights<T>(y);
    for (int k = 0; k < 4; ++k) {
      s::store_index(t.column[k] + i, x.position[k] * s::splat_index((index)job.x_w));
      s::store_index(t.row[k] + i, y.position[k] * s::splat_index((index)job.x_h));
      s::store(t.column_weight[k] + i, x.weight[k]);
      s::store(t.row_weight[k] + i, y.weight[k]);
    }
    s::store_index(t.row[0] + i, select(missing, s::splat_index(outside), s::load_index(t.row[0] + i)));
  }
}

template <class S>
struct CubicPoint {
  typedef typename storage<S>::compute T;
  typedef simd<T> s;
  typedef typename s::V V;
  const S* row[4];
  int64_t column[4];
  V row_weight[4], column_weight[4];

  GW_INLINE CubicPoint(const S* x, const CubicTable<T>& t, int i) {
    for (int k = 0; k < 4; ++k) {
      row[k] = x + t.row[k][i];
      column[k] = t.column[k][i];
      row_weight[k] = s::splat(t.row_weight[k][i]);
      column_weight[k] = s::splat(t.column_weight[k][i]);
    }
  }
  template <class Load>
  GW_INLINE V sum(Load load) const {
    V v = {};
    for (int j = 0; j < 4; ++j) {
      V h = load(row[j] + column[0]) * column_weight[0];
      for (int k = 1; k < 4; ++k) h = s::fma(load(row[j] + column[k]), column_weight[k], h);
      v = j == 0 ? h * row_weight[0] : s::fma(h, row_weight[j], v);
    }
    return v;
  }
  GW_INLINE V at(int64_t c) const {
    return sum([c](const S* p) __attribute__((always_inline)) { return storage<S>::load_vector(p + c); });
  }
  GW_INLINE V some(int count) const {
    return sum([count](const S* p) __attribute__((always_inline)) { return load_some<S>(p, count); });
  }
};

template <int C, class S>
GW_INLINE typename quad<typename storage<S>::compute>::V cubic_pixel(
    const S* x, const CubicTable<typename storage<S>::compute>& t, int i) {
  typedef quad<typename storage<S>::compute> q;
  typename q::V v = {};
  for (int j = 0; j < 4; ++j) {
    const S* row = x + t.row[j][i];
    typename q::V h = load_pixel<C>(row + t.column[0][i]) * q::splat(t.column_weight[0][i]);
    for (int k = 1; k < 4; ++k) h = q::fma(load_pixel<C>(row + t.column[k][i]), q::splat(t.column_weight[k][i]), h);
    v = q::fma(h, q::splat(t.row_weight[j][i]), v);
  }
  return v;
}

#if defined(__AVX512F__)
// Two to four channels, pixels side by side: the four pixels of a window's row are one vector.
template <class S, int C>
void sample_pixel_rows(const SampleJob& job, const Piece& piece) {
  Coordinates<float> at;
  WindowTable<float> table;
  const bool far = is_far<S>(job);
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      const int count = coordinates<float>(job, n, piece, at);
      tabulate_windows<float>(job, count, at, table, nullptr);
    }
    const S* x = static_cast<const S*>(job.x) + n * job.x_n;
    write_points<S>(job, piece, n, 0, [&](int i, S* to, bool spill) __attribute__((always_inline)) {
      if (far) {
        const S* next = x + table.offset[(i + prefetch_distance) % tile_points];
        for (int j = 0; j < 4; ++j) prefetch(next + j * job.x_h);
      }
      const S* p = x + table.offset[i];
      const int w = weight_at<float>(i);
      VF sum = load_some<S>(p, 4 * C) * simd<float>::splat(table.row_weight[w]);
      for (int j = 1; j < 4; ++j)
        sum = simd<float>::fma(load_some<S>(p + j * job.x_h, 4 * C), simd<float>::splat(table.row_weight[w + j]), sum);
      QF v = add_pixels<C>(sum * spread_pixels<C>(table.column_weight + w));
      if (storage<S>::has_nan && table.folded[i / simd<float>::lanes] && any_nan<C>(v))
        for (int c = 0; c < C; ++c) {
          const Plane<S> plane = {x + c, job.x_h, job.x_w, job.height, job.width};
          v[c] = sample_bicubic<S, float>(job.spec, plane, at.x[i], at.y[i]);
        }
      if (spill)
        store_quad(to, v);
      else
        store_pixel<C>(to, v);
    });
  }
}
#endif

// C: channels if they are 2 to 4, else 0.
template <class S, int C>
void sample_interleaved_cubic(const SampleJob& job, const Piece& piece) {
  typedef typename storage<S>::compute T;
#if defined(__AVX512F__)
  if constexpr (C > 0 && sizeof(T) == 4)
    if (job.x_w == C && job.width >= 4 && job.height >= 4) return sample_pixel_rows<S, C>(job, piece);
#endif
  Coordinates<T> at;
  CubicTable<T> table;
  const int64_t channels = piece.c1 - piece.c0;
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      const int count = coordinates<T>(job, n, piece, at);
      tabulate_cubic<T>(job, count, at, table);
    }
    const S* x = static_cast<const S*>(job.x) + n * job.x_n + piece.c0;
    if constexpr (C > 0) {
      const bool far = is_far<S>(job);
      write_points<S>(job, piece, n, 0, [&](int i, S* to, bool spill) __attribute__((always_inline)) {
        typename quad<T>::V v = {};
        if (far) {
          const int next = (i + prefetch_distance) % tile_points;
          for (int k = 0; k < 4; ++k) prefetch(x + table.row[k][next] + table.column[3][next]);
        }
        if (table.row[0][i] != outside) v = cubic_pixel<C>(x, table, i);
        if (spill)
          store_quad(to, v);
        else
          store_pixel<C>(to, v);
      });
    } else {
      const int64_t lead = aligned_lead(x, job, channels);
      const int phase = (int)(-lead * (int64_t)sizeof(S) & (line_bytes - 1));
      write_points<S>(job, piece, n, phase, [&](int i, S* to, bool) __attribute__((always_inline)) {
        if (table.row[0][i] == outside)
          memset(to, 0, (size_t)channels * sizeof(S));
        else
          store_channels<S>(CubicPoint<S>(x, table, i), to, channels, lead);
      });
    }
  }
}

}  // namespace GW_ISA
}  // namespace gw
