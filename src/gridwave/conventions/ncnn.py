"""ncnn's conventions."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec
from gridwave.modes import PaddingMode, SamplingMode

GRID_SAMPLE: Final = GridSampleSpec(
    name="ncnn:GridSample",
    nearest_rounding="half_up",
    reflection="once",
    source="Tencent/ncnn src/layer/gridsample.cpp; CPU measured",
    version="1.0.20261020",
)
"""The GridSample layer. ``nearest`` is floor(p + 1/2); reflection mirrors once at each end and then clamps."""

SAMPLE_TYPES: Final[dict[int, SamplingMode]] = {1: "bilinear", 2: "nearest", 3: "bicubic"}
"""Parameter 0 of the layer."""

PADDING_MODES: Final[dict[int, PaddingMode]] = {1: "zeros", 2: "border", 3: "reflection"}
"""Parameter 1 of the layer."""
