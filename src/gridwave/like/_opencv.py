"""What OpenCV 4 and 5 share: codes, maps and matrices."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

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
CV_16UC1: Final = 2
CV_32FC1: Final = 5

_MODES: Final = {0: "nearest", 1: "linear", 2: "cubic", 3: "linear", 4: "lanczos4"}
_BORDERS: Final = {0: "constant", 1: "replicate", 2: "reflect", 3: "wrap", 4: "reflect_101", 5: "transparent"}
_FRACTIONS: Final = 32
_LEAST: Final = -32768
_LONGEST: Final = 32766


def names_of(interpolation: Any, border: Any) -> tuple[Any, Any]:
    """Return an interpolation's and a border's name."""
    if interpolation not in _MODES:
        raise UnsupportedError(
            "interpolation must be INTER_NEAREST, INTER_LINEAR, INTER_CUBIC, INTER_AREA or INTER_LANCZOS4; "
            f"got {interpolation!r}"
        )
    if border not in _BORDERS:
        raise ArgumentError(f"borderMode must be one of the codes {sorted(_BORDERS)}; got {border!r}")
    return _MODES[interpolation], _BORDERS[border]


def flags_of(name: str, flags: Any, known: int) -> tuple[int, bool]:
    """Return flags without the bit ``known``, and whether they have it."""
    if isinstance(flags, bool) or not isinstance(flags, (int, np.integer)):
        raise ArgumentError(f"{name} must be a sum of codes such as INTER_LINEAR; got {flags!r}")
    return int(flags) & ~known, bool(int(flags) & known)


def scalar(value: Any) -> Array:
    """Return ``borderValue`` as four numbers."""
    try:
        numbers = np.atleast_1d(np.asarray(value, np.float64)).ravel()
    except (TypeError, ValueError):
        raise ArgumentError(f"borderValue must be a number or up to 4 of them; got {value!r}") from None
    if numbers.size > 4:
        raise ArgumentError(f"borderValue must have at most 4 numbers; got {numbers.size}")
    return np.pad(numbers, (0, 4 - numbers.size))


def size_of(dsize: Any) -> tuple[int, int]:
    """Return (height, width) of ``dsize``."""
    try:
        width, height = (int(v) for v in dsize)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"dsize must be (width, height); got {dsize!r}") from None
    if min(width, height) < 0 or width * height >= 2**40:
        raise ArgumentError(f"dsize must be (width, height) that memory can hold; got {dsize!r}")
    return height, width


def destination(image: Array, shape: tuple[int, ...], dst: Any) -> Any:
    """Return ``dst``, or zeros."""
    return np.zeros((*shape, *image.shape[2:]), image.dtype) if dst is None and image.ndim in (2, 3) else dst


def check_sides(**shapes: tuple[int, ...]) -> None:
    """Refuse what 16-bit coordinates do not reach, as OpenCV does."""
    for name, shape in shapes.items():
        if max(shape[:2], default=0) > _LONGEST:
            raise UnsupportedError(
                f"{name} must be at most {_LONGEST} pixels high and wide, as OpenCV's 16-bit coordinates are; got "
                f"{shape}. gridwave.remap has no such limit"
            )


def affine_of(M: Any, inverse: bool) -> list[float]:
    """Return nine numbers from the result's pixels to src's, of an affine matrix."""
    a, b, c, d, e, f = _matrix(M, (2, 3))
    if not inverse:
        det = a * e - b * d
        det = 1 / det if det != 0 else 0.0
        a, b, d, e = e * det, b * -det, d * -det, a * det
        c, f = -a * c - b * f, -d * c - e * f
    return [a, b, c, d, e, f, 0.0, 0.0, 1.0]


def perspective_of(M: Any, inverse: bool) -> list[float]:
    """Return nine numbers from the result's pixels to src's, of a perspective matrix."""
    numbers = _matrix(M, (3, 3))
    return numbers if inverse else invert(numbers)


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


def read_maps(map1: Any, map2: Any, mode: str, up: str) -> tuple[Array, Array, bool]:
    """Return the coordinates of maps in pixels, and whether they were fixed point.

    By ``nearest`` a fixed-point map moves on by a pixel where its fraction is ``up``: "below" or "from" one half.
    """
    first = as_numpy("map1", map1)[0]
    if first.dtype == np.int16:
        return *_fixed(first, map2, mode, up), True
    return *_planes(first, map2), False


def convert_maps(
    map1: Any, map2: Any, kind: str, dstmap1: Any, dstmap2: Any, nninterpolation: Any
) -> tuple[Array, Array | None]:
    """Return maps as ``kind``: "fixed", "planes" or "pairs"."""
    first = as_numpy("map1", map1)[0]
    if first.dtype == np.int16 and map2 is None and not nninterpolation:
        raise ArgumentError("map2 must be given with an int16 map1, unless nninterpolation is True")
    if first.dtype == np.int16 and nninterpolation:
        map2 = None  # its whole parts alone
    x, y, is_fixed = read_maps(first, map2, "nearest" if map2 is None else "linear", "from")
    results: tuple[Array, Array | None]
    if kind == "planes":
        results = x.copy(), y.copy()
    elif kind == "pairs":
        results = np.stack([x, y], -1), None
    elif is_fixed:
        results = first.copy(), None if nninterpolation else as_numpy("map2", map2)[0].astype(np.uint16)
    elif nninterpolation:
        results = np.stack([_whole(x), _whole(y)], -1).clip(_LEAST, 32767).astype(np.int16), None
    else:
        sx, sy = _whole(x * np.float32(_FRACTIONS)), _whole(y * np.float32(_FRACTIONS))
        cells = np.stack([sx >> 5, sy >> 5], -1).clip(_LEAST, 32767).astype(np.int16)
        results = cells, (sy % _FRACTIONS * _FRACTIONS + sx % _FRACTIONS).astype(np.uint16)
    return _written("dstmap1", results[0], dstmap1), _written("dstmap2", results[1], dstmap2)


def _written(name: str, result: Any, to: Any) -> Any:
    """Return the result in an array of the caller's, if it fits; a new one else, as OpenCV does."""
    if result is None or to is None:
        return result
    if not isinstance(to, np.ndarray):
        raise DTypeError(f"{name} must be a NumPy array or None; got {type(to).__name__}")
    if to.shape != result.shape or to.dtype != result.dtype or not to.flags.writeable:
        return result
    to[...] = result
    return to


def _whole(v: Array) -> Array:
    """Return the nearest whole numbers, half to even; NaN and what 32 bits cannot hold are the least."""
    with np.errstate(invalid="ignore"):
        inside = (v >= -(2.0**31)) & (v < 2.0**31)
    return np.rint(np.where(inside, v, -(2.0**31))).astype(np.int64)


def _matrix(M: Any, shape: tuple[int, int]) -> list[float]:
    try:
        m = np.asarray(as_numpy("M", M)[0], np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"M must hold numbers; got {M!r}") from None
    if m.shape != shape:
        raise ShapeError(f"M must have shape {shape}; got {m.shape}")
    numbers: list[float] = m.ravel().tolist()
    return numbers


def _planes(first: Array, map2: Any) -> tuple[Array, Array]:
    second = None if map2 is None else as_numpy("map2", map2)[0]
    if first.dtype != np.float32 or (second is not None and second.size and second.dtype != np.float32):
        raise DTypeError(
            "map1 and map2 must be float32, or int16 and uint16 for fixed point; got "
            f"{first.dtype} and {None if second is None else second.dtype}"
        )
    if first.ndim == 3 and first.shape[2] == 2 and (second is None or second.size == 0):
        return first[..., 0], first[..., 1]
    if first.ndim != 2 or second is None or second.shape != first.shape:
        raise ShapeError(
            "map1 and map2 must have one shape (H_out, W_out), or map1 (H_out, W_out, 2) and map2 be None; got "
            f"{first.shape} and {None if second is None else second.shape}"
        )
    return first, second


def _fixed(first: Array, map2: Any, mode: str, up: str) -> tuple[Array, Array]:
    """Return coordinates that hold the whole parts and fractions of a fixed-point map exactly."""
    if first.ndim != 3 or first.shape[2] != 2:
        raise ShapeError(f"an int16 map1 must have shape (H_out, W_out, 2); got {first.shape}")
    x, y = first[..., 0].astype(np.float32), first[..., 1].astype(np.float32)
    fractions = None if map2 is None else as_numpy("map2", map2)[0]
    if fractions is None or fractions.size == 0:
        if mode != "nearest":
            raise UnsupportedError(
                "a fixed-point map without map2 has no fractions: INTER_NEAREST only; give the map2 of convertMaps"
            )
        return x, y
    if fractions.dtype not in (np.uint16, np.int16) or fractions.shape != first.shape[:2]:
        raise DTypeError(
            f"map2 must be uint16 of shape {first.shape[:2]} with an int16 map1; got {fractions.dtype}, "
            f"{fractions.shape}"
        )
    fractions = fractions.view(np.uint16)
    fx, fy = fractions % _FRACTIONS, fractions // _FRACTIONS % _FRACTIONS
    if mode == "nearest":
        half = _FRACTIONS // 2
        add_x, add_y = (fx >= half, fy >= half) if up == "from" else (fx < half, fy < half)
        moved = first + np.stack([add_x, add_y], -1).astype(np.int16)  # in 16 bits, which wrap round
        return moved[..., 0].astype(np.float32), moved[..., 1].astype(np.float32)
    return x + fx.astype(np.float32) / _FRACTIONS, y + fy.astype(np.float32) / _FRACTIONS
