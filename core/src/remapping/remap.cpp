// SPDX-License-Identifier: Apache-2.0
// remap and warps: rules of the arguments, coordinates a tile at a time, sampling.
#include "remapping/remap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "remapping/tables.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

constexpr int64_t tile = 512;  // coordinates of one stay in the first cache

void check_code(const char* name, int32_t code, int32_t last) {
  if (code < 0 || code > last) fail(GW_ERROR_ARGUMENT, "%s has code %d; the codes are 0 to %d", name, code, last);
}

gw_tensor with_channels(const gw_tensor& t) {  // (H, W) as (H, W, 1)
  gw_tensor r = t;
  if (t.rank == 2) {
    r.rank = 3;
    r.shape[2] = 1;
    r.stride[2] = 0;
  }
  return r;
}

// Further out than any border rule tells apart from here; indices and their neighbours stay in 32 bits.
constexpr double farthest = 1073741824.0;

void set_reach(const gw_remap_spec& spec, int64_t size, double* reach) {
  const double about = (double)std::max<int64_t>(size, 16);
  reach[0] = spec.reach == GW_REACH_NEAR ? -about : spec.reach == GW_REACH_INT16 ? -32768.0 : -farthest;
  reach[1] = spec.reach == GW_REACH_NEAR ? 2 * about : spec.reach == GW_REACH_INT16 ? 32767.0 : farthest;
}

// The width of OpenCV's blocks, of `area` pixels and at most `rows` rows. Measured for some 50 sizes of outputs: one
// width alone explains the ties of perspective coordinates (1024, 16), and which columns of one channel are summed one
// by one for maps (16384, 128) and affine matrices (4096, 32).
int64_t block_columns(int64_t area, int64_t rows, int64_t height) {
  return area / std::clamp<int64_t>(height, 1, rows);
}

RemapJob describe(const gw_remap_spec& spec, const gw_tensor& image, const gw_tensor& out) {
  check_code("mode", spec.mode, GW_REMAP_LANCZOS4);
  check_code("border", spec.border, GW_BORDER_TRANSPARENT);
  check_code("subpixel", spec.subpixel, GW_SUBPIXEL_32_LANES);
  check_code("relative", spec.relative, 1);
  check_code("coordinates", spec.coordinates, GW_COORDINATES_FLOAT32_DIVIDED);
  check_code("reach", spec.reach, GW_REACH_INT16);
  check_tensor("image", image, false);
  check_tensor("out", out, false);
  if (image.rank != 2 && image.rank != 3)
    fail(GW_ERROR_SHAPE, "image must have shape (H, W) or (H, W, C); got %s", shape_text(image).c_str());
  if (image.shape[0] < 1 || image.shape[1] < 1)
    fail(GW_ERROR_SHAPE, "image must have a height and width of at least 1 to be sampled; got %s",
         shape_text(image).c_str());
  if (image.shape[0] >= int64_t{1} << 30 || image.shape[1] >= int64_t{1} << 30)
    fail(GW_ERROR_SHAPE, "image must be less than 2^30 pixels high and wide; got %s", shape_text(image).c_str());
  if (out.rank != image.rank || (out.rank == 3 && out.shape[2] != image.shape[2]))
    fail(GW_ERROR_SHAPE, "out must have the channels of image; got %s for %s", shape_text(out).c_str(),
         shape_text(image).c_str());
  if (out.dtype != image.dtype)
    fail(GW_ERROR_DTYPE, "out must have the dtype of image, %s; got %s", type_name(image.dtype), type_name(out.dtype));
  if (kernels().remap_float[0][image.dtype][0] == nullptr)
    fail(GW_ERROR_DTYPE, "image must be uint8, uint16, float32 or float64; got %s", type_name(image.dtype));
  check_writable("out", out);
  check_no_overlap("out", out, "image", image);
  const gw_tensor in = with_channels(image), to = with_channels(out);
  RemapJob job = {};
  job.mode = spec.mode;
  job.border = spec.border;
  job.table = spec.subpixel != GW_SUBPIXEL_EXACT;
  job.block = std::numeric_limits<int64_t>::max();
  job.height = in.shape[0];
  job.width = in.shape[1];
  job.channels = in.shape[2];
  job.in_h = in.stride[0];
  job.in_w = in.stride[1];
  job.in_c = in.stride[2];
  job.out_h = to.stride[0];
  job.out_w = to.stride[1];
  job.out_c = to.stride[2];
  job.image = in.data;
  job.out = to.data;
  set_reach(spec, job.width, job.reach_x);
  set_reach(spec, job.height, job.reach_y);
  for (int c = 0; c < 4; ++c) {
    double v = spec.border_value[c];
    if (!is_float(image.dtype)) {
      const double most = image.dtype == GW_UINT8 ? 255 : 65535;
      v = v > 0 ? std::min(std::nearbyint(v), most) : 0;
    }
    job.border_value[c] = v;
  }
  if (spec.mode != GW_REMAP_NEAREST) {
    const RemapTable& t = remap_table(spec.mode);
    job.weights = t.weights.data();
    job.fixed_weights = t.fixed_weights.data();
  }
  return job;
}

double cost_of(const RemapJob& job, int64_t pixels) {
  static const double each[] = {2, 5, 20, 80};
  return (double)pixels * (3 + each[job.mode] * (double)job.channels);
}

// Rows in pieces of at least a few thousand pixels. A second kernel, if there is one, goes over what the first has done.
template <class X, class Coordinates>
gw_status sample(const RemapJob& job, RemapPiece<X> kernel, RemapPiece<X> second, const gw_tensor& out,
                 Coordinates&& coordinates) {
  const int64_t height = out.shape[0], width = out.shape[1];
  if (height == 0 || width == 0 || job.channels == 0) return GW_OK;
  const int64_t rows = std::max<int64_t>(1, 4096 / width), pieces = (height + rows - 1) / rows;
  const Outcome outcome = parallel_for(pieces, cost_of(job, height * width), [&](int64_t piece, int) {
    X x[tile], y[tile];
    for (int64_t i = piece * rows; i < std::min(height, (piece + 1) * rows); ++i)
      for (int64_t j = 0, count; j < width; j += count) {
        count = std::min({tile, width - j, job.block - j % job.block});
        coordinates(i, j, count, x, y);
        kernel(job, x, y, i, j, count);
        if (second) second(job, x, y, i, j, count);
      }
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

template <class X>
struct MapReader {
  const gw_tensor &map_x, &map_y;
  bool relative;

  void operator()(int64_t i, int64_t j, int64_t count, X* x, X* y) const {
    read(map_x, i, j, count, x);
    read(map_y, i, j, count, y);
    if (!relative) return;
    for (int64_t k = 0; k < count; ++k) {
      x[k] += (X)(j + k);
      y[k] += (X)i;
    }
  }
  static void read(const gw_tensor& map, int64_t i, int64_t j, int64_t count, X* to) {
    const X* from = static_cast<const X*>(map.data) + i * map.stride[0] + j * map.stride[1];
    const int64_t step = map.stride[1];
    for (int64_t k = 0; k < count; ++k) to[k] = from[k * step];
  }
};

// How three terms of a coordinate are summed: which products OpenCV rounds shows in ties, and in integers.
//   x_alone          fused(x, v r1 + r2)
//   x_and_constant   fused(x, v r1) + r2
//   plain            every product rounded
enum class Sum { x_alone, x_and_constant, plain };

// a b + c with one rounding: a product of floats is exact in double. The call that std::fma is here costs 5 ns.
inline float fused(float a, float b, float c) { return (float)((double)a * (double)b + (double)c); }
inline double fused(double a, double b, double c) { return a * b + c; }

template <Sum sum, class X>
X row_of(const X* r, X u, X v) {
  if (sum == Sum::plain) return u * r[0] + (v * r[1] + r[2]);
  return sum == Sum::x_alone ? fused(u, r[0], v * r[1] + r[2]) : fused(u, r[0], v * r[1]) + r[2];
}

// Coordinates of a matrix. In float, in the order of OpenCV 5: linear and nearest rows by vectors of 16 columns and what
// is left one by one, an affine cubic without fusing; a perspective cubic is the nearest of what was tried.
template <class X>
struct MatrixPoints {
  X m[9];
  bool perspective, cubic;
  int64_t vectors_end;

  MatrixPoints(const double* given, bool divided, bool is_cubic, int64_t width)
      : perspective(divided), cubic(is_cubic), vectors_end(width / 16 * 16) {
    for (int i = 0; i < 9; ++i) m[i] = (X)given[i];
  }
  template <Sum sum>
  void run(X v, int64_t j, int64_t count, X* x, X* y) const {
    for (int64_t k = 0; k < count; ++k) {
      const X u = (X)(j + k);
      x[k] = row_of<sum>(m, u, v);
      y[k] = row_of<sum>(m + 3, u, v);
      if (perspective) {
        const X w = row_of<sum>(m + 6, u, v);
        x[k] /= w;
        y[k] /= w;
      }
    }
  }
  void operator()(int64_t i, int64_t j, int64_t count, X* x, X* y) const {
    const X v = (X)i;
    if (cubic) return perspective ? run<Sum::x_alone>(v, j, count, x, y) : run<Sum::plain>(v, j, count, x, y);
    const int64_t vectors = std::min(count, std::max<int64_t>(vectors_end - j, 0));
    run<Sum::x_alone>(v, j, vectors, x, y);
    run<Sum::x_and_constant>(v, j + vectors, count - vectors, x + vectors, y + vectors);
  }
};

// The coordinates of the tables, as whole numbers of 1/32 pixel: an affine row and column are rounded to 1/1024 and
// added; a perspective point is divided first, and lies at 0 where the denominator is 0. Perspective sums are of a
// block's first column and the columns from there: ties show it.
struct TablePoints {
  const double* m;
  bool perspective, nearest;
  int64_t block;

  // What 32 bits cannot hold, NaN too: the most or the least of a point that was divided, else the least.
  static int64_t held(double v) {
    return v < 2147483647.0 ? (v > -2147483648.0 ? (int64_t)std::nearbyint(v) : -2147483648LL) : 2147483647;
  }
  static uint32_t converted(double v) {
    return v > -2147483648.5 && v < 2147483647.5 ? (uint32_t)(int64_t)std::nearbyint(v) : 0x80000000u;
  }
  void operator()(int64_t i, int64_t j, int64_t count, double* x, double* y) const {
    const double v = (double)i;
    if (perspective) {
      const int64_t start = j - j % block;
      const double s = (double)start;
      const double x0 = m[0] * s + m[1] * v + m[2], y0 = m[3] * s + m[4] * v + m[5], w0 = m[6] * s + m[7] * v + m[8];
      const double unit = nearest ? 1 : 32;
      for (int64_t k = 0; k < count; ++k) {
        const double u = (double)(j + k - start);
        double w = w0 + m[6] * u;
        w = w != 0 ? unit / w : 0;
        x[k] = (double)held((x0 + m[0] * u) * w) / unit;
        y[k] = (double)held((y0 + m[3] * u) * w) / unit;
      }
      return;
    }
    const uint32_t half = nearest ? 512 : 16;  // sums wrap round
    const int shift = nearest ? 10 : 5;
    const uint32_t x0 = converted((m[1] * v + m[2]) * 1024) + half, y0 = converted((m[4] * v + m[5]) * 1024) + half;
    for (int64_t k = 0; k < count; ++k) {
      const double u = (double)(j + k);
      x[k] = (double)((int32_t)(x0 + converted(m[0] * u * 1024)) >> shift) / (nearest ? 1 : 32);
      y[k] = (double)((int32_t)(y0 + converted(m[3] * u * 1024)) >> shift) / (nearest ? 1 : 32);
    }
  }
};

}  // namespace

gw_status remap(const gw_remap_spec& spec, const gw_tensor& image, const gw_tensor& map_x, const gw_tensor& map_y,
                const gw_tensor& out) {
  RemapJob job = describe(spec, image, out);
  check_tensor("map_x", map_x, false);
  check_tensor("map_y", map_y, false);
  for (const auto& [name, map] : {std::pair<const char*, const gw_tensor&>("map_x", map_x), {"map_y", map_y}}) {
    if (map.rank != 2) fail(GW_ERROR_SHAPE, "%s must have shape (H_out, W_out); got %s", name, shape_text(map).c_str());
    if (map.dtype != GW_FLOAT32 && map.dtype != GW_FLOAT64)
      fail(GW_ERROR_DTYPE, "%s must be float32 or float64, in pixels; got %s", name, type_name(map.dtype));
    check_no_overlap("out", out, name, map);
  }
  if (map_x.dtype != map_y.dtype)
    fail(GW_ERROR_DTYPE, "map_x and map_y must have one dtype; got %s and %s", type_name(map_x.dtype),
         type_name(map_y.dtype));
  if (map_x.shape[0] != map_y.shape[0] || map_x.shape[1] != map_y.shape[1])
    fail(GW_ERROR_SHAPE, "map_x and map_y must have one shape; got %s and %s", shape_text(map_x).c_str(),
         shape_text(map_y).c_str());
  if (out.shape[0] != map_x.shape[0] || out.shape[1] != map_x.shape[1])
    fail(GW_ERROR_SHAPE, "out must have the height and width of the maps, %s; got %s", shape_text(map_x).c_str(),
         shape_text(out).c_str());
  const Kernels& k = kernels();
  const bool lanes = spec.subpixel == GW_SUBPIXEL_32_LANES && job.channels == 1;
  if (lanes) job.block = block_columns(16384, 128, out.shape[0]);
  if (map_x.dtype == GW_FLOAT32)
    return sample<float>(job, k.remap_float[job.mode][image.dtype][job.table],
                         lanes ? k.remap_lanes_float[job.mode][image.dtype] : nullptr, out,
                         MapReader<float>{map_x, map_y, spec.relative != 0});
  return sample<double>(job, k.remap_double[job.mode][image.dtype][job.table],
                        lanes ? k.remap_lanes_double[job.mode][image.dtype] : nullptr, out,
                        MapReader<double>{map_x, map_y, spec.relative != 0});
}

gw_status warp(const gw_remap_spec& spec, const gw_tensor& image, const double* m, const gw_tensor& out) {
  RemapJob job = describe(spec, image, out);
  const bool perspective =
      spec.coordinates == GW_COORDINATES_FLOAT32_DIVIDED || m[6] != 0 || m[7] != 0 || m[8] != 1;
  const Kernels& k = kernels();
  if (job.table) {
    const bool lanes = spec.subpixel == GW_SUBPIXEL_32_LANES && job.channels == 1;
    job.block = perspective ? block_columns(1024, 16, out.shape[0]) : block_columns(4096, 32, out.shape[0]);
    return sample<double>(job, k.remap_double[job.mode][image.dtype][1],
                          lanes ? k.remap_lanes_double[job.mode][image.dtype] : nullptr, out,
                          TablePoints{m, perspective, job.mode == GW_REMAP_NEAREST, job.block});
  }
  const bool cubic = job.mode == GW_REMAP_CUBIC;
  if (spec.coordinates == GW_COORDINATES_FLOAT64)
    return sample<double>(job, k.remap_double[job.mode][image.dtype][0], nullptr, out,
                          MatrixPoints<double>(m, perspective, cubic, out.shape[1]));
  return sample<float>(job, k.remap_float[job.mode][image.dtype][0], nullptr, out,
                       MatrixPoints<float>(m, perspective, cubic, out.shape[1]));
}

}  // namespace gw
