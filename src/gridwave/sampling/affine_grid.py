"""affine_grid and its gradient: parse arguments, allocate, call core."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError, ShapeError
from gridwave.modes import Singleton, parse
from gridwave.sampling._codes import flag
from gridwave.typing import FLOAT_DTYPES, as_numpy, carrier, dtype_code


def affine_grid(theta: Any, size: Any, align_corners: bool = False, *, singleton: Singleton = "zero") -> Any:
    """Make the grid of an affine map, for :func:`grid_sample`.

    Parameters
    ----------
    theta : array, (N, 2, 3), or (N, 3, 4) for volumes, float16 | bfloat16 | float32 | float64
        Row k gives coordinate k (x, then y, then z) of the input from (x, y, 1) or (x, y, z, 1) of the output, all in
        [-1, 1].
    size : sequence of 4 or 5 int
        (N, C, H, W) of the image, or (N, C, D, H, W) of the volume to make; C is not used.
    align_corners : bool
        What -1 and 1 mean, as in :func:`grid_sample`.
    singleton : {"zero", "minus_one", "plus_one"}
        Coordinate of an axis of length 1 with ``align_corners``: 0 in PyTorch, -1 in the ONNX reference, 1 in ONNX
        Runtime.

    Returns
    -------
    array, (N, H, W, 2) or (N, D, H, W, 3), of the dtype and kind of ``theta``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError
        ``theta`` not (N, 2, 3) or (N, 3, 4), ``size`` not four or five lengths, batch sizes that differ, an unknown
        ``singleton``.

    Notes
    -----
    ``grid[n, i, j] = theta[n] @ (x_j, y_i, 1)``, and for volumes ``grid[n, d, i, j] = theta[n] @ (x_j, y_i, z_d, 1)``,
    with ``x_j = (2 j + 1) / W - 1``, or ``2 j / (W - 1) - 1`` with ``align_corners``, and likewise y and z; summed in
    float64, one rounding. NaN in ``theta`` gives NaN.

    Same as ``torch.nn.functional.affine_grid`` and ONNX ``AffineGrid``-20.

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> gw.affine_grid(np.array([[[1.0, 0, 0], [0, 1, 0]]]), (1, 1, 1, 4))[0, 0, :, 0].tolist()
    [-0.75, -0.25, 0.25, 0.75]
    """
    theta, give = as_numpy("theta", theta)
    code = dtype_code("theta", theta, FLOAT_DTYPES)
    n, *lengths = _lengths(size)
    grid = np.empty((n, *lengths, len(lengths)), theta.dtype)
    corners = bool(flag("align_corners", align_corners))
    _core.affine_grid(carrier(theta), code, corners, parse("singleton", singleton, Singleton), carrier(grid))
    return grid if give is None else give(grid)


def affine_grid_backward(
    grad_output: Any, size: Any = None, align_corners: bool = False, *, singleton: Singleton = "zero"
) -> Any:
    """Compute the gradient of :func:`affine_grid` with respect to ``theta``.

    Parameters
    ----------
    grad_output : array, (N, H, W, 2) or (N, D, H, W, 3), float16 | bfloat16 | float32 | float64
        Gradient of a scalar with respect to the grid.
    size : sequence of 4 or 5 int, optional
        (N, C, H, W) or (N, C, D, H, W); only checked against ``grad_output``.
    align_corners, singleton
        As in :func:`affine_grid`.

    Returns
    -------
    array, (N, 2, 3) or (N, 3, 4), of the dtype and kind of ``grad_output``
        ``sum over i, j of grad_output[n, i, j, k] (x_j, y_i, 1)``, with a z for volumes, summed in float64 row by row,
        one rounding.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError
        As :func:`affine_grid`.
    """
    grad_output, give = as_numpy("grad_output", grad_output)
    code = dtype_code("grad_output", grad_output, FLOAT_DTYPES)
    axes = 3 if grad_output.ndim == 5 else 2
    if size is not None and grad_output.shape != (*(lengths := _lengths(size)), len(lengths) - 1):
        wanted = "(N, H, W, 2)" if len(lengths) == 3 else "(N, D, H, W, 3)"
        raise ShapeError(f"grad_output must have shape {wanted} of size {tuple(size)}; got {grad_output.shape}")
    n = grad_output.shape[0] if grad_output.ndim else 0
    grad_theta = np.empty((n, axes, axes + 1), grad_output.dtype)
    corners = bool(flag("align_corners", align_corners))
    _core.affine_grid_backward(
        carrier(grad_output), code, corners, parse("singleton", singleton, Singleton), carrier(grad_theta)
    )
    return grad_theta if give is None else give(grad_theta)


def _lengths(size: Any) -> tuple[int, ...]:
    """Return (N, H, W) or (N, D, H, W)."""
    try:
        lengths = [operator.index(np.asarray(v).item()) for v in size]
    except (TypeError, ValueError):
        raise ArgumentError(f"size must be four lengths (N, C, H, W), or five of a volume; got {size!r}") from None
    if len(lengths) not in (4, 5):
        raise ShapeError(f"size must be four lengths (N, C, H, W), or five of a volume; got {tuple(lengths)}")
    if lengths[0] * math.prod(lengths[2:]) >= 2**58:
        raise ShapeError(f"size must describe a grid that memory can hold; got {tuple(lengths)}")
    if min(lengths) < 0 or min(lengths[2:]) < 1:
        raise ShapeError(f"size must have N, C >= 0 and D, H, W >= 1; got {tuple(lengths)}")
    return (lengths[0], *lengths[2:])
