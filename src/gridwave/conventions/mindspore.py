"""MindSpore's conventions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gridwave.conventions.spec import GridSampleSpec

GRID_SAMPLE: Final = GridSampleSpec(
    name="mindspore:grid_sample",
    nearest_rounding="half_away",
    source="mindspore-ai/mindspore ccsrc/plugin/device/cpu/kernel/grid_sampler_2d_cpu_kernel.cc; CPU measured",
    version="2.10.0",
)
"""mindspore.ops.grid_sample: ``nearest`` takes the pixel further from 0 half-way between two. Also the gradient of
volumes."""

IMAGE_GRADIENT: Final = replace(GRID_SAMPLE, name="mindspore:grid_sample gradient", nearest_rounding="half_even")
"""The gradient of images: half-way it adds to the even pixel, which is not always the one that was read."""

MODES: Final = ("bilinear", "nearest")
"""Modes that it has."""

DTYPES: Final = ("float16", "float32", "float64")
"""Of input and grid, which are the same."""

AFFINE_SINGLETON: Final = "zero"
"""Coordinate of the only sample of an axis of length 1 with align_corners."""
