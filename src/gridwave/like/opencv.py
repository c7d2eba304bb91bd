"""``cv2.remap``, ``cv2.warpAffine`` and ``cv2.warpPerspective`` of OpenCV 5.0, without OpenCV.

Results are OpenCV's own numbers, with these exceptions: warpPerspective by INTER_CUBIC, where the last bits of its
coordinates are not known (integers: a level in one pixel of a thousand); by INTER_LANCZOS4, where one pixel of 40,000
falls to the next 1/32; and cubic sums of float images, rounded in another order. Not here: int16 images,
``convertMaps``, OpenCV 4.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gridwave import sampling
from gridwave.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from gridwave.typing import Array, as_numpy

INTER_NEAREST: Final = 0
INTER_LINEAR: Final = 1
INTER_CUBIC: Final = 2
INTER_AREA: Final = 3
INTER_LANCZOS4: Final = 4
WARP_INVERSE_MAP: Final = 16
WARP_RELATIVE_MAP: Final = 32
BORDER_CONSTANT: Final = 0
BORDER_REPLICATE: Final = 1
BORDER_REFLECT: Final = 2
BORDER_WRAP: Final = 3
BORDER_REFLECT_101: Final = 4
BORDER_TRANSPARENT: Final = 5

_MODES: Final = {0: "nearest", 1: "linear", 2: "cubic", 3: "linear", 4: "lanczos4"}
_BORDERS: Final = {0: "constant", 1: "replicate", 2: "reflect", 3: "wrap", 4: "reflect_101", 5: "transparent"}
_FRACTIONS: Final = 32


def remap(
    src: Any,
    map1: Any,
    map2: Any,
    interpolation: int,
    dst: Any = None,
    borderMode: int = BORDER_CONSTANT,
    borderValue: Any = 0,
) -> Any:
    """Sample ``src`` at pixel coordinates, as ``cv2.remap`` does.

    Parameters
    ----------
    src : array, (H, W) or (H, W, C), uint8 | uint16 | float32 | float64
        The image.
    map1, map2 : array
        x and y, (H_out, W_out), float32, in pixels from the centre of the first one; or both as (H_out, W_out, 2),
        float32, and ``map2`` None or empty; or fixed point: ``map1`` (H_out, W_out, 2), int16, the whole parts, and
        ``map2`` (H_out, W_out), uint16, ``32 fy + fx`` of the fractions in 1/32 pixel.
    interpolation : int
        INTER_NEAREST, INTER_LINEAR (or INTER_AREA, the same), INTER_CUBIC or INTER_LANCZOS4, and WARP_RELATIVE_MAP.
    dst : array, optional
        Written to; what it holds stays where BORDER_TRANSPARENT says so.
    borderMode, borderValue
        BORDER_CONSTANT with a number or up to 4, missing ones 0; or another BORDER.

    Returns
    -------
    array, (H_out, W_out) or (H_out, W_out, C), of src's dtype

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, UnsupportedError
        Maps that do not fit each other, unknown codes, what OpenCV refuses.

    Notes
    -----
    Cubic is exact, and linear for float maps and uint8, uint16 or float32 with 1, 3 or 4 channels. Everything else
    between pixels is rounded to 1/32 of one and weighed by tables, those of uint8 in 1/32768. float64 by cubic is right
    where OpenCV is not: with taps outside the image it is off by up to half the data's range. Where OpenCV never
    returns (cubic, BORDER_REFLECT_101, an axis of one pixel), that pixel stands for every index.
    """
    image, give = as_numpy("src", src)
    relative = bool(interpolation & WARP_RELATIVE_MAP)
    mode, border = _codes(interpolation & ~WARP_RELATIVE_MAP, borderMode)
    first = as_numpy("map1", map1)[0]
    fixed = first.dtype == np.int16
    x, y = _fixed(first, map2, mode) if fixed else _planes(first, map2)
    codes = sampling.remap_codes(
        mode,
        border,
        _scalar(borderValue),
        subpixel=int(_is_tabled(image, mode, fixed)),
        relative=int(relative),
        reach=int(mode == "cubic"),
    )
    out = _destination(image, x.shape, dst)
    result = sampling.sample_map(codes, image, x, y, out, border == "transparent")
    return result if dst is not None or give is None else give(result)


def warpAffine(  # noqa: N802
    src: Any,
    M: Any,
    dsize: Any,
    dst: Any = None,
    flags: int = INTER_LINEAR,
    borderMode: int = BORDER_CONSTANT,
    borderValue: Any = 0,
) -> Any:
    """Warp ``src`` by an affine matrix, as ``cv2.warpAffine`` does.

    Parameters
    ----------
    src : array, (H, W) or (H, W, C), uint8 | uint16 | float32 | float64
        The image.
    M : array, (2, 3)
        From src's pixel coordinates to the result's; the other way with WARP_INVERSE_MAP.
    dsize : (int, int)
        Width and height of the result.
    dst, borderMode, borderValue
        As in :func:`remap`.
    flags : int
        An interpolation of :func:`remap`, and WARP_INVERSE_MAP.

    Returns
    -------
    array, (height, width) or (height, width, C), of src's dtype

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, UnsupportedError
        As :func:`remap`.
    """
    m = np.asarray(M, np.float64)
    if m.shape != (2, 3):
        raise ShapeError(f"M must have shape (2, 3); got {m.shape}")
    a, b, c, d, e, f = m.ravel().tolist()
    if not flags & WARP_INVERSE_MAP:
        det = a * e - b * d
        det = 1 / det if det != 0 else 0.0
        a, b, d, e = e * det, b * -det, d * -det, a * det
        c, f = -a * c - b * f, -d * c - e * f
    return _warp(src, [a, b, c, d, e, f, 0.0, 0.0, 1.0], dsize, dst, flags, borderMode, borderValue)


def warpPerspective(  # noqa: N802
    src: Any,
    M: Any,
    dsize: Any,
    dst: Any = None,
    flags: int = INTER_LINEAR,
    borderMode: int = BORDER_CONSTANT,
    borderValue: Any = 0,
) -> Any:
    """Warp ``src`` by a perspective matrix, (3, 3), as ``cv2.warpPerspective`` does.

    Parameters
    ----------
    src, dsize, dst, flags, borderMode, borderValue
        As in :func:`warpAffine`.
    M : array, (3, 3)
        From src's homogeneous pixel coordinates to the result's; the other way with WARP_INVERSE_MAP.

    Returns
    -------
    array, (height, width) or (height, width, C), of src's dtype

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, UnsupportedError
        As :func:`remap`.
    """
    m = np.asarray(M, np.float64)
    if m.shape != (3, 3):
        raise ShapeError(f"M must have shape (3, 3); got {m.shape}")
    numbers = m.ravel().tolist()
    return _warp(
        src, numbers if flags & WARP_INVERSE_MAP else invert(numbers), dsize, dst, flags, borderMode, borderValue
    )


def invert(m: list[float]) -> list[float]:
    """Return the inverse of a 3 x 3 matrix by cofactors, in OpenCV's order; zeros where there is none."""
    det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6])
    if det == 0:
        return [0.0] * 9
    d = 1 / det
    return [
        (m[4] * m[8] - m[5] * m[7]) * d, (m[2] * m[7] - m[1] * m[8]) * d, (m[1] * m[5] - m[2] * m[4]) * d,
        (m[5] * m[6] - m[3] * m[8]) * d, (m[0] * m[8] - m[2] * m[6]) * d, (m[2] * m[3] - m[0] * m[5]) * d,
        (m[3] * m[7] - m[4] * m[6]) * d, (m[1] * m[6] - m[0] * m[7]) * d, (m[0] * m[4] - m[1] * m[3]) * d,
    ]  # fmt: skip


def _warp(src: Any, numbers: list[float], dsize: Any, dst: Any, flags: int, border_mode: Any, value: Any) -> Any:
    image, give = as_numpy("src", src)
    mode, border = _codes(flags & ~WARP_INVERSE_MAP, border_mode)
    tabled = _is_tabled(image, mode, False)
    codes = sampling.remap_codes(
        mode, border, _scalar(value), subpixel=int(tabled), coordinates=0, reach=int(mode == "cubic")
    )
    try:
        width, height = (int(v) for v in dsize)
    except (TypeError, ValueError):
        raise ArgumentError(f"dsize must be (width, height); got {dsize!r}") from None
    out = _destination(image, (height, width), dst)
    result = sampling.sample_matrix(codes, image, numbers, (height, width), out, border == "transparent")
    return result if dst is not None or give is None else give(result)


def _is_tabled(image: Array, mode: str, fixed: bool) -> bool:
    """Say whether OpenCV 5.0 rounds coordinates to 1/32 pixel."""
    if mode == "nearest":
        return False
    channels = image.shape[2] if image.ndim == 3 else 1
    if mode == "cubic" and channels > 4:
        raise UnsupportedError(f"INTER_CUBIC is for at most 4 channels in OpenCV 5; got {channels}")
    exact = mode == "cubic" or (image.dtype in (np.uint8, np.uint16, np.float32) and channels in (1, 3, 4))
    return mode == "lanczos4" or not exact or (fixed and mode == "linear")


def _codes(interpolation: Any, border: Any) -> tuple[Any, Any]:
    if interpolation not in _MODES:
        raise UnsupportedError(f"interpolation must be INTER_NEAREST, LINEAR, CUBIC or LANCZOS4; got {interpolation!r}")
    if border not in _BORDERS:
        raise ArgumentError(f"borderMode must be one of the codes {sorted(_BORDERS)}; got {border!r}")
    return _MODES[interpolation], _BORDERS[border]


def _scalar(value: Any) -> Any:
    numbers = np.atleast_1d(np.asarray(value, np.float64)).ravel()
    if numbers.size > 4:
        raise ArgumentError(f"borderValue must have at most 4 numbers; got {numbers.size}")
    return np.pad(numbers, (0, 4 - numbers.size))


def _destination(image: Array, shape: tuple[int, ...], dst: Any) -> Any:
    return np.zeros((*shape, *image.shape[2:]), image.dtype) if dst is None and image.ndim in (2, 3) else dst


def _planes(first: Array, map2: Any) -> tuple[Array, Array]:
    second = None if map2 is None else as_numpy("map2", map2)[0]
    if first.dtype != np.float32 or (second is not None and second.size and second.dtype != np.float32):
        raise DTypeError("map1 and map2 must be float32, or int16 and uint16 for fixed point")
    if first.ndim == 3 and first.shape[2] == 2 and (second is None or second.size == 0):
        return first[..., 0], first[..., 1]
    if first.ndim != 2 or second is None or second.shape != first.shape:
        raise ShapeError(f"map1 and map2 must have one shape (H_out, W_out); got {first.shape} and {np.shape(map2)}")
    return first, second


def _fixed(first: Array, map2: Any, mode: str) -> tuple[Array, Array]:
    """Return coordinates that hold the whole parts and fractions of a fixed-point map exactly."""
    if first.ndim != 3 or first.shape[2] != 2:
        raise ShapeError(f"an int16 map1 must have shape (H_out, W_out, 2); got {first.shape}")
    x, y = first[..., 0].astype(np.float32), first[..., 1].astype(np.float32)
    fractions = None if map2 is None else as_numpy("map2", map2)[0]
    if fractions is None or fractions.size == 0:
        if mode != "nearest":
            raise UnsupportedError("a fixed-point map without map2 has no fractions: INTER_NEAREST only")
        return x, y
    if fractions.dtype != np.uint16 or fractions.shape != first.shape[:2]:
        raise DTypeError(f"map2 must be uint16, {first.shape[:2]}; got {fractions.dtype}, {fractions.shape}")
    fx, fy = fractions % _FRACTIONS, fractions // _FRACTIONS % _FRACTIONS
    if mode == "nearest":  # OpenCV's table adds a pixel below one half, not above
        return x + (fx < _FRACTIONS // 2).astype(np.float32), y + (fy < _FRACTIONS // 2).astype(np.float32)
    return x + fx.astype(np.float32) / _FRACTIONS, y + fy.astype(np.float32) / _FRACTIONS
