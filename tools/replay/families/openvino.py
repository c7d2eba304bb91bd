"""GridSample as OpenVINO recorded it."""

from __future__ import annotations

from dataclasses import replace

from gridwave import conventions, like
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim
from replay.sampling import sample_truth


def run_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call like.openvino.grid_sample."""
    return {"y": like.openvino.grid_sample(arrays["x"], arrays["grid"], case["kwargs"])}


def twin_sample(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64."""
    return {"y": sample_truth(arrays["x"], arrays["grid"], replace(conventions.openvino.GRID_SAMPLE, **case["kwargs"]))}


claim("openvino", "grid_sample", "openvino.opset9.grid_sample", Claim(run_sample, twin_sample))
