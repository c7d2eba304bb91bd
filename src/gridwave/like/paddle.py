"""``paddle.nn.functional.grid_sample`` and ``affine_grid``, and their gradients, without Paddle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.paddle import AFFINE_SINGLETON, DTYPES, GRID_SAMPLE, MODES
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError
from gridwave.like._inputs import check_axes, check_choice, check_dtypes, output_size
from gridwave.modes import PaddingMode, parse


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """Sample ``x`` at the points of ``grid``, as ``paddle.nn.functional.grid_sample`` does.

    Parameters
    ----------
    x : array, (N, C, H, W) or (N, C, D, H, W), float32 | float64
        The data: images or volumes.
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), of x's dtype
        Normalised coordinates; the last axis is (x, y) or (x, y, z): x runs along W, y along H, z along D, y growing
        downwards. Origin and unit: see ``align_corners``.
    mode : {"bilinear", "nearest"}
        How a value between samples is found; for volumes ``bilinear`` is trilinear.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside ``x``.
    align_corners : bool
        True, the default: -1 and 1 are the centres of the corner pixels; False: their outer edges.
    name : str, optional
        Not used.

    Returns
    -------
    array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of x's dtype

    Raises
    ------
    ModeError
        If a mode is not one of the choices; Paddle has no bicubic.
    ArgumentError
        If ``align_corners`` is not a bool.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.

    Notes
    -----
    Equation, coordinates, ties and borders are those of :func:`gridwave.like.torch.grid_sample`. A NaN or infinite
    coordinate, or one of 2^31 samples or more, gives 0 with zeros padding; otherwise it is clamped, and NaN counts as
    0. Paddle's CPU kernel gives NaN for some of these.

    ========================  =============================================================================
    Same as                   with
    ========================  =============================================================================
    paddle grid_sample        the same arguments
    gridwave.grid_sample      ``align_corners`` given: its default is False
    torch grid_sample         ``align_corners`` given: its default is False
    ========================  =============================================================================

    References
    ----------
    PaddlePaddle/Paddle 3.3.1, paddle/phi/kernels/cpu/grid_sample_kernel.cc.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> g = np.array([[[[-1.0, -1.0], [0.3, -0.6]]]])
    >>> grid_sample(x, g).round(4)
    array([[[[0.  , 4.35]]]])
    """
    spec = _checked(mode, padding_mode, align_corners)
    check_axes("x", x, (4, 5))
    check_dtypes(((d, d) for d in DTYPES), x=x, grid=grid)
    return sampling.sample(spec, x, grid)


def grid_sample_backward(
    grad_output: Any,
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
) -> tuple[Any, Any]:
    """Compute the gradients of :func:`grid_sample`, as ``paddle.grad`` does.

    Parameters
    ----------
    grad_output : array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of x's dtype
        Gradient with respect to the output.
    x, grid, mode, padding_mode, align_corners
        As in :func:`grid_sample`.

    Returns
    -------
    grad_x : array like x
    grad_grid : array like grid
        With respect to normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ModeError, ArgumentError, ShapeError, DTypeError
        As :func:`grid_sample`; also if ``grad_output`` does not have the output's shape.

    Notes
    -----
    As :func:`gridwave.like.torch.grid_sample_backward`, but with border and reflection padding a coordinate exactly on
    an outermost sample centre counts as inside. On the last one the slope is then that to its right, where there is
    nothing: minus the sample, as if it faded to 0. Non-finite and huge coordinates have gradient 0.

    ================================  ==============================================================
    Same as                           with
    ================================  ==============================================================
    paddle.grad of grid_sample        the same arguments
    gridwave.grid_sample_backward     differs on the outermost sample centres
    ================================  ==============================================================

    References
    ----------
    PaddlePaddle/Paddle 3.3.1, paddle/phi/kernels/cpu/grid_sample_grad_kernel.cc.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([0.0, 1.0, 4.0, 9.0, 16.0]).reshape(1, 1, 1, 5)
    >>> g = np.array([[[[-1.0, 0.0], [1.0, 0.0]]]])
    >>> _, grad = grid_sample_backward(np.ones((1, 1, 1, 2)), x, g, padding_mode="border")
    >>> grad[0, 0, :, 0].tolist()  # 2 samples per unit: (1 - 0) * 2, (0 - 16) * 2; PyTorch has 0 and 0
    [2.0, -32.0]
    """
    spec = _checked(mode, padding_mode, align_corners)
    check_axes("x", x, (4, 5))
    check_dtypes(((d, d, d) for d in DTYPES), grad_output=grad_output, x=x, grid=grid)
    gradients: tuple[Any, Any] = sampling.sample_backward(spec, grad_output, x, grid)
    return gradients


def affine_grid(theta: Any, out_shape: Sequence[int], align_corners: bool = True, name: str | None = None) -> Any:
    """Build the sampling grid of affine transforms, as ``paddle.nn.functional.affine_grid`` does.

    Parameters
    ----------
    theta : array, (N, 2, 3) or (N, 3, 4), float32 | float64
        One matrix per image or volume. Rows give x, y (and z) of the source; columns multiply x, y, (z,) 1 of the
        output.
    out_shape : sequence of int, (N, C, H, W) or (N, C, D, H, W)
        Shape of the output image or volume.
    align_corners : bool
        True, the default: -1 and 1 are the centres of the corner pixels; False: their outer edges.
    name : str, optional
        Not used.

    Returns
    -------
    array, (N, H, W, 2) or (N, D, H, W, 3), of theta's dtype
        Normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ArgumentError
        If ``out_shape`` is not positive, or ``align_corners`` is not a bool.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.

    Notes
    -----
    As :func:`gridwave.like.torch.affine_grid`. With ``align_corners`` an axis of length 1 has coordinate 0, where
    Paddle divides 0 by 0 and gives NaN.

    ========================  ==================================================
    Same as                   with
    ========================  ==================================================
    paddle affine_grid        the same arguments
    gridwave.affine_grid      ``align_corners`` given: its default is False
    ========================  ==================================================

    References
    ----------
    PaddlePaddle/Paddle 3.3.1, paddle/phi/kernels/cpu/affine_grid_kernel.cc.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid(np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2))[0, 0]
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    shape = output_size(out_shape)
    check_dtypes(((d,) for d in DTYPES), theta=theta)
    return sampling.affine_grid(theta, shape, _flag(align_corners), singleton=AFFINE_SINGLETON)


def affine_grid_backward(grad_output: Any, out_shape: Sequence[int], align_corners: bool = True) -> Any:
    """Compute the gradient of :func:`affine_grid`, as ``paddle.grad`` does.

    Parameters
    ----------
    grad_output : array, (N, H, W, 2) or (N, D, H, W, 3), float32 | float64
        Gradient with respect to the grid.
    out_shape, align_corners
        As in :func:`affine_grid`.

    Returns
    -------
    array, (N, 2, 3) or (N, 3, 4), of grad_output's dtype
        Gradient with respect to theta.

    Raises
    ------
    ArgumentError, ShapeError, DTypeError
        As :func:`affine_grid`; also if ``grad_output`` is not the grid of ``out_shape``.

    Notes
    -----
    grad_theta[n, a] = sum over i, j of grad_output[n, i, j, a] (x_j, y_i, 1), with z for volumes.

    ================================  ==================================================
    Same as                           with
    ================================  ==================================================
    gridwave.affine_grid_backward     ``align_corners`` given: its default is False
    ================================  ==================================================

    References
    ----------
    PaddlePaddle/Paddle 3.3.1, paddle/phi/kernels/cpu/affine_grid_grad_kernel.cc.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid_backward(np.ones((1, 1, 2, 2)), (1, 1, 1, 2), align_corners=False)
    array([[[0., 0., 2.],
            [0., 0., 2.]]])
    """
    shape = output_size(out_shape)
    check_dtypes(((d,) for d in DTYPES), grad_output=grad_output)
    return sampling.affine_grid_backward(grad_output, shape, _flag(align_corners), singleton=AFFINE_SINGLETON)


def _flag(align_corners: Any) -> bool:
    if not isinstance(align_corners, bool):
        raise ArgumentError(f"align_corners must be True or False, as in Paddle; got {align_corners!r}.")
    return align_corners


def _checked(mode: str, padding_mode: str, align_corners: Any) -> GridSampleSpec:
    check_choice("mode", mode, MODES)
    parse("padding_mode", padding_mode, PaddingMode)
    return _spec(mode, padding_mode, _flag(align_corners))


@cache
def _spec(mode: Any, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
