"""Warping a picture file by a matrix or a flow.

Places are in pixels, x to the right and y downwards, with (0, 0) at the centre of the first pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

import gridwave as gw
from gridwave.errors import ArgumentError, FileFormatError, ShapeError
from gridwave.modes import PaddingMode, SamplingMode
from gridwave.pictures import files
from gridwave.pictures.by_opencv import Sampler
from gridwave.pictures.files import MAX_PIXELS, Picture
from gridwave.pictures.place import check_writable
from gridwave.typing import Array

Places = Callable[[int, int], NDArray[np.float64]]
"""Gives where the rows [first, last) of the output read, (rows, W, 2) in pixels of the input, last axis (x, y)."""

_BAND: Final = 1 << 20
"""Output pixels whose places are in memory at a time."""


def matrix_of(numbers: ArrayLike, *, inverse: bool = False) -> NDArray[np.float64]:
    """Return the 3 x 3 matrix from an output pixel to the input pixel it shows.

    Parameters
    ----------
    numbers : array_like of 6 or 9 float
        Row by row. Six: ``x' = a x + b y + c``, ``y' = d x + e y + f``. Nine: both divided by ``g x + h y + i``.
    inverse : bool
        The numbers map the input to the output, and are inverted.

    Raises
    ------
    ArgumentError
        If there are not 6 or 9 finite numbers, or there is no inverse.
    """
    flat = np.asarray(numbers, np.float64).ravel()
    if flat.size not in (6, 9) or not np.isfinite(flat).all():
        raise ArgumentError(f"matrix must be 6 or 9 finite numbers; got {', '.join(f'{v:g}' for v in flat)}")
    matrix: NDArray[np.float64] = np.append(flat, [0.0, 0.0, 1.0][: 9 - flat.size]).reshape(3, 3)
    if not inverse:
        return matrix
    try:
        back = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        back = np.full((3, 3), np.nan)
    if not np.isfinite(back).all():
        raise ArgumentError(f"matrix must have an inverse; {matrix.tolist()} maps the picture to a line or a point")
    return np.asarray(back, np.float64)


def places_by_matrix(matrix: NDArray[np.float64], width: int) -> Places:
    """Return where output pixels read; on the horizon of a perspective, nowhere (NaN)."""
    x = np.arange(width, dtype=np.float64)

    def rows(first: int, last: int) -> NDArray[np.float64]:
        y = np.arange(first, last, dtype=np.float64)[:, np.newaxis]
        top, left, depth = (row[0] * x + row[1] * y + row[2] for row in (matrix[1], matrix[0], matrix[2]))
        if not matrix[2, :2].any() and matrix[2, 2] == 1:
            return np.stack([left, top], axis=-1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.stack([left / depth, top / depth], axis=-1)

    return rows


def places_by_flow(flow: Array) -> Places:
    """Return where output pixels read: each at its own place plus the flow there, (H, W, 2) in pixels."""
    x = np.arange(flow.shape[1], dtype=np.float64)

    def rows(first: int, last: int) -> NDArray[np.float64]:
        places = flow[first:last].astype(np.float64)
        places[..., 0] += x
        places[..., 1] += np.arange(first, last, dtype=np.float64)[:, np.newaxis]
        return places

    return rows


def read_flow(path: Path) -> Array:
    """Read a flow, (H, W, 2) of finite floats, from a .npy file."""
    flow = files.read_array("flow", path)
    if flow.ndim != 3 or flow.shape[2] != 2 or 0 in flow.shape:
        hint = ": move its first axis to the end" if flow.ndim == 3 and flow.shape[0] == 2 else ""
        raise FileFormatError(f"flow must have shape (H, W, 2), last axis (x, y); {path} has {flow.shape}{hint}")
    if flow.dtype.kind != "f":
        raise FileFormatError(f"flow must be of floats, in pixels; {path} has {flow.dtype}")
    bad = ~np.isfinite(flow).all(axis=2)
    if bad.any():
        y, x = np.argwhere(bad)[0]
        raise FileFormatError(
            f"flow must be finite; {path} has {int(bad.sum())} pixels that are not, the first at x {x}, y {y}: "
            "fill them, for example with a number that points outside"
        )
    return flow


def warp(pixels: Array, places: Places, size: tuple[int, int], mode: SamplingMode, padding_mode: PaddingMode) -> Array:
    """Sample ``pixels``, (H, W, C), at ``places`` for an output of ``size``, (H_out, W_out).

    In float64; integers are rounded half to even and saturated, other floats rounded once.
    """
    height, width, channels = pixels.shape
    exact = pixels.astype(np.float64) if pixels.dtype.kind == "f" else pixels
    result = np.empty((*size, channels), pixels.dtype)
    band = max(1, _BAND // size[1])
    for first in range(0, size[0], band):
        last = min(first + band, size[0])
        at = places(first, last)
        if mode == "nearest":
            at = _settle(at, np.array([width, height]), padding_mode)
        grid = (2 * at + 1) / np.array([width, height]) - 1
        result[first:last] = gw.grid_sample(
            exact[np.newaxis], grid[np.newaxis], mode, padding_mode, align_corners=False, layout="NHWC"
        )[0]
    return result


def _settle(places: NDArray[np.float64], size: NDArray[Any], padding_mode: PaddingMode) -> NDArray[np.float64]:
    """Reflect and round places in pixels, as ``nearest`` will: grid coordinates would move halves by a rounding."""
    if padding_mode == "reflection":
        with np.errstate(invalid="ignore"):
            beyond = np.mod(places + 0.5, 2 * size)
        places = np.where(np.isfinite(places), np.minimum(beyond, 2 * size - beyond) - 0.5, places)
        places = np.clip(places, 0, size - 1)  # NaN stays
    return np.asarray(np.rint(places))


def warp_file(
    image: Path,
    output: Path,
    *,
    matrix: NDArray[np.float64] | None = None,
    flow: Path | None = None,
    size: tuple[int, int] | None = None,
    mode: SamplingMode = "bilinear",
    padding_mode: PaddingMode = "zeros",
    sampler: Sampler | None = None,
) -> Picture:
    """Warp a picture file.

    Parameters
    ----------
    image : Path
        What :func:`gridwave.pictures.files.read` reads.
    output : Path
        A .png, .jpg, .tif or .npy file; one that exists is replaced, at the end and as a whole. Not an input.
    matrix : array, (3, 3), optional
        From an output pixel to the input pixel it shows, as :func:`matrix_of` gives it.
    flow : Path, optional
        A .npy file, (H_out, W_out, 2): an output pixel shows the input at its own place plus the flow there.
    size : (W_out, H_out), optional
        By default that of the flow, or of the image.
    mode, padding_mode
        As in :func:`gridwave.grid_sample`. Colours and alpha are sampled each by itself.
    sampler : callable, optional
        Makes the output instead, as :func:`gridwave.pictures.by_opencv.sampler_of` gives it.

    Returns
    -------
    Picture
        What was written.

    Raises
    ------
    ArgumentError, ShapeError
        If not one of ``matrix`` and ``flow`` is given, ``size`` is not that of the flow, or ``output`` cannot be
        written or cannot hold the picture; found out before anything is written.
    FileFormatError
        If a file is broken, too large or not of its kind.
    """
    inputs = [image] if flow is None else [image, flow]
    check_writable(output, files.FORMATS, inputs, "an input")
    if (matrix is None) == (flow is None):
        raise ArgumentError("exactly one of matrix and flow must be given")
    picture = files.read(image)
    files.check_writes(output, picture.pixels.dtype, picture.pixels.shape[2])
    field = None
    if flow is not None:
        field = read_flow(flow)
        out_width, out_height = field.shape[1], field.shape[0]
        if size is not None and size != (out_width, out_height):
            raise ShapeError(f"size must be that of the flow, {out_width}x{out_height}; got {size[0]}x{size[1]}")
        places = places_by_flow(field)
    else:
        out_width, out_height = size or (picture.pixels.shape[1], picture.pixels.shape[0])
        places = places_by_matrix(np.asarray(matrix), out_width)
    if min(out_width, out_height) < 1 or out_width * out_height > MAX_PIXELS:
        raise ArgumentError(f"size must have 1 to {MAX_PIXELS} pixels; got {out_width}x{out_height}")
    out_size = (out_height, out_width)
    if sampler is not None:
        warped = sampler(picture.pixels, field, out_size)
    else:
        warped = warp(picture.pixels, places, out_size, mode, padding_mode)
    result = Picture(warped, picture.profile)
    files.write(result, output)
    return result


def numbers_of(name: str, text: str, count: int) -> list[float]:
    """Parse numbers between commas or blanks."""
    words: list[Any] = text.replace(",", " ").split()
    try:
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ArgumentError(f"{name} must be {count} numbers, between commas; got {text!r}")
    return numbers


def size_of(text: str) -> tuple[int, int]:
    """Parse WIDTHxHEIGHT."""
    width, _, height = text.lower().partition("x")
    if not (width.isascii() and width.isdigit() and height.isascii() and height.isdigit()):
        raise ArgumentError(f"size must be WIDTHxHEIGHT in pixels, such as 640x480; got {text!r}")
    if len(width) > 9 or len(height) > 9:
        raise ArgumentError(f"size must have 1 to {MAX_PIXELS} pixels; got {text}")
    return int(width), int(height)
