// SPDX-License-Identifier: Apache-2.0
// The gradient of grid_sample's gradient.
#include "arrays.hpp"

void bind_double_backward(nb::module_& m) {
  // Images share one dtype and grids another; what is not given or not wanted is None.
  m.def(
      "grid_sample_double_backward",
      [](const gw_grid_sample_spec& spec, const std::optional<Input>& grad_grad_x, int grad_grad_x_type,
         const std::optional<Input>& grad_grad_grid, int grad_grad_grid_type, const Input& grad_output, int grad_type,
         const Input& x, int x_type, const Input& grid, int grid_type, const std::optional<Output>& grad_grad_output,
         const std::optional<Output>& grad_x, const std::optional<Output>& grad_grid) {
        const gw_tensor go = tensor_of(grad_output, grad_type), a = tensor_of(x, x_type), g = tensor_of(grid, grid_type);
        gw_tensor ggx = {}, ggg = {}, ggo = {}, gx = {}, gg = {};
        if (grad_grad_x) ggx = tensor_of(*grad_grad_x, grad_grad_x_type);
        if (grad_grad_grid) ggg = tensor_of(*grad_grad_grid, grad_grad_grid_type);
        if (grad_grad_output) ggo = tensor_of(*grad_grad_output, grad_type);
        if (grad_x) gx = tensor_of(*grad_x, x_type);
        if (grad_grid) gg = tensor_of(*grad_grid, grid_type);
        run([&] {
          return gw_grid_sample_double_backward(&spec, grad_grad_x ? &ggx : nullptr, grad_grad_grid ? &ggg : nullptr, &go,
                                                &a, &g, grad_grad_output ? &ggo : nullptr, grad_x ? &gx : nullptr,
                                                grad_grid ? &gg : nullptr);
        });
      },
      nb::arg("spec"), nb::arg("grad_grad_x").none(), nb::arg("grad_grad_x_type"), nb::arg("grad_grad_grid").none(),
      nb::arg("grad_grad_grid_type"), nb::arg("grad_output"), nb::arg("grad_type"), nb::arg("x"), nb::arg("x_type"),
      nb::arg("grid"), nb::arg("grid_type"), nb::arg("grad_grad_output").none(), nb::arg("grad_x").none(),
      nb::arg("grad_grid").none());
}
