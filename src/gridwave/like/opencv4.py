"""``cv2.remap``, ``warpAffine``, ``warpPerspective`` and ``convertMaps`` of OpenCV 4, without OpenCV.

All coordinates but those of nearest are rounded to 1/32 pixel and weighed by tables, those of uint8 in 1/32768. Results
are those of the 4.14 wheel for x86-64 with AVX-512; other processors sum images of one channel in another order, which
shows as a level of uint16 in a thousand pixels. The wheel gives some warps to Intel's IPP, which is closed; here they
are what OpenCV gives after ``cv2.ipp.setUseIPP(False)``: with borders constant, replicate and transparent,
INTER_NEAREST of float64 by warpAffine with WARP_INVERSE_MAP, and of uint16 with 4 channels INTER_NEAREST by warpAffine
and INTER_LINEAR by warpPerspective. Not here: int16 images. OpenCV 5 is :mod:`gridwave.like.opencv`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gridwave import sampling
from gridwave.errors import ArgumentError, UnsupportedError
from gridwave.like import _opencv
from gridwave.like._opencv import (
    BORDER_CONSTANT,
    BORDER_REFLECT,
    BORDER_REFLECT_101,
    BORDER_REPLICATE,
    BORDER_TRANSPARENT,
    BORDER_WRAP,
    CV_16UC1,
    CV_32FC1,
    INTER_AREA,
    INTER_CUBIC,
    INTER_LANCZOS4,
    INTER_LINEAR,
    INTER_NEAREST,
    WARP_INVERSE_MAP,
    WARP_RELATIVE_MAP,
)
from gridwave.typing import Array, as_numpy

__all__ = [
    "BORDER_CONSTANT",
    "BORDER_REFLECT",
    "BORDER_REFLECT_101",
    "BORDER_REPLICATE",
    "BORDER_TRANSPARENT",
    "BORDER_WRAP",
    "CV_16SC2",
    "CV_16UC1",
    "CV_32FC1",
    "CV_32FC2",
    "INTER_AREA",
    "INTER_CUBIC",
    "INTER_LANCZOS4",
    "INTER_LINEAR",
    "INTER_NEAREST",
    "WARP_INVERSE_MAP",
    "WARP_RELATIVE_MAP",
    "convertMaps",
    "remap",
    "warpAffine",
    "warpPerspective",
]

CV_16SC2: Final = 11
CV_32FC2: Final = 13
_PLAIN: Final = 1  # gw_subpixel: 1/32 pixel
_LANES: Final = 2  # and sums of one channel by vectors
_INT16: Final = 2  # gw_reach
_AFFINE: Final = 0  # gw_coordinates
_DIVIDED: Final = 2
_KINDS: Final = {CV_16SC2: "fixed", CV_32FC1: "planes", CV_32FC2: "pairs"}


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
    Where OpenCV never returns (cubic, BORDER_REFLECT_101, an axis of one pixel), that pixel stands for every index.
    NaN and what lies beyond 2^31 / 32 pixels on either side (nearest: 2^31) is the pixel -32768.
    """
    image, give = as_numpy("src", src)
    flags, relative = _opencv.flags_of("interpolation", interpolation, WARP_RELATIVE_MAP)
    mode, border = _opencv.names_of(flags, borderMode)
    x, y, _ = _opencv.read_maps(map1, map2, mode, "from")
    if mode == "nearest":
        x, y = _converted(x), _converted(y)
    if relative:  # rounded first, then moved
        unit = np.float32(1 if mode == "nearest" else 32)
        x, y = np.rint(x * unit) / unit, np.rint(y * unit) / unit
    _opencv.check_sides(map1=x.shape)
    codes = _codes(image, mode, border, borderValue, relative=int(relative))
    out = _opencv.destination(image, x.shape, dst)
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
    numbers = _opencv.affine_of(M, _opencv.flags_of("flags", flags, WARP_INVERSE_MAP)[1])
    return _warp(src, numbers, _AFFINE, dsize, dst, flags, borderMode, borderValue)


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
    numbers = _opencv.perspective_of(M, _opencv.flags_of("flags", flags, WARP_INVERSE_MAP)[1])
    return _warp(src, numbers, _DIVIDED, dsize, dst, flags, borderMode, borderValue)


def convertMaps(  # noqa: N802
    map1: Any,
    map2: Any,
    dstmap1type: int,
    dstmap1: Any = None,
    dstmap2: Any = None,
    nninterpolation: bool = False,
) -> tuple[Array, Array | None]:
    """Turn maps of :func:`remap` into another kind, as ``cv2.convertMaps`` does.

    Parameters
    ----------
    map1, map2 : array
        Of any kind that :func:`remap` takes.
    dstmap1type : int
        CV_16SC2 (fixed point), CV_32FC1 (two planes) or CV_32FC2 (pairs).
    dstmap1, dstmap2 : array, optional
        Written to if they have the result's shape and dtype.
    nninterpolation : bool
        Whether CV_16SC2 has the nearest whole pixels, half to even, and no fractions; of fixed-point maps those are
        left out.

    Returns
    -------
    tuple of array, array or None
        The maps; None where the first says it all.

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, UnsupportedError
        Maps that do not fit each other, another kind.

    Notes
    -----
    Fixed point is rounded to 1/32 pixel, half to even, and held in 16 bits; NaN and what lies beyond 2^31 / 32 pixels
    on either side become -32768. With CV_32FC1 and nninterpolation OpenCV loses y, or the process; here both are given.
    """
    if dstmap1type not in _KINDS:
        raise ArgumentError(f"dstmap1type must be CV_16SC2, CV_32FC1 or CV_32FC2; got {dstmap1type!r}")
    return _opencv.convert_maps(map1, map2, _KINDS[dstmap1type], dstmap1, dstmap2, nninterpolation)


def _warp(
    src: Any, numbers: list[float], way: int, dsize: Any, dst: Any, flags: int, border_mode: Any, value: Any
) -> Any:
    image, give = as_numpy("src", src)
    mode, border = _opencv.names_of(_opencv.flags_of("flags", flags, WARP_INVERSE_MAP)[0], border_mode)
    size = _opencv.size_of(dsize)
    codes = _codes(image, mode, border, value, coordinates=way)
    out = _opencv.destination(image, size, dst)
    result = sampling.sample_matrix(codes, image, numbers, size, out, border == "transparent")
    return result if dst is not None or give is None else give(result)


def _codes(image: Array, mode: Any, border: Any, value: Any, **how: int) -> Any:
    channels = image.shape[2] if image.ndim == 3 else 1
    if mode in ("cubic", "lanczos4") and channels > 4:
        raise UnsupportedError(f"INTER_CUBIC and INTER_LANCZOS4 are for at most 4 channels in OpenCV; got {channels}")
    _opencv.check_sides(src=image.shape)
    # Relative maps have loops of their own, of which only linear's go by vectors.
    subpixel = _PLAIN if how.get("relative") and mode != "linear" else _LANES
    return sampling.remap_codes(mode, border, _opencv.scalar(value), subpixel=subpixel, reach=_INT16, **how)


def _converted(p: Array) -> Array:
    """Return coordinates with what 32 bits cannot hold below all others, as a processor's conversion has it."""
    beyond = ~(p < np.float32(2.0**31))
    return np.where(beyond, np.float32(-np.inf), p) if beyond.any() else p
