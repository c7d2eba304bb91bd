"""``mindspore.ops.grid_sample`` and ``affine_grid``, and their gradients, without MindSpore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.mindspore import AFFINE_SINGLETON, DTYPES, GRID_SAMPLE, IMAGE_GRADIENT, MODES
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError
from gridwave.like._inputs import check_axes, check_choice, check_dtypes, output_size
from gridwave.modes import PaddingMode, parse


def grid_sample(
    input: Any,  # noqa: A002
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Any:
    """Sample ``input`` at the points of ``grid``, as ``mindspore.ops.grid_sample`` does.

    Parameters
    ----------
    input : array, (N, C, H, W) or (N, C, D, H, W), float16 | float32 | float64
        The data: images or volumes.
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3), of input's dtype
        Normalised coordinates; the last axis is (x, y) or (x, y, z): x runs along W, y along H, z along D, y growing
        downwards. Origin and unit: see ``align_corners``.
    mode : {"bilinear", "nearest"}
        How a value between samples is found; for volumes ``bilinear`` is trilinear.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside the input.
    align_corners : bool
        True: -1 and 1 are the centres of the corner pixels, False: their outer edges.

    Returns
    -------
    array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of input's dtype

    Raises
    ------
    ModeError
        If a mode is not one of the choices; MindSpore 2.10 refuses bicubic.
    ArgumentError
        If ``align_corners`` is not a bool.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.

    Notes
    -----
    Equation, coordinates and borders are those of :func:`gridwave.like.torch.grid_sample`, but ``nearest`` rounds
    halves away from 0. A NaN or infinite coordinate, or one of 2^31 samples or more, gives 0 with zeros padding;
    otherwise it is clamped, and NaN counts as 0; in MindSpore as the last sample. MindSpore computes float64 images in
    float32, which is not imitated.

    ========================  =============================================================================
    Same as                   with
    ========================  =============================================================================
    mindspore grid_sample     the same arguments, on a CPU
    torch grid_sample         differs where ``nearest`` is half-way between two samples
    ========================  =============================================================================

    References
    ----------
    MindSpore 2.10.0, mindspore/ccsrc/plugin/device/cpu/kernel/grid_sampler_2d_cpu_kernel.cc.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4.0).reshape(1, 1, 1, 4)
    >>> g = np.array([[[[-0.5, 0.0], [0.0, 0.0]]]])  # 0.5 and 1.5
    >>> grid_sample(x, g, "nearest")
    array([[[[1., 2.]]]])
    """
    spec = _checked(GRID_SAMPLE, mode, padding_mode, align_corners)
    check_axes("input", input, (4, 5))
    check_dtypes(((d, d) for d in DTYPES), input=input, grid=grid)
    return sampling.sample(spec, input, grid)


def grid_sample_backward(
    grad_output: Any,
    input: Any,  # noqa: A002
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> tuple[Any, Any]:
    """Compute the gradients of :func:`grid_sample`, as ``mindspore.ops.GradOperation`` does.

    Parameters
    ----------
    grad_output : array, (N, C, H_out, W_out) or (N, C, D_out, H_out, W_out), of input's dtype
        Gradient with respect to the output.
    input, grid, mode, padding_mode, align_corners
        As in :func:`grid_sample`.

    Returns
    -------
    grad_input : array like input
    grad_grid : array like grid
        With respect to normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ModeError, ArgumentError, ShapeError, DTypeError
        As :func:`grid_sample`; also if ``grad_output`` does not have the output's shape.

    Notes
    -----
    As :func:`gridwave.like.torch.grid_sample_backward`, for images in every point: half-way between two pixels the
    gradient of ``nearest`` goes to the even one, though the other may have been read. For volumes it goes to the one
    that was read. Non-finite coordinates have gradient 0; MindSpore dies on some of them, and gives NaN for reflection
    on an axis of length 1 with ``align_corners``.

    ================================  ==============================================================
    Same as                           with
    ================================  ==============================================================
    mindspore.ops.GradOperation       of grid_sample, on a CPU
    gridwave.grid_sample_backward     differs for volumes where ``nearest`` is half-way
    ================================  ==============================================================

    References
    ----------
    MindSpore 2.10.0, mindspore/ccsrc/plugin/device/cpu/kernel/grid_sampler_2d_grad_cpu_kernel.cc, ..._3d_....

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4.0).reshape(1, 1, 1, 4)
    >>> g = np.array([[[[-0.5, 0.0]]]])  # 0.5: pixel 1 is read, pixel 0 gets the gradient
    >>> grid_sample_backward(np.ones((1, 1, 1, 1)), x, g, "nearest")[0]
    array([[[[1., 0., 0., 0.]]]])
    """
    base = IMAGE_GRADIENT if check_axes("input", input, (4, 5)) == 2 else GRID_SAMPLE
    spec = _checked(base, mode, padding_mode, align_corners)
    check_dtypes(((d, d, d) for d in DTYPES), grad_output=grad_output, input=input, grid=grid)
    gradients: tuple[Any, Any] = sampling.sample_backward(spec, grad_output, input, grid)
    return gradients


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool = False) -> Any:
    """Build the sampling grid of affine transforms, as ``mindspore.ops.affine_grid`` does.

    Parameters
    ----------
    theta : array, (N, 2, 3) or (N, 3, 4), float16 | float32 | float64
        One matrix per image or volume. Rows give x, y (and z) of the source; columns multiply x, y, (z,) 1 of the
        output.
    size : sequence of int, (N, C, H, W) or (N, C, D, H, W)
        Shape of the output image or volume.
    align_corners : bool
        True: -1 and 1 are the centres of the corner pixels, False: their outer edges.

    Returns
    -------
    array, (N, H, W, 2) or (N, D, H, W, 3), of theta's dtype
        Normalised coordinates, last axis (x, y) or (x, y, z).

    Raises
    ------
    ArgumentError
        If ``size`` is not positive, or ``align_corners`` is not a bool.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.

    Notes
    -----
    As :func:`gridwave.like.torch.affine_grid`; with ``align_corners`` an axis of length 1 has coordinate 0.

    ========================  =======================
    Same as                   with
    ========================  =======================
    gridwave.affine_grid      the same arguments
    torch affine_grid         the same arguments
    ========================  =======================

    References
    ----------
    MindSpore 2.10.0, mindspore.ops.affine_grid.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid(np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2))[0, 0]
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """
    shape = output_size(size)
    check_dtypes(((d,) for d in DTYPES), theta=theta)
    return sampling.affine_grid(theta, shape, _flag(align_corners), singleton=AFFINE_SINGLETON)


def affine_grid_backward(grad_output: Any, size: Sequence[int], align_corners: bool = False) -> Any:
    """Compute the gradient of :func:`affine_grid`.

    Parameters
    ----------
    grad_output : array, (N, H, W, 2) or (N, D, H, W, 3), float16 | float32 | float64
        Gradient with respect to the grid.
    size, align_corners
        As in :func:`affine_grid`.

    Returns
    -------
    array, (N, 2, 3) or (N, 3, 4), of grad_output's dtype
        Gradient with respect to theta.

    Raises
    ------
    ArgumentError, ShapeError, DTypeError
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
    MindSpore 2.10.0, mindspore.ops.affine_grid.

    Examples
    --------
    >>> import numpy as np
    >>> affine_grid_backward(np.ones((1, 1, 2, 2)), (1, 1, 1, 2))
    array([[[0., 0., 2.],
            [0., 0., 2.]]])
    """
    shape = output_size(size)
    check_dtypes(((d,) for d in DTYPES), grad_output=grad_output)
    return sampling.affine_grid_backward(grad_output, shape, _flag(align_corners), singleton=AFFINE_SINGLETON)


def _flag(align_corners: Any) -> bool:
    if not isinstance(align_corners, bool):
        raise ArgumentError(f"align_corners must be True or False, as in MindSpore; got {align_corners!r}.")
    return align_corners


def _checked(base: GridSampleSpec, mode: str, padding_mode: str, align_corners: Any) -> GridSampleSpec:
    check_choice("mode", mode, MODES)
    parse("padding_mode", padding_mode, PaddingMode)
    return _spec(base, mode, padding_mode, _flag(align_corners))


@cache
def _spec(base: GridSampleSpec, mode: Any, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(base, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
