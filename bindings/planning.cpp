// SPDX-License-Identifier: Apache-2.0
// Plans of grids that stay.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "arrays.hpp"

namespace {

struct DestroyPlan {
  void operator()(gw_grid_plan* plan) const { gw_grid_plan_destroy(plan); }
};
struct GridPlan {
  std::unique_ptr<gw_grid_plan, DestroyPlan> handle;
};

std::vector<int64_t> counts_of(const GridPlan& plan) {
  gw_grid_report r;
  run([&] { return gw_grid_plan_report(plan.handle.get(), &r); });
  std::vector<int64_t> v = {r.points, r.interior, r.partly_outside, r.outside, r.with_nan, r.with_infinity,
                            r.taps, r.jumps, r.cells, r.pixels, r.contended};
  v.insert(v.end(), r.lines_planar, r.lines_planar + 4);
  for (int i = 0; i < GW_HOT_SPOTS; ++i) {
    v.push_back(r.hot_pixel[i]);
    v.push_back(r.hot_taps[i]);
  }
  return v;
}

}  // namespace

void bind_planning(nb::module_& m) {
  nb::class_<GridPlan>(m, "GridPlan")
      .def("__init__",
           [](GridPlan* self, const gw_grid_sample_spec& spec, const std::vector<int64_t>& size, const Input& grid, int type) {
             const gw_tensor g = tensor_of(grid, type);
             gw_grid_plan* made = nullptr;
             run([&] {
               return size.size() == 3 ? gw_grid_plan_create_volume(&spec, size[0], size[1], size[2], &g, &made)
                                       : gw_grid_plan_create(&spec, size[0], size[1], &g, &made);
             });
             new (self) GridPlan{std::unique_ptr<gw_grid_plan, DestroyPlan>(made)};
           })
      .def("execute",
           [](const GridPlan& self, const Input& x, int x_type, const Output& out, int out_type) {
             const gw_tensor a = tensor_of(x, x_type), o = tensor_of(out, out_type);
             run([&] { return gw_grid_plan_execute(self.handle.get(), &a, &o); });
           })
      .def(
          "backward",
          [](const GridPlan& self, const Input& grad, int grad_type, const Input& x, int x_type, int grid_type,
             const std::optional<Output>& grad_x, const std::optional<Output>& grad_grid) {
            const gw_tensor go = tensor_of(grad, grad_type), a = tensor_of(x, x_type);
            gw_tensor gx = {}, gg = {};
            if (grad_x) gx = tensor_of(*grad_x, x_type);
            if (grad_grid) gg = tensor_of(*grad_grid, grid_type);
            run([&] {
              return gw_grid_plan_backward(self.handle.get(), &go, &a, grad_x ? &gx : nullptr, grad_grid ? &gg : nullptr);
            });
          },
          nb::arg("grad_output"), nb::arg("grad_type"), nb::arg("x"), nb::arg("x_type"), nb::arg("grid_type"),
          nb::arg("grad_x").none(), nb::arg("grad_grid").none())
      .def("counts", &counts_of);
}
