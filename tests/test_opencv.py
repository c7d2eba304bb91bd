"""like.opencv and like.opencv4 against each other's rules, and against cv2 itself where it is of that version."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gridwave import like
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ShapeError, UnsupportedError

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from replay.cases import load
from replay.registry import find
from replay_golden import replay

FOLDER = Path(__file__).parent / "golden" / "opencv4"
RNG = np.random.default_rng(11)
MODES = ("INTER_NEAREST", "INTER_LINEAR", "INTER_CUBIC", "INTER_LANCZOS4")
BORDERS = ("BORDER_CONSTANT", "BORDER_REPLICATE", "BORDER_REFLECT", "BORDER_REFLECT_101", "BORDER_WRAP",
           "BORDER_TRANSPARENT")  # fmt: skip
VALUE = (7.25, 3.0, 1.5, 2.0)
FLAVOURS: dict[str, Any] = {"5": like.opencv, "4": like.opencv4}


def live(version: str) -> tuple[Any, Any]:
    """Return cv2 of a major version without IPP, and ours."""
    cv2 = pytest.importorskip("cv2")
    if not cv2.__version__.startswith(version):
        pytest.skip(f"the numbers of OpenCV {version}")
    if hasattr(cv2, "ipp"):
        cv2.ipp.setUseIPP(False)
    cv2.setNumThreads(1)
    return cv2, FLAVOURS[version]


def noise(dtype: str, *shape: int) -> Any:
    if np.dtype(dtype).kind == "f":
        return RNG.uniform(-2, 2, shape).astype(dtype)
    return RNG.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def check(ours: Any, theirs: Any) -> None:
    if ours.dtype.kind == "f":  # float sums by other orders; and a weight of float32 for float64
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=64 * np.finfo(ours.dtype).eps)
    else:
        np.testing.assert_array_equal(ours, theirs)


# ------------------------------------------------------------------------------------------------------- cv2 itself


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_maps_are_opencv_4s(dtype: str, mode: str, border: str) -> None:
    cv2, ours = live("4")
    for channels, (height, width) in ((1, (40, 217)), (3, (33, 65)), (1, (150, 90)), (4, (3, 31))):
        image = noise(dtype, 60, 70) if channels == 1 else noise(dtype, 60, 70, channels)
        x = RNG.uniform(-20, 90, (height, width)).astype(np.float32)
        y = np.clip(RNG.normal(30, 20, (height, width)), -20, 80).astype(np.float32)
        below = noise(dtype, height, width, *image.shape[2:])
        for relative in (0, 32):
            flags = getattr(cv2, mode) | relative
            for maps in ((x, y), (np.stack([x, y], -1), None), cv2.convertMaps(x, y, cv2.CV_16SC2)):
                arguments = (image, *maps, flags)
                how = {"borderMode": getattr(cv2, border), "borderValue": VALUE}
                check(ours.remap(*arguments, dst=below.copy(), **how), cv2.remap(*arguments, dst=below.copy(), **how))


@pytest.mark.parametrize("call", ["warpAffine", "warpPerspective"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_warps_are_opencv_4s(dtype: str, mode: str, call: str) -> None:
    """Also where the result is wider than a block, and as high as no block."""
    cv2, ours = live("4")
    rows = 2 if call == "warpAffine" else 3
    for channels in (1, 3):
        image = noise(dtype, 120, 130) if channels == 1 else noise(dtype, 120, 130, channels)
        for size in ((150, 30), (99, 70), (33, 200), (300, 15), (513, 32), (40, 7)):
            for bottom in ([1e-4, -5e-4, 1], [0, 0, 1], [0, 0, 1.7]):
                matrix = np.array([[0.93, 0.21, -7.3], [-0.18, 1.04, 11.7], bottom])[:rows]
                for flags in (getattr(cv2, mode), getattr(cv2, mode) | cv2.WARP_INVERSE_MAP):
                    arguments = (image, matrix, size, None, flags, cv2.BORDER_REFLECT_101)
                    check(getattr(ours, call)(*arguments), getattr(cv2, call)(*arguments))


@pytest.mark.parametrize("version", FLAVOURS)
def test_converted_maps_are_opencv_s(version: str) -> None:
    cv2, ours = live(version)
    x, y = (RNG.uniform(-60, 60, (30, 77)).astype(np.float32) for _ in range(2))
    x[:, 3:9] = [np.nan, np.inf, -np.inf, 67108863, 67108864, -67108900]
    x[::2, 9:12] = [0.015625, 0.046875, -0.015625]  # half of 1/32
    sources = (x, y), (np.stack([x, y], -1), None), cv2.convertMaps(x, y, cv2.CV_16SC2)
    for (map1, map2), kind, near in (
        (s, k, n) for s in sources for k in ("CV_16SC2", "CV_32FC1", "CV_32FC2") for n in (False, True)
    ):
        assert getattr(ours, kind) == getattr(cv2, kind)
        if kind == "CV_32FC1" and near:
            continue  # OpenCV loses y, or the process
        theirs = cv2.convertMaps(map1, map2, getattr(cv2, kind), nninterpolation=near)
        for got, want in zip(ours.convertMaps(map1, map2, getattr(ours, kind), None, None, near), theirs, strict=True):
            assert (got is None) == (want is None)
            if want is not None:
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("version", FLAVOURS)
def test_fixed_maps_are_opencv_s(version: str) -> None:
    cv2, ours = live(version)
    image = noise("uint8", 40, 50, 3)
    whole = RNG.integers(-9, 60, (20, 90, 2)).astype(np.int16)
    whole[0, :2], fractions = [[32767, 3], [-32768, 3]], RNG.integers(0, 2**16, (20, 90)).astype(np.uint16)
    for mode in MODES:
        for border in BORDERS[:5]:
            arguments = (whole, fractions, getattr(cv2, mode), None, getattr(cv2, border))
            np.testing.assert_array_equal(ours.remap(image, *arguments), cv2.remap(image, *arguments))
    theirs = cv2.remap(image, whole, None, cv2.INTER_NEAREST)
    np.testing.assert_array_equal(ours.remap(image, whole, None, ours.INTER_NEAREST), theirs)


def test_hostile_maps_are_opencv_4s() -> None:
    cv2, ours = live("4")
    odd = [np.nan, np.inf, -np.inf, 1e10, -1e10, 3e38, 1e5, -1e5, 32767.5, 32768.9, 67108863, 67108864, -67108900, 2e9]
    x = np.array([odd + [1.0] * len(odd)], np.float32)
    y = x[:, ::-1].copy()
    matrices = [np.full((2, 3), v) for v in (np.nan, 1e300, -np.inf)]
    matrices += [np.array(m, np.float64) for m in ([[3e5, 0, -2.1e6], [0, 1, 1]], [[1, 0, 1e7], [0, 1, -3e6]])]
    for mode in MODES:
        for border in BORDERS[:5]:
            image, flags, edge = noise("uint8", 3, 4), getattr(cv2, mode), getattr(cv2, border)
            theirs = cv2.remap(image, x, y, flags, None, edge)
            np.testing.assert_array_equal(ours.remap(image, x, y, flags, None, edge), theirs)
            for m in matrices:
                theirs = cv2.warpAffine(image, m, (20, 6), None, flags | cv2.WARP_INVERSE_MAP, edge)
                got = ours.warpAffine(image, m, (20, 6), None, flags | cv2.WARP_INVERSE_MAP, edge)
                np.testing.assert_array_equal(got, theirs)


# ---------------------------------------------------------------------------------------------------- without cv2


def test_the_judge_fails_on_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level in one pixel of uint8; a step of a thousandth of a pixel of float32."""
    for dtype in ("uint8", "float32"):
        case = next(
            c for c, _, _ in load(FOLDER, "remap")
            if c["dtype"] == dtype and c["kwargs"]["interpolation"] == "INTER_CUBIC" and "error" not in c
        )  # fmt: skip
        entry = find(case)

        def run(c: Any, a: Any, entry: Any = entry) -> Any:
            dst = entry.run(c, a)["dst"]
            dst.flat[0] += 1 if dst.dtype == np.uint8 else np.float32(1e-3)
            return {"dst": dst}

        wrong = replace(entry, run=run)
        monkeypatch.setattr("replay_golden.find", lambda c, wrong=wrong: wrong)
        outcomes = {r.outcome for r in replay(FOLDER, "remap", None, []) if r.case["id"] == case["id"]}
        monkeypatch.undo()
        assert outcomes == {"wrong"}


def test_a_call_that_opencv_refuses_must_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(c for c, _, _ in load(FOLDER, "remap") if "error" in c)
    willing = replace(find(case), run=lambda c, a: {"dst": np.zeros((2, 3), np.float32)})
    monkeypatch.setattr("replay_golden.find", lambda c: willing)
    outcomes = {r.outcome for r in replay(FOLDER, "remap", None, []) if r.case["id"] == case["id"]}
    assert outcomes == {"wrong"}


@pytest.mark.parametrize("cv", FLAVOURS.values(), ids=FLAVOURS)
def test_fixed_point_is_the_float_map_rounded(cv: Any) -> None:
    image = noise("uint8", 30, 40)
    x, y = (RNG.integers(-64, 32 * 41, (9, 70)).astype(np.float32) / 32 for _ in range(2))
    whole, fractions = cv.convertMaps(x, y, cv.CV_16SC2)
    for back in (cv.convertMaps(whole, fractions, cv.CV_32FC1), (*np.moveaxis(cv.convertMaps(
            whole, fractions, cv.CV_32FC2)[0], -1, 0),)):  # fmt: skip
        np.testing.assert_array_equal(back, (x, y))
    fixed = cv.remap(image, whole, fractions, cv.INTER_LANCZOS4)
    np.testing.assert_array_equal(fixed, cv.remap(image, x, y, cv.INTER_LANCZOS4))


def test_the_flavours_differ_where_they_should() -> None:
    image, at = np.array([[0.0, 1.0, 2.0]], np.float32), np.array([[0.51]], np.float32)
    zero = np.zeros_like(at)
    assert like.opencv.remap(image, at, zero, like.opencv.INTER_LINEAR)[0, 0] == np.float32(0.51)
    assert like.opencv4.remap(image, at, zero, like.opencv4.INTER_LINEAR)[0, 0] == 0.5
    whole, fractions = np.array([[[1, 0]]], np.int16), np.array([[20]], np.uint16)
    assert like.opencv.remap(image, whole, fractions, 0, None, 1)[0, 0] == 1
    assert like.opencv4.remap(image, whole, fractions, 0, None, 1)[0, 0] == 2


@pytest.mark.parametrize("cv", FLAVOURS.values(), ids=FLAVOURS)
def test_one_pixel_answers_at_once(cv: Any) -> None:
    """OpenCV never returns for cubic and BORDER_REFLECT_101."""
    far = np.array([[-1e9, -3.5, 0, 7, 1e9, np.nan, np.inf, -np.inf]], np.float32)
    for mode in MODES:
        for border in BORDERS[1:5]:
            for shape in ((1, 1), (1, 5), (5, 1)):
                arguments = (far, far, getattr(cv, mode), None, getattr(cv, border))
                assert (cv.remap(np.full(shape, 9, np.uint8), *arguments) == 9).all()


@pytest.mark.parametrize("cv", FLAVOURS.values(), ids=FLAVOURS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_no_coordinate_reads_out_of_bounds(cv: Any, dtype: str) -> None:
    image = np.ones((4, 5), dtype)
    odd = RNG.integers(0, 2**32, (40, 70), np.uint32).view(np.float32)  # every kind of float
    matrices = np.array([[np.nan] * 9, [1e300] * 9, [-np.inf] * 9, [0.0] * 9, [1e-300] * 9, [2.0**31, 0, 5] * 3])
    for mode in MODES:
        for border in BORDERS[:5]:
            how = (None, getattr(cv, mode), getattr(cv, border))
            got = cv.remap(image, odd, odd[::-1], how[1], None, how[2])
            assert np.isfinite(got).all()
            assert got.max() <= 2
            for m in matrices.reshape(-1, 3, 3):
                assert cv.warpPerspective(image, m, (70, 4), *how).shape == (4, 70)
                assert cv.warpAffine(image, m[:2], (70, 4), *how).shape == (4, 70)


MAP, IMAGE, FIXED = np.zeros((3, 3), np.float32), np.ones((4, 5), np.float32), np.zeros((3, 3, 2), np.int16)
BAD: dict[str, tuple[Any, type[GridwaveError], str]] = {
    "flag": (lambda cv: cv.remap(IMAGE, MAP, MAP, 6), UnsupportedError, "interpolation must be INTER_NEAREST.*got 6"),
    "flag word": (lambda cv: cv.remap(IMAGE, MAP, MAP, "linear"), ArgumentError, "interpolation must be .*'linear'"),
    "border": (lambda cv: cv.remap(IMAGE, MAP, MAP, 1, None, 9), ArgumentError, "borderMode must be .*got 9"),
    "value": (lambda cv: cv.remap(IMAGE, MAP, MAP, 1, None, 0, "red"), ArgumentError, "borderValue must be .*'red'"),
    "values": (lambda cv: cv.remap(IMAGE, MAP, MAP, 1, None, 0, range(5)), ArgumentError, "borderValue .*got 5"),
    "map dtype": (lambda cv: cv.remap(IMAGE, MAP.astype("f8"), MAP, 1), DTypeError, "map1 and map2 .*got float64"),
    "map shape": (lambda cv: cv.remap(IMAGE, MAP, MAP[:2], 1), ShapeError, r"one shape .*\(3, 3\) and \(2, 3\)"),
    "map2 missing": (lambda cv: cv.remap(IMAGE, MAP, None, 1), ShapeError, "one shape .*None"),
    "fixed plane": (lambda cv: cv.remap(IMAGE, FIXED[..., 0], None, 0), ShapeError, r"int16 map1 .*\(3, 3\)"),
    "fixed alone": (lambda cv: cv.remap(IMAGE, FIXED, None, 1), UnsupportedError, "no fractions: INTER_NEAREST only"),
    "fixed float": (lambda cv: cv.remap(IMAGE, FIXED, MAP, 1), DTypeError, "map2 must be uint16 .*got float32"),
    "fixed shape": (lambda cv: cv.remap(IMAGE, FIXED, np.zeros((2, 3), "u2"), 1), DTypeError, r"map2 .*\(2, 3\)"),
    "image dtype": (lambda cv: cv.remap(IMAGE.astype("i4"), MAP, MAP, 1), DTypeError, "image .*int32"),
    "image rank": (lambda cv: cv.remap(IMAGE[0], MAP, MAP, 1), GridwaveError, "image|src|out"),
    "empty": (lambda cv: cv.remap(IMAGE[:0], MAP, MAP, 1), ShapeError, "image must .*at least 1"),
    "wide": (
        lambda cv: cv.remap(np.zeros((1, 32767), "u1"), MAP, MAP, 1),
        UnsupportedError,
        "src must be at most 32766",
    ),
    "channels": (lambda cv: cv.remap(np.ones((4, 4, 5), "f4"), MAP, MAP, 2), UnsupportedError, "at most 4 channels"),
    "M affine": (lambda cv: cv.warpAffine(IMAGE, np.eye(3), (3, 3)), ShapeError, r"M must have shape \(2, 3\)"),
    "M perspective": (lambda cv: cv.warpPerspective(IMAGE, np.eye(2, 3), (3, 3)), ShapeError, r"M .*\(3, 3\)"),
    "M words": (lambda cv: cv.warpAffine(IMAGE, [["a"] * 3] * 2, (3, 3)), GridwaveError, "M must hold numbers|M"),
    "dsize": (lambda cv: cv.warpAffine(IMAGE, np.eye(2, 3), 3), ArgumentError, "dsize must be .*got 3"),
    "dsize least": (lambda cv: cv.warpAffine(IMAGE, np.eye(2, 3), (-1, 3)), ArgumentError, "dsize must be"),
    "dsize most": (lambda cv: cv.warpAffine(IMAGE, np.eye(2, 3), (2**40, 3)), ArgumentError, "dsize must be"),
    "dst": (lambda cv: cv.remap(IMAGE, MAP, MAP, 1, np.zeros((2, 3), "f4")), ShapeError, "out must have"),
    "kind": (lambda cv: cv.convertMaps(MAP, MAP, 99), ArgumentError, "dstmap1type must be .*got 99"),
    "kind alone": (lambda cv: cv.convertMaps(FIXED, None, cv.CV_32FC1), ArgumentError, "map2 must be given"),
    "dstmap": (lambda cv: cv.convertMaps(MAP, MAP, cv.CV_16SC2, [1]), DTypeError, "dstmap1 must be"),
}


@pytest.mark.parametrize("cv", FLAVOURS.values(), ids=FLAVOURS)
@pytest.mark.parametrize("name", BAD)
def test_errors_name_the_argument(name: str, cv: Any) -> None:
    call, error, message = BAD[name]
    with pytest.raises(error, match=message):
        call(cv)


@pytest.mark.parametrize("cv", FLAVOURS.values(), ids=FLAVOURS)
def test_maps_are_written_where_they_fit(cv: Any) -> None:
    whole, fractions = np.empty((3, 3, 2), np.int16), np.empty((3, 3), np.uint16)
    got = cv.convertMaps(MAP, MAP, cv.CV_16SC2, whole, fractions)
    assert got[0] is whole
    assert got[1] is fractions
    assert cv.convertMaps(MAP, MAP, cv.CV_16SC2, np.empty((1, 1), np.int16))[0].shape == (3, 3, 2)
