"""plan_grid_sample: a grid that stays is looked at once, and many images are sampled by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError, DTypeError, UnsupportedError
from gridwave.modes import GradientTarget, Layout, PaddingMode, SamplingMode, parse
from gridwave.sampling._codes import spec_codes
from gridwave.sampling._memory import check_out, empty
from gridwave.sampling._plan_report import GridReport, MachineRates, report_of
from gridwave.typing import DTYPE_CODES, FLOAT_DTYPES, Array, as_numpy, carrier, dtype_code

if TYPE_CHECKING:
    from collections.abc import Callable


class GridPlan:
    """A grid, planned: call it with images. Made by :func:`plan_grid_sample`; may be pickled and shared by threads.

    Attributes
    ----------
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3)
        A read-only copy of the grid.
    size : tuple of int
        Height and width of the images, or depth, height and width of the volumes.
    mode, padding_mode, align_corners, layout
        As they were given.
    dtype : numpy.dtype or None
        The dtype that images must have; None: any that goes with the grid.
    """

    def __init__(
        self,
        grid: Array,
        size: tuple[int, ...],
        mode: SamplingMode,
        padding_mode: PaddingMode,
        align_corners: bool,
        layout: Layout,
        dtype: Any,
    ) -> None:
        spec = spec_codes(mode, padding_mode, align_corners, layout)
        code = dtype_code("grid", grid, FLOAT_DTYPES)
        self._core = _core.GridPlan(spec, size, carrier(grid), code)
        self._grid_code = code
        self.grid = np.array(grid, order="C")
        self.grid.flags.writeable = False
        self.size = size
        self.mode, self.padding_mode, self.align_corners, self.layout = mode, padding_mode, align_corners, layout
        self.dtype = dtype
        self._points = grid.shape[1:-1]
        self._last = layout == "NHWC"

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Shape of the results; None where the image decides: the channels, and the batch of a grid with N = 1."""
        batch = self.grid.shape[0] if self.grid.shape[0] != 1 else None
        return (batch, *self._points, None) if self._last else (batch, None, *self._points)

    def __call__(self, x: Any, out: Any = None) -> Any:
        """Sample images at the planned points.

        Parameters
        ----------
        x : array, (N, C, [D,] H, W), or (N, [D,] H, W, C) with ``layout="NHWC"``
            As in :func:`gridwave.grid_sample`, of the planned size.
        out : array, optional
            Where to write: of the result's shape and dtype, any strides, not overlapping ``x``.

        Returns
        -------
        array, (N, C, [D_out,] H_out, W_out), or (N, [D_out,] H_out, W_out, C) with ``layout="NHWC"``
            What ``gridwave.grid_sample(x, grid, ...)`` gives, to the bit; or ``out`` itself.

        Raises
        ------
        ShapeError
            ``x`` of another size or batch than planned; ``out`` of a wrong shape or overlapping ``x``.
        DTypeError
            ``x`` of another dtype than planned, or one that does not go with the grid.
        ArgumentError
            ``out`` read-only.
        """
        give = None
        if type(x) is not np.ndarray:
            x, give = as_numpy("x", x)
        x_code = self._code_of(x)
        if out is None:
            target, out_code = self._empty_output(x), x_code
        else:
            target = check_out(out)
            out_code = dtype_code("out", target)
        if 3 in (x_code, out_code):
            self._core.execute(carrier(x), x_code, carrier(target), out_code)
        else:
            self._core.execute(x, x_code, target, out_code)
        if out is not None:
            return out
        return target if give is None else give(target)

    def backward(self, grad_output: Any, x: Any, wrt: Any = ("x", "grid")) -> tuple[Any, Any]:
        """Compute the gradients of a call with respect to the image and the grid.

        Parameters
        ----------
        grad_output : array, of the result's shape and the dtype of ``x``
            Gradient of a scalar with respect to the result.
        x : array
            The image, as in the call.
        wrt : tuple of {"x", "grid"}
            Which gradients to compute; what is not asked for costs nothing.

        Returns
        -------
        grad_x : array like ``x``, or None
            As :func:`gridwave.grid_sample_backward` gives it.
        grad_grid : array like the grid, or None
            The same, summed over the batch where one grid serves many images.

        Raises
        ------
        ShapeError, DTypeError, ModeError, ArgumentError
            As :func:`gridwave.grid_sample_backward`.
        """
        if isinstance(wrt, str):
            wrt = (wrt,)
        if not isinstance(wrt, (tuple, list)) or not wrt:
            raise ArgumentError(f"wrt must name at least one of 'x' and 'grid', as a tuple; got {wrt!r}")
        for target in wrt:
            parse("wrt", target, GradientTarget)
        grad_output, _ = as_numpy("grad_output", grad_output)
        x, give = as_numpy("x", x)
        x_code = self._code_of(x)
        grad_x = np.empty_like(x) if "x" in wrt else None
        grad_grid = np.empty(self.grid.shape, self.grid.dtype) if "grid" in wrt else None
        self._core.backward(
            carrier(grad_output), dtype_code("grad_output", grad_output), carrier(x), x_code, self._grid_code,
            None if grad_x is None else carrier(grad_x), None if grad_grid is None else carrier(grad_grid),
        )  # fmt: skip
        keep: Callable[[Array], Any] = give or (lambda a: a)
        return (None if grad_x is None else keep(grad_x), None if grad_grid is None else keep(grad_grid))

    def report(self, channels: int = 1, batch: int | None = None, rates: MachineRates | None = None) -> GridReport:
        """Say where the grid points, what a call moves and about how long it takes.

        Parameters
        ----------
        channels : int
            Channels of the images to reckon with.
        batch : int, optional
            Images to reckon with; by default as many as there are grids.
        rates : MachineRates, optional
            What the machine can do, for the estimates.

        Returns
        -------
        GridReport
            Plain numbers; ``str`` makes a table of them.
        """
        batch = self.grid.shape[0] if batch is None else batch
        for name, value in (("channels", channels), ("batch", batch)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ArgumentError(f"{name} must be an integer of at least 0; got {value!r}")
        item = (self.dtype or self.grid.dtype).itemsize
        return report_of(
            self._core.counts(),
            self.grid,
            self.size,
            self.mode,
            self._last,
            item,
            int(channels),
            int(batch),
            rates or MachineRates(),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        modes = (self.mode, self.padding_mode, self.align_corners, self.layout)
        return (_rebuilt, (np.asarray(self.grid), self.size, *modes, self.dtype))

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.size))
        return (
            f"<GridPlan: {self.mode}, {self.padding_mode}, align_corners={self.align_corners}, {self.layout}, "
            f"grid {self.grid.shape} {self.grid.dtype} into {size}>"
        )

    def _code_of(self, x: Array) -> int:
        if self.dtype is not None and x.dtype != self.dtype:
            raise DTypeError(f"x must have the dtype that was planned, {self.dtype}; got {x.dtype}")
        code = DTYPE_CODES.get(x.dtype)
        return dtype_code("x", x) if code is None else code

    def _empty_output(self, x: Array) -> Array:
        rank = len(self.size) + 2
        if x.ndim != rank:
            return np.empty((0,), x.dtype)  # core refuses x
        n = x.shape[0]
        if self._last:
            return empty((n, *self._points, x.shape[-1]), x.dtype)
        if x.shape[1] > 1 and x.strides[1] == x.itemsize and x.strides[-1] != x.itemsize:
            return empty((n, *self._points, x.shape[1]), x.dtype).transpose(0, rank - 1, *range(1, rank - 1))
        return empty((*x.shape[:2], *self._points), x.dtype)


def _rebuilt(*arguments: Any) -> GridPlan:
    """Return the plan a pickle describes; a table takes less time to compute than to read."""
    return GridPlan(*arguments)


def plan_grid_sample(
    grid: Any,
    size: tuple[int, ...],
    mode: SamplingMode = "bilinear",
    padding_mode: PaddingMode = "zeros",
    align_corners: bool = False,
    *,
    layout: Layout = "NCHW",
    dtype: Any = None,
) -> GridPlan:
    """Plan the sampling of many images by one grid: everything that depends on the grid alone is computed once.

    Parameters
    ----------
    grid : array, (N, H_out, W_out, 2) or (N, D_out, H_out, W_out, 3)
        Where to sample, as in :func:`grid_sample`. It is copied. With N = 1 it serves images of any batch size.
    size : (int, int) or (int, int, int)
        Height and width of the images, H and W; depth, height and width of volumes, D, H and W.
    mode, padding_mode, align_corners, layout
        As in :func:`grid_sample`.
    dtype : dtype, optional
        What images must have; by default every dtype goes that :func:`grid_sample` takes with the grid.

    Returns
    -------
    GridPlan
        ``plan(x, out=None)`` samples, ``plan.backward(grad_output, x)`` differentiates, ``plan.report()`` says where
        the grid points.

    Raises
    ------
    ShapeError
        Wrong rank or last axis of the grid, a length below 1.
    DTypeError
        A grid that is not of floats, or ``dtype`` does not go with it.
    ModeError, ArgumentError
        As :func:`grid_sample`.
    UnsupportedError
        A grid for signals.

    Notes
    -----
    Results are those of :func:`grid_sample` to the bit, for any number of threads. A plan keeps the grid, its pixel
    coordinates (as large as a float32 or float64 grid), and for bilinear with channels last a table of 32 bytes a point
    (48 for float64): which pixels, with which weights. Those points are gone through by blocks of the image rather than
    in the order of the grid, so that every line of the image is fetched once: that is where a plan gains most, with
    wide pixels and grids that jump about. Plans of volumes keep the grid and its coordinates.

    ==================  ==========================================================================================
    Same as             difference
    ==================  ==========================================================================================
    OpenCV              ``convertMaps`` and ``remap``: there the table is of fixed-point numbers, and coarser
    others              :func:`grid_sample`'s table; no other framework plans
    ==================  ==========================================================================================

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> grid = np.array([[[[-1, -1], [1, -1]], [[-1, 1], [0.3, -0.6]]]], np.float32)
    >>> plan = gw.plan_grid_sample(grid, (4, 4), padding_mode="border")
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> print(plan(x)[0, 0].round(4))
    [[ 0.   3. ]
     [12.   3.3]]
    >>> plan.shape
    (None, None, 2, 2)
    """
    grid, _ = as_numpy("grid", grid)
    grid_code = dtype_code("grid", grid, FLOAT_DTYPES)
    parse("mode", mode, SamplingMode)
    parse("padding_mode", padding_mode, PaddingMode)
    parse("layout", layout, Layout)
    checked = _checked_size(size, grid)
    spec_codes(mode, padding_mode, align_corners, layout)
    return GridPlan(
        grid, checked, mode, padding_mode, bool(align_corners), layout, _checked_dtype(dtype, grid, grid_code)
    )


def _checked_size(size: Any, grid: Array) -> tuple[int, ...]:
    try:
        lengths = tuple(size)
    except TypeError:
        lengths = ()
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in lengths)
    if len(lengths) == 1 and whole and grid.ndim == 3:
        raise UnsupportedError(
            f"size must be (H, W) or (D, H, W), since plans are for images and volumes; got {size!r}: use grid_sample"
        )
    wanted = 3 if grid.ndim == 5 else 2
    if len(lengths) != wanted or not whole:
        words = "three integers, (D, H, W)" if wanted == 3 else "two integers, (H, W)"
        raise ArgumentError(f"size must be {words}, for a grid of {grid.ndim} axes; got {size!r}")
    if any(not -(2**63) <= n < 2**63 for n in lengths):
        raise ArgumentError(f"size must be of integers of 64 bits; got {size!r}")
    return tuple(int(n) for n in lengths)


def _checked_dtype(dtype: Any, grid: Array, grid_code: int) -> Any:
    if dtype is None:
        return None
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        raise DTypeError(f"dtype must be a dtype of images; got {dtype!r}") from None
    code = dtype_code("dtype", np.empty(0, wanted))
    half_with_float = code in (2, 3) and grid_code == 0
    if code < 4 and code != grid_code and not half_with_float:
        raise DTypeError(f"dtype must go with the grid's, {grid.dtype}: for images of {wanted} plan a grid of {wanted}")
    return wanted
