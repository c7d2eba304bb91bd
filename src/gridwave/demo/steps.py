"""The demo from one end to the other: a photograph in, three things done to it, a volume turned, one picture out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gridwave.demo import flow, photograph, registration, scene, volume
from gridwave.errors import ArgumentError
from gridwave.pictures.place import check_writable, replacing

SUFFIXES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
"""What the picture can be written as."""

LONG_SIDE = 1024
SHORTEST_LONG_SIDE = 128
REGISTERED = 0.5
"""Below this corner error, in pixels, two pictures count as registered."""


def run(
    image: Path | None = None,
    output: Path = Path("gridwave-demo.png"),
    progress: Callable[[str], None] = print,
    *,
    long_side: int = LONG_SIDE,
) -> Path:
    """Rectify, warp and register a photograph, turn a volume, and draw the steps on one picture.

    Parameters
    ----------
    image : Path, optional
        Any picture file that Pillow reads. Without one, a portrait that matplotlib ships.
    output : Path
        Where the picture goes: a ``.png``, ``.jpg`` or ``.webp`` file. One that exists is replaced.
    progress : callable
        Takes the demo's lines of text.
    long_side : int
        A larger photograph is reduced to this many pixels on its long side; at least 128.

    Returns
    -------
    Path
        ``output``.

    Raises
    ------
    ArgumentError
        If ``image`` is no file, ``output`` cannot be written (found out before the work begins), or ``long_side``
        is too small.
    FileFormatError
        If ``image`` is not a picture, is broken, or is too large to open safely.

    Notes
    -----
    The same photograph gives the same numbers every time: the noise that is added has a fixed seed.
    """
    start = time.perf_counter()
    output = Path(output)
    if long_side < SHORTEST_LONG_SIDE:
        raise ArgumentError(f"long_side must be at least {SHORTEST_LONG_SIDE} pixels; got {long_side}")
    path = photograph.default_photograph() if image is None else Path(image)
    check_writable(output, SUFFIXES, [path], "the photograph")
    progress(f"photograph: {path}")
    photo = photograph.load(path, long_side, progress)
    progress(f"  {photo.shape[2]} x {photo.shape[3]} pixels (height x width)")

    rectified = _rectify(photo, progress)
    warped = _warp(photo, progress)
    registered = _register(photo, progress)
    turned = _turn(photo, progress)

    from gridwave.demo import picture

    _write(picture.draw(path.name, photo, rectified, warped, registered, turned), output)
    progress(f"picture: {output} ({time.perf_counter() - start:.1f} s in all)")
    return output


def _rectify(photo: NDArray[np.float32], progress: Callable[[str], None]) -> scene.Rectified:
    progress("1  a perspective view, rectified")
    aspect = float(np.clip(2 * photo.shape[3] / photo.shape[2] + 0.06, 1.2, 2.2))
    result = scene.rectify(photo, aspect)
    sharp, everywhere = scene.rectified_error(result)
    progress(f"  recovered minus photograph, of 255: {everywhere:.2f} everywhere (root mean square)")
    if np.isfinite(sharp):
        share = 100 * float(result.sharp.mean())
        progress(f"  {sharp:.2f} in the {share:.0f}% of it where the camera has a pixel for each of the photograph's")
    return result


def _warp(photo: NDArray[np.float32], progress: Callable[[str], None]) -> flow.Warped:
    progress("2  a warp by a flow field, and back")
    result = flow.warp_and_restore(photo)
    progress(f"  flow up to {float(np.hypot(*result.flow[0]).max()):.1f} pixels")
    progress(f"  restored minus photograph, of 255: {255 * flow.restored_error(result):.2f} (root mean square, inside)")
    return result


def _register(photo: NDArray[np.float32], progress: Callable[[str], None]) -> registration.Registration:
    progress("3  two pictures, registered by gradient descent")
    result = registration.register_demo(photo, progress)
    for name, theta in (("true", result.truth), ("found", result.found)):
        rows = ["  ".join(f"{value:9.6f}" for value in row) for row in theta[0]]
        progress(f"  {name:5s}  [{rows[0]}]\n         [{rows[1]}]")
    progress(f"  mean corner error: {result.corner_error:.4f} pixels")
    if result.corner_error >= REGISTERED:
        progress("  not registered: descent needs a picture with large, distinct shapes; try another photograph")
    return result


def _turn(photo: NDArray[np.float32], progress: Callable[[str], None]) -> volume.Turned:
    progress("4  a volume, turned in space")
    result = volume.turn(float(np.clip(photo.shape[3] / photo.shape[2], 0.7, 2.0)))
    d, h, w = result.before.shape[2:]
    progress(f"  a phantom of {d} x {h} x {w} voxels (depth x height x width), turned about x, y and z")
    progress(
        f"  turned minus the phantom itself at these places, of 255: {255 * result.error:.2f} (root mean square); "
        f"by the nearest voxel {255 * result.nearest:.2f}"
    )
    return result


def _write(pixels: NDArray[np.uint8], output: Path) -> None:
    from PIL import Image

    with replacing(output) as part:
        Image.fromarray(pixels).save(part, format=SUFFIXES[output.suffix.lower()], quality=92)
