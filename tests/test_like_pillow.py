"""like.pillow against Pillow itself where it is installed, and against the twin; and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gridwave as gw
from gridwave import like, reference, sampling
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ModeError, ShapeError, UnsupportedError
from gridwave.like.pillow import MODES, transform

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import replay_golden  # noqa: E402
from replay.cases import load  # noqa: E402
from replay.judge import judge  # noqa: E402
from replay.registry import find  # noqa: E402

RNG = np.random.default_rng(7)
FILTERS = {"NEAREST": 0, "BILINEAR": 2, "BICUBIC": 3}


def picture(mode: str, height: int, width: int) -> Any:
    dtype, bands = MODES[mode]
    shape = (height, width) if bands == 1 else (height, width, bands)
    if dtype == "float32":
        return (RNG.standard_normal(shape) * 100).astype(np.float32)
    if dtype == "int32":
        return RNG.integers(-(2**31), 2**31, shape).astype(np.int32)
    if dtype == "bool":
        return RNG.random(shape) > 0.5
    return RNG.integers(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def to_pillow(image: Any, mode: str) -> Any:
    from PIL import Image

    if mode == "1":
        return Image.fromarray(image.astype(np.uint8) * 255, "L").convert("1")
    return Image.frombytes(mode, (image.shape[1], image.shape[0]), image.tobytes())


def random_data(method: str, w: int, h: int, out_w: int, out_h: int) -> Any:
    def corners() -> list[float]:
        return (np.array([0, 0, 0, h, w, h, w, 0]) + RNG.uniform(-3, 3, 8)).tolist()

    if method == "AFFINE":
        return [
            [*RNG.uniform(-1.5, 1.5, 2), RNG.uniform(-3, w), *RNG.uniform(-1.5, 1.5, 2), RNG.uniform(-3, h)],
            [RNG.uniform(-2, 2), 0, RNG.uniform(-3, w), 0, RNG.uniform(-2, 2), RNG.uniform(-3, h)],
            [1, 0, int(RNG.integers(-3, 3)) / 2, 0, 1, int(RNG.integers(-3, 3)) / 2],
            [1.0, 0.25, -0.5, -0.25, 1.0, 40000.0] if out_w % 2 else [9000.0, 0.5, -9000.0, 1.0, 0.5, 0.0],
        ][RNG.integers(4)]
    if method == "PERSPECTIVE":
        affine = np.array([1, 0, 0, 0, 1, 0, 0, 0]) + RNG.uniform(-1, 1, 8) * [0.5, 0.5, 3, 0.5, 0.5, 3, 0.05, 0.05]
        return affine.tolist()
    if method == "EXTENT":
        return [*RNG.uniform(-3, 3, 2), RNG.uniform(1, w + 3), RNG.uniform(1, h + 3)]
    if method == "QUAD":
        return corners()
    boxes = [(0, 0, out_w // 2 + 1, out_h), (out_w // 2, -2, out_w + 2, out_h // 2 + 1), (2, 1, 2 + out_w, out_h + 1)]
    return [(box, corners()) for box in boxes]


COLORS = {
    1: (None, 7, 200, (3,), 300, -5), 2: (None, 7, (9, 100), (0x01020304,)),
    3: (None, 0x010203, (9, 100, 300)), 4: (None, -2, (9, 100, 300), (50, 40, 30, 20), (10, 10, 10, 0)),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", like.pillow.METHODS)
@pytest.mark.parametrize("resample", FILTERS)
def test_equals_pillow(mode: str, method: str, resample: str) -> None:
    image_module = pytest.importorskip("PIL.Image")
    for _ in range(12):
        h, w, out_h, out_w = (int(v) for v in RNG.integers(1, 12, 4))
        image, data = picture(mode, h, w), random_data(method, w, h, out_w, out_h)
        colors = COLORS[MODES[mode].bands]
        color = colors[RNG.integers(len(colors))]
        kind, filter_code = getattr(image_module.Transform, method), FILTERS[resample]
        want = np.asarray(to_pillow(image, mode).transform((out_w, out_h), kind, data, filter_code, fillcolor=color))
        got = transform(image, (out_w, out_h), kind, data, filter_code, fillcolor=color, mode=mode)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want, err_msg=f"{(h, w, out_h, out_w)} {data} {color}")


def test_long_rows_add_up_as_pillow_does() -> None:
    image_module = pytest.importorskip("PIL.Image")
    image = picture("L", 40, 3000)
    for data in ([0.1, 0, 0.05, 0, 0.1, 0], [0.7, 1e-9, 0, 0.013, 0.1, 0], [0.7, 1e-9, 0, 1e-9, 0.1, 33000.0]):
        want = np.asarray(to_pillow(image, "L").transform((4000, 50), image_module.Transform.AFFINE, data))
        np.testing.assert_array_equal(transform(image, (4000, 50), "AFFINE", data), want)


@pytest.mark.parametrize("filter_name", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("method", ["affine", "perspective", "quad"])
def test_equals_the_twin(method: Any, filter_name: Any) -> None:
    image = picture("F", 9, 11)[:, :, None]
    a = [0.8, 0.3, 0.51, -0.2, 0.9, 1.01, 0.01, -0.02] if method != "quad" else [0.3, 0.9, 0.2, 0.01, 1, -0.1, 0.8, 0]
    a = a[:6] if method == "affine" else a
    out = np.full((8, 10, 1), 5, np.float32)
    got = sampling.transform_pillow(image, out, method, a, filter_name)
    want = reference.transform_pillow(image, method, a, (10, 8), filter_name, 5)
    size = reference.transform_pillow(np.abs(image), method, a, (10, 8), filter_name, 5, absolute=True)
    # Pillow takes differences of neighbours in float32.
    assert (np.abs(got - want) <= 16 * np.finfo(np.float32).eps * size.max()).all()


def test_strides_threads_and_boxes_do_not_show() -> None:
    image, data = picture("RGB", 301, 211), [0.9, 0.2, -5, -0.1, 1.1, 8.0]
    want = transform(image, (400, 300), "AFFINE", data, "BICUBIC")
    mirrored = np.asfortranarray(image)[:, ::-1][:, ::-1]
    np.testing.assert_array_equal(transform(mirrored, (400, 300), "AFFINE", data, "BICUBIC"), want)
    with gw.threads(1):
        np.testing.assert_array_equal(transform(image, (400, 300), "AFFINE", data, "BICUBIC"), want)
    frozen = image.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(transform(frozen, (400, 300), "AFFINE", data, "BICUBIC"), want)
    torch = pytest.importorskip("torch")
    assert torch.equal(
        transform(torch.from_numpy(image), (400, 300), "AFFINE", data, "BICUBIC"), torch.from_numpy(want)
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**31, 2.0**63, 1e-320])
@pytest.mark.parametrize("resample", FILTERS)
def test_far_positions_are_outside(value: float, resample: str) -> None:
    for mode in ("L", "RGBA", "I", "F", "I;16"):
        image = picture(mode, 5, 6)
        for at in range(8):
            a = [1.0, 0.1, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
            a[at] = value
            for method in ("AFFINE", "PERSPECTIVE", "EXTENT", "QUAD"):
                data = a[:4] if method == "EXTENT" else a
                transform(image, (7, 4), method, data, resample)
    assert not transform(np.ones((5, 6), np.uint8), (7, 4), "AFFINE", [value, 0.1, value, 0, 1, 9], resample)[0, 0]


def test_empty_images_and_results() -> None:
    assert (
        transform(np.zeros((0, 4), np.uint8), (3, 2), "AFFINE", [1, 0, 0, 0, 1, 0], "BICUBIC", fillcolor=9).sum() == 54
    )
    assert transform(np.ones((3, 4), np.uint8), (0, 2), "AFFINE", [1, 0, 0, 0, 1, 0]).shape == (2, 0)


class Crop:
    def getdata(self) -> Any:
        return "EXTENT", (1, 0, 3, 1)


def test_objects_that_give_method_and_data() -> None:
    assert transform(np.array([[1, 2, 3, 4]], np.uint8), (2, 1), Crop()).tolist() == [[2, 3]]


IMAGE = np.zeros((5, 6), np.uint8)
IDENTITY = [1, 0, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("error", "change", "words"),
    [
        (ShapeError, {"image": np.zeros(5, np.uint8)}, r"image must have shape \(H, W\) or \(H, W, C\); got \(5,\)"),
        (ShapeError, {"image": np.zeros((5, 6, 5), np.uint8)}, "2 to 4 bands"),
        (ShapeError, {"image": np.zeros((5, 6, 3), np.float32)}, "2 to 4 bands"),
        (DTypeError, {"image": np.zeros((5, 6))}, "image must be uint8, uint16, int32, float32 or bool; got float64"),
        (DTypeError, {"image": None}, "image must be an array"),
        (ShapeError, {"mode": "RGB"}, r"image must be uint8 of shape \(H, W, 3\) for mode RGB; got uint8 of \(5, 6\)"),
        (ModeError, {"mode": "RGBB"}, "mode must be one of '1', 'L'"),
        (ArgumentError, {"size": 3}, r"size must be two integers \(width, height\); got 3"),
        (ArgumentError, {"size": (3, 2.5)}, "size must be two integers"),
        (ShapeError, {"size": (-1, 4)}, "size must have a width and height from 0"),
        (ShapeError, {"size": (2**31, 1)}, "size must have a width and height from 0"),
        (ModeError, {"method": "ROTATE"}, r"method must be one of AFFINE \(0\), EXTENT \(1\)"),
        (ModeError, {"method": 5}, "method must be one of"),
        (ModeError, {"method": None}, "method must be one of"),
        (ModeError, {"resample": True}, "resample must be one of"),
        (UnsupportedError, {"resample": "LANCZOS"}, r"resample must be NEAREST \(0\), BILINEAR \(2\) or BICUBIC"),
        (ArgumentError, {"data": None}, "data must be given"),
        (ArgumentError, {"data": [1, 2]}, "data must be 6 numbers for AFFINE; got 2"),
        (ArgumentError, {"data": "abcdef"}, "data must be 6 numbers"),
        (ArgumentError, {"method": "EXTENT", "data": IDENTITY}, "data must be 4 numbers for EXTENT; got 6"),
        (ShapeError, {"method": "EXTENT", "data": [0, 0, 1, 1], "size": (0, 2)}, "size must have a width and height"),
        (ArgumentError, {"method": "MESH", "data": [1, 2]}, r"data must be a list of \(box, quad\) for MESH"),
        (ArgumentError, {"method": "MESH", "data": [((0, 0, 1), range(8))]}, "data of MESH must have boxes of four"),
        (ShapeError, {"method": "MESH", "data": [((0, 0, 0, 1), range(8))]}, "a box of MESH must have a width"),
        (ShapeError, {"method": "MESH", "data": [((0, 0, 2**40, 1), range(8))]}, "box must lie within 32-bit"),
        (UnsupportedError, {"fillcolor": "red"}, "names of colours"),
        (ArgumentError, {"fillcolor": 2.5}, "fillcolor must be one number for mode L"),
        (ArgumentError, {"fillcolor": (1, 2)}, "fillcolor must be one number for mode L"),
        (ArgumentError, {"fillcolor": 2**70}, "fillcolor must fit 64 bits"),
    ],
)
def test_bad_input(error: type[GridwaveError], change: dict[str, Any], words: str) -> None:
    arguments: dict[str, Any] = {"image": IMAGE, "size": (4, 3), "method": "AFFINE", "data": IDENTITY, **change}
    with pytest.raises(error, match=words):
        transform(**arguments)


@pytest.mark.parametrize(
    ("error", "change", "words"),
    [
        (ShapeError, {"image": IMAGE}, r"image must have shape \(H, W, C\); got \(5, 6\)"),
        (ShapeError, {"out": np.zeros((4, 4, 2), np.uint8)}, "out must have shape"),
        (DTypeError, {"out": np.zeros((4, 4, 1), np.int32)}, "out must have dtype uint8; got int32"),
        (ShapeError, {"out": np.broadcast_to(IMAGE[:1, :1, None], (4, 4, 1))}, None),
        (ArgumentError, {"coefficients": IDENTITY[:5]}, "coefficients must be 6 numbers for affine; got 5"),
        (ArgumentError, {"coefficients": [None] * 6}, "coefficients must be 6 numbers"),
        (ArgumentError, {"box": (0, 0, 1)}, "box must be four integers"),
        (ArgumentError, {"clear": "yes"}, "clear must be True or False"),
        (ModeError, {"filter": "linear"}, "did you mean 'bilinear'"),
    ],
)
def test_bad_input_of_the_operator(error: type[GridwaveError], change: dict[str, Any], words: str | None) -> None:
    out = np.zeros((4, 4, 1), np.uint8)
    arguments: dict[str, Any] = {"image": IMAGE[:, :, None], "out": out, "method": "affine", "coefficients": IDENTITY}
    with pytest.raises(GridwaveError if words is None else error, match=words):
        sampling.transform_pillow(**{**arguments, **change})


def test_out_that_overlaps_the_image() -> None:
    shared = np.zeros((6, 4, 1), np.uint8)
    with pytest.raises(ShapeError, match="out overlaps the memory of image"):
        sampling.transform_pillow(shared[:4], shared[2:], "affine", IDENTITY)


def test_the_judge_rejects_another_pixel_and_a_small_error() -> None:
    entries = list(load(ROOT / "tests" / "golden" / "pillow"))
    assert len(entries) >= 108
    for case, inputs, outputs in entries:
        if case["op"] != "warp":
            continue
        truth, ours = find(case).twin(case, inputs), replay_golden.run(case, inputs)
        assert judge(case, ours, outputs, truth).status == "reproduced"
        moved = {"y": np.roll(ours["y"], 1, axis=1)}
        assert judge(case, moved, outputs, truth).status == "wrong", case["id"]
        if ours["y"].dtype == np.float32:
            nudged = {"y": ours["y"] + np.float32(1e-4) * np.abs(ours["y"]).max()}
            assert judge(case, nudged, outputs, truth).status == "wrong", case["id"]
