"""The float64 twin of pixel-map sampling: remap, and the maps of affine and perspective matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]
TAPS = {"nearest": 1, "linear": 2, "cubic": 4, "lanczos4": 8}
"""Samples along an axis that a value is made of."""


def tap_weights(mode: str, t: ArrayLike) -> Float64:
    """Return the weights of the taps of one axis, (..., taps), for fractions ``t`` in [0, 1)."""
    u = np.asarray(t, np.float64)[..., None]
    taps = TAPS[mode]
    if taps == 1:
        one: Float64 = np.ones_like(u)
        return one
    d = np.abs(u - (np.arange(taps) - (taps // 2 - 1)))
    if mode == "linear":
        linear: Float64 = 1 - d
        return linear
    if mode == "cubic":
        a = -0.75
        inner = ((a + 2) * d - (a + 3)) * d * d + 1
        outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, inner, outer)
    w: Float64 = np.sinc(d) * np.sinc(d / 4)
    w /= w.sum(axis=-1, keepdims=True)
    return w


def border_index(i: NDArray[np.int64], size: int, border: str) -> NDArray[np.int64]:
    """Return the index inside [0, size) that stands for ``i``; -1 where there is none."""
    if border == "replicate":
        return np.clip(i, 0, size - 1)
    if border == "wrap":
        return i % size
    if border == "reflect":
        m = i % (2 * size)
        return np.where(m < size, m, 2 * size - 1 - m)
    if border == "reflect_101":
        m = i % max(2 * size - 2, 1)
        return np.where(m < size, m, 2 * size - 2 - m)
    return np.where((i >= 0) & (i < size), i, -1)


def remap(
    image: ArrayLike,
    map_x: ArrayLike,
    map_y: ArrayLike,
    mode: str = "linear",
    border: str = "constant",
    border_value: ArrayLike = 0.0,
    *,
    out: ArrayLike | None = None,
    absolute: bool = False,
    tabulated: bool = False,
) -> Float64:
    """Sample an image at pixel coordinates, in float64 and without rounding the result.

    Parameters
    ----------
    image : array_like, (H, W) or (H, W, C)
        The data.
    map_x, map_y : array_like, (H_out, W_out)
        Coordinates in pixels; 0 is the centre of the first one. NaN lies before the first pixel;
        coordinates are held within 2^30.
    mode, border, border_value
        As in :func:`gridwave.remap`.
    out : array_like, optional
        What is under the result where ``border`` is ``transparent``.
    absolute : bool
        Whether to sum the magnitudes of the terms instead, which rounding errors are measured against.

    tabulated : bool
        Whether ``lanczos4`` has OpenCV's float32 weights instead of float64 ones.

    Returns
    -------
    ndarray, (H_out, W_out) or (H_out, W_out, C), float64
    """
    data = np.asarray(image, np.float64)
    planes = data.reshape(*data.shape[:2], -1)
    value = np.broadcast_to(np.asarray(border_value, np.float64), planes.shape[2:])
    below = np.zeros((*np.shape(map_x), planes.shape[2])) if out is None else np.asarray(out, np.float64)
    below = below.reshape(*np.shape(map_x), planes.shape[2])
    xi, xw = _axis(mode, map_x, tabulated)
    yi, yw = _axis(mode, map_y, tabulated)
    if absolute:
        planes, value, below, xw, yw = (np.abs(a) for a in (planes, value, below, xw, yw))
    x = border_index(xi, data.shape[1], border)
    y = border_index(yi, data.shape[0], border)
    total = np.zeros_like(below)
    for i in range(TAPS[mode]):
        for j in range(TAPS[mode]):
            there = ((x[..., j] >= 0) & (y[..., i] >= 0))[..., None]
            sample = np.where(there, planes[y[..., i], x[..., j]], below if border == "transparent" else value)
            weight = yw[..., i] * xw[..., j]
            if tabulated:
                weight = weight.astype(np.float32).astype(np.float64)
            total += weight[..., None] * sample
    return total.reshape(*np.shape(map_x), *data.shape[2:])


def _axis(mode: str, coordinate: ArrayLike, tabulated: bool) -> tuple[NDArray[np.int64], Float64]:
    """Return the index and the weight of every tap, (..., taps)."""
    p = np.asarray(coordinate, np.float64)
    p = np.clip(np.where(np.isnan(p), -np.inf, p), -(2.0**30), 2.0**30)
    first = np.rint(p) if mode == "nearest" else np.floor(p)
    index = first[..., None].astype(np.int64) + np.arange(TAPS[mode]) - (TAPS[mode] // 2 - 1 if TAPS[mode] > 1 else 0)
    if tabulated and mode == "lanczos4":
        return index, _float32_lanczos(p - first)
    return index, tap_weights(mode, p - first)


def _float32_lanczos(t: Float64) -> Float64:
    """Return Lanczos weights as float32 tables have them, without the factor sin(pi d) that all eight taps share.

    Its sign alternates; the sum and the division by it are in float32 too. Measured: see core's tables of remap.
    """
    d = (t[..., None] + 3 - np.arange(8)) * (np.pi / 4)
    with np.errstate(invalid="ignore", divide="ignore"):
        raw = np.where(np.arange(8) % 2, 1, -1) * np.sin(d) / (d * d)
    w = np.where(t[..., None] == 0, np.arange(8) == 3, raw).astype(np.float32)
    total = np.zeros(t.shape, np.float32)
    for i in range(8):
        total += w[..., i]
    result: Float64 = (w * (np.float32(1) / total)[..., None]).astype(np.float64)
    return result
