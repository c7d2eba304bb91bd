"""The ONNX operator GridSample as MNN runs it after conversion."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.mnn import GRID_SAMPLE, PADS_AS, RUNS_AS, VOLUME
from gridwave.conventions.spec import GridSampleSpec
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
    """Sample ``X`` at the points of ``grid``, as a model converted by mnnconvert does.

    Parameters
    ----------
    X : array, (N, C, H, W) or (N, C, D, H, W), float32
        The data; before opset 20 images alone.
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), float32
        Normalised coordinates; the last axis is (x, y) or (x, y, z): x runs along W, y along H, z along D, y growing
        downwards. Origin and unit: see ``align_corners``.
    mode : str, optional
        "linear" (default), "nearest" or "cubic"; at opset 16 to 19 "bilinear" (default), "nearest" or "bicubic". What
        is cubic runs as linear, see below.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside the input. ``reflection`` runs as ``border``, see below.
    align_corners : int
        1: -1 and 1 are the centres of the corner pixels, 0: their outer edges.
    opset : int
        Opset of the model, 16 or later: it decides the names of the modes.

    Returns
    -------
    array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), float32

    Raises
    ------
    ModeError, ArgumentError, ShapeError, DTypeError, UnsupportedError
        As :func:`gridwave.like.onnx.GridSample`; also for 3-D X, and for other dtypes than float32.

    Notes
    -----
    Of the node's attributes MNN has a part, and converts the others without a warning:

    - ``bicubic`` is bilinear;
    - ``reflection`` is border;
    - ``nearest`` is floor(p + 1/2);
    - coordinates of volumes are g S/2 + (S - 1)/2, so that ties fall elsewhere than with ((g + 1) S - 1) / 2.

    Otherwise equation and coordinates are those of :func:`gridwave.like.torch.grid_sample`. A NaN or infinite
    coordinate gives 0 with zeros padding; otherwise it is clamped, and NaN counts as 0. MNN gives NaN for some of them.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    MNN of a converted model         the same attributes, CPU, precision high
    gridwave.like.onnx               differs as said above
    ===============================  ================================================================

    References
    ----------
    alibaba/MNN 3.6.1, source/backend/cpu/CPUGridSample.cpp.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4) ** 2
    >>> g = np.array([[[[0.25, 0.0], [1.5, 0.0]]]], np.float32)  # 2 and 4.5
    >>> GridSample(x, g, mode="cubic", padding_mode="reflection")
    array([[[[4., 9.]]]], dtype=float32)
    """
    volume = check_axes("X", X, (4, 5)) == 3
    if volume:
        onnx.check_spatial(opset)
    asked = onnx.replace_modes(VOLUME if volume else GRID_SAMPLE, mode, padding_mode, align_corners, opset)
    check_dtypes((("float32", "float32"),), X=X, grid=grid)
    return sampling.sample(_converted(asked), X, grid)


@cache
def _converted(asked: GridSampleSpec) -> GridSampleSpec:
    return replace(asked, mode=RUNS_AS[asked.mode], padding_mode=PADS_AS[asked.padding_mode])
