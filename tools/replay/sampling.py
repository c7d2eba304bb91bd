"""The float64 twin's answer to recorded sampling calls, for the families of frameworks that share it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gridwave import reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.reference.affine_grid import base_grid
from replay.cases import Arrays
from replay.registry import Truth

SINGLETON = {"zero": 0.0, "minus_one": -1.0, "plus_one": 1.0}


def sample_truth(x: Any, grid: Any, spec: GridSampleSpec) -> Truth:
    """Return the output of grid_sample; coordinates in the grid's own arithmetic, so that ties fall as in the peer."""
    value, size = (
        reference.grid_sample(x, grid, spec, coordinate_dtype=grid.dtype, absolute=absolute)
        for absolute in (False, True)
    )
    return _truth(value, size)


def gradient_truths(arrays: Arrays, spec: GridSampleSpec) -> dict[str, Truth]:
    """Return both gradients of grid_sample."""
    grad, x, grid = arrays["grad_output"], arrays["x"], arrays["grid"]
    values, sizes = (
        reference.grid_sample_backward(grad, x, grid, spec, coordinate_dtype=grid.dtype, absolute=absolute)
        for absolute in (False, True)
    )
    return {name: _truth(*pair) for name, *pair in zip(("grad_x", "grad_grid"), values, sizes, strict=True)}


def affine_truth(theta: Any, size: Sequence[int], align_corners: bool, singleton: str) -> Truth:
    """Return the grid of an affine map."""
    base = base_grid(size[2:], align_corners, SINGLETON[singleton])
    matrix = theta.astype(np.float64)
    value, bound = (np.einsum("...j,nij->n...i", b, t) for b, t in ((base, matrix), (np.abs(base), np.abs(matrix))))
    return _truth(value, bound)


def _truth(value: Any, size: Any) -> Truth:
    return Truth(value, float(np.max(size, initial=0.0)))
