// SPDX-License-Identifier: Apache-2.0
// How the tables were measured (cv2 4.14 and 5.0, which agree). Remapping a row with a single 1 by a float32 map of
// whole pixels and 1/32 gives one weight of one axis at a time, exact to the last bit: 32 fractions of 2, 4 and 8 taps.
// Linear and cubic are the formulas, whose values at 1/32 are whole in float. Of 24 ways to write and divide Lanczos
// the one below has all 256 bit patterns; the others miss 64 to 182 of them.
// The sums of uint8 are of 1/32768. Remapping 3000 random squares of taps at each of the 1024 fractions and trying what
// rounding leaves over at every tap left one place for it in 1499 of 1514 cases, the one below in all: what is missing is
// added to the tap after the middle on both axes, what is too much is taken from the smallest of it and its two
// neighbours further out.
#include "remapping/tables.hpp"

#include <cmath>
#include <initializer_list>

#include "gridwave/gridwave.h"
#include "remapping/job.hpp"

namespace gw {
namespace {

constexpr double quarter_turn = 3.14159265358979323846 / 4;
constexpr int32_t one = 1 << 15;  // of the whole weights

double keys(double d) {
  constexpr double a = -0.75;
  d = std::fabs(d);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

// sinc(d) sinc(d / 4) but for what all eight taps of a pixel have in common. sin(pi d) is one number for all of them,
// its sign alternates.
double lanczos(double d, int tap) {
  const double x = d * quarter_turn;
  return (tap % 2 ? std::sin(x) : -std::sin(x)) / (x * x);
}

void weigh(int taps, float fraction, float* w) {
  const int middle = taps / 2 - 1;  // the tap at or before the point
  float sum = 0;
  for (int i = 0; i < taps; ++i) {
    const double d = (double)fraction + middle - i;
    if (taps == 2) w[i] = (float)(1 - std::fabs(d));
    else if (taps == 4) w[i] = (float)keys(d);
    else w[i] = fraction == 0 ? (float)(i == middle) : (float)lanczos(d, i);
    sum += w[i];
  }
  if (taps < 8) return;
  const float share = 1 / sum;
  for (int i = 0; i < taps; ++i) w[i] *= share;
}

// The square of weights in 1/32768, made to add up to 1.
void round_square(int taps, const float* w, int16_t* q) {
  int32_t missing = one;
  for (int k = 0; k < taps * taps; ++k) {
    const long nearest = std::lrint(w[k] * (float)one);
    q[k] = (int16_t)(nearest < one ? nearest : one - 1);  // no weight is below -1
    missing -= q[k];
  }
  int16_t* after = q + (taps / 2) * (taps + 1);
  int16_t* changed = after;
  if (missing < 0)
    for (int16_t* further : {after + 1, after + taps})
      if (*further < *changed) changed = further;
  *changed = (int16_t)(*changed + missing);
}

RemapTable make(int taps) {
  const int square = taps * taps;
  float along[remap_fractions][remap_taps_at_most];
  for (int i = 0; i < remap_fractions; ++i) weigh(taps, (float)i / remap_fractions, along[i]);
  RemapTable table;
  table.weights.resize((size_t)(remap_fractions * remap_fractions * square));
  table.fixed_weights.resize(table.weights.size());
  for (int cell = 0; cell < remap_fractions * remap_fractions; ++cell) {
    float* w = table.weights.data() + (size_t)cell * square;
    const float *y = along[cell / remap_fractions], *x = along[cell % remap_fractions];
    for (int k = 0; k < square; ++k) w[k] = y[k / taps] * x[k % taps];
    round_square(taps, w, table.fixed_weights.data() + (size_t)cell * square);
  }
  return table;
}

}  // namespace

const RemapTable& remap_table(int32_t mode) {
  static const RemapTable linear = make(2), cubic = make(4), lanczos4 = make(8);
  return mode == GW_REMAP_LINEAR ? linear : mode == GW_REMAP_CUBIC ? cubic : lanczos4;
}

}  // namespace gw
