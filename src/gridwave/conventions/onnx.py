"""Conventions of the ONNX operators, as the operator text and the reference evaluator have them."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec
from gridwave.modes import SamplingMode

GRID_SAMPLE: Final = GridSampleSpec(
    name="onnx:GridSample",
    pad_order="index",
    cubic_padding="coordinate",
    source="onnx/onnx onnx/reference/ops/op_grid_sample.py; measured",
    version="1.23.2",
)
"""GridSample. ``nearest`` rounds before it pads; ``cubic`` with border padding clamps coordinates that lie beyond
the outer edges of the input to the nearest sample centre, and then each tap. For non-finite coordinates the operator
has no rule and the reference evaluator mostly raises: gridwave's own holds."""

MODES: Final[dict[int, dict[str, SamplingMode]]] = {
    16: {"bilinear": "bilinear", "nearest": "nearest", "bicubic": "bicubic"},
    20: {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"},
    22: {"linear": "bilinear", "nearest": "nearest", "cubic": "bicubic"},
}
"""Mode names of GridSample by the opset that introduced its version; the first of each is the default."""

SPATIAL_OPSET: Final = 20
"""From here on GridSample takes any number of spatial axes; before, two."""

AFFINE_SINGLETON: Final = "minus_one"
"""Coordinate of the only sample of an axis of length 1 with align_corners."""

AFFINE_OPSETS: Final = (20,)
"""Opsets that introduced a version of AffineGrid."""
