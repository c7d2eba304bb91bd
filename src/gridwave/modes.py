"""Every mode of every operator, written once, and the integer code each has in ``gridwave.h``.

Modes are :data:`typing.Literal` types. Error messages, command-line choices, tables in the docs and test
parameters are all derived from ``typing.get_args`` of them.
"""

from __future__ import annotations

import difflib
from typing import Any, Final, Literal, get_args

from gridwave.errors import ModeError

SamplingMode = Literal["bilinear", "nearest", "bicubic"]
"""How a value between samples is found."""

PaddingMode = Literal["zeros", "border", "reflection"]
"""What lies outside the input: nothing (0), its edge, or its mirror image."""

Layout = Literal["NCHW", "NHWC"]
"""Axis order of the data: channels before or after the spatial axes."""

NearestRounding = Literal["half_even", "half_away", "half_up"]
"""Which sample ``nearest`` takes at an exact half."""

PadOrder = Literal["coordinate", "index"]
"""``nearest`` pads the coordinate and then rounds (``coordinate``), or rounds and then pads (``index``)."""

CubicPadding = Literal["taps", "coordinate"]
"""``bicubic`` pads each of its 16 taps, or the coordinate before weights are taken."""

NonFinite = Literal["outside", "lower_border"]
"""A NaN or infinite coordinate lies outside (see :func:`gridwave.grid_sample`), or on the lower border."""

Unnormalise = Literal["shifted", "scaled", "scaled_fused"]
"""How a grid value g becomes a coordinate of an axis of length S, alike but for rounding: ((g + 1) S - 1) / 2;
g S/2 + (S - 1)/2; fma(g, S/2, S/2) - 1/2. With align_corners and s = (S - 1)/2: (g + 1)/2 (S - 1); g s + s;
fma(g, s, s)."""

Reflection = Literal["periodic", "once"]
"""A coordinate is reflected as often as it takes, or once at each mirror and what is still outside then clamped."""

BorderSlope = Literal["zero", "inside"]
"""Derivative of the padded coordinate exactly on the outermost sample centres: 0, or what it is inside."""

Singleton = Literal["minus_one", "zero", "plus_one"]
"""Coordinate of the only sample of an axis of length 1, where -1 and 1 are both its centre."""

RemapMode = Literal["nearest", "linear", "cubic", "lanczos4"]
"""How a value between pixels of an image is found; ``cubic`` is Keys' with a = -0.75."""

BorderMode = Literal["constant", "replicate", "reflect", "reflect_101", "wrap", "transparent"]
"""What lies outside an image: a value, its edge, its mirror image with the edge twice or once, itself, the output."""

FillMode = Literal["reflect", "wrap", "constant", "nearest"]
"""What TensorFlow's projective transform takes outside the image: its mirror image, itself, a value, its edge."""

PillowMethod = Literal["affine", "perspective", "quad"]
"""How Pillow's ``transform`` maps a pixel of the result to a position in the image."""

GradientTarget = Literal["x", "grid"]
"""What a backward pass can differentiate with respect to."""

DoubleGradientTarget = Literal["grad_output", "x", "grid"]
"""What the second backward pass can differentiate with respect to."""


def codes(kind: Any) -> dict[str, int]:
    """Map each choice of ``kind`` to its integer code, which is its position."""
    return {choice: code for code, choice in enumerate(get_args(kind))}


def parse(name: str, value: object, kind: Any) -> int:
    """Return the integer code of ``value``, or raise naming the choices.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What came.
    kind : typing.Literal
        The mode's type, for example :data:`PaddingMode`.

    Raises
    ------
    ModeError
        If ``value`` is not one of the choices.
    """
    table = _CODES[kind]
    try:
        return table[value]  # type: ignore[index]
    except (KeyError, TypeError):
        raise ModeError(_unknown(name, value, tuple(table))) from None


def _unknown(name: str, value: object, allowed: tuple[str, ...]) -> str:
    text = value if isinstance(value, str) else str(value)
    near = difflib.get_close_matches(text.lower(), [a.lower() for a in allowed], n=1)
    hint = next((a for a in allowed if near and a.lower() == near[0]), None) or ALIASES.get(text.lower())
    tail = f" (did you mean {hint!r}?)" if hint in allowed else ""
    return f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}{tail}"


ALIASES: Final = {
    "linear": "bilinear", "trilinear": "bilinear", "cubic": "bicubic", "nn": "nearest", "zero": "zeros",
    "constant": "zeros", "clamp": "border", "edge": "border", "replicate": "border", "mirror": "reflection",
    "reflect": "reflection", "channels_first": "NCHW", "channels_last": "NHWC",
}  # fmt: skip
"""Words other libraries use, only for suggestions in error messages."""

_CODES: Final[dict[Any, dict[str, int]]] = {
    kind: codes(kind)
    for kind in (
        SamplingMode,
        PaddingMode,
        Layout,
        NearestRounding,
        PadOrder,
        CubicPadding,
        NonFinite,
        Unnormalise,
        Reflection,
        BorderSlope,
        Singleton,
        RemapMode,
        BorderMode,
        FillMode,
        PillowMethod,
        GradientTarget,
        DoubleGradientTarget,
    )
}
