// SPDX-License-Identifier: Apache-2.0
// A planned grid: its results are those of the calls without a plan, to the bit, forward and backward, on memory that is
// watched. What test_planned goes through in order and fuzz at random.
#pragma once

#include <cstring>

#include "calls.hpp"

struct PlannedCall {
  gw_grid_sample_spec spec;
  Pair types;
  Sizes sizes;  // of two or three axes
  Points points;
  Lies x_lies, out_lies;
  bool shared;  // one grid for all images
  bool hostile_image;

  static bool same(const Array& a, const Array& b) {  // NaN is NaN, whichever it is
    for (int64_t i = 0; i < a.count(); ++i) {
      const double x = a.get(i), y = b.get(i);
      if (std::memcmp(a.address(i), b.address(i), static_cast<size_t>(size_of(a->dtype))) != 0 && !(x != x && y != y)) return false;
    }
    return true;
  }

  void run(uint64_t seed) const {
    Random random(seed);
    const Sizes& z = sizes;
    Sizes of_grid = z;
    if (shared) of_grid.n = 1;
    Array x(types.x, image_shape(spec, z), x_lies), grid(types.grid, grid_shape(of_grid));
    fill_image(x, random, hostile_image);
    fill_grid(grid, points, z, spec.align_corners != 0, random);
    gw_tensor each = *grid.tensor();  // as the call without a plan takes it
    if (shared) each.shape[0] = z.n, each.stride[0] = 0;
    const Lies unshared = out_lies == Lies::shared ? Lies::dense : out_lies;
    Array out(types.x, image_shape(spec, z, true), unshared), want(types.x, image_shape(spec, z, true), unshared);
    const auto x_before = x.bytes();

    gw_grid_plan* plan = nullptr;
    const gw_status made = z.axes == 3 ? gw_grid_plan_create_volume(&spec, z.d, z.h, z.w, grid.tensor(), &plan)
                                       : gw_grid_plan_create(&spec, z.h, z.w, grid.tensor(), &plan);
    CHECK(made == GW_OK);
    if (made != GW_OK) return;
    CHECK(gw_grid_sample(&spec, x.tensor(), &each, want.tensor()) == GW_OK);
    for (int round = 0; round < 2; ++round) {
      CHECK(gw_grid_plan_execute(plan, x.tensor(), out.tensor()) == GW_OK);
      CHECK(same(out, want) && out.surroundings_intact() && x.same_as(x_before));
    }
    if (is_float(types.x)) {
      Array grad(types.x, image_shape(spec, z, true), unshared);
      fill_image(grad, random);
      Array grad_x(types.x, image_shape(spec, z)), want_x(types.x, image_shape(spec, z));
      Array grad_grid(types.grid, grid_shape(of_grid)), want_grid(types.grid, grid_shape(z));
      CHECK(gw_grid_plan_backward(plan, grad.tensor(), x.tensor(), grad_x.tensor(), grad_grid.tensor()) == GW_OK);
      CHECK(gw_grid_sample_backward(&spec, grad.tensor(), x.tensor(), &each, want_x.tensor(), want_grid.tensor()) == GW_OK);
      CHECK(same(grad_x, want_x) && grad_x.surroundings_intact() && grad_grid.surroundings_intact());
      if (!shared || z.n == 1) CHECK(same(grad_grid, want_grid));
      else if (!hostile_image && types.grid <= GW_FLOAT64) check_sum(grad_grid, want_grid);
    }
    gw_grid_report report;
    CHECK(gw_grid_plan_report(plan, &report) == GW_OK);
    CHECK(report.points == grid.count() / z.axes);
    CHECK(report.points == report.interior + report.partly_outside + report.outside);
    CHECK(report.pixels <= z.h * z.w * (z.axes == 3 ? z.d : 1) && report.contended == report.taps - report.pixels);
    gw_grid_plan_destroy(plan);
  }

 private:
  // The gradient of a shared grid is the sum over the batch in double, rounded once.
  static void check_sum(const Array& got, const Array& each) {
    const int64_t count = got.count(), batches = count > 0 ? each.count() / count : 0;
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0, magnitude = 0;
      for (int64_t n = 0; n < batches; ++n) sum += each.get(n * count + i), magnitude += std::fabs(each.get(n * count + i));
      const double unit = got->dtype == GW_FLOAT32 ? 0x1p-24 : 0x1p-52;
      CHECK(std::fabs(got.get(i) - sum) <= unit * (std::fabs(sum) + 0x1p-28 * magnitude) + 1e-300);
    }
  }
};
