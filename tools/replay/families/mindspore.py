"""grid_sample, its gradients and affine_grid as MindSpore recorded them."""

from __future__ import annotations

from dataclasses import replace

from gridwave import conventions, like
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim
from replay.sampling import affine_truth, gradient_truths, sample_truth


def run_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call like.mindspore.grid_sample."""
    return {"y": like.mindspore.grid_sample(arrays["x"], arrays["grid"], **case["kwargs"])}


def twin_sample(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64."""
    spec = replace(conventions.mindspore.GRID_SAMPLE, **case["kwargs"])
    return {"y": sample_truth(arrays["x"], arrays["grid"], spec)}


def run_gradient(case: Case, arrays: Arrays) -> Arrays:
    """Call like.mindspore.grid_sample_backward."""
    gradients = like.mindspore.grid_sample_backward(
        arrays["grad_output"], arrays["x"], arrays["grid"], **case["kwargs"]
    )
    return dict(zip(("grad_x", "grad_grid"), gradients, strict=True))


def twin_gradient(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute both gradients in float64."""
    images = arrays["x"].ndim == 4
    base = conventions.mindspore.IMAGE_GRADIENT if images else conventions.mindspore.GRID_SAMPLE
    return gradient_truths(arrays, replace(base, **case["kwargs"]))


def run_affine(case: Case, arrays: Arrays) -> Arrays:
    """Call like.mindspore.affine_grid."""
    kwargs = case["kwargs"]
    return {"grid": like.mindspore.affine_grid(arrays["theta"], kwargs["output_size"], kwargs["align_corners"])}


def twin_affine(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the grid in float64."""
    kwargs = case["kwargs"]
    singleton = conventions.mindspore.AFFINE_SINGLETON
    return {"grid": affine_truth(arrays["theta"], kwargs["output_size"], kwargs["align_corners"], singleton)}


claim("mindspore", "grid_sample", "mindspore.ops.grid_sample", Claim(run_sample, twin_sample))
claim("mindspore", "grid_sample_grad", "mindspore.ops.grid_sample", Claim(run_gradient, twin_gradient))
claim("mindspore", "affine_grid", "mindspore.ops.affine_grid", Claim(run_affine, twin_affine))
