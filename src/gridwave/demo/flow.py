"""Warping by a flow field: every output pixel reads the input at its own place plus the flow there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import gridwave as gw
from gridwave.demo import homography
from gridwave.modes import PaddingMode, SamplingMode

Picture = NDArray[np.float32]

IDENTITY = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
"""The affine warp that leaves every pixel where it is."""

INVERSION_STEPS = 40
"""Fixed-point steps towards the inverse flow; each takes about a third off the error of a flow like this one."""


@dataclass(frozen=True, slots=True)
class Warped:
    """A photograph warped by a flow and put straight again.

    Attributes
    ----------
    flow : array, (1, 2, H, W)
        In pixels, x then y: the output at p reads the input at p + flow(p).
    picture : array, (1, 3, H, W)
        The warped photograph.
    restored : array, (1, 3, H, W)
        The warped photograph, warped by the inverse flow.
    difference : array, (H, W)
        Root mean square over the colours of restored minus original.
    inside : array, (H, W), bool
        Where restoring needed nothing from beyond the warped photograph's edges.
    """

    flow: Picture
    picture: Picture
    restored: Picture
    difference: Picture
    inside: NDArray[np.bool_]


def warp_and_restore(photo: Picture) -> Warped:
    """Warp a photograph, invert the flow by fixed-point iteration, and warp it back."""
    height, width = photo.shape[2:]
    flow = swirl_and_wave(height, width)
    picture = sample(photo, flow, mode="bicubic")
    back = invert(flow)
    restored = np.clip(sample(picture, back, mode="bicubic"), 0.0, 1.0)
    difference = np.sqrt(((restored - photo)[0] ** 2).mean(axis=0))
    # The output of a warp is known where it was not read from beyond the edge: carry that mask back too.
    known = sample(np.ones((1, 1, height, width), np.float32), flow, padding_mode="zeros")
    inside = sample(known, back, padding_mode="zeros")[0, 0] > 0.999
    return Warped(flow, np.clip(picture, 0.0, 1.0), restored, difference, inside)


def swirl_and_wave(height: int, width: int) -> Picture:
    """Return the flow of a whirl about the middle on top of a slow wave, (1, 2, H, W) in pixels."""
    size = float(np.sqrt(height * width))
    place = homography.pixel_centres(height, width)
    offset = place - np.array([(width - 1) / 2, (height - 1) / 2])
    angle = np.radians(38.0) * np.exp(-((offset / (0.34 * size)) ** 2).sum(axis=-1))
    x, y = offset[..., 0], offset[..., 1]
    turned = np.stack([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y])
    wave = 0.016 * size * np.stack([np.sin(2 * np.pi * y / (0.36 * size)), np.sin(2 * np.pi * x / (0.45 * size))])
    return np.asarray((turned - np.stack([x, y]) + wave)[np.newaxis], dtype=np.float32)


def sample(
    picture: Picture, flow: Picture, mode: SamplingMode = "bilinear", padding_mode: PaddingMode = "border"
) -> Picture:
    """Warp a picture, (1, C, H, W), by a flow, (1, 2, H, W) in pixels."""
    height, width = picture.shape[2:]
    every_pixel = gw.affine_grid(IDENTITY, picture.shape, align_corners=False)
    # With align_corners=False the picture is W pixels wide, and its grid coordinate goes from -1 to 1: 2 / W a pixel.
    grid = every_pixel + flow.transpose(0, 2, 3, 1) * np.array([2 / width, 2 / height], np.float32)
    return np.asarray(gw.grid_sample(picture, grid, mode=mode, padding_mode=padding_mode, align_corners=False))


def invert(flow: Picture) -> Picture:
    """Return the flow that undoes a flow: the ``back`` with ``back(q) = -flow(q + back(q))``.

    The flow is itself sampled by ``grid_sample``. The iteration converges where neighbouring pixels move apart by
    less than their distance.
    """
    back = -flow
    for _ in range(INVERSION_STEPS):
        back = -sample(flow, back)
    return back


def restored_error(result: Warped) -> float:
    """Return the root mean square difference, restored minus original, where everything is known."""
    known = result.difference[result.inside]
    return float(np.sqrt((known.astype(np.float64) ** 2).mean())) if known.size else float("nan")
