// SPDX-License-Identifier: Apache-2.0
#include "sampling/gradient_checks.hpp"

#include "failure.hpp"
#include "tensor.hpp"

namespace gw {

void check_like(const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model) {
  check_tensor(name, t, false);
  bool fits = t.rank == model.rank;
  for (int i = 0; fits && i < t.rank; ++i) fits = t.shape[i] == model.shape[i];
  if (!fits)
    fail(GW_ERROR_SHAPE, "%s must have the shape of %s, %s; got %s", name, model_name, shape_text(model).c_str(),
         shape_text(t).c_str());
  if (t.dtype != model.dtype)
    fail(GW_ERROR_DTYPE, "%s must have the dtype of %s, %s; got %s", name, model_name, type_name(model.dtype),
         type_name(t.dtype));
}

void check_differentiable(const gw_tensor& x) {
  if (!is_float(x.dtype))
    fail(GW_ERROR_DTYPE, "x must be float16, bfloat16, float32 or float64 to have a gradient; got %s",
         type_name(x.dtype));
}

void check_wanted(const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  if (grad_x == nullptr && grad_grid == nullptr)
    fail(GW_ERROR_ARGUMENT, "grad_x and grad_grid are both null: ask for at least one gradient");
}

void check_gradients(const gw_tensor& grad_output, const gw_tensor& x, const gw_tensor& grid, const gw_tensor* grad_x,
                     const gw_tensor* grad_grid) {
  const gw_tensor* const inputs[3] = {&grad_output, &x, &grid};
  static const char* const input_names[3] = {"grad_output", "x", "grid"};
  const auto check = [&](const char* name, const gw_tensor& t, const char* model_name, const gw_tensor& model) {
    check_like(name, t, model_name, model);
    check_writable(name, t);
    for (int i = 0; i < 3; ++i) check_no_overlap(name, t, input_names[i], *inputs[i]);
  };
  if (grad_x) check("grad_x", *grad_x, "x", x);
  if (grad_grid) check("grad_grid", *grad_grid, "grid", grid);
  if (grad_x && grad_grid) check_no_overlap("grad_x", *grad_x, "grad_grid", *grad_grid);
}

}  // namespace gw
