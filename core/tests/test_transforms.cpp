// SPDX-License-Identifier: Apache-2.0
//
// transforms.h: every method, filter, fill, dtype and layout of memory against the formulas, and what must be refused.
#include "transform_calls.hpp"

namespace {

int64_t calls = 0, judged = 0;

Lies lies_of(int64_t k) { return static_cast<Lies>(k % static_cast<int64_t>(Lies::shared)); }

void test_pillow() {
  constexpr int types[] = {GW_UINT8, GW_UINT16, GW_INT32, GW_FLOAT32};
  for (int method = 0; method < 3; ++method)
    for (int filter = 0; filter < 3; ++filter)
      for (int type : types)
        for (int k = 0; k < 12; ++k) {
          Random random(static_cast<uint64_t>(++calls));
          gw_pillow_transform_spec spec = {method, filter, k % 2, {0, 0, 31, 23}, {}};
          if (k % 3 == 1) spec.box[0] = 4, spec.box[1] = 2, spec.box[2] = 20, spec.box[3] = 40;
          if (k % 3 == 2) spec.box[0] = -5, spec.box[2] = 90;
          double* const a = spec.coefficients;
          const double turn = k % 4 == 3 ? 0 : random.uniform(-0.4, 0.4), far = k % 6 == 5 ? 40000 : 0;
          const double x[4] = {random.uniform(-6, 9) + far, random.uniform(0.3, 1.4), turn, 0.004};
          const double y[4] = {random.uniform(-6, 9), -turn, random.uniform(0.3, 1.4), -0.003};
          if (method == GW_PILLOW_QUAD) {
            std::copy_n(x, 4, a), std::copy_n(y, 4, a + 4);
          } else {
            a[0] = x[1], a[1] = x[2], a[2] = x[0], a[3] = y[1], a[4] = y[2], a[5] = y[0];
            if (method == GW_PILLOW_PERSPECTIVE) a[6] = 0.002, a[7] = -0.003;
          }
          const PillowCall call = {spec, type, 17 + k % 2, 26, 23, 31, 1 + k % 4, lies_of(k), lies_of(k / 2)};
          judged += call.run(static_cast<uint64_t>(calls), true);
        }
}

void test_projective() {
  constexpr int types[] = {GW_UINT8, GW_INT32, GW_INT64, GW_FLOAT32, GW_FLOAT64, GW_FLOAT16, GW_BFLOAT16};
  for (int interpolation = 0; interpolation < 2; ++interpolation)
    for (int fill = 0; fill < 4; ++fill)
      for (int type : types)
        for (int k = 0; k < 6; ++k) {
          ++calls;
          const int64_t size = k == 4 ? 1 : 14;
          const ProjectiveCall call = {{interpolation, fill, k % 3 == 0 ? 0.0 : 7.0}, type, 2, 12, size, 1 + k % 4, 15, 19, k % 2 == 0,
                                       lies_of(k), lies_of(k / 2)};
          judged += call.run(static_cast<uint64_t>(calls), 0, true);
        }
}

void test_refused() {
  Array image(GW_UINT8, {5, 6, 3}), out(GW_UINT8, {4, 4, 3}), other(GW_FLOAT32, {4, 4, 3}), flat(GW_UINT8, {4, 4});
  gw_pillow_transform_spec spec = {0, 0, 0, {0, 0, 4, 4}, {1, 0, 0, 0, 1, 0}};
  CHECK(gw_pillow_transform(nullptr, image.tensor(), out.tensor()) == GW_ERROR_ARGUMENT);
  CHECK(gw_pillow_transform(&spec, nullptr, out.tensor()) == GW_ERROR_ARGUMENT);
  CHECK(gw_pillow_transform(&spec, image.tensor(), other.tensor()) == GW_ERROR_DTYPE);
  CHECK(gw_pillow_transform(&spec, image.tensor(), flat.tensor()) == GW_ERROR_SHAPE);
  CHECK(gw_pillow_transform(&spec, image.tensor(), image.tensor()) != GW_OK);
  for (int code : {-1, 3, 1000}) {
    spec.method = code;
    CHECK(gw_pillow_transform(&spec, image.tensor(), out.tensor()) == GW_ERROR_ARGUMENT);
    spec.method = 0, spec.filter = code;
    CHECK(gw_pillow_transform(&spec, image.tensor(), out.tensor()) == GW_ERROR_ARGUMENT);
    spec.filter = 0;
  }
  CHECK(gw_pillow_premultiply(other.tensor(), 0, out.tensor()) != GW_OK);
  Array images(GW_FLOAT32, {2, 4, 4, 3}), transforms(GW_FLOAT32, {2, 8}), short_ones(GW_FLOAT32, {2, 7}), to(GW_FLOAT32, {2, 3, 3, 3});
  gw_projective_transform_spec p = {GW_BILINEAR, GW_FILL_WRAP, 0};
  CHECK(gw_projective_transform(nullptr, images.tensor(), transforms.tensor(), to.tensor()) == GW_ERROR_ARGUMENT);
  CHECK(gw_projective_transform(&p, images.tensor(), short_ones.tensor(), to.tensor()) == GW_ERROR_SHAPE);
  CHECK(gw_projective_transform(&p, images.tensor(), transforms.tensor(), out.tensor()) != GW_OK);
  p.fill_mode = 4;
  CHECK(gw_projective_transform(&p, images.tensor(), transforms.tensor(), to.tensor()) == GW_ERROR_ARGUMENT);
  p.fill_mode = 0, p.interpolation = GW_BICUBIC;
  CHECK(gw_projective_transform(&p, images.tensor(), transforms.tensor(), to.tensor()) == GW_ERROR_ARGUMENT);
  CHECK(out.untouched() && to.untouched());
}

}  // namespace

int main() {
  test_pillow();
  test_projective();
  test_refused();
  Random random(3);
  for (int i = 0; i < 60; ++i) premultiply_call(random);
  CHECK(judged > 100000);  // or nothing would have been compared
  std::printf("%lld calls, %lld pixels judged, %d failures\n", static_cast<long long>(calls), static_cast<long long>(judged),
              failures.load());
  return failures == 0 ? 0 : 1;
}
