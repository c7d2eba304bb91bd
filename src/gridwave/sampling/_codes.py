"""From names to core's integer-coded specs, and from core's failures to Python's errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gridwave import _core
from gridwave.errors import ArgumentError, CoreError, DTypeError, ShapeError, UnsupportedError
from gridwave.modes import (
    BorderSlope,
    CubicPadding,
    Layout,
    NearestRounding,
    NonFinite,
    PaddingMode,
    PadOrder,
    Reflection,
    SamplingMode,
    Unnormalise,
    parse,
)

if TYPE_CHECKING:
    from gridwave.conventions.spec import GridSampleSpec

_ERRORS: Final = {
    "shape": ShapeError, "dtype": DTypeError, "argument": ArgumentError, "unsupported": UnsupportedError,
    "memory": MemoryError,
}  # fmt: skip
_core.set_failure(lambda status, text: _ERRORS.get(status, CoreError)(text))

CUBIC_COEFF_A: Final = -0.75
"""Keys' constant as PyTorch, ONNX and OpenCV have it."""

_SPECS: Final[dict[tuple[Any, ...], _core.GridSampleSpec]] = {}


def spec_codes(mode: Any, padding_mode: Any, align_corners: Any, layout: Any) -> _core.GridSampleSpec:
    """Return the names as core's spec; remembered, since parsing four of them takes a microsecond."""
    key = (mode, padding_mode, align_corners, layout)
    try:
        return _SPECS[key]
    except (KeyError, TypeError):
        pass
    codes = _core.GridSampleSpec(
        parse("mode", mode, SamplingMode), parse("padding_mode", padding_mode, PaddingMode),
        flag("align_corners", align_corners), parse("layout", layout, Layout), 0, 0, 0, 0, CUBIC_COEFF_A,
        0, 0, 0,
    )  # fmt: skip
    _SPECS[key] = codes
    return codes


def flag(name: str, value: object) -> int:
    """Return True or False as 1 or 0, or raise."""
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, int) and value in (0, 1)):
        return int(value)
    raise ArgumentError(f"{name} must be True or False; got {value!r}")


def codes_of(spec: GridSampleSpec, layout: Any) -> _core.GridSampleSpec:
    """Return a convention, every field of it, as core's spec."""
    return _core.GridSampleSpec(
        parse("mode", spec.mode, SamplingMode), parse("padding_mode", spec.padding_mode, PaddingMode),
        flag("align_corners", spec.align_corners), parse("layout", layout, Layout),
        parse("nearest_rounding", spec.nearest_rounding, NearestRounding),
        parse("pad_order", spec.pad_order, PadOrder), parse("cubic_padding", spec.cubic_padding, CubicPadding),
        parse("nonfinite", spec.nonfinite, NonFinite), float(spec.cubic_coeff_a),
        parse("unnormalise", spec.unnormalise, Unnormalise), parse("reflection", spec.reflection, Reflection),
        parse("border_slope", spec.border_slope, BorderSlope),
    )  # fmt: skip
