"""The ONNX operators GridSample and AffineGrid, as the operator text and the reference evaluator define them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.onnx import AFFINE_OPSETS, AFFINE_SINGLETON, GRID_SAMPLE, MODES, SPATIAL_OPSET
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError, ModeError, UnsupportedError
from gridwave.like._inputs import check_axes, output_size
from gridwave.modes import PaddingMode, SamplingMode, parse


def GridSample(  # noqa: N802
    X: Any,
    grid: Any,
    *,
    mode: str | None = None,
    padding_mode: str = "zeros",
    align_corners: int = 0,
    opset: int = 20,
) -> Any:
    """Sample ``X`` at the points of ``grid``, as ONNX GridSample does.

    Parameters
    ----------
    X : array, (N, C, W), (N, C, H, W) or (N, C, D, H, W)
        float16, bfloat16, float32, float64, uint8, int8 or uint16. Before opset 20 images alone. Integers are sampled
        in floating point, rounded half to even and saturated.
    grid : array, (N, W_out, 1), (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), floating point
        Normalised coordinates; the last axis is (x,), (x, y) or (x, y, z): x runs along W, y along H, y growing
        downwards, z along D. Origin and unit: see ``align_corners``.
    mode : str, optional
        "linear" (default), "nearest" or "cubic"; at opset 16 to 19 "bilinear" (default), "nearest" or "bicubic".
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside the input.
    align_corners : int
        1: -1 and 1 are the centres of the corner pixels, 0: their outer edges.
    opset : int
        Opset of the model, 16 or later: it decides the names of the modes.

    Returns
    -------
    array, (N, C, W_out), (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of X's dtype

    Raises
    ------
    ModeError
        If a mode is not one of the opset's; the message names the one that is.
    ArgumentError
        If ``align_corners`` is neither 0 nor 1, or ``opset`` is below 16.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.
    UnsupportedError
        If the data is not 2-D before opset 20.

    Notes
    -----
    Equation, coordinates and borders are those of :func:`gridwave.like.torch.grid_sample`, but

    - ``nearest`` rounds (half to even) and then pads: at ties with reflection another pixel than torch's;
    - cubic with border padding clamps a coordinate beyond the outer edges of the input before weights are taken, and
      takes weights first only inside them.

    For NaN, infinite and huge coordinates the operator has no rule and the reference evaluator mostly raises. Here
    they give 0 with zeros padding; otherwise they are clamped, and NaN counts as 0.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    onnx.reference                   the same attributes; it stores coordinates as float32
    gridwave.like.onnxruntime        differs for cubic with border, and for non-finite coordinates
    torch grid_sample                differs as said above
    ===============================  ================================================================

    References
    ----------
    onnx/onnx 1.23.2, docs/Operators.md and onnx/reference/ops/op_grid_sample.py.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> g = np.array([[[[-1.0, -1.0], [0.3, -0.6]]]])
    >>> GridSample(x, g, align_corners=1).round(4)
    array([[[[0.  , 4.35]]]])
    """
    spec = replace_modes(GRID_SAMPLE, mode, padding_mode, align_corners, opset)
    if check_axes("X", X, (3, 4, 5)) != 2:
        check_spatial(opset)
    return sampling.sample(spec, X, grid)


def AffineGrid(theta: Any, size: Iterable[int], *, align_corners: int = 0, opset: int = 20) -> Any:  # noqa: N802
    """Build the sampling grid of affine transforms, as ONNX AffineGrid does.

    Parameters
    ----------
    theta : array, (N, 2, 3) or (N, 3, 4), float16 | bfloat16 | float32 | float64
        One matrix per image or volume. Rows give x, y (and z) of the source; columns multiply x, y, (z,) 1 of the
        output.
    size : sequence of int, (N, C, H, W) or (N, C, D, H, W)
        Shape of the output image or volume.
    align_corners : int
        1: -1 and 1 are the centres of the corner pixels, 0: their outer edges.
    opset : int
        Opset of the model, 20 or later.

    Returns
    -------
    array, (N, H, W, 2) or (N, D, H, W, 3), of theta's dtype
        Normalised coordinates, last axis (x, y) or (x, y, z). The reference evaluator returns float32 whatever theta
        is.

    Raises
    ------
    ArgumentError
        If ``size`` is not positive, or ``align_corners`` is neither 0 nor 1.
    ShapeError
        If ``size`` does not have 4 or 5 numbers, or ``theta`` is not (N, 2, 3) or (N, 3, 4) with the N of ``size``.
    UnsupportedError
        If ``opset`` is below 20.

    Notes
    -----
    grid[n, i, j] = theta[n] @ (x_j, y_i, 1), and grid[n, d, i, j] = theta[n] @ (x_j, y_i, z_d, 1), where
    x_j = (2 j + 1) / W - 1, or 2 j / (W - 1) - 1 with ``align_corners``; an axis of length 1 then has coordinate -1.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    onnx.reference                   the same attributes
    gridwave.like.onnxruntime        where ``align_corners`` meets an axis of length 1 it has 1
    torch affine_grid                there it has 0
    ===============================  ================================================================

    References
    ----------
    onnx/onnx 1.23.2, docs/Operators.md and onnx/reference/ops/op_affine_grid.py.

    Examples
    --------
    >>> import numpy as np
    >>> AffineGrid(np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 1, 1, 2])[0, 0]
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    shape, corners = affine_arguments(size, align_corners, opset)
    return sampling.affine_grid(theta, shape, corners, singleton=AFFINE_SINGLETON)


def replace_modes(
    spec: GridSampleSpec, mode: str | None, padding_mode: str, align_corners: int, opset: int
) -> GridSampleSpec:
    """Return ``spec`` with a GridSample node's attributes, read as ``opset`` names them."""
    names = MODES[_version("GridSample", opset, tuple(MODES))]
    ours = names.get(next(iter(names)) if mode is None else mode) if isinstance(mode, str | None) else None
    if ours is None:
        raise ModeError(_wrong_mode(mode, names, opset))
    parse("padding_mode", padding_mode, PaddingMode)
    return _cached(spec, ours, padding_mode, _flag(align_corners))


def affine_arguments(size: Iterable[int], align_corners: int, opset: int) -> tuple[tuple[int, ...], bool]:
    """Check an AffineGrid node and return its output size and align_corners."""
    _version("AffineGrid", opset, AFFINE_OPSETS)
    return output_size(size), _flag(align_corners)


def check_spatial(opset: int) -> None:
    """Raise unless GridSample at ``opset`` takes other data than images."""
    if opset < SPATIAL_OPSET:
        raise UnsupportedError(
            f"X must have 4 axes, (N, C, H, W), before opset {SPATIAL_OPSET}; got opset {opset}, for images alone."
        )


@cache
def _cached(spec: GridSampleSpec, mode: SamplingMode, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(spec, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


def _version(operator: str, opset: int, since: tuple[int, ...]) -> int:
    """Return the opset that introduced the operator version which ``opset`` uses."""
    if opset < since[0]:
        raise UnsupportedError(f"{operator} exists since opset {since[0]}; got opset {opset}.")
    return max(v for v in since if v <= opset)


def _flag(align_corners: int) -> bool:
    if align_corners not in (0, 1):
        raise ArgumentError(f"align_corners must be 0 or 1; got {align_corners!r}.")
    return bool(align_corners)


def _wrong_mode(mode: object, names: dict[str, SamplingMode], opset: int) -> str:
    text = f"mode must be one of {', '.join(map(repr, names))} at opset {opset}; got {mode!r}"
    for version, other in MODES.items():
        if isinstance(mode, str) and mode in other:
            right = next(name for name, ours in names.items() if ours == other[mode])
            return f"{text}, which is opset {version}'s name: write {right!r}"
    return text
