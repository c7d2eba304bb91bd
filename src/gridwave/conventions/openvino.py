"""OpenVINO's conventions, of its CPU plugin."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec

GRID_SAMPLE: Final = GridSampleSpec(
    name="openvino:GridSample-9",
    pad_order="index",
    unnormalise="scaled_fused",
    source="openvinotoolkit/openvino src/core/reference, openvino/reference/grid_sample.hpp; CPU plugin measured",
    version="2026.4.1",
)
"""GridSample-9. ``nearest`` rounds before it pads; coordinates come out of one fused multiply-add."""

DTYPES: Final = (
    ("float32", "float32"),
    ("float16", "float16"),
    ("float16", "float32"),
    ("bfloat16", "bfloat16"),
    ("bfloat16", "float32"),
    ("float64", "float64"),
)
"""(data, grid) that are taken. OpenVINO itself takes any mix, computes in float32 and truncates integers."""

ATTRIBUTES: Final = ("align_corners", "mode", "padding_mode")
"""What ``attributes`` may hold."""
