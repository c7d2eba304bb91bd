"""What comes in wrong to remap and the warps: an error that names the argument, and nothing written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridwave as gw
from gridwave import like
from gridwave.errors import GridwaveError

IMAGE = np.ones((4, 5), np.float32)
MAP = np.zeros((3, 3), np.float32)
CV = like.opencv


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((IMAGE[0], MAP, MAP), "image"),
        ((IMAGE[:0], MAP, MAP), "image"),
        ((IMAGE.astype(np.int32), MAP, MAP), "image"),
        ((IMAGE.astype(">f4"), MAP, MAP), "byte order"),
        ((None, MAP, MAP), "image"),
        ((IMAGE, MAP[0], MAP), "map"),
        ((IMAGE, MAP, MAP[:2]), "map_x and map_y"),
        ((IMAGE, MAP, MAP.astype(np.float64)), "map_x and map_y"),
        ((IMAGE, MAP.astype(np.int64), MAP), "map_x"),
        ((IMAGE, MAP, MAP, "bicubic"), "mode"),
        ((IMAGE, MAP, MAP, "linear", "border"), "border"),
        ((IMAGE, MAP, MAP, "linear", "constant", [1, 2, 3, 4, 5]), "border_value"),
        ((IMAGE, MAP, MAP, "linear", "transparent"), "out"),
    ],
)
def test_remap_names_what_is_wrong(arguments: Any, named: str) -> None:
    with pytest.raises(GridwaveError, match=named):
        gw.remap(*arguments)


def test_out() -> None:
    read_only = np.zeros((3, 3), np.float32)
    read_only.flags.writeable = False
    shared = np.zeros((6, 6), np.float32)
    for out, named in (
        (read_only, "read-only"),
        (np.zeros((3, 4), np.float32), "out"),
        (np.zeros((3, 3)), "out"),
        (np.broadcast_to(np.float32(0), (3, 3)), "out"),
        ([[0.0] * 3] * 3, "out"),
    ):
        with pytest.raises(GridwaveError, match=named):
            gw.remap(IMAGE, MAP, MAP, out=out)
    with pytest.raises(GridwaveError, match="overlaps"):
        gw.remap(shared, MAP, MAP, out=shared[:3, :3])
    with pytest.raises(GridwaveError, match="overlaps"):
        gw.remap(IMAGE, MAP, MAP, out=MAP)


@pytest.mark.parametrize(
    ("matrix", "size", "named"),
    [
        (np.eye(3), (3, 3), "matrix"),
        (np.zeros((2, 3)), (3, 3), "inverse"),
        (np.full((2, 3), np.nan), (3, 3), "finite"),
        ("abc", (3, 3), "matrix"),
        (np.eye(2, 3), 3, "size"),
        (np.eye(2, 3), (3, -1), "size"),
        (np.eye(2, 3), (2**40, 2**40), "size"),
        (np.eye(2, 3), (1.5, 2), "size"),
    ],
)
def test_warp_names_what_is_wrong(matrix: Any, size: Any, named: str) -> None:
    with pytest.raises(GridwaveError, match=named):
        gw.warp_affine(IMAGE, matrix, size)


def test_coordinates_that_are_no_place() -> None:
    odd = np.array([[np.nan, np.inf, -np.inf, 3e38, -3e38, 2**31, -(2.0**31), 1e-45]], np.float32)
    for mode in ("nearest", "linear", "cubic", "lanczos4"):
        for border in ("constant", "replicate", "reflect", "reflect_101", "wrap"):
            assert np.isfinite(gw.remap(IMAGE, odd, odd, mode, border)).all()
            assert np.isfinite(
                CV.remap(IMAGE, odd, odd, ["nearest", "linear", "cubic", "", "lanczos4"].index(mode))
            ).all()
    empty = np.zeros((0, 3), np.float32)
    assert gw.remap(IMAGE, empty, empty).shape == (0, 3)
    flat = gw.warp_perspective(IMAGE, np.zeros((3, 3)), (2, 2), inverse=True)
    assert (flat == 0).all()


def test_opencv_refuses_what_opencv_refuses() -> None:
    for call, named in (
        (lambda: CV.remap(IMAGE, MAP, MAP, 6), "interpolation"),
        (lambda: CV.remap(IMAGE, MAP, MAP, 1, None, 9), "borderMode"),
        (lambda: CV.remap(IMAGE, MAP.astype(np.float64), MAP, 1), "float32"),
        (lambda: CV.remap(IMAGE, MAP, MAP[:2], 1), "one shape"),
        (lambda: CV.remap(IMAGE, np.zeros((3, 3, 2), np.int16), None, 1), "fixed-point"),
        (lambda: CV.remap(IMAGE, np.zeros((3, 3, 2), np.int16), MAP, 1), "map2"),
        (lambda: CV.remap(np.ones((4, 4, 5), np.float32), MAP, MAP, 2), "INTER_CUBIC"),
        (lambda: CV.warpAffine(IMAGE, np.eye(3), (3, 3)), "M must"),
        (lambda: CV.warpPerspective(IMAGE, np.eye(2, 3), (3, 3)), "M must"),
        (lambda: CV.warpAffine(IMAGE, np.eye(2, 3), 3), "dsize"),
    ):
        with pytest.raises(GridwaveError, match=named):
            call()
