"""SciPy's map_coordinates."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell

ORDERS = {"order1": 1, "order3": 3}
BOUNDARIES = {"zeros": "constant", "border": "nearest", "reflection": "reflect"}


class SciPy(Arm):
    """``scipy.ndimage.map_coordinates``, one thread whatever it is told."""

    name = "scipy"
    packages = ("scipy",)

    def refusal(self, cell: Cell) -> str:
        return "" if cell.call == "map_coordinates" else "takes pixel coordinates"

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        ndimage: Any = importlib.import_module("scipy.ndimage")
        order, mode = ORDERS[cell.mode], BOUNDARIES[cell.padding]
        return partial(ndimage.map_coordinates, arrays.x[0, 0], arrays.maps, order=order, mode=mode)

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        return (value[None, None],)
