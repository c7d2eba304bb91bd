"""The Ascend operator GridSampler2DGrad."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.ascend import DTYPES, GRID_SAMPLE
from gridwave.conventions.spec import GridSampleSpec
from gridwave.like._inputs import check_dtypes, check_planar
from gridwave.modes import Layout, PaddingMode, SamplingMode, parse


def grid_sampler_2d_grad(
    grad: Any,
    x: Any,
    grid: Any,
    interpolation_mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    *,
    data_format: Layout = "NCHW",
) -> tuple[Any, Any]:
    """Compute the gradients of grid_sample with respect to the data and the grid: an oracle for GridSampler2DGrad.

    Parameters
    ----------
    grad : array, (N, C, H_out, W_out) or (N, H_out, W_out, C), float16 | bfloat16 | float32 | float64
        Gradient with respect to the sampled output.
    x : array, (N, C, H, W) or (N, H, W, C), of grad's dtype
        The data; H and W are not 0.
    grid : array, (N, H_out, W_out, 2), of grad's dtype
        Normalised coordinates; the last axis is (x, y): x runs along W, y along H. (-1, -1) is top left and (1, 1)
        bottom right: y grows downwards.
    interpolation_mode : {"bilinear", "nearest", "bicubic"}
        How a value between samples is found.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside the data.
    align_corners : bool
        True: -1 and 1 are the centres of the corner pixels, False: their outer edges.
    data_format : {"NCHW", "NHWC"}
        Layout of grad, x and dx.

    Returns
    -------
    dx : array, of x's shape and dtype
    dgrid : array, of grid's shape and dtype
        With respect to normalised coordinates, last axis (x, y).

    Raises
    ------
    ModeError
        If a mode or ``data_format`` is not one of the choices.
    ShapeError
        If shapes do not fit, or H or W is 0.
    DTypeError
        If the three dtypes differ, or are not one of the four.
    UnsupportedError
        If the data is not 2-D.

    Notes
    -----
    With gix = p_x and gix_mult = d p_x / d grid_x = (W - 1) / 2 with ``align_corners``, else W / 2 (likewise for y)::

        dx[n, c, pad(k), pad(l)] += grad[n, c, i, j] w_k(p_y) w_l(p_x)        for each tap (k, l) inside
        dgrid[n, i, j, 0] = gix_mult m(p_x) sum over c, k, l of grad[n, c, i, j] w_k(p_y) w_l'(p_x) x[n, c, k, l]

    where m is 1, or for bilinear with border 0 on and outside the border, or with reflection the sign of the
    reflected slope, and 0 where the final clamp acts.

    Where the operator's note can be misread, this is what is computed:

    - (-1, -1) is the top left corner, (1, 1) the bottom right.
    - The derivatives of the cubic weights are taken at the signed distances t + 1, t, t - 1, t - 2, not at their
      absolute values; they sum to 0.
    - For bicubic, padding moves each of the 16 taps; m is 1 and only gix_mult scales the grid's gradient.
    - With ``align_corners`` -1 and 1 are the centres of the corner pixels; without, their outer edges.
    - Bicubic tap (k, l), 0 <= k, l < 4, is pixel (floor(p_y) - 1 + k, floor(p_x) - 1 + l) before padding; with zeros
      padding taps outside are dropped.
    - The reflected slope is 1 or -1, and 0 only on an axis of length 1 with ``align_corners``.

    float16 and bfloat16 are computed in float32 and rounded once. Results do not depend on the number of threads.
    Coordinates that are NaN, infinite, or of 2^31 samples or more have gradient 0 with respect to the grid; with zeros
    padding they add nothing to dx, otherwise they are clamped and NaN counts as 0.

    =================================  ==================================================
    Same as                            with
    =================================  ==================================================
    gridwave.grid_sample_backward      ``layout`` instead of ``data_format``
    aten::grid_sampler_2d_backward     integer codes for the modes, NCHW
    =================================  ==================================================

    References
    ----------
    hicann/ops-cv, image/grid_sampler2_d_grad; pytorch/pytorch aten/src/ATen/native/GridSampler.cpp.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 4.0, 9.0, 16.0]).reshape(1, 1, 1, 5)
    >>> g = np.array([[[[-1.0, 0.0], [0.25, 0.0]]]])  # samples 0 (on the border) and 2.5
    >>> dx, dgrid = grid_sampler_2d_grad(np.ones((1, 1, 1, 2)), x, g, "bilinear", "border", True)
    >>> dx.ravel(), dgrid[..., 0].ravel()
    (array([1. , 0. , 0.5, 0.5, 0. ]), array([ 0., 10.]))
    """
    parse("interpolation_mode", interpolation_mode, SamplingMode)
    parse("padding_mode", padding_mode, PaddingMode)
    parse("data_format", data_format, Layout)
    for name, array in {"grad": grad, "x": x, "grid": grid}.items():
        check_planar(name, array)
    check_dtypes(((d, d, d) for d in DTYPES), grad=grad, x=x, grid=grid)
    spec = _spec(interpolation_mode, padding_mode, bool(align_corners))
    gradients: tuple[Any, Any] = sampling.sample_backward(spec, grad, x, grid, layout=data_format)
    return gradients


@cache
def _spec(mode: Any, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
