// SPDX-License-Identifier: Apache-2.0
// remap and warps.
#include "arrays.hpp"

void bind_remapping(nb::module_& m) {
  nb::class_<gw_remap_spec>(m, "RemapSpec")
      .def("__init__", [](gw_remap_spec* s, int32_t mode, int32_t border, int32_t subpixel, int32_t relative,
                          int32_t coordinates, int32_t reach, nb::sequence values) {
        *s = {mode, border, subpixel, relative, coordinates, reach, {}};
        for (size_t c = 0; c < 4; ++c) s->border_value[c] = nb::cast<double>(values[c]);
      });
  m.def("remap", [](const gw_remap_spec& spec, const Input& image, int image_type, const Input& map_x, int map_x_type,
                    const Input& map_y, int map_y_type, const Output& out, int out_type) {
    const gw_tensor a = tensor_of(image, image_type), x = tensor_of(map_x, map_x_type),
                    y = tensor_of(map_y, map_y_type), o = tensor_of(out, out_type);
    run([&] { return gw_remap(&spec, &a, &x, &y, &o); });
  });
  m.def("warp", [](const gw_remap_spec& spec, const Input& image, int image_type, nb::sequence matrix,
                   const Output& out, int out_type) {
    const gw_tensor a = tensor_of(image, image_type), o = tensor_of(out, out_type);
    double numbers[9];
    for (size_t i = 0; i < 9; ++i) numbers[i] = nb::cast<double>(matrix[i]);
    run([&] { return gw_warp(&spec, &a, numbers, &o); });
  });
}
