// SPDX-License-Identifier: Apache-2.0
// The C interface: exceptions end here, as a status and a sentence.
#include "gridwave/gridwave.h"
#include "gridwave/splines.h"
#include "gridwave/transforms.h"

#include <cstdio>
#include <memory>
#include <new>

#include "cpu/kernels.hpp"
#include "failure.hpp"
#include "planning/grid_plan.hpp"
#include "planning/volume_plan.hpp"
#include "remapping/remap.hpp"
#include "sampling/affine_grid.hpp"
#include "sampling/grid_sample.hpp"
#include "sampling/grid_sample_double_backward.hpp"
#include "sampling/volume/volume.hpp"
#include "splines/map_coordinates.hpp"
#include "tensor.hpp"
#include "threads/pool.hpp"
#include "transforming/pillow.hpp"
#include "transforming/projective.hpp"

struct gw_plan {
  gw::SamplePlan sample;
};

struct gw_grid_plan {  // one of them
  std::unique_ptr<gw::GridPlan> image;
  std::unique_ptr<gw::VolumePlan> volume;
};

namespace {

thread_local char last_error[512] = "";

gw_status report(gw_status status, const char* text) {
  std::snprintf(last_error, sizeof last_error, "%s", text);
  return status;
}

template <class Call>
gw_status guarded(Call&& call) {
  try {
    const gw_status status = call();
    return status == GW_OK ? status : report(status, "the call was interrupted");
  } catch (const gw::Failure& f) {
    return report(f.status, f.what());
  } catch (const std::bad_alloc&) {
    return report(GW_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return report(GW_ERROR_INTERNAL, e.what());
  }
}

void require(const char* name, const void* pointer) {
  if (pointer == nullptr) gw::fail(GW_ERROR_ARGUMENT, "%s must not be null", name);
}

}  // namespace

extern "C" {

gw_status gw_grid_sample(const gw_grid_sample_spec* spec, const gw_tensor* x, const gw_tensor* grid,
                         const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("x", x);
    require("grid", grid);
    require("out", out);
    if (gw::is_volume(*x)) return gw::sample_volume(*spec, *x, *grid, *out);
    const gw::SamplePlan plan = gw::plan_grid_sample(*spec, *x, *grid, *out, false);
    gw::check_no_overlap("out", *out, "x", *x);
    gw::check_no_overlap("out", *out, "grid", *grid);
    return gw::execute(plan, x->data, grid->data, out->data);
  });
}

gw_status gw_grid_sample_backward(const gw_grid_sample_spec* spec, const gw_tensor* grad_output, const gw_tensor* x,
                                  const gw_tensor* grid, const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  return guarded([&] {
    require("spec", spec);
    require("grad_output", grad_output);
    require("x", x);
    require("grid", grid);
    if (gw::is_volume(*x)) return gw::sample_volume_backward(*spec, *grad_output, *x, *grid, grad_x, grad_grid);
    return gw::grid_sample_backward(*spec, *grad_output, *x, *grid, grad_x, grad_grid);
  });
}

gw_status gw_grid_sample_double_backward(const gw_grid_sample_spec* spec, const gw_tensor* grad_grad_x,
                                         const gw_tensor* grad_grad_grid, const gw_tensor* grad_output,
                                         const gw_tensor* x, const gw_tensor* grid, const gw_tensor* grad_grad_output,
                                         const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  return guarded([&] {
    require("spec", spec);
    require("grad_output", grad_output);
    require("x", x);
    require("grid", grid);
    return gw::grid_sample_double_backward(
        *spec, {grad_grad_x, grad_grad_grid, grad_output, x, grid, grad_grad_output, grad_x, grad_grid});
  });
}

gw_status gw_grid_sample_plan(const gw_grid_sample_spec* spec, const gw_tensor* x, const gw_tensor* grid,
                              const gw_tensor* out, gw_plan** plan) {
  return guarded([&] {
    require("spec", spec);
    require("x", x);
    require("grid", grid);
    require("out", out);
    require("plan", plan);
    *plan = nullptr;
    *plan = new gw_plan{gw::plan_grid_sample(*spec, *x, *grid, *out, true)};
    return GW_OK;
  });
}

gw_status gw_grid_sample_execute(const gw_plan* plan, const void* x, const void* grid, void* out) {
  return guarded([&] {
    require("plan", plan);
    gw_tensor bound[3] = {plan->sample.x_given, plan->sample.grid, plan->sample.out};
    bound[0].data = const_cast<void*>(x);
    bound[1].data = const_cast<void*>(grid);
    bound[2].data = out;
    static const char* const names[3] = {"x", "grid", "out"};
    for (int i = 0; i < 3; ++i) gw::check_tensor(names[i], bound[i], false);
    gw::check_no_overlap("out", bound[2], "x", bound[0]);
    gw::check_no_overlap("out", bound[2], "grid", bound[1]);
    return gw::execute(plan->sample, x, grid, out);
  });
}

void gw_plan_destroy(gw_plan* plan) { delete plan; }

gw_status gw_grid_plan_create(const gw_grid_sample_spec* spec, int64_t height, int64_t width, const gw_tensor* grid,
                              gw_grid_plan** plan) {
  return guarded([&] {
    require("spec", spec);
    require("grid", grid);
    require("plan", plan);
    *plan = nullptr;
    *plan = new gw_grid_plan{std::make_unique<gw::GridPlan>(*spec, height, width, *grid), nullptr};
    return GW_OK;
  });
}

gw_status gw_grid_plan_create_volume(const gw_grid_sample_spec* spec, int64_t depth, int64_t height, int64_t width,
                                     const gw_tensor* grid, gw_grid_plan** plan) {
  return guarded([&] {
    require("spec", spec);
    require("grid", grid);
    require("plan", plan);
    *plan = nullptr;
    *plan = new gw_grid_plan{nullptr, std::make_unique<gw::VolumePlan>(*spec, depth, height, width, *grid)};
    return GW_OK;
  });
}

gw_status gw_grid_plan_execute(const gw_grid_plan* plan, const gw_tensor* x, const gw_tensor* out) {
  return guarded([&] {
    require("plan", plan);
    require("x", x);
    require("out", out);
    return plan->image ? plan->image->execute(*x, *out) : plan->volume->execute(*x, *out);
  });
}

gw_status gw_grid_plan_backward(const gw_grid_plan* plan, const gw_tensor* grad_output, const gw_tensor* x,
                                const gw_tensor* grad_x, const gw_tensor* grad_grid) {
  return guarded([&] {
    require("plan", plan);
    require("grad_output", grad_output);
    require("x", x);
    return plan->image ? plan->image->backward(*grad_output, *x, grad_x, grad_grid)
                       : plan->volume->backward(*grad_output, *x, grad_x, grad_grid);
  });
}

gw_status gw_grid_plan_report(const gw_grid_plan* plan, gw_grid_report* report) {
  return guarded([&] {
    require("plan", plan);
    require("report", report);
    if (plan->image) plan->image->report(*report);
    else plan->volume->report(*report);
    return GW_OK;
  });
}

void gw_grid_plan_destroy(gw_grid_plan* plan) { delete plan; }

gw_status gw_affine_grid(const gw_tensor* theta, int32_t align_corners, int32_t singleton, const gw_tensor* out) {
  return guarded([&] {
    require("theta", theta);
    require("out", out);
    return gw::affine_grid(*theta, align_corners != 0, singleton, *out);
  });
}

gw_status gw_affine_grid_backward(const gw_tensor* grad_grid, int32_t align_corners, int32_t singleton,
                                  const gw_tensor* grad_theta) {
  return guarded([&] {
    require("grad_grid", grad_grid);
    require("grad_theta", grad_theta);
    return gw::affine_grid_backward(*grad_grid, align_corners != 0, singleton, *grad_theta);
  });
}

gw_status gw_remap(const gw_remap_spec* spec, const gw_tensor* image, const gw_tensor* map_x, const gw_tensor* map_y,
                   const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("image", image);
    require("map_x", map_x);
    require("map_y", map_y);
    require("out", out);
    return gw::remap(*spec, *image, *map_x, *map_y, *out);
  });
}

gw_status gw_warp(const gw_remap_spec* spec, const gw_tensor* image, const double* matrix, const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("image", image);
    require("matrix", matrix);
    require("out", out);
    return gw::warp(*spec, *image, matrix, *out);
  });
}

gw_status gw_map_coordinates(const gw_spline_spec* spec, const gw_tensor* x, const gw_tensor* coordinates,
                             const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("x", x);
    require("coordinates", coordinates);
    require("out", out);
    return gw::map_coordinates(*spec, *x, *coordinates, *out);
  });
}

gw_status gw_map_affine(const gw_spline_spec* spec, const gw_tensor* x, const gw_tensor* matrix,
                        const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("x", x);
    require("matrix", matrix);
    require("out", out);
    return gw::map_affine(*spec, *x, *matrix, *out);
  });
}

gw_status gw_spline_filter(const gw_spline_spec* spec, const gw_tensor* x, int32_t axis) {
  return guarded([&] {
    require("spec", spec);
    require("x", x);
    return gw::spline_filter(*spec, *x, axis);
  });
}

gw_status gw_pillow_transform(const gw_pillow_transform_spec* spec, const gw_tensor* image, const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("image", image);
    require("out", out);
    return gw::transform_pillow(*spec, *image, *out);
  });
}

gw_status gw_pillow_premultiply(const gw_tensor* image, int32_t undo, const gw_tensor* out) {
  return guarded([&] {
    require("image", image);
    require("out", out);
    return gw::premultiply(*image, undo != 0, *out);
  });
}

gw_status gw_projective_transform(const gw_projective_transform_spec* spec, const gw_tensor* images,
                                  const gw_tensor* transforms, const gw_tensor* out) {
  return guarded([&] {
    require("spec", spec);
    require("images", images);
    require("transforms", transforms);
    require("out", out);
    return gw::projective_transform(*spec, *images, *transforms, *out);
  });
}

gw_status gw_set_num_threads(int32_t threads) {
  return guarded([&] {
    if (threads < 0) gw::fail(GW_ERROR_ARGUMENT, "threads must be 0 (the default) or more; got %d", threads);
    gw::set_num_threads(threads);
    return GW_OK;
  });
}

gw_status gw_set_local_num_threads(int32_t threads) {
  return guarded([&] {
    if (threads < 0) gw::fail(GW_ERROR_ARGUMENT, "threads must be 0 (no local number) or more; got %d", threads);
    gw::set_local_num_threads(threads);
    return GW_OK;
  });
}

int32_t gw_get_num_threads(void) { return gw::num_threads(); }
int32_t gw_get_local_num_threads(void) { return gw::local_num_threads(); }

void gw_set_interrupt_check(int32_t (*check)(void*), void* context) { gw::set_interrupt_check(check, context); }

const char* gw_isa(void) { return gw::kernels().name; }
const char* gw_best_isa(void) { return gw::best_isa(); }

#define GW_TEXT(x) #x
#define GW_TEXT_OF(x) GW_TEXT(x)
const char* gw_version(void) {
  return GW_TEXT_OF(GRIDWAVE_VERSION_MAJOR) "." GW_TEXT_OF(GRIDWAVE_VERSION_MINOR) "." GW_TEXT_OF(
      GRIDWAVE_VERSION_PATCH);
}

const char* gw_last_error(void) { return last_error; }

const char* gw_status_name(gw_status status) {
  static const char* const names[] = {"ok",     "shape",       "dtype",   "argument", "unsupported",
                                      "memory", "interrupted", "internal"};
  return status >= GW_OK && status <= GW_ERROR_INTERNAL ? names[status] : "unknown";
}

}  // extern "C"
