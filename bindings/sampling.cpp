// SPDX-License-Identifier: Apache-2.0
// grid_sample, affine_grid and their gradients.
#include "arrays.hpp"

void bind_sampling(nb::module_& m) {
  nb::class_<gw_grid_sample_spec>(m, "GridSampleSpec")
      .def("__init__",
           [](gw_grid_sample_spec* s, int32_t mode, int32_t padding, int32_t align_corners, int32_t layout,
              int32_t rounding, int32_t pad_order, int32_t cubic_padding, int32_t nonfinite, double cubic_coeff_a,
              int32_t unnormalise, int32_t reflection, int32_t border_slope) {
             *s = {mode,      padding,       align_corners, layout,      rounding,   pad_order, cubic_padding,
                   nonfinite, cubic_coeff_a, unnormalise,   reflection, border_slope};
           })
      .def_ro("layout", &gw_grid_sample_spec::layout);
  m.def("grid_sample", [](const gw_grid_sample_spec& spec, const Input& x, int x_type, const Input& grid, int grid_type,
                          const Output& out, int out_type) {
    const gw_tensor a = tensor_of(x, x_type), g = tensor_of(grid, grid_type), o = tensor_of(out, out_type);
    run([&] { return gw_grid_sample(&spec, &a, &g, &o); });
  });
  m.def(
      "grid_sample_backward",
      [](const gw_grid_sample_spec& spec, const Input& grad, int grad_type, const Input& x, int x_type, const Input& grid,
         int grid_type, const std::optional<Output>& grad_x, const std::optional<Output>& grad_grid) {
        const gw_tensor go = tensor_of(grad, grad_type), a = tensor_of(x, x_type), g = tensor_of(grid, grid_type);
        gw_tensor gx = {}, gg = {};
        if (grad_x) gx = tensor_of(*grad_x, x_type);
        if (grad_grid) gg = tensor_of(*grad_grid, grid_type);
        run([&] {
          return gw_grid_sample_backward(&spec, &go, &a, &g, grad_x ? &gx : nullptr, grad_grid ? &gg : nullptr);
        });
      },
      nb::arg("spec"), nb::arg("grad_output"), nb::arg("grad_type"), nb::arg("x"), nb::arg("x_type"), nb::arg("grid"),
      nb::arg("grid_type"), nb::arg("grad_x").none(), nb::arg("grad_grid").none());
  m.def("affine_grid", [](const Input& theta, int type, bool align_corners, int32_t singleton, const Output& out) {
    const gw_tensor t = tensor_of(theta, type), o = tensor_of(out, type);
    run([&] { return gw_affine_grid(&t, align_corners, singleton, &o); });
  });
  m.def("affine_grid_backward",
        [](const Input& grad, int type, bool align_corners, int32_t singleton, const Output& grad_theta) {
          const gw_tensor g = tensor_of(grad, type), t = tensor_of(grad_theta, type);
          run([&] { return gw_affine_grid_backward(&g, align_corners, singleton, &t); });
        });
}
