// SPDX-License-Identifier: Apache-2.0
// The coordinate stage: from a tile of the grid to pixel coordinates, before any sampling.
//
// Expression and order of operations are the frameworks' own, so that ties and integer crossings fall as they do there:
// ((g + 1) * S - 1) / 2, and (g + 1) / 2 * (S - 1) with align_corners, without fused multiply-add, for most. (g * s + o
// moves 9 points in a million to another pixel.)
#pragma once

#include <cmath>

#include "gridwave/gridwave.h"
#include "sampling/job.hpp"
#include "simd/storage.hpp"

namespace gw {
namespace GW_ISA {

// Pixel coordinates of a tile's points; 0 is the centre of the first pixel. With gradients also the derivative of the
// padded coordinate with respect to the grid value. Vectors may read and write to the next multiple of the lanes.
template <class T>
struct Coordinates {
  alignas(64) T x[tile_points];
  alignas(64) T y[tile_points];
};

template <class T>
struct Axis {
  T size;        // S
  T low, span2;  // of reflection: first position, twice the length between mirrors; span2 = 0: a single position
  T far_low, far_high;  // zeros, bicubic: beyond these nothing is sampled, so coordinates are kept inside
};

template <class T>
GW_INLINE Axis<T> axis_of(const Spec& spec, int64_t size) {
  Axis<T> a;
  a.size = (T)size;
  a.low = spec.align_corners ? T(0) : T(-0.5);
  a.span2 = T(2) * (spec.align_corners ? (T)(size - 1) : (T)size);
  a.far_low = spec.mode == GW_BICUBIC ? T(-4) : T(-2);
  a.far_high = (T)size + (spec.mode == GW_BICUBIC ? T(3) : T(1));
  return a;
}

template <class T>
GW_INLINE typename simd<T>::V reflect(typename simd<T>::V p, const Axis<T>& a, typename simd<T>::I* odd = nullptr) {
  typedef simd<T> s;
  typedef typename s::V V;
  const V q = s::abs(p - s::splat(a.low));
  const V extra = q - s::trunc(q / s::splat(a.span2)) * s::splat(a.span2);
  const V back = s::splat(a.span2) - extra;
  if (odd) *odd = (p < s::splat(a.low)) ^ (extra > back);
  return s::min(extra, back) + s::splat(a.low);
}

// ncnn's: about the first mirror, then about the last; what lies beyond both after that stays outside.
template <class T>
GW_INLINE typename simd<T>::V reflect_once(typename simd<T>::V p, const Axis<T>& a, typename simd<T>::I* odd = nullptr) {
  typedef simd<T> s;
  typedef typename s::V V;
  const V span = s::splat(T(0.5) * a.span2), q = s::abs(p - s::splat(a.low));
  if (odd) *odd = (p < s::splat(a.low)) ^ (q > span);
  return span - s::abs(q - span) + s::splat(a.low);
}

// a b + c with one rounding, on every instruction set.
template <class T>
GW_INLINE typename simd<T>::V fused(typename simd<T>::V a, typename simd<T>::V b, typename simd<T>::V c) {
#if defined(__x86_64__) && !defined(__FMA__)
  typename simd<T>::V r;
  for (int i = 0; i < simd<T>::lanes; ++i) r[i] = std::fma(a[i], b[i], c[i]);
  return r;
#else
  return simd<T>::fma(a, b, c);
#endif
}

// Clamps to [0, S - 1]; NaN becomes 0 (max keeps its second operand then).
template <class T>
GW_INLINE typename simd<T>::V clip(typename simd<T>::V p, const Axis<T>& a) {
  typedef simd<T> s;
  return s::min(s::max(p, s::splat(0)), s::splat(a.size - 1));
}

template <class T>
GW_INLINE typename simd<T>::V round_nearest(typename simd<T>::V p, int32_t rounding) {
  typedef simd<T> s;
  typedef typename s::V V;
  if (rounding == GW_HALF_UP) return s::floor(p + s::splat(T(0.5)));
  if (rounding == GW_HALF_AWAY) {
    const V t = s::trunc(p), rest = p - t;
    return t + select(s::abs(rest) >= s::splat(T(0.5)), select(rest < V{}, s::splat(-1), s::splat(1)), V{});
  }
  return s::rint(p);
}

// One axis of a tile: grid values in p become coordinates; d, if not null, their derivatives. usual: as PyTorch has it.
template <class T, bool usual>
inline void transform_axis_as(const Spec& spec, int64_t size, int count, T* p, T* d) {
  typedef simd<T> s;
  typedef typename s::V V;
  typedef typename s::I I;
  const Axis<T> a = axis_of<T>(spec, size);
  const bool corners = spec.align_corners != 0, nearest = spec.mode == GW_NEAREST, cubic = spec.mode == GW_BICUBIC;
  const bool round_first = nearest && spec.pad_order == GW_PAD_INDEX;
  const bool lower = spec.nonfinite == GW_NONFINITE_LOWER_BORDER;
  const int padding = cubic && !(spec.cubic_padding == GW_CUBIC_COORDINATE && spec.padding == GW_BORDER) ? GW_ZEROS
                                                                                                        : spec.padding;
  const V scale = s::splat(T(0.5) * (T)(corners ? size - 1 : size));
  for (int i = 0; i < count; i += s::lanes) {
    V v = s::load(p + i);
    if (!usual && spec.unnormalise == GW_SCALED)
      v = v * scale + s::splat(T(0.5) * (a.size - 1));
    else if (!usual && spec.unnormalise == GW_SCALED_FUSED)
      v = fused<T>(v, scale, scale) + s::splat(a.low);
    else
      v = corners ? (v + s::splat(1)) * s::splat(T(0.5)) * s::splat(a.size - 1)
                  : ((v + s::splat(1)) * s::splat(a.size) - s::splat(1)) * s::splat(T(0.5));
    if (lower) {  // NaN, infinite or beyond 2^62, where ONNX Runtime stops trusting the conversion to int64
      const I bad = ~(s::abs(v) <= s::splat(T(4611686018427387904.0)));
      v = select(bad, s::splat(a.low), v);
    }
    if (round_first) v = round_nearest<T>(v, spec.rounding);
    V slope = scale;
    const auto within_border = [&](V q) __attribute__((always_inline)) {
      if (!usual && spec.border_slope == GW_BORDER_SLOPE_INSIDE) return (q >= V{}) & (q <= s::splat(a.size - 1));
      return (q > V{}) & (q < s::splat(a.size - 1));
    };
    if (padding == GW_BORDER && cubic) {
      // Only beyond the outer edges; the taps of the outermost half pixel are clamped one by one.
      const I within = (v >= s::splat(a.low)) & (v <= s::splat(a.size - 1 - a.low));
      slope = select(within, slope, V{});
      v = select(within, v, clip<T>(v, a));
    } else if (padding == GW_BORDER) {
      slope = select(within_border(v), slope, V{});
      v = clip<T>(v, a);
    } else if (padding == GW_REFLECTION) {
      I odd;
      V r = a.span2 <= 0 ? V{} : !usual && spec.reflection == GW_REFLECT_ONCE ? reflect_once<T>(v, a, &odd) : reflect<T>(v, a, &odd);
      if (a.span2 > 0) slope = select(odd, -slope, slope);
      slope = select(within_border(r), slope, V{});
      v = clip<T>(r, a);
    } else {
      if (cubic && spec.padding != GW_ZEROS) {
        // Taps are padded one by one; only what is not finite is settled here: border clamps, reflection and NaN give 0.
        const I finite = s::abs(v) <= s::splat(T(1073741824.0) + T(2) * a.size);
        slope = select(finite, slope, V{});
        V far = select(v == v, clip<T>(v, a), V{});
        if (spec.padding == GW_REFLECTION) far = V{};
        v = select(finite, v, far);
      } else {
        slope = select((v > s::splat(a.far_low)) & (v < s::splat(a.far_high)), slope, V{});
        v = s::min(s::max(v, s::splat(a.far_low)), s::splat(a.far_high));
      }
    }
    // A rounded coordinate of millions is mirrored to a half of a pixel, where float has no finer step.
    if (nearest) v = round_first ? s::rint(v) : round_nearest<T>(v, spec.rounding);
    s::store(p + i, v);
    if (d) s::store(d + i, slope);
  }
}

template <class T>
inline void transform_axis(const Spec& spec, int64_t size, int count, T* p, T* d) {
  if (spec.unnormalise == 0 && spec.reflection == 0 && spec.border_slope == 0) transform_axis_as<T, true>(spec, size, count, p, d);
  else transform_axis_as<T, false>(spec, size, count, p, d);
}

template <class G, class T>
inline void load_grid(const SampleJob& job, int64_t n, const Piece& piece, T* x, T* y) {
  const G* base = static_cast<const G*>(job.grid) + n * job.g_n;
  int64_t row = piece.first / job.out_width, column = piece.first % job.out_width;
  int count = 0;
  for (int r = 0; r < piece.rows; ++r, ++row) {
    for (int64_t left = piece.length; left > 0;) {
      const int64_t run = min_of(left, job.out_width - column);
      const G* g = base + row * job.g_h + column * job.g_w;
      if (job.g_k == 1 && job.g_w == 2) {
        for (int64_t i = 0; i < run; ++i) {
          x[count + i] = (T)storage<G>::load(g + 2 * i);
          y[count + i] = (T)storage<G>::load(g + 2 * i + 1);
        }
      } else {
        for (int64_t i = 0; i < run; ++i) {
          x[count + i] = (T)storage<G>::load(g + i * job.g_w);
          y[count + i] = (T)storage<G>::load(g + i * job.g_w + job.g_k);
        }
      }
      count += (int)run;
      left -= run;
      column += run;
      if (left > 0) {
        column = 0;
        ++row;
      }
    }
    column = (piece.first % job.out_width);
  }
  for (; count % simd<T>::lanes != 0; ++count) x[count] = y[count] = T(0);
}

// What a plan has computed already.
template <class T>
inline int planned_coordinates(const SampleJob& job, int64_t n, const Piece& piece, Coordinates<T>& at) {
  const int64_t start = job.g_n != 0 ? n * job.planned_step : 0;
  const T* x = static_cast<const T*>(job.planned_x) + start;
  const T* y = static_cast<const T*>(job.planned_y) + start;
  int count = 0;
  for (int64_t r = 0, first = piece.first; r < piece.rows; ++r, first += job.out_width, count += piece.length) {
    memcpy(at.x + count, x + first, (size_t)piece.length * sizeof(T));
    memcpy(at.y + count, y + first, (size_t)piece.length * sizeof(T));
  }
  for (int i = count; i % simd<T>::lanes != 0; ++i) {
    at.x[i] = x[job.points()];
    at.y[i] = y[job.points()];
  }
  return count;
}

// Fills `at` (and, if `slope` is given, derivatives) for image n's share of a piece; returns how many points it has.
template <class T>
inline int coordinates(const SampleJob& job, int64_t n, const Piece& piece, Coordinates<T>& at,
                       Coordinates<T>* slope = nullptr) {
  if (job.planned_x && !slope && job.planned_double == (sizeof(T) == 8)) return planned_coordinates<T>(job, n, piece, at);
  switch (job.grid_type) {
    case GW_FLOAT64: load_grid<double, T>(job, n, piece, at.x, at.y); break;
    case GW_FLOAT16: load_grid<float16, T>(job, n, piece, at.x, at.y); break;
    case GW_BFLOAT16: load_grid<bfloat16, T>(job, n, piece, at.x, at.y); break;
    default: load_grid<float, T>(job, n, piece, at.x, at.y);
  }
  const int count = piece.rows * piece.length;
  transform_axis<T>(job.spec, job.width, count, at.x, slope ? slope->x : nullptr);
  transform_axis<T>(job.spec, job.height, count, at.y, slope ? slope->y : nullptr);
  return count;
}

}  // namespace GW_ISA
}  // namespace gw
