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

// What `hits`, the taps on every pixel, say of pixels, lines and hot spots.
void count_hits(const std::vector<int64_t>& hits, gw_grid_report& r) {
  int64_t last_line[4] = {-1, -1, -1, -1};
  for (int64_t i = 0; i < (int64_t)hits.size(); ++i) {
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

}  // namespace

void report_points(const gw_grid_sample_spec& spec, const gw_tensor& grid, const int64_t* size, gw_grid_report& r) {
  r = gw_grid_report{};
  const int axes = grid.rank - 2;
  int64_t pixels = 1, corners = 1, points = 1;  // corners: of unit squares or cubes between centres
  for (int a = 0; a < axes; ++a) {
    if (pixels > most_pixels / size[a])
      fail(GW_ERROR_UNSUPPORTED, "a report counts every pixel, and size has more than 2^31");
    pixels *= size[a];
    corners *= size[a] + 1;
  }
  for (int a = 0; a <= axes; ++a) points *= grid.shape[a];
  const Kernels& k = kernels();
  Axis axis[3] = {};
  for (int a = 0; a < axes; ++a) axis[a] = {size[a], spec.align_corners != 0, spec.padding};
  const bool single = grid.dtype != GW_FLOAT64;
  const auto position = [&](double g, int64_t length) {  // as the coordinate stage has it
    if (single) {
      const float f = (float)g, s = (float)length;
      return (double)(spec.align_corners ? (f + 1.0f) * 0.5f * (s - 1.0f) : ((f + 1.0f) * s - 1.0f) * 0.5f);
    }
    return spec.align_corners ? (g + 1.0) * 0.5 * ((double)length - 1.0) : ((g + 1.0) * (double)length - 1.0) * 0.5;
  };
  std::vector<int64_t> hits((size_t)pixels);
  std::vector<bool> cells((size_t)corners);
  r.points = points;
  double before[3] = {-1e30, -1e30, -1e30};
  for (int64_t i = 0; i < points; ++i) {
    double p[3] = {};
    bool nan = false, infinite = false, whole = true, none = false, finite = true;
    for (int a = 0; a < axes; ++a) {
      const double g = value_at(k, grid, axes * i + a);
      nan |= g != g;
      infinite |= std::isinf(g);
      p[a] = position(g, size[a]);
      finite &= std::isfinite(p[a]);
    }
    r.with_nan += nan;
    r.with_infinity += infinite;
    for (int a = 0; finite && a < axes; ++a) {
      const Footprint f = footprint(spec.mode, p[a], spec.rounding);
      whole &= f.first >= 0 && f.first + f.taps <= (double)size[a];
      none |= f.first + f.taps <= 0 || f.first >= (double)size[a];
    }
    ++(!finite || none ? r.outside : whole ? r.interior : r.partly_outside);
    // From here on as padding has it.
    finite = true;
    for (int a = 0; a < axes; ++a) {
      if (spec.padding != GW_ZEROS && !std::isfinite(p[a]))
        p[a] = p[a] > 0 && spec.padding == GW_BORDER ? (double)(size[a] - 1) : 0;
      else if (spec.padding != GW_ZEROS && spec.mode != GW_BICUBIC)
        p[a] = axis[a].clipped(spec.padding == GW_BORDER ? p[a] : axis[a].mirrored(p[a]));
      finite &= std::isfinite(p[a]);
    }
    if (!finite) continue;
    bool near = true, in_cell = true;
    int64_t cell = 0;
    Footprint foot[3] = {{0, 1}, {0, 1}, {0, 1}};
    for (int a = axes - 1; a >= 0; --a) {
      const double c = std::floor(p[a]);
      near &= std::fabs(c - before[a]) <= 2;
      before[a] = c;
      if (!(c >= -1 && c < (double)size[a])) in_cell = false;
      else cell = cell * (size[a] + 1) + (int64_t)c + 1;
      foot[a] = footprint(spec.mode, p[a], spec.rounding);
    }
    r.jumps += !near;
    if (in_cell) {
      r.cells += !cells[(size_t)cell];
      cells[(size_t)cell] = true;
    }
    for (int dz = 0; dz < foot[2].taps; ++dz)
      for (int dy = 0; dy < foot[1].taps; ++dy)
        for (int dx = 0; dx < foot[0].taps; ++dx) {
          const int d[3] = {dx, dy, dz};
          int64_t pixel = 0;
          bool counts = true;
          for (int a = axes - 1; a >= 0 && counts; --a) {
            const int64_t tap = axis[a].tap(foot[a].first + d[a]);
            counts = tap >= 0;
            pixel = pixel * size[a] + tap;
          }
          if (!counts) continue;
          ++r.taps;
          ++hits[(size_t)pixel];
        }
  }
  count_hits(hits, r);
}

}  // namespace gw
