// SPDX-License-Identifier: Apache-2.0
// map_coordinates, affine maps, the spline filter.
#include "gridwave/splines.h"

#include "arrays.hpp"

void bind_splines(nb::module_& m) {
  nb::class_<gw_spline_spec>(m, "SplineSpec")
      .def("__init__",
           [](gw_spline_spec* s, int32_t order, int32_t boundary, int32_t basis, int32_t prefilter, int32_t taps_only,
              int32_t half_away, int32_t reflect_in_place, int32_t diagonal, double cval) {
             *s = {order, boundary, basis, prefilter, taps_only, half_away, reflect_in_place, diagonal, cval};
           });
  m.def("map_coordinates", [](const gw_spline_spec& spec, const Input& x, int x_type, const Input& coordinates,
                              int coordinates_type, const Output& out, int out_type) {
    const gw_tensor a = tensor_of(x, x_type), c = tensor_of(coordinates, coordinates_type),
                    o = tensor_of(out, out_type);
    run([&] { return gw_map_coordinates(&spec, &a, &c, &o); });
  });
  m.def("map_affine",
        [](const gw_spline_spec& spec, const Input& x, int x_type, const Input& matrix, const Output& out, int out_type) {
          const gw_tensor a = tensor_of(x, x_type), t = tensor_of(matrix, GW_FLOAT64), o = tensor_of(out, out_type);
          run([&] { return gw_map_affine(&spec, &a, &t, &o); });
        });
  m.def("spline_filter", [](const gw_spline_spec& spec, const Output& x, int32_t axis) {
    const gw_tensor a = tensor_of(x, GW_FLOAT64);
    run([&] { return gw_spline_filter(&spec, &a, axis); });
  });
}
