// SPDX-License-Identifier: Apache-2.0
// gw_remap and gw_warp at coordinates of every kind, in buffers of the exact size for the address sanitizer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "gridwave/gridwave.h"

namespace {

template <class T>
gw_tensor tensor(std::vector<T>& data, int32_t dtype, int64_t h, int64_t w, int64_t c) {
  gw_tensor t = {};
  t.data = data.data();
  t.dtype = dtype;
  t.rank = c ? 3 : 2;
  const int64_t shape[3] = {h, w, c}, stride[3] = {w * (c ? c : 1), c ? c : 1, 1};
  std::copy(shape, shape + t.rank, t.shape);
  std::copy(stride, stride + t.rank, t.stride);
  return t;
}

float odd(Random& random) {
  static const float some[] = {NAN, INFINITY, -INFINITY, 3e38f,     67108864.f, -67108900.f,
                               2147483648.f, 32767.5f, -32769.f,  -0.f,      1e-45f};
  if (random.one_in(3)) return some[random.below(11)];
  const auto bits = static_cast<uint32_t>(random.bits());
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return random.one_in(2) ? value : static_cast<float>(random.uniform(-9, 14));
}

// An image of one value is that value everywhere, whatever the coordinates, if the border is made of the image.
template <class T>
void constant_images(int32_t dtype, Random& random) {
  const T value = static_cast<T>(7);
  for (int32_t mode = 0; mode < 4; ++mode)
    for (int32_t border = GW_BORDER_REPLICATE; border <= GW_BORDER_WRAP; ++border)
      for (int32_t subpixel = 0; subpixel < 3; ++subpixel)
        for (int32_t reach = 0; reach < 3; ++reach)
          for (const int64_t channels : {0, 1, 3}) {
            const int64_t h = 1 + random.below(9), w = 1 + random.below(9), rows = 2, columns = 70;
            std::vector<T> image(static_cast<size_t>(h * w * std::max<int64_t>(channels, 1)), value);
            std::vector<T> out(static_cast<size_t>(rows * columns * std::max<int64_t>(channels, 1)));
            std::vector<float> x(rows * columns), y(rows * columns);
            for (float& v : x) v = odd(random);
            for (float& v : y) v = odd(random);
            const gw_remap_spec spec = {mode, border, subpixel, 0, random.one_in(2) ? 0 : 2, reach, {1, 2, 3, 4}};
            const gw_tensor in = tensor(image, dtype, h, w, channels), to = tensor(out, dtype, rows, columns, channels);
            const gw_tensor at_x = tensor(x, GW_FLOAT32, rows, columns, 0);
            const gw_tensor at_y = tensor(y, GW_FLOAT32, rows, columns, 0);
            const auto sound = [&] {
              return std::all_of(out.begin(), out.end(), [&](T v) { return std::fabs((double)v - 7) < 1e-4; });
            };
            CHECK(gw_remap(&spec, &in, &at_x, &at_y, &to) == GW_OK && sound());
            double m[9];
            for (double& v : m) v = random.one_in(4) ? (double)odd(random) : random.uniform(-2, 2);
            const auto finite = [](double v) { return std::isfinite(v); };
            CHECK(gw_warp(&spec, &in, m, &to) == GW_OK);
            if (subpixel != GW_SUBPIXEL_EXACT || std::all_of(m, m + 9, finite)) CHECK(sound());
          }
}

// uint8 at 1/32 pixel, linear: whole numbers, so that nothing but the definition is right.
void tabled_linear(Random& random) {
  constexpr int64_t h = 6, w = 8, columns = 90;
  std::vector<uint8_t> image(h * w), out(columns), lanes(columns);
  for (uint8_t& v : image) v = static_cast<uint8_t>(random.below(256));
  std::vector<float> x(columns), y(columns);
  for (float& v : x) v = static_cast<float>(random.below(32 * 14) - 96) / 32;
  for (float& v : y) v = static_cast<float>(random.below(32 * 12) - 96) / 32;
  gw_remap_spec spec = {GW_REMAP_LINEAR, GW_BORDER_REPLICATE, GW_SUBPIXEL_32, 0, 0, GW_REACH_FAR, {}};
  const gw_tensor in = tensor(image, GW_UINT8, h, w, 0), to = tensor(out, GW_UINT8, 1, columns, 0);
  const gw_tensor also = tensor(lanes, GW_UINT8, 1, columns, 0);
  const gw_tensor at_x = tensor(x, GW_FLOAT32, 1, columns, 0), at_y = tensor(y, GW_FLOAT32, 1, columns, 0);
  CHECK(gw_remap(&spec, &in, &at_x, &at_y, &to) == GW_OK);
  spec.subpixel = GW_SUBPIXEL_32_LANES;
  CHECK(gw_remap(&spec, &in, &at_x, &at_y, &also) == GW_OK && out == lanes);
  for (size_t k = 0; k < columns; ++k) {
    const auto sx = static_cast<int64_t>(x[k] * 32), sy = static_cast<int64_t>(y[k] * 32);
    const auto at = [&](int64_t i, int64_t j) {
      i = std::clamp<int64_t>(i, 0, h - 1), j = std::clamp<int64_t>(j, 0, w - 1);
      return (int64_t)image[static_cast<size_t>(i * w + j)];
    };
    const int64_t ix = sx >> 5, iy = sy >> 5, fx = sx & 31, fy = sy & 31;
    const int64_t sum = (32 - fy) * ((32 - fx) * at(iy, ix) + fx * at(iy, ix + 1)) +
                        fy * ((32 - fx) * at(iy + 1, ix) + fx * at(iy + 1, ix + 1));
    CHECK(out[k] == (sum + 512) >> 10);
  }
}

}  // namespace

int main() {
  Random random(5);
  for (int round = 0; round < 3; ++round) {
    constant_images<uint8_t>(GW_UINT8, random);
    constant_images<uint16_t>(GW_UINT16, random);
    constant_images<float>(GW_FLOAT32, random);
    constant_images<double>(GW_FLOAT64, random);
    tabled_linear(random);
  }
  return failures != 0;
}
