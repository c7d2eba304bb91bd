"""OpenCV's remap, image by image."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell


class OpenCV(Arm):
    """``cv2.remap`` with pixel maps made beforehand.

    Turning the grid into maps is not timed, which favours OpenCV: a network's grid would have to be turned each call.
    """

    name = "opencv"
    packages = ("cv2",)

    def refusal(self, cell: Cell) -> str:
        if cell.call not in {"grid_sample", "plan"}:
            return "measured image by image"
        if cell.layout != "NHWC" or cell.sizes.c > 4 or cell.sizes.d:
            return "remap takes HWC images of up to 4 channels"
        if cell.direction == "backward":
            return "no gradients"
        return "" if cell.dtype in {"float32", "uint8"} else f"not measured for {cell.dtype}"

    def coordinate_error(self, cell: Cell) -> float | None:
        # remap rounds coordinates to 1/32 of a pixel unless the mode is nearest.
        return 1 / 32 if cell.mode != "nearest" else 1 / 64

    def value_error(self, cell: Cell) -> float:
        # Weights of 8-bit images are 15-bit integers: one step beyond the rounding.
        return 1.5 if cell.dtype == "uint8" else 0.0

    def activate(self, threads: int) -> None:
        cv2: Any = importlib.import_module("cv2")
        if cv2.getNumThreads() != threads:
            cv2.setNumThreads(threads)

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        cv2: Any = importlib.import_module("cv2")
        self.activate(threads)
        _, h, w, _ = arrays.x.shape
        interpolation = {"bilinear": cv2.INTER_LINEAR, "nearest": cv2.INTER_NEAREST, "bicubic": cv2.INTER_CUBIC}
        border = {"zeros": cv2.BORDER_CONSTANT, "border": cv2.BORDER_REPLICATE, "reflection": cv2.BORDER_REFLECT}
        how, beyond = interpolation[cell.mode], border[cell.padding]
        images = list(arrays.x)
        map_x = [np.ascontiguousarray(((g[..., 0] + 1) * w - 1) / 2, np.float32) for g in arrays.grid]
        map_y = [np.ascontiguousarray(((g[..., 1] + 1) * h - 1) / 2, np.float32) for g in arrays.grid]
        remap, work = cv2.remap, list(zip(images, map_x, map_y, strict=True))
        return lambda: [remap(image, mx, my, how, borderMode=beyond) for image, mx, my in work]

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        return (np.stack(value).transpose(0, 3, 1, 2),)
