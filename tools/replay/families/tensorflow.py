"""ImageProjectiveTransformV3, as TensorFlow recorded it."""

from __future__ import annotations

import numpy as np

from gridwave import like, reference
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim


def run_projective(case: Case, arrays: Arrays) -> Arrays:
    """Call like.tensorflow.ImageProjectiveTransformV3."""
    return {"y": like.tensorflow.ImageProjectiveTransformV3(**arrays, **case["kwargs"])}


def twin_projective(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the transform in float64."""
    kwargs = case["kwargs"]
    height, width = kwargs["output_shape"]
    value, size = (
        reference.projective_transform(
            arrays["images"],
            arrays["transforms"],
            (height, width),
            kwargs["interpolation"].lower(),
            kwargs["fill_mode"].lower(),
            kwargs["fill_value"],
            absolute=absolute,
        )
        for absolute in (False, True)
    )
    return {"y": Truth(value, float(np.max(size, initial=0.0)))}


claim("tensorflow", "warp", "tf.raw_ops.ImageProjectiveTransformV3", Claim(run_projective, twin_projective))
