"""The float64 twin of Pillow's Image.transform: positions by their formulas, without running sums or fixed point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]


def positions(method: str, a: Sequence[float], width: int, height: int) -> tuple[Float64, Float64]:
    """Return where the centre of each pixel of a box lies in the image, in pixels: two arrays, (height, width)."""
    y, x = np.meshgrid(np.arange(height) + 0.5, np.arange(width) + 0.5, indexing="ij")
    with np.errstate(all="ignore"):
        if method == "quad":
            return a[0] + a[1] * x + a[2] * y + a[3] * x * y, a[4] + a[5] * x + a[6] * y + a[7] * x * y
        p, q = a[0] * x + a[1] * y + a[2], a[3] * x + a[4] * y + a[5]
        if method == "perspective":
            w = a[6] * x + a[7] * y + 1
            p, q = p / w, q / w
        return p, q


def transform_pillow(
    image: ArrayLike,
    method: str,
    a: Sequence[float],
    size: tuple[int, int],
    filter: str = "nearest",  # noqa: A002 (as the operator has it)
    outside: float = 0.0,
    *,
    absolute: bool = False,
) -> Float64:
    """Compute Pillow's transform in float64, before values are truncated and clipped.

    Parameters
    ----------
    image : array_like, (H, W, C)
        The source.
    method, a, filter
        As in :func:`gridwave.sampling.transform_pillow`.
    size : (width, height)
        Of the result.
    outside : float
        Value of positions outside the image.
    absolute : bool
        Add up absolute weights: for the size of rounding errors.

    Returns
    -------
    ndarray, (height, width, C), float64
    """
    source = np.asarray(image, np.float64)
    rows, columns = source.shape[:2]
    p, q = positions(method, a, *size)
    inside = (p >= 0) & (p < columns) & (q >= 0) & (q < rows)
    p, q = np.where(inside, p, 0.5), np.where(inside, q, 0.5)
    result = np.zeros((*p.shape, source.shape[2]))
    for j, v in _taps(q, rows, filter, absolute):
        for i, u in _taps(p, columns, filter, absolute):
            if columns and rows:
                result += (u * v)[..., None] * source[j, i]
    return np.where(inside[..., None], result, outside)


def _taps(position: Float64, length: int, filter: str, absolute: bool) -> list[tuple[Any, Float64]]:  # noqa: A002
    """Return the samples that a filter takes along one axis, and their weights; taps outside repeat the edge."""
    if filter == "nearest":
        return [(np.floor(position).astype(np.int64), np.ones_like(position))]
    base = np.floor(position - 0.5)
    t = position - 0.5 - base
    if filter == "bilinear":
        weights = [(0, 1 - t), (1, t)]
    else:  # Keys, a = -1
        weights = [
            (-1, -t + 2 * t**2 - t**3),
            (0, 1 - 2 * t**2 + t**3),
            (1, t + t**2 - t**3),
            (2, -(t**2) + t**3),
        ]
    return [
        (np.clip(base.astype(np.int64) + k, 0, max(length - 1, 0)), np.abs(w) if absolute else w) for k, w in weights
    ]
