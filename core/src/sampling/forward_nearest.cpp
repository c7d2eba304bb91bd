// SPDX-License-Identifier: Apache-2.0
// Forward kernels of one instruction set: nearest, channels first. The coordinate stage has rounded already.
#include "cpu/kernels.hpp"
#include "sampling/nearest_table.hpp"

namespace gw {
namespace GW_ISA {

template <bool two, class S>
GW_INLINE VF pick_window(const S* plane, int64_t stride, const NearestTable<float>& table, const Block& block, int i) {
  typedef simd<float> s;
  const VI lane = s::load_index(table.lane + i), row = s::load_index(table.row + i);
  const S* p = plane + block.base;
  VF v = VF{};
  for (int r = 0; r < block.rows; ++r, p += stride) {
    const VF a = storage<S>::load_vector(p);
    const VF picked = two ? __builtin_shuffle(a, storage<S>::load_vector(p + s::lanes), lane) : __builtin_shuffle(a, lane);
    v = select(row == s::splat_index(r), picked, v);
  }
  return v;
}

template <class S, class T>
static void nearest_plane(const SampleJob& job, const S* plane, const S* next_plane, const NearestTable<T>& table,
                          int count, bool streamed, S* out) {
  constexpr int lanes = simd<T>::lanes;
  for (int b = 0, i = 0; i < count; ++b, i += lanes) {
    const Block& block = table.block[b];
    if (next_plane) fetch<S, T>(next_plane, job.x_h, block);
    const int here = min_of(lanes, count - i);
    if constexpr (sizeof(T) == 4) {
      if (here == lanes && block.reach == Reach::window) {
        write_vector<S>(out + i, pick_window<false>(plane, job.x_h, table, block, i), streamed);
        continue;
      }
      if (here == lanes && block.reach == Reach::double_window) {
        write_vector<S>(out + i, pick_window<true>(plane, job.x_h, table, block, i), streamed);
        continue;
      }
    }
    if (block.reach == Reach::outside) {
      memset(out + i, 0, sizeof(S) * (size_t)here);
    } else if (here == lanes && block.reach == Reach::pairs) {
      for (int k = 0; k < lanes; ++k) out[i + k] = plane[table.offset[i + k]];
    } else {
      for (int k = 0; k < here; ++k) out[i + k] = table.keep[i + k] ? plane[table.offset[i + k]] : S{};
    }
  }
}

template <class S>
static void nearest_piece(const SampleJob& job, const Piece& piece) {
  typedef typename storage<S>::compute T;
  const bool far = job.height * job.x_h * (int64_t)sizeof(S) > far_plane_bytes;
  const bool streamed = is_streamed<S>(job);
  Coordinates<T> at;
  NearestTable<T> table;
  int count = 0;
  for (int64_t n = piece.n0; n < piece.n1; ++n) {
    if (n == piece.n0 || job.g_n != 0) {
      count = coordinates<T>(job, n, piece, at);
      build_offsets<T, true>(job, at, count, table);
    }
    const S* plane = static_cast<const S*>(job.x) + n * job.x_n + piece.c0 * job.x_c;
    if (far)
      for (int b = 0, i = 0; i < count; ++b, i += simd<T>::lanes) fetch<S, T>(plane, job.x_h, table.block[b]);
    for (int64_t c = piece.c0; c < piece.c1; ++c, plane += job.x_c)
      nearest_plane<S, T>(job, plane, far && c + 1 < piece.c1 ? plane + job.x_c : nullptr, table, count, streamed,
                          static_cast<S*>(job.out) + n * job.o_n + c * job.o_c + piece.first);
  }
  if (streamed) stream_fence();
}

void add_nearest_kernels(Kernels& k) {
  SamplePiece(&nearest)[type_count][2] = k.forward[GW_NEAREST];
  nearest[GW_FLOAT32][0] = nearest_piece<float>;
  nearest[GW_FLOAT64][0] = nearest_piece<double>;
  nearest[GW_FLOAT16][0] = nearest_piece<float16>;
  nearest[GW_BFLOAT16][0] = nearest_piece<bfloat16>;
  nearest[GW_UINT8][0] = nearest_piece<uint8_t>;
  nearest[GW_INT8][0] = nearest_piece<int8_t>;
  nearest[GW_UINT16][0] = nearest_piece<uint16_t>;
}

}  // namespace GW_ISA
}  // namespace gw
