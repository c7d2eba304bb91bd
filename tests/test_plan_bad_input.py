"""What plans refuse, and with which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridwave as gw
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ModeError, ShapeError, UnsupportedError

GRID = np.zeros((1, 4, 5, 2), np.float32)
VOLUME_GRID = np.zeros((1, 2, 2, 2, 3), np.float32)
X = np.zeros((2, 3, 6, 7), np.float32)


@pytest.mark.parametrize(
    ("grid", "size", "other", "error", "words"),
    [
        (GRID[0], (6, 7), {}, ShapeError, "grid must have shape"),
        (GRID[..., :1], (6, 7), {}, ShapeError, "last axis"),
        (GRID.astype(np.int32), (6, 7), {}, DTypeError, "grid must have dtype"),
        (None, (6, 7), {}, DTypeError, "grid must be an array"),
        (np.ma.masked_array(GRID), (6, 7), {}, DTypeError, "masked"),
        (GRID, (0, 7), {}, ShapeError, "at least 1"),
        (GRID, (6, -1), {}, ShapeError, "at least 1"),
        (GRID, (2**62, 2**62), {}, ShapeError, "more pixels"),
        (GRID, (2**80, 1), {}, ArgumentError, "64 bits"),
        (GRID, 6, {}, ArgumentError, "two integers"),
        (GRID, (6.0, 7), {}, ArgumentError, "two integers"),
        (GRID, (6, 7, 8), {}, ArgumentError, "two integers"),
        (VOLUME_GRID, (6, 7), {}, ArgumentError, "three integers"),
        (VOLUME_GRID, (6, 0, 8), {}, ShapeError, "at least 1"),
        (VOLUME_GRID, (2**30, 2**30, 2), {}, ShapeError, "more voxels"),
        (VOLUME_GRID[..., :2], (6, 7, 8), {}, ShapeError, "last axis"),
        (np.zeros((1, 2, 1), np.float32), (6,), {}, UnsupportedError, "use grid_sample"),
        (GRID, (6, 7), {"mode": "linear"}, ModeError, "mode"),
        (GRID, (6, 7), {"padding_mode": "zero"}, ModeError, "zeros"),
        (GRID, (6, 7), {"align_corners": "no"}, ArgumentError, "align_corners"),
        (GRID, (6, 7), {"layout": "CHW"}, ModeError, "layout"),
        (GRID, (6, 7), {"dtype": "float64"}, DTypeError, "go with the grid"),
        (GRID, (6, 7), {"dtype": "complex64"}, DTypeError, "dtype"),
        (GRID, (6, 7), {"dtype": "no such"}, DTypeError, "dtype"),
    ],
)
def test_plans_that_cannot_be(grid: Any, size: Any, other: Any, error: type[GridwaveError], words: str) -> None:
    with pytest.raises(error, match=words):
        gw.plan_grid_sample(grid, size, **other)


@pytest.mark.parametrize(
    ("x", "out", "error", "words"),
    [
        (X[:, :, :5], None, ShapeError, "that were planned, 6 and 7"),
        (X[0], None, (ShapeError, UnsupportedError), "x must have"),
        (np.zeros((2, 3, 4, 6, 7), np.float32), None, (ShapeError, UnsupportedError), "x must have"),
        (X.astype(np.float64), None, DTypeError, "grid must have the dtype of x"),
        (X.astype(np.complex64), None, DTypeError, "x must have dtype"),
        (X, np.zeros((2, 3, 4, 4), np.float32), ShapeError, "out must have shape"),
        (X, np.zeros((2, 3, 4, 5)), DTypeError, "out must have the dtype"),
        (X, np.broadcast_to(np.zeros(1, np.float32), (2, 3, 4, 5)), ArgumentError, "read-only"),
        (X, [[0.0]], DTypeError, "out must be an array"),
    ],
)
def test_calls_that_cannot_be(x: Any, out: Any, error: Any, words: str) -> None:
    plan = gw.plan_grid_sample(GRID, (6, 7))
    with pytest.raises(error, match=words):
        plan(x, out=out)


def test_other_dtypes_and_batches_than_planned() -> None:
    with pytest.raises(DTypeError, match="that was planned, float32; got float16"):
        gw.plan_grid_sample(GRID, (6, 7), dtype=np.float32)(X.astype(np.float16))
    plan = gw.plan_grid_sample(np.zeros((3, 4, 5, 2), np.float32), (6, 7))
    with pytest.raises(ShapeError, match="batch size of the planned grid, 3"):
        plan(X)
    with pytest.raises(ShapeError, match="batch size of the planned grid, 3"):
        plan.backward(np.zeros((2, 3, 4, 5), np.float32), X)


def test_results_may_not_overlap_the_image() -> None:
    memory = np.zeros(2 * 6 * 7 * 32 + 100, np.float32)
    x = memory[: 6 * 7 * 32].reshape(1, 6, 7, 32)
    plan = gw.plan_grid_sample(GRID, (6, 7), layout="NHWC")
    with pytest.raises(ShapeError, match="overlap"):
        plan(x, out=memory[40 : 40 + 20 * 32].reshape(1, 4, 5, 32))


def test_gradients_that_cannot_be() -> None:
    plan, grad = gw.plan_grid_sample(GRID, (6, 7)), np.zeros((2, 3, 4, 5), np.float32)
    for wrt, error in (((), ArgumentError), (("y",), ModeError), (3, ArgumentError)):
        with pytest.raises(error, match="wrt"):
            plan.backward(grad, X, wrt=wrt)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="grad_output"):
        plan.backward(grad[:, :2], X)
    with pytest.raises(DTypeError, match="grad_output"):
        plan.backward(grad.astype(np.float64), X)
    with pytest.raises(ShapeError, match="planned"):
        plan.backward(grad, X[:, :, :, :4])
    with pytest.raises(DTypeError, match="gradient"):
        plan.backward(grad.astype(np.uint8), X.astype(np.uint8))


def test_hostile_sizes_neither_crash_nor_take_memory() -> None:
    grid = np.array([[[[-1, -1], [1, 1], [np.nan, np.inf]]]], np.float32)
    for size in ((2**24 + 5, 3), (3, 2**31), (2**30, 2**29), (1, 1)):
        for mode in ("bilinear", "nearest", "bicubic"):
            plan = gw.plan_grid_sample(grid, size, mode, "border", layout="NHWC")  # type: ignore[arg-type]
            assert plan.size == size
    with pytest.raises(UnsupportedError, match="report"):
        gw.plan_grid_sample(grid, (2**30, 2**29)).report()
    # An image of one pixel in memory, as wide as one likes.
    wide = np.broadcast_to(np.full(32, 3, np.float32), (1, 3, 2**24 + 5, 32))
    got = gw.plan_grid_sample(grid, wide.shape[1:3], padding_mode="border", layout="NHWC")(wide)  # type: ignore[arg-type]
    np.testing.assert_array_equal(got, gw.grid_sample(wide, grid, padding_mode="border", layout="NHWC"))


def test_reports_that_cannot_be() -> None:
    plan = gw.plan_grid_sample(GRID, (6, 7))
    for name, value in (("channels", -1), ("channels", 1.5), ("batch", True)):
        with pytest.raises(ArgumentError, match=name):
            plan.report(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (np.zeros((2, 3, 4, 6, 8), np.float32), ShapeError, "that were planned, 4, 6 and 7"),
        (np.zeros((2, 3, 6, 7), np.float32), ShapeError, "volume as planned"),
        (np.zeros((2, 3, 4, 6, 7)), DTypeError, "grid must have the dtype of x"),
    ],
)
def test_calls_of_volumes_that_cannot_be(x: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        gw.plan_grid_sample(VOLUME_GRID, (4, 6, 7))(x)


def test_other_batches_of_volumes_than_planned() -> None:
    plan = gw.plan_grid_sample(np.zeros((3, 2, 2, 2, 3), np.float32), (4, 6, 7))
    with pytest.raises(ShapeError, match="batch size of the planned grid, 3"):
        plan(np.zeros((2, 3, 4, 6, 7), np.float32))
