// SPDX-License-Identifier: Apache-2.0
// Points read from the caller's own samples, of any dtype and strides: orders 0 and 1, and coefficients as given.
// Compiled once for each instruction set.
#include "cpu/kernels.hpp"
#include "splines/points.hpp"

namespace gw {
namespace GW_ISA {
namespace {

// Offsets are sums over the axes; one of these among them leaves the sum below every offset that memory can have.
constexpr int64_t absent = -(int64_t{1} << 60);
constexpr int64_t offsets_from = -(int64_t{1} << 59);

struct Taps {
  int64_t offset[spline_taps_at_most][spline_tile];
  double weight[spline_taps_at_most][spline_tile];
};

void find_taps(const SplineJob& job, int axis, const PlacedAxis& p, int64_t count, Taps& to) {
  const int64_t n = job.length[axis], stride = job.stride[axis];
  for (int t = 0; t < job.taps; ++t) {
    int64_t* offset = to.offset[t];
    if (p.inside) {
      for (int64_t k = 0; k < count; ++k) offset[k] = (p.first[k] + t) * stride;
    } else {
      for (int64_t k = 0; k < count; ++k) {
        const int64_t i = resolve_tap((int64_t)p.first[k] + t, n, job.taps_boundary);
        offset[k] = i < 0 ? absent : i * stride;
      }
    }
    if (job.taps == 1) continue;
    const double* c = job.weights[t];
    for (int64_t k = 0; k < count; ++k) {
      double w = c[job.taps - 1];
      for (int power = job.taps - 2; power >= 0; --power) w = w * p.fraction[k] + c[power];
      to.weight[t][k] = w;
    }
  }
}

template <class T>
inline void read(const SplineJob& job, const int64_t* offset, bool inside, int64_t count, double* to) {
  const T* samples = static_cast<const T*>(job.samples);
  if (inside) {
    for (int64_t k = 0; k < count; ++k) to[k] = (double)samples[offset[k]];
  } else {
    for (int64_t k = 0; k < count; ++k)
      to[k] = offset[k] < offsets_from ? job.cval : (double)samples[offset[k]];
  }
}

// sample w[0] w[1] ... added up with the last axis fastest: SciPy's order, which halves of order 1 show.
template <class T>
void direct(const SplineJob& job, double (*coordinates)[spline_tile], int64_t count, double* out) {
  Placed placed;
  place(job, coordinates, count, placed);
  Taps taps[GW_MAX_RANK];
  for (int axis = 0; axis < job.rank; ++axis) find_taps(job, axis, placed.axis[axis], count, taps[axis]);

  int64_t offset[spline_tile];
  double sample[spline_tile];
  if (job.taps == 1) {
    for (int64_t k = 0; k < count; ++k) offset[k] = taps[0].offset[0][k];
    for (int axis = 1; axis < job.rank; ++axis)
      for (int64_t k = 0; k < count; ++k) offset[k] += taps[axis].offset[0][k];
    read<T>(job, offset, placed.inside, count, out);
    return write_outside(job, placed, count, out);
  }
  for (int64_t k = 0; k < count; ++k) out[k] = 0;
  int at[GW_MAX_RANK] = {};
  const int last = job.rank - 1;
  int64_t before[spline_tile];  // offsets of all axes but the last
  for (;;) {
    for (int64_t k = 0; k < count; ++k) before[k] = 0;
    for (int axis = 0; axis < last; ++axis)
      for (int64_t k = 0; k < count; ++k) before[k] += taps[axis].offset[at[axis]][k];
    for (int t = 0; t < job.taps; ++t) {
      for (int64_t k = 0; k < count; ++k) offset[k] = before[k] + taps[last].offset[t][k];
      read<T>(job, offset, placed.inside, count, sample);
      for (int axis = 0; axis < last; ++axis)
        for (int64_t k = 0; k < count; ++k) sample[k] *= taps[axis].weight[at[axis]][k];
      for (int64_t k = 0; k < count; ++k) out[k] += sample[k] * taps[last].weight[t][k];
    }
    int axis = last - 1;
    while (axis >= 0 && ++at[axis] == job.taps) at[axis--] = 0;
    if (axis < 0) break;
  }
  write_outside(job, placed, count, out);
}

}  // namespace

void add_spline_direct_kernels(Kernels& k) {
  k.splines.direct[GW_FLOAT32] = direct<float>;
  k.splines.direct[GW_FLOAT64] = direct<double>;
  k.splines.direct[GW_UINT8] = direct<uint8_t>;
  k.splines.direct[GW_INT8] = direct<int8_t>;
  k.splines.direct[GW_UINT16] = direct<uint16_t>;
  k.splines.direct[GW_INT16] = direct<int16_t>;
  k.splines.direct[GW_INT32] = direct<int32_t>;
  k.splines.direct[GW_INT64] = direct<int64_t>;
}

}  // namespace GW_ISA
}  // namespace gw
