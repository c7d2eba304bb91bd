// SPDX-License-Identifier: Apache-2.0
#include "splines/coefficients.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "splines/basis.hpp"
#include "splines/boundary.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"

namespace gw {
namespace {

constexpr double ns_per_pole = 1.0;  // of one sample: two passes

// The index of line `number` among all lines along `axis`, counted with the last axis fastest.
int64_t line_offset(int64_t number, int32_t rank, const int64_t* length, const int64_t* stride, int32_t axis) {
  int64_t offset = 0;
  for (int32_t a = rank - 1; a >= 0; --a) {
    if (a == axis) continue;
    offset += number % length[a] * stride[a];
    number /= length[a];
  }
  return offset;
}

// A sample of the source as its own dtype would hold the constant that SciPy pads with.
double as_dtype(double v, int32_t dtype) {
  double held;
  unsigned char item[8];
  if (is_float(dtype) && dtype != GW_FLOAT32) return v;
  if (!is_float(dtype)) v = std::trunc(v);
  kernels().splines.store[dtype](&v, item, 1, 1);
  kernels().splines.load[dtype](item, 1, 1.0, &held, 1);
  return held;
}

// Copies x, padded by `pad` samples of its edge or of a constant, scaled, into rows of the coefficients.
void copy_samples(const gw_tensor& x, int64_t pad, bool constant, double cval, double scale, const SplineJob& job,
                  double* origin) {
  const SplineKernels& k = kernels().splines;
  const int32_t rank = x.rank, last = rank - 1;
  int64_t rows = 1;
  for (int32_t a = 0; a < last; ++a) rows *= job.length[a];
  const double filler = constant ? as_dtype(cval, x.dtype) * scale : 0;
  const int64_t n = x.shape[last], bytes = type_size(x.dtype);
  parallel_for(rows, (double)rows * (double)n, [&](int64_t row, int) {
    int64_t number = row, from = 0, to = 0;
    bool outside = false;
    for (int32_t a = last - 1; a >= 0; --a) {
      const int64_t i = number % job.length[a];
      number /= job.length[a];
      to += i * job.stride[a];
      const int64_t inside = std::min(std::max<int64_t>(i - pad, 0), x.shape[a] - 1);
      outside |= inside != i - pad;
      from += inside * x.stride[a];
    }
    double* p = origin + to;
    if (outside && constant) return std::fill(p, p + job.length[last], filler);
    k.load[x.dtype](static_cast<const char*>(x.data) + from * bytes, x.stride[last], scale, p + pad, n);
    std::fill(p, p + pad, constant ? filler : p[pad]);
    std::fill(p + pad + n, p + 2 * pad + n, constant ? filler : p[pad + n - 1]);
  });
}

// Coefficients beyond the ends of one axis, a plane at a time. `from` and `to`: the part of earlier axes to do.
void surround_axis(const SplineJob& job, int32_t axis, double* origin) {
  const int64_t n = job.length[axis], stride = job.stride[axis], room = job.before;
  int64_t lines = 1;  // along axis, of the axes before it: those have no surroundings yet
  for (int32_t a = 0; a < axis; ++a) lines *= job.length[a];
  const int64_t last = job.rank - 1;
  // A plane of the axes after it, surroundings included, is one block.
  const int64_t lead = axis == last ? 0 : [&] {
    int64_t all = 0;
    for (int32_t a = axis + 1; a < job.rank; ++a) all += room * job.stride[a];
    return all;
  }();
  for (int64_t line = 0; line < lines; ++line) {
    int64_t number = line, offset = 0;
    for (int32_t a = axis - 1; a >= 0; --a) {
      offset += number % job.length[a] * job.stride[a];
      number /= job.length[a];
    }
    double* p = origin + offset - lead;
    for (int64_t h = 1; h <= room; ++h)
      for (const int64_t i : {-h, n - 1 + h}) {
        const int64_t s = resolve_tap(i, n, job.taps_boundary);
        double* to = p + i * stride;
        if (s < 0) std::fill(to, to + stride, job.cval);
        else std::memcpy(to, p + s * stride, (size_t)stride * sizeof(double));
      }
  }
}

}  // namespace

int32_t filter_boundary(int32_t boundary) {
  switch (boundary) {
    case GW_SPLINE_REFLECT:
    case GW_SPLINE_NEAREST: return GW_SPLINE_REFLECT;
    case GW_SPLINE_GRID_WRAP: return GW_SPLINE_GRID_WRAP;
    default: return GW_SPLINE_MIRROR;
  }
}

gw_status filter_axis(const gw_spline_spec& spec, double* data, int32_t rank, const int64_t* length,
                      const int64_t* stride, int32_t axis) {
  const SplineKernels& k = kernels().splines;
  const int64_t n = length[axis], step = stride[axis];
  double poles[2];
  const int count = spline_poles(spec.order, poles);
  int64_t lines = 1;
  for (int32_t a = 0; a < rank; ++a)
    if (a != axis) lines *= length[a];
  if (n < 2 || count == 0 || lines == 0) return GW_OK;
  const int32_t boundary = filter_boundary(spec.boundary);
  const bool in_place = spec.reflect_in_place != 0;
  const int32_t last = rank - 1;
  // Neighbouring lines where they lie side by side; else gathered, some at a time, into columns.
  const bool side_by_side = axis != last && stride[last] == 1;
  const int64_t row = side_by_side ? length[last] : lines;
  const int64_t blocks_of_row = (row + spline_lines - 1) / spline_lines, blocks = lines / row * blocks_of_row;
  const Outcome outcome = parallel_for(blocks, ns_per_pole * count * (double)(n * lines), [&](int64_t block, int) {
    const int64_t at = block % blocks_of_row * spline_lines, width = std::min<int64_t>(spline_lines, row - at);
    const int64_t first = block / blocks_of_row * row + at;
    if (side_by_side) {
      double* p = data + line_offset(first, rank, length, stride, axis);
      for (int i = 0; i < count; ++i) k.filter(p, n, step, width, poles[i], boundary, in_place);
      return;
    }
    const Scratch<double> columns = scratch<double>((size_t)(n * spline_lines));
    int64_t offset[spline_lines];
    for (int64_t l = 0; l < width; ++l) offset[l] = line_offset(first + l, rank, length, stride, axis);
    const int64_t apart = width > 1 ? offset[1] - offset[0] : 0;
    bool even = step == 1;
    for (int64_t l = 1; l < width; ++l) even &= offset[l] - offset[l - 1] == apart;
    if (even) {
      k.turn(data + offset[0], apart, columns.get(), spline_lines, width, n);
    } else {
      for (int64_t l = 0; l < width; ++l)
        for (int64_t i = 0; i < n; ++i) columns[i * spline_lines + l] = data[offset[l] + i * step];
    }
    for (int i = 0; i < count; ++i) k.filter(columns.get(), n, spline_lines, width, poles[i], boundary, in_place);
    if (even) {
      k.turn(columns.get(), spline_lines, data + offset[0], apart, n, width);
    } else {
      for (int64_t l = 0; l < width; ++l)
        for (int64_t i = 0; i < n; ++i) data[offset[l] + i * step] = columns[i * spline_lines + l];
    }
  });
  return outcome == Outcome::interrupted ? GW_ERROR_INTERRUPTED : GW_OK;
}

gw_status make_coefficients(const gw_spline_spec& spec, const gw_tensor& x, SplineJob& job, Coefficients& to) {
  const bool padded = spec.boundary == GW_SPLINE_NEAREST || spec.boundary == GW_SPLINE_GRID_CONSTANT;
  const int64_t pad = padded && spec.prefilter ? spline_padding : 0;
  double scale = 1;
  int64_t size = 1, lead = 0;
  for (int32_t a = x.rank - 1; a >= 0; --a) {
    job.length[a] = x.shape[a] + 2 * pad;
    job.stride[a] = size;
    lead += job.before * size;
    size *= job.length[a] + 2 * job.before;
    if (spec.prefilter && job.length[a] > 1) scale *= spline_gain(spec.order);
  }
  job.shift = (double)pad;
  to.data = scratch<double>((size_t)(size + 8));  // the last row's vector reaches past its taps
  std::fill(to.data.get() + size, to.data.get() + size + 8, 0.0);
  to.origin = to.data.get() + lead;
  job.samples = to.origin;
  copy_samples(x, pad, spec.boundary == GW_SPLINE_GRID_CONSTANT, job.cval, scale, job, to.origin);
  if (spec.prefilter)
    for (int32_t a = 0; a < x.rank; ++a)
      if (filter_axis(spec, to.origin, x.rank, job.length, job.stride, a) != GW_OK) return GW_ERROR_INTERRUPTED;
  for (int32_t a = x.rank - 1; a >= 0; --a) surround_axis(job, a, to.origin);
  return GW_OK;
}

}  // namespace gw
