// SPDX-License-Identifier: Apache-2.0
// Where a planned grid's points are: by definition, one point at a time.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "planning/grid_plan.hpp"
#include "tensor.hpp"

namespace gw {
namespace {

constexpr int64_t most_pixels = int64_t{1} << 31;

struct Axis {
  int64_t size;
  bool corners;
  int32_t padding;

  double mirrored(double p) const {
    const double low = corners ? 0.0 : -0.5, span = corners ? (double)(size - 1) : (double)size;
    if (span <= 0) return 0;
    const double from = std::fabs(p - low), extra = std::fmod(from, 2 * span);
    return std::min(extra, 2 * span - extra) + low;
  }
  double clipped(double p) const { return !(p > 0) ? 0 : std::min(p, (double)(size - 1)); }

  // Where padding puts a tap: an index, or -1 for none. bicubic pads its taps, others the coordinate.
  int64_t tap(double i) const {
    if (i >= 0 && i <= (double)(size - 1)) return (int64_t)i;
    if (padding == GW_ZEROS || i != i) return -1;
    return (int64_t)clipped(padding == GW_BORDER ? i : mirrored(i));
  }
};

// First tap and number of taps of an unpadded position.
struct Footprint {
  double first;
  int taps;
};
Footprint footprint(int32_t mode, double p, int32_t rounding) {
  if (mode == GW_NEAREST) {
    if (rounding == GW_HALF_UP) return {std::floor(p + 0.5), 1};
    return {rounding == GW_HALF_AWAY ? std::round(p) : std::nearbyint(p), 1};
  }
  if (mode == GW_BICUBIC) return {std::floor(p) - 1, 4};
  return {std::floor(p), p == std::floor(p) ? 1 : 2};  // on a pixel's centre the second weighs nothing
}

double value_at(const Kernels& k, const gw_tensor& grid, int64_t i) {
  float v;
  switch (grid.dtype) {
    case GW_FLOAT64: return static_cast<const double*>(grid.data)[i];
    case GW_FLOAT32: return static_cast<const float*>(grid.data)[i];
    default: k.widen(grid.dtype, static_cast<const uint16_t*>(grid.data) + i, &v, 1); return v;
  }
}

}  // namespace

void GridPlan::report(gw_grid_report& r) const {
  r = gw_grid_report{};
  const int64_t height = job_.height, width = job_.width;
  if (height > most_pixels / width)
    fail(GW_ERROR_UNSUPPORTED, "a report counts every pixel, and (%lld, %lld) has more than 2^31", (long long)height,
         (long long)width);
  const Kernels& k = kernels();
  const Axis x_axis = {width, spec_.align_corners != 0, spec_.padding};
  const Axis y_axis = {height, spec_.align_corners != 0, spec_.padding};
  const bool single = grid_.dtype != GW_FLOAT64;
  const auto position = [&](double g, int64_t size) {  // as the coordinate stage has it
    if (single) {
      const float f = (float)g, s = (float)size;
      return (double)(spec_.align_corners ? (f + 1.0f) * 0.5f * (s - 1.0f) : ((f + 1.0f) * s - 1.0f) * 0.5f);
    }
    return spec_.align_corners ? (g + 1.0) * 0.5 * ((double)size - 1.0) : ((g + 1.0) * (double)size - 1.0) * 0.5;
  };
  std::vector<int64_t> hits((size_t)(height * width));
  std::vector<bool> cells((size_t)((height + 1) * (width + 1)));
  const int64_t points = job_.points() * grid_.shape[0];
  r.points = points;
  double before_x = -1e30, before_y = -1e30;
  for (int64_t i = 0; i < points; ++i) {
    const double gx = value_at(k, grid_, 2 * i), gy = value_at(k, grid_, 2 * i + 1);
    r.with_nan += gx != gx || gy != gy;
    r.with_infinity += std::isinf(gx) || std::isinf(gy);
    double p[2] = {position(gx, width), position(gy, height)};
    if (!std::isfinite(p[0]) || !std::isfinite(p[1])) ++r.outside;
    else {
      const Footprint fx = footprint(spec_.mode, p[0], spec_.rounding), fy = footprint(spec_.mode, p[1], spec_.rounding);
      const bool whole = fx.first >= 0 && fx.first + fx.taps <= (double)width && fy.first >= 0 &&
                         fy.first + fy.taps <= (double)height;
      const bool none = fx.first + fx.taps <= 0 || fx.first >= (double)width || fy.first + fy.taps <= 0 ||
                        fy.first >= (double)height;
      ++(whole ? r.interior : none ? r.outside : r.partly_outside);
    }
    // From here on as padding has it.
    for (int axis = 0; axis < 2; ++axis) {
      const Axis& a = axis == 0 ? x_axis : y_axis;
      if (a.padding == GW_ZEROS) continue;
      if (!std::isfinite(p[axis])) p[axis] = p[axis] > 0 && a.padding == GW_BORDER ? (double)(a.size - 1) : 0;
      else if (spec_.mode != GW_BICUBIC)
        p[axis] = a.clipped(a.padding == GW_BORDER ? p[axis] : a.mirrored(p[axis]));
    }
    if (!std::isfinite(p[0]) || !std::isfinite(p[1])) continue;
    const double cx = std::floor(p[0]), cy = std::floor(p[1]);
    r.jumps += !(std::fabs(cx - before_x) <= 2 && std::fabs(cy - before_y) <= 2);
    before_x = cx;
    before_y = cy;
    if (cx >= -1 && cx < (double)width && cy >= -1 && cy < (double)height) {
      const size_t cell = (size_t)(((int64_t)cy + 1) * (width + 1) + (int64_t)cx + 1);
      r.cells += !cells[cell];
      cells[cell] = true;
    }
    const Footprint fx = footprint(spec_.mode, p[0], spec_.rounding), fy = footprint(spec_.mode, p[1], spec_.rounding);
    for (int dy = 0; dy < fy.taps; ++dy) {
      const int64_t y = y_axis.tap(fy.first + dy);
      for (int dx = 0; y >= 0 && dx < fx.taps; ++dx) {
        const int64_t x = x_axis.tap(fx.first + dx);
        if (x < 0) continue;
        ++r.taps;
        ++hits[(size_t)(y * width + x)];
      }
    }
  }
  int64_t last_line[4] = {-1, -1, -1, -1};
  for (int64_t i = 0; i < height * width; ++i) {
    const int64_t here = hits[(size_t)i];
    if (here == 0) continue;
    ++r.pixels;
    r.contended += here - 1;
    for (int b = 0; b < 4; ++b) {
      const int64_t line = (i << b) / 64;
      r.lines_planar[b] += line != last_line[b];
      last_line[b] = line;
    }
    if (here <= r.hot_taps[GW_HOT_SPOTS - 1]) continue;
    int at = GW_HOT_SPOTS - 1;
    for (; at > 0 && r.hot_taps[at - 1] < here; --at) {
      r.hot_taps[at] = r.hot_taps[at - 1];
      r.hot_pixel[at] = r.hot_pixel[at - 1];
    }
    r.hot_taps[at] = here;
    r.hot_pixel[at] = i;
  }
}

}  // namespace gw
