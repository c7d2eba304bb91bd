"""A poster on the ground, seen by a camera, and the bird's-eye view recovered from what the camera saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import gridwave as gw
from gridwave.demo import homography

Picture = NDArray[np.float32]

OVERSAMPLING = 2
"""The camera's picture is drawn this many times larger and averaged down, as a sensor's pixels average light."""

_HORIZON = np.array([0.80, 0.85, 0.90], np.float32)
_ZENITH = np.array([0.33, 0.52, 0.78], np.float32)


@dataclass(frozen=True, slots=True)
class Rectified:
    """What the camera saw of the poster, and what came back.

    Attributes
    ----------
    view : array, (1, 3, H_view, W_view)
        The camera's picture.
    corners : array, (4, 2)
        The poster's corners in it, in pixels to a tenth, as a person would mark them.
    birdseye : array, (1, 3, H, W)
        The poster recovered from the view.
    difference : array, (H, W)
        Root mean square over the colours of recovered minus original.
    sharp : array, (H, W), bool
        Where the view has at least one pixel for each pixel of the poster.
    """

    view: Picture
    corners: NDArray[np.float64]
    birdseye: Picture
    difference: Picture
    sharp: NDArray[np.bool_]


def rectify(photo: Picture, aspect: float) -> Rectified:
    """Photograph the poster at a slant, then compute the view from above.

    Parameters
    ----------
    photo : array, (1, 3, H, W)
        The poster.
    aspect : float
        Width of the camera's picture over its height.
    """
    height, width = photo.shape[2:]
    view_height = round(1.5 * float(np.sqrt(height * width)))
    view_size = (view_height, round(view_height * aspect))
    ground_to_view, poster_to_ground = _camera(height, width, view_size)
    view = _photograph(photo, ground_to_view, poster_to_ground, view_size)

    exact = homography.apply(ground_to_view @ poster_to_ground, homography.corners(height, width))
    marked = np.round(exact, 1)
    poster_to_view = homography.from_points(homography.corners(height, width), marked)
    grid = homography.sampling_grid(poster_to_view, (height, width), view_size)
    birdseye = gw.grid_sample(view, grid, mode="bicubic", padding_mode="border", align_corners=False)
    birdseye = np.clip(birdseye, 0.0, 1.0)  # a cubic overshoots at sharp edges

    difference = np.sqrt(((birdseye - photo)[0] ** 2).mean(axis=0))
    sharp = homography.magnification(poster_to_view, (height, width)) >= 1.0
    return Rectified(view, marked, birdseye, difference, sharp)


def _camera(height: int, width: int, view_size: tuple[int, int]) -> tuple[homography.Matrix, homography.Matrix]:
    """Return ground -> view and poster -> ground. On the ground the poster's longer side is 1, x right, y away."""
    pitch, turn, eye, distance = np.radians(24.0), np.radians(-14.0), 0.85, 1.40
    scale = 1.0 / max(height, width)
    centre = np.array([[1, 0, -(width - 1) / 2], [0, 1, -(height - 1) / 2], [0, 0, 1.0]])
    shrink_and_flip = np.diag([scale, -scale, 1.0])
    turn_and_place = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), distance], [0, 0, 1.0]])
    poster_to_ground = turn_and_place @ shrink_and_flip @ centre
    looking = np.array([[1, 0, 0], [0, -np.sin(pitch), eye * np.cos(pitch)], [0, np.cos(pitch), eye * np.sin(pitch)]])
    # Zoom so that the poster fills the frame, with room for the sky.
    seen = homography.apply(looking @ poster_to_ground, homography.corners(height, width))
    low, high = seen.min(axis=0), seen.max(axis=0)
    view_height, view_width = view_size
    focal = min(0.88 * view_width / (high[0] - low[0]), 0.64 * view_height / (high[1] - low[1]))
    shift_x = (view_width - 1) / 2 - focal * (low[0] + high[0]) / 2
    shift_y = 0.96 * view_height - focal * high[1]
    lens = np.array([[focal, 0, shift_x], [0, focal, shift_y], [0, 0, 1.0]])
    return lens @ looking, poster_to_ground


def _photograph(
    photo: Picture, ground_to_view: homography.Matrix, poster_to_ground: homography.Matrix, view_size: tuple[int, int]
) -> Picture:
    """Draw the ground, shadow, haze and sky, then the poster; ground and poster through ``grid_sample``."""
    height, width = photo.shape[2:]
    inverse = homography.inverse(ground_to_view)
    in_front = inverse @ np.array([view_size[1] / 2, view_size[0], 1.0])
    view_to_ground = inverse * np.sign(in_front[2])  # so that what is in front has a positive depth
    ground = homography.apply(view_to_ground, homography.pixel_centres(*view_size))
    fine = (view_size[0] * OVERSAMPLING, view_size[1] * OVERSAMPLING)
    step, first = 1 / OVERSAMPLING, (1 - OVERSAMPLING) / (2 * OVERSAMPLING)
    fine_to_ground = view_to_ground @ np.array([[step, 0, first], [0, step, first], [0, 0, 1]])

    # The texture covers 8 x 8 units of ground; reflection continues it to the horizon.
    place = homography.apply(np.diag([0.25, 0.25, 1.0]) @ fine_to_ground, homography.pixel_centres(*fine))
    grid = np.asarray(np.nan_to_num(place)[np.newaxis], dtype=np.float32)
    canvas: Picture = _average(gw.grid_sample(_pavement(), grid, padding_mode="reflection", align_corners=False))
    light, haze = 1 - _shadow(ground, poster_to_ground, height, width), _haze(ground)
    canvas = (canvas * light * (1 - haze) + _sky(ground) * haze).astype(np.float32)

    # Red, green, blue and how opaque: zeros padding leaves nothing of the poster beyond its edges.
    layers = np.concatenate([photo, np.ones((1, 1, height, width), np.float32)], axis=1)
    grid = homography.sampling_grid(homography.inverse(poster_to_ground) @ fine_to_ground, fine, (height, width))
    poster = _average(gw.grid_sample(layers, grid, padding_mode="zeros", align_corners=False))
    canvas = canvas * (1 - poster[:, 3:]) + poster[:, :3]
    return np.ascontiguousarray(canvas, dtype=np.float32)


def _pavement() -> Picture:
    """Slabs of slightly different grey with joints between them, (1, 3, 1024, 1024)."""
    size, slabs = 1024, 24
    random = np.random.default_rng(7)
    shade = 0.56 + 0.05 * random.standard_normal((slabs, slabs))
    place = (np.arange(size) + 0.5) / size * slabs
    index, within = place.astype(int), np.abs(place % 1 - 0.5)
    joint = np.clip((within - 0.455) / 0.03, 0, 1)
    joints = np.maximum(joint[:, np.newaxis], joint)
    grain = 0.012 * random.standard_normal((size, size))
    grey = (shade[index[:, np.newaxis], index] + grain) * (1 - joints) + 0.38 * joints
    tint = np.array([1.03, 1.0, 0.95])[:, np.newaxis, np.newaxis]
    return np.asarray(np.clip(grey * tint, 0, 1)[np.newaxis], dtype=np.float32)


def _shadow(
    ground: NDArray[np.float64], poster_to_ground: homography.Matrix, height: int, width: int
) -> NDArray[np.float64]:
    """Return how much light the poster's edge takes from the ground around it, (H, W)."""
    place = homography.apply(homography.inverse(poster_to_ground), np.nan_to_num(ground, nan=1e6))
    half = np.array([width, height]) / 2
    beyond = np.abs(place + 0.5 - half - 0.006 * max(height, width)) - half
    distance = np.hypot(*np.moveaxis(np.maximum(beyond, 0.0), -1, 0)) / max(height, width)
    return np.asarray(0.55 * np.exp(-((distance / 0.022) ** 2)))


def _haze(ground: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of the sky lies over the ground, (H, W): more with distance, all of it above the horizon."""
    away = np.nan_to_num(ground[..., 1], nan=1e6)
    return np.asarray(1 - np.exp(-((np.maximum(away - 2.0, 0.0) / 9.0) ** 1.2)))


def _sky(ground: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sky, (3, H, 1): the horizon's colour at the horizon and below it, darker blue above."""
    height = ground.shape[0]
    horizon = int(np.isnan(ground[..., 0]).all(axis=1).sum())
    up = np.clip((horizon - np.arange(height)) / (0.4 * height), 0, 1)[:, np.newaxis]
    return np.asarray(_HORIZON[:, np.newaxis, np.newaxis] * (1 - up) + _ZENITH[:, np.newaxis, np.newaxis] * up)


def _average(picture: Picture) -> Picture:
    n, c, h, w = picture.shape
    blocks = picture.reshape(n, c, h // OVERSAMPLING, OVERSAMPLING, w // OVERSAMPLING, OVERSAMPLING)
    return np.asarray(blocks.mean(axis=(3, 5)))


def rectified_error(result: Rectified) -> tuple[float, float]:
    """Return the root mean square difference in levels of 255: where the camera has the pixels, and everywhere."""
    square = result.difference.astype(np.float64) ** 2
    sharp = square[result.sharp]
    return 255 * float(np.sqrt(sharp.mean())) if sharp.size else float("nan"), 255 * float(np.sqrt(square.mean()))
