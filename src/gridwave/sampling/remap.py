"""Images sampled at pixel coordinates: maps, affine and perspective matrices."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError, ShapeError
from gridwave.modes import BorderMode, RemapMode, parse
from gridwave.sampling._codes import flag
from gridwave.sampling._memory import check_out, empty
from gridwave.typing import DTYPE_CODES, Array, as_numpy, carrier, dtype_code

IMAGE_DTYPES = tuple(np.dtype(name) for name in ("uint8", "uint16", "float32", "float64"))
MAP_DTYPES = tuple(np.dtype(name) for name in ("float32", "float64"))


def remap(
    image: Any,
    map_x: Any,
    map_y: Any,
    mode: RemapMode = "linear",
    border: BorderMode = "constant",
    border_value: Any = 0.0,
    *,
    out: Any = None,
) -> Any:
    """Sample an image at pixel coordinates.

    Parameters
    ----------
    image : array, (H, W) or (H, W, C), uint8 | uint16 | float32 | float64
        The data; any number of channels.
    map_x, map_y : array, (H_out, W_out), float32 | float64
        Where each output pixel lies in the image, in pixels: (0, 0) is the centre of the first pixel, x runs along W,
        y along H. Both of one dtype, which is what fractions are computed in.
    mode : {"linear", "nearest", "cubic", "lanczos4"}
        1, 2, 4 or 8 samples along each axis. ``nearest`` takes the even pixel half-way, ``cubic`` is Keys' with
        a = -0.75, ``lanczos4`` is divided by the sum of its weights.
    border : {"constant", "replicate", "reflect", "reflect_101", "wrap", "transparent"}
        What samples outside are: ``border_value``, the edge (aaa|abc|ccc), the mirror image with the edge twice
        (cba|abc|cba) or once (cb|abc|ba), the image again (abc|abc|abc), or what ``out`` holds at that pixel.
    border_value : float or sequence of at most 4 floats
        Of each channel, for ``constant``; rounded and saturated for integer images.
    out : array, optional
        Where to write; like the result. ``transparent`` needs it.

    Returns
    -------
    array, (H_out, W_out) or (H_out, W_out, C), of image's dtype and kind

    Raises
    ------
    ShapeError, DTypeError, ModeError, ArgumentError
        Ranks, shapes or dtypes that do not fit, an empty image, an ``out`` that overlaps an input, an unknown name.

    Notes
    -----
    ``out[i, j] = sum over k, l of w(map_y[i, j] - k) w(map_x[i, j] - l) image[k, l]`` in float32, or float64 if the
    image or the maps are; integers are rounded half to even and saturated. NaN lies before the first pixel,
    coordinates beyond 2^30 at 2^30.

    Same as
      OpenCV 5 ``cv2.remap`` for linear, nearest and cubic, 1, 3 or 4 channels and float32 maps; see
      :mod:`gridwave.like.opencv` for the rest.

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> image = np.array([[0.0, 10, 20]], np.float32)
    >>> x = np.array([[0.5, 1.25, 2.5]], np.float32)
    >>> gw.remap(image, x, np.zeros_like(x), border="replicate").tolist()
    [[5.0, 12.5, 20.0]]
    """
    codes = remap_codes(mode, border, border_value)
    return sample_map(codes, image, map_x, map_y, out, border == "transparent")


def warp_affine(
    image: Any,
    matrix: Any,
    size: Any,
    mode: RemapMode = "linear",
    border: BorderMode = "constant",
    border_value: Any = 0.0,
    *,
    inverse: bool = False,
    out: Any = None,
) -> Any:
    """Warp an image by an affine matrix.

    Parameters
    ----------
    image : array, (H, W) or (H, W, C), uint8 | uint16 | float32 | float64
        The data.
    matrix : array, (2, 3)
        From pixel coordinates (x, y, 1) of the image to (x, y) of the output; (0, 0) is the centre of the first pixel.
    size : sequence of 2 int
        (H_out, W_out).
    mode, border, border_value, out
        As in :func:`remap`.
    inverse : bool
        The matrix goes from the output to the image, and is not inverted.

    Returns
    -------
    array, (H_out, W_out) or (H_out, W_out, C), of image's dtype and kind

    Raises
    ------
    ShapeError, DTypeError, ModeError, ArgumentError
        As :func:`remap`; a matrix that is not (2, 3) or has no inverse.

    Notes
    -----
    :func:`remap` at ``matrix^-1 (x, y, 1)``, computed in float64 tile by tile; no map is made. Same as
    ``cv2.warpAffine`` up to the rounding of its float32 coordinates.

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> gw.warp_affine(np.array([[1, 2, 3]], np.uint8), [[1, 0, 1], [0, 1, 0]], (1, 3)).tolist()
    [[0, 1, 2]]
    """
    m = _matrix(matrix, (2, 3))
    numbers = [*m.ravel().tolist(), 0.0, 0.0, 1.0]
    return _warp(image, numbers, size, mode, border, border_value, inverse, out)


def warp_perspective(
    image: Any,
    matrix: Any,
    size: Any,
    mode: RemapMode = "linear",
    border: BorderMode = "constant",
    border_value: Any = 0.0,
    *,
    inverse: bool = False,
    out: Any = None,
) -> Any:
    """Warp an image by a perspective matrix.

    Parameters
    ----------
    image : array, (H, W) or (H, W, C), uint8 | uint16 | float32 | float64
        The data.
    matrix : array, (3, 3)
        From homogeneous pixel coordinates (x, y, 1) of the image to those of the output.
    size, mode, border, border_value, inverse, out
        As in :func:`warp_affine`.

    Returns
    -------
    array, (H_out, W_out) or (H_out, W_out, C), of image's dtype and kind

    Raises
    ------
    ShapeError, DTypeError, ModeError, ArgumentError
        As :func:`warp_affine`.

    Notes
    -----
    With ``(u, v, w) = matrix^-1 (x, y, 1)``, :func:`remap` at ``(u / w, v / w)``; where w is 0 the coordinates are
    infinite or NaN. Same as ``cv2.warpPerspective`` up to the rounding of its float32 coordinates.

    Examples
    --------
    >>> import numpy as np, gridwave as gw
    >>> gw.warp_perspective(np.array([[1, 2, 3]], np.uint8), np.diag([2, 1, 2]), (1, 3), inverse=True).tolist()
    [[1, 2, 3]]
    """
    numbers = _matrix(matrix, (3, 3)).ravel().tolist()
    return _warp(image, numbers, size, mode, border, border_value, inverse, out)


def remap_codes(
    mode: Any,
    border: Any,
    border_value: Any,
    *,
    subpixel: int = 0,
    relative: int = 0,
    coordinates: int = 1,
    reach: int = 0,
) -> _core.RemapSpec:
    """Return the names as core's spec."""
    values = np.atleast_1d(np.asarray(border_value, np.float64))
    if values.ndim != 1 or not 1 <= values.size <= 4:
        raise ArgumentError(f"border_value must be a number or at most 4 of them; got shape {values.shape}")
    four = np.resize(values, 4) if values.size == 1 else np.pad(values, (0, 4 - values.size))
    return _core.RemapSpec(
        parse("mode", mode, RemapMode), parse("border", border, BorderMode), subpixel, relative, coordinates,
        reach, four.tolist(),
    )  # fmt: skip


def sample_map(codes: _core.RemapSpec, image: Any, map_x: Any, map_y: Any, out: Any, needs_out: bool) -> Any:
    """Run core's remap by a spec."""
    image, give = as_numpy("image", image)
    map_x, map_y = as_numpy("map_x", map_x)[0], as_numpy("map_y", map_y)[0]
    code = dtype_code("image", image, IMAGE_DTYPES)
    x_code, y_code = dtype_code("map_x", map_x, MAP_DTYPES), dtype_code("map_y", map_y, MAP_DTYPES)
    if map_x.ndim != 2:
        raise ShapeError(f"map_x must have shape (H_out, W_out); got {map_x.shape}")
    result = _result(image, map_x.shape, out, needs_out)
    out_code = dtype_code("out", result, IMAGE_DTYPES)
    _core.remap(codes, carrier(image), code, map_x, x_code, map_y, y_code, carrier(result), out_code)
    return out if out is not None else result if give is None else give(result)


def sample_matrix(
    codes: _core.RemapSpec, image: Any, numbers: list[float], size: Any, out: Any, needs_out: bool
) -> Any:
    """Run core's warp by a spec and the nine numbers of the matrix from the output to the image."""
    image, give = as_numpy("image", image)
    code = dtype_code("image", image, IMAGE_DTYPES)
    result = _result(image, _size(size), out, needs_out)
    out_code = dtype_code("out", result, IMAGE_DTYPES)
    _core.warp(codes, carrier(image), code, numbers, carrier(result), out_code)
    return out if out is not None else result if give is None else give(result)


def _warp(
    image: Any, numbers: list[float], size: Any, mode: Any, border: Any, value: Any, inverse: Any, out: Any
) -> Any:
    if not flag("inverse", inverse):
        m = np.array(numbers).reshape(3, 3)
        try:
            numbers = np.linalg.inv(m).ravel().tolist()
        except np.linalg.LinAlgError:
            raise ArgumentError(f"matrix must have an inverse unless inverse=True; got {m.tolist()}") from None
        if (m[2] == [0, 0, 1]).all():
            numbers[6:] = [0.0, 0.0, 1.0]
    return sample_matrix(remap_codes(mode, border, value), image, numbers, size, out, border == "transparent")


def _matrix(matrix: Any, shape: tuple[int, int]) -> Array:
    try:
        m = np.asarray(as_numpy("matrix", matrix)[0], np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"matrix must hold numbers; got {matrix!r}") from None
    if m.shape != shape:
        raise ShapeError(f"matrix must have shape {shape}; got {m.shape}")
    if not np.isfinite(m).all():
        raise ArgumentError(f"matrix must be finite; got {m.tolist()}")
    return m


def _size(size: Any) -> tuple[int, ...]:
    try:
        lengths = tuple(operator.index(v) for v in size)
    except TypeError:
        raise ArgumentError(f"size must be two lengths (H_out, W_out); got {size!r}") from None
    if len(lengths) != 2 or min(lengths) < 0 or math.prod(lengths) >= 2**40:
        raise ShapeError(f"size must be two lengths (H_out, W_out) that memory can hold; got {lengths}")
    return lengths


def _result(image: Array, shape: tuple[int, ...], out: Any, needs_out: bool) -> Array:
    if out is not None:
        return check_out(out)
    if needs_out:
        raise ArgumentError("border 'transparent' keeps what out holds; give out")
    if image.ndim not in (2, 3):
        raise ShapeError(f"image must have shape (H, W) or (H, W, C); got {image.shape}")
    return empty((*shape, *image.shape[2:]), image.dtype)


assert set(IMAGE_DTYPES) <= set(DTYPE_CODES)
