"""Reading and writing pictures: PNG, JPEG and TIFF by Pillow, arrays as NumPy's .npy; nothing converted unasked."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gridwave.errors import ArgumentError, FileFormatError
from gridwave.pictures.place import replacing
from gridwave.typing import Array

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS: Final = 178_956_970
"""Pictures above this are refused: twice Pillow's own warning level, at which Pillow refuses them too."""

FORMATS: Final = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".tif": "TIFF", ".tiff": "TIFF", ".npy": "NPY"}
"""What a file's name may end in, and what is in it."""

_DTYPES: Final = ("uint8", "int8", "uint16", "float16", "float32", "float64")
_MODES: Final = {(np.dtype(np.uint8), 1): "L", (np.dtype(np.uint8), 2): "LA", (np.dtype(np.uint8), 3): "RGB",
                 (np.dtype(np.uint8), 4): "RGBA", (np.dtype(np.uint16), 1): "I;16"}  # fmt: skip
"""Pillow's name of what a picture can hold, by dtype and channels."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and what its file says about its colours.

    Attributes
    ----------
    pixels : array, (H, W, C)
        C is 1 for grey, 2 for grey and alpha, 3 for red, green, blue, 4 with alpha; anything in a .npy file.
    profile : bytes or None
        The ICC profile.
    """

    pixels: Array
    profile: bytes | None = None

    @property
    def text(self) -> str:
        """Its size and kind in words."""
        height, width, channels = self.pixels.shape
        return f"{width} x {height} pixels, {channels} channel{'s' * (channels != 1)}, {self.pixels.dtype}"


def read(path: Path) -> Picture:
    """Read a picture as it is.

    Parameters
    ----------
    path : Path
        PNG, JPEG or TIFF: 8-bit grey, grey and alpha, RGB, RGBA or 16-bit grey; palettes become RGB or RGBA, one bit
        grey. A rotation tag is honoured. Or a .npy file, (H, W) or (H, W, C), of an integer or float dtype that
        :func:`gridwave.grid_sample` takes.

    Raises
    ------
    ArgumentError
        If there is no file to read.
    FileFormatError
        If the file is broken, too large to open safely, of several pages, or of a kind not listed: 16-bit colour,
        which Pillow would cut to 8 bits, among them.
    """
    check_readable("image", path)
    if path.suffix.lower() == ".npy":
        return Picture(_as_pixels(path, read_array("image", path)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters below is refused, the rest is about metadata
            return _read_picture(path)
    except FileFormatError:
        raise
    except Exception as error:  # decoders of broken files raise almost anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FileFormatError(f"image must be a picture that Pillow can read; {path}: {reason}") from error


def check_readable(name: str, path: Path) -> None:
    """Raise unless ``path`` is a file that may be read."""
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise ArgumentError(f"{name} must be a file; {path} {what}")
    if not os.access(path, os.R_OK):
        raise ArgumentError(f"{name} must be readable; permission to read {path} is denied")


def read_array(name: str, path: Path) -> Array:
    """Read a .npy file, after what its header says has been checked against the file's length."""
    check_readable(name, path)
    try:
        with path.open("rb") as file:
            shape, fortran, dtype = _array_header(file)
            if str(dtype.newbyteorder("=")) not in _DTYPES:
                raise FileFormatError(f"{name} must have dtype {', '.join(_DTYPES)}; {path} has {dtype}")
            count, rest = math.prod(shape), os.fstat(file.fileno()).st_size - file.tell()
            if min(shape, default=0) < 0 or count * dtype.itemsize > rest:
                raise FileFormatError(f"{name} must be whole; {path} says it is {shape}, but has {rest} bytes for it")
            if math.prod(shape[:2]) > MAX_PIXELS:
                raise FileFormatError(f"{name} must have at most {MAX_PIXELS} pixels; {path} has shape {shape}")
            array = np.fromfile(file, dtype, count).reshape(shape, order="F" if fortran else "C")
    except FileFormatError:
        raise
    except Exception as error:  # the header is parsed as Python, which fails in many ways
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileFormatError(f"{name} must be a .npy array that NumPy can read; {path}: {reason}") from error
    return np.ascontiguousarray(array, dtype.newbyteorder("="))


def _array_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise FileFormatError(f"image or flow must be a .npy file of version 1 or 2; got {version}")


def _as_pixels(path: Path, array: Array) -> Array:
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise FileFormatError(f"image must have shape (H, W) or (H, W, C), none of them 0; {path} has {array.shape}")
    return array.reshape(*array.shape[:2], -1)


def _read_picture(path: Path) -> Picture:
    from PIL import Image, ImageOps

    formats = sorted({name for name in FORMATS.values() if name != "NPY"})
    with Image.open(path, formats=formats) as opened:
        width, height = opened.size
        if not 0 < width * height <= MAX_PIXELS:
            raise FileFormatError(f"image must have 1 to {MAX_PIXELS} pixels; {path} says it is {width} x {height}")
        kind = opened.format
        # MPO is a JPEG with previews of it behind: what many telephones write.
        if kind != "MPO" and getattr(opened, "n_frames", 1) > 1:
            raise FileFormatError(f"image must be one picture; {path} has {getattr(opened, 'n_frames', 0)} pages")
        if opened.mode in ("L", "LA", "RGB", "RGBA") and "16" in _raw_mode(opened):
            raise FileFormatError(
                f"image must be 8-bit, or grey; {path} has 16-bit colours, which Pillow cuts to 8. Give it as .npy"
            )
        profile = opened.info.get("icc_profile")
        picture = ImageOps.exif_transpose(opened)
        picture.load()
    return Picture(_to_array(path, picture, kind), profile if isinstance(profile, bytes) else None)


def _raw_mode(picture: Image.Image) -> str:
    """How the file stores a pixel, as far as the decoder says it before it decodes."""
    return " ".join(str(tile[3]) for tile in picture.tile)


def _to_array(path: Path, picture: Image.Image, kind: str | None) -> Array:
    if picture.mode in ("P", "PA"):
        picture = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    elif picture.mode == "1":
        picture = picture.convert("L")
    array = np.asarray(picture)
    if picture.mode == "I" and kind == "PNG":  # 16-bit grey, as Pillow before 11.3 opens it
        array = array.astype(np.uint16)
    elif picture.mode.startswith("I;16"):
        array = array.astype(np.uint16)  # in the machine's byte order
    elif picture.mode not in ("L", "LA", "RGB", "RGBA"):
        raise FileFormatError(
            f"image must be grey, RGB or RGBA of 8 bits, or grey of 16; {path} is {picture.mode}. Convert it first"
        )
    return np.ascontiguousarray(array).reshape(picture.height, picture.width, -1)


def check_writes(path: Path, dtype: Any, channels: int) -> None:
    """Raise unless a picture of this dtype and these channels can be written to ``path`` without a conversion."""
    kind = FORMATS[path.suffix.lower()]
    if kind == "NPY":
        return
    mode = _MODES.get((np.dtype(dtype), channels))
    if mode is None or (kind == "JPEG" and mode not in ("L", "RGB")):
        allowed = "8-bit grey or RGB" if kind == "JPEG" else "8-bit grey, RGB or RGBA, or 16-bit grey"
        raise ArgumentError(
            f"output must be able to hold the picture; {path} is a {kind}, which holds {allowed}, not {channels} "
            f"channel{'s' * (channels != 1)} of {np.dtype(dtype)}. Write a .npy file{' or a .png' * (mode is not None)}"
        )


def write(picture: Picture, path: Path) -> None:
    """Write a picture beside its place and move it there, so that a failure leaves no half of it."""
    check_writes(path, picture.pixels.dtype, picture.pixels.shape[2])
    with replacing(path) as part:
        _writer(picture, FORMATS[path.suffix.lower()])(part)


def _writer(picture: Picture, kind: str) -> Callable[[Path], None]:
    pixels = picture.pixels[..., 0] if picture.pixels.shape[2] == 1 else picture.pixels
    if kind == "NPY":

        def save_array(part: Path) -> None:
            with part.open("wb") as file:  # np.save would add .npy to a name
                np.save(file, pixels, allow_pickle=False)

        return save_array

    def save_picture(part: Path) -> None:
        from PIL import Image

        options: dict[str, Any] = {"quality": 95} if kind == "JPEG" else {}
        if picture.profile is not None:
            options["icc_profile"] = picture.profile
        Image.fromarray(pixels).save(part, format=kind, **options)

    return save_picture
