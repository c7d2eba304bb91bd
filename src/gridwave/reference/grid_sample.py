"""The float64 twin of grid_sample and its gradients, for any number of spatial axes.

Sampling is separable: along each axis a coordinate ``p`` reads a few samples, its *taps*, with a weight each. The
output is the sum over all combinations of taps of (product of weights) times sample; the gradients replace one
weight by its derivative, or swap the roles of output and input. All modes, paddings and conventions only differ in
the taps, so :func:`axis_taps` holds every rule and the rest is sums.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gridwave.conventions.spec import GridSampleSpec

Float64 = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]

HUGE = 2.0**31
"""From here on a coordinate counts as outside (``nonfinite="outside"``)."""

HUGE_LOWER_BORDER = 2.0**62
"""Beyond this a coordinate is put on the lower border (``nonfinite="lower_border"``)."""


@dataclass(frozen=True, slots=True)
class Tap:
    """One sample that each coordinate of an axis reads; every field has the shape of the coordinates."""

    index: NDArray[np.int64]
    inside: Bools  # where not, the sample counts as 0 and gets no gradient
    weight: Float64
    slope: Float64  # d weight / d g, normalised coordinate g


def grid_sample(
    x: ArrayLike,
    grid: ArrayLike,
    spec: GridSampleSpec,
    *,
    coordinate_dtype: DTypeLike = np.float64,
    absolute: bool = False,
) -> Float64:
    """Sample ``x`` at ``grid`` in float64.

    Parameters
    ----------
    x : array_like, (N, C, ...)
        The data.
    grid : array_like, (N, ..., k)
        Normalised coordinates, last axis (x, y, ...): the first component runs along the last axis of ``x``.
    spec : GridSampleSpec
        The convention.
    coordinate_dtype : dtype
        Arithmetic of the coordinate stage alone (pixel coordinate, border and reflection). Give a peer's own dtype
        to have ties and kinks fall where they fall in the peer.
    absolute : bool
        Sum absolute weights times absolute data: the quantity that rounding errors scale with.

    Returns
    -------
    ndarray, (N, C, ...), float64
    """
    data, points, out_shape = _prepare(x, grid)
    if absolute:
        data = np.abs(data)
    result = np.zeros((*data.shape[:2], points.shape[1]))
    for taps in itertools.product(*_all_taps(points, data.shape[2:], spec, coordinate_dtype)):
        weight = np.prod([tap.weight for tap in taps], axis=0)
        result += (np.abs(weight) if absolute else weight)[:, None] * _gather(data, taps)
    return result.reshape(*data.shape[:2], *out_shape)


def grid_sample_backward(
    grad_output: ArrayLike,
    x: ArrayLike,
    grid: ArrayLike,
    spec: GridSampleSpec,
    *,
    coordinate_dtype: DTypeLike = np.float64,
    absolute: bool = False,
) -> tuple[Float64, Float64]:
    """Compute the gradients of :func:`grid_sample` in float64.

    Parameters
    ----------
    grad_output : array_like, (N, C, ...)
        Gradient with respect to the output.
    x, grid, spec, coordinate_dtype, absolute
        As in :func:`grid_sample`.

    Returns
    -------
    grad_x : ndarray, (N, C, ...), float64
    grad_grid : ndarray, (N, ..., k), float64
        At kinks as PyTorch has them: an exact border counts as outside (0), a lattice line takes the slope to its
        right, ``nearest`` is 0 everywhere.
    """
    data, points, _ = _prepare(x, grid)
    grad = np.asarray(grad_output, np.float64).reshape(*data.shape[:2], points.shape[1])
    if absolute:
        data, grad = np.abs(data), np.abs(grad)
    n, axes = data.shape[0], data.ndim - 2
    grad_x = np.zeros_like(data)
    grad_points = np.zeros_like(points, dtype=np.float64)
    for taps in itertools.product(*_all_taps(points, data.shape[2:], spec, coordinate_dtype)):
        weight = np.prod([tap.weight for tap in taps], axis=0)
        weight = np.abs(weight) if absolute else weight
        inside = np.all([tap.inside for tap in taps], axis=0)
        batch, point = np.nonzero(inside)
        where: Any = (batch, slice(None), *(tap.index[inside] for tap in taps))
        np.add.at(grad_x, where, weight[inside][:, None] * grad[batch, :, point])
        product = np.einsum("ncp,ncp->np", _gather(data, taps), grad)
        for axis in range(axes):
            slope = np.prod([tap.slope if k == axis else tap.weight for k, tap in enumerate(taps)], axis=0)
            grad_points[..., axes - 1 - axis] += (np.abs(slope) if absolute else slope) * product
    return grad_x, grad_points.reshape(n, *np.shape(grid)[1:])


def axis_taps(g: Floats, length: int, spec: GridSampleSpec) -> list[Tap]:
    """Return the taps of one axis for its normalised coordinates; arithmetic up to padding is in ``g``'s dtype."""
    scale = (length - 1) / 2 if spec.align_corners else length / 2
    p, usable, moves = _finite(unnormalise(g, length, spec.align_corners, spec.unnormalise), length, spec)
    if spec.mode == "bicubic":
        p, factor = _pad_cubic_coordinate(p, length, spec)
        start = np.floor(p)
        fraction = (p - start).astype(np.float64)
        taps = []
        for k, (weight, slope) in enumerate(cubic_weights(fraction, spec.cubic_coeff_a)):
            taps.append(_tap(_pad_index(start + (k - 1), length, spec), length, usable, weight, slope * factor))
    elif spec.mode == "nearest":
        if spec.pad_order == "coordinate":
            index = round_half(_pad(p, length, spec)[0], spec.nearest_rounding)
        else:
            index = _pad_index(round_half(p, spec.nearest_rounding), length, spec)
        taps = [_tap(index, length, usable, np.ones(g.shape), np.zeros(g.shape))]
    else:
        p, factor = _pad(p, length, spec)
        start = np.floor(p)
        fraction = (p - start).astype(np.float64)
        taps = [
            _tap(start, length, usable, 1 - fraction, -factor),
            _tap(start + 1, length, usable, fraction, factor),
        ]
    return [Tap(tap.index, tap.inside, tap.weight, tap.slope * moves * scale) for tap in taps]


def unnormalise(g: Floats, length: int, align_corners: bool, rule: str = "shifted") -> Floats:
    """Turn normalised coordinates into samples (0 is the centre of the first), in the dtype of ``g``."""
    scale = g.dtype.type((length - 1 if align_corners else length) / 2)
    if rule == "scaled":
        return g * scale + g.dtype.type((length - 1) / 2)
    if rule == "scaled_fused":
        return multiply_add(g, scale, scale) - g.dtype.type(0 if align_corners else 0.5)
    if align_corners:
        return (g + 1) / 2 * (length - 1)
    return ((g + 1) * length - 1) / 2


def multiply_add(a: Floats, b: Any, c: Any) -> Floats:
    """Return a b + c, rounded once to the dtype of ``a``."""
    if a.dtype == np.float32:  # exact in float64 but for the sum, whose bits beyond float32's second rounding are few
        return (a.astype(np.float64) * float(b) + float(c)).astype(np.float32)

    def exact(value: float) -> float:
        return float(Fraction(value) * Fraction(float(b)) + Fraction(float(c))) if math.isfinite(value) else value

    return np.array([exact(float(value)) for value in a.ravel()], a.dtype).reshape(a.shape)


def clip(p: Floats, length: int, border_slope: str = "zero") -> tuple[Floats, Float64]:
    """Clamp to the sample centres; the slope is 0 outside, and on the border itself unless it is that ``inside``."""
    within = (p >= 0) & (p <= length - 1) if border_slope == "inside" else (p > 0) & (p < length - 1)
    return np.clip(p, 0, length - 1), within.astype(np.float64)


def reflect(p: Floats, length: int, align_corners: bool) -> tuple[Floats, Float64]:
    """Reflect about the outer sample centres (``align_corners``) or outer edges, without the final clip."""
    low, span = (0.0, length - 1) if align_corners else (-0.5, length)
    if span == 0:
        return np.zeros_like(p), np.zeros(p.shape)
    q = p - p.dtype.type(low)
    sign = np.where(q < 0, -1.0, 1.0)
    q = np.abs(q)
    rest = np.fmod(q, p.dtype.type(span))
    odd = np.rint((q - rest) / span) % 2 == 1
    sign = np.where(odd & (rest == 0), -sign, sign)  # exactly on a mirror the slope is that before it
    return np.where(odd, span - rest, rest) + p.dtype.type(low), np.where(odd, -sign, sign)


def reflect_once(p: Floats, length: int, align_corners: bool) -> tuple[Floats, Float64]:
    """Reflect about the first mirror and then about the last, as ncnn does; far coordinates remain outside."""
    low, span = (0.0, length - 1) if align_corners else (-0.5, length)
    if span == 0:
        return np.zeros_like(p), np.zeros(p.shape)
    high = p.dtype.type(span)
    q = p - p.dtype.type(low)
    once = np.abs(q)
    twice = high - np.abs(once - high)
    return twice + p.dtype.type(low), np.where(q < 0, -1.0, 1.0) * np.where(once > high, -1.0, 1.0)


def round_half(p: Floats, rule: str) -> Floats:
    """Round to the nearest integer, halves by ``rule``."""
    if rule == "half_even":
        return np.rint(p)
    if rule == "half_up":
        return np.floor(p + p.dtype.type(0.5))
    return np.copysign(np.floor(np.abs(p) + p.dtype.type(0.5)), p)


def cubic_weights(t: Float64, a: float) -> Iterator[tuple[Float64, Float64]]:
    """Yield Keys' four weights and their derivatives at fraction ``t``."""
    for k in range(4):
        s = t + 1 - k  # signed distance from the tap
        d = np.abs(s)
        if k in (0, 3):
            # a d^3 - 5 a d^2 + 8 a d - 4 a, factored: as a sum it loses 4 bits to cancellation
            yield a * (d - 1) * (d - 2) ** 2, np.sign(s) * ((3 * a * d - 10 * a) * d + 8 * a)
        else:
            yield ((a + 2) * d - (a + 3)) * d * d + 1, np.sign(s) * (3 * (a + 2) * d - 2 * (a + 3)) * d


def _prepare(x: ArrayLike, grid: ArrayLike) -> tuple[Float64, Floats, tuple[int, ...]]:
    data = np.asarray(x, np.float64)
    points = np.asarray(grid)
    out_shape = points.shape[1:-1]
    return data, points.reshape(points.shape[0], math.prod(out_shape), points.shape[-1]), out_shape


def _all_taps(
    points: Floats, spatial: Sequence[int], spec: GridSampleSpec, coordinate_dtype: DTypeLike
) -> list[list[Tap]]:
    with np.errstate(invalid="ignore", over="ignore"):
        g = points.astype(coordinate_dtype)
        return [axis_taps(g[..., len(spatial) - 1 - k], length, spec) for k, length in enumerate(spatial)]


def _gather(data: Float64, taps: Sequence[Tap]) -> Float64:
    inside = np.all([tap.inside for tap in taps], axis=0)
    batch = np.arange(data.shape[0])[:, None]
    where: Any = (batch, slice(None), *(tap.index for tap in taps))
    values = np.moveaxis(data[where], -1, 1)
    return np.where(inside[:, None], values, 0.0)


def _finite(p: Floats, length: int, spec: GridSampleSpec) -> tuple[Floats, Bools, Float64]:
    """Replace non-finite and huge coordinates; say which may be used, and where the result depends on ``p``."""
    usable = np.ones(p.shape, np.bool_)
    if spec.nonfinite == "lower_border":
        lost = ~(np.abs(p) <= HUGE_LOWER_BORDER)
        p = np.where(lost, p.dtype.type(0 if spec.align_corners else -0.5), p)
    elif spec.padding_mode == "zeros":
        lost = ~(np.abs(p) < HUGE)
        usable = ~lost
        p = np.where(lost, p.dtype.type(0), p)
    elif spec.padding_mode == "border":
        lost = ~(np.abs(p) < HUGE)
        p = np.where(np.isnan(p), p.dtype.type(0), np.clip(p, -HUGE, HUGE))
    else:
        lost = ~np.isfinite(p)
        p = np.where(lost, p.dtype.type(0), p)
    return p, usable, (~lost).astype(np.float64)


def _pad(p: Floats, length: int, spec: GridSampleSpec) -> tuple[Floats, Float64]:
    if spec.padding_mode == "zeros":
        return p, np.ones(p.shape)
    if spec.padding_mode == "border":
        return clip(p, length, spec.border_slope)
    mirror = reflect_once if spec.reflection == "once" else reflect
    reflected, sign = mirror(p, length, spec.align_corners)
    # With outer edges as mirrors the reflected coordinate may still lie up to half a sample outside.
    clipped, factor = clip(reflected, length, spec.border_slope)
    return clipped, sign * factor


def _pad_index(index: Floats, length: int, spec: GridSampleSpec) -> Floats:
    return _pad(index, length, spec)[0]


def _pad_cubic_coordinate(p: Floats, length: int, spec: GridSampleSpec) -> tuple[Floats, Float64]:
    if spec.cubic_padding == "taps" or spec.padding_mode != "border":
        return p, np.ones(p.shape)
    # The ONNX reference clamps only what lies beyond the outer edges, and then clamps taps as well.
    margin = 0.0 if spec.align_corners else 0.5
    beyond = (p < -margin) | (p > length - 1 + margin)
    return np.where(beyond, np.clip(p, 0, length - 1), p), (~beyond).astype(np.float64)


def _tap(index: Floats, length: int, usable: Bools, weight: Float64, slope: Float64) -> Tap:
    inside = usable & (index >= 0) & (index < length)
    return Tap(np.where(inside, index, 0).astype(np.int64), inside, weight, slope)
