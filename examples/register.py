"""Find the affine warp between two pictures by gradient descent: python register.py reference.png moving.png [out.png].

The pictures must show the same thing in roughly the same place: descent finds the nearest valley.
"""

from __future__ import annotations

import sys

import numpy as np
from PIL import Image, ImageOps

import gridwave as gw


def read(path: str, side: int) -> np.ndarray:
    """Return a grey picture, (1, 1, side, side) between 0 and 1. Coordinates are normalised, so shapes may differ."""
    with Image.open(path) as opened:
        grey = ImageOps.exif_transpose(opened).convert("L").resize((side, side), Image.Resampling.BOX)
    return np.asarray(grey, np.float32)[np.newaxis, np.newaxis] / 255


def descend(theta: np.ndarray, reference: np.ndarray, moving: np.ndarray, steps: int, rate: float) -> np.ndarray:
    """Return a better theta: Adam on the mean squared difference."""
    mean, square = np.zeros_like(theta), np.zeros_like(theta)
    for step in range(1, steps + 1):
        grid = gw.affine_grid(theta, reference.shape)
        difference = gw.grid_sample(moving, grid, padding_mode="border") - reference
        grad_output = difference * np.float32(2 / difference.size)
        _, grad_grid = gw.grid_sample_backward(grad_output, moving, grid, padding_mode="border", wrt=("grid",))
        gradient = gw.affine_grid_backward(grad_grid, reference.shape)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        change = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-12)
        theta = (theta - rate * (1 - step / steps) * change).astype(np.float32)
    print(f"{reference.shape[-1]:4d} pixels: loss {np.mean(difference**2):.6f}")
    return theta


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
    for number, side in enumerate((32, 64, 128, 256)):
        theta = descend(theta, read(sys.argv[1], side), read(sys.argv[2], side), 100, 0.02 * 0.3**number)
    print(np.array2string(theta[0], precision=5, suppress_small=True))
    if len(sys.argv) == 4:
        aligned = gw.grid_sample(read(sys.argv[2], 512), gw.affine_grid(theta, (1, 1, 512, 512)))
        Image.fromarray(np.rint(aligned[0, 0] * 255).astype(np.uint8)).save(sys.argv[3])


if __name__ == "__main__":
    main()
