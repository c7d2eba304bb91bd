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
    mode: SamplingMode | None = None,
    padding: PaddingMode = "zeros",
    like: str | None = None,
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
        How a value between pixels is found; bilinear by default.
    padding
        What lies outside the image: zeros (black, transparent), its border, or its reflection.
    like
        opencv:FLAG or opencv4:FLAG, with FLAG such as INTER_LINEAR, instead of --mode: the numbers of OpenCV 5 or 4
        for this matrix (warpAffine, warpPerspective) or flow (remap, with the pixel's place and the flow added in
        float32).
    """
    from gridwave.pictures import warp as pictures
    from gridwave.pictures.by_opencv import sampler_of

    given = [name for name, value in (("affine", affine), ("perspective", perspective), ("flow", flow)) if value]
    if len(given) != 1:
        raise ArgumentError(f"exactly one of --affine, --perspective and --flow must be given; got {given or 'none'}")
    if inverse and flow is not None:
        raise ArgumentError("--inverse is for matrices; a flow has no closed inverse")
    if like is not None and mode is not None:
        raise ArgumentError(f"--like names the interpolation; leave out --mode {mode}")
    numbers = None
    if affine is not None:
        numbers = pictures.numbers_of("--affine", affine, 6)
    elif perspective is not None:
        numbers = pictures.numbers_of("--perspective", perspective, 9)
    matrix = None if numbers is None else pictures.matrix_of(numbers, inverse=inverse)
    sampler = None if like is None else sampler_of(like, numbers, inverse, padding)
    written = pictures.warp_file(
        image, output, matrix=matrix, flow=flow, size=None if size is None else pictures.size_of(size),
        mode=mode or "bilinear", padding_mode=padding, sampler=sampler,
    )  # fmt: skip
    print(f"wrote {output}: {written.text}")
    return ExitCode.CLEAN
