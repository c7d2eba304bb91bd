"""MNN's conventions, for models converted from ONNX."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gridwave.conventions.spec import GridSampleSpec
from gridwave.modes import PaddingMode, SamplingMode

GRID_SAMPLE: Final = GridSampleSpec(
    name="mnn:GridSample",
    nearest_rounding="half_up",
    source="alibaba/MNN source/backend/cpu/CPUGridSample.cpp; models of mnnconvert measured",
    version="3.6.1",
)
"""GridSample of images: ``nearest`` is floor(p + 1/2)."""

VOLUME: Final = replace(GRID_SAMPLE, name="mnn:GridSample of volumes", unnormalise="scaled")
"""GridSample of volumes, whose coordinates are computed in another order."""

RUNS_AS: Final[dict[SamplingMode, SamplingMode]] = {"bilinear": "bilinear", "nearest": "nearest", "bicubic": "bilinear"}
"""What a mode of the ONNX node is converted to, without a warning."""

PADS_AS: Final[dict[PaddingMode, PaddingMode]] = {"zeros": "zeros", "border": "border", "reflection": "border"}
"""What a padding mode of the ONNX node is converted to, without a warning."""
