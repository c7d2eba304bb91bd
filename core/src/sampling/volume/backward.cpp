// SPDX-License-Identifier: Apache-2.0
// Kernels of the gradient of volumes and signals of one instruction set. They work on blocks of channels of the arithmetic
// type, a vector of channels at a time, so that a tap is one load and one store whatever its neighbours are.
#include "cpu/kernels.hpp"
#include "sampling/backward_pack.hpp"
#include "sampling/volume/backward_points.hpp"

namespace gw {
namespace GW_ISA {

template <class T>
struct VolumeBlock {
  const T* x;
  T* d;
  const T* g;
  int64_t g_point;  // 0: g is that of the tile's points alone, one after the other
  int64_t step[3];  // to the next voxel along x, y, z
  int vectors;
  T* sums;

  GW_INLINE const T* grad(const VolumePoints<T>& t, int p) const {
    return g_point ? g + t.id[p] * g_point : g + p * (int64_t)(vectors * lanes);
  }
  int lanes;
};

template <class T, int L, int axes, class V>
GW_INLINE void put_sums(const VolumeBlock<T>& b, const VolumePoints<T>& t, int p, const V (&along)[axes]) {
  typedef lanes_of<T, L> s;
  alignas(64) T folded[L];
  const V y = along[axes == 3 ? 1 : 0], z = along[axes == 3 ? 2 : 0];
  s::store(folded, fold_four(s{}, along[0], y, z, z));
  const auto sum = unfold<T, L>(folded);
  for (int a = 0; a < axes; ++a) b.sums[axes * t.id[p] + a] = sum[a] * t.slope.p[a][p];
}

template <class T, int L>
static void nearest_voxels(const VolumeBlock<T>& b, const VolumePoints<T>& t) {
  typedef lanes_of<T, L> s;
  for (int k = 0; k < t.inside; ++k) {
    const T* g = b.grad(t, t.point[k]);
    T* d = b.d + t.offset[k];
    for (int v = 0; v < b.vectors; ++v, g += L, d += L) s::store(d, s::load(d) + s::load(g));
  }
}

template <class T, int L, int axes, bool wants_x, bool wants_grid>
static void linear_inside(const VolumeBlock<T>& b, const VolumePoints<T>& t, int first, int last) {
  typedef lanes_of<T, L> s;
  typedef typename s::V V;
  constexpr int rows = axes == 3 ? 4 : 1, ahead = 4;
  const int64_t row[4] = {0, b.step[1], b.step[2], b.step[1] + b.step[2]}, next = b.step[0];
  for (int k = first; k < last; ++k) {
    const int p = t.point[k];
    const int64_t from = t.offset[k], soon = t.offset[k + ahead];
    for (int r = 0; r < rows; ++r) {
      if (wants_grid) {
        __builtin_prefetch(b.x + soon + row[r]);
        __builtin_prefetch(b.x + soon + row[r] + next);
      }
      if (wants_x) {
        __builtin_prefetch(b.d + soon + row[r], 1);
        __builtin_prefetch(b.d + soon + row[r] + next, 1);
      }
    }
    const T wx = t.w[0][k], wy = axes == 3 ? t.w[1][k] : T(0), wz = axes == 3 ? t.w[2][k] : T(0);
    V near[4], far[4];  // weights of a row's two taps
    if (wants_x)
      for (int r = 0; r < rows; ++r) {
        const T w = axes == 3 ? ((r & 1) ? wy : T(1) - wy) * ((r & 2) ? wz : T(1) - wz) : T(1);
        near[r] = s::splat((T(1) - wx) * w);
        far[r] = s::splat(wx * w);
      }
    const V vx = s::splat(wx), vy = s::splat(wy), vz = s::splat(wz);
    V along[axes] = {};
    const T* g = b.grad(t, p);
    const T* x = b.x + from;
    T* d = b.d + from;
    for (int v = 0; v < b.vectors; ++v, g += L) {
      const V gv = s::load(g);
      if (wants_grid) {
        V slope[4], value[4];
        for (int r = 0; r < rows; ++r) {
          const V left = s::load(x + row[r]);
          slope[r] = s::load(x + row[r] + next) - left;
          value[r] = axes == 3 ? fused(slope[r], vx, left) : left;
        }
        if constexpr (axes == 3) {
          const V front = fused(slope[1] - slope[0], vy, slope[0]), back = fused(slope[3] - slope[2], vy, slope[2]);
          along[0] = fused(gv, fused(back - front, vz, front), along[0]);
          const V upper = value[1] - value[0], lower = value[3] - value[2];
          along[1] = fused(gv, fused(lower - upper, vz, upper), along[1]);
          along[2] = fused(gv, fused(lower, vy, value[2]) - fused(upper, vy, value[0]), along[2]);
        } else {
          along[0] = fused(gv, slope[0], along[0]);
        }
        x += L;
      }
      if (wants_x) {
        V sum[8];  // all loads before any store: one that comes after may have to wait for it
        for (int r = 0; r < rows; ++r) {
          sum[2 * r] = fused(gv, near[r], s::load(d + row[r]));
          sum[2 * r + 1] = fused(gv, far[r], s::load(d + row[r] + next));
        }
        for (int r = 0; r < rows; ++r) {
          s::store(d + row[r], sum[2 * r]);
          s::store(d + row[r] + next, sum[2 * r + 1]);
        }
        d += L;
      }
    }
    if (wants_grid) put_sums<T, L, axes>(b, t, p, along);
  }
}

// Points one by one with the taps that count: edges, cubic, volumes of 2^31 voxels.
template <class T, int L, int axes>
static void list_points(const VolumeJob& job, const VolumeBackwardPiece& piece, const VolumeBlock<T>& b,
                        const VolumePoints<T>& t) {
  typedef lanes_of<T, L> s;
  typedef typename s::V V;
  for (int e = 0; e < t.edge; ++e) {
    const int p = t.edge_point[e];
    AxisTaps<T> tap[3];
    point_taps<T, true>(job, t.at, p, tap);
    const int64_t plane = axes == 3 ? owner_plane<T>(job, t.at.p[2][p]) : 0;
    const bool owned = b.sums && plane >= piece.z0 && plane < piece.z1;
    V along[axes] = {};
    const T* const g = b.grad(t, p);
    for (int k = 0; k < tap[2].count; ++k) {
      const bool in_d = b.d && tap[2].index[k] >= piece.z0 && tap[2].index[k] < piece.z1;
      if (!in_d && !owned) continue;
      for (int j = 0; j < tap[1].count; ++j)
        for (int i = 0; i < tap[0].count; ++i) {
          const int64_t at = tap[2].index[k] * b.step[2] + tap[1].index[j] * b.step[1] + tap[0].index[i] * b.step[0];
          if (in_d) {
            const V w = s::splat(tap[0].weight[i] * tap[1].weight[j] * tap[2].weight[k]);
            for (int v = 0; v < b.vectors; ++v) {
              T* d = b.d + at + v * L;
              s::store(d, fused(s::load(g + v * L), w, s::load(d)));
            }
          }
          if (owned) {
            V product = V{};
            for (int v = 0; v < b.vectors; ++v) product = fused(s::load(g + v * L), s::load(b.x + at + v * L), product);
            along[0] = fused(product, s::splat(tap[0].slope[i] * tap[1].weight[j] * tap[2].weight[k]), along[0]);
            if constexpr (axes == 3) {
              along[1] = fused(product, s::splat(tap[0].weight[i] * tap[1].slope[j] * tap[2].weight[k]), along[1]);
              along[2] = fused(product, s::splat(tap[0].weight[i] * tap[1].weight[j] * tap[2].slope[k]), along[2]);
            }
          }
        }
    }
    if (owned) put_sums<T, L, axes>(b, t, p, along);
  }
}

// The channels of a tile's points: runs of points that follow each other are transposed whole.
template <class S, class T>
static void pack_listed(const VolumeBackwardJob& job, const S* g, const int64_t* id, int count, int64_t channels, T* to,
                        int64_t width) {
  for (int i = 0; i < count;) {
    int run = 1;
    while (i + run < count && id[i + run] == id[i] + run) ++run;
    pack_run<S, T>(g + id[i] * job.go_p, job.go_p, job.go_c, run, channels, to + i * width, width);
    i += run;
  }
}

template <class S, int L, int mode, int axes>
static void run_piece(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  constexpr int64_t most_packed = 8192;  // values of grad_output at a time: they stay in the first-level cache
  VolumePoints<T> t;
  alignas(64) T packed[most_packed];
  VolumeBlock<T> b = {};
  b.x = static_cast<const T*>(piece.x);
  b.d = static_cast<T*>(piece.d);
  b.vectors = (int)(piece.width / L);
  b.lanes = L;
  for (int a = 0; a < 3; ++a) b.step[a] = piece.step[a];
  const int64_t channels = piece.c1 - piece.c0;
  const S* g = static_cast<const S*>(job.grad_output) + piece.n * job.go_n + piece.c0 * job.go_c;
  const bool direct = sizeof(S) == sizeof(T) && job.go_c == 1 && channels == piece.width;
  b.g = direct ? reinterpret_cast<const T*>(g) : packed;
  b.g_point = direct ? job.go_p : 0;
  b.sums = piece.x ? static_cast<T*>(piece.sums) : nullptr;
  const int64_t tile = direct ? tile_points : min_of<int64_t>(tile_points, most_packed / piece.width);
  for (int64_t first = 0; first < piece.points; first += tile) {
    const int count = (int)min_of(tile, piece.points - first);
    t.load(job, piece, first, count);
    sort_volume_points<T, mode, axes>(job, piece, count, t);
    if (!direct) pack_listed<S, T>(job, g, t.id, count, channels, packed, piece.width);
    if (mode == GW_NEAREST) {
      nearest_voxels<T, L>(b, t);
    } else if (mode == GW_BILINEAR) {
      const int ours = t.inside - t.below;
      if (b.d && b.sums) linear_inside<T, L, axes, true, true>(b, t, 0, ours);
      else if (b.d) linear_inside<T, L, axes, true, false>(b, t, 0, ours);
      else linear_inside<T, L, axes, false, true>(b, t, 0, ours);
      if (b.d && t.below > 0) linear_inside<T, L, axes, true, false>(b, t, ours, t.inside);
    }
    list_points<T, L, axes>(job, piece, b, t);
  }
}

template <class S, int mode, int axes>
static void run_of_width(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece) {
  typedef typename storage<S>::compute T;
  constexpr int wide = simd<T>::lanes > 4 ? simd<T>::lanes : 4;
  if (piece.width % wide == 0) run_piece<S, wide, mode, axes>(job, piece);
  else if (wide == 16 && piece.width % 8 == 0) run_piece<S, wide == 16 ? 8 : wide, mode, axes>(job, piece);
  else run_piece<S, 4, mode, axes>(job, piece);
}

template <class S, int mode>
static void run(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece) {
  if (job.axes == 1) run_of_width<S, mode, 1>(job, piece);
  else run_of_width<S, mode, 3>(job, piece);
}

template <class S>
static void pack_x(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece, int64_t row0, int64_t row1) {
  typedef typename storage<S>::compute T;
  T* const to = static_cast<T*>(const_cast<void*>(piece.x));
  for (int64_t row = row0; row < row1; ++row) {
    const S* x = static_cast<const S*>(job.x) + piece.n * job.x_n + piece.c0 * job.x_c + row / job.size[1] * job.x_s[2] +
                 row % job.size[1] * job.x_s[1];
    pack_run<S, T>(x, job.x_s[0], job.x_c, job.size[0], piece.c1 - piece.c0,
                   to + row / job.size[1] * piece.step[2] + row % job.size[1] * piece.step[1], piece.width);
  }
}

template <class S>
static void unpack_d(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece, int64_t row0, int64_t row1) {
  typedef typename storage<S>::compute T;
  const T* const from = static_cast<const T*>(piece.d);
  for (int64_t row = row0; row < row1; ++row) {
    S* d = static_cast<S*>(job.grad_x) + piece.n * job.gx_n + piece.c0 * job.gx_c + row / job.size[1] * job.gx_s[2] +
           row % job.size[1] * job.gx_s[1];
    unpack_run<S, T>(from + row / job.size[1] * piece.step[2] + row % job.size[1] * piece.step[1],
                     piece.width, job.size[0], piece.c1 - piece.c0, d, job.gx_s[0], job.gx_c);
  }
}

template <class S>
static void add_backward(VolumeKernels& k, int type) {
  k.backward[GW_BILINEAR][type] = run<S, GW_BILINEAR>;
  k.backward[GW_NEAREST][type] = run<S, GW_NEAREST>;
  k.backward[GW_BICUBIC][type] = run<S, GW_BICUBIC>;
  k.pack_x[type] = pack_x<S>;
  k.unpack_d[type] = unpack_d<S>;
}

void add_volume_backward_kernels(Kernels& k) {
  k.volume.band_ranges[0] = band_ranges<float>;
  k.volume.band_ranges[1] = band_ranges<double>;
  add_backward<float>(k.volume, GW_FLOAT32);
  add_backward<double>(k.volume, GW_FLOAT64);
  add_backward<float16>(k.volume, GW_FLOAT16);
  add_backward<bfloat16>(k.volume, GW_BFLOAT16);
}

}  // namespace GW_ISA
}  // namespace gw
