// SPDX-License-Identifier: Apache-2.0
//
// Grids that stay: plans of images and volumes in every mode, padding, layout and dtype against the calls without one.
#include "planned_calls.hpp"

namespace {

int64_t calls = 0;

void test_same_bits() {
  const Sizes shapes[] = {{2, 3, 9, 8, 6, 11},   {1, 16, 12, 10, 7, 9},  {2, 37, 21, 34, 19, 23}, {1, 64, 20, 30, 26, 31},
                          {3, 1, 1, 1, 4, 5},     {1, 5, 4, 4, 0, 3},     volume(2, 3, 4, 5, 6, 3, 4, 9),
                          volume(1, 16, 3, 4, 5, 7, 9, 11), volume(2, 21, 1, 1, 3, 2, 2, 2), volume(1, 2, 5, 6, 7, 9, 10, 11)};
  for (int mode = 0; mode < 3; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int layout = 0; layout < 2; ++layout)
        for (const Pair& types : pairs)
          for (const Sizes& z : shapes) {
            const auto k = static_cast<int>(++calls);
            const gw_grid_sample_spec spec = {mode, padding, k % 2, layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
            const auto lies = [&](int salt) {
              return k % 3 == 0 ? static_cast<Lies>((k / 3 + salt) % static_cast<int>(Lies::count)) : Lies::dense;
            };
            const PlannedCall call = {spec, types, z, static_cast<Points>((k + k / 7) % static_cast<int>(Points::count)),
                                      lies(0), lies(2), k % 4 < 2, k % 11 == 0};
            call.run(static_cast<uint64_t>(calls));
          }
}

void test_refused() {
  const gw_grid_sample_spec spec = {0, 0, 0, 0, 0, 0, 0, 0, -0.75, 0, 0, 0};
  Array image_grid(GW_FLOAT32, {1, 4, 5, 2}), volume_grid(GW_FLOAT32, {1, 2, 4, 5, 3});
  gw_grid_plan* plan = nullptr;
  CHECK(gw_grid_plan_create(&spec, 0, 5, image_grid.tensor(), &plan) == GW_ERROR_SHAPE && !plan);
  CHECK(gw_grid_plan_create(&spec, 4, 5, volume_grid.tensor(), &plan) == GW_ERROR_SHAPE && !plan);
  CHECK(gw_grid_plan_create_volume(&spec, 3, 4, 5, image_grid.tensor(), &plan) == GW_ERROR_SHAPE && !plan);
  CHECK(gw_grid_plan_create_volume(&spec, 3, 4, 0, volume_grid.tensor(), &plan) == GW_ERROR_SHAPE && !plan);
  CHECK(gw_grid_plan_create_volume(&spec, INT64_MAX, 4, 4, volume_grid.tensor(), &plan) == GW_ERROR_SHAPE && !plan);
  CHECK(gw_grid_plan_create_volume(nullptr, 3, 4, 5, volume_grid.tensor(), &plan) == GW_ERROR_ARGUMENT && !plan);
  CHECK(gw_grid_plan_create_volume(&spec, 3, 4, 5, volume_grid.tensor(), nullptr) == GW_ERROR_ARGUMENT);
  CHECK(gw_grid_plan_create_volume(&spec, 3, 4, 5, volume_grid.tensor(), &plan) == GW_OK && plan);
  Array x(GW_FLOAT32, {1, 2, 3, 4, 5}), out(GW_FLOAT32, {1, 2, 2, 4, 5}), image(GW_FLOAT32, {1, 2, 4, 5}), small(GW_FLOAT32, {1, 2, 3, 4, 4});
  CHECK(gw_grid_plan_execute(plan, image.tensor(), out.tensor()) == GW_ERROR_SHAPE);
  CHECK(gw_grid_plan_execute(plan, small.tensor(), out.tensor()) == GW_ERROR_SHAPE);
  CHECK(gw_grid_plan_execute(plan, x.tensor(), small.tensor()) == GW_ERROR_SHAPE);
  CHECK(gw_grid_plan_backward(plan, out.tensor(), image.tensor(), nullptr, nullptr) == GW_ERROR_SHAPE);
  CHECK(out.untouched());
  gw_grid_plan_destroy(plan);
}

}  // namespace

int main() {
  std::printf("kernels: %s\n", gw_isa());
  test_same_bits();
  test_refused();
  std::printf("%lld calls, %d failures\n", static_cast<long long>(calls), failures.load());
  return failures == 0 ? 0 : 1;
}
