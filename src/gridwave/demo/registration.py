"""Registering two pictures: gradient descent on an affine warp, with every gradient from gridwave's backward passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import gridwave as gw

Picture = NDArray[np.float32]
Theta = NDArray[np.float32]

COARSEST_SIDE = 32
"""The pyramid stops before the shorter side falls below this."""

STEPS = (120, 80, 60, 40, 40)
"""Steps of descent on each level of the pyramid, coarsest first; the last number serves any further level."""

PRINT_EVERY = 20


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the descent, for the curve: its level's size, its loss and how far off the corners were."""

    height: int
    width: int
    loss: float
    corner_error: float


@dataclass(slots=True)
class Registration:
    """Two pictures and the warp that was found between them.

    Attributes
    ----------
    reference, moving : array, (1, 1, H, W)
        The picture to match, and the one that is warped to match it.
    truth, found : array, (1, 2, 3)
        The warp the reference was made with, and the one that descent found.
    aligned : array, (1, 1, H, W)
        ``moving`` warped by ``found``.
    steps : list of Step
        The whole descent.
    corner_error : float
        Mean distance, in pixels of ``moving``, between where the two warps put the four corners.
    """

    reference: Picture
    moving: Picture
    truth: Theta
    found: Theta
    aligned: Picture
    corner_error: float
    steps: list[Step] = field(default_factory=list)


def unknown_warp(height: int, width: int) -> Theta:
    """Return the affine warp that the demo hides from itself: turned, shrunk, sheared and shifted, (1, 2, 3)."""
    angle, zoom, shear, shift = np.radians(14.0), 0.80, 0.07, (0.07, -0.05)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    linear = zoom * turn @ np.array([[1.0, shear], [0.0, 1.0]])
    # Normalised axes have different scales unless the picture is square; a rotation is one in pixels.
    half = np.array([width, height]) / 2
    linear = linear * half / half[:, np.newaxis]
    return np.concatenate([linear, np.array(shift)[:, np.newaxis]], axis=1)[np.newaxis].astype(np.float32)


def register_demo(photo: Picture, progress: Callable[[str], None]) -> Registration:
    """Make a reference from a photograph with a hidden warp and noise, then find the warp again.

    Parameters
    ----------
    photo : array, (1, 3, H, W), float32
        Its grey version is the moving picture.
    progress : callable
        Takes a line of text every few steps.
    """
    weights = np.array([0.299, 0.587, 0.114], np.float32)[:, np.newaxis, np.newaxis]
    moving = _whole_levels((photo * weights).sum(axis=1, keepdims=True))
    height, width = moving.shape[2:]
    truth = unknown_warp(height, width)
    grid = gw.affine_grid(truth, moving.shape, align_corners=False)
    reference = gw.grid_sample(moving, grid, mode="bicubic", padding_mode="border", align_corners=False)
    noise = np.random.default_rng(11).standard_normal(reference.shape)
    reference = (reference + 0.01 * noise).astype(np.float32)

    steps: list[Step] = []
    found = fit(moving, reference, truth, progress, steps)
    aligned = gw.grid_sample(
        moving, gw.affine_grid(found, moving.shape, align_corners=False), padding_mode="border", align_corners=False
    )
    error = corner_error(found, truth, height, width)
    return Registration(reference, moving, truth, found, aligned, error, steps)


def fit(moving: Picture, reference: Picture, truth: Theta, progress: Callable[[str], None], steps: list[Step]) -> Theta:
    """Return the affine warp, (1, 2, 3), of ``moving`` that looks most like ``reference``, from coarse to fine.

    ``truth`` is only looked at to say how far off each step is.
    """
    height, width = moving.shape[2:]
    theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
    levels = list(zip(_pyramid(moving), _pyramid(reference), strict=True))[::-1]
    for number, (small_moving, small_reference) in enumerate(levels):
        rate = 0.02 * 0.25**number
        count = STEPS[min(number, len(STEPS) - 1)]
        descent = _Adam(theta)
        for index in range(count):
            loss, gradient = loss_and_gradient(theta, small_moving, small_reference)
            error = corner_error(theta, truth, height, width)
            rows, columns = small_moving.shape[2:]
            steps.append(Step(rows, columns, loss, error))
            if index % PRINT_EVERY == 0:
                progress(f"  {rows:4d} x {columns:<4d} step {index:3d}: loss {loss:.6f}, corners {error:7.3f} px off")
            theta = descent.step(theta, gradient, rate * 0.5 * (1 + np.cos(np.pi * index / count)))
    return theta


def loss_and_gradient(theta: Theta, moving: Picture, reference: Picture) -> tuple[float, Theta]:
    """Return the mean squared difference after warping, and its gradient with respect to the warp."""
    grid = gw.affine_grid(theta, moving.shape, align_corners=False)
    warped = gw.grid_sample(moving, grid, mode="bilinear", padding_mode="border", align_corners=False)
    difference = warped - reference
    loss = float(np.mean(difference.astype(np.float64) ** 2))
    grad_warped = difference * difference.dtype.type(2.0 / difference.size)
    _, grad_grid = gw.grid_sample_backward(
        grad_warped, moving, grid, mode="bilinear", padding_mode="border", align_corners=False, wrt=("grid",)
    )
    return loss, np.asarray(gw.affine_grid_backward(grad_grid, moving.shape, align_corners=False))


def corner_error(theta: Theta, truth: Theta, height: int, width: int) -> float:
    """Return the mean distance, in pixels, between where two warps put a picture's corners."""
    corners = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], np.float64)
    apart = corners @ (theta[0].astype(np.float64) - truth[0]).T * np.array([width / 2, height / 2])
    return float(np.hypot(apart[:, 0], apart[:, 1]).mean())


class _Adam:
    """Adam with the constants of its paper (Kingma and Ba, 2015)."""

    def __init__(self, theta: Theta) -> None:
        self.count, self.mean, self.square = 0, np.zeros_like(theta), np.zeros_like(theta)

    def step(self, theta: Theta, gradient: Theta, rate: float) -> Theta:
        self.count += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean = self.mean / (1 - 0.9**self.count)
        square = self.square / (1 - 0.999**self.count)
        return np.asarray(theta - rate * mean / (np.sqrt(square) + 1e-12), dtype=np.float32)


def _levels(height: int, width: int) -> int:
    """Return how often a picture can be halved."""
    return max(0, int(np.log2(min(height, width) / COARSEST_SIDE)))


def _whole_levels(picture: Picture) -> Picture:
    """Cut up to a few rows and columns off, so that every level of the pyramid covers exactly the same ground."""
    height, width = picture.shape[2:]
    unit = 2 ** _levels(height, width)
    return np.ascontiguousarray(picture[..., : height // unit * unit, : width // unit * unit], dtype=np.float32)


def _pyramid(picture: Picture) -> Iterator[Picture]:
    """Yield the picture, then halves of it by the mean of 2 x 2 pixels, finest first."""
    yield picture
    for _ in range(_levels(*picture.shape[2:])):
        n, c, h, w = picture.shape
        picture = np.ascontiguousarray(picture.reshape(n, c, h // 2, 2, w // 2, 2).mean(axis=(3, 5)), dtype=np.float32)
        yield picture
