// SPDX-License-Identifier: Apache-2.0
// grid[n, i, j, k] = theta[n, k, 0] x_j + theta[n, k, 1] y_i + theta[n, k, 2], with a z before the last term for volumes,
// and its adjoint. Sums are in double, with one rounding at the store: theta is six or twelve numbers, so the double
// costs nothing and no order of terms shows.
#include "sampling/affine_grid.hpp"

#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

// Normalised positions of the samples of one axis.
std::vector<double> positions(int64_t size, bool align_corners, int32_t singleton) {
  std::vector<double> p((size_t)size);
  for (int64_t i = 0; i < size; ++i)
    p[(size_t)i] = !align_corners ? (2.0 * (double)i + 1.0) / (double)size - 1.0
                   : size > 1     ? 2.0 * (double)i / (double)(size - 1) - 1.0
                                  : (double)(singleton - 1);
  return p;
}

double load(const gw_tensor& t, int64_t offset) {
  switch (t.dtype) {
    case GW_FLOAT64: return static_cast<const double*>(t.data)[offset];
    case GW_FLOAT32: return static_cast<const float*>(t.data)[offset];
    default: {
      float value;
      kernels().widen(t.dtype, static_cast<const uint16_t*>(t.data) + offset, &value, 1);
      return value;
    }
  }
}

void store(const gw_tensor& t, int64_t offset, double value) {
  switch (t.dtype) {
    case GW_FLOAT64: static_cast<double*>(t.data)[offset] = value; break;
    case GW_FLOAT32: static_cast<float*>(t.data)[offset] = (float)value; break;
    default: {
      const float f = (float)value;
      kernels().narrow(t.dtype, &f, static_cast<uint16_t*>(t.data) + offset, 1);
    }
  }
}

void check_pair(const char* theta_name, const gw_tensor& theta, const char* grid_name, const gw_tensor& grid) {
  check_tensor(theta_name, theta, false);
  check_tensor(grid_name, grid, false);
  const int64_t axes = theta.rank == 3 ? theta.shape[1] : 0;
  if ((axes != 2 && axes != 3) || theta.shape[2] != axes + 1)
    fail(GW_ERROR_SHAPE, "%s must have shape (N, 2, 3), or (N, 3, 4) for volumes; got %s", theta_name,
         shape_text(theta).c_str());
  if (grid.rank != axes + 2 || grid.shape[grid.rank - 1] != axes)
    fail(GW_ERROR_SHAPE, "%s must have shape %s where %s is %s; got %s", grid_name,
         axes == 2 ? "(N, H, W, 2)" : "(N, D, H, W, 3)", theta_name, shape_text(theta).c_str(), shape_text(grid).c_str());
  if (theta.shape[0] != grid.shape[0])
    fail(GW_ERROR_SHAPE, "%s and %s must have one batch size, that of size; got %s and %s", theta_name, grid_name,
         shape_text(theta).c_str(), shape_text(grid).c_str());
  if (!is_float(theta.dtype) && theta.dtype == grid.dtype)
    fail(GW_ERROR_DTYPE, "%s must be float16, bfloat16, float32 or float64; got %s", theta_name, type_name(theta.dtype));
  if (!is_float(theta.dtype) || theta.dtype != grid.dtype)
    fail(GW_ERROR_DTYPE, "%s and %s must have one float dtype; got %s and %s", theta_name, grid_name,
         type_name(theta.dtype), type_name(grid.dtype));
}

void check_singleton(int32_t singleton) {
  if (singleton < GW_SINGLETON_MINUS_ONE || singleton > GW_SINGLETON_PLUS_ONE)
    fail(GW_ERROR_ARGUMENT, "singleton has code %d; the codes are 0 to %d", singleton, GW_SINGLETON_PLUS_ONE);
}

// (N, D, H, W, k): an image's depth is 1.
gw_tensor as_volume(const gw_tensor& grid) {
  gw_tensor r = grid;
  if (grid.rank == 5) return r;
  r.rank = 5;
  r.shape[1] = 1;
  r.stride[1] = 0;
  for (int a = 1; a < 4; ++a) {
    r.shape[a + 1] = grid.shape[a];
    r.stride[a + 1] = grid.stride[a];
  }
  return r;
}

struct Axes {
  std::vector<double> x, y, z;
  Axes(const gw_tensor& grid, bool align_corners, int32_t singleton)
      : x(positions(grid.shape[3], align_corners, singleton)), y(positions(grid.shape[2], align_corners, singleton)),
        z(positions(grid.shape[1], align_corners, singleton)) {}
};

// A row of x of the result's coordinate k; the common dtypes without a switch per value.
template <class T>
void write_row(T* out, int64_t step, const std::vector<double>& x, double slope, double offset) {
  for (size_t j = 0; j < x.size(); ++j) out[(int64_t)j * step] = (T)(slope * x[j] + offset);
}

}  // namespace

gw_status affine_grid(const gw_tensor& theta, bool align_corners, int32_t singleton, const gw_tensor& given) {
  check_singleton(singleton);
  check_pair("theta", theta, "the grid", given);
  check_writable("out", given);
  check_no_overlap("out", given, "theta", theta);
  if (element_count(given) == 0) return GW_OK;
  const gw_tensor out = as_volume(given);
  const int axes = (int)theta.shape[1];
  const int64_t depth = out.shape[1], height = out.shape[2], width = out.shape[3];
  const Axes at(out, align_corners, singleton);
  const Outcome outcome =
      parallel_for(out.shape[0] * depth * height, (double)element_count(out) * 0.5, [&](int64_t piece, int) {
        const int64_t n = piece / height / depth, d = piece / height % depth, i = piece % height;
        const int64_t start = n * out.stride[0] + d * out.stride[1] + i * out.stride[2];
        for (int k = 0; k < axes; ++k) {
          double t[4];
          for (int m = 0; m <= axes; ++m)
            t[m] = load(theta, n * theta.stride[0] + k * theta.stride[1] + m * theta.stride[2]);
          const double last = axes == 3 ? t[2] * at.z[(size_t)d] + t[3] : t[2];
          const double offset = t[1] * at.y[(size_t)i] + last;
          const int64_t to = start + k * out.stride[4];
          if (out.dtype == GW_FLOAT32) {
            write_row(static_cast<float*>(out.data) + to, out.stride[3], at.x, t[0], offset);
          } else if (out.dtype == GW_FLOAT64) {
            write_row(static_cast<double*>(out.data) + to, out.stride[3], at.x, t[0], offset);
          } else {
            for (int64_t j = 0; j < width; ++j) store(out, to + j * out.stride[3], t[0] * at.x[(size_t)j] + offset);
          }
        }
      });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

gw_status affine_grid_backward(const gw_tensor& given, bool align_corners, int32_t singleton,
                               const gw_tensor& grad_theta) {
  check_singleton(singleton);
  check_pair("grad_theta", grad_theta, "grad_output", given);
  check_writable("grad_theta", grad_theta);
  check_no_overlap("grad_theta", grad_theta, "grad_output", given);
  const gw_tensor grad = as_volume(given);
  const int axes = (int)grad_theta.shape[1];
  const Axes at(grad, align_corners, singleton);
  const Outcome outcome = parallel_for(grad.shape[0], (double)element_count(grad) * 1.0, [&](int64_t n, int) {
    for (int k = 0; k < axes; ++k) {
      double sum[4] = {};  // of x, y, z, 1
      for (int64_t d = 0; d < grad.shape[1]; ++d) {
        double plane = 0;
        for (int64_t i = 0; i < grad.shape[2]; ++i) {
          const int64_t row = n * grad.stride[0] + d * grad.stride[1] + i * grad.stride[2] + k * grad.stride[4];
          double along = 0, total = 0;  // of this row
          for (int64_t j = 0; j < grad.shape[3]; ++j) {
            const double g = load(grad, row + j * grad.stride[3]);
            along += g * at.x[(size_t)j];
            total += g;
          }
          sum[0] += along;
          sum[1] += total * at.y[(size_t)i];
          plane += total;
        }
        sum[2] += plane * at.z[(size_t)d];
        sum[3] += plane;
      }
      for (int m = 0; m <= axes; ++m)
        store(grad_theta, n * grad_theta.stride[0] + k * grad_theta.stride[1] + m * grad_theta.stride[2],
              m == axes ? sum[3] : sum[m]);
    }
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

}  // namespace gw
