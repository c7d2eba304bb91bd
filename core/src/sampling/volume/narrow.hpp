// SPDX-License-Identifier: Apache-2.0
// Linear sampling of two to four channels of float that lie side by side: one load brings both voxels of a pair, so a
// point takes four loads instead of eight, and the weights along y and z are applied to both at once.
#pragma once

#include "sampling/volume/pair_table.hpp"

namespace gw {
namespace GW_ISA {

#if defined(__AVX2__)
constexpr bool has_narrow_volumes = true;

template <int C, int axes>
static void narrow_piece(const VolumeJob& job, const VolumePiece& piece) {
  VolumeCoordinates<float> at;
  PairTable<axes, float> table;
  volume_coordinates<float>(job, piece.n, piece.first, piece.count, at);
  table.build(job, at, piece.count);
  const float* x = static_cast<const float*>(job.x) + piece.n * job.x_n;
  float* out = static_cast<float*>(job.out) + piece.n * job.o_n + piece.first * C;
  alignas(32) int32_t lanes[3][8];  // those of a pair; of its second voxel; of one voxel
  for (int k = 0; k < 8; ++k) {
    lanes[0][k] = k < 2 * C ? -1 : 0;
    lanes[1][k] = (k + C) & 7;
    lanes[2][k] = k < C ? -1 : 0;
  }
  const __m256i pair = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes[0]));
  const __m256i second = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes[1]));
  const __m128i one = _mm_load_si128(reinterpret_cast<const __m128i*>(lanes[2]));
  const auto load = [&](int r, int i) __attribute__((always_inline)) {
    const float* p = x + table.row[r][i];
    return C == 4 ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, pair);
  };
  for (int i = 0; i < piece.count; ++i, out += C) {
    __m256 v = load(0, i);
    if constexpr (axes == 3) {
      const __m256 above = _mm256_broadcast_ss(table.near[1] + i), below = _mm256_broadcast_ss(table.far[1] + i);
      const __m256 front = _mm256_fmadd_ps(load(1, i), below, _mm256_mul_ps(v, above));
      const __m256 back = _mm256_fmadd_ps(load(3, i), below, _mm256_mul_ps(load(2, i), above));
      v = _mm256_fmadd_ps(back, _mm256_broadcast_ss(table.far[2] + i),
                          _mm256_mul_ps(front, _mm256_broadcast_ss(table.near[2] + i)));
    }
    const __m128 left = _mm256_castps256_ps128(v), right = _mm256_castps256_ps128(_mm256_permutevar8x32_ps(v, second));
    __m128 sum = _mm_fmadd_ps(right, _mm_broadcast_ss(table.far[0] + i), _mm_mul_ps(left, _mm_broadcast_ss(table.near[0] + i)));
    if (_mm_movemask_ps(_mm_cmpunord_ps(sum, sum)) & ((1 << C) - 1)) {
      alignas(16) float values[4];
      _mm_store_ps(values, sum);
      settle_volume<float, float>(job, piece.n, at, 0, 1, i, 0, C, values);
      sum = _mm_load_ps(values);
    }
    if (C == 4 || i + 1 < piece.count) _mm_storeu_ps(out, sum);  // what it writes of the next point comes next
    else _mm_maskstore_ps(out, one, sum);
  }
}

template <int axes>
static bool sample_narrow(const VolumeJob& job, const VolumePiece& piece) {
  if (job.size[0] < 2 || job.x_s[0] != job.channels || piece.c1 - piece.c0 != job.channels) return false;
  switch (job.channels) {
    case 2: narrow_piece<2, axes>(job, piece); return true;
    case 3: narrow_piece<3, axes>(job, piece); return true;
    case 4: narrow_piece<4, axes>(job, piece); return true;
    default: return false;
  }
}
#else
constexpr bool has_narrow_volumes = false;
template <int axes>
static bool sample_narrow(const VolumeJob&, const VolumePiece&) { return false; }
#endif

}  // namespace GW_ISA
}  // namespace gw
