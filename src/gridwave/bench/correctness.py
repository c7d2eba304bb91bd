"""Is an arm right? Its results on a subsample against the float64 twin, before anything is timed.

The tolerance of each element is derived, not chosen::

    |arm - twin| <= terms * eps * |A||x|  +  4 max |twin(grid +- delta) - twin(grid)|

``eps`` belongs to the type of the result, ``|A||x|`` is the twin's own sum with absolute weights and data, and
``terms`` is the number of summands plus 16, or plus 64 for bicubic, whose weights are polynomials with coefficients
up to 6 that cancel, and 128 for the 64 summands of cubic volumes and of ``lanczos4``. The second part is how far the
exact result moves when every coordinate moves by ``delta`` one way or the other: the rounding error of a coordinate
(4 eps of the coordinates' type times the length of the axis, or what an arm states). So ties of ``nearest`` and kinks
of gradients need no exception. Each point goes along all diagonals, but not all points along the same one at once: in
a gradient that sums many of them, equal moves would cancel. Images are judged as grid_sample of the grid that their
maps or matrix mean, and with ``lanczos4``, which grid_sample does not have, as remap at that grid's pixels. An arm that
states that its arithmetic cannot meet this is held to a root mean square error of half the signal's.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from gridwave import reference
from gridwave.bench.arms.arm import Arm
from gridwave.bench.arrays import BORDERS, Array, Arrays, dtype_of, to_nchw
from gridwave.bench.cells import Cell
from gridwave.bench.records import Check
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError
from gridwave.modes import SamplingMode

Float64 = NDArray[np.float64]

LOOSE_RMS = 0.5
"""What a loosely judged arm may be off, as a share of the signal; unrelated numbers would score 1.4."""

_CHANNELS, _POINTS, _WINDOW = 8, 1024, 12


@dataclass(frozen=True, slots=True)
class Piece:
    """One result of the twin on a subsample: where it lies in the whole result, what is expected, how sure."""

    name: str
    where: tuple[Any, ...]
    exact: Float64
    absolute: Float64
    terms: float | Float64
    shifted: tuple[Float64, ...]


class Expectation:
    """What the float64 twin says about a cell; computed once for each coordinate error that arms state."""

    def __init__(self, cell: Cell, arrays: Arrays) -> None:
        self.cell = cell
        self.x = to_nchw(arrays.x, cell)
        self.grid = np.asarray(arrays.grid, np.float64)
        self.grad = None if arrays.grad_output is None else to_nchw(arrays.grad_output, cell)
        self._terms = _terms(cell)
        self._pieces: dict[float | None, tuple[Piece, ...]] = {}

    @property
    def spec(self) -> GridSampleSpec:
        """The convention of grid_sample that gives the cell's values."""
        return GridSampleSpec("bench", _grid_mode(self.cell), self.cell.padding)

    def check(self, arm: Arm, results: tuple[Array, ...]) -> Check:
        """Compare an arm's results, in NCHW order, with the twin."""
        pieces = self._at(arm.coordinate_error(self.cell))
        if arm.loose(self.cell):
            return _loosely(pieces, results)
        slack = arm.value_error(self.cell)
        eps = _eps(self.cell)
        worst = max(_worst(piece, result, eps, slack) for piece, result in zip(pieces, results, strict=True))
        return Check(worst <= 1, worst, "terms * eps * |A||x| + 4 * shift of the coordinates")

    def _at(self, error: float | None) -> tuple[Piece, ...]:
        if error not in self._pieces:
            self._pieces[error] = self._backward(error) if self.grad is not None else self._forward(error)
        return self._pieces[error]

    def _shifts(self, grid: Float64, error: float | None) -> list[Float64]:
        size = np.array(self.x.shape[:1:-1], float)
        coordinate = np.float64 if self.cell.dtype == "float64" else np.float32
        eps = 4 * float(np.finfo(coordinate).eps)
        pixels = eps * np.maximum(size, 1) if error is None else np.full(size.size, error)
        delta = pixels * 2 / size
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=size.size)))
        first = np.random.default_rng(0).integers(0, len(signs), grid.shape[:-1])
        return [grid + delta * signs[(first + k) % len(signs)] for k in range(len(signs))]

    def _some_points(self, wanted: int) -> tuple[Any, ...]:
        space = self.grid.shape[1:-1]
        return np.unravel_index(_spread(math.prod(space), wanted), space)

    def _row(self, points: Float64) -> Float64:
        """Turn points (n, count, axes) into a grid that has one row of them."""
        n, count, axes = points.shape
        return points.reshape(n, *(1,) * (axes - 1), count, axes)

    def _forward(self, error: float | None) -> tuple[Piece, ...]:
        n, c = self.x.shape[:2]
        channels = _spread(c, _CHANNELS)
        points = self._some_points(max(64, 4 * _POINTS // n))
        x = self.x[:, channels].astype(np.float64)
        grid = self._row(self.grid[(slice(None), *points)])

        def twin(g: Float64, absolute: bool = False) -> Float64:
            values = self._sampled(x, g, absolute).reshape(n, channels.size, -1)
            # Integer results saturate: bicubic overshoots what it samples.
            return np.clip(values, 0, 255) if self.cell.dtype == "uint8" else values

        where = (slice(None), channels[:, None], *points)
        shifted = tuple(twin(g) for g in self._shifts(grid, error))
        return (Piece("output", where, twin(grid), twin(grid, True), self._terms, shifted),)

    def _sampled(self, x: Float64, grid: Float64, absolute: bool) -> Float64:
        if self.cell.mode != "lanczos4":
            return reference.grid_sample(x, grid, self.spec, absolute=absolute)
        lengths = np.array(x.shape[:1:-1], float)
        map_x, map_y = np.moveaxis(((grid[0] + 1) * lengths - 1) / 2, -1, 0)
        image = np.moveaxis(x[0], 0, -1)
        values = reference.remap(image, map_x, map_y, "lanczos4", BORDERS[self.cell.padding], absolute=absolute)
        return np.moveaxis(values, -1, 0)

    def _backward(self, error: float | None) -> tuple[Piece, ...]:
        return self._grad_x(error), self._grad_grid(error)

    def _grad_x(self, error: float | None) -> Piece:
        """Pixels of three windows in the last image, from the points near them only."""
        assert self.grad is not None
        space = self.x.shape[2:]
        channels = _spread(self.x.shape[1], 4)
        mask = np.zeros(space, bool)
        for share in ((0.0,) * 3, (1.0,) * 3, (0.4, 0.65, 0.5)):
            mask[tuple(_window(int(f * (length - 1)), length) for f, length in zip(share, space, strict=False))] = True
        pixels = np.nonzero(mask)
        x = self.x[-1:, channels].astype(np.float64)
        near = self._points_near(mask)
        grid = self._row(self.grid[-1].reshape(-1, self.grid.shape[-1])[near][None])
        grad = self.grad[-1][channels].reshape(channels.size, -1)[:, near].astype(np.float64)
        grad = grad.reshape(1, channels.size, *grid.shape[1:-1])

        def twin(g: Float64, go: Float64 = grad, absolute: bool = False) -> Float64:
            gradient = reference.grid_sample_backward(go, x, g, self.spec, absolute=absolute)[0]
            return np.asarray(gradient[0][(slice(None), *pixels)])

        where = (-1, channels[:, None], *pixels)
        terms = self._terms + twin(grid, np.ones_like(grad), True)
        return Piece("grad_x", where, twin(grid), twin(grid, grad, True), terms,
                     tuple(twin(g) for g in self._shifts(grid, error)))  # fmt: skip

    def _points_near(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        wide = np.zeros([length + 8 for length in mask.shape], bool)
        for shift in itertools.product(range(0, 9, 2), repeat=mask.ndim):
            wide[tuple(slice(by, by + length) for by, length in zip(shift, mask.shape, strict=True))] |= mask
        indicator = wide[(slice(4, -4),) * mask.ndim].astype(np.float64)[None, None]
        # Zero padding drops points just outside that still reach an edge pixel; border padding keeps them all.
        padding = "border" if self.cell.padding == "zeros" else self.cell.padding
        spec = GridSampleSpec("bench", "bilinear", padding)
        touched = reference.grid_sample(indicator, self.grid[-1:], spec, absolute=True)
        inside = np.abs(self.grid[-1]).max(-1) < 1 + 16 / min(mask.shape)
        wanted = touched[0, 0] > 0 if self.cell.padding != "zeros" else (touched[0, 0] > 0) & inside
        points: NDArray[np.int64] = np.flatnonzero(wanted)
        return points

    def _grad_grid(self, error: float | None) -> Piece:
        assert self.grad is not None
        n, c = self.x.shape[:2]
        points = self._some_points(max(64, _POINTS // n))
        grid = self._row(self.grid[(slice(None), *points)])
        x = self.x.astype(np.float64)
        grad = self.grad[(slice(None), slice(None), *points)].reshape(n, c, *grid.shape[1:-1]).astype(np.float64)

        def twin(g: Float64, absolute: bool = False) -> Float64:
            gradient = reference.grid_sample_backward(grad, x, g, self.spec, absolute=absolute)[1]
            return gradient.reshape(n, -1, gradient.shape[-1])

        shifted = tuple(twin(g) for g in self._shifts(grid, error))
        return Piece("grad_grid", (slice(None), *points), twin(grid), twin(grid, True), self._terms + c, shifted)


def _terms(cell: Cell) -> int:
    """Return the rounding errors of a result, in eps of its summands' magnitudes."""
    if cell.mode == "bicubic":
        return 128 if cell.sizes.d else 64
    return 128 if cell.mode == "lanczos4" else 16


def _grid_mode(cell: Cell) -> SamplingMode:
    """Return the mode of grid_sample that gives the cell's values."""
    if cell.mode == "bilinear" or cell.mode == "nearest" or cell.mode == "bicubic":
        return cell.mode
    if cell.mode == "order1":
        return "bilinear"
    raise ArgumentError(f"{cell.id}: no float64 twin for mode {cell.mode!r}")


def _worst(piece: Piece, result: Array, eps: float, slack: float) -> float:
    found = np.asarray(result[piece.where], np.float64)
    shift = np.max([np.abs(s - piece.exact) for s in piece.shifted], axis=0)
    tolerance = piece.terms * eps * piece.absolute + 4 * shift + slack
    error = np.abs(found - piece.exact)
    share = np.where(error == 0, 0.0, error / np.maximum(tolerance, np.finfo(float).tiny))
    # A NaN must not pass, and where the twin has none it cannot compare as small.
    return float(np.max(np.where(np.isnan(share), np.inf, share), initial=0.0))


def _loosely(pieces: tuple[Piece, ...], results: tuple[Array, ...]) -> Check:
    worst = 0.0
    for piece, result in zip(pieces, results, strict=True):
        error = np.asarray(result[piece.where], np.float64) - piece.exact
        signal = float(np.sqrt(np.mean(piece.exact**2)))
        share = float(np.sqrt(np.mean(error**2))) / max(LOOSE_RMS * signal, 1e-30)
        worst = max(worst, share if np.isfinite(share) else np.inf)
    return Check(worst <= 1, worst, f"loose: root mean square error within {LOOSE_RMS} of the signal's")


def _eps(cell: Cell) -> float:
    if cell.dtype == "uint8":
        return 0.0
    return float(ml_dtypes.finfo(dtype_of(cell.dtype)).eps)


def _spread(count: int, wanted: int) -> NDArray[np.int64]:
    """Return up to ``wanted`` indices below ``count``: scattered, with both ends."""
    if count <= wanted:
        return np.arange(count)
    inner = np.random.default_rng(0).choice(count - 2, wanted - 2, replace=False) + 1
    return np.sort(np.concatenate([[0, count - 1], inner]))


def _window(centre: int, length: int) -> slice:
    start = min(max(centre - _WINDOW // 2, 0), max(length - _WINDOW, 0))
    return slice(start, start + _WINDOW)
