"""``gridwave warp``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gridwave.cli.app import ExitCode
from gridwave.errors import ArgumentError
from gridwave.modes import PaddingMode, SamplingMode

_Numbers = Annotated[str | None, Parameter(allow_leading_hyphen=True)]


def warp(
    image: Path,
    output: Path,
    *,
    affine: _Numbers = None,
    perspective: _Numbers = None,
    flow: Path | None = None,
    inverse: Annotated[bool, Parameter(negative=())] = False,
    size: str | None = None,
    mode: SamplingMode = "bilinear",
    padding: PaddingMode = "zeros",
) -> int:
    """Warp a picture by a matrix or a flow.

    Places are in pixels: x to the right, y downwards, (0, 0) at the centre of the first pixel. Every pixel of the
    OUTPUT reads the INPUT at the place that the matrix or the flow gives for it, so a matrix maps output pixels to
    input pixels; with --inverse it maps input pixels to output pixels.

    Parameters
    ----------
    image
        PNG, JPEG or TIFF, 8-bit grey, RGB or RGBA or 16-bit grey; or a .npy array, (H, W) or (H, W, C).
    output
        The file to write: .png, .jpg, .tif or .npy. It appears as a whole, or not at all; it may not be the input.
    affine
        a,b,c,d,e,f, from output pixels to input pixels: the output pixel (x, y) reads the input at (a x + b y + c,
        d x + e y + f). Pixels: x to the right, y downwards, (0, 0) at the centre of the first.
    perspective
        a,b,c,d,e,f,g,h,i, from output pixels to input pixels: as with --affine, both divided by g x + h y + i.
    flow
        A .npy array of floats, (H, W, 2), in pixels: the output pixel (x, y) reads the input at
        (x + flow[y, x, 0], y + flow[y, x, 1]).
    inverse
        The matrix maps input pixels to output pixels, as OpenCV's does without WARP_INVERSE_MAP; it is inverted.
    size
        WIDTHxHEIGHT of the output; by default that of the flow, or of the image.
    mode
        How a value between pixels is found.
    padding
        What lies outside the image: zeros (black, transparent), its border, or its reflection.
    """
    from gridwave.pictures import warp as pictures

    given = [name for name, value in (("affine", affine), ("perspective", perspective), ("flow", flow)) if value]
    if len(given) != 1:
        raise ArgumentError(f"exactly one of --affine, --perspective and --flow must be given; got {given or 'none'}")
    if inverse and flow is not None:
        raise ArgumentError("--inverse is for matrices; a flow has no closed inverse")
    matrix = None
    if affine is not None:
        matrix = pictures.matrix_of(pictures.numbers_of("--affine", affine, 6), inverse=inverse)
    elif perspective is not None:
        matrix = pictures.matrix_of(pictures.numbers_of("--perspective", perspective, 9), inverse=inverse)
    written = pictures.warp_file(
        image, output, matrix=matrix, flow=flow, size=None if size is None else pictures.size_of(size),
        mode=mode, padding_mode=padding,
    )  # fmt: skip
    print(f"wrote {output}: {written.text}")
    return ExitCode.CLEAN
