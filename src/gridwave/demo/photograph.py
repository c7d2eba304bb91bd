"""Reading the photograph: any file Pillow reads in, (1, 3, H, W) float32 between 0 and 1 out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gridwave.errors import ArgumentError, FileFormatError

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 178_956_970
"""Pictures above this are refused: twice Pillow's own warning level, at which Pillow refuses them too."""

SMALLEST_SIDE = 96
"""Below this the pictures of the demo would show nothing, so a small photograph is enlarged."""

LONGEST_SHAPE = 2.0
"""A photograph longer than this, relative to its short side, is cropped about its centre."""

_NOT_READ = frozenset({"EPS", "WMF"})  # Pillow hands these to another program to draw


def default_photograph() -> Path:
    """Return the path of a photograph that matplotlib ships: Grace Hopper, a public-domain portrait."""
    import matplotlib

    path = Path(matplotlib.get_data_path(), "sample_data", "grace_hopper.jpg")
    if not path.is_file():  # some distributions package matplotlib without its samples
        raise ArgumentError("image must be given: the matplotlib installed here comes without its sample pictures")
    return path


def load(path: Path, long_side: int, progress: Callable[[str], None]) -> NDArray[np.float32]:
    """Read a photograph.

    Parameters
    ----------
    path : Path
        The file. Its rotation tag is honoured; transparency is laid over white.
    long_side : int
        A picture longer than this, in pixels, is reduced to it.
    progress : callable
        Takes a line of text for every change made to the picture's size.

    Returns
    -------
    array, (1, 3, H, W), float32
        Red, green and blue between 0 and 1.

    Raises
    ------
    ArgumentError
        If there is no file to read at ``path``.
    FileFormatError
        If the file is not a picture, is broken, or is too large to open safely.
    """
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise ArgumentError(f"image must be a picture file; {path} {what}")
    if not os.access(path, os.R_OK):
        raise ArgumentError(f"image must be readable; permission to read {path} is denied")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters below is refused, the rest is about metadata
            picture = _open(path, long_side, progress)
            picture = _fit(picture, long_side, progress)
            return _to_array(picture)
    except FileFormatError:
        raise
    except Exception as error:  # decoders of broken files raise almost anything
        reason = str(error).replace("\n", " ") or type(error).__name__
        raise FileFormatError(f"image must be a picture that Pillow can read; {path}: {reason}") from error


def _open(path: Path, long_side: int, progress: Callable[[str], None]) -> Image.Image:
    from PIL import Image, ImageOps

    picture: Image.Image
    with Image.open(path) as opened:
        width, height = opened.size
        if opened.format in _NOT_READ:
            raise FileFormatError(
                f"image must be a picture of pixels; {path} is {opened.format}, a program to draw one"
            )
        if width < 1 or height < 1:
            raise FileFormatError(f"image must have pixels; {path} is {width} x {height}")
        if width * height > MAX_PIXELS:
            raise FileFormatError(
                f"image must have at most {MAX_PIXELS} pixels; {path} says it is {width} x {height}. Reduce it first"
            )
        if max(width, height) > long_side:
            progress(f"  reduced from {width} x {height}: the long side becomes {long_side} pixels")
            opened.draft("RGB", (long_side, long_side))  # a JPEG is then decoded at a fraction of its size
        picture = ImageOps.exif_transpose(opened)
        picture.load()
    return _to_rgb(picture)


def _to_rgb(picture: Image.Image) -> Image.Image:
    """Any mode to RGB: deep greys are scaled rather than cut off, transparency is laid over white."""
    from PIL import Image

    if picture.mode.startswith("I;16") or picture.mode in ("I", "F"):
        grey = np.asarray(picture, dtype=np.float64)
        grey = np.where(np.isfinite(grey), grey, 0.0)
        low, high = (float(grey.min()), float(grey.max())) if picture.mode == "F" else (0.0, max(65535.0, grey.max()))
        scaled = (grey - low) * (255.0 / max(high - low, 1e-30))
        return Image.fromarray(np.clip(np.rint(scaled), 0, 255).astype(np.uint8)).convert("RGB")
    if picture.has_transparency_data:
        rgba = picture.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return picture.convert("RGB")


def _fit(picture: Image.Image, long_side: int, progress: Callable[[str], None]) -> Image.Image:
    """Crop what is too long, then reduce or enlarge what is too large or too small."""
    from PIL import Image

    width, height = picture.size
    longest = max(1, int(min(width, height) * LONGEST_SHAPE))
    if max(width, height) > longest:
        width, height = min(width, longest), min(height, longest)
        left, top = (picture.width - width) // 2, (picture.height - height) // 2
        progress(f"  cropped from {picture.width} x {picture.height} to its middle, {width} x {height}")
        picture = picture.crop((left, top, left + width, top + height))
    scale = min(1.0, long_side / max(width, height))
    scale = max(scale, SMALLEST_SIDE / min(width, height))
    if scale == 1.0:
        return picture
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    if scale > 1.0:
        progress(f"  enlarged from {width} x {height} to {size[0]} x {size[1]}")
    return picture.resize(size, Image.Resampling.LANCZOS if scale < 1.0 else Image.Resampling.BICUBIC)


def _to_array(picture: Image.Image) -> NDArray[np.float32]:
    pixels = np.asarray(picture, dtype=np.float32) / np.float32(255)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))[np.newaxis]
