// SPDX-License-Identifier: Apache-2.0
//
// Offsets past 2^31 elements, without the memory: pages that nobody writes are not there. A few pixels are written in the
// far corners, and sampled. Numbers of 2^31 and more for W, for H, for C and for a batch's stride, in both layouts.
#include <sys/mman.h>

#include "check.hpp"
#include "definition.hpp"

namespace {

// Zeros, as many as you like.
struct Sparse {
  explicit Sparse(int64_t bytes) : size(static_cast<size_t>(bytes)) {
    void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data = p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
  }
  ~Sparse() {
    if (data) munmap(data, size);
  }
  Sparse(const Sparse&) = delete;
  size_t size;
  uint8_t* data;
};

int skipped = 0;

gw_tensor image(void* data, int dtype, int64_t n, int64_t c, int64_t h, int64_t w, bool last) {
  gw_tensor t = {};
  t.data = data;
  t.dtype = dtype;
  t.rank = 4;
  const int64_t planar[4] = {n, c, h, w}, interleaved[4] = {n, h, w, c};
  int64_t stride = 1;
  for (int i = 3; i >= 0; --i) {
    t.shape[i] = last ? interleaved[i] : planar[i];
    t.stride[i] = stride;
    stride *= t.shape[i];
  }
  return t;
}

// Samples the pixel (y, x), whose channels are written first, and its neighbours' means; double coordinates reach that far.
template <class T>
void check_corner(int dtype, int mode, int padding, int64_t c, int64_t h, int64_t w, bool last) {
  const Sparse memory(c * h * w * static_cast<int64_t>(sizeof(T)));
  if (!memory.data) {
    std::fprintf(stderr, "no address space for %lld bytes\n", static_cast<long long>(memory.size));
    ++skipped;
    return;
  }
  const gw_tensor x = image(memory.data, dtype, 1, c, h, w, last);
  const auto put = [&](int64_t k, int64_t y, int64_t column, double value) {
    const int64_t at = last ? (y * w + column) * c + k : (k * h + y) * w + column;
    store(dtype, memory.data + at * static_cast<int64_t>(sizeof(T)), value);
  };
  const int64_t spots[4][2] = {{h - 1, w - 1}, {0, w - 1}, {h - 1, 0}, {h / 2, w / 2}};
  const int64_t ends[3] = {0, c / 2, c - 1};
  double points[8];
  float rough[8];
  for (int i = 0; i < 4; ++i) {
    for (int64_t k : ends) put(k, spots[i][0], spots[i][1], 10 * (i + 1) + static_cast<double>(k % 7));
    points[2 * i] = (2 * static_cast<double>(spots[i][1]) + 1) / static_cast<double>(w) - 1;
    points[2 * i + 1] = (2 * static_cast<double>(spots[i][0]) + 1) / static_cast<double>(h) - 1;
  }
  for (int i = 0; i < 8; ++i) rough[i] = static_cast<float>(points[i]);
  gw_tensor grid = {points, GW_FLOAT64, 4, {1, 2, 2, 2}, {8, 4, 2, 1}};
  if (dtype == GW_FLOAT32) {  // takes a float grid, which is a hundredth of a pixel off here
    grid.data = rough, grid.dtype = GW_FLOAT32;
    mode = GW_NEAREST;
  }
  std::vector<T> values(static_cast<size_t>(4 * c));
  const gw_tensor out = image(values.data(), dtype, 1, c, 2, 2, last);
  const gw_grid_sample_spec spec = {mode, padding, 0, last ? GW_NHWC : GW_NCHW, 0, 0, 0, 0, -0.75, 0, 0, 0};
  CHECK(gw_grid_sample(&spec, &x, &grid, &out) == GW_OK);
  for (int i = 0; i < 4; ++i)
    for (int64_t k : ends) {
      const T got = values[static_cast<size_t>(last ? i * c + k : k * 4 + i)];
      const double want = 10 * (i + 1) + static_cast<double>(k % 7);
      // The grid value rounds; on an axis of 2^32 pixels that is a millionth of a pixel.
      if (!(std::fabs(load(dtype, &got) - want) <= (is_float(dtype) ? 1e-3 : 0)))
        std::fprintf(stderr, "mode %d padding %d c %lld h %lld w %lld last %d: got %g, want %g\n", mode, padding,
                     (long long)c, (long long)h, (long long)w, last, load(dtype, &got), want);
      CHECK(std::fabs(load(dtype, &got) - want) <= (is_float(dtype) ? 1e-3 : 0));
    }
}

// The second image of a batch that begins 2^32 bytes later, a grid whose rows lie as far apart, and an output so too.
void check_strides() {
  const int64_t far = int64_t{1} << 32;
  const Sparse memory(4 * far), points(4 * far * 4);
  if (!memory.data || !points.data) {
    ++skipped;
    return;
  }
  gw_tensor x = {memory.data, GW_UINT8, 4, {2, 2, 3, 4}, {2 * far, far, 4, 1}};
  for (int64_t i = 0; i < 2 * 2 * 12; ++i) memory.data[i / 24 * 2 * far + i / 12 % 2 * far + i % 12] = static_cast<uint8_t>(i);
  auto* g = reinterpret_cast<float*>(points.data);
  gw_tensor grid = {g, GW_FLOAT32, 4, {2, 2, 4, 2}, {2 * far, far, 2, 1}};
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        g[n * 2 * far + i * far + 2 * j] = (2 * static_cast<float>(j) + 1) / 4 - 1;
        g[n * 2 * far + i * far + 2 * j + 1] = i ? 0.0f : -2.0f / 3.0f;
      }
  const Sparse results(4 * far);
  gw_tensor out = {results.data, GW_UINT8, 4, {2, 2, 2, 4}, {2 * far, far, far / 2, 1}};
  for (int mode = 0; mode < 3; ++mode) {
    const gw_grid_sample_spec spec = {mode, GW_BORDER, 0, 0, 0, 0, 0, 0, -0.75, 0, 0, 0};
    CHECK(results.data && gw_grid_sample(&spec, &x, &grid, &out) == GW_OK);
    for (int64_t i = 0; i < 2 * 2 * 2 * 4; ++i) {
      const int64_t n = i / 16, c = i / 8 % 2, row = i / 4 % 2, column = i % 4;
      CHECK(results.data[n * 2 * far + c * far + row * (far / 2) + column] == (n * 2 + c) * 12 + row * 4 + column);
    }
  }
}

// The gradient of the grid reads far away, that of the image would need all the memory.
void check_backward() {
  const int64_t h = 3, w = (int64_t{1} << 31) + 257;  // w - 1 is a float
  const Sparse memory(h * w * 4);
  if (!memory.data) {
    ++skipped;
    return;
  }
  const gw_tensor x = image(memory.data, GW_FLOAT32, 1, 1, h, w, false);
  auto* pixels = reinterpret_cast<float*>(memory.data);
  pixels[2 * w + w - 2] = 3;
  pixels[2 * w + w - 1] = 7;
  // A float grid cannot tell pixels apart here, so one beyond the corner with border padding: all of the last pixel.
  float points[2] = {1.5f, 1.5f}, one = 1, slope[2] = {5, 5};
  const gw_tensor grid = {points, GW_FLOAT32, 4, {1, 1, 1, 2}, {2, 2, 2, 1}}, grad_grid = {slope, GW_FLOAT32, 4, {1, 1, 1, 2}, {2, 2, 2, 1}};
  const gw_tensor grad = image(&one, GW_FLOAT32, 1, 1, 1, 1, false);
  for (int mode = 0; mode < 2; ++mode) {
    const gw_grid_sample_spec spec = {mode, GW_BORDER, 0, 0, 0, 0, 0, 0, -0.75, 0, 0, 0};
    float value = 0;
    const gw_tensor out = image(&value, GW_FLOAT32, 1, 1, 1, 1, false);
    CHECK(gw_grid_sample(&spec, &x, &grid, &out) == GW_OK);
    CHECK(value == 7);
    CHECK(gw_grid_sample_backward(&spec, &grad, &x, &grid, nullptr, &grad_grid) == GW_OK);
    CHECK(slope[0] == 0 && slope[1] == 0);
  }
}

}  // namespace

int main() {
  const int64_t past = (int64_t{1} << 31) + 11;
  for (int mode = 0; mode < 3; ++mode)
    for (const bool last : {false, true}) {
      check_corner<uint8_t>(GW_UINT8, mode, GW_BORDER, 3, 32771, 65537, last);  // H W just past 2^31
      check_corner<uint8_t>(GW_UINT8, mode, GW_BORDER, 1, 2, past, last);
      check_corner<uint8_t>(GW_UINT8, mode, GW_ZEROS, 2, past, 2, last);
      check_corner<float>(GW_FLOAT32, mode, GW_REFLECTION, 5, 30000, 30000, last);
      check_corner<uint16_t>(GW_UINT16, mode, GW_REFLECTION, 5, 30000, 30000, last);
      check_corner<double>(GW_FLOAT64, mode, GW_BORDER, 20, 3, 1 << 27, last);
    }
  check_strides();
  check_backward();
  std::printf("%d failures, %d without address space\n", failures.load(), skipped);
  return failures == 0 && skipped == 0 ? 0 : 1;
}
