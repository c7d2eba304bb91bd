"""``torch.nn.functional.grid_sample`` and ``affine_grid``, and their gradients, without PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.spec import GridSampleSpec
from gridwave.conventions.torch import AFFINE_SINGLETON, GRID_SAMPLE
from gridwave.errors import UnsupportedError
from gridwave.like._inputs import check_axes, check_same_dtype, output_size
from gridwave.modes import DoubleGradientTarget, GradientTarget, PaddingMode, SamplingMode, parse


def grid_sample(
    input: Any,  # noqa: A002
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """Sample ``input`` at the points of ``grid``, as ``torch.nn.functional.grid_sample`` does.

    Parameters
    ----------
    input : array, (N, C, H, W) or (N, C, D, H, W), float16 | bfloat16 | float32 | float64
        The data: images or volumes.
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), of input's dtype
        Normalised coordinates; the last axis is (x, y) or (x, y, z): x runs along W, y along H, z along D, y growing
        downwards. Origin and unit: see ``align_corners``.
    mode : {"bilinear", "nearest", "bicubic"}
        How a value between samples is found; for volumes ``bilinear`` is trilinear, and ``bicubic`` is refused.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside the input.
    align_corners : bool, optional
        True: -1 and 1 are the centres of the corner pixels, False: their outer edges. None warns and means False,
        as in PyTorch.

    Returns
    -------
    array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of input's dtype

    Raises
    ------
    ModeError
        If a mode is not one of the choices.
    ShapeError
        If ranks, batch sizes or the last axis of ``grid`` do not fit, or a spatial axis of ``input`` is empty.
    DTypeError
        If the dtypes differ, or are not floating point.
    UnsupportedError
        For ``bicubic`` and volumes.

    Notes
    -----
    With p = ((g + 1) S - 1) / 2, or (g + 1) / 2 (S - 1) with ``align_corners``, for an axis of length S::

        out[n, c, i, j] = sum over taps k, l of  w_k(p_y) w_l(p_x) input[n, c, pad(k), pad(l)]

    and for volumes with taps along z too.

    ``bilinear`` and ``nearest`` pad the coordinate, ``bicubic`` (Keys, a = -0.75) each of its 16 taps. ``nearest``
    rounds halves to even. Border and reflection end with a clamp to [0, S - 1].

    A NaN or infinite coordinate, or one of 2^31 samples or more, gives 0 with zeros padding; otherwise it is clamped,
    and NaN counts as 0. That is PyTorch on CUDA: on the CPU it gives NaN for some of these.

    float16 and bfloat16 are computed in float32 and rounded once; PyTorch's CPU kernels compute coordinates in the
    16-bit type, and read wrong memory in images of more than 32768 pixels.

    ========================  =====================================================================================
    Same as                   with
    ========================  =====================================================================================
    gridwave.grid_sample      the same arguments
    ONNX GridSample           mode names of the opset, int ``align_corners``; differs for bicubic with border, and
                              for nearest with reflection at ties
    paddle grid_sample        ``align_corners`` given: its default is True
    ========================  =====================================================================================

    References
    ----------
    pytorch/pytorch 2.13, aten/src/ATen/native/GridSampler.h.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> g = np.array([[[[-1.0, -1.0], [0.3, -0.6]]]])
    >>> grid_sample(x, g, align_corners=True).round(4)
    array([[[[0.  , 4.35]]]])
    """
    spec = _spec(mode, padding_mode, _corners(align_corners))
    _check_axes(input, mode)
    check_same_dtype(input=input, grid=grid)
    return sampling.sample(spec, input, grid)


def grid_sample_backward(
    grad_output: Any,
    input: Any,  # noqa: A002
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
    output_mask: Sequence[bool] = (True, True),
) -> tuple[Any, Any]:
    """Compute the gradients of :func:`grid_sample`, as ``aten::grid_sampler_2d_backward`` and ``_3d_`` do.

    Parameters
    ----------
    grad_output : array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of input's dtype
        Gradient with respect to the output.
    input, grid, mode, padding_mode, align_corners
        As in :func:`grid_sample`.
    output_mask : (bool, bool)
        Which of the two gradients to compute.

    Returns
    -------
    grad_input : array like input, or None
    grad_grid : array like grid, or None
        With respect to normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ArgumentError, ModeError, ShapeError, DTypeError, UnsupportedError
        As :func:`grid_sample`; also if ``grad_output`` does not have the output's shape.

    Notes
    -----
    At kinks as PyTorch: a coordinate exactly on the border counts as outside (gradient 0) with border and reflection
    padding; on a lattice line the slope is the one to its right; ``nearest`` has a zero gradient with respect to the
    grid. Non-finite and huge coordinates have gradient 0. PyTorch's CPU kernel crashes on some of them.

    ================================  ============================================
    Same as                           with
    ================================  ============================================
    gridwave.grid_sample_backward     ``wrt`` instead of ``output_mask``
    aten::grid_sampler_2d_backward    integer codes for the modes
    ================================  ============================================

    References
    ----------
    pytorch/pytorch 2.13, aten/src/ATen/native/GridSampler.cpp.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 4.0, 9.0, 16.0]).reshape(1, 1, 1, 5)
    >>> g = np.array([0.0, 0.0]).reshape(1, 1, 1, 2)  # x = 0.25 * 2 samples from the centre of the row
    >>> _, grad = grid_sample_backward(np.ones((1, 1, 1, 1)), x, g, align_corners=True)
    >>> float(grad[0, 0, 0, 0])  # slope 5 per sample, 2 samples per unit
    10.0
    """
    spec = _spec(mode, padding_mode, _corners(align_corners))
    _check_axes(input, mode)
    check_same_dtype(grad_output=grad_output, input=input, grid=grid)
    targets: tuple[GradientTarget, ...] = ("x", "grid")
    wrt = tuple(target for target, wanted in zip(targets, output_mask, strict=True) if wanted)
    if not wrt:
        return None, None
    gradients: tuple[Any, Any] = sampling.sample_backward(spec, grad_output, input, grid, wrt=wrt)
    return gradients


def grid_sample_double_backward(
    grad_grad_input: Any,
    grad_grad_grid: Any,
    grad_output: Any,
    input: Any,  # noqa: A002
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
    output_mask: Sequence[bool] = (True, True, True),
) -> tuple[Any, Any, Any]:
    """Compute the gradients of :func:`grid_sample_backward`, as autograd twice does.

    Parameters
    ----------
    grad_grad_input : array, (N, C, H, W) or (N, C, D, H, W), of input's dtype, or None
        Gradient with respect to grad_input. None is zero, as in autograd.
    grad_grad_grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), of input's dtype, or None
        Gradient with respect to grad_grid, in normalised coordinates.
    grad_output, input, grid, mode, padding_mode, align_corners
        As in :func:`grid_sample_backward`.
    output_mask : (bool, bool, bool)
        Which of the three gradients to compute.

    Returns
    -------
    grad_grad_output : array like ``grad_output``, or None
    grad_input : array like ``input``, or None
    grad_grid : array like ``grid``, or None

    Raises
    ------
    ArgumentError, ModeError, ShapeError, DTypeError, UnsupportedError
        As :func:`grid_sample_backward`; also if a grad_grad does not have the shape of what it belongs to.

    Notes
    -----
    The equations are those of :func:`gridwave.grid_sample_double_backward`. In a ``torch.autograd.Function`` this is
    the backward of the backward: its arguments arrive in this order.

    ======================================  ====================================================================
    Same as                                 with
    ======================================  ====================================================================
    gridwave.grid_sample_double_backward    ``wrt`` instead of ``output_mask``
    torch.autograd.grad, twice              PyTorch 2.13; earlier releases raise "derivative for
                                            grid_sampler_2d_backward is not implemented"
    ======================================  ====================================================================

    References
    ----------
    pytorch/pytorch 2.13, aten/src/ATen/native/GridSampler.cpp; its double backward is pull request 177487.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 0.0, 0.0, 1.0]).reshape(1, 1, 2, 2)
    >>> g, along_y = np.zeros((1, 1, 1, 2)), np.array([[[[0.0, 1.0]]]])
    >>> one = np.ones((1, 1, 1, 1))
    >>> _, _, grad = grid_sample_double_backward(None, along_y, one, x, g, align_corners=False)
    >>> grad[0, 0, 0].tolist()  # d2 y / dx dy: 1 per pixel and pixel, 1 pixel per unit
    [1.0, 0.0]
    """
    spec = _spec(mode, padding_mode, _corners(align_corners))
    given = {"grad_grad_input": grad_grad_input, "grad_grad_grid": grad_grad_grid}
    arrays = {name: array for name, array in given.items() if array is not None}
    arrays |= {"grad_output": grad_output, "input": input, "grid": grid}
    _check_axes(input, mode)
    check_same_dtype(**arrays)
    targets: tuple[DoubleGradientTarget, ...] = ("grad_output", "x", "grid")
    wrt = tuple(target for target, wanted in zip(targets, output_mask, strict=True) if wanted)
    if not wrt:
        return None, None, None
    gradients: tuple[Any, Any, Any] = sampling.sample_double_backward(
        spec, grad_grad_input, grad_grad_grid, grad_output, input, grid, wrt=wrt
    )
    return gradients


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """Build the sampling grid of affine transforms, as ``torch.nn.functional.affine_grid`` does.

    Parameters
    ----------
    theta : array, (N, 2, 3) or (N, 3, 4), float16 | bfloat16 | float32 | float64
        One matrix per image or volume. Rows give x, y (and z) of the source; columns multiply x, y, (z,) 1 of the
        output.
    size : sequence of int, (N, C, H, W) or (N, C, D, H, W)
        Shape of the output image or volume.
    align_corners : bool, optional
        True: -1 and 1 are the centres of the corner pixels, False: their outer edges. None warns and means False,
        as in PyTorch.

    Returns
    -------
    array, (N, H, W, 2) or (N, D, H, W, 3), of theta's dtype
        Normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ArgumentError
        If ``size`` is not positive.
    ShapeError
        If ``size`` does not have 4 or 5 numbers, or ``theta`` is not (N, 2, 3) or (N, 3, 4) with the N of ``size``.

    Notes
    -----
    grid[n, i, j] = theta[n] @ (x_j, y_i, 1), and grid[n, d, i, j] = theta[n] @ (x_j, y_i, z_d, 1), where
    x_j = (2 j + 1) / W - 1, or 2 j / (W - 1) - 1 with ``align_corners``; an axis of length 1 then has coordinate 0.

    ========================  =============================================================
    Same as                   with
    ========================  =============================================================
    gridwave.affine_grid      the same arguments
    ONNX AffineGrid           differs where ``align_corners`` meets an axis of length 1: -1
    ONNX Runtime AffineGrid   the same, but there it is 1
    ========================  =============================================================

    References
    ----------
    pytorch/pytorch 2.13, aten/src/ATen/native/AffineGridGenerator.cpp.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid(np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2), align_corners=False)[0, 0]
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    shape = output_size(size)
    return sampling.affine_grid(theta, shape, _corners(align_corners), singleton=AFFINE_SINGLETON)


def affine_grid_backward(grad_output: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """Compute the gradient of :func:`affine_grid`, as ``aten::affine_grid_generator_backward`` does.

    Parameters
    ----------
    grad_output : array, (N, H, W, 2) or (N, D, H, W, 3), float16 | bfloat16 | float32 | float64
        Gradient with respect to the grid.
    size, align_corners
        As in :func:`affine_grid`.

    Returns
    -------
    array, (N, 2, 3) or (N, 3, 4), of grad_output's dtype
        Gradient with respect to theta.

    Raises
    ------
    ArgumentError, ShapeError
        As :func:`affine_grid`; also if ``grad_output`` is not the grid of ``size``.

    Notes
    -----
    grad_theta[n, a] = sum over i, j of grad_output[n, i, j, a] (x_j, y_i, 1), with z for volumes.

    ================================  ======================
    Same as                           with
    ================================  ======================
    gridwave.affine_grid_backward     the same arguments
    ================================  ======================

    References
    ----------
    pytorch/pytorch 2.13, aten/src/ATen/native/AffineGridGenerator.cpp.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid_backward(np.ones((1, 1, 2, 2)), (1, 1, 1, 2), align_corners=False)
    array([[[0., 0., 2.],
            [0., 0., 2.]]])
    """
    shape = output_size(size)
    return sampling.affine_grid_backward(grad_output, shape, _corners(align_corners), singleton=AFFINE_SINGLETON)


def _corners(align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            "align_corners was left out and means False, as in PyTorch since 1.3; say which you want", stacklevel=3
        )
    return bool(align_corners)


def _check_axes(array: Any, mode: str) -> None:
    if check_axes("input", array, (4, 5)) == 3 and mode == "bicubic":
        raise UnsupportedError("mode 'bicubic' is for images, 4-D input, alone in PyTorch; got 5-D input.")


def _spec(mode: str, padding_mode: str, align_corners: bool) -> GridSampleSpec:
    parse("mode", mode, SamplingMode)
    parse("padding_mode", padding_mode, PaddingMode)
    return _cached_spec(mode, padding_mode, align_corners)


@cache
def _cached_spec(mode: Any, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
