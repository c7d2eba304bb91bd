// SPDX-License-Identifier: Apache-2.0
//
// Several application threads call the operators at once, each with its own number of threads: the bits are the same.
#include <cstring>
#include <thread>

#include "calls.hpp"

namespace {

struct Work {
  gw_grid_sample_spec spec;
  Sizes z;
  Array x, grid, grad_output;
  std::vector<char> out, grad_x, grad_grid;  // what one thread gave

  Work(int mode, int layout, int dtype, const Sizes& sizes)
      : spec{mode, mode, mode % 2, layout, 0, 0, 0, 0, -0.75, 0, 0, 0}, z(sizes),
        x(dtype, image_shape(spec, z.n, z.c, z.h, z.w)), grid(GW_FLOAT32, {z.n, z.ho, z.wo, 2}),
        grad_output(dtype, image_shape(spec, z.n, z.c, z.ho, z.wo)) {
    Random random(static_cast<uint64_t>(mode * 10 + layout));
    fill_image(x, random), fill_image(grad_output, random);
    fill_grid(grid, mode == 1 ? Points::smooth : Points::random, z, spec.align_corners != 0, random);
    run(out, grad_x, grad_grid);
  }

  bool run(std::vector<char>& o, std::vector<char>& gx, std::vector<char>& gg) const {
    Array out_array(x->dtype, image_shape(spec, z.n, z.c, z.ho, z.wo));
    Array gx_array(x->dtype, image_shape(spec, z.n, z.c, z.h, z.w)), gg_array(GW_FLOAT32, {z.n, z.ho, z.wo, 2});
    const bool done = gw_grid_sample(&spec, x.tensor(), grid.tensor(), out_array.tensor()) == GW_OK &&
                      gw_grid_sample_backward(&spec, grad_output.tensor(), x.tensor(), grid.tensor(), gx_array.tensor(),
                                              gg_array.tensor()) == GW_OK;
    o = out_array.bytes(), gx = gx_array.bytes(), gg = gg_array.bytes();
    return done;
  }
  bool same() const {
    std::vector<char> o, gx, gg;
    return run(o, gx, gg) && o == out && gx == grad_x && gg == grad_grid;
  }
};

}  // namespace

int main() {
  CHECK(gw_set_local_num_threads(1) == GW_OK);
  std::vector<Work> works;
  for (int mode = 0; mode < 3; ++mode)
    for (int layout = 0; layout < 2; ++layout)
      works.emplace_back(mode, layout, layout ? GW_FLOAT16 : GW_FLOAT32, Sizes{2, 17, 60, 70, 64, 75});

  // A number larger than the machine's, so that pieces are taken in another order each time.
  for (const int threads : {2, 3, 8}) {
    CHECK(gw_set_local_num_threads(threads) == GW_OK);
    for (const Work& work : works) CHECK(work.same());
  }
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&works, caller] {
      CHECK(gw_set_local_num_threads(caller + 1) == GW_OK);
      for (size_t i = 0; i < works.size(); ++i) CHECK(works[(i + static_cast<size_t>(caller)) % works.size()].same());
      const gw_grid_sample_spec wrong = {9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};  // failures have a sentence for each thread
      CHECK(gw_grid_sample(&wrong, works[0].x.tensor(), works[0].grid.tensor(), works[0].x.tensor()) == GW_ERROR_ARGUMENT);
      CHECK(std::strstr(gw_last_error(), "mode has code 9") != nullptr);
    });
  for (auto& caller : callers) caller.join();

  // One plan, executed by several threads at once.
  const Work& work = works[0];
  const Array out(GW_FLOAT32, image_shape(work.spec, work.z.n, work.z.c, work.z.ho, work.z.wo));
  gw_plan* plan = nullptr;
  CHECK(gw_grid_sample_plan(&work.spec, work.x.tensor(), work.grid.tensor(), out.tensor(), &plan) == GW_OK);
  callers.clear();
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&work, plan, caller] {
      gw_set_local_num_threads(caller + 1);
      for (int i = 0; i < 5; ++i) {
        Array mine(GW_FLOAT32, image_shape(work.spec, work.z.n, work.z.c, work.z.ho, work.z.wo));
        CHECK(gw_grid_sample_execute(plan, work.x->data, work.grid->data, mine->data) == GW_OK);
        CHECK(mine.same_as(work.out));
      }
    });
  for (auto& caller : callers) caller.join();
  gw_plan_destroy(plan);
  std::printf("%d failures\n", failures.load());
  return failures == 0 ? 0 : 1;
}
