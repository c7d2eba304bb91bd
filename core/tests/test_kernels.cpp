// SPDX-License-Identifier: Apache-2.0
//
// Every mode, padding, align_corners, dtype and layout on small and odd sizes, forward and backward, against a definition
// written for this test; what surrounds every output is watched. Run it with GRIDWAVE_ISA to test lower instruction sets.
#include <cstdlib>
#include <cstring>

#include "calls.hpp"

namespace {

// One pixel, one row, one column, a single channel, vectors of channels and their tails, tiles and their tails.
constexpr Sizes sizes[] = {
    {1, 1, 1, 1, 3, 5},   {2, 3, 1, 7, 4, 4},    {1, 2, 9, 1, 2, 9},   {2, 1, 2, 2, 5, 7},   {1, 3, 3, 5, 6, 6},
    {1, 4, 6, 4, 1, 33},  {3, 5, 8, 9, 3, 3},    {1, 8, 5, 16, 2, 19}, {1, 16, 4, 4, 7, 5},  {1, 17, 7, 6, 3, 11},
    {1, 33, 5, 5, 2, 6},  {1, 1, 40, 33, 13, 41}, {1, 7, 12, 10, 18, 16}, {1, 19, 6, 5, 9, 30}, {2, 2, 3, 64, 1, 1}};
constexpr int size_count = sizeof sizes / sizeof sizes[0];

int64_t calls = 0;

void test_all_modes() {
  for (int mode = 0; mode < 3; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int corners = 0; corners < 2; ++corners)
        for (int layout = 0; layout < 2; ++layout)
          for (const Pair& types : pairs)
            for (const Sizes& z : sizes) {
              ++calls;
              // Points, strides and the end of memory that is watched change from call to call.
              const auto k = static_cast<int>(calls + calls / 7);
              const auto lies = [&](int salt) {
                return k % 3 == 0 ? static_cast<Lies>((k / 3 + salt) % static_cast<int>(Lies::count)) : Lies::dense;
              };
              const gw_grid_sample_spec spec = {mode, padding, corners, layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
              const auto points = static_cast<Points>(k % static_cast<int>(Points::count));
              const Call call = {spec, types, z, points, lies(0), lies(2), lies(3), k % 2 == 0, k % 16 == 5};
              call.run(static_cast<uint64_t>(calls));
            }
}

// Fields of the spec that frameworks other than PyTorch set.
void test_conventions() {
  for (int field = 0; field < 5; ++field)
    for (int padding = 0; padding < 3; ++padding)
      for (int corners = 0; corners < 2; ++corners)
        for (int k = 0; k < 12; ++k) {
          gw_grid_sample_spec spec = {field < 3 ? GW_NEAREST : GW_BICUBIC, padding, corners, k % 2, 0, 0, 0, 0, -0.75, 0, 0, 0};
          if (field < 2) spec.rounding = field + 1;
          if (field == 2) spec.pad_order = GW_PAD_INDEX, spec.rounding = k % 3;
          if (field == 3) spec.cubic_padding = GW_CUBIC_COORDINATE;
          if (field == 4) spec.cubic_coeff_a = -0.5 - 0.05 * k, spec.nonfinite = GW_NONFINITE_LOWER_BORDER;
          const Call call = {spec,         pairs[k % pair_count], sizes[(k + field) % size_count],
                             k % 3 == 0 ? Points::random : k % 3 == 1 ? Points::ties : Points::hostile,
                             Lies::dense,  Lies::dense, Lies::dense, true, false};
          call.run(static_cast<uint64_t>(++calls));
        }
  for (int mode = 0; mode < 3; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int corners = 0; corners < 2; ++corners) {
        const gw_grid_sample_spec spec = {mode, padding, corners, corners, 0, 0, 0, GW_NONFINITE_LOWER_BORDER, -0.75, 0, 0, 0};
        const Call call = {spec, pairs[mode], {1, 3, 9, 8, 6, 11}, Points::hostile, Lies::dense, Lies::dense, Lies::dense, true, false};
        call.run(static_cast<uint64_t>(++calls));
      }
}

// The same for coordinates: every way to unnormalise, to reflect, and of the slope on the border.
void test_coordinate_conventions() {
  const Sizes shapes[] = {{2, 3, 9, 8, 6, 11}, {1, 17, 7, 6, 3, 23}, {1, 1, 1, 5, 4, 9}, {1, 20, 24, 30, 26, 31},
                          volume(1, 3, 4, 5, 6, 3, 4, 9), volume(1, 16, 3, 4, 5, 2, 5, 7), signal(2, 3, 6, 40)};
  for (int k = 0; k < 3 * 3 * 2 * 3 * 2 * 2; ++k)
    for (const Sizes& z : shapes) {
      ++calls;
      gw_grid_sample_spec spec = {k % 3, k / 3 % 3, k / 9 % 2, static_cast<int>(calls % 2), 0, 0, 0, 0, -0.75, 0, 0, 0};
      spec.unnormalise = k / 18 % 3, spec.reflection = k / 54 % 2, spec.border_slope = k / 108;
      if (calls % 5 == 0) spec.pad_order = GW_PAD_INDEX, spec.rounding = static_cast<int>(calls / 5 % 3);
      if (calls % 7 == 0) spec.nonfinite = GW_NONFINITE_LOWER_BORDER;
      const Call call = {spec, pairs[calls % pair_count], z, static_cast<Points>(calls / 3 % static_cast<int>(Points::count)),
                         Lies::dense, Lies::dense, Lies::dense, calls % 4 < 2, false};
      call.run(static_cast<uint64_t>(calls));
    }
}

// Larger images and more points than a tile: windows, packed channels, blocks of channels.
void test_larger() {
  constexpr Sizes larger[] = {{1, 5, 64, 96, 48, 70}, {1, 24, 48, 40, 64, 50}, {2, 3, 100, 120, 90, 110}, {1, 40, 20, 30, 40, 40}};
  for (int mode = 0; mode < 3; ++mode)
    for (int layout = 0; layout < 2; ++layout)
      for (int types : {0, 1, 3, 5, 6})
        for (const Sizes& z : larger) {
          ++calls;
          const auto points = calls % 2 ? Points::smooth : Points::random;
          const gw_grid_sample_spec spec = {mode, static_cast<int>(calls % 3), static_cast<int>(calls / 2 % 2), layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
          const Call call = {spec, pairs[types], z, points, Lies::dense, Lies::dense, Lies::dense, calls % 4 < 2, false};
          call.run(static_cast<uint64_t>(calls));
        }
}

// Volumes and signals: one voxel, short axes, tails of vectors and tiles, points in bands of planes.
void test_volumes() {
  const Sizes volumes[] = {volume(1, 1, 1, 1, 1, 2, 2, 3), volume(2, 3, 1, 4, 5, 3, 4, 5), volume(1, 2, 3, 1, 4, 1, 7, 8),
                           volume(1, 4, 4, 3, 1, 2, 5, 6), volume(1, 1, 5, 6, 7, 4, 9, 11), volume(2, 5, 3, 4, 5, 5, 6, 9),
                           volume(1, 8, 4, 4, 4, 3, 3, 3), volume(1, 16, 3, 5, 4, 2, 9, 7), volume(1, 21, 4, 3, 6, 3, 4, 8)};
  const Sizes signals[] = {signal(1, 1, 1, 5), signal(2, 3, 7, 40), signal(1, 17, 9, 33), signal(3, 4, 2, 300), signal(1, 32, 12, 19)};
  const auto run = [&](const Sizes& z, int mode, int padding, int corners, int layout, const Pair& types) {
    ++calls;
    const auto k = static_cast<int>(calls + calls / 7);
    const auto lies = [&](int salt) {
      return k % 3 == 0 ? static_cast<Lies>((k / 3 + salt) % static_cast<int>(Lies::count)) : Lies::dense;
    };
    const gw_grid_sample_spec spec = {mode, padding, corners, layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
    const Call call = {spec, types, z, static_cast<Points>(k % static_cast<int>(Points::count)), lies(0), lies(2), lies(3), k % 2 == 0, k % 16 == 5};
    call.run(static_cast<uint64_t>(calls));
  };
  for (int mode = 0; mode < 3; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int corners = 0; corners < 2; ++corners)
        for (int layout = 0; layout < 2; ++layout)
          for (const Pair& types : pairs) {
            for (const Sizes& z : volumes) run(z, mode, padding, corners, layout, types);
            for (const Sizes& z : signals) run(z, mode, padding, corners, layout, types);
          }
  // Enough values for bands, and volumes that are packed.
  for (int mode = 0; mode < 2; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int layout = 0; layout < 2; ++layout)
        for (int types : {0, 1, 3}) {
          run(volume(1, 2, 17, 6, 7, 30, 32, 36), mode, padding, padding % 2, layout, pairs[types]);
          run(volume(1, 20, 16, 5, 6, 12, 13, 22), mode, padding, padding % 2, layout, pairs[types]);
        }
  // What other frameworks set.
  for (int k = 0; k < 36; ++k) {
    gw_grid_sample_spec spec = {k % 2 ? GW_NEAREST : GW_BICUBIC, k % 3, k / 3 % 2, k / 6 % 2, 0, 0, 0, 0, -0.75, 0, 0, 0};
    if (k % 2) spec.pad_order = GW_PAD_INDEX, spec.rounding = k / 2 % 3;
    else spec.cubic_padding = GW_CUBIC_COORDINATE, spec.cubic_coeff_a = -0.5 - 0.02 * k;
    if (k % 5 == 0) spec.nonfinite = GW_NONFINITE_LOWER_BORDER;
    ++calls;
    const Call call = {spec, pairs[k % pair_count], k % 4 ? volume(2, 3, 4, 5, 6, 3, 4, 9) : signal(2, 3, 6, 40),
                       static_cast<Points>(1 + k % 3), Lies::dense, Lies::dense, Lies::dense, k % 2 == 0, false};
    call.run(static_cast<uint64_t>(calls));
  }
}

// <A x, y> == <x, A' y> in double, and the gradient of the grid against central differences away from kinks.
void test_gradients() {
  for (int mode = 0; mode < 3; ++mode)
    for (int padding = 0; padding < 3; ++padding)
      for (int corners = 0; corners < 2; ++corners)
        for (int layout = 0; layout < 2; ++layout) {
          Random random(static_cast<uint64_t>(1000 + ++calls));
          const gw_grid_sample_spec spec = {mode, padding, corners, layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
          const int64_t c = 5, h = 6, w = 9, ho = 5, wo = 8;
          Array x(GW_FLOAT64, image_shape(spec, 1, c, h, w)), grid(GW_FLOAT64, {1, ho, wo, 2});
          Array y(GW_FLOAT64, image_shape(spec, 1, c, ho, wo)), out(GW_FLOAT64, image_shape(spec, 1, c, ho, wo));
          Array gx(GW_FLOAT64, image_shape(spec, 1, c, h, w)), gg(GW_FLOAT64, {1, ho, wo, 2});
          fill_image(x, random), fill_image(y, random);
          for (int64_t i = 0; i < grid.count(); ++i) {  // a tenth of a pixel or more from whole and half pixels
            const auto size = static_cast<double>(i % 2 == 0 ? w : h);
            const double p = std::floor(random.uniform(-2.5 * 2, (size + 1.5) * 2)) / 2 + random.uniform(0.1, 0.4);
            grid.set(i, corners ? 2 * p / (size - 1) - 1 : (2 * p + 1) / size - 1);
          }
          CHECK(gw_grid_sample(&spec, x.tensor(), grid.tensor(), out.tensor()) == GW_OK);
          CHECK(gw_grid_sample_backward(&spec, y.tensor(), x.tensor(), grid.tensor(), gx.tensor(), gg.tensor()) == GW_OK);
          double left = 0, right = 0, magnitude = 0;
          for (int64_t i = 0; i < out.count(); ++i) left += out.get(i) * y.get(i), magnitude += std::fabs(out.get(i) * y.get(i));
          for (int64_t i = 0; i < x.count(); ++i) right += x.get(i) * gx.get(i), magnitude += std::fabs(x.get(i) * gx.get(i));
          CHECK(std::fabs(left - right) <= 100 * DBL_EPSILON * magnitude);

          const double step = 1e-5;
          for (int64_t i = 0; i < grid.count(); ++i) {
            const double g = grid.get(i);
            double value[2];
            for (int side = 0; side < 2; ++side) {
              grid.set(i, side ? g + step : g - step);
              CHECK(gw_grid_sample(&spec, x.tensor(), grid.tensor(), out.tensor()) == GW_OK);
              value[side] = 0;
              for (int64_t k = 0; k < out.count(); ++k) value[side] += out.get(k) * y.get(k);
            }
            grid.set(i, g);
            const double slope = (value[1] - value[0]) / (2 * step);
            // Cancellation eps * sum / step, and the third derivative of a cubic times step squared.
            CHECK(std::fabs(slope - gg.get(i)) <= 8 * DBL_EPSILON * magnitude / step + 1e4 * step * step);
          }
        }
}

// No batch, no channels, no points: nothing is read or written, and gradients without contributions are zero.
void test_empty() {
  for (int layout = 0; layout < 2; ++layout)
    for (const Sizes& z : {Sizes{0, 2, 3, 3, 2, 2}, Sizes{2, 0, 3, 3, 2, 2}, Sizes{2, 2, 3, 3, 0, 2}, Sizes{2, 2, 3, 3, 2, 0}})
      for (const Pair& types : {pairs[0], pairs[1], pairs[3], pairs[6]}) {
        const gw_grid_sample_spec spec = {0, 0, 0, layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
        const Call call = {spec, types, z, Points::smooth, Lies::dense, Lies::dense, Lies::dense, true, false};
        ++calls;
        call.run(7);
      }
}

// A plan computes what the call does, on other memory.
void test_plans() {
  for (int layout = 0; layout < 2; ++layout)
    for (int lies = 0; lies < static_cast<int>(Lies::shared); ++lies) {
      Random random(static_cast<uint64_t>(lies));
      const gw_grid_sample_spec spec = {0, 2, 0, layout, 0, 0, 0, 0, -0.75, 0, 0, 0};
      const Sizes z = {2, 6, 20, 22, 19, 21};
      Array x(GW_FLOAT32, image_shape(spec, z.n, z.c, z.h, z.w), static_cast<Lies>(lies)), grid(GW_FLOAT32, {z.n, z.ho, z.wo, 2});
      Array out(GW_FLOAT32, image_shape(spec, z.n, z.c, z.ho, z.wo)), again(GW_FLOAT32, image_shape(spec, z.n, z.c, z.ho, z.wo));
      gw_tensor bare[3] = {*x.tensor(), *grid.tensor(), *again.tensor()};
      for (gw_tensor& t : bare) t.data = nullptr;
      gw_plan* plan = nullptr;
      CHECK(gw_grid_sample_plan(&spec, &bare[0], &bare[1], &bare[2], &plan) == GW_OK);
      for (int round = 0; round < 2; ++round) {
        fill_image(x, random), fill_grid(grid, Points::random, z, false, random);
        CHECK(gw_grid_sample(&spec, x.tensor(), grid.tensor(), out.tensor()) == GW_OK);
        CHECK(gw_grid_sample_execute(plan, x->data, grid->data, again->data) == GW_OK);
        CHECK(std::memcmp(out.bytes().data(), again.bytes().data(), out.bytes().size()) == 0);
      }
      CHECK(gw_grid_sample_execute(plan, nullptr, grid->data, again->data) == GW_ERROR_ARGUMENT);
      CHECK(gw_grid_sample_execute(plan, again->data, grid->data, again->data) == GW_ERROR_SHAPE);
      gw_plan_destroy(plan);
    }
  gw_plan_destroy(nullptr);
}

void test_affine_grid() {
  for (int dtype : {GW_FLOAT32, GW_FLOAT64, GW_FLOAT16, GW_BFLOAT16})
    for (int corners = 0; corners < 2; ++corners)
      for (int singleton = 0; singleton < 3; ++singleton)
        for (int lies = 0; lies < static_cast<int>(Lies::shared); ++lies)
          for (const Sizes& z : {Sizes{2, 1, 1, 1, 1, 5}, Sizes{2, 1, 1, 1, 4, 5}, Sizes{2, 1, 1, 1, 7, 5}, volume(2, 1, 1, 1, 1, 1, 3, 4),
                                 volume(2, 1, 1, 1, 1, 3, 1, 2)}) {
            Random random(static_cast<uint64_t>(z.ho));
            const int64_t axes = z.axes, points = z.wo * z.ho * z.depth_out;
            Array theta(dtype, {z.n, axes, axes + 1}, static_cast<Lies>(lies)), out(dtype, grid_shape(z), static_cast<Lies>(lies));
            fill_image(theta, random);
            CHECK(gw_affine_grid(theta.tensor(), corners, singleton, out.tensor()) == GW_OK);
            CHECK(out.surroundings_intact());
            const auto base = [&](int64_t i, int64_t size) {
              if (!corners) return (2.0 * static_cast<double>(i) + 1) / static_cast<double>(size) - 1;
              if (size == 1) return static_cast<double>(singleton) - 1;
              return 2.0 * static_cast<double>(i) / static_cast<double>(size - 1) - 1;
            };
            const double eps = dtype == GW_FLOAT64 ? 0x1p-50 : rounding(dtype) * 1.5;
            double left = 0, right = 0, magnitude = 0;
            for (int64_t i = 0; i < out.count(); ++i) {
              const int64_t p = i / axes % points, row = i / axes / points * axes + i % axes;
              const int64_t index[3] = {p % z.wo, p / z.wo % z.ho, p / z.wo / z.ho};
              double want = theta.get(row * (axes + 1) + axes);
              for (int64_t a = 0; a < axes; ++a)
                want += theta.get(row * (axes + 1) + a) * base(index[a], z.out(static_cast<int>(a)));
              CHECK(std::fabs(out.get(i) - want) <= eps * 16);
            }
            Array grad(dtype, grid_shape(z)), grad_theta(dtype, {z.n, axes, axes + 1}, static_cast<Lies>(lies));
            fill_image(grad, random);
            CHECK(gw_affine_grid_backward(grad.tensor(), corners, singleton, grad_theta.tensor()) == GW_OK);
            CHECK(grad_theta.surroundings_intact());
            for (int64_t i = 0; i < out.count(); ++i) left += out.get(i) * grad.get(i), magnitude += std::fabs(out.get(i) * grad.get(i));
            for (int64_t i = 0; i < theta.count(); ++i) right += theta.get(i) * grad_theta.get(i), magnitude += std::fabs(theta.get(i) * grad_theta.get(i));
            CHECK(std::fabs(left - right) <= 4 * eps * magnitude);
          }
}

}  // namespace

int main() {
  // A name that this CPU or build does not have falls back to another: then this would test the wrong kernels.
  const char* wanted = std::getenv("GRIDWAVE_ISA");
  std::printf("kernels: %s\n", gw_isa());
  if (wanted && *wanted && std::strcmp(wanted, gw_isa()) != 0) {
    std::fprintf(stderr, "GRIDWAVE_ISA=%s, but %s would be tested\n", wanted, gw_isa());
    return 1;
  }
  test_all_modes();
  test_conventions();
  test_coordinate_conventions();
  test_larger();
  test_volumes();
  test_gradients();
  test_empty();
  test_plans();
  test_affine_grid();
  std::printf("%lld calls, %d failures\n", static_cast<long long>(calls), failures.load());
  return failures == 0 ? 0 : 1;
}
