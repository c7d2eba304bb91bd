"""remap, warpAffine, warpPerspective and convertMaps of OpenCV 4: every coordinate is a whole number of 1/32 pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridwave import like, reference
from gridwave.reference.remap import TAPS
from replay.cases import Arrays, Case
from replay.families.opencv import FLOAT32_WEIGHTS, NAMES, inverse_of
from replay.registry import Claim, Truth, claim

CV = like.opencv4
CLAIMED = ("uint8", "uint16", "float32", "float64")


def flags_of(names: str) -> int:
    """Return the sum of named flags; one that we do not have is a code that nobody has."""
    return sum(getattr(CV, name, 6) for name in names.split("|"))


def run(case: Case, arrays: Arrays) -> Arrays:
    """Call the function of like.opencv4."""
    kwargs = case["kwargs"]
    if case["op"] == "convert_maps":
        to = getattr(CV, kwargs["dstmap1type"])
        results = CV.convertMaps(arrays["map1"], arrays.get("map2"), to, nninterpolation=kwargs["nninterpolation"])
        return {f"dstmap{i + 1}": a for i, a in enumerate(results) if a is not None}
    border = {"borderValue": kwargs["borderValue"], "borderMode": getattr(CV, kwargs["borderMode"])}
    border["dst"] = arrays["dst"].copy() if "dst" in arrays else None
    if case["op"] == "remap":
        flags = flags_of(kwargs["interpolation"])
        return {"dst": CV.remap(arrays["src"], arrays["map1"], arrays.get("map2"), flags, **border)}
    call = getattr(CV, case["call"].rpartition(".")[2])
    return {"dst": call(arrays["src"], arrays["M"], tuple(kwargs["dsize"]), flags=flags_of(kwargs["flags"]), **border)}


def twin(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64 at the coordinates that OpenCV has."""
    if case["op"] == "convert_maps":
        return _converted(case, arrays)
    kwargs, src = case["kwargs"], arrays["src"]
    if src.dtype.name not in CLAIMED and "error" not in case:
        raise NotImplementedError(f"{src.dtype.name} images")
    if "error" in case:
        return {"dst": Truth(np.zeros(0), 0.0)}  # nothing that ours could be: it has to refuse too
    flags = kwargs.get("interpolation", kwargs.get("flags")).split("|")
    mode = flags[0].removeprefix("INTER_").lower()
    unit = 1 if mode == "nearest" else 32
    x, y = _map(arrays, flags, unit) if case["op"] == "remap" else _matrix(case, arrays, unit)
    border, below = NAMES[kwargs["borderMode"]], arrays.get("dst")
    keep = None
    if border == "transparent" and below is not None:  # kept unless the middle is inside; then there are taps all round
        keep = (np.floor(x) < 0) | (np.floor(x) >= src.shape[1]) | (np.floor(y) < 0) | (np.floor(y) >= src.shape[0])
        border = "replicate" if mode in ("nearest", "linear") else "reflect_101"
    value = np.resize(np.asarray(kwargs["borderValue"], np.float64), src.shape[2] if src.ndim == 3 else 1)
    value = np.rint(value) if np.issubdtype(src.dtype, np.integer) else value
    results = []
    for absolute in (False, True):
        result = reference.remap(src, x, y, mode, border, value, absolute=absolute, tabulated=True)
        if not absolute and mode in ("cubic", "lanczos4"):
            # Float32 weights do not add up to 1. With taps outside OpenCV adds weighted differences to the border's
            # value, whatever the border.
            gaps = reference.remap(src - value if src.ndim == 3 else src - value[0], x, y, mode, border, tabulated=True)
            partly = _is_partly_outside(x, src.shape[1], mode) | _is_partly_outside(y, src.shape[0], mode)
            result[partly] = (gaps + value if src.ndim == 3 else gaps + value[0])[partly]
        if keep is not None and below is not None:
            result[keep] = below[keep]
        results.append(result)
    scale = float(np.max(results[1], initial=0.0))
    if mode == "lanczos4" and src.dtype == np.float64:
        scale *= FLOAT32_WEIGHTS
    return {"dst": Truth(results[0], scale)}


def _is_partly_outside(p: Any, size: int, mode: str) -> Any:
    taps = TAPS[mode]
    first = np.floor(p) - (taps // 2 - 1)
    return (first < 0) | (first + taps > size)


def _whole(v: Any) -> Any:
    """Return the nearest whole number; the least of 32 bits for NaN and beyond."""
    v = np.asarray(v, np.float64)
    return np.rint(np.where((v >= -(2.0**31)) & (v < 2.0**31), v, -(2.0**31)))


def _held(fractions: Any, unit: int) -> Any:
    """Return coordinates whose whole pixels are held in 16 bits."""
    whole = np.floor(fractions / unit)
    return np.clip(whole, -32768, 32767) + (fractions - whole * unit) / unit


def _map(arrays: Arrays, flags: list[str], unit: int) -> tuple[Any, Any]:
    map1, map2 = arrays["map1"], arrays.get("map2")
    if map1.dtype == np.int16:
        cells = np.zeros(map1.shape[:2], np.int64) if map2 is None else map2.astype(np.int64)
        places = [map1[..., i] + (cells // shift % 32) / 32 for i, shift in enumerate((1, 32))]
        if unit == 1:
            places = [(np.floor(p + 0.5) + 32768) % 65536 - 32768 for p in places]
    else:
        pair = (map1[..., 0], map1[..., 1]) if map1.ndim == 3 else (map1, map2)
        places = [_held(_whole(p.astype(np.float64) * unit), unit) for p in pair]
    if "WARP_RELATIVE_MAP" in flags:
        places = [p + i for p, i in zip(places, np.indices(map1.shape[:2])[::-1], strict=True)]
    return places[0], places[1]


def _matrix(case: Case, arrays: Arrays, unit: int) -> tuple[Any, Any]:
    m, (width, height) = arrays["M"], case["kwargs"]["dsize"]
    m = m if "WARP_INVERSE_MAP" in case["kwargs"]["flags"] else inverse_of(m)
    y, x = np.indices((height, width)).astype(np.float64)
    if len(m) == 2:  # rounded to 1/1024, added, rounded half up
        sums = [_whole((row[1] * y + row[2]) * 1024) + _whole(row[0] * x * 1024) for row in m]
        return tuple(_held(np.floor(s * unit / 1024 + 0.5), unit) for s in sums)  # type: ignore[return-value]
    start = x - x % (1024 // min(height, 16))  # sums of a block's first column and the columns from there
    u, v, w = ((row[0] * start + row[1] * y + row[2]) + row[0] * (x - start) for row in m)
    share = np.where(w != 0, unit / np.where(w != 0, w, 1), 0)
    return tuple(_held(_whole(p * share), unit) for p in (u, v))  # type: ignore[return-value]


def _converted(case: Case, arrays: Arrays) -> dict[str, Truth]:
    to, near = case["kwargs"]["dstmap1type"], case["kwargs"]["nninterpolation"]
    map1, map2 = arrays["map1"], arrays.get("map2")
    if map1.dtype == np.int16:
        x, y = _map({"map1": map1} if near else arrays, [], 32)
    else:
        x, y = (map1[..., 0], map1[..., 1]) if map1.ndim == 3 else (map1, map2)
    if to == "CV_32FC1":
        results = [x, y]
    elif to == "CV_32FC2":
        results = [np.stack([x, y], -1)]
    else:
        unit = 1 if near and map1.dtype != np.int16 else 32
        places = [_held(_whole(p.astype(np.float64) * unit), unit) for p in (x, y)]
        fx, fy = (p % 1 * 32 for p in places)
        results = [np.floor(np.stack(places, -1)), *([] if near else [fy * 32 + fx])]
    return {
        f"dstmap{i + 1}": Truth(np.float64(r), float(np.max(np.abs(r[np.isfinite(r)])))) for i, r in enumerate(results)
    }


for _op, _call in (
    ("remap", "remap"),
    ("warp", "warpAffine"),
    ("warp", "warpPerspective"),
    ("convert_maps", "convertMaps"),
):
    claim("opencv4", _op, f"cv2.{_call}", Claim(run, twin))
