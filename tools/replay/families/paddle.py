"""grid_sample, its gradients and affine_grid as Paddle recorded them."""

from __future__ import annotations

from dataclasses import replace

from gridwave import conventions, like
from gridwave.conventions.spec import GridSampleSpec
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim
from replay.sampling import affine_truth, gradient_truths, sample_truth


def spec_of(case: Case) -> GridSampleSpec:
    """Return the convention of a recorded call."""
    return replace(conventions.paddle.GRID_SAMPLE, **case["kwargs"])


def run_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call like.paddle.grid_sample."""
    return {"y": like.paddle.grid_sample(arrays["x"], arrays["grid"], **case["kwargs"])}


def twin_sample(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64."""
    return {"y": sample_truth(arrays["x"], arrays["grid"], spec_of(case))}


def run_gradient(case: Case, arrays: Arrays) -> Arrays:
    """Call like.paddle.grid_sample_backward."""
    gradients = like.paddle.grid_sample_backward(arrays["grad_output"], arrays["x"], arrays["grid"], **case["kwargs"])
    return dict(zip(("grad_x", "grad_grid"), gradients, strict=True))


def twin_gradient(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute both gradients in float64."""
    return gradient_truths(arrays, spec_of(case))


def run_affine(case: Case, arrays: Arrays) -> Arrays:
    """Call like.paddle.affine_grid."""
    return {"grid": like.paddle.affine_grid(arrays["theta"], **case["kwargs"])}


def twin_affine(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the grid in float64."""
    kwargs = case["kwargs"]
    singleton = conventions.paddle.AFFINE_SINGLETON
    return {"grid": affine_truth(arrays["theta"], kwargs["out_shape"], kwargs["align_corners"], singleton)}


FUNCTIONAL = "paddle.nn.functional"
claim("paddle", "grid_sample", f"{FUNCTIONAL}.grid_sample", Claim(run_sample, twin_sample))
claim("paddle", "grid_sample_grad", f"{FUNCTIONAL}.grid_sample", Claim(run_gradient, twin_gradient))
claim("paddle", "affine_grid", f"{FUNCTIONAL}.affine_grid", Claim(run_affine, twin_affine))
