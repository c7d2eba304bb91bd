// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: bilinear, channels first.
#include "cpu/kernels.hpp"
#include "sampling/planar_table.hpp"
#include "simd/pairs.hpp"

namespace gw {
namespace GW_ISA {

template <class S, class T>
GW_INLINE typename simd<T>::V blend_pairs(const S* plane, const PlanarTable<T>& table, int i) {
  typedef simd<T> s;
  typedef typename s::V V;
  V upper_left, upper_right, lower_left, lower_right;
  load_pairs(plane, table.upper + i, upper_left, upper_right);
  load_pairs(plane, table.lower + i, lower_left, lower_right);
  const V left = s::load(table.left + i), right = s::load(table.right + i);
  const V upper = s::fma(upper_right, right, upper_left * left), lower = s::fma(lower_right, right, lower_left * left);
  return s::fma(lower, s::load(table.below + i), upper * s::load(table.above + i));
}

template <bool two, class S>
GW_INLINE VF blend_window(const S* plane, int64_t row, const PlanarTable<float>& table, const Block& block, int i) {
  typedef simd<float> s;
  const VF left = s::load(table.left + i), right = s::load(table.right + i);
  const VI lane = s::load_index(table.lane + i), next = lane + 1;
  const S* p = plane + block.base;
  VF sum = VF{};
  for (int r = 0; r < block.rows; ++r, p += row) {
    VF l, e;
    const VF v = storage<S>::load_vector(p);
    if (two) {
      const VF u = storage<S>::load_vector(p + s::lanes);
      l = __builtin_shuffle(v, u, lane);
      e = __builtin_shuffle(v, u, next);
    } else {
      l = __builtin_shuffle(v, lane);
      e = __builtin_shuffle(v, next);
    }
    sum = s::fma(s::fma(e, right, l * left), s::load(table.row_weight[r] + i), sum);
  }
  return sum;
}

// Lanes that are not a number may owe it to a tap with a folded weight of zero: those are done again by definition.
template <class S, class T>
static __attribute__((noinline)) typename simd<T>::V settle(const SampleJob& job, const S* plane, const Coordinates<T>& at,
                                                          int i, typename simd<T>::V v) {
  const Plane<S> p = {plane, job.x_h, 1, job.height, job.width};
  for (int k = 0; k < simd<T>::lanes; ++k)
    if (v[k] != v[k]) v[k] = sample_bilinear<S, T>(p, at.x[i + k], at.y[i + k]);
  return v;
}

template <class S, class T>
static void bilinear_plane(const SampleJob& job, const S* plane, const S* next_plane, const Coordinates<T>& at,
                           const PlanarTable<T>& table, int count, bool streamed, S* out) {
  typedef simd<T> s;
  typedef typename s::V V;
  for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
    const Block& block = table.block[b];
    if (next_plane) fetch<S, T>(next_plane, job.x_h, block);
    V v;
    bool check = storage<S>::has_nan;
    switch (block.reach) {
      case Reach::outside: v = V{}; check = false; break;
      case Reach::pairs: v = blend_pairs<S, T>(plane, table, i); check = false; break;
      case Reach::pairs_at_edge: v = blend_pairs<S, T>(plane, table, i); break;
      case Reach::window:
        if constexpr (sizeof(T) == 4) v = blend_window<false>(plane, job.x_h, table, block, i);
        break;
      case Reach::double_window:
        if constexpr (sizeof(T) == 4) v = blend_window<true>(plane, job.x_h, table, block, i);
        break;
    }
    if (check && any(v != v)) v = settle<S, T>(job, plane, at, i, v);
    if (i + s::lanes <= count) {
      write_vector<S>(out + i, v, streamed);
    } else {
      S last[s::lanes];
      storage<S>::store_vector(last, v);
      memcpy(out + i, last, sizeof(S) * (size_t)(count - i));
    }
  }
}

template <class S>
static void bilinear_piece(const SampleJob& job, const Piece& piece) {
  typedef typename storage<S>::compute T;
  if (job.width < 2 || job.height < 2) return sample_piece_exact<S, T>(job, piece);
  const bool far = job.height * job.x_h * (int64_t)sizeof(S) > far_plane_bytes;
  const bool streamed = is_streamed<S>(job);
  Coordinates<T> at;
  PlanarTable<T> table;
  int count = 0;
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      count = coordinates<T>(job, n, piece, at);
      build_table<T>(job, at, count, table);
    }
    const S* plane = static_cast<const S*>(job.x) + n * job.x_n + piece.c0 * job.x_c;
    if (far)
      for (int b = 0, i = 0; i < count; ++b, i += simd<T>::lanes) fetch<S, T>(plane, job.x_h, table.block[b]);
    for (int64_t c = piece.c0; c < piece.c1; ++c, plane += job.x_c) {
      bilinear_plane<S, T>(job, plane, far && c + 1 < piece.c1 ? plane + job.x_c : nullptr, at, table, count, streamed,
                           static_cast<S*>(job.out) + n * job.o_n + c * job.o_c + piece.first);
    }
  }
  if (streamed) stream_fence();
}

void add_planar_kernels(Kernels& k) {
  SamplePiece(&bilinear)[type_count][2] = k.forward[GW_BILINEAR];
  bilinear[GW_FLOAT32][0] = bilinear_piece<float>;
  bilinear[GW_FLOAT64][0] = bilinear_piece<double>;
  bilinear[GW_FLOAT16][0] = bilinear_piece<float16>;
  bilinear[GW_BFLOAT16][0] = bilinear_piece<bfloat16>;
  bilinear[GW_UINT8][0] = bilinear_piece<uint8_t>;
  bilinear[GW_INT8][0] = bilinear_piece<int8_t>;
  bilinear[GW_UINT16][0] = bilinear_piece<uint16_t>;
}

}  // namespace GW_ISA
}  // namespace gw
