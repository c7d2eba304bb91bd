"""gridwave itself, as its users call it."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
import math
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arms.scipy import BOUNDARIES, ORDERS
from gridwave.bench.arrays import BORDERS, Array, Arrays, to_nchw
from gridwave.bench.cells import Cell

LARGE = 8 << 20
"""Results of this many bytes go to an output that is there already, as those of ONNX Runtime and OpenVINO do.

A fresh one is not of the size that other arms have just freed (it is aligned), so malloc may give it new pages round
after round: outputs of 245 MB cost 85 ms in one round and 870 in the next, of which the kernel knows nothing.
"""

Variant = Literal["", "out=", "zeros", "1 thread", "dynamic"]


class Gridwave(Arm):
    """gridwave, or a variant that cells are held against.

    Parameters
    ----------
    variant : {"", "out=", "zeros", "1 thread", "dynamic"}
        The arm under test; the same into a given output; with zeros padding; with one thread; without a plan.
    """

    packages = ("gridwave",)

    def __init__(self, variant: Variant = "") -> None:
        self.variant = variant
        self.name = f"gridwave {variant}".strip()
        self.role = "variant" if variant else "ours"
        self.outputs = "reused" if variant == "out=" else "fresh"

    def refusal(self, cell: Cell) -> str:
        wanted = {
            "": True,
            "out=": cell.direction == "forward" and not cell.first_call,
            "zeros": any(a.kind == "own_zeros" for a in cell.aims),
            "1 thread": any(a.kind == "own_threads" for a in cell.aims),
            "dynamic": any(a.kind == "own_dynamic" for a in cell.aims),
        }
        return "" if wanted[self.variant] else "no aim of this cell needs it"

    def threads(self, cell: Cell) -> int:
        return 1 if self.variant == "1 thread" else cell.threads

    def checked(self, cell: Cell) -> bool:
        return self.variant != "zeros"

    def activate(self, threads: int) -> None:
        importlib.import_module("gridwave").set_num_threads(threads)

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        gridwave: Any = importlib.import_module("gridwave")
        self.activate(threads)
        if self.variant == "zeros":
            cell = replace(cell, padding="zeros")
        if cell.call in {"remap", "warp_affine", "warp_perspective"}:
            call = _image_call(gridwave, cell, arrays)
        elif cell.call == "map_coordinates":
            order, boundary = ORDERS[cell.mode], BOUNDARIES[cell.padding]
            call = partial(gridwave.map_coordinates, arrays.x[0, 0], arrays.maps, order=order, mode=boundary)
        else:
            call = self._grid_call(gridwave, cell, arrays)
        if self.variant == "out=":
            call = partial(call, out=np.empty_like(call()))
        elif cell.direction == "forward" and not cell.first_call and _out_bytes(cell, arrays) >= LARGE:
            call = partial(call, out=call())
        self.outputs = "reused" if "out" in call.keywords else "fresh"
        return call

    def _grid_call(self, gridwave: Any, cell: Cell, arrays: Arrays) -> partial[Any]:
        modes = (cell.mode, cell.padding, False)
        # The default layout is left out, as a user would: the tiny cell measures the call itself.
        keywords: dict[str, Any] = {} if cell.layout == "NCHW" else {"layout": cell.layout}
        planned = cell.call == "plan" and self.variant != "dynamic"
        plan = gridwave.plan_grid_sample(arrays.grid, cell.sizes.space, *modes, **keywords) if planned else None
        if arrays.grad_output is not None:
            if plan is not None:
                return partial(plan.backward, arrays.grad_output, arrays.x)
            backward = gridwave.grid_sample_backward
            return partial(backward, arrays.grad_output, arrays.x, arrays.grid, *modes, **keywords)
        if plan is not None:
            return partial(plan, arrays.x)
        return partial(gridwave.grid_sample, arrays.x, arrays.grid, *modes, **keywords)

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        data, *rest = value if isinstance(value, tuple) else (value,)
        if cell.call == "map_coordinates":
            return (data[None, None],)
        if cell.call not in {"grid_sample", "plan"}:
            return (np.moveaxis(data.reshape(*cell.sizes.out_space, -1), -1, 0)[None],)
        return (to_nchw(data, cell), *rest)


def _image_call(gridwave: Any, cell: Cell, arrays: Arrays) -> partial[Any]:
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(cell.mode, cell.mode)
    border = BORDERS[cell.padding]
    if cell.call == "remap":
        assert arrays.maps is not None
        return partial(gridwave.remap, arrays.x[0], arrays.maps[0], arrays.maps[1], mode=mode, border=border)
    warp = gridwave.warp_affine if cell.call == "warp_affine" else gridwave.warp_perspective
    size = cell.sizes.out_space
    return partial(warp, arrays.x[0], arrays.matrix, size, mode=mode, border=border, inverse=True)


def _out_bytes(cell: Cell, arrays: Arrays) -> int:
    return math.prod((cell.sizes.n, cell.sizes.c, *cell.sizes.out_space)) * arrays.x.itemsize
