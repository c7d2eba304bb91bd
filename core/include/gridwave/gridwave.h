/* gridwave: grid_sample and its gradients, in plain C.
 *
 * Arrays are described by gw_tensor: a pointer, a dtype, and shape and strides counted in elements. Strides may be
 * anything, negative and zero included; inputs are never written. Every function returns a gw_status; on failure
 * gw_last_error() has a sentence about it, and outputs are untouched (except after GW_ERROR_INTERRUPTED).
 *
 * All functions may be called from any thread. SPDX-License-Identifier: Apache-2.0 */
#ifndef GRIDWAVE_H
#define GRIDWAVE_H

#include <stdint.h>

#if defined(__GNUC__) && defined(GRIDWAVE_BUILD)
#define GW_API __attribute__((visibility("default")))
#else
#define GW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GRIDWAVE_VERSION_MAJOR 0
#define GRIDWAVE_VERSION_MINOR 1
#define GRIDWAVE_VERSION_PATCH 0

typedef enum gw_status {
  GW_OK = 0,
  GW_ERROR_SHAPE = 1,       /* a rank, a length or a stride does not fit */
  GW_ERROR_DTYPE = 2,       /* a dtype, or a mix of them, that the operator does not take */
  GW_ERROR_ARGUMENT = 3,    /* an unknown code, a null pointer, a value that breaks a rule */
  GW_ERROR_UNSUPPORTED = 4, /* well formed, but not available */
  GW_ERROR_MEMORY = 5,      /* an allocation failed */
  GW_ERROR_INTERRUPTED = 6, /* the interrupt check said stop; outputs are undefined */
  GW_ERROR_INTERNAL = 7
} gw_status;

typedef enum gw_dtype {
  GW_FLOAT32 = 0,
  GW_FLOAT64 = 1,
  GW_FLOAT16 = 2,
  GW_BFLOAT16 = 3,
  GW_UINT8 = 4,
  GW_INT8 = 5,
  GW_UINT16 = 6,
  GW_INT16 = 7, /* of images; grid_sample has no kernels for these three */
  GW_INT32 = 8,
  GW_INT64 = 9
} gw_dtype;

enum { GW_MAX_RANK = 5 };

typedef struct gw_tensor {
  void* data;
  int32_t dtype; /* gw_dtype */
  int32_t rank;
  int64_t shape[GW_MAX_RANK];
  int64_t stride[GW_MAX_RANK]; /* in elements */
} gw_tensor;

typedef enum gw_mode { GW_BILINEAR = 0, GW_NEAREST = 1, GW_BICUBIC = 2 } gw_mode;
typedef enum gw_padding { GW_ZEROS = 0, GW_BORDER = 1, GW_REFLECTION = 2 } gw_padding;
typedef enum gw_layout { GW_NCHW = 0, GW_NHWC = 1 } gw_layout;
typedef enum gw_rounding { GW_HALF_EVEN = 0, GW_HALF_AWAY = 1, GW_HALF_UP = 2 } gw_rounding;
typedef enum gw_pad_order { GW_PAD_COORDINATE = 0, GW_PAD_INDEX = 1 } gw_pad_order;
typedef enum gw_cubic_padding { GW_CUBIC_TAPS = 0, GW_CUBIC_COORDINATE = 1 } gw_cubic_padding;
typedef enum gw_nonfinite { GW_NONFINITE_OUTSIDE = 0, GW_NONFINITE_LOWER_BORDER = 1 } gw_nonfinite;
typedef enum gw_unnormalise { GW_SHIFTED = 0, GW_SCALED = 1, GW_SCALED_FUSED = 2 } gw_unnormalise;
typedef enum gw_reflection { GW_REFLECT_PERIODIC = 0, GW_REFLECT_ONCE = 1 } gw_reflection;
typedef enum gw_border_slope { GW_BORDER_SLOPE_ZERO = 0, GW_BORDER_SLOPE_INSIDE = 1 } gw_border_slope;

/* What grid_sample computes. Zero-initialised, it is bilinear, zeros, align_corners = 0, NCHW, as PyTorch does it;
 * set cubic_coeff_a (PyTorch: -0.75) for bicubic. */
typedef struct gw_grid_sample_spec {
  int32_t mode;          /* gw_mode */
  int32_t padding;       /* gw_padding */
  int32_t align_corners; /* 0: -1 and 1 are the outer edges of the corner pixels; 1: their centres */
  int32_t layout;        /* gw_layout of x, the output and their gradients */
  int32_t rounding;      /* gw_rounding of nearest */
  int32_t pad_order;     /* gw_pad_order of nearest */
  int32_t cubic_padding; /* gw_cubic_padding of bicubic */
  int32_t nonfinite;     /* gw_nonfinite */
  double cubic_coeff_a;
  int32_t unnormalise;   /* gw_unnormalise: ((g + 1) S - 1) / 2, g S/2 + (S - 1)/2, or fma(g, S/2, S/2) - 1/2 */
  int32_t reflection;    /* gw_reflection: as often as it takes, or once at each mirror and then clamped */
  int32_t border_slope;  /* gw_border_slope: d padded / d coordinate exactly on the outermost centres */
} gw_grid_sample_spec;

/* x (N,C,H,W) or (N,H,W,C); grid (N,Ho,Wo,2) with last axis (x, y); out (N,C,Ho,Wo) or (N,Ho,Wo,C) of x's dtype.
 * Volumes: x (N,C,D,H,W) or (N,D,H,W,C), grid (N,Do,Ho,Wo,3), last axis (x, y, z). Signals: x (N,C,W) or (N,W,C), grid
 * (N,Wo,1). GW_BILINEAR is then linear along every axis, GW_BICUBIC cubic.
 * dtypes: float x with a grid of its own dtype; float16, bfloat16 x with a float32 grid; uint8, int8, uint16 x with
 * any float grid (results rounded half to even and saturated). */
GW_API gw_status gw_grid_sample(const gw_grid_sample_spec* spec, const gw_tensor* x, const gw_tensor* grid,
                                const gw_tensor* out);

/* Gradients of gw_grid_sample. grad_x (like x) or grad_grid (like grid) may be NULL: then it is not computed. */
GW_API gw_status gw_grid_sample_backward(const gw_grid_sample_spec* spec, const gw_tensor* grad_output,
                                         const gw_tensor* x, const gw_tensor* grid, const gw_tensor* grad_x,
                                         const gw_tensor* grad_grid);

/* Gradients of gw_grid_sample_backward: of sum(grad_grad_x * its grad_x) + sum(grad_grad_grid * its grad_grid) with
 * respect to grad_output, x and grid, which are as in that call. grad_grad_x (like x) or grad_grad_grid (like grid) may
 * be NULL: it is zero. grad_grad_output (like grad_output), grad_x (like x) or grad_grid (like grid) may be NULL: then it
 * is not computed. Kinks have no second derivative: each point is differentiated as the piece of the function that
 * gw_grid_sample_backward takes there. */
GW_API gw_status gw_grid_sample_double_backward(const gw_grid_sample_spec* spec, const gw_tensor* grad_grad_x,
                                                const gw_tensor* grad_grad_grid, const gw_tensor* grad_output,
                                                const gw_tensor* x, const gw_tensor* grid,
                                                const gw_tensor* grad_grad_output, const gw_tensor* grad_x,
                                                const gw_tensor* grad_grid);

/* A plan: spec, shapes, dtypes and strides checked once and cut into pieces, for calls that repeat on other memory.
 * The tensors given here need no data. Execution may run in many threads at once. */
typedef struct gw_plan gw_plan;
GW_API gw_status gw_grid_sample_plan(const gw_grid_sample_spec* spec, const gw_tensor* x, const gw_tensor* grid,
                                     const gw_tensor* out, gw_plan** plan);
GW_API gw_status gw_grid_sample_execute(const gw_plan* plan, const void* x, const void* grid, void* out);
GW_API void gw_plan_destroy(gw_plan* plan);

/* A plan of a grid that stays: its coordinates, and tables of what each point reads, for images of height x width. It
 * keeps a copy of the grid, (N,Ho,Wo,2), where N may be 1 for images of any batch size. x and out of any dtype that
 * gw_grid_sample takes with the grid; results are those of gw_grid_sample to the bit. May run in many threads at once. */
typedef struct gw_grid_plan gw_grid_plan;
GW_API gw_status gw_grid_plan_create(const gw_grid_sample_spec* spec, int64_t height, int64_t width,
                                     const gw_tensor* grid, gw_grid_plan** plan);
/* The same for volumes of depth x height x width; grid (N,Do,Ho,Wo,3). */
GW_API gw_status gw_grid_plan_create_volume(const gw_grid_sample_spec* spec, int64_t depth, int64_t height,
                                            int64_t width, const gw_tensor* grid, gw_grid_plan** plan);
GW_API gw_status gw_grid_plan_execute(const gw_grid_plan* plan, const gw_tensor* x, const gw_tensor* out);
/* As gw_grid_sample_backward; the gradient of a shared grid is summed over the batch. */
GW_API gw_status gw_grid_plan_backward(const gw_grid_plan* plan, const gw_tensor* grad_output, const gw_tensor* x,
                                       const gw_tensor* grad_x, const gw_tensor* grad_grid);
GW_API void gw_grid_plan_destroy(gw_grid_plan* plan);

/* Where a plan's points are. Positions are those of the grid before padding: interior points have every tap inside
 * the image, outside ones none. Pixels and cache lines are counted as padding has them. */
enum { GW_HOT_SPOTS = 8 };
typedef struct gw_grid_report {
  int64_t points, interior, partly_outside, outside; /* points = interior + partly_outside + outside */
  int64_t with_nan, with_infinity;                   /* points; they count as outside */
  int64_t taps;                                      /* reads of a pixel that weigh, per channel */
  int64_t jumps;                                     /* points of which the one before reads elsewhere: over 2 pixels off */
  int64_t cells;                                     /* different unit squares between pixel centres with a point in */
  int64_t pixels;                                    /* different pixels read by some point of some grid */
  int64_t contended;                                 /* taps beyond a pixel's first: scatters that meet another */
  int64_t lines_planar[4];                           /* different 64-byte lines of a channel with items of 1, 2, 4, 8 bytes */
  int64_t hot_pixel[GW_HOT_SPOTS], hot_taps[GW_HOT_SPOTS]; /* (z * height +) y * width + x, most taps first; 0: none left */
} gw_grid_report;
GW_API gw_status gw_grid_plan_report(const gw_grid_plan* plan, gw_grid_report* report);

/* theta (N,2,3) to out (N,H,W,2), or (N,3,4) to (N,D,H,W,3), of one float dtype, summed in double; out.shape gives the
 * lengths. singleton: where an axis of length 1 lies with align_corners. */
typedef enum gw_singleton {
  GW_SINGLETON_MINUS_ONE = 0, /* ONNX */
  GW_SINGLETON_ZERO = 1,      /* PyTorch */
  GW_SINGLETON_PLUS_ONE = 2   /* ONNX Runtime */
} gw_singleton;
GW_API gw_status gw_affine_grid(const gw_tensor* theta, int32_t align_corners, int32_t singleton, const gw_tensor* out);
GW_API gw_status gw_affine_grid_backward(const gw_tensor* grad_grid, int32_t align_corners, int32_t singleton,
                                         const gw_tensor* grad_theta);

/* Images at pixel coordinates: (0, 0) is the centre of the first pixel, x runs along W, y along H. */
typedef enum gw_remap_mode {
  GW_REMAP_NEAREST = 0, /* half to even */
  GW_REMAP_LINEAR = 1,
  GW_REMAP_CUBIC = 2, /* Keys, a = -0.75 */
  GW_REMAP_LANCZOS4 = 3
} gw_remap_mode;
typedef enum gw_border {
  GW_BORDER_CONSTANT = 0,
  GW_BORDER_REPLICATE = 1,
  GW_BORDER_REFLECT = 2,
  GW_BORDER_REFLECT_101 = 3,
  GW_BORDER_WRAP = 4,
  GW_BORDER_TRANSPARENT = 5 /* taps outside are what out holds */
} gw_border;
typedef enum gw_subpixel { GW_SUBPIXEL_EXACT = 0, GW_SUBPIXEL_32 = 1, GW_SUBPIXEL_32_LANES = 2 } gw_subpixel;
/* GW_COORDINATES_FLOAT32_DIVIDED: by a perspective's way even where the matrix is affine, as OpenCV's warpPerspective. */
typedef enum gw_coordinates {
  GW_COORDINATES_FLOAT32 = 0,
  GW_COORDINATES_FLOAT64 = 1,
  GW_COORDINATES_FLOAT32_DIVIDED = 2
} gw_coordinates;

/* GW_REACH_NEAR: coordinates are held within [-n, 2 n], n the axis' length or 16, whichever is more, as OpenCV 5 does for
 * cubic; GW_REACH_FAR: within 2^30; GW_REACH_INT16: within 16 bits, as where coordinates are rounded to 1/32 pixel. */
typedef enum gw_reach { GW_REACH_FAR = 0, GW_REACH_NEAR = 1, GW_REACH_INT16 = 2 } gw_reach;

/* subpixel GW_SUBPIXEL_32: coordinates are rounded to 1/32 pixel and weights come from tables, those of uint8 in whole
 * numbers of 1/32768; with _LANES images of one channel are summed in the order of OpenCV 4's vectors. relative: maps
 * hold offsets from the pixel's own place. coordinates: of gw_warp. */
typedef struct gw_remap_spec {
  int32_t mode;        /* gw_remap_mode */
  int32_t border;      /* gw_border */
  int32_t subpixel;    /* gw_subpixel */
  int32_t relative;    /* 0 or 1 */
  int32_t coordinates; /* gw_coordinates */
  int32_t reach;       /* gw_reach */
  double border_value[4]; /* of channel c modulo 4 */
} gw_remap_spec;

/* image (H,W) or (H,W,C), uint8, uint16, float32 or float64; map_x and map_y (H_out,W_out), float32 or float64; out
 * like image with the maps' height and width. */
GW_API gw_status gw_remap(const gw_remap_spec* spec, const gw_tensor* image, const gw_tensor* map_x,
                          const gw_tensor* map_y, const gw_tensor* out);
/* The same at (m0 x + m1 y + m2, m3 x + m4 y + m5) / (m6 x + m7 y + m8) of each pixel (x, y) of out; matrix has nine
 * numbers. */
GW_API gw_status gw_warp(const gw_remap_spec* spec, const gw_tensor* image, const double* matrix, const gw_tensor* out);

/* Threads. 0 gives the default back: GRIDWAVE_NUM_THREADS, else OMP_NUM_THREADS, else what the CPU affinity and the
 * cgroup's quota allow. The local number is the calling thread's own and wins; 0 takes it away. */
GW_API gw_status gw_set_num_threads(int32_t threads);
GW_API gw_status gw_set_local_num_threads(int32_t threads);
GW_API int32_t gw_get_num_threads(void);
GW_API int32_t gw_get_local_num_threads(void);

/* check(context) is called from the calling thread now and then during long calls; non-zero stops the call with
 * GW_ERROR_INTERRUPTED. One per thread; NULL removes it. */
GW_API void gw_set_interrupt_check(int32_t (*check)(void*), void* context);

/* Which kernels run: "x86-64-v2", "x86-64-v3", "x86-64-v4" or "neon". Chosen once, from the CPU or GRIDWAVE_ISA. */
GW_API const char* gw_isa(void);
/* The best of them that this CPU and this build have, whatever GRIDWAVE_ISA says. */
GW_API const char* gw_best_isa(void);
GW_API const char* gw_version(void);

/* The sentence of this thread's last failure, never NULL; a status as a word. */
GW_API const char* gw_last_error(void);
GW_API const char* gw_status_name(gw_status status);

#ifdef __cplusplus
}
#endif
#endif
