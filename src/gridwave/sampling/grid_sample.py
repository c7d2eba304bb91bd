"""grid_sample and its gradients: parse modes, allocate, call core.

Every rule about shapes and dtypes lives in core, which also serves C programs; what is here is what Python adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError
from gridwave.modes import GradientTarget, Layout, PaddingMode, SamplingMode, parse
from gridwave.sampling._codes import codes_of, spec_codes
from gridwave.sampling._memory import check_out, empty
from gridwave.typing import DTYPE_CODES, FLOAT_DTYPES, Array, as_numpy, carrier, dtype_code

if TYPE_CHECKING:
    from gridwave.conventions.spec import GridSampleSpec


def _empty_output(x: Array, grid: Array, channels_last: bool) -> Array:
    """Allocate what ``x`` sampled by ``grid`` needs; for arrays of a wrong rank anything, since core refuses them."""
    rank = x.ndim
    if rank not in (3, 4, 5) or grid.ndim != rank:
        return np.empty((0,), x.dtype)
    shape, points = x.shape, grid.shape[1:-1]
    if channels_last:
        return empty((shape[0], *points, shape[-1]), x.dtype)
    if shape[1] > 1:
        strides = x.strides
        if strides[1] == x.itemsize and strides[-1] != x.itemsize:
            # Channels second over channels-last memory (torch's channels_last): the output is laid out alike.
            memory = empty((shape[0], *points, shape[1]), x.dtype)
            return memory.transpose(0, rank - 1, *range(1, rank - 1))
    return empty((*shape[:2], *points), x.dtype)


def _sample(codes: _core.GridSampleSpec, x: Any, grid: Any, out: Any) -> Any:
    give = None
    if type(x) is not np.ndarray:
        x, give = as_numpy("x", x)
    if type(grid) is not np.ndarray:
        grid, _ = as_numpy("grid", grid)
    try:
        x_code = DTYPE_CODES[x.dtype]
        grid_code = DTYPE_CODES[grid.dtype]
    except KeyError:
        x_code, grid_code = dtype_code("x", x), dtype_code("grid", grid, FLOAT_DTYPES)
    if out is None:
        target, out_code = _empty_output(x, grid, codes.layout == 1), x_code
    else:
        target = check_out(out)
        out_code = dtype_code("out", target)
    if 3 in (x_code, grid_code, out_code):
        _core.grid_sample(codes, carrier(x), x_code, carrier(grid), grid_code, carrier(target), out_code)
    else:
        _core.grid_sample(codes, x, x_code, grid, grid_code, target, out_code)
    if out is not None:
        return out
    return target if give is None else give(target)


def grid_sample(
    x: Any,
    grid: Any,
    mode: SamplingMode = "bilinear",
    padding_mode: PaddingMode = "zeros",
    align_corners: bool = False,
    *,
    layout: Layout = "NCHW",
    out: Any = None,
) -> Any:
    """Sample an image, a volume or a signal at the points of a grid.

    Parameters
    ----------
    x : array, (N, C, H, W), or (N, H, W, C) with ``layout="NHWC"``
        float16, bfloat16, float32, float64, uint8, int8 or uint16. Any strides; never changed. A volume has 5 axes,
        (N, C, D, H, W) or (N, D, H, W, C), a signal 3, (N, C, W) or (N, W, C).
    grid : array, (N, H_out, W_out, 2), for volumes (N, D_out, H_out, W_out, 3), for signals (N, W_out, 1)
        Where to sample, last axis (x, y), (x, y, z) or (x,): x along W, y along H, z along D, growing to the right,
        downwards and with the plane's number. -1 and 1 are the
        outer edges of the corner pixels, or their centres with ``align_corners``. Of the dtype of ``x``; float16 and
        bfloat16 ``x`` may have a float32 grid, integer ``x`` any float grid. One grid broadcast over the batch
        (``numpy.broadcast_to``) is read once.
    mode : {"bilinear", "nearest", "bicubic"}
        ``nearest`` takes the even pixel half-way between two; ``bicubic`` is Keys' with a = -0.75. For volumes and
        signals ``bilinear`` is linear and ``bicubic`` cubic along every axis.
    padding_mode : {"zeros", "border", "reflection"}
        What lies outside ``x``: 0; the nearest edge pixel; the mirror image, about the outer edges of the edge pixels,
        or about their centres with ``align_corners``.
    align_corners : bool
        What -1 and 1 mean, see ``grid``. False by default, as in PyTorch since 1.3 and in ONNX.
    layout : {"NCHW", "NHWC"}
        Axis order of ``x`` and of the result, for volumes and signals too: channels second, or last.
    out : array, optional
        Where to write: of the result's shape and dtype, any strides, not overlapping ``x`` or ``grid``.

    Returns
    -------
    array, (N, C, H_out, W_out), or (N, H_out, W_out, C) with ``layout="NHWC"``; of the rank of ``x``
        Of the dtype and kind of ``x``, or ``out`` itself. An NCHW array that lies channels-last in memory gives a
        result that does too.

    Raises
    ------
    ShapeError
        Wrong rank, batch or last grid axis; ``x`` without pixels; ``out`` of a wrong shape or overlapping an input.
    DTypeError
        A dtype or a mix of dtypes not listed above.
    ModeError
        An unknown mode; the message names the choices.
    ArgumentError
        ``align_corners`` not a bool, ``out`` read-only.

    Notes
    -----
    With S the size of an axis, a grid value g is at pixel coordinate p (0 is the centre of the first pixel)::

        p = ((g + 1) S - 1) / 2          align_corners=False
        p = (g + 1) / 2 (S - 1)          align_corners=True

    computed in float32 (float64 for a float64 grid) in that order. Bilinear and nearest pad the coordinate, then
    sample; bicubic pads each of its 16 taps (64 for volumes, 4 for signals). Bilinear weights the four pixels around p
    by ``(1 - |px - i|)(1 - |py - j|)``, volumes the eight voxels with a third factor; what lies outside counts as 0
    with ``zeros`` padding, so values fade over the outermost half pixel. float16, bfloat16 and integers are computed
    in float32 with one rounding at the end, half to even, integers saturated.

    A NaN, infinite or huge coordinate gives 0 with ``zeros``; with ``border`` it is clamped, with ``reflection``
    clamped after reflecting, and NaN counts as 0. A NaN or infinite pixel reaches exactly the points it has a part in.
    Results are the same to the bit for any number of threads.

    ==================  ==========================================================================================
    Same as             difference
    ==================  ==========================================================================================
    torch               ``F.grid_sample(x, grid, mode, padding_mode, align_corners)``: float16 and bfloat16 on its
                        CPU compute coordinates in 16 bits and read out of bounds past 32768 elements; it takes no
                        signals, and bicubic for images alone
    ONNX                ``GridSample``-16: the same names; -20, -22: ``linear``, ``nearest``, ``cubic``. See
                        :mod:`gridwave.like.onnx` for nearest with reflection and cubic with border
    Paddle              ``F.grid_sample``: ``align_corners=True`` is the default
    OpenVINO            ``GridSample``-9: other ties of nearest, see :mod:`gridwave.like.openvino`
    MindSpore, ncnn     nearest rounds halves away from 0, or up; ncnn reflects once. See :mod:`gridwave.like`
    OpenCV              ``remap`` with pixel coordinates p; BORDER_REFLECT is ``reflection``, BORDER_REFLECT_101 that
                        with ``align_corners``
    ==================  ==========================================================================================

    References
    ----------
    PyTorch 2.13, ``aten/src/ATen/native/GridSampler.h``; ONNX 1.23, ``GridSample``-22.

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> grid = np.array([[[[-1, -1], [1, -1]], [[-1, 1], [0.3, -0.6]]]], np.float32)
    >>> print(gw.grid_sample(x, grid, padding_mode="border")[0, 0].round(4))
    [[ 0.   3. ]
     [12.   3.3]]
    """
    return _sample(spec_codes(mode, padding_mode, align_corners, layout), x, grid, out)


def sample(spec: GridSampleSpec, x: Any, grid: Any, *, layout: Layout = "NCHW", out: Any = None) -> Any:
    """Sample as a convention has it: :func:`grid_sample` with every field of ``spec`` honoured."""
    return _sample(codes_of(spec, layout), x, grid, out)


def grid_sample_backward(
    grad_output: Any,
    x: Any,
    grid: Any,
    mode: SamplingMode = "bilinear",
    padding_mode: PaddingMode = "zeros",
    align_corners: bool = False,
    *,
    layout: Layout = "NCHW",
    wrt: tuple[GradientTarget, ...] = ("x", "grid"),
) -> tuple[Any, Any]:
    """Compute the gradients of :func:`grid_sample` with respect to the image, volume or signal, and the grid.

    Parameters
    ----------
    grad_output : array, (N, C, H_out, W_out), or (N, H_out, W_out, C) with ``layout="NHWC"``
        Gradient of a scalar with respect to the result, of its shape; of the dtype of ``x``.
    x, grid, mode, padding_mode, align_corners, layout
        As in :func:`grid_sample`; ``x`` float16, bfloat16, float32 or float64.
    wrt : tuple of {"x", "grid"}
        Which gradients to compute; what is not asked for costs nothing.

    Returns
    -------
    grad_x : array like ``x``, or None
        ``sum over points of grad_output * weight`` at each pixel a point reads: the exact adjoint of
        :func:`grid_sample` in x.
    grad_grid : array like ``grid``, or None
        ``d result / d p`` times ``d p / d g``: S / 2, or (S - 1) / 2 with ``align_corners``.

    Raises
    ------
    ShapeError, DTypeError, ModeError, ArgumentError
        As :func:`grid_sample`.

    Notes
    -----
    At kinks as PyTorch has them. ``nearest`` has a grid gradient of 0. With ``border`` the gradient of a coordinate on
    or beyond the outermost pixel centre is 0; with ``reflection`` it changes sign with each reflection and is 0 where
    the reflected coordinate is clamped. ``bicubic`` pads its taps, so its grid gradient only has the factor S / 2; the
    derivatives of its weights are Keys' at the signed distances (the operator page of GridSampler2DGrad prints absolute
    values, which do not sum to zero). In ``zeros`` mode the fade at the edge is part of the gradient. A coordinate
    that is not finite has gradient 0.

    float16 and bfloat16 are summed in float32 and rounded once. Sums are cut by shapes alone: the same bits for any
    number of threads.

    ==================  ==========================================================================================
    Same as             difference
    ==================  ==========================================================================================
    torch               ``torch.ops.aten.grid_sampler_2d_backward``, ``_3d_``; crashes there on NaN with border or
                        reflection (images), or takes it for the last voxel (volumes)
    Ascend              ``aclnnGridSampler2DBackward``: :func:`gridwave.like.ascend.grid_sampler_2d_grad`
    Paddle              grid gradient differs where a coordinate lies on the outermost pixel centre
    ==================  ==========================================================================================

    References
    ----------
    PyTorch 2.13, ``aten/src/ATen/native/cpu/GridSamplerKernel.cpp``.

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> x = np.array([[[[0.0, 1.0, 4.0, 9.0, 16.0]]]])
    >>> grid = np.array([[[[0.25, 0.0]]]])
    >>> grad_x, grad_grid = gw.grid_sample_backward(np.ones((1, 1, 1, 1)), x, grid, align_corners=True)
    >>> grad_x[0, 0, 0].tolist(), grad_grid[0, 0, 0, 0].tolist()
    ([0.0, 0.0, 0.5, 0.5, 0.0], 10.0)
    """
    return _backward(spec_codes(mode, padding_mode, align_corners, layout), grad_output, x, grid, wrt)


def sample_backward(
    spec: GridSampleSpec,
    grad_output: Any,
    x: Any,
    grid: Any,
    *,
    layout: Layout = "NCHW",
    wrt: tuple[GradientTarget, ...] = ("x", "grid"),
) -> tuple[Any, Any]:
    """Differentiate :func:`sample`: :func:`grid_sample_backward` with every field of ``spec`` honoured."""
    return _backward(codes_of(spec, layout), grad_output, x, grid, wrt)


def _backward(codes: _core.GridSampleSpec, grad_output: Any, x: Any, grid: Any, wrt: Any) -> tuple[Any, Any]:
    if isinstance(wrt, str):
        wrt = (wrt,)
    if not isinstance(wrt, (tuple, list)) or not wrt:
        raise ArgumentError(f"wrt must name at least one of 'x' and 'grid', as a tuple; got {wrt!r}")
    for target in wrt:
        parse("wrt", target, GradientTarget)
    grad_output, _ = as_numpy("grad_output", grad_output)
    x, give_x = as_numpy("x", x)
    grid, give_grid = as_numpy("grid", grid)
    grad_code, x_code, grid_code = (
        dtype_code("grad_output", grad_output),
        dtype_code("x", x),
        dtype_code("grid", grid, FLOAT_DTYPES),
    )
    # Like x in memory too: a channels-last image has a channels-last gradient.
    grad_x = np.empty_like(x) if "x" in wrt else None
    grad_grid = np.empty(grid.shape, grid.dtype) if "grid" in wrt else None
    _core.grid_sample_backward(
        codes, carrier(grad_output), grad_code, carrier(x), x_code, carrier(grid), grid_code,
        None if grad_x is None else carrier(grad_x), None if grad_grid is None else carrier(grad_grid),
    )  # fmt: skip
    return (
        grad_x if grad_x is None or give_x is None else give_x(grad_x),
        grad_grid if grad_grid is None or give_grid is None else give_grid(grad_grid),
    )
