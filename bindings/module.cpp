// SPDX-License-Identifier: Apache-2.0
// Arrays and integer codes in, one call of core, nothing decided here. Python gives dtype codes (NumPy's buffer has no
// word for bfloat16) and allocated outputs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "gridwave/gridwave.h"

namespace nb = nanobind;
using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

namespace {

template <class Array>
gw_tensor tensor_of(const Array& a, int32_t dtype) {
  gw_tensor t = {};
  t.data = const_cast<void*>(static_cast<const void*>(a.data()));
  t.dtype = dtype;
  // A rank beyond the interface's is refused by core's checks, which look at `rank` first.
  t.rank = (int32_t)a.ndim();
  for (int32_t i = 0; i < t.rank && i < GW_MAX_RANK; ++i) {
    t.shape[i] = (int64_t)a.shape((size_t)i);
    t.stride[i] = a.stride((size_t)i);
  }
  return t;
}

// Signals are looked at from inside long calls; the Python error they raise is kept for after the call.
int32_t check_signals(void*) {
  nb::gil_scoped_acquire held;
  return PyErr_CheckSignals();
}

nb::handle failure_type;  // called with (status name, text), returns the exception to raise; lives as long as the process

template <class Call>
void run(Call&& call) {
  gw_status status;
  {
    nb::gil_scoped_release released;
    gw_set_interrupt_check(check_signals, nullptr);
    status = call();
    gw_set_interrupt_check(nullptr, nullptr);
  }
  if (status == GW_OK) return;
  if (status == GW_ERROR_INTERRUPTED && PyErr_Occurred()) throw nb::python_error();
  const nb::object error = failure_type(gw_status_name(status), gw_last_error());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace

NB_MODULE(_core, m) {
  // Specs are remembered in a dict that lives as long as the interpreter.
  nb::set_leak_warnings(false);
  nb::class_<gw_grid_sample_spec>(m, "GridSampleSpec")
      .def("__init__",
           [](gw_grid_sample_spec* s, int32_t mode, int32_t padding, int32_t align_corners, int32_t layout,
              int32_t rounding, int32_t pad_order, int32_t cubic_padding, int32_t nonfinite, double cubic_coeff_a) {
             *s = {mode, padding, align_corners, layout, rounding, pad_order, cubic_padding, nonfinite, cubic_coeff_a};
           })
      .def_ro("layout", &gw_grid_sample_spec::layout);
  m.def("set_failure", [](nb::object f) { failure_type = f.release(); });
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
  m.def("affine_grid", [](const Input& theta, int type, bool align_corners, bool singleton_zero, const Output& out) {
    const gw_tensor t = tensor_of(theta, type), o = tensor_of(out, type);
    run([&] { return gw_affine_grid(&t, align_corners, singleton_zero, &o); });
  });
  m.def("affine_grid_backward",
        [](const Input& grad, int type, bool align_corners, bool singleton_zero, const Output& grad_theta) {
          const gw_tensor g = tensor_of(grad, type), t = tensor_of(grad_theta, type);
          run([&] { return gw_affine_grid_backward(&g, align_corners, singleton_zero, &t); });
        });
  m.def("set_num_threads", [](int32_t n) { run([&] { return gw_set_num_threads(n); }); });
  m.def("set_local_num_threads", [](int32_t n) { run([&] { return gw_set_local_num_threads(n); }); });
  m.def("get_num_threads", &gw_get_num_threads);
  m.def("get_local_num_threads", &gw_get_local_num_threads);
  m.def("isa", [] { return gw_isa(); });
  m.def("best_isa", [] { return gw_best_isa(); });
  m.def("version", [] { return gw_version(); });
}
