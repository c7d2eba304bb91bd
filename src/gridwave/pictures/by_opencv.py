"""Warping a picture with the numbers of an OpenCV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from gridwave import like
from gridwave.errors import ArgumentError
from gridwave.modes import PaddingMode
from gridwave.typing import Array

Sampler = Callable[[Array, "Array | None", tuple[int, int]], Array]
"""Makes the output, (H_out, W_out, C), of pixels, a flow if there is one, and (H_out, W_out)."""

FLAGS: Final = ("INTER_NEAREST", "INTER_LINEAR", "INTER_CUBIC", "INTER_AREA", "INTER_LANCZOS4")
_PEERS: Final = {"opencv": like.opencv, "opencv4": like.opencv4}
_BORDERS: Final[dict[PaddingMode, str]] = {
    "zeros": "BORDER_CONSTANT", "border": "BORDER_REPLICATE", "reflection": "BORDER_REFLECT",
}  # fmt: skip


def sampler_of(text: str, numbers: Sequence[float] | None, inverse: bool, padding_mode: PaddingMode) -> Sampler:
    """Return what samples as ``text``, such as "opencv:INTER_LINEAR", says.

    Parameters
    ----------
    text : str
        "opencv" (5.0) or "opencv4", a colon and one of ``FLAGS``.
    numbers : sequence of 6 or 9 float, optional
        For ``warpAffine`` or ``warpPerspective``; without them there must be a flow, for ``remap``.
    inverse : bool
        The numbers map the input to the output, as OpenCV's do without WARP_INVERSE_MAP.
    padding_mode : {"zeros", "border", "reflection"}
        BORDER_CONSTANT with 0, BORDER_REPLICATE or BORDER_REFLECT.

    Raises
    ------
    ArgumentError
        For another OpenCV or flag.
    """
    peer, _, name = text.partition(":")
    if peer not in _PEERS or name not in FLAGS:
        raise ArgumentError(
            f"--like must be {' or '.join(f'{peer}:FLAG' for peer in _PEERS)}, FLAG one of {', '.join(FLAGS)}; "
            f"got {text!r}"
        )
    cv: Any = _PEERS[peer]
    flags, border = getattr(cv, name), getattr(cv, _BORDERS[padding_mode])

    def sample(pixels: Array, flow: Array | None, size: tuple[int, int]) -> Array:
        result: Array
        if numbers is None:
            if flow is None:
                raise ArgumentError("a matrix or a flow must be given")
            y, x = np.indices(size, np.float32)
            maps = [(at + flow[..., axis]).astype(np.float32) for axis, at in enumerate((x, y))]
            result = cv.remap(pixels, *maps, flags, borderMode=border)
            return result
        call, M = (cv.warpAffine if len(numbers) == 6 else cv.warpPerspective), np.reshape(numbers, (-1, 3))
        result = call(pixels, M, size[::-1], flags=flags + (0 if inverse else cv.WARP_INVERSE_MAP), borderMode=border)
        return result

    return sample
