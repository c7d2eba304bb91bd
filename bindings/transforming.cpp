// SPDX-License-Identifier: Apache-2.0
// Transforms of whole images.
#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>

#include "arrays.hpp"
#include "gridwave/transforms.h"

void bind_transforming(nb::module_& m) {
  m.def("pillow_transform",
        [](const Input& image, int type, const Output& out, int32_t method, int32_t filter, bool clear,
           std::array<int64_t, 4> box, std::array<double, 8> coefficients) {
          const gw_tensor a = tensor_of(image, type), o = tensor_of(out, type);
          gw_pillow_transform_spec spec = {method, filter, clear, {}, {}};
          std::copy(box.begin(), box.end(), spec.box);
          std::copy(coefficients.begin(), coefficients.end(), spec.coefficients);
          run([&] { return gw_pillow_transform(&spec, &a, &o); });
        });
  m.def("pillow_premultiply", [](const Input& image, bool undo, const Output& out) {
    const gw_tensor a = tensor_of(image, GW_UINT8), o = tensor_of(out, GW_UINT8);
    run([&] { return gw_pillow_premultiply(&a, undo, &o); });
  });
  m.def("projective_transform", [](const Input& images, int type, const Input& transforms, const Output& out,
                                   int32_t interpolation, int32_t fill_mode, double fill_value) {
    const gw_tensor a = tensor_of(images, type), t = tensor_of(transforms, GW_FLOAT32), o = tensor_of(out, type);
    const gw_projective_transform_spec spec = {interpolation, fill_mode, fill_value};
    run([&] { return gw_projective_transform(&spec, &a, &t, &o); });
  });
}
