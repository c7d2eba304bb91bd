"""Conventions of ONNX Runtime's CPU execution provider where they differ from the ONNX reference."""

from __future__ import annotations

from typing import Final

from gridwave.conventions.spec import GridSampleSpec

GRID_SAMPLE: Final = GridSampleSpec(
    name="onnxruntime:GridSample",
    pad_order="index",
    nonfinite="lower_border",
    source="microsoft/onnxruntime onnxruntime/core/providers/cpu/tensor/grid_sample.cc; measured",
    version="1.32.0",
)
"""GridSample on the CPU. Every tap is padded by its index, in all modes."""

DTYPES: Final = (("float32", "float32"), ("float64", "float64"), ("float16", "float16"), ("float16", "float32"))
"""(X, grid) that a GridSample node runs with; float16 by inserted casts, computed in float32."""

AFFINE_SINGLETON: Final = "plus_one"
"""Coordinate of the only sample of an axis of length 1 with align_corners: Eigen's LinSpaced(1, -1, 1) is its upper
end. Measured in 1.32.0; neither torch's 0 nor the ONNX reference's -1."""
