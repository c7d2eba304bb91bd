"""ncnn's layer GridSample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from gridwave import sampling
from gridwave.conventions.ncnn import GRID_SAMPLE, PADDING_MODES, SAMPLE_TYPES
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError, ModeError, ShapeError, UnsupportedError
from gridwave.like._inputs import check_dtypes


def GridSample(  # noqa: N802
    x: Any,
    grid: Any,
    *,
    sample_type: int | str = 1,
    padding_mode: int | str = 1,
    align_corner: int = 0,
    permute_fusion: int = 0,
) -> Any:
    """Sample ``x`` at the points of ``grid``, as ncnn's GridSample layer does.

    Parameters
    ----------
    x : array, (C, H, W) or (C, D, H, W), float32
        The data of one image or volume: ncnn has no batch axis.
    grid : array, (H_out, W_out, 2) or (D_out, H_out, W_out, 3), float32
        Normalised coordinates; the last axis is (x, y) or (x, y, z): x runs along W, y along H, z along D, y growing
        downwards. Origin and unit: see ``align_corner``. With ``permute_fusion`` that axis is the first.
    sample_type : {1, 2, 3}
        1 bilinear (for volumes trilinear), 2 nearest, 3 bicubic (images alone); or the name.
    padding_mode : {1, 2, 3}
        1 zeros, 2 border, 3 reflection; or the name.
    align_corner : {0, 1}
        1: -1 and 1 are the centres of the corner pixels, 0: their outer edges.
    permute_fusion : {0, 1}
        1: the grid is (2, H_out, W_out) or (3, D_out, H_out, W_out), as before the permutation that was fused.

    Returns
    -------
    array, (C, H_out, W_out) or (C, D_out, H_out, W_out), float32

    Raises
    ------
    ModeError
        If ``sample_type`` or ``padding_mode`` is not one of the choices.
    ArgumentError
        If a flag is neither 0 nor 1.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.
    UnsupportedError
        For bicubic and volumes.

    Notes
    -----
    Equation, coordinates and borders are those of :func:`gridwave.like.torch.grid_sample`, but

    - ``nearest`` is floor(p + 1/2);
    - reflection is S - |S - |p + 1/2|| - 1/2, or S - 1 - |S - 1 - |p|| with ``align_corner``: once at each mirror, and
      then clamped. More than one image away from the image PyTorch's goes on reflecting. (With ``align_corner`` ncnn's
      vector kernels leave out the clamp, so that such points are 0 in them, and a pixel of the edge in the few points
      at the end of a row which its scalar code does. The scalar code is what is computed here.)

    A NaN or infinite coordinate gives 0 with zeros padding; otherwise it is clamped, and NaN counts as 0. ncnn gives
    NaN for some of these.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    ncnn GridSample                  parameters 0 to 3, float32 without packing
    gridwave.grid_sample             a batch axis; differs as said above
    ===============================  ================================================================

    References
    ----------
    Tencent/ncnn 1.0.20261020, src/layer/gridsample.cpp.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    >>> g = np.array([[[-0.5, 0.0], [0.0, 0.0]]], np.float32)  # 0.5 and 1.5
    >>> GridSample(x, g, sample_type=2)
    array([[[1., 2.]]], dtype=float32)
    """
    mode = _choice("sample_type", sample_type, SAMPLE_TYPES)
    padding = _choice("padding_mode", padding_mode, PADDING_MODES)
    corners, permuted = _flag("align_corner", align_corner), _flag("permute_fusion", permute_fusion)
    check_dtypes((("float32", "float32"),), x=x, grid=grid)
    x, grid = np.asarray(x), np.asarray(grid)
    if x.ndim not in (3, 4):
        raise ShapeError(f"x must be (C, H, W) or (C, D, H, W); got shape {x.shape}.")
    if x.ndim == 4 and mode == "bicubic":
        raise UnsupportedError("sample_type 3, bicubic, is for images, (C, H, W), alone in ncnn; got 4 axes.")
    if permuted and grid.ndim > 0:
        grid = np.moveaxis(grid, 0, -1)
    result = sampling.sample(_spec(mode, padding, corners), x[None], grid[None])
    return result[0]


def _choice(name: str, value: Any, choices: Mapping[int, str]) -> str:
    if isinstance(value, str) and value in choices.values():
        return value
    if not isinstance(value, str | bool) and value in choices:
        return choices[value]
    names = ", ".join(f"{code} ({text})" for code, text in choices.items())
    raise ModeError(f"{name} must be one of {names}; got {value!r}.")


def _flag(name: str, value: Any) -> bool:
    if value not in (0, 1):
        raise ArgumentError(f"{name} must be 0 or 1; got {value!r}.")
    return bool(value)


@cache
def _spec(mode: Any, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
