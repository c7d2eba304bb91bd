// SPDX-License-Identifier: Apache-2.0
//
// Random calls of gridwave.h: right ones with every dtype, stride and hostile value, compared with the definition; and
// wrong ones, which must say what is wrong and write nothing.
//
//   fuzz [--seconds N] [--seed S] [--calls N]
//
// Prints its seed first; call i of a seed is the same everywhere, and --seed S --calls I repeats up to it.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "calls.hpp"
#include "double_calls.hpp"
#include "planned_calls.hpp"
#include "transform_calls.hpp"

namespace {

int64_t good = 0, refused = 0;

int64_t length(Random& random) {
  static const int64_t lengths[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40};
  return lengths[random.below(sizeof lengths / sizeof lengths[0])];
}
int64_t at_least_one(int64_t n) { return n < 1 ? 1 : n; }
Lies some_lies(Random& random) { return random.one_in(2) ? Lies::dense : static_cast<Lies>(random.below(static_cast<int64_t>(Lies::count))); }

gw_grid_sample_spec some_spec(Random& random) {
  gw_grid_sample_spec s = {};
  s.mode = static_cast<int32_t>(random.below(3));
  s.padding = static_cast<int32_t>(random.below(3));
  s.align_corners = static_cast<int32_t>(random.below(2));
  s.layout = static_cast<int32_t>(random.below(2));
  if (random.one_in(3)) {
    s.rounding = static_cast<int32_t>(random.below(3));
    s.pad_order = static_cast<int32_t>(random.below(2));
    s.cubic_padding = static_cast<int32_t>(random.below(2));
    s.nonfinite = static_cast<int32_t>(random.below(2));
    s.unnormalise = static_cast<int32_t>(random.below(3));
    s.reflection = static_cast<int32_t>(random.below(2));
    s.border_slope = static_cast<int32_t>(random.below(2));
  }
  s.cubic_coeff_a = random.one_in(2) ? -0.75 : random.uniform(-2, 2);
  return s;
}

void right_call(Random& random) {
  Sizes z = {random.one_in(20) ? 0 : 1 + random.below(3), length(random), at_least_one(length(random)), at_least_one(length(random)),
             length(random), length(random)};
  if (random.one_in(3)) {
    z.axes = random.one_in(4) ? 1 : 3;
    if (z.axes == 1) z.h = z.ho = 1;
    if (z.axes == 3) z.d = 1 + random.below(9), z.h = 1 + random.below(9), z.ho = random.below(9), z.depth_out = random.below(9);
    if (z.axes == 3 && random.one_in(10)) z.c = 1 + random.below(3), z.d = 9 + random.below(9), z.ho = 40, z.depth_out = 1 + random.below(60);
  } else if (random.one_in(30)) z = {1, at_least_one(length(random)), 40 + random.below(60), 40 + random.below(60), 50 + random.below(40), 40 + random.below(60)};
  const Call call = {some_spec(random), pairs[random.below(pair_count)], z, static_cast<Points>(random.below(static_cast<int64_t>(Points::count))),
                     some_lies(random), some_lies(random), some_lies(random), random.one_in(2), random.one_in(10)};
  const uint64_t seed = random.bits();
  if (random.one_in(3)) gw_set_local_num_threads(static_cast<int32_t>(1 + random.below(5)));
  call.run(seed);
  ++good;
}

// A good call made wrong in one way, or several.
void wrong_call(Random& random) {
  Sizes z = {1 + random.below(2), 1 + random.below(4), 1 + random.below(5), 1 + random.below(5), 1 + random.below(4), 1 + random.below(4)};
  if (random.one_in(3)) z.axes = 3, z.d = 1 + random.below(4), z.depth_out = 1 + random.below(4);
  else if (random.one_in(4)) z = signal(z.n, z.c, z.w, z.wo);
  gw_grid_sample_spec spec = some_spec(random);
  const Pair types = pairs[random.below(5)];  // floats, so that there is a gradient too
  Array x(types.x, image_shape(spec, z)), grid(types.grid, grid_shape(z));
  Array out(types.x, image_shape(spec, z, true)), grad_x(types.x, image_shape(spec, z));
  Array grad_grid(types.grid, grid_shape(z));
  const auto x_before = x.bytes(), grid_before = grid.bytes();
  gw_tensor t[3] = {*x.tensor(), *grid.tensor(), *out.tensor()};
  const gw_tensor* p[3] = {&t[0], &t[1], &t[2]};
  const gw_grid_sample_spec* s = &spec;
  static const int32_t codes[] = {-1, 3, 7, 100, INT32_MIN, INT32_MAX};
  static const int64_t numbers[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 2, int64_t{1} << 62, int64_t{1} << 33, 0, 1, 2, 3};
  const int which = static_cast<int>(random.below(3)), axis = static_cast<int>(random.below(z.axes + 2));
  const int32_t code = codes[random.below(6)];
  const int64_t number = numbers[random.below(10)];
  bool certain = true;  // surely wrong
  switch (random.below(13)) {
    case 0: s = nullptr; break;
    case 1: p[which] = nullptr; break;
    case 2: t[which].data = nullptr; break;
    case 3: t[which].dtype = code == 3 ? -5 : code; break;
    case 4: t[which].rank = code == 3 ? 2 : code; break;
    case 5: spec.mode = code; break;
    case 6: spec.padding = code; break;
    case 7: (random.one_in(2) ? spec.layout : spec.align_corners) = code; break;
    case 8: (random.one_in(2) ? spec.rounding : random.one_in(2) ? spec.nonfinite : random.one_in(2) ? spec.unnormalise
                                                                  : random.one_in(2) ? spec.reflection : spec.border_slope) = code; break;
    case 9: spec.cubic_coeff_a = random.one_in(2) ? std::nan("") : HUGE_VAL; break;
    case 10:  // another shape than the memory has: only if it is refused does nothing bad happen
      if (number == t[which].shape[axis] || (number >= 0 && number <= 3 && which == 0)) return;
      t[which].shape[axis] = number;
      // x alone is free in its channels and pixels; a larger one would be read, so only lengths no memory has.
      if (which == 0 && number > 3) t[which].stride[axis] = INT64_MAX / 3;
      certain = false;
      if (which == 0 && number > 3 && number < (int64_t{1} << 40)) return;
      if (which != 0 && number == 0) return;
      break;
    case 11: t[2] = random.one_in(2) ? t[0] : t[1]; certain = false; break;  // the output over an input, or of its shape
    default: {
      const auto other = static_cast<int>((t[which].dtype + 1 + random.below(6)) % 7);
      if (size_of(other) > size_of(t[which].dtype)) return;
      t[which].dtype = other;
      certain = false;
    }
  }
  const gw_status forward = gw_grid_sample(s, p[0], p[1], p[2]);
  const bool failed = forward != GW_OK;
  if (certain && !failed) ++failures, std::fprintf(stderr, "a wrong call was taken\n");
  if (failed) {
    ++refused;
    CHECK(out.untouched());
    CHECK(forward >= GW_ERROR_SHAPE && forward <= GW_ERROR_MEMORY);
    CHECK(std::strlen(gw_last_error()) > 10);
    CHECK(std::strcmp(gw_status_name(forward), "unknown") != 0);
  }
  CHECK(x.same_as(x_before) && grid.same_as(grid_before));
  if (!failed) return;

  // The same tensors as a gradient: what was the output is its gradient, an input.
  const gw_status backward = gw_grid_sample_backward(s, p[2], p[0], p[1], grad_x.tensor(), grad_grid.tensor());
  if (certain && backward == GW_OK) ++failures, std::fprintf(stderr, "a wrong gradient was taken\n");
  if (backward != GW_OK) CHECK(grad_x.untouched() && grad_grid.untouched());
  CHECK(gw_grid_sample_backward(&spec, out.tensor(), x.tensor(), grid.tensor(), nullptr, nullptr) != GW_OK);
  gw_plan* plan = reinterpret_cast<gw_plan*>(&spec);
  const gw_status planned = gw_grid_sample_plan(s, p[0], p[1], p[2], &plan);
  if (planned == GW_OK) gw_plan_destroy(plan);
}

void affine_call(Random& random) {
  const int dtype = static_cast<int>(random.below(5));  // one of them, uint8, is refused
  const int64_t n = random.below(3), h = length(random), w = length(random), axes = random.one_in(2) ? 2 : 3;
  const Lies lies = some_lies(random);
  const Lies unshared = lies == Lies::shared ? Lies::dense : lies;
  std::vector<int64_t> shape = {n + random.one_in(9), h, w, axes + random.one_in(9)};
  if (axes == 3 && !random.one_in(9)) shape.insert(shape.begin() + 1, random.below(5));
  Array theta(dtype, {n, axes, axes + 1}, lies), grid(dtype, shape, unshared);
  Array back(dtype, {n, axes, axes + 1}, unshared);
  for (int64_t i = 0; i < theta.count(); ++i) theta.set(i, random.one_in(9) && is_float(dtype) ? std::nan("") : random.uniform(0, 3));
  const auto before = theta.bytes();
  const gw_status status = gw_affine_grid(theta.tensor(), static_cast<int32_t>(random.below(2)), static_cast<int32_t>(random.below(3)), grid.tensor());
  CHECK(grid.surroundings_intact() && theta.same_as(before));
  if (status != GW_OK) {
    CHECK(grid.untouched());
    ++refused;
  }
  const gw_status backward = gw_affine_grid_backward(grid.tensor(), static_cast<int32_t>(random.below(2)), static_cast<int32_t>(random.below(3)), back.tensor());
  CHECK(back.surroundings_intact());
  if (backward != GW_OK) CHECK(back.untouched());
  gw_affine_grid(random.one_in(2) ? nullptr : theta.tensor(), 0, 0, nullptr);
  gw_affine_grid_backward(nullptr, 0, 0, back.tensor());
}

void double_call(Random& random) {
  const gw_grid_sample_spec spec = some_spec(random);
  const Pair types = pairs[random.below(6)];  // floats
  if (random.one_in(3)) {
    const Sizes z = {1 + random.below(2), 1 + random.below(20), 1 + random.below(5), 1 + random.below(5), 1 + random.below(4), 1 + random.below(4)};
    const Spatial spatial = {static_cast<int>(1 + random.below(3)), 1 + random.below(4), 1 + random.below(4)};
    if (!wrong_double_call(spec, types, z, spatial, random)) ++failures, std::fprintf(stderr, "a wrong second gradient was taken, or wrote\n");
    ++refused;
    return;
  }
  Sizes z = {random.one_in(20) ? 0 : 1 + random.below(3), length(random), at_least_one(length(random)), at_least_one(length(random)),
             length(random), length(random)};
  Spatial spatial = {static_cast<int>(1 + random.below(3)), 1, 1};
  if (spatial.axes == 3) spatial.depth = 1 + random.below(6), spatial.out_depth = random.below(5), z.c = z.c > 20 ? 20 : z.c;
  if (random.one_in(20)) z = {1, 1 + random.below(40), 40 + random.below(40), 40 + random.below(40), 60 + random.below(30), 70};  // shared out
  const DoubleCall call = {spec, types, z, spatial, static_cast<Points>(random.below(static_cast<int64_t>(Points::count))),
                           some_lies(random), some_lies(random), some_lies(random), random.one_in(2), random.one_in(10)};
  if (random.one_in(3)) gw_set_local_num_threads(static_cast<int32_t>(1 + random.below(5)));
  call.run(random.bits());
  ++good;
}

void planned_call(Random& random) {
  Sizes z = {1 + random.below(3), length(random), at_least_one(length(random)), at_least_one(length(random)), length(random), length(random)};
  if (random.one_in(3)) z.axes = 3, z.d = 1 + random.below(6), z.h = 1 + random.below(9), z.ho = random.below(9), z.depth_out = random.below(9);
  gw_grid_sample_spec spec = some_spec(random);
  const PlannedCall call = {spec, pairs[random.below(pair_count)], z, static_cast<Points>(random.below(static_cast<int64_t>(Points::count))),
                            some_lies(random), some_lies(random), random.one_in(2), random.one_in(10)};
  if (random.one_in(3)) gw_set_local_num_threads(static_cast<int32_t>(1 + random.below(5)));
  call.run(random.bits());
  ++good;
}

// Numbers that a transform may have: sane ones, and any.
double coefficient(Random& random) {
  static const double strange[] = {0, 1e-300, 1e300, -1e300, 32768, -65536, 2147483648.0, 9.3e18, HUGE_VAL, -HUGE_VAL};
  if (random.one_in(6)) return random.one_in(8) ? std::nan("") : strange[random.below(10)];
  return random.one_in(2) ? random.uniform(-2, 2) : random.uniform(-60, 60);
}

void transform_call(Random& random) {
  if (random.one_in(5)) return premultiply_call(random);
  const Lies lies = some_lies(random);
  const auto unshared = [&] {
    const Lies l = some_lies(random);
    return l == Lies::shared ? Lies::dense : l;
  };
  if (random.one_in(3)) gw_set_local_num_threads(static_cast<int32_t>(1 + random.below(5)));
  if (random.one_in(2)) {
    static const int types[] = {GW_UINT8, GW_UINT16, GW_INT32, GW_FLOAT32};
    gw_pillow_transform_spec spec = {static_cast<int32_t>(random.below(3)), static_cast<int32_t>(random.below(3)), static_cast<int32_t>(random.below(2)), {}, {}};
    for (int64_t& v : spec.box) v = random.one_in(8) ? (random.one_in(2) ? INT64_MIN : INT64_MAX) : random.below(50) - 5;
    for (double& a : spec.coefficients) a = coefficient(random);
    const PillowCall call = {spec, types[random.below(4)], at_least_one(length(random)), at_least_one(length(random)), length(random), length(random),
                             random.below(5), lies == Lies::shared ? Lies::dense : lies, unshared()};
    call.run(random.bits(), false);
  } else {
    static const int types[] = {GW_UINT8, GW_INT32, GW_INT64, GW_FLOAT32, GW_FLOAT64, GW_FLOAT16, GW_BFLOAT16};
    const ProjectiveCall call = {{static_cast<int32_t>(random.below(2)), static_cast<int32_t>(random.below(4)), coefficient(random)}, types[random.below(7)],
                                 random.below(3), at_least_one(length(random)), at_least_one(length(random)), random.below(5), length(random), length(random),
                                 random.one_in(2), lies, unshared()};
    call.run(random.bits(), random.one_in(2) ? 100 : 1e30, false);
  }
  ++good;
}

}  // namespace

int main(int count, char** arguments) {
  double seconds = 5;
  uint64_t seed = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  int64_t most_calls = INT64_MAX;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    if (name == "--seconds") seconds = std::atof(arguments[i + 1]);
    if (name == "--seed") seed = std::strtoull(arguments[i + 1], nullptr, 10);
    if (name == "--calls") most_calls = std::atoll(arguments[i + 1]), seconds = 1e9;
  }
  std::printf("seed %llu, kernels %s\n", static_cast<unsigned long long>(seed), gw_isa());
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  int64_t calls = 0;
  for (; calls < most_calls && failures == 0; ++calls) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    Random random(seed + static_cast<uint64_t>(calls) * 0x9e3779b97f4a7c15u);
    const int64_t kind = random.below(16);
    if (kind < 6) right_call(random);
    else if (kind < 9) wrong_call(random);
    else if (kind < 10) affine_call(random);
    else if (kind < 12) double_call(random);
    else if (kind < 14) planned_call(random);
    else transform_call(random);
    if (failures) std::fprintf(stderr, "call %lld of seed %llu\n", static_cast<long long>(calls), static_cast<unsigned long long>(seed));
  }
  std::printf("%lld calls: %lld judged, %lld refused, %d failures\n", static_cast<long long>(calls), static_cast<long long>(good),
              static_cast<long long>(refused), failures.load());
  return failures == 0 ? 0 : 1;
}
