// SPDX-License-Identifier: Apache-2.0
// Arrays and integer codes in, one call of core, nothing decided here. Python gives dtype codes (NumPy's buffer has no
// word for bfloat16) and allocated outputs.
#include "arrays.hpp"

NB_MODULE(_core, m) {
  // Specs are remembered in a dict that lives as long as the interpreter.
  nb::set_leak_warnings(false);
  m.def("set_failure", [](nb::object f) { failure_type = f.release(); });
  bind_sampling(m);
  bind_remapping(m);
  bind_transforming(m);
  bind_splines(m);
  bind_double_backward(m);
  bind_planning(m);
  m.def("set_num_threads", [](int32_t n) { run([&] { return gw_set_num_threads(n); }); });
  m.def("set_local_num_threads", [](int32_t n) { run([&] { return gw_set_local_num_threads(n); }); });
  m.def("get_num_threads", &gw_get_num_threads);
  m.def("get_local_num_threads", &gw_get_local_num_threads);
  m.def("isa", [] { return gw_isa(); });
  m.def("best_isa", [] { return gw_best_isa(); });
  m.def("version", [] { return gw_version(); });
}
