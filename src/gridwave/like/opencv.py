"""``cv2.remap``, ``warpAffine``, ``warpPerspective`` and ``convertMaps`` of OpenCV 5.0, without OpenCV.

Results are OpenCV's own numbers, with these exceptions: warpPerspective by INTER_CUBIC, where the last bits of its
coordinates are not known (integers: a level in one pixel of a thousand); and cubic sums of float images, rounded in
another order. Not here: int16 images. OpenCV 4 is :mod:`gridwave.like.opencv4`.
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

CV_16SC2: Final = 35
CV_32FC2: Final = 37
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
    Cubic is exact, and linear for float maps and uint8, uint16 or float32 with 1, 3 or 4 channels. Everything else
    between pixels is rounded to 1/32 of one and weighed by tables, those of uint8 in 1/32768. float64 by cubic is right
    where OpenCV is not: with taps outside the image it is off by up to half the data's range. Where OpenCV never
    returns (cubic, BORDER_REFLECT_101, an axis of one pixel), that pixel stands for every index.
    """
    image, give = as_numpy("src", src)
    flags, relative = _opencv.flags_of("interpolation", interpolation, WARP_RELATIVE_MAP)
    mode, border = _opencv.names_of(flags, borderMode)
    x, y, is_fixed = _opencv.read_maps(map1, map2, mode, "below")
    _opencv.check_sides(src=image.shape, map1=x.shape)
    codes = sampling.remap_codes(
        mode,
        border,
        _opencv.scalar(borderValue),
        subpixel=int(_is_tabled(image, mode, is_fixed)),
        relative=int(relative),
        reach=int(mode == "cubic"),
    )
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
    tabled = _is_tabled(image, mode, False)
    size = _opencv.size_of(dsize)
    if tabled:
        _opencv.check_sides(src=image.shape)
    codes = sampling.remap_codes(
        mode, border, _opencv.scalar(value), subpixel=int(tabled), coordinates=way, reach=int(mode == "cubic")
    )
    out = _opencv.destination(image, size, dst)
    result = sampling.sample_matrix(codes, image, numbers, size, out, border == "transparent")
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
