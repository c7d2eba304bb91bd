"""Homographies: 3 x 3 matrices that map the plane to the plane, and the sampling grids they give.

Points are in pixels, (x, y), with (0, 0) at the centre of the first pixel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Matrix = NDArray[np.float64]

FAR_OUTSIDE = 4.0
"""The grid coordinate of a point with no image: further than any sample reaches."""


def corners(height: int, width: int) -> Matrix:
    """Return the outer corners of a picture, (4, 2) in pixels, clockwise from the top left."""
    left, top, right, bottom = -0.5, -0.5, width - 0.5, height - 0.5
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def from_points(source: ArrayLike, target: ArrayLike) -> Matrix:
    """Return the homography that maps four points to four others.

    Parameters
    ----------
    source, target : array, (4, 2)
        Points in pixels, no three of them on one line.

    Returns
    -------
    array, (3, 3), float64
        The matrix, with 1 in its last corner.

    Notes
    -----
    Each pair gives two of the eight linear equations ``x' (g x + h y + 1) = a x + b y + c`` and
    ``y' (g x + h y + 1) = d x + e y + f``.
    """
    rows, values = [], []
    for (x, y), (u, v) in zip(np.asarray(source, float), np.asarray(target, float), strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        values += [u, v]
    return np.append(np.linalg.solve(np.array(rows), np.array(values)), 1.0).reshape(3, 3)


def apply(matrix: Matrix, points: ArrayLike) -> Matrix:
    """Map points, (..., 2) in pixels; those on or behind the horizon become NaN."""
    points = np.asarray(points, float)
    x, y = points[..., 0], points[..., 1]
    depth = matrix[2, 0] * x + matrix[2, 1] * y + matrix[2, 2]
    scale = np.divide(1.0, depth, out=np.full_like(depth, np.nan), where=depth > 1e-9)
    return np.stack([(row[0] * x + row[1] * y + row[2]) * scale for row in matrix[:2]], axis=-1)


def inverse(matrix: Matrix) -> Matrix:
    """Return the map back."""
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def pixel_centres(height: int, width: int) -> Matrix:
    """Return the centre of every pixel, (H, W, 2) in pixels, last axis (x, y)."""
    x, y = np.meshgrid(np.arange(width, dtype=float), np.arange(height, dtype=float))
    return np.stack([x, y], axis=-1)


def normalise(points: ArrayLike, height: int, width: int) -> NDArray[np.float32]:
    """Turn pixels into grid coordinates for ``align_corners=False``, and NaN into a place far outside.

    Parameters
    ----------
    points : array, (H_out, W_out, 2)
        Where each output pixel reads, in pixels of the picture that is read.
    height, width : int
        The size of that picture.

    Returns
    -------
    array, (1, H_out, W_out, 2), float32
        The same places with -1 and 1 at the picture's outer edges.
    """
    grid = (2 * np.asarray(points, float) + 1) / np.array([width, height]) - 1
    return np.asarray(np.nan_to_num(grid, nan=FAR_OUTSIDE)[np.newaxis], dtype=np.float32)


def sampling_grid(matrix: Matrix, size: tuple[int, int], source: tuple[int, int]) -> NDArray[np.float32]:
    """Return the grid with which ``grid_sample`` draws a picture through a homography.

    Parameters
    ----------
    matrix : array, (3, 3)
        Maps a pixel of the output to the pixel of the source that it shows.
    size, source : tuple of int
        (H, W) of the output and of the source.

    Returns
    -------
    array, (1, H_out, W_out, 2), float32
    """
    return normalise(apply(matrix, pixel_centres(*size)), *source)


def magnification(matrix: Matrix, size: tuple[int, int]) -> Matrix:
    """Return how many pixels of the target one pixel becomes, in its most squeezed direction, (H, W).

    The smaller singular value of the map's Jacobian: 1 or more means that no detail is lost there.
    """
    points = pixel_centres(*size)
    homogeneous = points @ matrix[:, :2].T + matrix[:, 2]
    depth = homogeneous[..., 2, np.newaxis, np.newaxis]
    image = homogeneous[..., :2] / homogeneous[..., 2:]
    jacobian = (matrix[:2, :2] - image[..., np.newaxis] * matrix[2, :2]) / depth
    squares = (jacobian**2).sum(axis=(-2, -1))
    determinant = np.abs(np.linalg.det(jacobian))
    inside = np.maximum(squares**2 - 4 * determinant**2, 0.0)
    return np.asarray(np.sqrt(np.maximum((squares - np.sqrt(inside)) / 2, 0.0)))
