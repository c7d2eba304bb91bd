"""The twin of TensorFlow's ImageProjectiveTransform: coordinates in float32, as it is defined, the rest in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]


def coordinates(t: NDArray[np.float32], height: int, width: int) -> tuple[Any, Any, Any]:
    """Return x, y and the denominator of each output pixel, (height, width), float32."""
    y, x = np.meshgrid(np.arange(height, dtype=np.float32), np.arange(width, dtype=np.float32), indexing="ij")
    one = np.float32(1)
    with np.errstate(all="ignore"):
        k = t[6] * x + t[7] * y + one
        return (t[0] * x + t[1] * y + t[2]) / k, (t[3] * x + t[4] * y + t[5]) / k, k


def into_range(v: NDArray[np.float32], length: int, fill_mode: str) -> NDArray[np.float32]:
    """Return the coordinate inside the image that stands for ``v``; ``constant`` leaves it."""
    if fill_mode == "constant":
        return v
    n, two = np.float32(length), np.float32(2 * length)
    with np.errstate(all="ignore"):
        if fill_mode == "reflect" and length > 1:
            below = np.where(v < two, v + two * np.trunc(-v / two), v)
            below = np.where(below < -n, below + two, -below - 1)
            above = v - two * np.trunc(v / two)
            above = np.where(above >= n, two - above - 1, above)
            v = np.where(v < 0, below, np.where(v > n - 1, above, v))
        elif fill_mode == "wrap" and length > 1:
            below = v + n * (np.trunc(-v / (n - 1)) + 1)
            above = v - n * np.trunc(v / (n - 1))
            v = np.where(v < 0, below, np.where(v > n - 1, above, v))
    return np.clip(v, 0, n - 1)


def projective_transform(
    images: ArrayLike,
    transforms: ArrayLike,
    output_shape: tuple[int, int],
    interpolation: str,
    fill_mode: str,
    fill_value: float,
    *,
    absolute: bool = False,
) -> Float64:
    """Compute the transform in float64, before integers are truncated.

    Parameters
    ----------
    images, transforms, output_shape, interpolation, fill_mode, fill_value
        As in :func:`gridwave.sampling.projective_transform`.
    absolute : bool
        Take absolute values of the data: for the size of rounding errors. (Weights are never negative.)

    Returns
    -------
    ndarray, (N, height, width, C), float64
    """
    source = np.asarray(images, np.float64)
    fill = abs(float(fill_value)) if absolute else float(fill_value)
    source = np.abs(source) if absolute else source
    n, rows, columns, channels = source.shape
    maps = np.broadcast_to(np.asarray(transforms, np.float32), (n, 8))
    result = np.full((n, *output_shape, channels), fill)
    # A frame of fill_value, which stands for everything outside.
    padded = np.pad(source, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=fill)
    for image, t, out in zip(padded, maps, result, strict=True):
        x, y, k = coordinates(t, *output_shape)
        x, y = into_range(x, columns, fill_mode), into_range(y, rows, fill_mode)
        finite = (k != 0) & np.isfinite(x) & np.isfinite(y)
        across, down = _taps(x[finite], columns, interpolation), _taps(y[finite], rows, interpolation)
        out[finite] = sum((u * v)[:, None] * image[j, i] for j, v in down for i, u in across)
    return result


def _taps(at: NDArray[np.float32], length: int, interpolation: str) -> list[tuple[Any, Float64]]:
    """Return the samples taken along one axis, as indices of the framed image, and their weights."""
    one = np.float32(1)
    if interpolation == "nearest":
        away = np.copysign(np.floor(np.abs(at.astype(np.float64)) + 0.5), at)
        taps = [(away, np.ones(at.shape))]
    else:
        low = np.floor(at)
        high = low + one  # float32: from 2^24 on it is low again, and both weights are 0
        wide = at.astype(np.float64)
        taps = [(low, high - wide), (high, wide - low)]
    return [(np.clip(i, -1, length).astype(int) + 1, w) for i, w in taps]
