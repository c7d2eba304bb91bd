"""A volume turned in space: a phantom that is known at every point, to compare with what sampling gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

import gridwave as gw

Volume = NDArray[np.float32]

AREA: Final = 112 * 112
"""Voxels of a slice, about; its shape is the photograph's, and the volume is as deep as its shorter side."""

ANGLES: Final = (24.0, -17.0, 31.0)
"""Degrees about x, y and z, one after the other; see :func:`rotation`."""

EDGE: Final = 1.2
"""Voxels from the middle of an edge to where tanh has done three quarters of it: an edge that a scanner would show."""

# Ellipsoids: grey, centre (x, y, z), half axes, turn about z in degrees; lengths in half-widths of the shortest side. A
# skull with a brain in it, two ventricles, a stem and three lesions; the greys of those that overlap add up.
_ELLIPSOIDS: Final = (
    (0.85, (0.0, 0.0, 0.0), (0.66, 0.86, 0.78), 0.0),
    (-0.55, (0.0, -0.01, 0.0), (0.60, 0.79, 0.71), 0.0),
    (-0.24, (0.20, 0.02, 0.02), (0.10, 0.30, 0.22), -18.0),
    (-0.24, (-0.20, 0.02, 0.02), (0.13, 0.37, 0.26), 18.0),
    (0.22, (0.0, 0.34, 0.05), (0.19, 0.23, 0.24), 0.0),
    (0.35, (0.0, -0.42, -0.06), (0.07, 0.05, 0.10), 0.0),
    (0.30, (-0.30, -0.40, 0.10), (0.06, 0.08, 0.06), 30.0),
    (0.30, (0.33, -0.30, -0.05), (0.09, 0.05, 0.12), -40.0),
    (0.18, (0.0, 0.62, 0.0), (0.25, 0.07, 0.30), 0.0),
)


@dataclass(frozen=True, slots=True)
class Turned:
    """A volume before and after a rotation.

    Attributes
    ----------
    before : array, (1, 1, D, H, W)
        The phantom, sampled at the centre of every voxel.
    after : array, (1, 1, D, H, W)
        ``before`` turned by ``grid_sample``.
    truth : array, (1, 1, D, H, W)
        The turned phantom itself, computed at the centre of every voxel.
    nearest : float
        Root mean square of the error that ``mode="nearest"`` makes instead.
    """

    before: Volume
    after: Volume
    truth: Volume
    nearest: float

    @property
    def error(self) -> float:
        """Root mean square of after minus truth."""
        return _rms(self.after - self.truth)

    @property
    def middle(self) -> int:
        """The slice that is shown."""
        return int(self.before.shape[2]) // 2


def turn(aspect: float) -> Turned:
    """Make the phantom, turn it by ``grid_sample``, and compute the turned phantom to compare with.

    Parameters
    ----------
    aspect : float
        Width of a slice over its height.
    """
    height, width = round((AREA / aspect) ** 0.5), round((AREA * aspect) ** 0.5)
    size = (min(height, width), height, width)
    unit = size[0] / 2
    matrix = rotation(*ANGLES)
    before = phantom(voxel_centres(size), unit)
    # Half the volume's lengths, x y z: grid coordinates times these are voxels from the middle.
    half = np.array(size[::-1]) / 2
    theta = np.zeros((1, 3, 4))
    theta[0, :, :3] = matrix * half / half[:, np.newaxis]
    grid = gw.affine_grid(theta.astype(np.float32), (1, 1, *size), align_corners=False)
    after = gw.grid_sample(before, grid, mode="bilinear", padding_mode="zeros", align_corners=False)
    coarse = gw.grid_sample(before, grid, mode="nearest", padding_mode="zeros", align_corners=False)
    truth = phantom(voxel_centres(size) @ matrix.T.astype(np.float32), unit)
    return Turned(before, after, truth, _rms(coarse - truth))


def rotation(about_x: float, about_y: float, about_z: float) -> NDArray[np.float64]:
    """Return the matrix that turns y to z, then x to z, then x to y, by these degrees."""
    matrix = np.eye(3)
    for axis, angle in enumerate(np.radians([about_x, about_y, about_z])):
        step, (i, j) = np.eye(3), [k for k in range(3) if k != axis]
        step[i, i] = step[j, j] = np.cos(angle)
        step[i, j], step[j, i] = -np.sin(angle), np.sin(angle)
        matrix = step @ matrix
    return matrix


def voxel_centres(size: tuple[int, int, int]) -> Volume:
    """Return the centre of every voxel in voxels from the middle, (D, H, W, 3), last axis (x, y, z)."""
    z, y, x = np.meshgrid(*(np.arange(n, dtype=np.float32) - (n - 1) / 2 for n in size), indexing="ij")
    return np.stack([x, y, z], axis=-1)


def phantom(points: Volume, unit: float) -> Volume:
    """Compute the phantom's grey at points.

    Parameters
    ----------
    points : array, (D, H, W, 3)
        In voxels from the middle, last axis (x, y, z).
    unit : float
        Voxels of half the volume's shortest side.

    Returns
    -------
    array, (1, 1, D, H, W)
    """
    grey = np.zeros(points.shape[:-1], np.float32)
    for value, centre, axes, degrees in _ELLIPSOIDS:
        x, y, z = (points[..., k] / np.float32(unit) - np.float32(centre[k]) for k in range(3))
        cos, sin = np.float32(np.cos(np.radians(degrees))), np.float32(np.sin(np.radians(degrees)))
        across, along = (cos * x + sin * y) / np.float32(axes[0]), (cos * y - sin * x) / np.float32(axes[1])
        radius = np.sqrt(across**2 + along**2 + (z / np.float32(axes[2])) ** 2)
        grey += np.float32(value / 2) * (1 + np.tanh((1 - radius) * np.float32(min(axes) * unit / EDGE)))
    return np.asarray(grey[np.newaxis, np.newaxis])


def _rms(difference: Volume) -> float:
    return float(np.sqrt((difference.astype(np.float64) ** 2).mean()))
