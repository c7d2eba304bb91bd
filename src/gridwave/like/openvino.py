"""The operator GridSample of OpenVINO's opset 9, as its CPU plugin computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from gridwave import sampling
from gridwave.conventions.openvino import ATTRIBUTES, DTYPES, GRID_SAMPLE
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError
from gridwave.like._inputs import check_dtypes, check_planar
from gridwave.modes import PaddingMode, SamplingMode, parse


def grid_sample(data: Any, grid: Any, attributes: Mapping[str, Any] | None = None, name: str | None = None) -> Any:
    """Sample ``data`` at the points of ``grid``, as ``openvino.opset9.grid_sample`` on a CPU does.

    Parameters
    ----------
    data : array, (N, C, H, W), float16 | bfloat16 | float32 | float64
        The images.
    grid : array, (N, H_out, W_out, 2), of data's dtype, or float32 with 16-bit data
        Normalised coordinates; the last axis is (x, y): x runs along W, y along H, y growing downwards. Origin and
        unit: see ``align_corners``.
    attributes : mapping, optional
        ``mode``, {"bilinear", "nearest", "bicubic"}; ``padding_mode``, {"zeros", "border", "reflection"};
        ``align_corners``, bool: True: -1 and 1 are the centres of the corner pixels, False: their outer edges. What is
        left out is the first of these, and False. Names may be in capitals, as in OpenVINO.
    name : str, optional
        The node's name; not used.

    Returns
    -------
    array, (N, C, H_out, W_out), of data's dtype

    Raises
    ------
    ModeError
        If a mode is not one of the choices.
    ArgumentError
        If there is another attribute (OpenVINO ignores it), or ``align_corners`` is not a bool.
    ShapeError, DTypeError
        If shapes or dtypes do not fit.
    UnsupportedError
        For volumes, which OpenVINO refuses too.

    Notes
    -----
    Equation and borders are those of :func:`gridwave.like.torch.grid_sample`, but

    - p = fma(g, S / 2, S / 2) - 1 / 2, or fma(g, (S - 1) / 2, (S - 1) / 2) with ``align_corners``, with one rounding
      for the product and the sum: half-way between two pixels, ``nearest`` may take the other one;
    - ``nearest`` rounds (half to even) and then pads: at ties with reflection another pixel than PyTorch's.

    NaN, infinite and huge coordinates: as in :func:`gridwave.grid_sample`. OpenVINO itself gives NaN for bilinear and
    bicubic, whatever the padding, and for nearest with border the last pixel instead of the first for NaN. float64 is
    computed in float64 here, in float32 there; integers, which it truncates, are not taken.

    ===============================  ================================================================
    Same as                          with
    ===============================  ================================================================
    openvino.opset9.grid_sample      the same arguments, CPU plugin, INFERENCE_PRECISION_HINT f32
    gridwave.like.onnxruntime        its ties; differs in the last bits of coordinates
    torch grid_sample                differs as said above
    ===============================  ================================================================

    References
    ----------
    OpenVINO 2026.4, docs of GridSample-9; openvinotoolkit/openvino
    src/core/reference/include/openvino/reference/grid_sample.hpp.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(16.0).reshape(1, 1, 4, 4)
    >>> g = np.array([[[[-1.0, -1.0], [0.3, -0.6]]]])
    >>> grid_sample(x, g, {"align_corners": True}).round(4)
    array([[[[0.  , 4.35]]]])
    """
    given = dict(attributes or {})
    unknown = sorted(set(given) - set(ATTRIBUTES))
    if unknown:
        raise ArgumentError(f"attributes must be among {', '.join(ATTRIBUTES)}; got {', '.join(map(repr, unknown))}.")
    corners = given.get("align_corners", GRID_SAMPLE.align_corners)
    if corners not in (False, True):
        raise ArgumentError(f"align_corners must be True or False; got {corners!r}.")
    mode = _lower(given.get("mode", GRID_SAMPLE.mode))
    padding_mode = _lower(given.get("padding_mode", GRID_SAMPLE.padding_mode))
    parse("mode", mode, SamplingMode)
    parse("padding_mode", padding_mode, PaddingMode)
    check_planar("data", data)
    check_dtypes(DTYPES, data=data, grid=grid)
    return sampling.sample(_spec(mode, padding_mode, bool(corners)), data, grid)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


@cache
def _spec(mode: Any, padding_mode: Any, align_corners: bool) -> GridSampleSpec:
    return replace(GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
