"""like.tensorflow against the twin and the recorded outputs; its gradient; and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave import like, reference, sampling
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ModeError, ShapeError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import replay_golden  # noqa: E402
from replay.cases import load  # noqa: E402
from replay.judge import judge  # noqa: E402
from replay.registry import find  # noqa: E402

RNG = np.random.default_rng(11)
INTERPOLATIONS = ("NEAREST", "BILINEAR")
FILL_MODES = ("REFLECT", "WRAP", "CONSTANT", "NEAREST")
V3, BACKWARD = like.tensorflow.ImageProjectiveTransformV3, like.tensorflow.ImageProjectiveTransformV3_backward


def maps(n: int, far: float = 4) -> Any:
    spread = np.array([1, 1, far, 1, 1, far, 0.05, 0.05]) * 0.5
    return (np.array([1, 0, 0, 0, 1, 0, 0, 0]) + RNG.uniform(-1, 1, (n, 8)) * spread).astype(np.float32)


def pictures(dtype: Any, *shape: int) -> Any:
    if np.dtype(dtype).kind in "iu":
        return RNG.integers(0, 256, shape).astype(dtype)
    return RNG.uniform(-2, 2, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float16", "float32", "float64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("fill_mode", FILL_MODES)
def test_equals_the_twin(dtype: Any, interpolation: str, fill_mode: str) -> None:
    for shape, n in (((3, 8, 9, 2), 3), ((2, 1, 5, 1), 1), ((2, 6, 1, 3), 2)):
        images, transforms = pictures(dtype, *shape), maps(n, 40)
        got = V3(images, transforms, (7, 11), 2.5, interpolation, fill_mode)
        assert got.dtype == images.dtype
        fill = 2 if images.dtype.kind in "iu" else 2.5
        names = (interpolation.lower(), fill_mode.lower(), fill)
        want = reference.projective_transform(images, transforms, (7, 11), *names)
        eps = 2.0**-7 if images.dtype == ml_dtypes.bfloat16 else 2.0**-10 if dtype == "float16" else 2.0**-21
        gap = np.abs(got.astype(np.float64) - (np.trunc(want) if images.dtype.kind in "iu" else want))
        if images.dtype.kind in "iu":  # an exact integer may come out just below itself in float32
            near = np.abs(want - np.round(want)) < 1e-3
            assert (gap <= near).all()
            assert interpolation == "BILINEAR" or not gap.any()
        else:
            assert (gap <= 4 * eps * 3).all()


def test_one_transform_for_all_is_that_transform_for_each() -> None:
    images, one = pictures("float32", 4, 6, 7, 3), maps(1)
    want = V3(images, np.repeat(one, 4, axis=0), (5, 5), 0.0, "BILINEAR")
    np.testing.assert_array_equal(V3(images, one, (5, 5), 0.0, "BILINEAR"), want)
    np.testing.assert_array_equal(like.tensorflow.ImageProjectiveTransformV2(images, one, (5, 5), "BILINEAR"), want)
    np.testing.assert_array_equal(V3(images, one.tolist(), (5, 5), 0.0, "BILINEAR"), want)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
def test_strides_and_threads_do_not_show(dtype: str) -> None:
    images, transforms = pictures(dtype, 2, 120, 130, 5), maps(2)
    want = V3(images, transforms, (200, 190), 0.0, "BILINEAR", "WRAP")
    other = np.asfortranarray(images)[:, ::-1][:, ::-1]
    other.flags.writeable = False
    with gw.threads(1):
        np.testing.assert_array_equal(V3(other, transforms, (200, 190), 0.0, "BILINEAR", "WRAP"), want)
    torch = pytest.importorskip("torch")
    given = torch.from_numpy(images), torch.from_numpy(transforms)
    assert torch.equal(V3(*given, (200, 190), 0.0, "BILINEAR", "WRAP"), torch.from_numpy(want))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e38, -1e38, 2.0**31, 2.0**63, -(2.0**63), 1e-45])
def test_far_positions(value: float) -> None:
    for dtype in ("uint8", "int32", "int64", "float16", "float32", "float64"):
        images = np.ones((1, 3, 4, 1), dtype)
        for at in range(8):
            t = np.array([[1, 0, 0, 0, 1, 0, 0, 0]], np.float32)
            t[0, at] = value
            for interpolation in INTERPOLATIONS:
                for fill_mode in FILL_MODES:
                    y = V3(images, t, (3, 4), 1.0, interpolation, fill_mode)
                    near = np.isfinite(value) and (fill_mode != "CONSTANT" or interpolation == "NEAREST")
                    assert (y == 1).all() if near else y.shape == (1, 3, 4, 1)


def test_nan_and_a_denominator_of_zero_are_filled() -> None:
    images = np.ones((1, 3, 4, 1), np.float32)
    for fill_mode in FILL_MODES:
        nan = V3(images, [[np.nan, 0, 0, 0, 1, 0, 0, 0]], (3, 4), 7.0, "BILINEAR", fill_mode)
        zero = V3(images, [[1, 0, 0, 0, 1, 0, -1, 0]], (3, 4), 7.0, "BILINEAR", fill_mode)
        assert (nan == 7).all()
        assert (zero[0, :, 1] == 7).all()


def test_fill_values_are_cast_as_in_c() -> None:
    away = [[1, 0, 100, 0, 1, 0, 0, 0]]
    for dtype, value, want in (("uint8", 2.9, 2), ("uint8", 300.0, 44), ("int32", -2.9, -2), ("int32", 1e20, -(2**31))):
        assert V3(np.zeros((1, 2, 2, 1), dtype), away, (1, 1), value, "NEAREST").item() == want


def test_the_gradient_is_the_inverse_map() -> None:
    grad, images = pictures("float32", 2, 5, 6, 3), np.zeros((2, 7, 8, 3), np.float32)
    shifts = np.array([[1, 0, 1, 0, 1, -2, 0, 0], [2, 0, 0, 0, 2, 0, 0, 0]], np.float32)
    got = BACKWARD(grad, images, shifts, "BILINEAR", "REFLECT")
    inverse = [[1, 0, -1, 0, 1, 2, 0, 0], [0.5, 0, 0, 0, 0.5, 0, 0, 0]]
    np.testing.assert_array_equal(got, V3(grad, inverse, (7, 8), 0.0, "BILINEAR", "REFLECT"))
    one = BACKWARD(grad[:1], images[:1], shifts[0], "BILINEAR", "REFLECT")
    np.testing.assert_array_equal(one, got[:1])
    projective = maps(2)
    matrix = np.linalg.inv(np.c_[projective, np.ones(2)].reshape(2, 3, 3).astype(np.float64)).reshape(2, 9)
    want = V3(grad, (matrix[:, :8] / matrix[:, 8:]).astype(np.float32), (7, 8), 0.0, "BILINEAR", "NEAREST")
    np.testing.assert_allclose(BACKWARD(grad, images, projective, "BILINEAR", "NEAREST"), want, atol=1e-3)


IMAGES, MAPS = np.zeros((2, 5, 6, 3), np.float32), np.zeros((2, 8), np.float32)


@pytest.mark.parametrize(
    ("error", "change", "words"),
    [
        (ShapeError, {"images": IMAGES[0]}, r"images must have shape \(N, H, W, C\); got \(5, 6, 3\)"),
        (ShapeError, {"images": IMAGES[:, :0]}, "images must have a height and width of at least 1"),
        (DTypeError, {"images": IMAGES.astype(np.int8)}, "images must have dtype uint8, int32, int64"),
        (DTypeError, {"images": None}, "images must be an array"),
        (ShapeError, {"transforms": MAPS[0]}, r"transforms must have shape \(N, 8\) or \(1, 8\)"),
        (ShapeError, {"transforms": np.zeros((3, 8), np.float32)}, r"transforms must have shape \(N, 8\) or \(1, 8\)"),
        (ShapeError, {"transforms": np.zeros((2, 9), np.float32)}, r"transforms must have shape \(N, 8\) or \(1, 8\)"),
        (DTypeError, {"transforms": MAPS.astype(np.float64)}, "transforms must be float32; got float64"),
        (DTypeError, {"transforms": [["a"] * 8]}, "transforms must be numbers"),
        (ShapeError, {"output_shape": (0, 4)}, "output_shape must have a height and width from 1"),
        (ShapeError, {"output_shape": (2**31, 4)}, "output_shape must have a height and width from 1"),
        (ShapeError, {"output_shape": (2**30, 2**30)}, "output_shape must describe images that memory can hold"),
        (ArgumentError, {"output_shape": (4,)}, "output_shape must be two integers"),
        (ArgumentError, {"output_shape": (4.5, 4)}, "output_shape must be two integers"),
        (ArgumentError, {"fill_value": "x"}, "fill_value must be a number"),
        (ModeError, {"interpolation": "bilinear"}, "interpolation must be one of 'NEAREST', 'BILINEAR'"),
        (ModeError, {"fill_mode": "EDGE"}, "fill_mode must be one of 'REFLECT', 'WRAP', 'CONSTANT', 'NEAREST'"),
    ],
)
def test_bad_input(error: type[GridwaveError], change: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {
        "images": IMAGES, "transforms": MAPS, "output_shape": (4, 5), "fill_value": 0.0, "interpolation": "NEAREST",
    }  # fmt: skip
    with pytest.raises(error, match=words):
        V3(**{**arguments, **change})


def test_bad_input_of_the_gradient_and_the_operator() -> None:
    with pytest.raises(ArgumentError, match="transforms must have an inverse"):
        BACKWARD(IMAGES, IMAGES, MAPS, "NEAREST")
    with pytest.raises(ShapeError, match=r"transforms must have shape \(N, 8\), \(1, 8\) or \(8,\)"):
        BACKWARD(IMAGES, IMAGES, MAPS[:, :7], "NEAREST")
    with pytest.raises(ShapeError, match=r"images must have shape \(N, H, W, C\)"):
        BACKWARD(IMAGES, IMAGES[0], MAPS, "NEAREST")
    with pytest.raises(ModeError, match="interpolation must be one of 'bilinear', 'nearest'"):
        sampling.projective_transform(IMAGES, MAPS, (4, 5), "bicubic")  # type: ignore[arg-type]
    with pytest.raises(ModeError, match="fill_mode must be one of"):
        sampling.projective_transform(IMAGES, MAPS, (4, 5), fill_mode="edge")  # type: ignore[arg-type]
    empty = V3(IMAGES[:0], MAPS[:1], (4, 5), 0.0, "NEAREST")
    assert empty.shape == (0, 4, 5, 3)


def test_the_judge_rejects_another_pixel_and_a_small_error() -> None:
    entries = [e for e in load(ROOT / "tests" / "golden" / "tensorflow") if e[0]["op"] == "warp"]
    assert len(entries) == 16
    for case, inputs, outputs in entries:
        truth, ours = find(case).twin(case, inputs), replay_golden.run(case, inputs)
        assert judge(case, ours, outputs, truth).status == "reproduced"
        assert judge(case, {"y": np.roll(ours["y"], 1, axis=2)}, outputs, truth).status == "wrong", case["id"]
        if ours["y"].dtype == np.float32:
            nudged = {"y": ours["y"] + np.float32(1e-4)}
            assert judge(case, nudged, outputs, truth).status == "wrong", case["id"]
