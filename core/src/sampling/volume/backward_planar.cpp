// SPDX-License-Identifier: Apache-2.0
// Kernels of the gradient of volumes and signals of one instruction set, for planes that are read and added to as they
// lie: few channels, of which a vector would be mostly empty, and nearest. Points go a vector at a time.
#include "cpu/kernels.hpp"
#include "sampling/volume/backward_points.hpp"
#include "simd/pairs.hpp"

namespace gw {
namespace GW_ISA {

// Where the points of a tile are, and what they weigh; those that are not inside point at the piece's first voxel.
template <class T, int axes>
struct PlanarPoints {
  static constexpr int planes = axes == 3 ? 2 : 1;
  VolumePoints<T> t;
  int32_t from[tile_points];          // of the lowest voxel in x
  int32_t to[planes][tile_points];    // in grad_x, in each of its planes; one of another piece is left out
  T share[planes][tile_points];       // the planes' weights along z
  alignas(64) T w[axes][tile_points];
  T keep[tile_points];                // 1 inside, else 0
  bool some[tile_points / simd<T>::lanes];
  uint8_t owned[tile_points];         // inside, and its gradient is this piece's

  void build(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece, int count) {
    typedef simd<T> s;
    typedef typename s::V V;
    typedef typename s::I I;
    typedef typename s::index index;
    t.edge = 0;
    const T bottom = (T)piece.z0, top = (T)(piece.z1 - 1);
    const int64_t first_x = axes == 3 ? piece.z0 * job.x_s[2] : 0, first_d = axes == 3 ? piece.z0 * job.gx_s[2] : 0;
    for (int b = 0, i = 0; i < count; ++b, i += s::lanes) {
      I in = ~I{}, gone = I{}, mine = ~I{}, x = I{}, d = I{}, d_next = I{};
      V front = s::splat(1), back = s::splat(1);
      for (int a = 0; a < axes; ++a) {
        const V p = s::load(t.at.p[a] + i), f = s::floor(p), last = s::splat((T)(job.size[a] - 1));
        in &= (f >= V{}) & (f < last);
        gone |= (f < s::splat(-1)) | (f > last);
        s::store(w[a] + i, p - f);
        if (a == 2) {
          const I has_front = (f >= s::splat(bottom)) & (f <= s::splat(top)), has_back = (f >= s::splat(bottom - 1)) & (f < s::splat(top));
          in &= has_front | has_back;
          mine = has_front;
          // A point with one plane here has it as the second, and nothing to add to the first, which is the same.
          const I z = s::to_index(f), step = s::splat_index((index)job.gx_s[2]), both = has_front & has_back;
          back = select(has_back, p - f, s::splat(1) - (p - f));
          front = select(both, s::splat(1) - (p - f), V{});
          x += z * s::splat_index((index)job.x_s[2]);
          d_next = d + select(has_back, z + 1, z) * step;
          d = select(both, d + z * step, d_next);
        } else {
          const I at = s::to_index(f);
          x += at * s::splat_index((index)job.x_s[a]);
          d += at * s::splat_index((index)job.gx_s[a]);
        }
      }
      s::store_index(from + i, select(in, x, s::splat_index((index)first_x)));
      s::store_index(to[0] + i, select(in, d, s::splat_index((index)first_d)));
      if (axes == 3) {
        s::store_index(to[planes - 1] + i, select(in, d_next, s::splat_index((index)first_d)));
        s::store(share[0] + i, front);
        s::store(share[planes - 1] + i, back);
      }
      s::store(keep + i, select(in, s::splat(1), V{}));
      some[b] = any(in);
      const int length = min_of<int>(s::lanes, count - i);
      for (int k = 0; k < length; ++k) owned[i + k] = (uint8_t)(in[k] && mine[k]);
      if (length == s::lanes && !any(~in)) continue;
      for (int k = 0; k < length; ++k) {
        if (in[k]) continue;
        if (gone[k]) clear_sums<T>(job, piece, t, i + k);
        else t.edge_point[t.edge++] = i + k;
      }
      for (int k = length; k < s::lanes; ++k) keep[i + k] = T(0);
    }
  }
};

template <class T>
GW_INLINE void load_grads(const T* g, const int64_t* id, int count, T* to) {
  if (id[count - 1] - id[0] == count - 1) memcpy(to, g + id[0], sizeof(T) * (size_t)count);
  else for (int i = 0; i < count; ++i) to[i] = g[id[i]];
  for (int i = count; i % simd<T>::lanes != 0; ++i) to[i] = T(0);
}

template <class T, int axes, bool wants_x, bool wants_grid>
static void linear_plane(const VolumeBackwardJob& job, const PlanarPoints<T, axes>& points, int count, const T* x, T* d,
                         const T* g, T (*along)[tile_points]) {
  typedef simd<T> s;
  typedef typename s::V V;
  constexpr int rows = axes == 3 ? 4 : 1, lanes = s::lanes, planes = axes == 3 ? 2 : 1;
  const int64_t row[4] = {0, job.x_s[1], job.x_s[2], job.x_s[1] + job.x_s[2]}, d_row = job.gx_s[1];
  for (int b = 0, i = 0; i < count; ++b, i += lanes) {
    if (!points.some[b]) continue;
    const V keep = s::load(points.keep + i), gv = select(keep != V{}, s::load(g + i), V{}), wx = s::load(points.w[0] + i);
    if (wants_grid) {
      V slope[rows], value[rows];
      for (int r = 0; r < rows; ++r) {
        V left, right;
        load_pairs(x + row[r], points.from + i, left, right);
        slope[r] = right - left;
        value[r] = s::fma(slope[r], wx, left);
      }
      if constexpr (axes == 3) {
        const V wy = s::load(points.w[1] + i), wz = s::load(points.w[2] + i);
        const V front = s::fma(slope[1] - slope[0], wy, slope[0]), back = s::fma(slope[3] - slope[2], wy, slope[2]);
        const V upper = value[1] - value[0], lower = value[3] - value[2];
        s::store(along[0] + i, s::fma(gv, s::fma(back - front, wz, front), s::load(along[0] + i)));
        s::store(along[1] + i, s::fma(gv, s::fma(lower - upper, wz, upper), s::load(along[1] + i)));
        const V deep = s::fma(lower, wy, value[2]) - s::fma(upper, wy, value[0]);
        s::store(along[2] + i, s::fma(gv, deep, s::load(along[2] + i)));
      } else {
        s::store(along[0] + i, s::fma(gv, slope[0], s::load(along[0] + i)));
      }
    }
    if (wants_x) {
      alignas(64) T part[8][lanes];
      const V far = gv * wx, near = gv * (s::splat(1) - wx);
      if constexpr (axes == 3) {
        const V wy = s::load(points.w[1] + i), uy = s::splat(1) - wy;
        const V upper_near = near * uy, upper_far = far * uy, lower_near = near * wy, lower_far = far * wy;
        for (int z = 0; z < planes; ++z) {
          const V wz = s::load(points.share[z] + i);
          s::store(part[4 * z], upper_near * wz);
          s::store(part[4 * z + 1], upper_far * wz);
          s::store(part[4 * z + 2], lower_near * wz);
          s::store(part[4 * z + 3], lower_far * wz);
        }
      } else {
        s::store(part[0], near);
        s::store(part[1], far);
      }
      // Neighbours add to the same voxels, and wait for each other: points half a vector apart go in turns. All of a point
      // is loaded before any of it is stored, since planes are often multiples of 4096 bytes apart.
      for (int h = 0; h < lanes; ++h) {
        const int k = h / 2 + (h & 1) * (lanes / 2);
        if constexpr (axes == 1) {
          T* const p = d + points.to[0][i + k];
          p[0] += part[0][k];
          p[1] += part[1][k];
        } else {
          T* const p = d + points.to[0][i + k];
          T* const q = d + points.to[planes - 1][i + k];
          const T a = p[0] + part[0][k], b = p[1] + part[1][k], c = p[d_row] + part[2][k], e = p[d_row + 1] + part[3][k];
          const T m = q[0] + part[4][k], n = q[1] + part[5][k], o = q[d_row] + part[6][k], r = q[d_row + 1] + part[7][k];
          p[0] = a;
          p[1] = b;
          p[d_row] = c;
          p[d_row + 1] = e;
          q[0] = m;
          q[1] = n;
          q[d_row] = o;
          q[d_row + 1] = r;
        }
      }
    }
  }
}

// Points at edges, tap by tap.
template <class T, int axes>
static void planar_edges(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece, const VolumePoints<T>& t,
                         const T* x, T* d, const T* g) {
  for (int e = 0; e < t.edge; ++e) {
    const int p = t.edge_point[e];
    AxisTaps<T> tap[3];
    point_taps<T, true>(job, t.at, p, tap);
    const int64_t plane = axes == 3 ? owner_plane<T>(job, t.at.p[2][p]) : 0;
    const bool owned = x && plane >= piece.z0 && plane < piece.z1;
    T along[axes] = {};
    for (int64_t c = 0; c < piece.c1 - piece.c0; ++c) {
      const T gv = g[c * job.go_c + t.id[p]];
      for (int k = 0; k < tap[2].count; ++k) {
        const bool in_d = d && tap[2].index[k] >= piece.z0 && tap[2].index[k] < piece.z1;
        for (int j = 0; j < tap[1].count; ++j)
          for (int i = 0; i < tap[0].count; ++i) {
            const int64_t at[3] = {tap[0].index[i], tap[1].index[j], tap[2].index[k]};
            if (in_d)
              d[c * job.gx_c + at[2] * job.gx_s[2] + at[1] * job.gx_s[1] + at[0] * job.gx_s[0]] +=
                  gv * (tap[0].weight[i] * tap[1].weight[j] * tap[2].weight[k]);
            if (!owned) continue;
            const T product = gv * x[c * job.x_c + at[2] * job.x_s[2] + at[1] * job.x_s[1] + at[0] * job.x_s[0]];
            along[0] += product * (tap[0].slope[i] * tap[1].weight[j] * tap[2].weight[k]);
            if constexpr (axes == 3) {
              along[1] += product * (tap[0].weight[i] * tap[1].slope[j] * tap[2].weight[k]);
              along[2] += product * (tap[0].weight[i] * tap[1].weight[j] * tap[2].slope[k]);
            }
          }
      }
    }
    if (owned)
      for (int a = 0; a < axes; ++a) static_cast<T*>(piece.sums)[axes * t.id[p] + a] = along[a] * t.slope.p[a][p];
  }
}

template <class T, int axes>
static void linear_piece(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece) {
  PlanarPoints<T, axes> points;
  VolumePoints<T>& t = points.t;
  alignas(64) T along[axes][tile_points], grads[tile_points];
  const T* const x = static_cast<const T*>(piece.x);
  T* const d = static_cast<T*>(piece.d);
  T* const sums = static_cast<T*>(piece.sums);
  const T* const g = static_cast<const T*>(job.grad_output) + piece.n * job.go_n + piece.c0 * job.go_c;
  for (int64_t first = 0; first < piece.points; first += tile_points) {
    const int count = (int)min_of<int64_t>(tile_points, piece.points - first);
    t.load(job, piece, first, count);
    points.build(job, piece, count);
    if (x) memset(along, 0, sizeof along);
    if (piece.list && t.id[count - 1] - t.id[0] != count - 1)  // points all over the place: the next tile's are asked for
      for (int i = 0; i < tile_points; ++i) {
        const int64_t next = piece.list[first + tile_points + i];
        __builtin_prefetch(g + next);
        if (x) __builtin_prefetch(sums + axes * next, 1);
      }
    for (int64_t c = 0; c < piece.c1 - piece.c0; ++c) {
      load_grads(g + c * job.go_c, t.id, count, grads);
      const T* const x_plane = x + c * job.x_c;
      T* const d_plane = d + c * job.gx_c;
      if (x && d) linear_plane<T, axes, true, true>(job, points, count, x_plane, d_plane, grads, along);
      else if (d) linear_plane<T, axes, true, false>(job, points, count, x_plane, d_plane, grads, along);
      else linear_plane<T, axes, false, true>(job, points, count, x_plane, d_plane, grads, along);
    }
    if (x)
      for (int i = 0; i < count; ++i)
        if (points.owned[i])
          for (int a = 0; a < axes; ++a) sums[axes * t.id[i] + a] = along[a][i] * t.slope.p[a][i];
    planar_edges<T, axes>(job, piece, t, x, d, g);
  }
}
template <class T>
static void linear(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece) {
  if (job.axes == 1) linear_piece<T, 1>(job, piece);
  else linear_piece<T, 3>(job, piece);
}

// Channel after channel, over as many points as offsets are kept of: a channel's part of the band stays cached.
template <class T>
static void nearest(const VolumeBackwardJob& job, const VolumeBackwardPiece& piece) {
  typedef simd<T> s;
  typedef typename s::I I;
  typedef typename s::index index;
  constexpr int64_t kept = 8192;
  VolumePoints<T> t;
  int32_t to[kept], id[kept];
  const T* const g = static_cast<const T*>(job.grad_output) + piece.n * job.go_n + piece.c0 * job.go_c;
  T* const d = static_cast<T*>(piece.d);
  for (int64_t start = 0; start < piece.points; start += kept) {
    const int64_t end = min_of(start + kept, piece.points), id0 = piece.list ? piece.list[start] : start;
    int inside = 0;
    for (int64_t first = start; first < end; first += tile_points) {
      const int count = (int)min_of<int64_t>(tile_points, end - first);
      t.load(job, piece, first, count);
      for (int i = 0; i < count; i += s::lanes) {
        I in = ~I{}, offset = I{};
        for (int a = 0; a < job.axes; ++a) {
          const I at = s::to_index(s::load(t.at.p[a] + i));
          const int64_t low = a == 2 ? piece.z0 : 0, high = a == 2 ? piece.z1 : job.size[a];
          in &= (at >= s::splat_index((index)low)) & (at < s::splat_index((index)high));
          offset += at * s::splat_index((index)job.gx_s[a]);
        }
        const int length = min_of<int>(s::lanes, count - i);
        alignas(64) int32_t offsets[s::lanes], inner[s::lanes];
        s::store_index(offsets, offset);
        s::store_index(inner, in);
        for (int k = 0; k < length; ++k) {
          to[inside] = offsets[k];
          id[inside] = (int32_t)(t.id[i + k] - id0);
          inside += inner[k] != 0;
        }
      }
    }
    for (int64_t c = 0; c < piece.c1 - piece.c0; ++c) {
      const T* const from = g + c * job.go_c + id0;
      T* const plane = d + c * job.gx_c;
      for (int i = 0; i < inside; ++i) plane[to[i]] += from[id[i]];
    }
  }
}

void add_planar_volume_backward_kernels(Kernels& k) {
  k.volume.backward_planar[GW_BILINEAR][GW_FLOAT32] = linear<float>;
  k.volume.backward_planar[GW_BILINEAR][GW_FLOAT64] = linear<double>;
  k.volume.backward_planar[GW_NEAREST][GW_FLOAT32] = nearest<float>;
  k.volume.backward_planar[GW_NEAREST][GW_FLOAT64] = nearest<double>;
}

}  // namespace GW_ISA
}  // namespace gw
