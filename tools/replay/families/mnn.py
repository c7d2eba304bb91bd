"""GridSample as MNN recorded it, of models converted from ONNX."""

from __future__ import annotations

from dataclasses import replace

from gridwave import conventions, like
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim
from replay.sampling import sample_truth


def run_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call like.mnn.GridSample with the opset in the case's call."""
    opset = int(case["call"].partition("@")[2].split()[0])
    return {"Y": like.mnn.GridSample(arrays["X"], arrays["grid"], opset=opset, **case["kwargs"])}


def twin_sample(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64: bicubic is bilinear there, and reflection border."""
    kwargs = case["kwargs"]
    volume = arrays["X"].ndim == 5
    spec = replace(
        conventions.mnn.VOLUME if volume else conventions.mnn.GRID_SAMPLE,
        mode="nearest" if kwargs["mode"] == "nearest" else "bilinear",
        padding_mode="zeros" if kwargs["padding_mode"] == "zeros" else "border",
        align_corners=bool(kwargs["align_corners"]),
    )
    return {"Y": sample_truth(arrays["X"], arrays["grid"], spec)}


claim("mnn", "grid_sample", "onnx::GridSample@", Claim(run_sample, twin_sample))
