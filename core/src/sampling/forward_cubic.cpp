// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: bicubic, channels first.
#include "cpu/kernels.hpp"
#include "sampling/cubic_window.hpp"

namespace gw {
namespace GW_ISA {

// Lanes that are not a number may owe it to a pixel of a moved window that is no tap: those are done again by definition.
template <class S, class T>
static __attribute__((noinline)) typename simd<T>::V settle(const SampleJob& job, const S* plane,
                                                            const Coordinates<T>& at, int i, typename simd<T>::V v) {
  const Plane<S> p = {plane, job.x_h, 1, job.height, job.width};
  for (int k = 0; k < simd<T>::lanes; ++k)
    if (v[k] != v[k]) v[k] = sample_bicubic<S, T>(job.spec, p, at.x[i + k], at.y[i + k]);
  return v;
}

template <class S, class T>
static void cubic_plane(const SampleJob& job, const S* plane, const Coordinates<T>& at, const WindowTable<T>& table,
                        const SharedTable& shared, int count, S* out) {
  typedef simd<T> s;
  typedef typename s::V V;
  for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
    V v;
    if constexpr (sizeof(T) == 4 && has_lane_shuffle) {
      if (table.rows[b] == 0) v = sample_windows(plane, job.x_h, table, i);
      else if (table.vectors[b] == 1) v = sample_shared<false>(plane, job.x_h, table, shared, b);
      else v = sample_shared<true>(plane, job.x_h, table, shared, b);
    } else {
      v = sample_windows(plane, job.x_h, table, i);
    }
    if (storage<S>::has_nan && table.folded[b] && any(v != v)) v = settle<S, T>(job, plane, at, i, v);
    if (i + s::lanes <= count) {
      storage<S>::store_vector(out + i, v);
    } else {
      S last[s::lanes];
      storage<S>::store_vector(last, v);
      memcpy(out + i, last, sizeof(S) * (size_t)(count - i));
    }
  }
}

template <class S>
static void cubic_piece(const SampleJob& job, const Piece& piece) {
  typedef typename storage<S>::compute T;
  if (job.width < 4 || job.height < 4) return sample_piece_exact<S, T>(job, piece);
  Coordinates<T> at;
  WindowTable<T> table;
  SharedTable shared;
  Piece run = piece;
  run.rows = 1;
  for (int r = 0; r < piece.rows; ++r, run.first += job.out_width) {
    int count = 0;
    for (int64_t n = piece.n0; n < piece.n1; ++n) {
      if (n == piece.n0 || job.g_n != 0) {
        count = coordinates<T>(job, n, run, at);
        tabulate_windows<T>(job, count, at, table, &shared);
      }
      const S* plane = static_cast<const S*>(job.x) + n * job.x_n + piece.c0 * job.x_c;
      S* out = static_cast<S*>(job.out) + n * job.o_n + piece.c0 * job.o_c + run.first;
      for (int64_t c = piece.c0; c < piece.c1; ++c, plane += job.x_c, out += job.o_c)
        cubic_plane<S, T>(job, plane, at, table, shared, count, out);
    }
  }
}

void add_cubic_kernels(Kernels& k) {
  SamplePiece(&cubic)[type_count][2] = k.forward[GW_BICUBIC];
  cubic[GW_FLOAT32][0] = cubic_piece<float>;
  cubic[GW_FLOAT64][0] = cubic_piece<double>;
  cubic[GW_FLOAT16][0] = cubic_piece<float16>;
  cubic[GW_BFLOAT16][0] = cubic_piece<bfloat16>;
  cubic[GW_UINT8][0] = cubic_piece<uint8_t>;
  cubic[GW_INT8][0] = cubic_piece<int8_t>;
  cubic[GW_UINT16][0] = cubic_piece<uint16_t>;
}

}  // namespace GW_ISA
}  // namespace gw
