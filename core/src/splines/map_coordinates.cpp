// SPDX-License-Identifier: Apache-2.0
// map_coordinates, affine maps and the spline filter: rules of the arguments, coordinates a tile at a time, sampling.
#include "splines/map_coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "splines/basis.hpp"
#include "splines/coefficients.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

constexpr int64_t longest = int64_t{1} << 30;  // of an axis: indices and their taps stay in 32 bits

void check_code(const char* name, int32_t code, int32_t last) {
  if (code < 0 || code > last) fail(GW_ERROR_ARGUMENT, "%s has code %d; the codes are 0 to %d", name, code, last);
}

void check_spec(const gw_spline_spec& spec) {
  if (spec.order < 0 || spec.order > 5) fail(GW_ERROR_ARGUMENT, "order must be 0 to 5; got %d", spec.order);
  check_code("boundary", spec.boundary, GW_SPLINE_WRAP);
  check_code("basis", spec.basis, GW_BASIS_INTERPOLATING);
  check_code("prefilter", spec.prefilter, 1);
  check_code("taps_only", spec.taps_only, 1);
  check_code("half_away", spec.half_away, 1);
  check_code("reflect_in_place", spec.reflect_in_place, 1);
  check_code("diagonal", spec.diagonal, 1);
  if (spec.basis == GW_BASIS_INTERPOLATING && spec.order > 3)
    fail(GW_ERROR_UNSUPPORTED, "order must be 0 to 3 with the interpolating basis; got %d", spec.order);
}

void check_type(const char* name, int32_t dtype) {
  if (kernels().splines.direct[dtype] == nullptr)
    fail(GW_ERROR_DTYPE, "%s must be float32, float64, int8 to int64, uint8 or uint16; got %s", name,
         type_name(dtype));
}

struct Prepared {
  SplineJob job;
  SplinePiece kernel;
  Coefficients coefficients;
};

// Checks x and out, and lays out what is sampled.
gw_status prepare(const gw_spline_spec& spec, const gw_tensor& x, const gw_tensor& out, Prepared& p) {
  check_spec(spec);
  check_tensor("x", x, false);
  check_tensor("out", out, false);
  check_type("x", x.dtype);
  check_type("out", out.dtype);
  if (x.rank < 1) fail(GW_ERROR_SHAPE, "x must have 1 to 5 axes; got none");
  for (int32_t a = 0; a < x.rank; ++a)
    if (x.shape[a] < 1 || x.shape[a] >= longest)
      fail(GW_ERROR_SHAPE, "x must have axes of 1 to 2^30 - 1 samples to be sampled; got %s", shape_text(x).c_str());
  check_writable("out", out);
  check_no_overlap("out", out, "x", x);

  SplineJob& job = p.job;
  job = {};
  job.rank = x.rank;
  job.taps = spec.order + 1;
  job.half_away = spec.half_away;
  job.cval = spec.cval;
  const bool still = spec.taps_only || spec.boundary == GW_SPLINE_NEAREST || spec.boundary == GW_SPLINE_GRID_CONSTANT;
  job.folding = still ? -1 : spec.boundary;
  job.taps_boundary = spec.boundary;
  if (spec.boundary == GW_SPLINE_CONSTANT) job.taps_boundary = still ? GW_SPLINE_GRID_CONSTANT : GW_SPLINE_MIRROR;
  if (spec.boundary == GW_SPLINE_WRAP) job.taps_boundary = still ? GW_SPLINE_GRID_WRAP : GW_SPLINE_MIRROR;
  spline_weights(spec.order, spec.basis, job.weights);

  const bool filtered = spec.prefilter && spec.order > 1 && spec.basis == GW_BASIS_B_SPLINE;
  if (!filtered) {
    std::copy(x.shape, x.shape + x.rank, job.length);
    std::copy(x.stride, x.stride + x.rank, job.stride);
    job.samples = x.data;
    p.kernel = kernels().splines.direct[x.dtype];
    return GW_OK;
  }
  job.before = still ? 2 * job.taps + 2 : (job.taps + 1) / 2;
  p.kernel = kernels().splines.rows[job.taps];
  return make_coefficients(spec, x, job, p.coefficients);
}

// In nanoseconds: a tap is a load and a product; coordinates and weights are a few dozen operations of vectors.
double cost_of(const SplineJob& job, int64_t points) {
  return (double)points * (4.0 * job.rank + 0.5 * std::pow((double)job.taps, (double)job.rank));
}

gw_status outcome_of(Outcome outcome) { return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK; }

template <class X>
gw_status sample_points(const Prepared& p, const gw_tensor& coordinates, const gw_tensor& out) {
  const int64_t points = out.shape[0], piece = 32 * spline_tile, pieces = (points + piece - 1) / piece;
  const X* from = static_cast<const X*>(coordinates.data);
  const auto store = kernels().splines.store[out.dtype];
  const int64_t bytes = type_size(out.dtype), step = coordinates.stride[1];
  return outcome_of(parallel_for(pieces, cost_of(p.job, points), [&](int64_t at, int) {
    alignas(64) double c[GW_MAX_RANK][spline_tile], value[spline_tile];
    const int64_t end = std::min(points, (at + 1) * piece);
    for (int64_t first = at * piece; first < end; first += spline_tile) {
      const int64_t count = std::min<int64_t>(spline_tile, end - first);
      for (int32_t a = 0; a < p.job.rank; ++a) {
        const X* q = from + a * coordinates.stride[0] + first * step;
        if (step == 1)
          for (int64_t k = 0; k < count; ++k) c[a][k] = (double)q[k];
        else
          for (int64_t k = 0; k < count; ++k) c[a][k] = (double)q[k * step];
      }
      p.kernel(p.job, c, count, value);
      store(value, static_cast<char*>(out.data) + first * out.stride[0] * bytes, out.stride[0], count);
    }
  }));
}

// Coordinates of a row of out along its last axis: the constant first, then axis by axis, as SciPy adds them up.
struct AffineRow {
  double matrix[GW_MAX_RANK][GW_MAX_RANK + 1];
  int32_t rank;
  bool diagonal;

  void operator()(const int64_t* index, int64_t first, int64_t count, double (*c)[spline_tile]) const {
    const int32_t last = rank - 1;
    for (int32_t a = 0; a < rank; ++a) {
      const double* m = matrix[a];
      if (diagonal) {
        if (a == last) {
          for (int64_t k = 0; k < count; ++k) c[a][k] = ((double)(first + k) + m[rank]) * m[a];
        } else {
          std::fill(c[a], c[a] + count, ((double)index[a] + m[rank]) * m[a]);
        }
        continue;
      }
      double sum = m[rank];
      for (int32_t b = 0; b < last; ++b) sum += m[b] * (double)index[b];
      for (int64_t k = 0; k < count; ++k) c[a][k] = sum + m[last] * (double)(first + k);
    }
  }
};

gw_status sample_rows(const Prepared& p, const AffineRow& row, const gw_tensor& out) {
  const int32_t last = out.rank - 1;
  const int64_t width = out.shape[last], bytes = type_size(out.dtype);
  int64_t rows = 1;
  for (int32_t a = 0; a < last; ++a) rows *= out.shape[a];
  if (rows == 0 || width == 0) return GW_OK;
  const int64_t tiles = (width + spline_tile - 1) / spline_tile, together = std::max<int64_t>(1, 4096 / width);
  const int64_t pieces = (rows + together - 1) / together;
  const auto store = kernels().splines.store[out.dtype];
  return outcome_of(parallel_for(pieces, cost_of(p.job, rows * width), [&](int64_t piece, int) {
    alignas(64) double c[GW_MAX_RANK][spline_tile], value[spline_tile];
    for (int64_t r = piece * together; r < std::min(rows, (piece + 1) * together); ++r) {
      int64_t index[GW_MAX_RANK] = {}, number = r, offset = 0;
      for (int32_t a = last - 1; a >= 0; --a) {
        index[a] = number % out.shape[a];
        number /= out.shape[a];
        offset += index[a] * out.stride[a];
      }
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t first = t * spline_tile, count = std::min<int64_t>(spline_tile, width - first);
        row(index, first, count, c);
        p.kernel(p.job, c, count, value);
        store(value, static_cast<char*>(out.data) + (offset + first * out.stride[last]) * bytes, out.stride[last], count);
      }
    }
  }));
}

}  // namespace

gw_status map_coordinates(const gw_spline_spec& spec, const gw_tensor& x, const gw_tensor& coordinates,
                          const gw_tensor& out) {
  check_tensor("coordinates", coordinates, false);
  if (coordinates.rank != 2 || coordinates.shape[0] != x.rank)
    fail(GW_ERROR_SHAPE, "coordinates must have shape (%d, points), one row for each axis of x; got %s", x.rank,
         shape_text(coordinates).c_str());
  if (coordinates.dtype != GW_FLOAT32 && coordinates.dtype != GW_FLOAT64)
    fail(GW_ERROR_DTYPE, "coordinates must be float32 or float64; got %s", type_name(coordinates.dtype));
  if (out.rank != 1 || out.shape[0] != coordinates.shape[1])
    fail(GW_ERROR_SHAPE, "out must have shape (points,), %lld of them; got %s", (long long)coordinates.shape[1],
         shape_text(out).c_str());
  Prepared p;
  if (const gw_status status = prepare(spec, x, out, p); status != GW_OK) return status;
  check_no_overlap("out", out, "coordinates", coordinates);
  return coordinates.dtype == GW_FLOAT32 ? sample_points<float>(p, coordinates, out)
                                         : sample_points<double>(p, coordinates, out);
}

gw_status map_affine(const gw_spline_spec& spec, const gw_tensor& x, const gw_tensor& matrix, const gw_tensor& out) {
  check_tensor("matrix", matrix, false);
  if (matrix.rank != 2 || matrix.shape[0] != x.rank || matrix.shape[1] != x.rank + 1)
    fail(GW_ERROR_SHAPE, "matrix must have shape (%d, %d) for x of %d axes; got %s", x.rank, x.rank + 1, x.rank,
         shape_text(matrix).c_str());
  if (matrix.dtype != GW_FLOAT64)
    fail(GW_ERROR_DTYPE, "matrix must be float64; got %s", type_name(matrix.dtype));
  if (out.rank != x.rank)
    fail(GW_ERROR_SHAPE, "out must have the %d axes of x; got %s", x.rank, shape_text(out).c_str());
  Prepared p;
  if (const gw_status status = prepare(spec, x, out, p); status != GW_OK) return status;
  check_no_overlap("out", out, "matrix", matrix);
  AffineRow row = {{}, x.rank, spec.diagonal != 0};
  for (int32_t a = 0; a < x.rank; ++a)
    for (int32_t b = 0; b <= x.rank; ++b)
      row.matrix[a][b] = static_cast<const double*>(matrix.data)[a * matrix.stride[0] + b * matrix.stride[1]];
  return sample_rows(p, row, out);
}

gw_status spline_filter(const gw_spline_spec& spec, const gw_tensor& x, int32_t axis) {
  check_spec(spec);
  check_tensor("x", x, false);
  if (x.dtype != GW_FLOAT64) fail(GW_ERROR_DTYPE, "x must be float64; got %s", type_name(x.dtype));
  if (axis < 0 || axis >= x.rank)
    fail(GW_ERROR_ARGUMENT, "axis must be 0 to %d for x of shape %s; got %d", x.rank - 1, shape_text(x).c_str(), axis);
  check_writable("x", x);
  if (x.shape[axis] < 2 || element_count(x) == 0) return GW_OK;
  const double gain = spline_gain(spec.order);
  double* data = static_cast<double*>(x.data);
  const int32_t rank = x.rank;
  int64_t index[GW_MAX_RANK] = {};
  for (int64_t left = element_count(x); left > 0; --left) {  // in the order of memory where it is contiguous
    int64_t offset = 0;
    for (int32_t a = 0; a < rank; ++a) offset += index[a] * x.stride[a];
    data[offset] *= gain;
    for (int32_t a = rank - 1; a >= 0 && ++index[a] == x.shape[a]; --a) index[a] = 0;
  }
  return filter_axis(spec, data, rank, x.shape, x.stride, axis);
}

}  // namespace gw
