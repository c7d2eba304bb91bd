"""Plans of volumes give grid_sample's own bits, and say truly where a grid points."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace
from typing import Any, get_args

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave import reference
from gridwave.conventions import torch as torch_conventions
from gridwave.modes import Layout, PaddingMode, SamplingMode
from gridwave.typing import Array

RNG = np.random.default_rng(12)
MODES = list(itertools.product(get_args(SamplingMode), get_args(PaddingMode)))
SIZE, OUT = (6, 7, 9), (5, 6, 11)


def volume(layout: str, n: int, c: int, size: tuple[int, ...] = SIZE, dtype: Any = np.float32) -> Array:
    x = RNG.standard_normal((n, c, *size)) * 50
    x = (np.abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)
    return x if layout == "NCHW" else np.ascontiguousarray(np.moveaxis(x, 1, -1))


def jumpy(n: int, dtype: Any = np.float32, out: tuple[int, ...] = OUT) -> Array:
    grid = RNG.uniform(-1.4, 1.4, (n, *out, 3))
    grid[:, 0, 0, :5] = np.array([np.nan, np.inf, -np.inf, 1e30, -3e4])[:, None]
    with np.errstate(over="ignore"):
        return grid.astype(dtype)


def assert_same_bits(got: Array, want: Array) -> None:
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize(("mode", "padding_mode"), MODES)
@pytest.mark.parametrize("layout", get_args(Layout))
def test_bits_of_grid_sample(mode: Any, padding_mode: Any, layout: Any) -> None:
    for channels, align_corners in itertools.product((1, 3, 16, 21), (False, True)):
        x, grid = volume(layout, 2, channels), jumpy(2)
        modes = (mode, padding_mode, align_corners)
        plan = gw.plan_grid_sample(grid, SIZE, *modes, layout=layout)
        want = gw.grid_sample(x, grid, *modes, layout=layout)
        assert_same_bits(plan(x), want)
        out = np.empty_like(want)
        assert plan(x, out=out) is out
        assert_same_bits(out, want)
        one = gw.plan_grid_sample(grid[:1], SIZE, *modes, layout=layout)
        shared = np.broadcast_to(grid[:1], grid.shape)
        assert_same_bits(one(x), gw.grid_sample(x, shared, *modes, layout=layout))
        grad = volume(layout, 2, channels, OUT)
        expected = gw.grid_sample_backward(grad, x, grid, *modes, layout=layout)
        for got, exact in zip(plan.backward(grad, x), expected, strict=True):
            np.testing.assert_array_equal(got, exact)


PAIRS = [
    (np.float64, np.float64), (np.float16, np.float16), (np.float16, np.float32), (ml_dtypes.bfloat16, np.float32),
    (ml_dtypes.bfloat16, ml_dtypes.bfloat16), (np.uint8, np.float32), (np.int8, np.float32), (np.uint16, np.float64),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "grid_dtype"), PAIRS)
@pytest.mark.parametrize("layout", get_args(Layout))
def test_bits_in_every_dtype(dtype: Any, grid_dtype: Any, layout: Any) -> None:
    for mode, channels in itertools.product(get_args(SamplingMode), (2, 33)):
        x, grid = volume(layout, 2, channels, SIZE, dtype), jumpy(1, grid_dtype)
        plan = gw.plan_grid_sample(grid, SIZE, mode, layout=layout, dtype=dtype)
        assert_same_bits(plan(x), gw.grid_sample(x, np.broadcast_to(grid, (2, *grid.shape[1:])), mode, layout=layout))


def test_bits_of_more_points_than_a_piece_and_of_any_threads() -> None:
    grid, x = jumpy(1, out=(17, 19, 23)), volume("NCHW", 2, 20)
    plan, want = gw.plan_grid_sample(grid, SIZE), gw.grid_sample(x, np.broadcast_to(grid, (2, *grid.shape[1:])))
    for threads in (1, 2, 3):
        with gw.threads(threads):
            assert_same_bits(plan(x), want)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1)).transpose(0, 4, 1, 2, 3)
    got = plan(last)
    assert got.strides[1] == 4
    assert_same_bits(got, gw.grid_sample(last, np.broadcast_to(grid, (2, *grid.shape[1:]))))


def test_a_shared_grid_has_the_sum_of_its_gradients() -> None:
    x, grid, grad = volume("NCHW", 3, 4), jumpy(1), volume("NCHW", 3, 4, OUT)
    got = gw.plan_grid_sample(grid, SIZE).backward(grad, x)[1]
    each = gw.grid_sample_backward(grad, x, np.broadcast_to(grid, (3, *grid.shape[1:])))[1]
    assert_same_bits(got, each.astype(np.float64).sum(axis=0, keepdims=True).astype(np.float32))


def test_pickle_shape_and_copy() -> None:
    grid, x = jumpy(2), volume("NHWC", 2, 5)
    plan = gw.plan_grid_sample(grid, SIZE, "nearest", "border", True, layout="NHWC")
    want = plan(x)
    grid[:] = 0
    assert_same_bits(plan(x), want)
    assert_same_bits(pickle.loads(pickle.dumps(plan))(x), want)
    assert plan.shape == (2, *OUT, None)
    assert "6 x 7 x 9" in repr(plan)
    empty = gw.plan_grid_sample(np.zeros((1, 2, 0, 3, 3), np.float32), SIZE)
    assert empty(volume("NCHW", 2, 3)).shape == (2, 3, 2, 0, 3)
    assert gw.plan_grid_sample(np.zeros((0, 2, 2, 2, 3)), SIZE)(np.zeros((0, 1, *SIZE))).shape == (0, 1, 2, 2, 2)


@pytest.mark.parametrize("padding_mode", get_args(PaddingMode))
@pytest.mark.parametrize("mode", get_args(SamplingMode))
def test_a_report_counts_what_the_twin_reads(mode: Any, padding_mode: Any) -> None:
    size = (3, 4, 5)
    grid = RNG.uniform(-1.6, 1.6, (1, 4, 5, 6, 3))
    report = gw.plan_grid_sample(grid, size, mode, padding_mode).report(channels=3)
    # One channel for each voxel, 1 there and 0 elsewhere: a point reads the voxels whose channels it sees.
    x = np.eye(60).reshape(1, 60, *size)
    spec = replace(torch_conventions.GRID_SAMPLE, mode=mode, padding_mode=padding_mode)
    read = reference.grid_sample(x, grid, spec)[0] != 0
    hits = read.sum(axis=(1, 2, 3))
    assert (report.pixels, report.image_pixels) == ((hits > 0).sum(), 60)
    if not (mode == "bicubic" and padding_mode != "zeros"):  # there, taps meet on one voxel
        assert report.taps == hits.sum()
        assert report.contended == (hits - 1)[hits > 0].sum()
        assert [s.taps for s in report.hot_spots] == sorted(hits, reverse=True)[:8]
        assert [hits.reshape(size)[s.z, s.y, s.x] for s in report.hot_spots] == [s.taps for s in report.hot_spots]
    lengths = np.array(size[::-1])
    p = ((grid.reshape(-1, 3) + 1) * lengths - 1) / 2
    first, taps = {"nearest": (np.rint(p), 1), "bilinear": (np.floor(p), 2), "bicubic": (np.floor(p) - 1, 4)}[mode]
    interior = ((first >= 0) & (first + taps <= lengths)).all(axis=1)
    outside = ((first + taps <= 0) | (first >= lengths)).any(axis=1)
    assert (report.interior, report.outside) == (interior.sum(), outside.sum())
    assert report.points == report.interior + report.outside + report.partly_outside == 120
    assert "voxels" in str(report) or not any(s.z for s in report.hot_spots)
