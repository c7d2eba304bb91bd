"""The attributes of a sampling convention: each a field of its own, so that conventions can be compared."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from gridwave.modes import (
    BorderSlope,
    CubicPadding,
    NearestRounding,
    NonFinite,
    PaddingMode,
    PadOrder,
    Reflection,
    SamplingMode,
    Unnormalise,
)


@dataclass(frozen=True, slots=True)
class GridSampleSpec:
    """What a framework's grid_sample computes.

    Parameters
    ----------
    name : str
        Framework and call, for example ``"torch:grid_sample"``.
    mode, padding_mode, align_corners
        As in :func:`gridwave.grid_sample`.
    cubic_coeff_a : float
        Keys' constant of ``bicubic``; -0.75 in PyTorch, ONNX and OpenCV.
    nearest_rounding : {"half_even", "half_away", "half_up"}
        Which sample ``nearest`` takes half-way between two.
    pad_order : {"coordinate", "index"}
        Whether ``nearest`` pads the coordinate and then rounds, or rounds and then pads.
    cubic_padding : {"taps", "coordinate"}
        Whether ``bicubic`` with border padding clamps each tap, or the coordinate before weights are taken.
    nonfinite : {"outside", "lower_border"}
        What a NaN or infinite coordinate means.
    unnormalise : {"shifted", "scaled", "scaled_fused"}
        Which of three expressions, equal but for rounding, turns grid values into coordinates.
    reflection : {"periodic", "once"}
        Whether a coordinate far outside is reflected as often as it takes, or once at each mirror and then clamped.
    border_slope : {"zero", "inside"}
        Gradient of a coordinate exactly on an outermost sample centre, with border and reflection padding.
    source, version : str
        Where the facts were read or measured, and in which release.
    """

    name: str
    mode: SamplingMode = "bilinear"
    padding_mode: PaddingMode = "zeros"
    align_corners: bool = False
    cubic_coeff_a: float = -0.75
    nearest_rounding: NearestRounding = "half_even"
    pad_order: PadOrder = "coordinate"
    cubic_padding: CubicPadding = "taps"
    nonfinite: NonFinite = "outside"
    unnormalise: Unnormalise = "shifted"
    reflection: Reflection = "periodic"
    border_slope: BorderSlope = "zero"
    source: str = ""
    version: str = ""

    def differs_from(self, other: GridSampleSpec) -> dict[str, tuple[Any, Any]]:
        """Return the fields (name, source and version aside) in which two conventions differ."""
        return {
            f.name: (getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)
            if f.name not in {"name", "source", "version"} and getattr(self, f.name) != getattr(other, f.name)
        }
