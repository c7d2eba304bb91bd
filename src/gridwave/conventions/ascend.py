"""Conventions of the Ascend operator library."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec

GRID_SAMPLE: Final = GridSampleSpec(
    name="ascend:GridSampler2D",
    source="hicann/ops-cv image/grid_sampler2_d_grad: operator note, read against PyTorch's source",
)
"""GridSampler2D and GridSampler2DGrad; the note describes PyTorch's function."""

DTYPES: Final = ("float16", "bfloat16", "float32", "float64")
"""Of grad, x and grid, which are the same."""
