"""PyTorch's grid_sampler, in both memory formats."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
import math
from typing import Any, ClassVar

import ml_dtypes
import numpy as np

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell
from gridwave.modes import Layout, PaddingMode, SamplingMode, codes

HALF_LIMIT = 32767
"""Elements that PyTorch's half kernels can address: gather offsets are 16 bit, and beyond them they read garbage."""


class Torch(Arm):
    """``torch.nn.functional.grid_sample`` and the operator behind its gradient, on data in ``layout``."""

    packages = ("torch",)
    layout: ClassVar[Layout]

    def refusal(self, cell: Cell) -> str:
        if cell.call not in {"grid_sample", "plan"}:
            return "takes grids, not maps or matrices"
        if cell.sizes.d and cell.mode == "bicubic":
            return "bicubic takes images only"
        if cell.layout != self.layout and not self._stands_in(cell):
            return f"this arm takes {self.layout} data"
        if cell.dtype == "uint8":
            return "grid_sampler takes floats only"
        if cell.dtype in {"float16", "bfloat16"} and self._plane(cell) > HALF_LIMIT:
            return (
                f"half kernels use 16-bit offsets and read out of bounds: {self._plane(cell)} elements > {HALF_LIMIT}"
            )
        return ""

    def reports_refusal(self, cell: Cell) -> bool:
        return cell.layout == self.layout and cell.dtype != "uint8"

    def loose(self, cell: Cell) -> str:
        return "coordinates are computed in half precision" if cell.dtype in {"float16", "bfloat16"} else ""

    def activate(self, threads: int) -> None:
        torch: Any = importlib.import_module("torch")
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        torch: Any = importlib.import_module("torch")
        self.activate(threads)
        x, grid = self._data(torch, arrays.x, cell), _tensor(torch, arrays.grid)
        if arrays.grad_output is not None:
            grad = self._data(torch, arrays.grad_output, cell)
            ops = torch.ops.aten
            backward = ops.grid_sampler_3d_backward if cell.sizes.d else ops.grid_sampler_2d_backward
            modes = (codes(SamplingMode)[cell.mode], codes(PaddingMode)[cell.padding], False)  # the codes are PyTorch's
            return lambda: backward(grad, x, grid, *modes, [True, True])
        forward, mode, padding = torch.nn.functional.grid_sample, cell.mode, cell.padding
        return lambda: forward(x, grid, mode, padding, False)

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        values = value if isinstance(value, tuple) else (value,)
        return tuple((v if v.element_size() >= 4 else v.float()).numpy() for v in values)

    def _stands_in(self, cell: Cell) -> bool:
        """Return whether contiguous tensors are measured where channels_last ones cannot be: in half precision."""
        return self.layout == "NCHW" and cell.layout == "NHWC" and cell.dtype in {"float16", "bfloat16"}

    def _data(self, torch: Any, array: Array, cell: Cell) -> Any:
        tensor = _tensor(torch, array)
        if cell.layout == "NCHW":
            return tensor
        planes = tensor.movedim(-1, 1)
        return planes.contiguous() if self.layout == "NCHW" else planes

    def _plane(self, cell: Cell) -> int:
        return math.prod(cell.sizes.space) * (cell.sizes.c if self.layout == "NHWC" else 1)


class TorchNCHW(Torch):
    """PyTorch on contiguous tensors."""

    name = "torch"
    layout = "NCHW"


class TorchChannelsLast(Torch):
    """PyTorch on channels_last tensors."""

    name = "torch channels_last"
    layout = "NHWC"


def _tensor(torch: Any, array: Array) -> Any:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)
