/* Arrays of any rank sampled at index coordinates with B-splines, in plain C: see gridwave.h for arrays and statuses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GRIDWAVE_SPLINES_H
#define GRIDWAVE_SPLINES_H

#include "gridwave/gridwave.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What lies beyond the samples a b c d, by SciPy's names. */
typedef enum gw_spline_boundary {
  GW_SPLINE_REFLECT = 0,       /* d c b a | a b c d | d c b a */
  GW_SPLINE_MIRROR = 1,        /* d c b | a b c d | c b a */
  GW_SPLINE_CONSTANT = 2,      /* coordinates outside give cval; taps outside are mirrored */
  GW_SPLINE_GRID_CONSTANT = 3, /* taps outside are cval */
  GW_SPLINE_NEAREST = 4,       /* a a a a | a b c d | d d d d */
  GW_SPLINE_GRID_WRAP = 5,     /* a b c d | a b c d | a b c d */
  GW_SPLINE_WRAP = 6           /* coordinates repeat after n - 1: the last sample is the first again */
} gw_spline_boundary;

typedef enum gw_spline_basis {
  GW_BASIS_B_SPLINE = 0,
  GW_BASIS_INTERPOLATING = 1 /* order 2: the parabola through three samples; order 3: Keys, a = -0.5; 0, 1 as B-splines */
} gw_spline_basis;

typedef struct gw_spline_spec {
  int32_t order;            /* 0 to 5 */
  int32_t boundary;         /* gw_spline_boundary */
  int32_t basis;            /* gw_spline_basis */
  int32_t prefilter;        /* 1: x are samples; 0: x are coefficients. Of orders 2 to 5 */
  int32_t taps_only;        /* 1: the boundary moves taps alone, never coordinates; JAX */
  int32_t half_away;        /* 1: order 0 rounds half away from zero; 0: half up */
  int32_t reflect_in_place; /* 1: GW_SPLINE_REFLECT is filtered as SciPy does it, see gw_spline_filter */
  int32_t diagonal;         /* of gw_map_affine */
  double cval;
} gw_spline_spec;

/* out[p] = sum over k of x[k] prod over axes a of B(coordinates[a][p] - k[a]). x of rank 1 to 5: float32, float64, int8 to
 * int64, uint8 or uint16; coordinates (rank of x, points) in indices, float32 or float64; out (points) of any of x's
 * dtypes, integers rounded half away from zero and saturated. Sums are double. A coordinate that is NaN gives cval. */
GW_API gw_status gw_map_coordinates(const gw_spline_spec* spec, const gw_tensor* x, const gw_tensor* coordinates,
                                    const gw_tensor* out);

/* The same at coordinates[a] = matrix[a][n] + sum over b of matrix[a][b] i[b] of each index i of out, n the rank of x and
 * out; matrix (n, n + 1), float64. diagonal: coordinates[a] = (i[a] + matrix[a][n]) matrix[a][a]. */
GW_API gw_status gw_map_affine(const gw_spline_spec* spec, const gw_tensor* x, const gw_tensor* matrix,
                               const gw_tensor* out);

/* Samples to B-spline coefficients along one axis of a float64 array, in place. Where the spec's boundary is
 * GW_SPLINE_MIRROR, GW_SPLINE_REFLECT or GW_SPLINE_GRID_WRAP it is that one; for GW_SPLINE_NEAREST reflect, else mirror. */
GW_API gw_status gw_spline_filter(const gw_spline_spec* spec, const gw_tensor* x, int32_t axis);

#ifdef __cplusplus
}
#endif
#endif
