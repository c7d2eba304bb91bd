// SPDX-License-Identifier: Apache-2.0
// ImageProjectiveTransform as TensorFlow computes it: coordinates and sums in float, in its order of operations.
#include "transforming/projective.hpp"

#include <cmath>
#include <type_traits>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "memory.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"
#include "transforming/convert.hpp"

namespace gw {
namespace {

// len * q for a quotient of any size, wrapped as the machine does.
float multiple(int64_t length, int64_t quotient) {
  return (float)(int64_t)((uint64_t)length * (uint64_t)quotient);
}

float clamped(float v, int64_t length) { return v < 0.0f ? 0.0f : v > (float)(length - 1) ? (float)(length - 1) : v; }

// [dcba|abcd|dcba]
float reflected(float v, int64_t length) {
  const float period = (float)(2 * length), last = (float)(length - 1);
  if (v < 0) {
    if (length <= 1) return 0;
    if (v < period) v = multiple(2 * length, truncated<int64_t>(-v / period)) + v;
    v = v < -(float)length ? v + period : -v - 1;
  } else if (v > last) {
    if (length <= 1) return 0;
    v -= multiple(2 * length, truncated<int64_t>(v / period));
    if (v >= (float)length) v = period - v - 1;
  }
  return clamped(v, length);
}

// [abcd|abcd|abcd], with TensorFlow's period of length - 1 in the quotient.
float wrapped(float v, int64_t length) {
  const float last = (float)(length - 1);
  if (v < 0) {
    if (length <= 1) return 0;
    v += multiple(length, (int64_t)((uint64_t)truncated<int64_t>(-v / last) + 1));
  } else if (v > last) {
    if (length <= 1) return 0;
    v -= multiple(length, truncated<int64_t>(v / last));
  }
  return clamped(v, length);
}

float mapped(int32_t fill_mode, float v, int64_t length) {
  switch (fill_mode) {
    case GW_FILL_REFLECT: return reflected(v, length);
    case GW_FILL_WRAP: return wrapped(v, length);
    case GW_FILL_NEAREST: return clamped(v, length);
    default: return v;
  }
}

// What a C cast of float to T does on x86.
template <class T>
T cast(float v) {
  if constexpr (std::is_same_v<T, uint8_t>) return (uint8_t)truncated<int32_t>(v);
  else if constexpr (std::is_integral_v<T>) return truncated<T>(v);
  else return (T)v;
}

template <class T>
struct Sampler {
  const gw_projective_transform_spec& spec;
  const T* data;  // of one image
  const gw_tensor& images;
  int64_t height, width;
  T fill;

  const T* pixel(int64_t y, int64_t x) const {
    return y >= 0 && y < height && x >= 0 && x < width ? data + y * images.stride[1] + x * images.stride[2] : nullptr;
  }
  float read(const T* at, int64_t c) const { return (float)(at ? at[c * images.stride[3]] : fill); }

  // One pixel, all channels.
  void sample(const float* t, int64_t row, int64_t column, T* to, int64_t step) const {
    const float i = (float)column, j = (float)row;
    const float projection = t[6] * i + t[7] * j + 1.0f;
    const int64_t channels = images.shape[3];
    const float x = mapped(spec.fill_mode, (t[0] * i + t[1] * j + t[2]) / projection, width);
    const float y = mapped(spec.fill_mode, (t[3] * i + t[4] * j + t[5]) / projection, height);
    if (projection == 0 || !std::isfinite(x) || !std::isfinite(y)) {
      for (int64_t c = 0; c < channels; ++c) to[c * step] = fill;
    } else if (spec.interpolation == GW_NEAREST) {
      const T* at = pixel(truncated<int64_t>(std::round(y)), truncated<int64_t>(std::round(x)));
      for (int64_t c = 0; c < channels; ++c) to[c * step] = at ? at[c * images.stride[3]] : fill;
    } else {
      const float y0 = std::floor(y), x0 = std::floor(x), y1 = y0 + 1, x1 = x0 + 1;
      const int64_t k0 = truncated<int64_t>(y0), k1 = truncated<int64_t>(y1);
      const int64_t l0 = truncated<int64_t>(x0), l1 = truncated<int64_t>(x1);
      const T *p00 = pixel(k0, l0), *p01 = pixel(k0, l1), *p10 = pixel(k1, l0), *p11 = pixel(k1, l1);
      for (int64_t c = 0; c < channels; ++c) {
        const float above = (x1 - x) * read(p00, c) + (x - x0) * read(p01, c);
        const float below = (x1 - x) * read(p10, c) + (x - x0) * read(p11, c);
        to[c * step] = cast<T>((y1 - y) * above + (y - y0) * below);
      }
    }
  }
};

template <class T>
gw_status run(const gw_projective_transform_spec& spec, const gw_tensor& images, const gw_tensor& transforms,
              const gw_tensor& out, T fill) {
  const double cost = (double)element_count(out) * (spec.interpolation == GW_NEAREST ? 2 : 4) +
                      10.0 * (double)(out.shape[0] * out.shape[1] * out.shape[2]);
  const Outcome outcome = parallel_for(out.shape[0] * out.shape[1], cost, [&](int64_t piece, int) {
    const int64_t n = piece / out.shape[1], row = piece % out.shape[1];
    float t[8];
    for (int m = 0; m < 8; ++m)
      t[m] = static_cast<const float*>(transforms.data)[(transforms.shape[0] == 1 ? 0 : n * transforms.stride[0]) +
                                                        m * transforms.stride[1]];
    const Sampler<T> sampler = {spec,           static_cast<const T*>(images.data) + n * images.stride[0],
                                images,         images.shape[1],
                                images.shape[2], fill};
    T* to = static_cast<T*>(out.data) + n * out.stride[0] + row * out.stride[1];
    for (int64_t j = 0; j < out.shape[2]; ++j, to += out.stride[2]) sampler.sample(t, row, j, to, out.stride[3]);
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

// 16-bit floats are widened first and rounded once at the end, which is what conversions at every tap give.
gw_status run_16_bit(const gw_projective_transform_spec& spec, const gw_tensor& images, const gw_tensor& transforms,
                     const gw_tensor& out) {
  const int64_t from = element_count(images), to = element_count(out);
  const Scratch<uint16_t> packed = scratch<uint16_t>((size_t)(from > to ? from : to));
  const Scratch<float> wide = scratch<float>((size_t)from), result = scratch<float>((size_t)to);
  copy_tensor(images, contiguous(images, packed.get()));
  kernels().widen(images.dtype, packed.get(), wide.get(), from);
  uint16_t bits;
  float fill = (float)spec.fill_value;
  kernels().narrow(images.dtype, &fill, &bits, 1);
  kernels().widen(images.dtype, &bits, &fill, 1);
  gw_tensor source = contiguous(images, wide.get()), target = contiguous(out, result.get());
  source.dtype = target.dtype = GW_FLOAT32;
  const gw_status status = run<float>(spec, source, transforms, target, fill);
  if (status != GW_OK) return status;
  kernels().narrow(out.dtype, result.get(), packed.get(), to);
  copy_tensor(contiguous(out, packed.get()), out);
  return GW_OK;
}

void check(const gw_projective_transform_spec& spec, const gw_tensor& images, const gw_tensor& transforms,
           const gw_tensor& out) {
  if (spec.interpolation != GW_NEAREST && spec.interpolation != GW_BILINEAR)
    fail(GW_ERROR_ARGUMENT, "interpolation has code %d; it must be bilinear (%d) or nearest (%d)", spec.interpolation,
         GW_BILINEAR, GW_NEAREST);
  if (spec.fill_mode < GW_FILL_REFLECT || spec.fill_mode > GW_FILL_NEAREST)
    fail(GW_ERROR_ARGUMENT, "fill_mode has code %d; the codes are 0 to %d", spec.fill_mode, GW_FILL_NEAREST);
  check_tensor("images", images, false);
  check_tensor("transforms", transforms, false);
  check_tensor("out", out, false);
  if (images.rank != 4)
    fail(GW_ERROR_SHAPE, "images must have shape (N, H, W, C); got %s", shape_text(images).c_str());
  if (images.shape[1] < 1 || images.shape[2] < 1)
    fail(GW_ERROR_SHAPE, "images must have a height and width of at least 1; got shape %s", shape_text(images).c_str());
  if (transforms.rank != 2 || transforms.shape[1] != 8 ||
      (transforms.shape[0] != 1 && transforms.shape[0] != images.shape[0]))
    fail(GW_ERROR_SHAPE, "transforms must have shape (N, 8) or (1, 8) with the N of images, %s; got %s",
         shape_text(images).c_str(), shape_text(transforms).c_str());
  if (out.rank != 4 || out.shape[0] != images.shape[0] || out.shape[3] != images.shape[3])
    fail(GW_ERROR_SHAPE, "out must have shape (N, H_out, W_out, C) with the N and C of images, %s; got %s",
         shape_text(images).c_str(), shape_text(out).c_str());
  if (images.dtype == GW_INT8 || images.dtype == GW_UINT16 || images.dtype == GW_INT16)
    fail(GW_ERROR_DTYPE, "images must be uint8, int32, int64 or a float; got %s", type_name(images.dtype));
  if (out.dtype != images.dtype || transforms.dtype != GW_FLOAT32)
    fail(GW_ERROR_DTYPE, "out must have the dtype of images, %s, and transforms float32; got %s and %s",
         type_name(images.dtype), type_name(out.dtype), type_name(transforms.dtype));
  check_writable("out", out);
  check_no_overlap("out", out, "images", images);
  check_no_overlap("out", out, "transforms", transforms);
}

}  // namespace

gw_status projective_transform(const gw_projective_transform_spec& spec, const gw_tensor& images,
                               const gw_tensor& transforms, const gw_tensor& out) {
  check(spec, images, transforms, out);
  if (element_count(out) == 0) return GW_OK;
  const float fill = (float)spec.fill_value;
  switch (images.dtype) {
    case GW_UINT8: return run<uint8_t>(spec, images, transforms, out, cast<uint8_t>(fill));
    case GW_INT32: return run<int32_t>(spec, images, transforms, out, cast<int32_t>(fill));
    case GW_INT64: return run<int64_t>(spec, images, transforms, out, cast<int64_t>(fill));
    case GW_FLOAT32: return run<float>(spec, images, transforms, out, fill);
    case GW_FLOAT64: return run<double>(spec, images, transforms, out, (double)fill);
    default: return run_16_bit(spec, images, transforms, out);
  }
}

}  // namespace gw
