// SPDX-License-Identifier: Apache-2.0
// One call of the second gradient with its arrays, judged by what it is the gradient of: the sum L of grad_grad_x times
// grad_x and grad_grad_grid times grad_grid is linear in grad_output, and its second part in x.
#pragma once

#include "calls.hpp"

// Shapes of a signal, an image or a volume: its axes are the last of depth, height and width.
struct Spatial {
  int axes;
  int64_t depth, out_depth;

  std::vector<int64_t> image(const gw_grid_sample_spec& spec, const Sizes& z, bool output) const {
    const int64_t lengths[3] = {output ? out_depth : depth, output ? z.ho : z.h, output ? z.wo : z.w};
    std::vector<int64_t> shape(lengths + 3 - axes, lengths + 3);
    shape.insert(shape.begin(), z.n);
    shape.insert(spec.layout == GW_NHWC ? shape.end() : shape.begin() + 1, z.c);
    return shape;
  }
  std::vector<int64_t> points(const Sizes& z) const {
    const int64_t lengths[3] = {out_depth, z.ho, z.wo};
    std::vector<int64_t> shape(lengths + 3 - axes, lengths + 3);
    shape.insert(shape.begin(), z.n);
    shape.push_back(axes);
    return shape;
  }
};

struct DoubleCall {
  gw_grid_sample_spec spec;
  Pair types;  // of floats
  Sizes sizes;
  Spatial spatial;
  Points points;
  Lies image_lies, grid_lies, out_lies;
  bool at_end, hostile_image;

  bool fail(const char* what, double got = 0, double want = 0, double allowed = 0) const {
    if (++failures <= 20)
      std::fprintf(stderr, "second gradient: %s: got %.9g, want %.9g within %.3g\n  axes %d, depth %lld to %lld, %s\n", what,
                   got, want, allowed, spatial.axes, (long long)spatial.depth, (long long)spatial.out_depth,
                   describe(spec, types, sizes, points, image_lies, grid_lies, out_lies).c_str());
    return false;
  }

  void fill_anywhere(Array& grid, Random& random) const {
    const double strange[] = {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e10, -3e38, 2.5e9, -0.0, -7e6};
    for (int64_t i = 0; i < grid.count(); ++i) {
      double g = random.uniform(-1.4, 1.4);
      if (points == Points::ties) g = static_cast<double>(random.below(25) - 12) / 8;
      if (points == Points::hostile && random.one_in(8)) g = strange[random.below(8)];
      grid.set(i, g);
    }
  }

  // The sum of products, and in `sizes_of` that of their absolute values.
  static double dot(const Array& a, const Array& b, double* sizes_of) {
    double sum = 0;
    for (int64_t i = 0; i < a.count(); ++i) {
      const double product = a.get(i) * b.get(i);
      sum += product;
      *sizes_of += std::fabs(product);
    }
    return sum;
  }

  bool run(uint64_t seed) const {
    Random random(seed);
    const Sizes& z = sizes;
    const auto image = spatial.image(spec, z, false), output = spatial.image(spec, z, true), grid_shape = spatial.points(z);
    const Lies unshared = out_lies == Lies::shared ? Lies::dense : out_lies;
    Array x(types.x, image, image_lies, at_end), v(types.x, image, out_lies, at_end), go(types.x, output, image_lies, at_end);
    Array grid(types.grid, grid_shape, grid_lies, at_end), u(types.grid, grid_shape, image_lies, at_end);
    fill_image(x, random, hostile_image);
    fill_image(v, random);
    fill_image(go, random);
    fill_image(u, random);
    if (spatial.axes == 2) fill_grid(grid, points, z, spec.align_corners != 0, random);
    else fill_anywhere(grid, random);
    Array* const inputs[] = {&x, &v, &go, &grid, &u};
    std::vector<char> before[5];
    for (int i = 0; i < 5; ++i) before[i] = inputs[i]->bytes();

    Array by_go(types.x, output, unshared, at_end), by_x(types.x, image, unshared, at_end);
    Array by_grid(types.grid, grid_shape, unshared, at_end);
    const bool has_v = !random.one_in(4), has_u = !random.one_in(4);
    const int64_t wanted = random.one_in(2) ? 7 : 1 + random.below(7);
    Array* const results[] = {&by_go, &by_x, &by_grid};
    const gw_tensor* to[3];
    for (int i = 0; i < 3; ++i) to[i] = (wanted >> i & 1) != 0 ? results[i]->tensor() : nullptr;
    if (gw_grid_sample_double_backward(&spec, has_v ? v.tensor() : nullptr, has_u ? u.tensor() : nullptr, go.tensor(),
                                       x.tensor(), grid.tensor(), to[0], to[1], to[2]) != GW_OK)
      return fail(gw_last_error());
    for (int i = 0; i < 3; ++i) {
      if (!results[i]->surroundings_intact()) return fail("wrote outside a gradient");
      if (!to[i] && !results[i]->untouched()) return fail("wrote what was not asked for");
    }
    for (int i = 0; i < 5; ++i)
      if (!inputs[i]->same_as(before[i])) return fail("changed an input");
    if (hostile_image) return true;

    Array first_x(types.x, image), first_grid(types.grid, grid_shape);
    if (gw_grid_sample_backward(&spec, go.tensor(), x.tensor(), grid.tensor(), first_x.tensor(), first_grid.tensor()) != GW_OK)
      return fail(gw_last_error());
    const double arithmetic = types.x == GW_FLOAT64 ? 0x1p-52 : 0x1p-23;
    const double stored = types.x == GW_FLOAT16 ? 0x1p-10 : types.x == GW_BFLOAT16 ? 0x1p-7 : arithmetic;
    const int64_t longest = z.h > z.w ? z.h : z.w;
    const double scale = static_cast<double>(longest > spatial.depth ? longest : spatial.depth) / 2, count = static_cast<double>(go.count());
    // 4 taps an axis of weights below 40 (a up to 2), slopes and data up to 4; roundings do not shrink when sums cancel.
    const double noise = 64 * arithmetic * count * std::pow(4 * 40, spatial.axes) * 4 * (4 + 4 * 4 * 3 * scale);
    double terms = 0;
    const double of_v = has_v ? dot(v, first_x, &terms) : 0, of_u = has_u ? dot(u, first_grid, &terms) : 0;
    const double tiny = types.x == GW_FLOAT16 ? 0x1p-24 * 16 * (count + static_cast<double>(x.count() + 2 * grid.count())) : 0;
    if (to[0]) {
      const double got = dot(by_go, go, &terms), allowed = 4 * stored * terms + noise + tiny;
      if (!(std::fabs(got - (of_v + of_u)) <= allowed)) return fail("by grad_output", got, of_v + of_u, allowed);
    }
    if (to[1]) {
      const double got = dot(by_x, x, &terms), allowed = 4 * stored * terms + noise + tiny;
      if (!(std::fabs(got - of_u) <= allowed)) return fail("by x", got, of_u, allowed);
    }
    if (to[2])
      for (int64_t i = 0; i < by_grid.count(); ++i)
        if (!std::isfinite(by_grid.get(i)) && types.grid != GW_FLOAT16) return fail("by grid is no number", by_grid.get(i));
    return true;
  }
};

// A good call made wrong in one way: it has to be refused, with a sentence, and to write nothing.
inline bool wrong_double_call(const gw_grid_sample_spec& spec, const Pair& types, const Sizes& z, const Spatial& spatial,
                              Random& random) {
  const auto image = spatial.image(spec, z, false), output = spatial.image(spec, z, true), points = spatial.points(z);
  Array v(types.x, image), u(types.grid, points), go(types.x, output), x(types.x, image), grid(types.grid, points);
  Array by_go(types.x, output), by_x(types.x, image), by_grid(types.grid, points);
  Array* const arrays[] = {&v, &u, &go, &x, &grid, &by_go, &by_x, &by_grid};
  gw_tensor t[8];
  const gw_tensor* p[8];
  for (int i = 0; i < 8; ++i) t[i] = *arrays[i]->tensor(), p[i] = &t[i];
  const int which = static_cast<int>(random.below(8));
  const int axis = static_cast<int>(random.below(spatial.axes + 2));
  switch (random.below(7)) {
    case 0: t[which].data = nullptr; break;
    case 1: t[which].dtype = random.one_in(2) ? GW_UINT8 : 99; break;
    case 2: t[which].rank = random.one_in(2) ? 2 : 77; break;
    case 3: t[which].shape[which == 3 ? 0 : axis] += which == 3 ? int64_t{1} << 61 : 1; break;
    case 4: t[which].stride[axis] = INT64_MAX / 2, t[which].shape[axis] = 5000; break;
    case 5: p[2 + random.below(3)] = nullptr; break;
    default: t[5 + random.below(3)].data = t[random.below(5)].data;
  }
  const gw_status status = gw_grid_sample_double_backward(&spec, p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]);
  const bool said = status >= GW_ERROR_SHAPE && status <= GW_ERROR_MEMORY && std::strlen(gw_last_error()) > 10;
  return said && by_go.untouched() && by_x.untouched() && by_grid.untouched() &&
         gw_grid_sample_double_backward(&spec, nullptr, nullptr, go.tensor(), x.tensor(), grid.tensor(), nullptr, nullptr,
                                        nullptr) == GW_ERROR_ARGUMENT;
}
