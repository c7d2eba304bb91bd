// SPDX-License-Identifier: Apache-2.0
// Calls of transforms.h with their arrays, judged by the formulas of the methods, filters and fills: what test_transforms
// goes through in order and fuzz at random.
//
// Positions are computed in double (Pillow's) or by the operator's own float expression (TensorFlow's). Pillow's nearest
// may count in 16.16 fixed point or in running sums, which move a position by a little; results are truncated. So pixels
// within `unsure` of a change are not judged, and integers may be one off where the exact value is nearly whole.
#pragma once

#include <algorithm>
#include <cmath>

#include "arrays.hpp"
#include "check.hpp"
#include "gridwave/transforms.h"

inline double whole_limit(int dtype, bool high) {  // of integers
  if (dtype == GW_INT32) return high ? 2147483647.0 : -2147483648.0;
  return high ? (dtype == GW_UINT8 ? 255 : 65535) : 0;
}

struct PillowCall {
  gw_pillow_transform_spec spec;
  int dtype;
  int64_t height, width, out_height, out_width, channels;
  Lies image_lies, out_lies;

  // Keys' with a = -1, or linear, at distance d.
  double weight(double d) const {
    d = std::fabs(d);
    if (spec.filter == GW_BILINEAR) return std::max(0.0, 1 - d);
    return d <= 1 ? (d - 2) * d * d + 1 : d < 2 ? ((5 - d) * d - 8) * d + 4 : 0;
  }
  void position(int64_t x, int64_t y, double* px, double* py) const {
    const double* a = spec.coefficients;
    const double u = static_cast<double>(x) + 0.5, v = static_cast<double>(y) + 0.5;
    if (spec.method == GW_PILLOW_QUAD) {
      *px = a[0] + a[1] * u + a[2] * v + a[3] * u * v;
      *py = a[4] + a[5] * u + a[6] * v + a[7] * u * v;
      return;
    }
    const double w = spec.method == GW_PILLOW_PERSPECTIVE ? a[6] * u + a[7] * v + 1 : 1;
    *px = (a[0] * u + a[1] * v + a[2]) / w;
    *py = (a[3] * u + a[4] * v + a[5]) / w;
  }
  double value(const Array& image, double px, double py, int64_t c, double* magnitude) const {
    const auto pixel = [&](double i, double j) {
      const auto x = static_cast<int64_t>(std::min(std::max(i, 0.0), static_cast<double>(width - 1)));
      const auto y = static_cast<int64_t>(std::min(std::max(j, 0.0), static_cast<double>(height - 1)));
      return image.get((y * width + x) * channels + c);
    };
    *magnitude = 0;
    if (spec.filter == GW_NEAREST) return pixel(std::floor(px), std::floor(py));
    const double fx = std::floor(px - 0.5), fy = std::floor(py - 0.5);
    double sum = 0;
    for (int j = -1; j <= 2; ++j)
      for (int i = -1; i <= 2; ++i) {
        const double w = weight(px - 0.5 - fx - i) * weight(py - 0.5 - fy - j), v = pixel(fx + i, fy + j);
        sum += w * v;
        *magnitude += std::fabs(w * v);
      }
    return sum;
  }

  // How many pixels were judged.
  int64_t run(uint64_t seed, bool compare) const {
    Random random(seed);
    Array image(dtype, {height, width, channels}, image_lies), out(dtype, {out_height, out_width, channels}, out_lies);
    for (int64_t i = 0; i < image.count(); ++i)
      image.set(i, dtype == GW_FLOAT32 ? random.uniform(-4, 4) : std::floor(random.uniform(dtype == GW_INT32 ? -1e6 : 0, std::min(1e6, whole_limit(dtype, true)))));
    const auto before = image.bytes();
    const gw_status status = gw_pillow_transform(&spec, image.tensor(), out.tensor());
    CHECK(status == GW_OK && out.surroundings_intact() && image.same_as(before));
    if (!compare || status != GW_OK) return 0;
    Array fresh(dtype, {1});
    const double untouched = fresh.get(0), unsure = spec.filter == GW_NEAREST ? 4e-3 : 1e-9;
    int64_t judged = 0;
    for (int64_t y = 0; y < out_height; ++y)
      for (int64_t x = 0; x < out_width; ++x) {
        const bool in_box = x >= spec.box[0] && y >= spec.box[1] && x < spec.box[2] && y < spec.box[3];
        double px, py;
        position(x - std::max<int64_t>(spec.box[0], 0), y - std::max<int64_t>(spec.box[1], 0), &px, &py);
        const auto near_change = [&](double p, int64_t length) {
          const bool nearest = spec.filter == GW_NEAREST && std::fabs(p - std::nearbyint(p)) < unsure;
          return nearest || std::fabs(p) < unsure || std::fabs(p - static_cast<double>(length)) < unsure;
        };
        if (in_box && (near_change(px, width) || near_change(py, height))) continue;
        const bool inside = px >= 0 && px < static_cast<double>(width) && py >= 0 && py < static_cast<double>(height);
        ++judged;
        for (int64_t c = 0; c < channels; ++c) {
          const double got = out.get((y * out_width + x) * channels + c);
          double want = in_box && spec.clear ? 0 : untouched, allowed = 0;
          if (in_box && inside) {
            double magnitude;
            want = value(image, px, py, c, &magnitude);
            allowed = 1e-12 * magnitude;  // positions and sums in double
            if (dtype == GW_FLOAT32) {
              // Differences of neighbours, up to 4 in size, are taken in float: one for linear; for cubic the three
              // coefficients err by 2, 15 and 9 units of the largest, and rows weigh 1.5 at most.
              const double units = spec.filter == GW_BICUBIC ? 1.5 * 26 : spec.filter == GW_BILINEAR ? 2 : 0;
              allowed += 0x1p-24 * (std::fabs(want) + units * 4);
            } else {
              want = std::min(std::max(want, whole_limit(dtype, false)), whole_limit(dtype, true));
              if (std::fabs(want - std::nearbyint(want)) < 1e-6) allowed = 1;
              want = std::trunc(want);
            }
          }
          CHECK(std::fabs(got - want) <= allowed || (got != got && want != want));
        }
      }
    return judged;
  }
};

struct ProjectiveCall {
  gw_projective_transform_spec spec;
  int dtype;
  int64_t n, height, width, channels, out_height, out_width;
  bool shared;  // one transform for all images
  Lies images_lies, out_lies;

  // The coordinate inside the image that stands for v, in float as the operator has it.
  static float inside(int32_t fill, float v, int64_t length) {
    const auto size = static_cast<float>(length), last = size - 1;
    if (fill == GW_FILL_CONSTANT) return v;
    if (length > 1 && fill == GW_FILL_REFLECT) {
      const float period = 2 * size;
      if (v < 0) {
        if (v < period) v = period * std::trunc(-v / period) + v;
        v = v < -size ? v + period : -v - 1;
      } else if (v > last) {
        v -= period * std::trunc(v / period);
        if (v >= size) v = period - v - 1;
      }
    } else if (length > 1 && fill == GW_FILL_WRAP) {
      if (v < 0) v += size * (std::trunc(-v / last) + 1);
      else if (v > last) v -= size * std::trunc(v / last);
    }
    return std::min(std::max(v, 0.0f), last);
  }

  int64_t run(uint64_t seed, double wildness, bool compare) const {
    Random random(seed);
    Array images(dtype, {n, height, width, channels}, images_lies), out(dtype, {n, out_height, out_width, channels}, out_lies);
    Array transforms(GW_FLOAT32, {shared ? 1 : n, 8});
    for (int64_t i = 0; i < images.count(); ++i)
      images.set(i, dtype >= GW_UINT8 ? std::floor(random.uniform(0, 250)) : random.uniform(-4, 4));
    for (int64_t i = 0; i < transforms.count(); ++i) {
      const int m = static_cast<int>(i % 8);
      double v = m == 0 || m == 4 ? random.uniform(0.5, 1.5) : m == 2 || m == 5 ? random.uniform(-9, 9) : random.uniform(-0.3, 0.3);
      if (m > 5) v *= 0.03;
      if (!compare && random.one_in(4)) v = random.one_in(3) ? std::nan("") : random.uniform(-wildness, wildness);
      transforms.set(i, v);
    }
    const auto before = images.bytes();
    const gw_status status = gw_projective_transform(&spec, images.tensor(), transforms.tensor(), out.tensor());
    CHECK(status == GW_OK && out.surroundings_intact() && images.same_as(before));
    if (!compare || status != GW_OK) return 0;
    int64_t judged = 0;
    for (int64_t i = 0; i < n * out_height * out_width; ++i) {
      float t[8];
      for (int m = 0; m < 8; ++m) t[m] = static_cast<float>(transforms.get((shared ? 0 : i / out_height / out_width) * 8 + m));
      const auto column = static_cast<float>(i % out_width), row = static_cast<float>(i / out_width % out_height);
      const float k = t[6] * column + t[7] * row + 1.0f;
      const float x = inside(spec.fill_mode, (t[0] * column + t[1] * row + t[2]) / k, width);
      const float y = inside(spec.fill_mode, (t[3] * column + t[4] * row + t[5]) / k, height);
      if (k == 0 || !std::isfinite(x) || !std::isfinite(y)) continue;
      ++judged;
      for (int64_t c = 0; c < channels; ++c) {
        const auto pixel = [&](double j, double l) {
          const bool there = j >= 0 && j < static_cast<double>(height) && l >= 0 && l < static_cast<double>(width);
          if (!there) return spec.fill_value;
          return images.get(((i / out_height / out_width * height + static_cast<int64_t>(j)) * width + static_cast<int64_t>(l)) * channels + c);
        };
        double want, magnitude = 0;
        if (spec.interpolation == GW_NEAREST) {
          want = pixel(std::round(y), std::round(x));
        } else {
          want = 0;
          for (int b = 0; b < 4; ++b) {
            const double l = std::floor(x) + (b & 1), j = std::floor(y) + (b >> 1);
            const double term = (1 - std::fabs(x - l)) * (1 - std::fabs(y - j)) * pixel(j, l);
            want += term;
            magnitude += std::fabs(term);
          }
        }
        const double got = out.get(i * channels + c);
        double allowed = magnitude * 8 * 0x1p-24;  // two products and a sum along each axis, in float
        if (dtype >= GW_UINT8) {
          if (std::fabs(want - std::nearbyint(want)) <= allowed) allowed = 1;
          else allowed = 0;
          want = std::trunc(want);
        } else if (dtype == GW_FLOAT16) {
          allowed += std::fabs(want) * 0x1p-11 + 0x1p-25;
        } else if (dtype == GW_BFLOAT16) {
          allowed += std::fabs(want) * 0x1p-8;
        }
        if (spec.interpolation == GW_NEAREST && dtype <= GW_BFLOAT16) allowed += std::fabs(want) * 0x1p-8 * (want == spec.fill_value);
        CHECK(std::fabs(got - want) <= allowed);
      }
    }
    return judged;
  }
};

// Colours times alpha / 255, to the nearest; and back, truncated.
inline void premultiply_call(Random& random) {
  const int64_t h = random.below(9), w = random.below(40), c = 2 + random.below(3);
  const Lies lies = static_cast<Lies>(random.below(static_cast<int64_t>(Lies::shared)));
  Array image(GW_UINT8, {h, w, c}, lies), out(GW_UINT8, {h, w, c}, lies);
  for (int64_t i = 0; i < image.count(); ++i) image.set(i, random.one_in(6) ? 255.0 * static_cast<double>(random.below(2)) : static_cast<double>(random.below(256)));
  for (int undo = 0; undo < 2; ++undo) {
    CHECK(gw_pillow_premultiply(image.tensor(), undo, out.tensor()) == GW_OK);
    CHECK(out.surroundings_intact());
    for (int64_t i = 0; i < out.count(); ++i) {
      const double v = image.get(i), alpha = image.get(i / c * c + c - 1);
      double want = v;
      if (i % c != c - 1) want = undo ? (alpha > 0 ? std::min(255.0, std::floor(255 * v / alpha)) : v) : std::floor(v * alpha / 255 + 0.5);
      CHECK(out.get(i) == want);
    }
  }
}
