"""The gradient of grid_sample's gradient: parse modes, allocate, call core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError
from gridwave.modes import DoubleGradientTarget, Layout, PaddingMode, SamplingMode, parse
from gridwave.sampling._codes import codes_of, spec_codes
from gridwave.typing import FLOAT_DTYPES, Array, as_numpy, carrier, dtype_code

if TYPE_CHECKING:
    from gridwave.conventions.spec import GridSampleSpec

_ALL: tuple[DoubleGradientTarget, ...] = ("grad_output", "x", "grid")


def grid_sample_double_backward(
    grad_grad_x: Any,
    grad_grad_grid: Any,
    grad_output: Any,
    x: Any,
    grid: Any,
    mode: SamplingMode = "bilinear",
    padding_mode: PaddingMode = "zeros",
    align_corners: bool = False,
    *,
    layout: Layout = "NCHW",
    wrt: tuple[DoubleGradientTarget, ...] = _ALL,
) -> tuple[Any, Any, Any]:
    """Differentiate :func:`grid_sample_backward`: second gradients, for penalties on gradients and Newton steps.

    Parameters
    ----------
    grad_grad_x : array like ``x``, or None
        Gradient of a scalar with respect to the ``grad_x`` of :func:`grid_sample_backward`. None means zero.
    grad_grad_grid : array like ``grid``, or None
        Gradient of the same scalar with respect to its ``grad_grid``. None means zero.
    grad_output, x, grid, mode, padding_mode, align_corners, layout
        As in :func:`grid_sample_backward`: of the same shapes, dtypes and units.
    wrt : tuple of {"grad_output", "x", "grid"}
        Which gradients to compute; what is not asked for costs nothing.

    Returns
    -------
    grad_grad_output : array like ``grad_output``, or None
    grad_x : array like ``x``, or None
        Zero without ``grad_grad_grid``, since :func:`grid_sample_backward` is linear in ``x``.
    grad_grid : array like ``grid``, or None
        With respect to normalised coordinates, last axis (x, y); of signals (x,), of volumes (x, y, z).

    Raises
    ------
    ShapeError
        As :func:`grid_sample_backward`; ``grad_grad_x`` not of the shape of ``x``, ``grad_grad_grid`` of ``grid``.
    DTypeError
        An integer or mixed dtype: all images are of one dtype, both grids of another or the same.
    ModeError, ArgumentError
        As :func:`grid_sample_backward`.

    Notes
    -----
    Images, and as :func:`grid_sample` signals (N, C, W) and volumes (N, C, D, H, W), in all modes.

    A point at g reads pixels i with weights ``w_i(g)``: its value is ``sum_i w_i x_i``, its first gradients are
    ``grad_x_i = grad_output w_i`` and ``grad_grid_k = sum_c grad_output sum_i (dw_i/dg_k) x_i``. With v for
    ``grad_grad_x`` and u for ``grad_grad_grid`` this function returns::

        grad_grad_output = sum_i w_i v_i  +  sum_k u_k sum_i (dw_i/dg_k) x_i
        grad_x_i         = grad_output sum_k u_k dw_i/dg_k                               added over points
        grad_grid_k      = sum_c grad_output [ sum_i (dw_i/dg_k) v_i
                                               + sum_l u_l sum_i (d2w_i/dg_k dg_l) x_i ]

    ``bilinear`` has no second derivative along one axis, and a mixed one of +-1 pixel^-2; ``bicubic`` has those of
    Keys' polynomials; ``nearest`` has no derivative at all, so that only ``sum_i w_i v_i`` is left. Padding enters as
    in the first gradient, by its slope: 0 where ``border`` clamps, a sign where ``reflection`` reflects; its own second
    derivative is 0.

    Kinks (pixel centres of ``bilinear``, edges of ``border``, mirrors, and the knots of ``bicubic``, whose second
    derivative jumps there) have no second derivative. The point counts as on the piece of the function whose slope
    :func:`grid_sample_backward` gives: the one to its right, and outside on an edge. A coordinate that is not finite
    has gradient 0; coordinates and taps are those of the first gradient to the bit.

    float16 and bfloat16 are computed in float32 and rounded once. Sums are cut by shapes alone: the same bits for any
    number of threads.

    ==========  ==============================================================================================
    Same as     difference
    ==========  ==============================================================================================
    torch       ``F.grid_sample`` and autograd twice, with 2.13, on kinks too; releases before raise "derivative
                for grid_sampler_2d_backward is not implemented"
    Ascend      none: ``aclnnGridSampler2DBackward`` has no gradient of its own
    ==========  ==============================================================================================

    References
    ----------
    Derived from the equations above; the slopes on kinks are those of PyTorch 2.13,
    ``aten/src/ATen/native/cpu/GridSamplerKernel.cpp``.

    Examples
    --------
    The slope of the slope of a parabola, half-way between its samples (bicubic, 2 pixels per unit of g):

    >>> import numpy as np, gridwave as gw
    >>> x = np.array([[[[0.0, 1.0, 4.0, 9.0, 16.0]]]])
    >>> grid = np.array([[[[0.25, 0.0]]]])
    >>> one, along_x = np.ones((1, 1, 1, 1)), np.array([[[[1.0, 0.0]]]])
    >>> _, _, second = gw.grid_sample_double_backward(None, along_x, one, x, grid, "bicubic", align_corners=True)
    >>> second[0, 0, 0, 0].tolist()
    12.0
    """
    codes = spec_codes(mode, padding_mode, align_corners, layout)
    return _double_backward(codes, grad_grad_x, grad_grad_grid, grad_output, x, grid, wrt)


def sample_double_backward(
    spec: GridSampleSpec,
    grad_grad_x: Any,
    grad_grad_grid: Any,
    grad_output: Any,
    x: Any,
    grid: Any,
    *,
    layout: Layout = "NCHW",
    wrt: tuple[DoubleGradientTarget, ...] = _ALL,
) -> tuple[Any, Any, Any]:
    """Differentiate :func:`sample_backward`: every field of ``spec`` honoured."""
    return _double_backward(codes_of(spec, layout), grad_grad_x, grad_grad_grid, grad_output, x, grid, wrt)


def _given(name: str, value: Any) -> tuple[Array | None, int]:
    """Return a gradient that may be None, as the extension takes it, and its dtype's code."""
    if value is None:
        return None, 0
    array, _ = as_numpy(name, value)
    return carrier(array), dtype_code(name, array, FLOAT_DTYPES)


def _double_backward(
    codes: _core.GridSampleSpec, grad_grad_x: Any, grad_grad_grid: Any, grad_output: Any, x: Any, grid: Any, wrt: Any
) -> tuple[Any, Any, Any]:
    if isinstance(wrt, str):
        wrt = (wrt,)
    if not isinstance(wrt, (tuple, list)) or not wrt:
        raise ArgumentError(f"wrt must name at least one of 'grad_output', 'x' and 'grid', as a tuple; got {wrt!r}")
    for target in wrt:
        parse("wrt", target, DoubleGradientTarget)
    inputs: list[Array] = []
    gives: list[Callable[[Array], Any] | None] = []
    for name, value in (("grad_output", grad_output), ("x", x), ("grid", grid)):
        array, give = as_numpy(name, value)
        inputs.append(array)
        gives.append(give)
    types = [
        dtype_code("grad_output", inputs[0]),
        dtype_code("x", inputs[1]),
        dtype_code("grid", inputs[2], FLOAT_DTYPES),
    ]
    # Like x in memory too: a channels-last image has a channels-last gradient.
    results = [
        (np.empty(a.shape, a.dtype) if name == "grid" else np.empty_like(a, subok=False)) if name in wrt else None
        for name, a in zip(_ALL, inputs, strict=True)
    ]
    outputs = [None if a is None else carrier(a) for a in results]
    _core.grid_sample_double_backward(
        codes, *_given("grad_grad_x", grad_grad_x), *_given("grad_grad_grid", grad_grad_grid),
        carrier(inputs[0]), types[0], carrier(inputs[1]), types[1], carrier(inputs[2]), types[2], *outputs,
    )  # fmt: skip
    first, second, third = (a if a is None or give is None else give(a) for a, give in zip(results, gives, strict=True))
    return first, second, third
