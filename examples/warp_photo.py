"""Warp a photograph by a whirl: python warp_photo.py photo.jpg whirled.png [degrees]."""

from __future__ import annotations

import sys

import numpy as np
from PIL import Image, ImageOps

import gridwave as gw


def whirl(height: int, width: int, degrees: float) -> np.ndarray:
    """Return the grid that turns the middle by an angle that fades towards the edges, (1, H, W, 2)."""
    identity = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
    grid = gw.affine_grid(identity, (1, 1, height, width), align_corners=False)
    shorter = min(height, width)
    per_unit = np.array([width, height], np.float32) / shorter  # so that a turn is a turn on any shape
    x, y = np.moveaxis(grid * per_unit, -1, 0)
    angle = np.radians(degrees) * np.exp(-2 * (x**2 + y**2))
    turned = np.stack([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y], axis=-1)
    return (turned / per_unit).astype(np.float32)


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with Image.open(sys.argv[1]) as opened:
        photo = np.asarray(ImageOps.exif_transpose(opened).convert("RGB"))[np.newaxis]
    degrees = float(sys.argv[3]) if len(sys.argv) == 4 else 60.0
    grid = whirl(*photo.shape[1:3], degrees)
    # uint8 in, uint8 out, channels last: nothing is transposed or converted on the way.
    warped = gw.grid_sample(photo, grid, mode="bicubic", padding_mode="border", align_corners=False, layout="NHWC")
    Image.fromarray(warped[0]).save(sys.argv[2])
    print(f"{sys.argv[2]}: {photo.shape[2]} x {photo.shape[1]} pixels, whirled by {degrees:g} degrees")


if __name__ == "__main__":
    main()
