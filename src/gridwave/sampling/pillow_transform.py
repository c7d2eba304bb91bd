"""Image.transform of Pillow, its numbers and its rounding: parse arguments, allocate, call core."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError, ShapeError
from gridwave.modes import PillowMethod, SamplingMode, parse
from gridwave.sampling._codes import flag
from gridwave.sampling._memory import check_out
from gridwave.typing import Array, as_numpy, dtype_code

PILLOW_DTYPES: Final = tuple(np.dtype(name) for name in ("uint8", "uint16", "int32", "float32"))
_COUNTS: Final = {"affine": 6, "perspective": 8, "quad": 8}
_LONGEST: Final = 2**31


def transform_pillow(
    image: Any,
    out: Any,
    method: PillowMethod,
    coefficients: Sequence[float],
    filter: SamplingMode = "nearest",  # noqa: A002 (Pillow's word)
    *,
    box: Sequence[int] | None = None,
    clear: bool = False,
) -> Any:
    """Fill a box of ``out`` from ``image`` as one step of Pillow's ``Image.transform`` does.

    Parameters
    ----------
    image : array, (H, W, C), uint8 | uint16 | int32 | float32
        The source; strides may be anything.
    out : array, (H_out, W_out, C), of the dtype of ``image``
        Written in place, in the box alone.
    method : {"affine", "perspective", "quad"}
        How a pixel's centre (x, y), in pixels from the corner of the box, maps to a position (p, q) in ``image``, in
        pixels from its top left corner.
    coefficients : sequence of 6 or 8 float
        ``a`` of the formula in the notes.
    filter : {"nearest", "bilinear", "bicubic"}
        Bicubic is Keys' kernel with a = -1.
    box : (x0, y0, x1, y1), optional
        Part of ``out`` to fill, cut to its size; all of it by default.
    clear : bool
        Pixels of the box that fall outside ``image`` become 0; otherwise they keep their value.

    Returns
    -------
    out

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError
        Shapes that do not fit, another dtype, ``out`` that is read-only or overlaps ``image``, a number of
        coefficients that is not the method's, an unknown name.

    Notes
    -----
    With x and y at pixel centres::

        affine         p = a0 x + a1 y + a2                         q = a3 x + a4 y + a5
        perspective    p = (a0 x + a1 y + a2) / (a6 x + a7 y + 1)   q = (a3 x + a4 y + a5) / (a6 x + a7 y + 1)
        quad           p = a0 + a1 x + a2 y + a3 x y                q = a4 + a5 x + a6 y + a7 x y

    Positions outside [0, W) x [0, H), NaN among them, have no value. Nearest takes pixel (floor p, floor q). The
    others sample at (p - 1/2, q - 1/2); taps outside repeat the edge. Integers are truncated, and bicubic uint8 and
    uint16 first clipped. Nearest affine maps of images other than uint16 take Pillow's shorter ways: running sums along
    the axes if a1 = a3 = 0, 16.16 fixed point if all corners of the box lie within 32768 pixels, and else running sums
    along rows. Results do not depend on the number of threads.

    Same as ``PIL.Image.Image.transform`` without its modes and fill colours: see ``gridwave.like.pillow.transform``.

    Source: Pillow, ``src/libImaging/Geometry.c``.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.arange(4, dtype=np.uint8).reshape(1, 4, 1)
    >>> transform_pillow(image, np.full_like(image, 9), "affine", (1, 0, 1, 0, 1, 0))[0, :, 0].tolist()
    [1, 2, 3, 9]
    """
    image, _ = as_numpy("image", image)
    code = dtype_code("image", image, PILLOW_DTYPES)
    array = check_out(out)
    dtype_code("out", array, (image.dtype,))
    method_code = parse("method", method, PillowMethod)
    filter_code = parse("filter", filter, SamplingMode)
    values = _coefficients(method, coefficients)
    if box is None:
        box = (0, 0, array.shape[1], array.shape[0]) if array.ndim == 3 else (0, 0, 0, 0)
    cleared = bool(flag("clear", clear))
    _core.pillow_transform(image, code, array, method_code, filter_code, cleared, _box(box), values)
    return out


def premultiply(image: Any, *, undo: bool = False) -> Any:
    """Multiply colours by alpha / 255, or divide them again, rounded as Pillow's RGBa and La are.

    Parameters
    ----------
    image : array, (H, W, C), uint8
        The last channel is alpha.
    undo : bool
        Divide: ``min(255, 255 v // alpha)``; alpha of 0 or 255 leaves v.

    Returns
    -------
    array, (H, W, C), uint8

    Raises
    ------
    ShapeError, DTypeError
        Not three axes with two channels or more, not uint8.

    Examples
    --------
    >>> import numpy as np
    >>> premultiply(np.array([[[200, 128]]], np.uint8)).tolist()
    [[[100, 128]]]
    """
    array, give = as_numpy("image", image)
    dtype_code("image", array, PILLOW_DTYPES[:1])
    out: Array = np.empty(array.shape, array.dtype)
    _core.pillow_premultiply(array, bool(flag("undo", undo)), out)
    return out if give is None else give(out)


def _coefficients(method: str, given: Sequence[float]) -> tuple[float, ...]:
    try:
        values = tuple(float(v) for v in given)
    except (TypeError, ValueError):
        raise ArgumentError(f"coefficients must be {_COUNTS[method]} numbers for {method}; got {given!r}") from None
    if len(values) != _COUNTS[method]:
        raise ArgumentError(f"coefficients must be {_COUNTS[method]} numbers for {method}; got {len(values)}")
    return values + (0.0,) * (8 - len(values))


def _box(given: Sequence[int]) -> tuple[int, int, int, int]:
    try:
        x0, y0, x1, y1 = (operator.index(v) for v in given)
    except (TypeError, ValueError):
        raise ArgumentError(f"box must be four integers (x0, y0, x1, y1); got {given!r}") from None
    if not all(-_LONGEST <= v < _LONGEST for v in (x0, y0, x1, y1)):
        raise ShapeError(f"box must lie within 32-bit integers; got {(x0, y0, x1, y1)}")
    return x0, y0, x1, y1
