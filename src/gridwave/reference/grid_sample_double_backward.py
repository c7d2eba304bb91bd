"""The float64 twin of the gradient of grid_sample's gradient, for any number of spatial axes.

A combination of taps has a weight, the product of one weight per axis. Its derivatives replace one weight by its
slope, or two by their slopes, or one by its curvature. Everything is a sum over combinations of such products.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gridwave.conventions.spec import GridSampleSpec
from gridwave.reference.grid_sample import (
    Float64,
    Floats,
    Tap,
    _all_taps,
    _finite,
    _gather,
    _pad_cubic_coordinate,
    _prepare,
    unnormalise,
)


def grid_sample_double_backward(
    grad_grad_x: ArrayLike | None,
    grad_grad_grid: ArrayLike | None,
    grad_output: ArrayLike,
    x: ArrayLike,
    grid: ArrayLike,
    spec: GridSampleSpec,
    *,
    coordinate_dtype: DTypeLike = np.float64,
    absolute: bool = False,
) -> tuple[Float64, Float64, Float64]:
    """Compute the gradients of :func:`gridwave.reference.grid_sample_backward` in float64.

    Parameters
    ----------
    grad_grad_x : array_like, (N, C, ...), or None
        Gradient with respect to grad_x. None is zero.
    grad_grad_grid : array_like, (N, ..., k), or None
        Gradient with respect to grad_grid. None is zero.
    grad_output, x, grid, spec, coordinate_dtype, absolute
        As in :func:`gridwave.reference.grid_sample_backward`.

    Returns
    -------
    grad_grad_output : ndarray, (N, C, ...), float64
    grad_x : ndarray, (N, C, ...), float64
    grad_grid : ndarray, (N, ..., k), float64
        At kinks, of the piece of the function whose slope grid_sample_backward takes.
    """
    data, points, out_shape = _prepare(x, grid)
    n, axes = data.shape[0], data.ndim - 2
    go = np.asarray(grad_output, np.float64).reshape(*data.shape[:2], points.shape[1])
    v = np.zeros_like(data) if grad_grad_x is None else np.asarray(grad_grad_x, np.float64)
    u = np.zeros(points.shape) if grad_grad_grid is None else np.asarray(grad_grad_grid, np.float64)
    u = u.reshape(points.shape)
    if absolute:
        data, go, v, u = np.abs(data), np.abs(go), np.abs(v), np.abs(u)
    all_taps = _all_taps(points, data.shape[2:], spec, coordinate_dtype)
    all_curvatures = _all_curvatures(points, data.shape[2:], spec, coordinate_dtype)
    by_go = np.zeros_like(go)
    by_x = np.zeros_like(data)
    by_points = np.zeros(points.shape)
    for numbers in itertools.product(*(range(len(taps)) for taps in all_taps)):
        taps = [all_taps[axis][i] for axis, i in enumerate(numbers)]
        curvatures = [all_curvatures[axis][i] for axis, i in enumerate(numbers)]
        here_x, here_v = _gather(data, taps), _gather(v, taps)
        inside = np.all([tap.inside for tap in taps], axis=0)
        batch, point = np.nonzero(inside)
        where: Any = (batch, slice(None), *(tap.index[inside] for tap in taps))

        def size(weight: Float64) -> Float64:
            return np.abs(weight) if absolute else weight

        by_go += size(_product(taps, curvatures, ()))[:, None] * here_v
        for k in range(axes):
            slope = size(_product(taps, curvatures, (k,)))
            along = u[..., axes - 1 - k]
            by_go += (along * slope)[:, None] * here_x
            np.add.at(by_x, where, (along * slope)[inside][:, None] * go[batch, :, point])
            by_points[..., axes - 1 - k] += slope * np.einsum("ncp,ncp->np", here_v, go)
            for m in range(axes):
                second = size(_product(taps, curvatures, (k, m))) * u[..., axes - 1 - m]
                by_points[..., axes - 1 - k] += second * np.einsum("ncp,ncp->np", here_x, go)
    return by_go.reshape(*data.shape[:2], *out_shape), by_x, by_points.reshape(n, *np.shape(grid)[1:])


def _product(taps: Sequence[Tap], curvatures: Sequence[Float64], by: tuple[int, ...]) -> Float64:
    """Return the product of the taps' weights, differentiated by the coordinates of the axes ``by``."""
    factors = []
    for axis, (tap, curvature) in enumerate(zip(taps, curvatures, strict=True)):
        factors.append((tap.weight, tap.slope, curvature)[by.count(axis)])
    result: Float64 = np.prod(factors, axis=0)
    return result


def _all_curvatures(
    points: Floats, spatial: Sequence[int], spec: GridSampleSpec, coordinate_dtype: DTypeLike
) -> list[list[Float64]]:
    with np.errstate(invalid="ignore", over="ignore"):
        g = points.astype(coordinate_dtype)
        return [axis_curvatures(g[..., len(spatial) - 1 - k], length, spec) for k, length in enumerate(spatial)]


def axis_curvatures(g: Floats, length: int, spec: GridSampleSpec) -> list[NDArray[np.float64]]:
    """Return d2 weight / d g2 of the taps of one axis, in the order of its taps."""
    if spec.mode != "bicubic":  # weights are constant or linear between kinks
        return [np.zeros(g.shape)] * (1 if spec.mode == "nearest" else 2)
    scale = (length - 1) / 2 if spec.align_corners else length / 2
    p, _, moves = _finite(unnormalise(g, length, spec.align_corners, spec.unnormalise), length, spec)
    p, factor = _pad_cubic_coordinate(p, length, spec)
    fraction = (p - np.floor(p)).astype(np.float64)
    return [bend * (factor * moves * scale) ** 2 for bend in cubic_curvatures(fraction, spec.cubic_coeff_a)]


def cubic_curvatures(t: Float64, a: float) -> Iterator[Float64]:
    """Yield the second derivatives of Keys' four weights at fraction ``t``; even in the distance, so without a sign."""
    for k in range(4):
        d = np.abs(t + 1 - k)
        yield 6 * a * d - 10 * a if k in (0, 3) else 6 * (a + 2) * d - 2 * (a + 3)
