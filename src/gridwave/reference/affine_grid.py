"""The float64 twin of affine_grid, for any number of spatial axes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]


def base_grid(spatial: Sequence[int], align_corners: bool, singleton: float) -> Float64:
    """Return the homogeneous normalised coordinates (x, y, ..., 1) of every output sample, (..., k + 1).

    ``singleton`` is the coordinate, with ``align_corners``, of the only sample of an axis of length 1, where the
    centres of the first and last sample are the same and -1 and 1 cannot both be met.
    """
    axes = []
    for length in spatial:
        i = np.arange(length, dtype=np.float64)
        if not align_corners:
            axes.append((2 * i + 1) / length - 1)
        elif length == 1:
            axes.append(np.full(1, singleton))
        else:
            axes.append(2 * i / (length - 1) - 1)
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack([*mesh[::-1], np.ones(tuple(spatial))], axis=-1)


def affine_grid(
    theta: ArrayLike, size: Sequence[int], align_corners: bool = False, singleton_zero: bool = True
) -> Float64:
    """Compute the sampling grid of an affine transform in float64.

    Parameters
    ----------
    theta : array_like, (N, k, k + 1)
        One matrix per image: rows give x, y, ... of the source, columns multiply x, y, ..., 1 of the output.
    size : sequence of int, (N, C, ...)
        Shape of the output image.
    align_corners : bool
        Whether -1 and 1 are the centres of the corner samples, or their outer edges.
    singleton_zero : bool
        With ``align_corners``, whether an axis of length 1 has coordinate 0 (PyTorch) or -1 (ONNX reference).

    Returns
    -------
    ndarray, (N, ..., k), float64
        Last axis (x, y, ...), normalised.
    """
    base = base_grid(size[2:], align_corners, 0.0 if singleton_zero else -1.0)
    result: Float64 = np.einsum("...j,nij->n...i", base, np.asarray(theta, np.float64))
    return result


def affine_grid_backward(
    grad_output: ArrayLike, size: Sequence[int], align_corners: bool = False, singleton_zero: bool = True
) -> Float64:
    """Compute the gradient of :func:`affine_grid` with respect to theta, (N, k, k + 1), in float64.

    Parameters
    ----------
    grad_output : array_like, (N, ..., k)
        Gradient with respect to the grid.
    size, align_corners, singleton_zero
        As in :func:`affine_grid`.

    Returns
    -------
    ndarray, (N, k, k + 1), float64
    """
    base = base_grid(size[2:], align_corners, 0.0 if singleton_zero else -1.0)
    grad = np.asarray(grad_output, np.float64)
    points = math.prod(size[2:])
    flat = grad.reshape(grad.shape[0], points, grad.shape[-1])
    result: Float64 = np.einsum("npi,pj->nij", flat, base.reshape(points, base.shape[-1]))
    return result
