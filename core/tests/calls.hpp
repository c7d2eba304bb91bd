// SPDX-License-Identifier: Apache-2.0
// One call with its arrays: made, filled, run and judged. What test_kernels goes through in order and fuzz at random.
#pragma once

#include <string>

#include "check.hpp"
#include "definition.hpp"

struct Pair {
  int x, grid;  // dtypes that go together
};
constexpr Pair pairs[] = {
    {GW_FLOAT32, GW_FLOAT32}, {GW_FLOAT64, GW_FLOAT64},   {GW_FLOAT16, GW_FLOAT16}, {GW_FLOAT16, GW_FLOAT32},
    {GW_BFLOAT16, GW_BFLOAT16}, {GW_BFLOAT16, GW_FLOAT32}, {GW_UINT8, GW_FLOAT32},  {GW_UINT8, GW_FLOAT64},
    {GW_UINT8, GW_FLOAT16},   {GW_INT8, GW_FLOAT32},      {GW_INT8, GW_BFLOAT16},   {GW_UINT16, GW_FLOAT32},
    {GW_UINT16, GW_FLOAT64}};
constexpr int pair_count = sizeof pairs / sizeof pairs[0];

// With `axes` of 3 also depths; of 1 the widths alone count.
struct Sizes {
  int64_t n, c, h, w, ho, wo;
  int64_t d = 1, depth_out = 1;
  int axes = 2;

  int64_t size(int axis) const { return axis == 0 ? w : axis == 1 ? h : d; }
  int64_t out(int axis) const { return axis == 0 ? wo : axis == 1 ? ho : depth_out; }
};
inline Sizes volume(int64_t n, int64_t c, int64_t d, int64_t h, int64_t w, int64_t depth_out, int64_t ho, int64_t wo) {
  return {n, c, h, w, ho, wo, d, depth_out, 3};
}
inline Sizes signal(int64_t n, int64_t c, int64_t w, int64_t wo) { return {n, c, 1, w, 1, wo, 1, 1, 1}; }

// How grid points lie: one beside the other, all over the place and beyond the edges, on pixel centres and edges, or
// with values among them that are not numbers or huge.
enum class Points { smooth, random, ties, hostile, count };

inline void fill_grid(Array& grid, Points kind, const Sizes& s, bool align_corners, Random& random) {
  const double turn = random.uniform(-0.3, 0.3), scale = random.uniform(0.6, 1.4);
  const double nan = std::nan(""), inf = HUGE_VAL;
  const double strange[] = {nan, -nan, inf, -inf, 1e10, -1e10, 3e38, -3e38, 2.5e9, -2.5e9, 1e300, 5e-324, -0.0, 1e5, -7e6};
  const int64_t count = grid.count();
  const int64_t axes = s.axes;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = i % axes, point = i / axes, size = s.size(static_cast<int>(axis));
    const auto along = [&](int64_t index, int a) {
      return (2.0 * static_cast<double>(index) + 1) / static_cast<double>(s.out(a)) - 1;
    };
    double base[3] = {along(point % s.wo, 0), 0, 0};
    if (axes > 1) base[1] = along(point / s.wo % s.ho, 1);
    if (axes > 2) base[2] = along(point / s.wo / s.ho % s.depth_out, 2);
    const double other = axes == 1 ? 0 : axis == 0 ? base[1] : axis == 1 ? -base[0] : base[0];
    double g = scale * (base[axis] + turn * other) + 0.01 * random.uniform(-1, 1);
    if (kind == Points::random || (kind == Points::hostile && random.one_in(2))) g = random.uniform(-1.4, 1.4);
    if (kind == Points::ties) {  // as exact as the grid's type has it
      const double p = static_cast<double>(random.below(4 * size + 24) - 12) / 4;
      g = align_corners ? (size > 1 ? 2 * p / static_cast<double>(size - 1) - 1 : p)
                        : (2 * p + 1) / static_cast<double>(size) - 1;
    }
    if (kind == Points::hostile && random.one_in(3)) g = strange[random.below(sizeof strange / sizeof strange[0])];
    if (grid->dtype != GW_FLOAT64 && std::fabs(g) > 3.4e38 && std::isfinite(g)) g = g > 0 ? 3e38 : -3e38;
    grid.set(i, g);
  }
}

inline void fill_image(Array& x, Random& random, bool hostile = false) {
  const int64_t count = x.count();
  const double low = x->dtype == GW_INT8 ? -128 : 0, high = is_float(x->dtype) ? 0 : most(x->dtype);
  for (int64_t i = 0; i < count; ++i) {
    double v = is_float(x->dtype) ? random.uniform(-4, 4) : std::floor(random.uniform(low, high + 1));
    if (hostile && is_float(x->dtype) && random.one_in(8)) v = random.one_in(2) ? std::nan("") : random.one_in(2) ? HUGE_VAL : -HUGE_VAL;
    x.set(i, v);
  }
}

inline std::vector<int64_t> image_shape(const gw_grid_sample_spec& spec, int64_t n, int64_t c, int64_t h, int64_t w) {
  return spec.layout == GW_NHWC ? std::vector<int64_t>{n, h, w, c} : std::vector<int64_t>{n, c, h, w};
}

inline std::vector<int64_t> image_shape(const gw_grid_sample_spec& spec, const Sizes& z, bool output = false) {
  std::vector<int64_t> shape = {z.n};
  if (spec.layout == GW_NCHW) shape.push_back(z.c);
  for (int a = z.axes - 1; a >= 0; --a) shape.push_back(output ? z.out(a) : z.size(a));
  if (spec.layout == GW_NHWC) shape.push_back(z.c);
  return shape;
}
inline std::vector<int64_t> grid_shape(const Sizes& z) {
  std::vector<int64_t> shape = {z.n};
  for (int a = z.axes - 1; a >= 0; --a) shape.push_back(z.out(a));
  shape.push_back(z.axes);
  return shape;
}

inline std::string describe(const gw_grid_sample_spec& s, const Pair& types, const Sizes& z, Points points, Lies x, Lies grid,
                            Lies out) {
  char text[400];
  std::snprintf(text, sizeof text,
                "mode %d padding %d align_corners %d layout %d rounding %d pad_order %d cubic_padding %d nonfinite %d a %g unnormalise %d reflection %d border_slope %d, "
                "dtypes %d %d, n %lld c %lld d %lld h %lld w %lld, out %lld %lld %lld, axes %d, points %d, memory %d %d %d",
                s.mode, s.padding, s.align_corners, s.layout, s.rounding, s.pad_order, s.cubic_padding, s.nonfinite,
                s.cubic_coeff_a, s.unnormalise, s.reflection, s.border_slope, types.x, types.grid, (long long)z.n, (long long)z.c, (long long)z.d, (long long)z.h,
                (long long)z.w, (long long)z.depth_out, (long long)z.ho, (long long)z.wo, z.axes, (int)points, (int)x, (int)grid, (int)out);
  return text;
}

struct Call {
  gw_grid_sample_spec spec;
  Pair types;
  Sizes sizes;
  Points points;
  Lies x_lies, grid_lies, out_lies;
  bool at_end, hostile_image;

  std::string text() const { return describe(spec, types, sizes, points, x_lies, grid_lies, out_lies); }
  bool fail(const char* what, int64_t i = -1, double got = 0, double want = 0, double allowed = 0) const {
    if (++failures <= 20)
      std::fprintf(stderr, "%s at %lld: got %.9g, want %.9g within %.3g\n  %s\n", what, (long long)i, got, want, allowed,
                   text().c_str());
    return false;
  }

  // Elements that do not agree with the definition.
  bool judge(const char* what, const Array& result, const Results& want, const std::vector<char>& anywhere = {}) const {
    for (int64_t i = 0; i < result.count(); ++i) {
      const auto k = static_cast<size_t>(i);
      if (!anywhere.empty() && anywhere[k]) continue;
      if (!agrees(result, i, want)) return fail(what, i, result.get(i), want.value[k], want.allowed[k]);
    }
    return true;
  }

  template <class T>
  bool run_in(uint64_t seed, bool compare) const {
    Random random(seed);
    const Sizes& z = sizes;
    Array x(types.x, image_shape(spec, z), x_lies, at_end);
    Array grid(types.grid, grid_shape(z), grid_lies, at_end);
    fill_image(x, random, hostile_image);
    fill_grid(grid, points, z, spec.align_corners != 0, random);
    const auto x_before = x.bytes(), grid_before = grid.bytes();
    const Definition<T> definition(spec, x, grid);
    const auto out_shape = image_shape(spec, z, true);
    const Lies unshared = out_lies == Lies::shared ? Lies::dense : out_lies;

    Array out(types.x, out_shape, unshared, at_end);
    if (gw_grid_sample(&spec, x.tensor(), grid.tensor(), out.tensor()) != GW_OK) return fail(gw_last_error());
    if (!out.surroundings_intact()) return fail("wrote outside the output");
    if (!x.same_as(x_before) || !grid.same_as(grid_before)) return fail("changed an input");
    if (compare) {
      std::vector<char> anywhere;
      const Results want = definition.forward(&anywhere);
      if (!judge("forward", out, want, anywhere)) return false;
    }
    if (!is_float(types.x)) return true;

    Array grad_output(types.x, out_shape, unshared, at_end);
    fill_image(grad_output, random);
    const auto grad_before = grad_output.bytes();
    const Lies like_x = x_lies == Lies::shared ? Lies::dense : x_lies;
    Array grad_x(types.x, image_shape(spec, z), like_x, at_end);
    Array grad_grid(types.grid, grid_shape(z), unshared, at_end);
    const int wanted = static_cast<int>(random.below(4));  // both, both, one, the other
    const gw_tensor* to_x = wanted == 3 ? nullptr : grad_x.tensor();
    const gw_tensor* to_grid = wanted == 2 ? nullptr : grad_grid.tensor();
    if (gw_grid_sample_backward(&spec, grad_output.tensor(), x.tensor(), grid.tensor(), to_x, to_grid) != GW_OK)
      return fail(gw_last_error());
    if (!grad_x.surroundings_intact() || !grad_grid.surroundings_intact()) return fail("wrote outside a gradient");
    if ((!to_x && !grad_x.untouched()) || (!to_grid && !grad_grid.untouched())) return fail("wrote what was not asked for");
    if (!x.same_as(x_before) || !grid.same_as(grid_before) || !grad_output.same_as(grad_before))
      return fail("the gradient changed an input");
    if (!compare || hostile_image) return true;  // with infinite pixels only memory is watched
    Results want_x, want_grid;
    if (!definition.backward(grad_output, want_x, want_grid)) return true;
    return (!to_x || judge("grad_x", grad_x, want_x)) && (!to_grid || judge("grad_grid", grad_grid, want_grid));
  }

  bool run(uint64_t seed, bool compare = true) const {
    return types.grid == GW_FLOAT64 ? run_in<double>(seed, compare) : run_in<float>(seed, compare);
  }
};
