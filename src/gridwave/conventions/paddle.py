"""Paddle's conventions."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec

GRID_SAMPLE: Final = GridSampleSpec(
    name="paddle:grid_sample",
    align_corners=True,
    border_slope="inside",
    source="PaddlePaddle/Paddle paddle/phi/kernels/cpu/grid_sample_kernel.cc, grid_sample_grad_kernel.cc; CPU measured",
    version="3.3.1",
)
"""paddle.nn.functional.grid_sample and its gradients. ``align_corners`` is True by default, the opposite of PyTorch; a
coordinate exactly on an outermost sample centre keeps the slope it has inside."""

MODES: Final = ("bilinear", "nearest")
"""Modes that it has."""

DTYPES: Final = ("float32", "float64")
"""Of x and grid, which are the same."""

AFFINE_SINGLETON: Final = "zero"
"""Coordinate of the only sample of an axis of length 1 with align_corners. Paddle itself divides 0 by 0 there and gives
NaN; 0 is what it had been modelled on."""
