// SPDX-License-Identifier: Apache-2.0
// Points read from coefficients that have room around them: a row of taps of the last axis is one vector, and no tap asks
// where it is. Compiled once for each instruction set.
//
// 16 taps of order 3 on an image: 4 loads and 4 products of four doubles, where a gather for each tap would take 16.
#include <cstring>

#include "cpu/kernels.hpp"
#include "splines/points.hpp"

namespace gw {
namespace GW_ISA {
namespace {

template <int width>
struct Row {
  typedef double type __attribute__((vector_size(width * sizeof(double))));
};

template <class V>
inline V load(const double* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <int taps>
struct Shape {
  static constexpr int width = taps <= 4 ? 4 : 8;
  using V = typename Row<width>::type;
  static constexpr int powers = taps;
};

// Weights of all taps of one axis side by side; zero beyond the last.
template <int taps>
struct Weights {
  using V = typename Shape<taps>::V;
  V power[taps];

  explicit Weights(const SplineJob& job) {
    for (int p = 0; p < taps; ++p)
      for (int t = 0; t < Shape<taps>::width; ++t) power[p][t] = t < taps ? job.weights[t][p] : 0.0;
  }
  V at(double fraction) const {
    V w = power[taps - 1];
    for (int p = taps - 2; p >= 0; --p) w = w * fraction + power[p];
    return w;
  }
};

// Rows summed over the leading axes, one axis a level.
template <int taps, int leading>
struct Sum {
  using V = typename Shape<taps>::V;
  static V of(const double* p, const int64_t* stride, const double (*weight)[8]) {
    V sum = Sum<taps, leading - 1>::of(p, stride + 1, weight + 1) * weight[0][0];
    for (int t = 1; t < taps; ++t)
      sum += Sum<taps, leading - 1>::of(p + t * stride[0], stride + 1, weight + 1) * weight[0][t];
    return sum;
  }
};
template <int taps>
struct Sum<taps, 0> {
  using V = typename Shape<taps>::V;
  static V of(const double* p, const int64_t*, const double (*)[8]) { return load<V>(p); }
};

inline double total(Row<4>::type v) { return (v[0] + v[2]) + (v[1] + v[3]); }
inline double total(Row<8>::type v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

template <int taps, int rank>
void sample(const SplineJob& job, const Placed& placed, int64_t count, double* out) {
  using V = typename Shape<taps>::V;
  const Weights<taps> weights(job);
  const double* samples = static_cast<const double*>(job.samples);
  alignas(64) double weight[rank][8];
  for (int64_t k = 0; k < count; ++k) {
    int64_t offset = 0;
    for (int axis = 0; axis < rank; ++axis) offset += placed.axis[axis].first[k] * job.stride[axis];
    for (int axis = 0; axis + 1 < rank; ++axis) {
      const V w = weights.at(placed.axis[axis].fraction[k]);
      std::memcpy(weight[axis], &w, sizeof w);
    }
    const V row = Sum<taps, rank - 1>::of(samples + offset, job.stride, weight);
    out[k] = total(row * weights.at(placed.axis[rank - 1].fraction[k]));
  }
}

template <int taps>
void rows(const SplineJob& job, double (*coordinates)[spline_tile], int64_t count, double* out) {
  Placed placed;
  place(job, coordinates, count, placed);
  switch (job.rank) {
    case 1: sample<taps, 1>(job, placed, count, out); break;
    case 2: sample<taps, 2>(job, placed, count, out); break;
    case 3: sample<taps, 3>(job, placed, count, out); break;
    case 4: sample<taps, 4>(job, placed, count, out); break;
    default: sample<taps, 5>(job, placed, count, out); break;
  }
  write_outside(job, placed, count, out);
}

}  // namespace

void add_spline_row_kernels(Kernels& k) {
  k.splines.rows[3] = rows<3>;
  k.splines.rows[4] = rows<4>;
  k.splines.rows[5] = rows<5>;
  k.splines.rows[6] = rows<6>;
}

}  // namespace GW_ISA
}  // namespace gw
