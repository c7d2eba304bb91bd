"""The arrays of a cell, always the same for the same cell."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from gridwave.bench.cells import Cell, GridKind, Sizes
from gridwave.errors import ArgumentError
from gridwave.modes import BorderMode

Array = NDArray[Any]

BORDERS: Final[dict[str, BorderMode]] = {"zeros": "constant", "border": "replicate", "reflection": "reflect"}
"""What a cell's padding is called where images are sampled."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """What an arm gets: ``x`` and ``grad_output`` in the cell's layout and type.

    An image is (1, h, w, c), whatever its call; ``map_coordinates`` takes ``x[0, 0]``.
    """

    x: Array
    grid: Array
    """Sample points (n, [do,] ho, wo, 2 or 3), last axis (x, y[, z]), in [-1, 1] where they lie inside."""
    grad_output: Array | None = None
    maps: Array | None = None
    """Of ``remap`` (2, ho, wo) and ``map_coordinates`` (axes, [do,] ho, wo): pixels, planes in the call's order."""
    matrix: Array | None = None
    """Of a warp: output pixel to input pixel, 2 x 3 or 3 x 3."""


def dtype_of(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of a cell's dtype name."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def grid_dtype_of(name: str) -> np.dtype[Any]:
    """Return the dtype of the grid that goes with data of this type."""
    return np.dtype(np.float32) if name == "uint8" else dtype_of(name)


def make_arrays(cell: Cell, sizes: Sizes | None = None) -> Arrays:
    """Return the arrays of ``cell``, of ``sizes`` where the cell leaves them open.

    Parameters
    ----------
    cell : Cell
        What is measured.
    sizes : Sizes, optional
        Lengths that replace the cell's own.
    """
    s = sizes or cell.sizes
    dtype = dtype_of(cell.dtype)
    x = _values(1, (s.n, s.c, *s.space), cell.layout, dtype)
    if cell.call in {"warp_affine", "warp_perspective"}:
        matrix = _matrix(s, cell.call == "warp_perspective")
        return Arrays(x, _normalised(_warped(matrix, s), s), matrix=matrix)
    grid = make_grid(cell.grid, s)
    if cell.call in {"remap", "map_coordinates"}:
        maps = _pixels(grid[0], s, np.float64 if cell.dtype == "float64" else np.float32)
        return Arrays(x, _normalised(maps, s), maps=maps if cell.call == "remap" else np.ascontiguousarray(maps[::-1]))
    grad = _values(2, (s.n, s.c, *s.out_space), cell.layout, dtype) if cell.direction == "backward" else None
    return Arrays(x, grid.astype(grid_dtype_of(cell.dtype)), grad)


def make_grid(kind: GridKind, s: Sizes) -> NDArray[np.float32]:
    """Return sample points (n, [do,] ho, wo, 2 or 3), last axis (x, y[, z]), in [-1, 1] where they lie inside."""
    if kind == "random":
        points = np.random.default_rng(0).random((s.n, *s.out_space, len(s.space)), dtype=np.float32)
        return points * np.float32(2.1) - np.float32(1.05)
    if s.d:
        if kind == "skewed":
            raise ArgumentError("grid must be smooth or random for a volume; got 'skewed'")
        return _smooth_volume(s)
    return _skewed(s) if kind == "skewed" else _smooth(s)


def _pixels(points: NDArray[Any], s: Sizes, dtype: Any) -> Array:
    """Return the planes (axes, ...) of pixel coordinates that the points of one grid mean, x first."""
    lengths = np.array(s.space[::-1], np.float64)
    return np.ascontiguousarray(np.moveaxis(((points + 1.0) * lengths - 1) / 2, -1, 0), dtype)


def _normalised(planes: Array, s: Sizes) -> NDArray[np.float64]:
    """Return the grid that pixel coordinates (axes, ...) mean: what the float64 twin samples at."""
    lengths = np.array(s.space[::-1], np.float64)
    return ((np.moveaxis(planes.astype(np.float64), 0, -1) * 2 + 1) / lengths - 1)[None]


def _matrix(s: Sizes, perspective: bool) -> NDArray[np.float64]:
    """Return a turn and a zoom about the centre of the image; with perspective, tilted as well."""
    cos, sin, x, y = 0.97 * np.cos(0.05), 0.97 * np.sin(0.05), s.w / 2, s.h / 2
    rows = [[cos, -sin, x - cos * x + sin * y], [sin, cos, y - sin * x - cos * y]]
    return np.array([*rows, [4e-5, -3e-5, 1.0]] if perspective else rows)


def _warped(matrix: NDArray[np.float64], s: Sizes) -> NDArray[np.float64]:
    y, x = np.mgrid[: s.ho, : s.wo].astype(np.float64)
    rows = [row[0] * x + row[1] * y + row[2] for row in matrix]
    return np.stack(rows[:2]) / (rows[2] if len(rows) == 3 else 1.0)


def _smooth_volume(s: Sizes) -> NDArray[np.float32]:
    z, y, x = np.meshgrid(*(np.linspace(-1, 1, length) for length in s.out_space), indexing="ij")
    grid = np.empty((s.n, *s.out_space, 3), np.float32)
    for n in range(s.n):
        cos, sin = np.cos(0.05 + 0.03 * n), np.sin(0.05 + 0.03 * n)
        grid[n, ..., 0] = 0.97 * (cos * x - sin * y) + 0.02 * np.sin(6 * z + n)
        grid[n, ..., 1] = 0.97 * (sin * x + cos * y) + 0.02 * np.cos(5 * x + n)
        grid[n, ..., 2] = 0.97 * z + 0.02 * np.sin(4 * y + n)
    return grid


def _smooth(s: Sizes) -> NDArray[np.float32]:
    y, x = np.meshgrid(np.linspace(-1, 1, s.ho), np.linspace(-1, 1, s.wo), indexing="ij")
    grid = np.empty((s.n, s.ho, s.wo, 2), np.float32)
    for n in range(s.n):
        cos, sin = np.cos(0.05 + 0.03 * n), np.sin(0.05 + 0.03 * n)
        grid[n, ..., 0] = 0.97 * (cos * x - sin * y) + 0.02 * np.sin(6 * y + n)
        grid[n, ..., 1] = 0.97 * (sin * x + cos * y) + 0.02 * np.cos(5 * x + n)
    return grid


def _skewed(s: Sizes) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    grid = rng.uniform(1.5, 3.0, (s.n, s.ho, s.wo, 2))
    rows = max(1, s.ho // 8)
    grid[:, :rows] = np.array([0.3, -0.2]) + rng.normal(0, 0.03, (s.n, rows, s.wo, 2))
    return grid.astype(np.float32)


def _values(seed: int, shape: tuple[int, ...], layout: str, dtype: np.dtype[Any]) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    if layout == "NHWC":
        values = np.ascontiguousarray(np.moveaxis(values, 1, -1))
    if dtype == np.uint8:
        values = np.clip(values * 50 + 128, 0, 255)
    return values.astype(dtype)


_FRESH = iter(np.random.default_rng(3).permutation(list(itertools.product(range(40, 88), range(40, 88)))).tolist())


def fresh_sizes(cell: Cell) -> Sizes:
    """Return sizes of a first-call cell that this process has not used before.

    Raises
    ------
    ArgumentError
        If all of them are used up: start a new process.
    """
    try:
        h, w = next(_FRESH)
    except StopIteration:
        raise ArgumentError("first-call cells: all fresh shapes are used up; start a new process") from None
    return Sizes(cell.sizes.n, cell.sizes.c, h, w, h, w)


def to_nchw(array: Array, cell: Cell) -> Array:
    """Return a view of ``array`` with channels second."""
    return np.moveaxis(array, -1, 1) if cell.layout == "NHWC" else array
