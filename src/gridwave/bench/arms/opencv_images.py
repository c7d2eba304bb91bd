"""OpenCV's remap and warps of one image, with the maps or the matrix that it is given."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import numpy as np

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell

INTERPOLATION = {
    "bilinear": "INTER_LINEAR", "nearest": "INTER_NEAREST", "bicubic": "INTER_CUBIC", "lanczos4": "INTER_LANCZOS4"
}  # fmt: skip
BORDER = {"zeros": "BORDER_CONSTANT", "border": "BORDER_REPLICATE", "reflection": "BORDER_REFLECT"}


class OpenCVImages(Arm):
    """``cv2.remap`` with float maps, ``cv2.warpAffine``, ``cv2.warpPerspective``."""

    name = "opencv"
    packages = ("cv2",)

    def refusal(self, cell: Cell) -> str:
        if cell.call not in {"remap", "warp_affine", "warp_perspective"}:
            return "takes images with maps or a matrix"
        return "" if cell.dtype in {"float32", "uint8"} else f"not measured for {cell.dtype}"

    def coordinate_error(self, cell: Cell) -> float | None:
        # Coordinates are rounded to 1/32 of a pixel in some paths of some versions.
        return 1 / 32 if cell.mode != "nearest" else 1 / 64

    def value_error(self, cell: Cell) -> float:
        # Weights of 8-bit images may be 15-bit integers: one step beyond the rounding.
        return 1.5 if cell.dtype == "uint8" else 0.0

    def activate(self, threads: int) -> None:
        cv2: Any = importlib.import_module("cv2")
        if cv2.getNumThreads() != threads:
            cv2.setNumThreads(threads)

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        cv2: Any = importlib.import_module("cv2")
        self.activate(threads)
        how, beyond = getattr(cv2, INTERPOLATION[cell.mode]), getattr(cv2, BORDER[cell.padding])
        image = arrays.x[0]
        if cell.call == "remap":
            return partial(cv2.remap, image, *self.maps(cv2, arrays, cell), how, borderMode=beyond)
        warp = cv2.warpAffine if cell.call == "warp_affine" else cv2.warpPerspective
        size, flags = (cell.sizes.wo, cell.sizes.ho), how | cv2.WARP_INVERSE_MAP
        return partial(warp, image, arrays.matrix, size, flags=flags, borderMode=beyond)

    def maps(self, cv2: Any, arrays: Arrays, cell: Cell) -> tuple[Array, Array | None]:
        """Return the maps to call with."""
        assert arrays.maps is not None
        return arrays.maps[0], arrays.maps[1]

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        return (np.moveaxis(np.reshape(value, (*value.shape[:2], -1)), -1, 0)[None],)


class OpenCVFixedMaps(OpenCVImages):
    """``cv2.remap`` with maps that ``cv2.convertMaps`` turned into 1/32 of a pixel; turning them is not timed."""

    name = "opencv fixed maps"

    def refusal(self, cell: Cell) -> str:
        return super().refusal(cell) if cell.call == "remap" else "only remap takes maps"

    def maps(self, cv2: Any, arrays: Arrays, cell: Cell) -> tuple[Array, Array | None]:
        whole = cell.mode == "nearest"
        first, second = cv2.convertMaps(*super().maps(cv2, arrays, cell), cv2.CV_16SC2, nninterpolation=whole)
        return first, None if whole else second
