"""gw.remap, gw.warp_affine and gw.warp_perspective equal the float64 twin, and like.opencv what OpenCV recorded."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import gridwave as gw
from gridwave import like, reference
from gridwave.modes import BorderMode, RemapMode

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from replay.cases import load
from replay.registry import find
from replay_golden import replay

FOLDER = Path(__file__).parent / "golden"
RNG = np.random.default_rng(3)
SHAPE = (6, 7)
MAP_X, MAP_Y = (RNG.uniform(-9, 15, (5, 8)) for _ in range(2))


@pytest.mark.parametrize("mode", get_args(RemapMode))
@pytest.mark.parametrize("border", get_args(BorderMode))
@pytest.mark.parametrize("channels", [None, 1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8", "uint16"])
def test_equals_the_twin(mode: Any, border: Any, channels: int | None, dtype: str) -> None:
    shape = SHAPE if channels is None else (*SHAPE, channels)
    image, below = (RNG.uniform(0, 200, s).astype(dtype) for s in (shape, (5, 8, *shape[2:])))
    x, y = (MAP_X, MAP_Y) if dtype == "float64" else (MAP_X.astype(np.float32), MAP_Y.astype(np.float32))
    got = gw.remap(image, x, y, mode, border, 7.0, out=below.copy())
    want, size = (reference.remap(image, x, y, mode, border, 7.0, out=below, absolute=a) for a in (False, True))
    if np.dtype(dtype).kind == "u":
        want = np.clip(want, 0, np.iinfo(dtype).max)
        assert (np.abs(got - want) <= 0.5 + 1e-3).all()
    else:
        # A coordinate of float32 has its fraction rounded too, which the slope of the taps makes visible.
        assert (np.abs(got - want) <= 64 * np.finfo(dtype).eps * (size + 200)).all()


@pytest.mark.parametrize("border", ["replicate", "reflect", "reflect_101", "wrap"])
@pytest.mark.parametrize("mode", get_args(RemapMode))
def test_one_pixel_axes_answer_at_once(mode: Any, border: Any) -> None:
    far = np.array([[-1e9, -3.5, 0, 7, 1e9, np.nan, np.inf]], np.float32)
    assert (gw.remap(np.full((1, 1), 9.0, np.float32), far, far, mode, border) == 9).all()
    assert (like.opencv.remap(np.full((1, 1), 9, np.uint8), far, far, like.opencv.INTER_CUBIC, None, 4) == 9).all()


def test_affine_is_remap_at_its_points() -> None:
    image = RNG.random((9, 8, 3))
    m = np.array([[0.9, 0.2, 1.0], [-0.1, 1.1, 0.5]])
    y, x = np.mgrid[:6, :7]
    want = gw.remap(image, m[0, 0] * x + m[0, 1] * y + m[0, 2], m[1, 0] * x + m[1, 1] * y + m[1, 2], "cubic")
    np.testing.assert_allclose(gw.warp_affine(image, m, (6, 7), "cubic", inverse=True), want, atol=1e-12)
    forward = np.linalg.inv(np.vstack([m, [0, 0, 1]]))[:2]
    np.testing.assert_allclose(gw.warp_affine(image, forward, (6, 7), "cubic"), want, atol=1e-12)
    whole = np.vstack([m, [0, 0, 1]])
    np.testing.assert_allclose(gw.warp_perspective(image, 2 * whole, (6, 7), "cubic", inverse=True), want, atol=1e-12)


def test_strides_and_threads_do_not_show() -> None:
    image = RNG.random((40, 50, 3)).astype(np.float32)
    x, y = (RNG.uniform(-3, 53, (300, 400)).astype(np.float32) for _ in range(2))
    want = gw.remap(image, x, y)
    assert np.array_equal(gw.remap(image[::-1, ::-1][::-1, ::-1], x.T.copy().T, y.T.copy().T), want)
    with gw.threads(3):
        assert np.array_equal(gw.remap(image, x, y), want)
    out = np.empty((300, 400, 6), np.float32)[..., ::2]
    assert gw.remap(image, x, y, out=out) is out
    assert np.array_equal(out, want)


def test_relative_maps() -> None:
    image = RNG.random((9, 8)).astype(np.float32)
    y, x = np.mgrid[:9, :8].astype(np.float32)
    zero = np.zeros_like(x)
    cv = like.opencv
    assert np.array_equal(cv.remap(image, zero, zero, cv.INTER_LINEAR | cv.WARP_RELATIVE_MAP), image)
    assert np.array_equal(cv.remap(image, x, y, cv.INTER_LINEAR), image)


def test_the_judge_fails_on_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    case, inputs, _ = next(
        e
        for e in load(FOLDER / "opencv")
        if e[0]["dtype"] == "float32" and e[0]["kwargs"].get("interpolation") == "INTER_LINEAR" and "error" not in e[0]
    )
    entry = find(case)
    wrong = replace(entry, run=lambda c, a: {"dst": entry.run(c, a)["dst"] * np.float32(1 + 1e-4)})
    monkeypatch.setattr("replay_golden.find", lambda c: wrong)
    outcomes = {r.outcome for r in replay(FOLDER / "opencv", "remap", None, []) if r.case["id"] == case["id"]}
    assert outcomes == {"wrong"}
    assert inputs


@pytest.mark.parametrize("call", ["warpAffine", "warpPerspective"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_wide_warps_are_opencv_s(dtype: str, call: str) -> None:
    """The recorded results are too narrow for OpenCV's vectors, which sum coordinates in another order."""
    cv2 = pytest.importorskip("cv2")
    if cv2.__version__ < "5":
        pytest.skip("the numbers of OpenCV 5")
    image = RNG.uniform(0, 255, (120, 160, 3)).astype(dtype)
    matrix = np.array([[0.93, 0.21, -7.3], [-0.18, 1.04, 11.7], [1e-4, -5e-5, 1]])[: 2 if call == "warpAffine" else 3]
    for flags in (cv2.INTER_NEAREST, cv2.INTER_LINEAR):
        for width in (15, 16, 37, 653):
            how = {"flags": flags | cv2.WARP_INVERSE_MAP, "borderMode": cv2.BORDER_REFLECT}
            theirs = getattr(cv2, call)(image, matrix, (width, 90), **how)
            assert np.array_equal(getattr(like.opencv, call)(image, matrix, (width, 90), **how), theirs)
