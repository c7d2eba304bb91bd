// SPDX-License-Identifier: Apache-2.0
// Image.transform as Pillow computes it. Positions are those of Pillow's loops, in its order of operations: sums that
// grow pixel by pixel, 16.16 fixed point where it takes that path, so that every pixel falls where Pillow's does.
#include "transforming/pillow.hpp"

#include <cmath>
#include <vector>

#include "failure.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"
#include "transforming/convert.hpp"
#include "transforming/pillow_filters.hpp"

namespace gw {
namespace {

// The part of the output that is written, and the coefficients.
struct Job {
  const double* a;
  int64_t x0, y0, x1, y1;
  bool clear;  // what lies outside the image becomes 0; otherwise it stays
};

// Maps give the position in the image of output pixel (x, y), counted from the corner of the box.
struct Affine {
  const double* a;
  void operator()(int64_t x, int64_t y, double* xo, double* yo) const {
    const double xi = (double)x + 0.5, yi = (double)y + 0.5;
    *xo = a[0] * xi + a[1] * yi + a[2];
    *yo = a[3] * xi + a[4] * yi + a[5];
  }
};
struct Perspective {
  const double* a;
  void operator()(int64_t x, int64_t y, double* xo, double* yo) const {
    const double xi = (double)x + 0.5, yi = (double)y + 0.5;
    const double w = a[6] * xi + a[7] * yi + 1;
    *xo = (a[0] * xi + a[1] * yi + a[2]) / w;
    *yo = (a[3] * xi + a[4] * yi + a[5]) / w;
  }
};
struct Quad {
  const double* a;
  void operator()(int64_t x, int64_t y, double* xo, double* yo) const {
    const double xi = (double)x + 0.5, yi = (double)y + 0.5;
    *xo = a[0] + a[1] * xi + a[2] * yi + a[3] * xi * yi;
    *yo = a[4] + a[5] * xi + a[6] * yi + a[7] * xi * yi;
  }
};

// Rows of the box, a piece each: row(y, pixel at the row's start, y counted from the box).
template <class T, class Row>
gw_status each_row(const Job& job, const gw_tensor& out, double cost_ns, const Row& row) {
  if (job.x1 <= job.x0 || job.y1 <= job.y0) return GW_OK;
  const double pixels = (double)(job.x1 - job.x0) * (double)(job.y1 - job.y0);
  const Outcome outcome = parallel_for(job.y1 - job.y0, cost_ns * pixels, [&](int64_t y, int) {
    row(y, static_cast<T*>(out.data) + (job.y0 + y) * out.stride[0] + job.x0 * out.stride[1]);
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

template <class T>
void clear_pixel(T* to, const gw_tensor& out) {
  for (int64_t c = 0; c < out.shape[2]; ++c) to[c * out.stride[2]] = 0;
}

template <class T>
void copy_pixel(const PillowSource<T>& from, int64_t x, int64_t y, T* to, const gw_tensor& out) {
  const T* pixel = from.row(y) + x * from.step;
  for (int64_t c = 0; c < out.shape[2]; ++c) to[c * out.stride[2]] = pixel[c * from.channel_step];
}

// The index of the sample that holds v, or -1; never a conversion of what does not fit.
int64_t index_of(double v, int64_t length) { return v >= 0.0 && v < (double)length ? (int64_t)v : -1; }

// Any map, any filter.
template <class T, class Filter, class Map>
gw_status generic(const Job& job, const gw_tensor& image, const gw_tensor& out, const Map& map) {
  const PillowSource<T> from(image);
  const double width = (double)from.width, height = (double)from.height;
  const double cost = 4 + Filter::cost_ns * (double)out.shape[2];
  return each_row<T>(job, out, cost, [&](int64_t y, T* to) {
    for (int64_t x = 0; x < job.x1 - job.x0; ++x, to += out.stride[1]) {
      double xi, yi;
      map(x, y, &xi, &yi);
      if (xi >= 0.0 && xi < width && yi >= 0.0 && yi < height) {
        const typename Filter::template At<T> at(from, xi, yi);
        for (int64_t c = 0; c < out.shape[2]; ++c) to[c * out.stride[2]] = at.value(c * from.channel_step);
      } else if (job.clear) {
        clear_pixel(to, out);
      }
    }
  });
}

// Nearest along the axes: positions of columns and of rows, each a running sum.
std::vector<int64_t> running(double at, double step, int64_t count, int64_t length) {
  std::vector<int64_t> table((size_t)count);
  for (int64_t& index : table) {
    index = index_of(at, length);
    at += step;
  }
  return table;
}

template <class T>
gw_status scale(const Job& job, const gw_tensor& image, const gw_tensor& out) {
  if (job.x1 <= job.x0 || job.y1 <= job.y0) return GW_OK;
  const PillowSource<T> from(image);
  const double* a = job.a;
  const std::vector<int64_t> columns = running(a[2] + a[0] * 0.5, a[0], job.x1 - job.x0, from.width);
  const std::vector<int64_t> rows = running(a[5] + a[4] * 0.5, a[4], job.y1 - job.y0, from.height);
  return each_row<T>(job, out, 1.0 * (double)out.shape[2], [&](int64_t y, T* to) {
    const int64_t yi = rows[(size_t)y];
    for (const int64_t xi : columns) {
      if (xi >= 0 && yi >= 0) copy_pixel(from, xi, yi, to, out);
      else if (job.clear) clear_pixel(to, out);
      to += out.stride[1];
    }
  });
}

// Sums wrap as two's complement.
int32_t sum(int32_t v, int32_t step, int64_t times) {
  return (int32_t)((uint32_t)v + (uint32_t)step * (uint32_t)(uint64_t)times);
}
int32_t fixed(double v) { return truncated<int32_t>(std::floor(v * 65536.0 + 0.5)); }

template <class T>
gw_status fixed_point(const Job& job, const gw_tensor& image, const gw_tensor& out) {
  const PillowSource<T> from(image);
  const double* a = job.a;
  const int32_t a0 = fixed(a[0]), a1 = fixed(a[1]), a3 = fixed(a[3]), a4 = fixed(a[4]);
  const int32_t a2 = fixed(a[2] + a[0] * 0.5 + a[1] * 0.5), a5 = fixed(a[5] + a[3] * 0.5 + a[4] * 0.5);
  return each_row<T>(job, out, 1.0 + 1.0 * (double)out.shape[2], [&](int64_t y, T* to) {
    int32_t xx = sum(a2, a1, y), yy = sum(a5, a4, y);
    for (int64_t x = 0; x < job.x1 - job.x0; ++x, to += out.stride[1]) {
      const int64_t xi = xx >> 16, yi = yy >> 16;
      if (xi >= 0 && xi < from.width && yi >= 0 && yi < from.height) copy_pixel(from, xi, yi, to, out);
      else if (job.clear) clear_pixel(to, out);
      xx = sum(xx, a0, 1);
      yy = sum(yy, a3, 1);
    }
  });
}

template <class T>
gw_status running_sums(const Job& job, const gw_tensor& image, const gw_tensor& out) {
  if (job.x1 <= job.x0 || job.y1 <= job.y0) return GW_OK;
  const PillowSource<T> from(image);
  const double* a = job.a;
  std::vector<double> starts((size_t)(job.y1 - job.y0) * 2);
  double xo = a[2] + a[1] * 0.5 + a[0] * 0.5, yo = a[5] + a[4] * 0.5 + a[3] * 0.5;
  for (size_t y = 0; y < starts.size(); y += 2) {
    starts[y] = xo;
    starts[y + 1] = yo;
    xo += a[1];
    yo += a[4];
  }
  return each_row<T>(job, out, 2.0 + 1.0 * (double)out.shape[2], [&](int64_t y, T* to) {
    double xx = starts[(size_t)y * 2], yy = starts[(size_t)y * 2 + 1];
    for (int64_t x = 0; x < job.x1 - job.x0; ++x, to += out.stride[1]) {
      const int64_t xi = index_of(xx, from.width), yi = index_of(yy, from.height);
      if (xi >= 0 && yi >= 0) copy_pixel(from, xi, yi, to, out);
      else if (job.clear) clear_pixel(to, out);
      xx += a[0];
      yy += a[3];
    }
  });
}

bool fits_fixed(const double* a, double x, double y) {
  return std::fabs(x * a[0] + y * a[1] + a[2]) < 32768.0 && std::fabs(x * a[3] + y * a[4] + a[5]) < 32768.0;
}

template <class T>
gw_status affine_nearest(const Job& job, const gw_tensor& image, const gw_tensor& out) {
  // Pillow sends 16-bit images the general way.
  if (image.dtype == GW_UINT16) return generic<T, NearestFilter>(job, image, out, Affine{job.a});
  if (job.a[1] == 0 && job.a[3] == 0) return scale<T>(job, image, out);
  const double w = (double)(job.x1 - job.x0), h = (double)(job.y1 - job.y0);
  const bool fits = fits_fixed(job.a, 0, 0) && fits_fixed(job.a, w, h) && fits_fixed(job.a, 0, h) &&
                    fits_fixed(job.a, w, 0);
  return fits ? fixed_point<T>(job, image, out) : running_sums<T>(job, image, out);
}

template <class T, class Map>
gw_status filtered(int32_t filter, const Job& job, const gw_tensor& image, const gw_tensor& out, const Map& map) {
  if (filter == GW_BILINEAR) return generic<T, BilinearFilter>(job, image, out, map);
  if (filter == GW_BICUBIC) return generic<T, BicubicFilter>(job, image, out, map);
  return generic<T, NearestFilter>(job, image, out, map);
}

template <class T>
gw_status transform(const gw_pillow_transform_spec& spec, const Job& job, const gw_tensor& image,
                    const gw_tensor& out) {
  if (spec.method == GW_PILLOW_PERSPECTIVE) return filtered<T>(spec.filter, job, image, out, Perspective{job.a});
  if (spec.method == GW_PILLOW_QUAD) return filtered<T>(spec.filter, job, image, out, Quad{job.a});
  if (spec.filter == GW_NEAREST) return affine_nearest<T>(job, image, out);
  return filtered<T>(spec.filter, job, image, out, Affine{job.a});
}

constexpr int64_t longest = INT32_MAX;  // Pillow counts pixels in int

void check(const gw_pillow_transform_spec& spec, const gw_tensor& image, const gw_tensor& out) {
  if (spec.method < GW_PILLOW_AFFINE || spec.method > GW_PILLOW_QUAD)
    fail(GW_ERROR_ARGUMENT, "method has code %d; the codes are 0 to %d", spec.method, GW_PILLOW_QUAD);
  if (spec.filter < GW_BILINEAR || spec.filter > GW_BICUBIC)
    fail(GW_ERROR_ARGUMENT, "filter has code %d; the codes are 0 to %d", spec.filter, GW_BICUBIC);
  check_tensor("image", image, false);
  check_tensor("out", out, false);
  if (image.rank != 3) fail(GW_ERROR_SHAPE, "image must have shape (H, W, C); got %s", shape_text(image).c_str());
  if (out.rank != 3 || out.shape[2] != image.shape[2])
    fail(GW_ERROR_SHAPE, "out must have shape (H_out, W_out, C) with the channels of image, %s; got %s",
         shape_text(image).c_str(), shape_text(out).c_str());
  if (image.shape[0] > longest || image.shape[1] > longest || out.shape[0] > longest || out.shape[1] > longest)
    fail(GW_ERROR_SHAPE, "image and out must have a height and width below 2^31; got %s and %s",
         shape_text(image).c_str(), shape_text(out).c_str());
  if (image.dtype != GW_UINT8 && image.dtype != GW_UINT16 && image.dtype != GW_INT32 && image.dtype != GW_FLOAT32)
    fail(GW_ERROR_DTYPE, "image must be uint8, uint16, int32 or float32; got %s", type_name(image.dtype));
  if (out.dtype != image.dtype)
    fail(GW_ERROR_DTYPE, "out must have the dtype of image, %s; got %s", type_name(image.dtype), type_name(out.dtype));
  check_writable("out", out);
  check_no_overlap("out", out, "image", image);
}

}  // namespace

gw_status transform_pillow(const gw_pillow_transform_spec& spec, const gw_tensor& image, const gw_tensor& out) {
  check(spec, image, out);
  if (element_count(out) == 0) return GW_OK;
  const auto within = [](int64_t v, int64_t length) { return v < 0 ? 0 : v > length ? length : v; };
  const Job job = {spec.coefficients,
                   within(spec.box[0], out.shape[1]),
                   within(spec.box[1], out.shape[0]),
                   within(spec.box[2], out.shape[1]),
                   within(spec.box[3], out.shape[0]),
                   spec.clear != 0};
  switch (image.dtype) {
    case GW_UINT8: return transform<uint8_t>(spec, job, image, out);
    case GW_UINT16: return transform<uint16_t>(spec, job, image, out);
    case GW_INT32: return transform<int32_t>(spec, job, image, out);
    default: return transform<float>(spec, job, image, out);
  }
}

// Colours times alpha / 255, or back; the last channel is alpha.
gw_status premultiply(const gw_tensor& image, bool undo, const gw_tensor& out) {
  check_tensor("image", image, false);
  check_tensor("out", out, false);
  if (image.rank != 3 || image.shape[2] < 2 || image.dtype != GW_UINT8)
    fail(GW_ERROR_SHAPE, "image must be uint8 of shape (H, W, C) whose last channel is alpha; got %s of shape %s",
         type_name(image.dtype), shape_text(image).c_str());
  if (out.rank != 3 || out.dtype != GW_UINT8 || out.shape[0] != image.shape[0] || out.shape[1] != image.shape[1] ||
      out.shape[2] != image.shape[2])
    fail(GW_ERROR_SHAPE, "out must be like image, uint8 of shape %s; got %s of shape %s", shape_text(image).c_str(),
         type_name(out.dtype), shape_text(out).c_str());
  check_writable("out", out);
  check_no_overlap("out", out, "image", image);
  const int64_t alpha_at = image.shape[2] - 1;
  const Outcome outcome = parallel_for(image.shape[0], (double)element_count(image) * 1.0, [&](int64_t y, int) {
    for (int64_t x = 0; x < image.shape[1]; ++x) {
      const uint8_t* from = static_cast<const uint8_t*>(image.data) + y * image.stride[0] + x * image.stride[1];
      uint8_t* to = static_cast<uint8_t*>(out.data) + y * out.stride[0] + x * out.stride[1];
      const unsigned alpha = from[alpha_at * image.stride[2]];
      for (int64_t c = 0; c < alpha_at; ++c) {
        const unsigned v = from[c * image.stride[2]];
        unsigned result = v;
        if (!undo) {
          const unsigned scaled = v * alpha + 128;
          result = ((scaled >> 8) + scaled) >> 8;
        } else if (alpha != 0 && alpha != 255) {
          result = 255 * v / alpha;
          if (result > 255) result = 255;
        }
        to[c * out.stride[2]] = (uint8_t)result;
      }
      to[alpha_at * out.stride[2]] = (uint8_t)alpha;
    }
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

}  // namespace gw
