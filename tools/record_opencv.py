"""Record what an OpenCV answers to remap, warpAffine, warpPerspective and convertMaps.

    python tools/record_opencv.py FOLDER

Run it with the OpenCV to record (``pip install "opencv-python-headless<5"``); nothing of gridwave is needed. Writes
``cases.jsonl`` and an ``.npz`` in the format of ``tests/golden``, peer ``opencv4``; ``tools/copy_golden.py`` then takes
what gridwave answers. One thread, fixed seeds: two runs of one wheel on one processor give the same bytes.

Where the wheel hands a call to Intel's IPP and that changes the result, the result without IPP is recorded and the case
has the tag ``without_ipp``. One-pixel axes by cubic with BORDER_REFLECT_101 are left out: OpenCV does not return.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import itertools
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np

MODES = ("INTER_NEAREST", "INTER_LINEAR", "INTER_CUBIC", "INTER_LANCZOS4")
BORDERS = ("BORDER_CONSTANT", "BORDER_REPLICATE", "BORDER_REFLECT", "BORDER_REFLECT_101", "BORDER_WRAP",
           "BORDER_TRANSPARENT")  # fmt: skip
DTYPES = ("uint8", "uint16", "int16", "float32", "float64")
VALUE = [7.25, 3.0, 1.5, 2.0]
SIZES = (((9, 12), (7, 10)), ((5, 6), (11, 18)), ((1, 7), (4, 5)), ((14, 30), (18, 70)), ((20, 24), (5, 133)))
"""(H, W) of the image and of the result; the last two are wider than OpenCV's blocks and vectors."""
MATRICES = {
    "warpAffine": (
        [[1, 0, 1.25], [0, 1, -0.5]], [[0.8, 0.3, 1.1], [-0.25, 1.2, 0.4]], [[-1, 0, 8.0], [0, 1, 0]],
        [[2, 0, 0.5], [0, 0.5, 0.5]], [[0.21, 0.07, -1.3], [0.08, 1.04, 1.7]],
    ),
    "warpPerspective": (
        [[1.1, 0.1, -0.5], [0.05, 0.9, 0.6], [0.01, -0.02, 1]], [[0.7, -0.3, 3], [0.3, 0.8, -1], [0.002, 0.03, 1]],
        [[1, 0.2, 0], [0, 1, 0], [0.15, 0, 1]], [[0.93, 0.21, -0.3], [-0.08, 1.04, 1.7], [0, 0, 1]],
        [[0.3, 0.1, 0.3], [0.1, 0.3, 0.4], [0, 0, 2.1]],
    ),
}  # fmt: skip
KEPT = 0.25
"""Share of all combinations that is recorded, chosen by a hash of the case."""


class Recorder:
    """Cases and arrays, each array stored once."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.peer = f"opencv{cv2.__version__.partition('.')[0]}"
        self.folder, self.file = folder, f"{self.peer}_0.npz"
        self.zip = zipfile.ZipFile(folder / self.file, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.keys: dict[bytes, str] = {}
        self.lines: list[str] = []
        self.counts: dict[str, int] = {}

    def key(self, array: Any) -> str:
        """Store an array and return its name."""
        array = np.ascontiguousarray(array)
        digest = hashlib.sha1(repr((array.dtype.str, array.shape)).encode() + array.tobytes()).digest()
        if digest not in self.keys:
            self.keys[digest] = f"{self.peer}0_{len(self.keys)}"
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            entry = zipfile.ZipInfo(self.keys[digest] + ".npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            self.zip.writestr(entry, buffer.getvalue())
        return self.keys[digest]

    def case(
        self, op: str, call: str, kwargs: dict[str, Any], inputs: dict[str, Any], run: Callable[[], Any], *tags: str
    ) -> None:
        """Run a call and record it, or what OpenCV said when it refused."""
        number = self.counts[op] = self.counts.get(op, -1) + 1
        case: dict[str, Any] = {
            "id": f"{self.peer}.{op}.r{number:05}", "op": op, "peer": self.peer, "version": cv2.__version__,
            "call": f"cv2.{call}", "kwargs": kwargs, "npz": self.file,
            "inputs": {name: self.key(array) for name, array in inputs.items()},
            "dtype": "int16" if "CV_16SC2" in kwargs.values() else next(iter(inputs.values())).dtype.name,
            "tags": list(tags),
        }  # fmt: skip
        try:
            outputs, ipp = without_ipp(run)
            case["outputs"] = {name: self.key(array) for name, array in outputs.items()}
            case["tags"] += ["without_ipp"] if ipp else []
        except cv2.error as error:
            case["error"] = " ".join(re.sub(r"\S*/\S+", "", str(error)).split())[:240]
        self.lines.append(json.dumps(case, separators=(",", ":")))

    def close(self) -> None:
        """Write the lines."""
        self.zip.close()
        (self.folder / "cases.jsonl").write_text("".join(line + "\n" for line in self.lines))


def without_ipp(run: Callable[[], Any]) -> tuple[dict[str, Any], bool]:
    """Return the result without IPP, and whether it differs from that with it."""
    with_it = run()
    if not hasattr(cv2, "ipp") or not cv2.ipp.useIPP():
        return with_it, False
    cv2.ipp.setUseIPP(False)
    try:
        result = run()
    finally:
        cv2.ipp.setUseIPP(True)
    return result, any(result[name].tobytes() != with_it[name].tobytes() for name in result)


def generator(*seed: Any) -> np.random.Generator:
    """Return a generator of its own for each case."""
    return np.random.default_rng(list(hashlib.sha1(repr(seed).encode()).digest()[:8]))


def image_of(size: tuple[int, int], channels: int, dtype: str) -> Any:
    """Return noise."""
    shape, random = size if channels == 1 else (*size, channels), generator("image", size, channels, dtype)
    if dtype.startswith("float"):
        return random.uniform(-2, 2, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def maps_of(size: tuple[int, int], out: tuple[int, int]) -> Iterator[tuple[str, Any, Any]]:
    """Yield maps by name."""
    (h, w), random = size, generator("maps", size, out)
    y, x = np.meshgrid(np.linspace(0.2, h - 1.3, out[0]), np.linspace(-0.4, w - 0.7, out[1]), indexing="ij")
    yield "smooth", np.float32(x + 0.3 * np.sin(y)), np.float32(y + 0.2 * np.cos(x))
    yield "random", *(np.float32(random.uniform(-0.6 * n, 1.6 * n, out)) for n in (w, h))
    yield "ties", *(np.float32(random.integers(-128, 64 * n + 64, out) / 64) for n in (w, h))
    yield "far", *(np.float32(random.uniform(-1e5, 1e5, out)) for _ in range(2))


def record_maps(recorder: Recorder) -> None:
    """Record remap: float maps in two planes and in pairs, fixed-point maps, their whole parts alone."""
    for mode, border, dtype, channels, (size, out) in itertools.product(MODES, BORDERS, DTYPES, (1, 3, 4), SIZES):
        if 1 in size and mode != "INTER_NEAREST" and border == "BORDER_REFLECT_101":
            continue
        for kind, x, y in maps_of(size, out):
            random = generator("remap", mode, border, dtype, channels, size, kind).random()
            if random > KEPT * (0.35 if dtype in ("uint8", "uint16", "int16") else 0.2):
                continue
            pairs = np.stack([x, y], -1)
            whole, fractions = cv2.convertMaps(x, y, cv2.CV_16SC2)
            forms: list[tuple[str, Any, Any]] = [("float", x, y)]
            if random < KEPT * 0.1:
                forms += [("pairs", pairs, None), ("fixed_point", whole, fractions)]
                forms += [("whole", cv2.convertMaps(x, y, cv2.CV_16SC2, nninterpolation=True)[0], None)]
            for form, map1, map2 in forms:
                if form == "whole" and mode != "INTER_NEAREST":
                    continue
                relative = "|WARP_RELATIVE_MAP" if kind == "ties" and random < KEPT * 0.05 else ""
                add_map(recorder, image_of(size, channels, dtype), map1, map2, mode + relative, border, (kind, form))


def add_map(
    recorder: Recorder, image: Any, map1: Any, map2: Any, flags: str, border: str, tags: tuple[str, ...]
) -> None:
    """Record a call of remap."""
    inputs = {"src": image, "map1": map1} | ({} if map2 is None else {"map2": map2})
    below = None
    if border == "BORDER_TRANSPARENT":
        below = inputs["dst"] = np.full((*map1.shape[:2], *image.shape[2:]), 42, image.dtype)

    def run() -> Any:
        dst = None if below is None else below.copy()
        return {"dst": cv2.remap(image, map1, map2, flag(flags), dst, getattr(cv2, border), VALUE)}

    kwargs = {"interpolation": flags, "borderMode": border, "borderValue": VALUE}
    recorder.case("remap", "remap", kwargs, inputs, run, *tags)


def record_warps(recorder: Recorder) -> None:
    """Record warpAffine and warpPerspective, by the matrix and by its inverse."""
    for name, matrices in MATRICES.items():
        for index, mode, inverse, border, dtype, channels, (size, out) in itertools.product(
            range(len(matrices)), MODES, (False, True), BORDERS, DTYPES, (1, 3, 4), SIZES
        ):
            share = KEPT * (0.06 if dtype in ("uint8", "uint16", "int16") else 0.03)
            if 1 in size or generator(name, index, mode, inverse, border, dtype, channels, size).random() > share:
                continue
            flags = mode + ("|WARP_INVERSE_MAP" if inverse else "")
            add_warp(recorder, name, image_of(size, channels, dtype), np.float64(matrices[index]), out, flags, border)


def add_warp(recorder: Recorder, name: str, image: Any, M: Any, out: Any, flags: str, border: str) -> None:
    """Record a call of a warp."""
    inputs, below = {"src": image, "M": M}, None
    if border == "BORDER_TRANSPARENT":
        below = inputs["dst"] = np.full((*out, *image.shape[2:]), 42, image.dtype)

    def run() -> Any:
        dst = None if below is None else below.copy()
        return {"dst": getattr(cv2, name)(image, M, out[::-1], dst, flag(flags), getattr(cv2, border), VALUE)}

    kwargs = {"dsize": [*out[::-1]], "flags": flags, "borderMode": border, "borderValue": VALUE}
    recorder.case("warp", name, kwargs, inputs, run)


def record_conversions(recorder: Recorder) -> None:
    """Record convertMaps between all kinds of maps."""
    for kind, x, y in maps_of((9, 12), (6, 21)):
        x, y = x.copy(), y.copy()
        x[0, :9] = [np.nan, np.inf, -np.inf, 1e10, -1e10, 32767.99, 67108864, -67108900, 2.0**31]
        whole, fractions = cv2.convertMaps(x, y, cv2.CV_16SC2)
        sources = (("planes", x, y), ("pairs", np.stack([x, y], -1), None), ("fixed_point", whole, fractions))
        for (form, map1, map2), to, near in itertools.product(
            sources, ("CV_16SC2", "CV_32FC1", "CV_32FC2"), (False, True)
        ):
            if to == "CV_32FC1" and near:
                continue  # it loses y, or the process
            inputs = {"map1": map1} | ({} if map2 is None else {"map2": map2})

            def run(map1: Any = map1, map2: Any = map2, to: str = to, near: bool = near) -> Any:
                results = cv2.convertMaps(map1, map2, getattr(cv2, to), nninterpolation=near)
                return {f"dstmap{i + 1}": a for i, a in enumerate(results) if a is not None}

            kwargs = {"dstmap1type": to, "nninterpolation": near}
            recorder.case("convert_maps", "convertMaps", kwargs, inputs, run, kind, form)


def record_refusals(recorder: Recorder) -> None:
    """Record what OpenCV refuses."""
    image, x = image_of((5, 6), 1, "float32"), np.full((2, 3), 1.25, np.float32)
    five, wide = image_of((5, 6), 5, "float32"), np.zeros((1, 32767), np.uint8)
    whole, constant = np.zeros((2, 3, 2), np.int16), "BORDER_CONSTANT"
    for arguments in (
        (image, x, x, "INTER_LINEAR_EXACT"), (image, x, x, "INTER_NEAREST_EXACT"), (five, x, x, "INTER_CUBIC"),
        (five, x, x, "INTER_LANCZOS4"), (image.astype(np.float16), x, x, "INTER_LINEAR"),
        (image, x.astype(np.float64), x.astype(np.float64), "INTER_LINEAR"), (image, x, x[:1], "INTER_LINEAR"),
        (image, x, None, "INTER_LINEAR"), (image, whole, x, "INTER_LINEAR"), (image[:0], x, x, "INTER_LINEAR"),
        (image, whole[..., 0], whole[..., 1], "INTER_NEAREST"), (wide, x, x, "INTER_NEAREST"),
        (wide, x, x, "INTER_LINEAR"), (image, whole, np.zeros((1, 3), np.uint16), "INTER_CUBIC"),
    ):  # fmt: skip
        add_map(recorder, *arguments, constant, ("refusal",))
    square, half = np.eye(3), np.eye(2, 3)
    for name, source, M, out, flags in (
        ("warpAffine", image, square, (3, 3), "INTER_LINEAR"), ("warpPerspective", image, half, (3, 3), "INTER_LINEAR"),
        ("warpAffine", five, half, (3, 3), "INTER_CUBIC"), ("warpPerspective", five, square, (3, 3), "INTER_LANCZOS4"),
        ("warpAffine", wide, half, (3, 3), "INTER_LINEAR"), ("warpAffine", image, half, (3, 3), "INTER_NEAREST_EXACT"),
    ):  # fmt: skip
        add_warp(recorder, name, source, M, out, flags, constant)


def flag(names: str) -> int:
    """Return the sum of named flags."""
    return sum(getattr(cv2, name) for name in names.split("|"))


def main() -> None:
    """Record everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="folder to write")
    recorder = Recorder(parser.parse_args().folder)
    cv2.setNumThreads(1)
    for record in (record_maps, record_warps, record_conversions, record_refusals):
        record(recorder)
    recorder.close()
    print(f"{recorder.peer} {cv2.__version__}: {recorder.counts}")


if __name__ == "__main__":
    main()
