"""ImageProjectiveTransform of TensorFlow: parse arguments, allocate, call core."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError, ModeError, ShapeError
from gridwave.modes import FillMode, SamplingMode, parse
from gridwave.sampling._memory import empty
from gridwave.typing import BFLOAT16, Array, as_numpy, carrier, dtype_code

PROJECTIVE_DTYPES: Final = (
    *(np.dtype(name) for name in ("uint8", "int32", "int64", "float16", "float32", "float64")),
    BFLOAT16,
)
_INTERPOLATIONS: Final = tuple(parse("interpolation", name, SamplingMode) for name in ("bilinear", "nearest"))


def projective_transform(
    images: Any,
    transforms: Any,
    output_shape: Sequence[int],
    interpolation: Literal["bilinear", "nearest"] = "bilinear",
    fill_mode: FillMode = "constant",
    fill_value: float = 0.0,
) -> Any:
    """Warp each image of a batch by a projective map, in float32 coordinates, as TensorFlow does.

    Parameters
    ----------
    images : array, (N, H, W, C), uint8 | int32 | int64 | float16 | bfloat16 | float32 | float64
        H and W are not 0; strides may be anything.
    transforms : array, (N, 8) or (1, 8), float32
        ``t`` of the formula below, one for each image or one for all.
    output_shape : (height, width)
        Of the result, both at least 1.
    interpolation : {"bilinear", "nearest"}
        Nearest rounds halves away from zero.
    fill_mode : {"reflect", "wrap", "constant", "nearest"}
        Outside the image: its mirror image with the edge repeated, the image again, ``fill_value``, or the edge.
    fill_value : float
        For ``constant``, and where the denominator is 0; converted to the dtype of ``images``.

    Returns
    -------
    array, (N, height, width, C), of the dtype and kind of ``images``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError
        Shapes that do not fit, another dtype, an unknown mode, bicubic.

    Notes
    -----
    Output pixel (x, y), counted from the centre of the top left one, takes the value of ``images[n]`` at::

        ((t0 x + t1 y + t2) / k, (t3 x + t4 y + t5) / k)    with k = t6 x + t7 y + 1

    in pixels from the same corner's centre. Coordinates, weights and sums are float32 for every dtype; integers are
    truncated. With ``constant`` samples outside are ``fill_value``, and bilinear fades to it over one pixel; from 2^24
    pixels on, where float32 has no fractions, both weights of an axis are 0, and so is the sum. ``wrap`` counts periods
    of length - 1 and shifts by length, as TensorFlow does. Positions that are NaN, or infinite with ``constant``, give
    ``fill_value`` (TensorFlow's bilinear gives NaN). Results do not depend on the number of threads.

    Same as ``tf.raw_ops.ImageProjectiveTransformV3`` with its names in upper case.

    Source: TensorFlow 2.21, ``tensorflow/core/kernels/image/image_ops.h``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    >>> shift = np.array([[1, 0, 1.5, 0, 1, 0, 0, 0]], np.float32)
    >>> projective_transform(x, shift, (1, 4), fill_value=9)[0, 0, :, 0].tolist()
    [1.5, 2.5, 6.0, 9.0]
    """
    images, give = as_numpy("images", images)
    code = dtype_code("images", images, PROJECTIVE_DTYPES)
    matrix, _ = as_numpy("transforms", transforms)
    dtype_code("transforms", matrix, (np.dtype(np.float32),))
    if images.ndim != 4:
        raise ShapeError(f"images must have shape (N, H, W, C); got {images.shape}")
    sampling_code = parse("interpolation", interpolation, SamplingMode)
    if sampling_code not in _INTERPOLATIONS:
        raise ModeError(f"interpolation must be one of 'bilinear', 'nearest'; got {interpolation!r}")
    mode_code = parse("fill_mode", fill_mode, FillMode)
    height, width = _lengths(output_shape, images)
    out: Array = empty((images.shape[0], height, width, images.shape[3]), images.dtype)
    _core.projective_transform(carrier(images), code, matrix, carrier(out), sampling_code, mode_code, _fill(fill_value))
    return out if give is None else give(out)


def _lengths(output_shape: Sequence[int], images: Array) -> tuple[int, int]:
    try:
        height, width = (operator.index(np.asarray(v).item()) for v in output_shape)
    except (TypeError, ValueError):
        raise ArgumentError(f"output_shape must be two integers (height, width); got {output_shape!r}") from None
    if not (1 <= height < 2**31 and 1 <= width < 2**31):
        raise ShapeError(f"output_shape must have a height and width from 1 to 2^31 - 1; got {(height, width)}")
    if images.shape[0] * images.shape[3] * height * width >= 2**58:
        raise ShapeError(f"output_shape must describe images that memory can hold; got {(height, width)}")
    return height, width


def _fill(value: Any) -> float:
    try:
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"fill_value must be a number; got {value!r}") from None
