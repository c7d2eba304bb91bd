"""GridSample and AffineGrid as ONNX Runtime's CPU execution provider computes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gridwave import sampling
from gridwave.conventions.onnxruntime import AFFINE_SINGLETON, DTYPES, GRID_SAMPLE
from gridwave.errors import UnsupportedError
from gridwave.like import onnx
from gridwave.like._inputs import check_axes, check_dtypes


def GridSample(  # noqa: N802
    X: Any,
    grid: Any,
    *,
    mode: str | None = None,
    padding_mode: str = "zeros",
    align_corners: int = 0,
    opset: int = 20,
) -> Any:
    """Sample ``X`` at the points of ``grid``, as ONNX Runtime does on a CPU.

    Parameters
    ----------
    X : array, (N, C, H, W) or (N, C, D, H, W), float16 | float32 | float64
        The data; before opset 20 images alone.
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), of X's dtype, or float32 with float16
        Normalised coordinates; the last axis is (x, y) or (x, y, z): x runs along W, y along H, y growing downwards,
        z along D. Origin and unit: see ``align_corners``.
    mode : str, optional
        "linear" (default), "nearest" or "cubic"; at opset 16 to 19 "bilinear" (default), "nearest" or "bicubic".
        ``cubic`` is for images alone.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside the input.
    align_corners : int
        1: -1 and 1 are the centres of the corner pixels, 0: their outer edges.
    opset : int
        Opset of the model, 16 or later: it decides the names of the modes.

    Returns
    -------
    array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of X's dtype

    Raises
    ------
    ModeError, ArgumentError, ShapeError, UnsupportedError
        As :func:`gridwave.like.onnx.GridSample`; also for 3-D X, and for ``cubic`` with 5-D X.
    DTypeError
        For a mix of dtypes that ONNX Runtime does not run.

    Notes
    -----
    Equation, coordinates and borders are those of :func:`gridwave.like.torch.grid_sample`, but

    - ``nearest`` rounds (half to even) and then pads: at ties with reflection another pixel than torch's;
    - a NaN or infinite coordinate is put on the lower border: -0.5, or 0 with ``align_corners``.

    One known difference: ONNX Runtime pads taps and takes weights in X's dtype, so that a finite coordinate from 2^24
    samples on (float32) gives 0 with border and reflection padding; here it is clamped or reflected.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    onnxruntime                      the same attributes, CPUExecutionProvider
    gridwave.like.onnx               differs for cubic with border, and for non-finite coordinates
    torch grid_sample                differs as said above
    ===============================  ================================================================

    References
    ----------
    microsoft/onnxruntime 1.32.0, onnxruntime/core/providers/cpu/tensor/grid_sample.cc.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(1.0, 13.0).reshape(1, 1, 3, 4)
    >>> GridSample(x, np.array([[[[np.nan, 0.0], [0.0, 0.0]]]]))  # half of the first pixel of the middle row
    array([[[[2.5, 6.5]]]])
    """
    spec = onnx.replace_modes(GRID_SAMPLE, mode, padding_mode, align_corners, opset)
    if check_axes("X", X, (4, 5)) != 2:
        onnx.check_spatial(opset)
        if spec.mode == "bicubic":
            raise UnsupportedError("mode 'cubic' is for images, 4-D X, alone in ONNX Runtime; got 5-D X.")
    check_dtypes(DTYPES, X=X, grid=grid)
    return sampling.sample(spec, X, grid)


def AffineGrid(theta: Any, size: Iterable[int], *, align_corners: int = 0, opset: int = 20) -> Any:  # noqa: N802
    """Build the sampling grid of affine transforms, as ONNX Runtime does on a CPU.

    Parameters
    ----------
    theta : array, (N, 2, 3) or (N, 3, 4), float32 | float64
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
        Normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ArgumentError, ShapeError, UnsupportedError
        As :func:`gridwave.like.onnx.AffineGrid`.
    DTypeError
        If theta is neither float32 nor float64.

    Notes
    -----
    As :func:`gridwave.like.onnx.AffineGrid`, but with ``align_corners`` an axis of length 1 has coordinate 1.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    onnxruntime                      the same attributes, CPUExecutionProvider
    gridwave.like.onnx               where ``align_corners`` meets an axis of length 1 it has -1
    torch affine_grid                there it has 0
    ===============================  ================================================================

    References
    ----------
    microsoft/onnxruntime 1.32.0, onnxruntime/core/providers/cpu/tensor/affine_grid.cc.

    Examples
    --------
    >>> import numpy as np
    >>> AffineGrid(np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 1, 1, 2], align_corners=1)[0, 0]
    array([[-1.,  1.],
           [ 1.,  1.]])
    """
    theta = theta if hasattr(theta, "dtype") else np.asarray(theta)
    shape, corners = onnx.affine_arguments(size, align_corners, opset)
    check_dtypes((("float32",), ("float64",)), theta=theta)
    return sampling.affine_grid(theta, shape, corners, singleton=AFFINE_SINGLETON)
