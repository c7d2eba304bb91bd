"""remap, warpAffine and warpPerspective, as OpenCV recorded them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridwave import like, reference
from replay.cases import Arrays, Case
from replay.registry import Claim, Truth, claim

CV = like.opencv
NAMES = {
    "BORDER_CONSTANT": "constant", "BORDER_REPLICATE": "replicate", "BORDER_REFLECT": "reflect",
    "BORDER_REFLECT_101": "reflect_101", "BORDER_WRAP": "wrap", "BORDER_TRANSPARENT": "transparent",
}  # fmt: skip


UNSOLVED = frozenset(f"opencv.warp.p{n:05}" for n in (481, 580, 587, 599, 601, 832, 837))
"""Not reproduced: 1 to 5 pixels of each are a level off or more."""

FLOAT32_WEIGHTS = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)
"""OpenCV's tables of lanczos4 are float32 for images of float64 too: formed in double, a weight is that much off."""


def flags_of(names: str) -> int:
    """Return the sum of named flags; one that we do not have is a code that nobody has."""
    return sum(getattr(CV, name, 6) for name in names.split("|"))


def run(case: Case, arrays: Arrays) -> Arrays:
    """Call the function of like.opencv."""
    kwargs, border = case["kwargs"], {"borderValue": case["kwargs"]["borderValue"]}
    border["borderMode"] = getattr(CV, kwargs["borderMode"])
    dst = arrays["dst"].copy() if "dst" in arrays else None
    if case["op"] == "remap":
        flags = flags_of(kwargs["interpolation"])
        return {"dst": CV.remap(arrays["src"], arrays["map1"], arrays["map2"], flags, dst=dst, **border)}
    call = getattr(CV, case["call"].rpartition(".")[2])
    return {"dst": call(arrays["src"], arrays["M"], tuple(kwargs["dsize"]), flags=flags_of(kwargs["flags"]), **border)}


def twin(case: Case, arrays: Arrays) -> dict[str, Truth]:
    """Compute the output in float64 at the coordinates that OpenCV has."""
    kwargs, src = case["kwargs"], arrays["src"]
    names = kwargs.get("interpolation", kwargs.get("flags")).split("|")
    mode = names[0].removeprefix("INTER_").lower()
    if mode == "nearest_exact":
        mode = "nearest"  # which OpenCV refuses
    if case["id"] in UNSOLVED:
        raise NotImplementedError("uint16 by a cubic perspective: the last bits of OpenCV's coordinates are not known")
    x, y = _map(case, arrays, mode) if case["op"] == "remap" else _matrix(case, arrays)
    fixed = "fixed_point" in case.get("tags", ())
    exact = mode == "cubic" or (src.dtype in (np.uint8, np.uint16, np.float32) and not fixed and mode != "lanczos4")
    if mode == "cubic":  # coordinates are held near the image
        x, y = _near(x, src.shape[1]), _near(y, src.shape[0])
    border, below = NAMES[kwargs["borderMode"]], arrays.get("dst")
    keep: NDArray[np.bool_] | None = None
    if mode != "nearest" and not exact:
        x, y = np.rint(x * 32) / 32, np.rint(y * 32) / 32
        if border == "transparent":  # OpenCV keeps the pixel unless the middle is inside; then there are taps all round
            keep = (np.floor(x) < 0) | (np.floor(x) >= src.shape[1]) | (np.floor(y) < 0) | (np.floor(y) >= src.shape[0])
            border = "replicate" if mode == "linear" else "reflect_101"
    value = np.resize(np.asarray(kwargs["borderValue"], np.float64), src.shape[2] if src.ndim == 3 else 1)
    value = np.rint(value) if np.issubdtype(src.dtype, np.integer) else value
    results = []
    for absolute in (False, True):
        result = reference.remap(src, x, y, mode, border, value, out=below, absolute=absolute, tabulated=not exact)
        if keep is not None and below is not None:
            result[keep] = below[keep]
        results.append(result)
    scale = float(np.max(results[1], initial=0.0))
    if mode == "lanczos4" and src.dtype == np.float64:
        scale *= FLOAT32_WEIGHTS
    return {"dst": Truth(results[0], scale)}


def _near(p: Any, size: int) -> Any:
    about = max(size, 16)
    return np.clip(p, -about, 2 * about)


def _map(case: Case, arrays: Arrays, mode: str) -> tuple[Any, Any]:
    map1, map2 = arrays["map1"], arrays["map2"]
    if map1.dtype == np.int16:
        fx, fy = map2 % 32, map2 // 32
        if mode == "nearest":
            return map1[..., 0] + (fx < 16), map1[..., 1] + (fy < 16)
        return map1[..., 0] + fx / 32, map1[..., 1] + fy / 32
    x, y = (map1[..., 0], map1[..., 1]) if map1.ndim == 3 else (map1, map2)
    return x.astype(np.float64), y.astype(np.float64)


def _matrix(case: Case, arrays: Arrays) -> tuple[Any, Any]:
    """Return coordinates with OpenCV's roundings: float32, by vectors of 16 columns and one by one."""
    m = arrays["M"].astype(np.float64)
    perspective = m.shape == (3, 3)
    if "WARP_INVERSE_MAP" not in case["kwargs"]["flags"]:
        m = inverse_of(m)
    m = np.vstack([m, [0, 0, 1]]) if len(m) == 2 else m
    width, height = case["kwargs"]["dsize"]
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    if "LANCZOS4" in case["kwargs"]["flags"]:  # old code: rounded to 1/32 pixel, from double
        u, v, w = (row[0] * x + row[1] * y + row[2] for row in m)
        return u / w, v / w
    single, cubic = m.astype(np.float32), "CUBIC" in case["kwargs"]["flags"]
    if cubic and not perspective:
        u, v, w = (x * r[0] + (y * r[1] + r[2]) for r in single)
    else:
        early, late = _fused(x, y, single, True), _fused(x, y, single, False)
        by_vectors = cubic | (x < width // 16 * 16)
        u, v, w = (np.where(by_vectors, b, a) for a, b in zip(early, late, strict=True))
    u, v = (u / w, v / w) if perspective else (u, v)
    return u.astype(np.float64), v.astype(np.float64)


def _fused(x: Any, y: Any, rows: Any, early: bool) -> list[Any]:
    """Return coordinates with the product by x not rounded, the constant added to the product by y or at the end."""
    if early:
        return [(x * np.float64(r[0]) + np.float64(y * r[1])).astype(np.float32) + r[2] for r in rows]
    return [(x * np.float64(r[0]) + np.float64(y * r[1] + r[2])).astype(np.float32) for r in rows]


def inverse_of(m: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the inverse of a (2, 3) or (3, 3) matrix in OpenCV's order of operations."""
    if len(m) == 3:
        adjugate = np.stack([np.cross(m[1], m[2]), np.cross(m[2], m[0]), np.cross(m[0], m[1])], axis=1)
        first, second, third = m[0] * adjugate[:, 0]
        return adjugate * (1 / (first + second + third))
    (a, b, c), (d, e, f) = m
    scale = 1 / (a * e - b * d)
    a, b, d, e = e * scale, b * -scale, d * -scale, a * scale
    return np.array([[a, b, -a * c - b * f], [d, e, -d * c - e * f]])


for _op, _call in (("remap", "cv2.remap"), ("warp", "cv2.warpAffine"), ("warp", "cv2.warpPerspective")):
    claim("opencv", _op, _call, Claim(run, twin))
