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
from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell

LARGE = 8 << 20
"""Results of this many bytes go to an output that is there already, as those of ONNX Runtime and OpenVINO do.

A fresh one is not of the size that other arms have just freed (it is aligned), so malloc may give it new pages round
after round: outputs of 245 MB cost 85 ms in one round and 870 in the next, of which the kernel knows nothing.
"""

Variant = Literal["", "out=", "zeros", "1 thread"]


class Gridwave(Arm):
    """gridwave, or a variant that cells are held against.

    Parameters
    ----------
    variant : {"", "out=", "zeros", "1 thread"}
        The arm under test; the same into a given output; with zeros padding; with one thread.
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
        modes = (cell.mode, cell.padding, False)
        # The default layout is left out, as a user would: the tiny cell measures the call itself.
        keywords: dict[str, Any] = {} if cell.layout == "NCHW" else {"layout": cell.layout}
        if arrays.grad_output is not None:
            backward = gridwave.grid_sample_backward
            return partial(backward, arrays.grad_output, arrays.x, arrays.grid, *modes, **keywords)
        if self.variant == "out=":
            keywords["out"] = np.empty(_out_shape(cell, arrays), arrays.x.dtype)
        elif not cell.first_call and math.prod(_out_shape(cell, arrays)) * arrays.x.itemsize >= LARGE:
            keywords["out"] = gridwave.grid_sample(arrays.x, arrays.grid, *modes, **keywords)
        self.outputs = "reused" if "out" in keywords else "fresh"
        return partial(gridwave.grid_sample, arrays.x, arrays.grid, *modes, **keywords)

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        data, *rest = value if isinstance(value, tuple) else (value,)
        return (data.transpose(0, 3, 1, 2) if cell.layout == "NHWC" else data, *rest)


def _out_shape(cell: Cell, arrays: Arrays) -> tuple[int, ...]:
    n, ho, wo, _ = arrays.grid.shape
    return (n, ho, wo, arrays.x.shape[3]) if cell.layout == "NHWC" else (n, arrays.x.shape[1], ho, wo)
