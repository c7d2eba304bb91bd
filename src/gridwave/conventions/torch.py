"""PyTorch's conventions."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec

GRID_SAMPLE: Final = GridSampleSpec(
    name="torch:grid_sample",
    source="pytorch/pytorch aten/src/ATen/native/GridSampler.h; CPU measured",
    version="2.13.0",
)
"""torch.nn.functional.grid_sample; non-finite coordinates as on CUDA, where they lie outside."""

AFFINE_SINGLETON: Final = "zero"
"""Coordinate of the only sample of an axis of length 1 with align_corners (since torch 1.3)."""
