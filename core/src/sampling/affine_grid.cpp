// SPDX-License-Identifier: Apache-2.0
// grid[n, i, j, k] = theta[n, k, 0] x_j + theta[n, k, 1] y_i + theta[n, k, 2], and its adjoint. Sums are in double, with
// one rounding at the store: theta is six numbers, so the double costs nothing and no order of terms shows.
#include "sampling/affine_grid.hpp"

#include <vector>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

// Normalised positions of the samples of one axis.
std::vector<double> positions(int64_t size, bool align_corners, bool singleton_zero) {
  std::vector<double> p((size_t)size);
  for (int64_t i = 0; i < size; ++i)
    p[(size_t)i] = align_corners ? (size > 1 ? 2.0 * (double)i / (double)(size - 1) - 1.0 : (singleton_zero ? 0.0 : -1.0))
                                 : (2.0 * (double)i + 1.0) / (double)size - 1.0;
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
  if (theta.rank != 3 || theta.shape[1] != 2 || theta.shape[2] != 3)
    fail(GW_ERROR_SHAPE, "%s must have shape (N, 2, 3); got %s", theta_name, shape_text(theta).c_str());
  if (grid.rank != 4 || grid.shape[3] != 2)
    fail(GW_ERROR_SHAPE, "%s must have shape (N, H, W, 2); got %s", grid_name, shape_text(grid).c_str());
  if (theta.shape[0] != grid.shape[0])
    fail(GW_ERROR_SHAPE, "%s and %s must have one batch size, that of size; got %s and %s", theta_name, grid_name,
         shape_text(theta).c_str(), shape_text(grid).c_str());
  if (!is_float(theta.dtype) && theta.dtype == grid.dtype)
    fail(GW_ERROR_DTYPE, "%s must be float16, bfloat16, float32 or float64; got %s", theta_name, type_name(theta.dtype));
  if (!is_float(theta.dtype) || theta.dtype != grid.dtype)
    fail(GW_ERROR_DTYPE, "%s and %s must have one float dtype; got %s and %s", theta_name, grid_name,
         type_name(theta.dtype), type_name(grid.dtype));
}

// Writes theta x + y + 1 along a row; the common dtypes without a switch per value.
template <class T>
void write_row(T* out, int64_t step, int64_t k_step, const std::vector<double>& x, double y, const double t[6]) {
  const double a = t[1] * y + t[2], b = t[4] * y + t[5];
  for (size_t j = 0; j < x.size(); ++j) {
    out[(int64_t)j * step] = (T)(t[0] * x[j] + a);
    out[(int64_t)j * step + k_step] = (T)(t[3] * x[j] + b);
  }
}

}  // namespace

gw_status affine_grid(const gw_tensor& theta, bool align_corners, bool singleton_zero, const gw_tensor& out) {
  check_pair("theta", theta, "the grid", out);
  check_writable("out", out);
  check_no_overlap("out", out, "theta", theta);
  const int64_t height = out.shape[1], width = out.shape[2];
  if (element_count(out) == 0) return GW_OK;
  const std::vector<double> x = positions(width, align_corners, singleton_zero);
  const std::vector<double> y = positions(height, align_corners, singleton_zero);
  const Outcome outcome = parallel_for(out.shape[0] * height, (double)element_count(out) * 0.5, [&](int64_t piece, int) {
    const int64_t n = piece / height, i = piece % height;
    double t[6];
    for (int k = 0; k < 6; ++k)
      t[k] = load(theta, n * theta.stride[0] + k / 3 * theta.stride[1] + k % 3 * theta.stride[2]);
    const int64_t at = n * out.stride[0] + i * out.stride[1];
    const double yi = y[(size_t)i];
    if (out.dtype == GW_FLOAT32) {
      write_row(static_cast<float*>(out.data) + at, out.stride[2], out.stride[3], x, yi, t);
    } else if (out.dtype == GW_FLOAT64) {
      write_row(static_cast<double*>(out.data) + at, out.stride[2], out.stride[3], x, yi, t);
    } else {
      for (int64_t j = 0; j < width; ++j)
        for (int k = 0; k < 2; ++k)
          store(out, at + j * out.stride[2] + k * out.stride[3],
                t[3 * k] * x[(size_t)j] + (t[3 * k + 1] * yi + t[3 * k + 2]));
    }
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

gw_status affine_grid_backward(const gw_tensor& grad, bool align_corners, bool singleton_zero,
                               const gw_tensor& grad_theta) {
  check_pair("grad_theta", grad_theta, "grad_output", grad);
  check_writable("grad_theta", grad_theta);
  check_no_overlap("grad_theta", grad_theta, "grad_output", grad);
  const std::vector<double> x = positions(grad.shape[2], align_corners, singleton_zero);
  const std::vector<double> y = positions(grad.shape[1], align_corners, singleton_zero);
  const Outcome outcome = parallel_for(grad.shape[0], (double)element_count(grad) * 1.0, [&](int64_t n, int) {
    double sum[2][3] = {};
    for (int64_t i = 0; i < grad.shape[1]; ++i) {
      for (int k = 0; k < 2; ++k) {
        double along = 0, total = 0;  // of this row
        for (int64_t j = 0; j < grad.shape[2]; ++j) {
          const double g = load(grad, n * grad.stride[0] + i * grad.stride[1] + j * grad.stride[2] + k * grad.stride[3]);
          along += g * x[(size_t)j];
          total += g;
        }
        sum[k][0] += along;
        sum[k][1] += total * y[(size_t)i];
        sum[k][2] += total;
      }
    }
    for (int k = 0; k < 2; ++k)
      for (int m = 0; m < 3; ++m)
        store(grad_theta, n * grad_theta.stride[0] + k * grad_theta.stride[1] + m * grad_theta.stride[2], sum[k][m]);
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

}  // namespace gw
