"""Image.transform, as Pillow recorded it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridwave import like, reference
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim


def run_transform(case: Case, arrays: Arrays) -> Arrays:
    """Call like.pillow.transform; the mode is the case's tag."""
    return {"y": like.pillow.transform(arrays["im"], **case["kwargs"], mode=case["tags"][0])}


def twin_transform(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute a transform in float64; it says something of mode F, and integers must be the peer's own."""
    kwargs = case["kwargs"]
    method, data, (width, height) = kwargs["method"], kwargs["data"], kwargs["size"]
    if method == "EXTENT":
        x0, y0, x1, y1 = data
        method, data = "AFFINE", [(x1 - x0) / width, 0, x0, 0, (y1 - y0) / height, y0]
    image = arrays["im"].astype(np.float64)
    planes: Any = image if image.ndim == 3 else image[:, :, None]
    names = (method.lower(), data, (width, height), kwargs["resample"].lower())
    value = reference.transform_pillow(planes, *names)
    size = reference.transform_pillow(np.abs(planes), *names, absolute=True)
    value = value if image.ndim == 3 else value[:, :, 0]
    return {"y": Truth(value, float(np.max(size, initial=0.0)))}


claim("pillow", "warp", "PIL.Image.Image.transform", Claim(run_transform, twin_transform))
