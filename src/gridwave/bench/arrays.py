"""The arrays of a cell, always the same for the same cell."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from gridwave.bench.cells import Cell, GridKind, Sizes
from gridwave.errors import ArgumentError

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Arrays:
    """What an arm gets: ``x`` and ``grad_output`` in the cell's layout and type."""

    x: Array
    grid: Array
    grad_output: Array | None


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
    x = _values(1, (s.n, s.c, s.h, s.w), cell.layout, dtype)
    grid = make_grid(cell.grid, s).astype(grid_dtype_of(cell.dtype))
    grad = _values(2, (s.n, s.c, s.ho, s.wo), cell.layout, dtype) if cell.direction == "backward" else None
    return Arrays(x, grid, grad)


def make_grid(kind: GridKind, s: Sizes) -> NDArray[np.float32]:
    """Return sample points (n, ho, wo, 2), last axis (x, y), in [-1, 1] where they lie inside."""
    if kind == "random":
        points = np.random.default_rng(0).random((s.n, s.ho, s.wo, 2), dtype=np.float32)
        return points * np.float32(2.1) - np.float32(1.05)
    return _skewed(s) if kind == "skewed" else _smooth(s)


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


def _values(seed: int, shape: tuple[int, int, int, int], layout: str, dtype: np.dtype[Any]) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    if layout == "NHWC":
        values = np.ascontiguousarray(values.transpose(0, 2, 3, 1))
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
