/* Transforms of whole images as image libraries compute them, in plain C: see gridwave.h for arrays and statuses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GRIDWAVE_TRANSFORMS_H
#define GRIDWAVE_TRANSFORMS_H

#include "gridwave/gridwave.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Image.transform of Pillow. image (H,W,C), out (H_out,W_out,C): uint8, uint16, int32 or float32. Output pixels of the
 * box that fall outside the image are left as they are, or become 0. */
typedef enum gw_pillow_method { GW_PILLOW_AFFINE = 0, GW_PILLOW_PERSPECTIVE = 1, GW_PILLOW_QUAD = 2 } gw_pillow_method;
typedef struct gw_pillow_transform_spec {
  int32_t method;         /* gw_pillow_method */
  int32_t filter;         /* gw_mode */
  int32_t clear;          /* 1: pixels outside the image become 0 */
  int64_t box[4];         /* x0, y0, x1, y1 of out */
  double coefficients[8]; /* of the method: 6 or 8 */
} gw_pillow_transform_spec;
GW_API gw_status gw_pillow_transform(const gw_pillow_transform_spec* spec, const gw_tensor* image,
                                     const gw_tensor* out);
/* uint8 (H,W,C) whose last channel is alpha: colours times alpha / 255, or with `undo` back, rounded as Pillow does. */
GW_API gw_status gw_pillow_premultiply(const gw_tensor* image, int32_t undo, const gw_tensor* out);

/* ImageProjectiveTransformV3 of TensorFlow. images (N,H,W,C) and out (N,H_out,W_out,C): uint8, int32, int64 or a float;
 * transforms (N,8) or (1,8), float32. Results are cast to the images' dtype as C does it. */
typedef enum gw_fill_mode {
  GW_FILL_REFLECT = 0,
  GW_FILL_WRAP = 1,
  GW_FILL_CONSTANT = 2,
  GW_FILL_NEAREST = 3
} gw_fill_mode;
typedef struct gw_projective_transform_spec {
  int32_t interpolation; /* GW_BILINEAR or GW_NEAREST */
  int32_t fill_mode;     /* gw_fill_mode */
  double fill_value;
} gw_projective_transform_spec;
GW_API gw_status gw_projective_transform(const gw_projective_transform_spec* spec, const gw_tensor* images,
                                         const gw_tensor* transforms, const gw_tensor* out);

#ifdef __cplusplus
}
#endif
#endif
