"""Pillow: ``Image.transform`` on arrays."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from gridwave.errors import ArgumentError, DTypeError, ModeError, ShapeError, UnsupportedError
from gridwave.modes import PillowMethod, SamplingMode
from gridwave.sampling import premultiply, transform_pillow
from gridwave.typing import Array, as_numpy

METHODS: Final = ("AFFINE", "EXTENT", "PERSPECTIVE", "QUAD", "MESH")
"""Members of ``Image.Transform``, at their values."""
RESAMPLING: Final = ("NEAREST", "LANCZOS", "BILINEAR", "BICUBIC", "BOX", "HAMMING")
"""Members of ``Image.Resampling``, at their values."""
NEAREST: Final = 0
_FILTERS: Final[dict[str, SamplingMode]] = {"NEAREST": "nearest", "BILINEAR": "bilinear", "BICUBIC": "bicubic"}


class _Mode(NamedTuple):
    dtype: str
    bands: int


MODES: Final = {
    "1": _Mode("bool", 1), "L": _Mode("uint8", 1), "P": _Mode("uint8", 1), "I;16": _Mode("uint16", 1),
    "I": _Mode("int32", 1), "F": _Mode("float32", 1), "LA": _Mode("uint8", 2), "La": _Mode("uint8", 2),
    "PA": _Mode("uint8", 2), "RGB": _Mode("uint8", 3), "YCbCr": _Mode("uint8", 3), "HSV": _Mode("uint8", 3),
    "RGBA": _Mode("uint8", 4), "RGBa": _Mode("uint8", 4), "RGBX": _Mode("uint8", 4),
    "CMYK": _Mode("uint8", 4),
}  # fmt: skip
"""Pillow's modes, as the arrays that NumPy makes of them."""
_PREMULTIPLIED: Final = ("LA", "RGBA")


def transform(
    image: Any,
    size: Sequence[int],
    method: Any,
    data: Any = None,
    resample: Any = NEAREST,
    fill: int = 1,
    fillcolor: Any = None,
    *,
    mode: str | None = None,
) -> Any:
    """Compute ``PIL.Image.fromarray(image).transform(...)``, bit by bit, as an array.

    Parameters
    ----------
    image : array, (H, W) or (H, W, C), uint8 | uint16 | int32 | float32 | bool
        What ``np.asarray`` makes of an image.
    size : (width, height)
        Of the result, in pixels.
    method : {"AFFINE", "EXTENT", "PERSPECTIVE", "QUAD", "MESH"}, or 0 to 4 in this order
        Or an object with ``getdata()``, which returns method and data.
    data : sequence
        For affine the 6, for perspective the 8 coefficients that map the result's pixels to the image's; for extent the
        box (x0, y0, x1, y1) of the image; for quad the corners nw, sw, se, ne as 8 numbers; for mesh a list of
        (box of the result, quad). Units are pixels, (0, 0) is the outer corner of the top left pixel.
    resample : {"NEAREST", "BILINEAR", "BICUBIC"}, or 0, 2, 3
    fill : int
        Not used, as in Pillow.
    fillcolor : number or sequence of numbers, optional
        Of what falls outside the image, 0 by default. One number for each band, the fourth 255 if left out; or one
        alone, which is taken apart byte by byte where there are several bands. Whole numbers, but for F.
    mode : str, optional
        Pillow's mode, where the array can be several: L or P; LA, La or PA; RGB, YCbCr or HSV; RGBA, RGBa, RGBX
        or CMYK. By default the first of each. uint16 is I;16, int32 I, float32 F and bool 1.

    Returns
    -------
    array, (height, width) or (height, width, C), of the dtype and kind of ``image``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError, UnsupportedError
        An array that is no image of the mode, a size, data or colour that is malformed, an unknown method or filter;
        colours by name, and image transform handlers without ``getdata``, are not available.

    Notes
    -----
    The formulas are those of ``gridwave.sampling.transform_pillow``. Beyond them:

    - 1 and P are always nearest.
    - LA and RGBA, unless nearest, are premultiplied before and divided afterwards, ``fillcolor`` included.
    - I;16, unless nearest, is what Pillow makes of it: byte x of a row is taken for its pixel x, and the result is the
      low byte beside the high byte of the fill colour.
    - NaN positions lie outside. (Pillow converts NaN to an integer, which C leaves undefined.)

    =======================================  ==================================================
    Same as                                  with
    =======================================  ==================================================
    PIL.Image.Image.transform                an image instead of ``image`` and ``mode``
    gridwave.sampling.transform_pillow       one affine, perspective or quad, no modes
    =======================================  ==================================================

    References
    ----------
    Pillow 13.0, ``src/PIL/Image.py`` and ``src/libImaging/Geometry.c``.

    Examples
    --------
    >>> import numpy as np
    >>> transform(np.array([[10, 20, 30]], np.uint8), (3, 1), "AFFINE", (1, 0, 0.5, 0, 1, 0), "BILINEAR").tolist()
    [[15, 25, 0]]
    """
    array, give = as_numpy("image", image)
    mode = _mode_of(array, mode)
    width, height = _size(size)
    if hasattr(method, "getdata"):
        method, data = method.getdata()
    if data is None:
        raise ArgumentError("data must be given: the coefficients, box, corners or mesh of the method; got None")
    name = _member("method", method, METHODS)
    filter_name = _FILTERS.get(_member("resample", resample, RESAMPLING))
    if filter_name is None:
        raise UnsupportedError(f"resample must be NEAREST (0), BILINEAR (2) or BICUBIC (3); got {resample!r}")
    if mode in ("1", "P"):
        filter_name = "nearest"
    clear = fillcolor is None
    through = mode in _PREMULTIPLIED and filter_name != "nearest"
    source = array.view(np.uint8) if array.dtype == bool else array
    source = source if array.ndim == 3 else source[:, :, None]
    if through:
        source = premultiply(source)
    out = np.empty((height, width, source.shape[2]), source.dtype)
    out[:] = 0 if clear else _color(mode, fillcolor)
    target = out
    if mode == "I;16" and filter_name != "nearest":  # bytes: see the notes
        low = slice(None, None, 2) if np.little_endian else slice(1, None, 2)
        source = np.ascontiguousarray(array, "<u2").view(np.uint8)[:, : array.shape[1], None]
        target = out[:, :, 0].view(np.uint8)[:, low, None]
    for box, kind, values in _steps(name, data, width, height):
        transform_pillow(source, target, kind, values, filter_name, box=box, clear=clear)
    if through:
        out = premultiply(out, undo=True)
    result = (out if array.ndim == 3 else out[:, :, 0]).view(array.dtype)
    return result if give is None else give(result)


def _mode_of(array: Array, mode: str | None) -> str:
    """Return the image's mode, or raise unless the array can have it."""
    if array.ndim not in (2, 3):
        raise ShapeError(f"image must have shape (H, W) or (H, W, C); got {array.shape}")
    bands = array.shape[2] if array.ndim == 3 else 1
    fitting = [name for name, m in MODES.items() if m == (str(array.dtype), bands) and (bands > 1) == (array.ndim == 3)]
    if mode is None:
        if fitting:
            return fitting[0]
        if str(array.dtype) not in {m.dtype for m in MODES.values()}:
            raise DTypeError(f"image must be uint8, uint16, int32, float32 or bool; got {array.dtype}")
        raise ShapeError(f"image must be (H, W), or uint8 of (H, W, C) with 2 to 4 bands; got {array.shape}")
    if mode not in MODES:
        raise ModeError(f"mode must be one of {', '.join(map(repr, MODES))}; got {mode!r}")
    if mode not in fitting:
        wanted = MODES[mode]
        shape = "(H, W)" if wanted.bands == 1 else f"(H, W, {wanted.bands})"
        raise ShapeError(
            f"image must be {wanted.dtype} of shape {shape} for mode {mode}; got {array.dtype} of {array.shape}"
        )
    return mode


def _size(size: Sequence[int]) -> tuple[int, int]:
    try:
        width, height = (operator.index(v) for v in size)
    except (TypeError, ValueError):
        raise ArgumentError(f"size must be two integers (width, height); got {size!r}") from None
    if not (0 <= width < 2**31 and 0 <= height < 2**31):
        raise ShapeError(f"size must have a width and height from 0 to 2^31 - 1; got {(width, height)}")
    return width, height


def _member(name: str, value: Any, members: tuple[str, ...]) -> str:
    """Return the name of an enum member given by name or by value."""
    if isinstance(value, str) and value in members:
        return value
    try:
        index = -1 if isinstance(value, (bool, str)) else operator.index(value)
    except TypeError:
        index = -1
    if not 0 <= index < len(members):
        choices = ", ".join(f"{member} ({i})" for i, member in enumerate(members))
        raise ModeError(f"{name} must be one of {choices}; got {value!r}")
    return members[index]


def _numbers(name: str, data: Any, least: int, most: int | None = None) -> tuple[float, ...]:
    """Return the numbers of ``data``: at least ``least``, of which Pillow takes the first, or as many as ``most``."""
    try:
        values = tuple(float(v) for v in data)
    except (TypeError, ValueError):
        raise ArgumentError(f"data must be {least} numbers for {name}; got {data!r}") from None
    if len(values) < least or (most is not None and len(values) > most):
        raise ArgumentError(f"data must be {least} numbers for {name}; got {len(values)}")
    return values[:least]


Box = tuple[int, int, int, int]
Step = tuple[Box, PillowMethod, tuple[float, ...]]


def _steps(name: str, data: Any, width: int, height: int) -> list[Step]:
    """Return the box of the result, the map and its coefficients of every step."""
    whole = (0, 0, width, height)
    if name == "AFFINE":
        return [(whole, "affine", _numbers(name, data, 6))]
    if name == "PERSPECTIVE":
        return [(whole, "perspective", _numbers(name, data, 8))]
    if name == "EXTENT":
        x0, y0, x1, y1 = _numbers(name, data, 4, 4)
        _check_area("size", whole)
        return [(whole, "affine", ((x1 - x0) / width, 0.0, x0, 0.0, (y1 - y0) / height, y0))]
    if name == "QUAD":
        return [_quad("size", whole, data)]
    steps = []
    try:
        pairs = [(tuple(operator.index(v) for v in box), quad) for box, quad in data]
    except (TypeError, ValueError):
        raise ArgumentError(
            f"data must be a list of (box, quad) for MESH, boxes of four integers; got {data!r}"
        ) from None
    for box, quad in pairs:
        if len(box) != 4:
            raise ArgumentError(f"data of MESH must have boxes of four integers (x0, y0, x1, y1); got {box}")
        steps.append(_quad("a box of MESH", (box[0], box[1], box[2], box[3]), quad))
    return steps


def _quad(what: str, box: Box, corners: Any) -> Step:
    x0, y0, xs, ys, xe, ye, xn, yn = _numbers("QUAD", corners, 8)  # nw, sw, se, ne
    _check_area(what, box)
    across, down = 1.0 / (box[2] - box[0]), 1.0 / (box[3] - box[1])
    bilinear_map = (
        x0, (xn - x0) * across, (xs - x0) * down, (xe - xs - xn + x0) * across * down,
        y0, (yn - y0) * across, (ys - y0) * down, (ye - ys - yn + y0) * across * down,
    )  # fmt: skip
    return box, "quad", bilinear_map


def _check_area(what: str, box: Box) -> None:
    if box[2] == box[0] or box[3] == box[1]:
        raise ShapeError(f"{what} must have a width and height that are not 0 for EXTENT, QUAD and MESH; got {box}")


def _color(mode: str, color: Any) -> Any:
    """Return the value of each band of a colour, as Pillow's images store it."""
    if isinstance(color, (str, bytes)):
        raise UnsupportedError(f"fillcolor must be numbers: names of colours are not known here; got {color!r}")
    bands, dtype = MODES[mode].bands, MODES[mode].dtype
    given = tuple(color) if isinstance(color, (tuple, list)) else (color,)
    rule = "one number" if bands == 1 else f"one whole number, or one for each of the {bands} bands,"
    wrong = ArgumentError(f"fillcolor must be {rule} for mode {mode}, whole unless F; got {color!r}")
    try:
        if dtype == "float32":
            (number,) = (float(v) for v in given)
            with np.errstate(over="ignore"):
                return np.float64(number).astype(np.float32)
        values = [operator.index(v) for v in given]
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if len(values) not in {1: (1,), 2: (1, 2), 3: (1, 3, 4), 4: (1, 3, 4)}[bands]:
        raise wrong
    if any(not -(2**63) <= v < 2**63 for v in values):
        raise ArgumentError(f"fillcolor must fit 64 bits; got {color!r}")
    if bands > 1 and len(values) == 1:
        parts = [(values[0] >> 8 * i) & 255 for i in range(4)]
        return [parts[0], parts[3]] if bands == 2 else parts[:bands]
    if dtype == "uint16":
        return values[0] & 0xFFFF
    if dtype == "int32":
        return (values[0] + 2**31) % 2**32 - 2**31
    clipped = [min(max(v, 0), 255) for v in [*values, 255][:bands]]
    return [int(v != 0) for v in clipped] if mode == "1" else clipped
