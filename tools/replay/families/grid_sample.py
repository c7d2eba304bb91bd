"""grid_sample, its gradients and affine_grid, as PyTorch, ONNX Runtime and the ONNX reference recorded them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridwave import conventions, like, reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.reference.affine_grid import base_grid
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim

CONVENTIONS = {"torch": conventions.torch, "onnxref": conventions.onnx, "ort": conventions.onnxruntime}
ONNX = {"onnxref": like.onnx, "ort": like.onnxruntime}
SINGLETON = {"zero": 0.0, "minus_one": -1.0, "plus_one": 1.0}


def spec_of(case: Case) -> GridSampleSpec:
    """Return the convention of a recorded grid_sample call."""
    kwargs = case["kwargs"]
    mode: Any = {"linear": "bilinear", "cubic": "bicubic"}.get(kwargs["mode"], kwargs["mode"])
    base: GridSampleSpec = CONVENTIONS[case["peer"]].GRID_SAMPLE
    corners = bool(kwargs["align_corners"])
    return replace(base, mode=mode, padding_mode=kwargs["padding_mode"], align_corners=corners)


def coordinate_dtype(grid: NDArray[Any]) -> Any:
    """Return the arithmetic of the coordinates: float64 for float64, else float32, so that ties fall as they do here.

    PyTorch computes those of 16-bit grids in 16 bits; nothing of ours does, so the twin does not either.
    """
    return np.float64 if grid.dtype == np.float64 else np.float32


def run_torch_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call like.torch.grid_sample."""
    return {"y": like.torch.grid_sample(arrays["x"], arrays["grid"], **case["kwargs"])}


def run_torch_gradient(case: Case, arrays: Arrays) -> Arrays:
    """Call like.torch.grid_sample_backward."""
    grad_x, grad_grid = like.torch.grid_sample_backward(
        arrays["grad_output"], arrays["x"], arrays["grid"], **case["kwargs"]
    )
    return {"grad_x": grad_x, "grad_grid": grad_grid}


def run_onnx_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call GridSample as ONNX or ONNX Runtime has it."""
    return {"Y": ONNX[case["peer"]].GridSample(arrays["X"], arrays["grid"], opset=_opset(case), **case["kwargs"])}


def run_torch_affine(case: Case, arrays: Arrays) -> Arrays:
    """Call like.torch.affine_grid and its backward."""
    kwargs = case["kwargs"]
    return {
        "grid": like.torch.affine_grid(arrays["theta"], **kwargs),
        "grad_theta": like.torch.affine_grid_backward(arrays["grad_output"], **kwargs),
    }


def run_onnx_affine(case: Case, arrays: Arrays) -> Arrays:
    """Call AffineGrid as ONNX or ONNX Runtime has it."""
    operator = ONNX[case["peer"]].AffineGrid
    return {"Y": operator(arrays["theta"], arrays["size"], opset=_opset(case), **case["kwargs"])}


def twin_sample(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output of grid_sample in float64."""
    name, x = ("y", arrays["x"]) if "x" in arrays else ("Y", arrays["X"])
    grid, dtype = arrays["grid"], coordinate_dtype(arrays["grid"])
    value, size = (
        reference.grid_sample(x, grid, spec_of(case), coordinate_dtype=dtype, absolute=absolute)
        for absolute in (False, True)
    )
    return {name: _truth(value, size)}


def twin_gradient(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute both gradients of grid_sample in float64."""
    grad, x, grid = arrays["grad_output"], arrays["x"], arrays["grid"]
    dtype = coordinate_dtype(grid)
    values, sizes = (
        reference.grid_sample_backward(grad, x, grid, spec_of(case), coordinate_dtype=dtype, absolute=absolute)
        for absolute in (False, True)
    )
    return {name: _truth(*pair) for name, *pair in zip(("grad_x", "grad_grid"), values, sizes, strict=True)}


def twin_affine(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the grid, and for PyTorch the gradient of theta, in float64."""
    size = [int(v) for v in case["kwargs"].get("size", arrays.get("size"))]
    singleton = SINGLETON[CONVENTIONS[case["peer"]].AFFINE_SINGLETON]
    base = base_grid(size[2:], bool(case["kwargs"]["align_corners"]), singleton)
    theta = arrays["theta"].astype(np.float64)

    def grid(b: Any, t: Any) -> NDArray[np.float64]:
        return np.einsum("...j,nij->n...i", b, t)

    if case["peer"] != "torch":
        return {"Y": _truth(grid(base, theta), grid(np.abs(base), np.abs(theta)))}
    grad = arrays["grad_output"].astype(np.float64)

    def grad_theta(g: Any, b: Any) -> NDArray[np.float64]:
        return np.einsum("npi,pj->nij", g.reshape(len(g), -1, g.shape[-1]), b.reshape(-1, b.shape[-1]))

    return {
        "grid": _truth(grid(base, theta), grid(np.abs(base), np.abs(theta))),
        "grad_theta": _truth(grad_theta(grad, base), grad_theta(np.abs(grad), np.abs(base))),
    }


def _truth(value: NDArray[np.float64], size: NDArray[np.float64]) -> Truth:
    return Truth(value, float(np.max(size, initial=0.0)))


def _opset(case: Case) -> int:
    return int(case["call"].rpartition("@")[2])


FUNCTIONAL = "torch.nn.functional"
claim("torch", "grid_sample", f"{FUNCTIONAL}.grid_sample", Claim(run_torch_sample, twin_sample))
claim("torch", "grid_sample_grad", f"{FUNCTIONAL}.grid_sample", Claim(run_torch_gradient, twin_gradient))
claim("torch", "affine_grid", f"{FUNCTIONAL}.affine_grid", Claim(run_torch_affine, twin_affine))
for _peer in ONNX:
    claim(_peer, "grid_sample", "onnx::GridSample@", Claim(run_onnx_sample, twin_sample))
    claim(_peer, "affine_grid", "onnx::AffineGrid@", Claim(run_onnx_affine, twin_affine))
