"""The layer GridSample as ncnn recorded it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gridwave import conventions, like
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim
from replay.sampling import sample_truth


def run_sample(case: Case, arrays: Arrays) -> Arrays:
    """Call like.ncnn.GridSample."""
    return {"y": like.ncnn.GridSample(arrays["x"], arrays["grid"], **case["kwargs"])}


def twin_sample(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64."""
    kwargs = case["kwargs"]
    spec = replace(
        conventions.ncnn.GRID_SAMPLE,
        mode=kwargs["sample_type"],
        padding_mode=kwargs["padding_mode"],
        align_corners=bool(kwargs["align_corner"]),
    )
    grid = np.moveaxis(arrays["grid"], 0, -1) if kwargs["permute_fusion"] else arrays["grid"]
    truth = sample_truth(arrays["x"][None], grid[None], spec)
    return {"y": Truth(truth.value[0], truth.scale)}


claim("ncnn", "grid_sample", "ncnn.GridSample", Claim(run_sample, twin_sample))
