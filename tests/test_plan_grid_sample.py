"""Plans give grid_sample's own bits, from any thread, and say truly where a grid points."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, get_args

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave import reference
from gridwave.conventions import torch as torch_conventions
from gridwave.modes import Layout, PaddingMode, SamplingMode
from gridwave.sampling import MachineRates
from gridwave.typing import Array

RNG = np.random.default_rng(11)
MODES = list(itertools.product(get_args(SamplingMode), get_args(PaddingMode)))


def image(layout: str, n: int, c: int, h: int, w: int, dtype: Any = np.float32) -> Array:
    x = RNG.standard_normal((n, c, h, w)) * 50
    x = (np.abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)
    return x if layout == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def jumpy(n: int, h: int, w: int, dtype: Any = np.float32) -> Array:
    grid = RNG.uniform(-1.4, 1.4, (n, h, w, 2))
    grid[:, 0, : min(5, w)] = np.resize([np.nan, np.inf, -np.inf, 1e30, -3e4], min(5, w))[:, None]
    with np.errstate(over="ignore"):
        return grid.astype(dtype)


def smooth(n: int, h: int, w: int, dtype: Any = np.float32) -> Array:
    y, x = np.meshgrid(np.linspace(-1.1, 1.1, h), np.linspace(-1.1, 1.1, w), indexing="ij")
    turned = np.stack([x * 0.9 - y * 0.2, x * 0.2 + y * 0.9], axis=-1)
    return np.repeat(turned[None], n, axis=0).astype(dtype)


def assert_same_bits(got: Array, want: Array) -> None:
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


@pytest.mark.parametrize(("mode", "padding_mode"), MODES)
@pytest.mark.parametrize("layout", get_args(Layout))
@pytest.mark.parametrize("channels", [1, 3, 16, 37, 64])
def test_bits_of_grid_sample(mode: Any, padding_mode: Any, layout: Any, channels: int) -> None:
    for make, align_corners in itertools.product((jumpy, smooth), (False, True)):
        x, grid = image(layout, 2, channels, 21, 34), make(2, 19, 23)
        plan = gw.plan_grid_sample(grid, (21, 34), mode, padding_mode, align_corners, layout=layout)
        assert_same_bits(plan(x), gw.grid_sample(x, grid, mode, padding_mode, align_corners, layout=layout))
        one = gw.plan_grid_sample(grid[:1], (21, 34), mode, padding_mode, align_corners, layout=layout)
        shared = np.broadcast_to(grid[:1], grid.shape)
        assert_same_bits(one(x), gw.grid_sample(x, shared, mode, padding_mode, align_corners, layout=layout))


PAIRS = [
    (np.float64, np.float64), (np.float16, np.float16), (np.float16, np.float32), (ml_dtypes.bfloat16, np.float32),
    (ml_dtypes.bfloat16, ml_dtypes.bfloat16), (np.uint8, np.float32), (np.int8, np.float32), (np.uint16, np.float16),
    (np.uint8, np.float64), (np.uint16, np.float64),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "grid_dtype"), PAIRS)
@pytest.mark.parametrize("layout", get_args(Layout))
def test_bits_in_every_dtype(dtype: Any, grid_dtype: Any, layout: Any) -> None:
    for mode, channels in itertools.product(get_args(SamplingMode), (3, 72)):
        x, grid = image(layout, 2, channels, 12, 17, dtype), jumpy(1, 9, 40, grid_dtype)
        plan = gw.plan_grid_sample(grid, (12, 17), mode, layout=layout, dtype=dtype)
        shared = np.broadcast_to(grid, (2, *grid.shape[1:]))
        assert_same_bits(plan(x), gw.grid_sample(x, shared, mode, layout=layout))


@pytest.mark.parametrize("mode", get_args(SamplingMode))
def test_bits_of_pixels_that_are_not_numbers(mode: Any) -> None:
    x = image("NHWC", 1, 48, 20, 20)
    x[RNG.random(x.shape) < 0.05] = np.nan
    x[RNG.random(x.shape) < 0.05] = np.inf
    for given, layout in ((x, "NHWC"), (x.transpose(0, 3, 1, 2), "NCHW"), (x.transpose(0, 3, 1, 2).copy(), "NCHW")):
        grid = smooth(1, 30, 30)
        plan = gw.plan_grid_sample(grid, (20, 20), mode, layout=layout)  # type: ignore[arg-type]
        want = gw.grid_sample(given, grid, mode, layout=layout)  # type: ignore[arg-type]
        np.testing.assert_array_equal(plan(given), want)


def test_memory_of_any_kind() -> None:
    grid = jumpy(2, 13, 15)
    wide = image("NHWC", 2, 64, 40, 50)
    for x in (wide[:, 3:24, 5:39], wide[:, ::-1, ::-1][:, :21, :34], wide[:, :21, :34, 1:33], wide[:, :21, :34, ::2]):
        plan = gw.plan_grid_sample(grid, (21, 34), layout="NHWC")
        want = gw.grid_sample(x, grid, layout="NHWC")
        assert_same_bits(plan(x), want)
        out = np.full((2, 13, 15, 2 * x.shape[3]), 7.0, np.float32)[..., ::2]
        assert plan(x, out=out) is out
        assert_same_bits(out, want)
    last = gw.plan_grid_sample(grid, (40, 50))(wide.transpose(0, 3, 1, 2))
    assert last.strides[1] == 4
    assert_same_bits(last, gw.grid_sample(wide.transpose(0, 3, 1, 2), grid))


def test_large_results_are_written_past_the_caches() -> None:
    grid = jumpy(1, 150, 151)
    for channels in (160, 161):
        x = image("NHWC", 1, channels, 30, 31)
        plan = gw.plan_grid_sample(grid, (30, 31), layout="NHWC")
        want = gw.grid_sample(x, grid, layout="NHWC")
        assert_same_bits(plan(x), want)
        assert_same_bits(plan(x, out=np.empty_like(want)), want)


def test_no_points_no_channels_no_images() -> None:
    for n, c, h, w in [(0, 3, 4, 5), (1, 0, 4, 5), (2, 3, 0, 5), (2, 70, 4, 0)]:
        for layout in get_args(Layout):
            plan = gw.plan_grid_sample(np.zeros((1, h, w, 2), np.float32), (6, 7), layout=layout)
            assert plan(image(layout, n, c, 6, 7)).shape == ((n, c, h, w) if layout == "NCHW" else (n, h, w, c))
    assert gw.plan_grid_sample(np.zeros((0, 2, 2, 2)), (3, 3))(np.zeros((0, 1, 3, 3))).shape == (0, 1, 2, 2)


@pytest.mark.parametrize("layout", get_args(Layout))
def test_bits_do_not_depend_on_threads(layout: Any) -> None:
    x, plan = image(layout, 2, 64, 64, 64), gw.plan_grid_sample(jumpy(1, 90, 80), (64, 64), layout=layout)
    grad = image(layout, 2, 64, 90, 80)
    results = []
    for threads in (1, 2, 3):
        with gw.threads(threads):
            results.append((plan(x), *plan.backward(grad, x)))
    for other in results[1:]:
        for a, b in zip(other, results[0], strict=True):
            assert_same_bits(a, b)


def test_one_plan_serves_many_threads() -> None:
    # In NCHW order the table is made by the first channels-last image: by many at once.
    plans = [gw.plan_grid_sample(jumpy(1, 40, 41), (33, 32)) for _ in range(4)]
    xs = [image("NHWC", 1, 32, 33, 32).transpose(0, 3, 1, 2) for _ in range(6)]
    with ThreadPoolExecutor(8) as pool:
        jobs = [(p, x, pool.submit(p, x)) for p in plans for x in xs for _ in range(2)]
        for plan, x, job in jobs:
            assert_same_bits(job.result(), gw.grid_sample(x, plan.grid))


def test_pickle_and_copy_of_the_grid() -> None:
    grid, x = jumpy(2, 5, 6), image("NHWC", 2, 20, 9, 8)
    plan = gw.plan_grid_sample(grid, (9, 8), "nearest", "border", True, layout="NHWC", dtype="float32")
    want = plan(x)
    grid[:] = 0
    again = pickle.loads(pickle.dumps(plan))
    assert_same_bits(plan(x), want)
    assert_same_bits(again(x), want)
    for name in ("size", "mode", "padding_mode", "align_corners", "layout", "dtype", "shape"):
        assert getattr(again, name) == getattr(plan, name)
    assert plan.shape == (2, 5, 6, None)
    assert not plan.grid.flags.writeable
    assert "9 x 8" in repr(plan)


def test_arrays_of_other_libraries() -> None:
    torch = pytest.importorskip("torch")
    x, grid = torch.rand(2, 5, 6, 7), torch.rand(2, 3, 4, 2) * 2 - 1
    plan = gw.plan_grid_sample(grid, (6, 7))
    got = plan(x)
    assert isinstance(got, torch.Tensor)
    assert torch.equal(got, gw.grid_sample(x, grid))
    grad_x, grad_grid = plan.backward(torch.ones_like(got), x)
    assert isinstance(grad_x, torch.Tensor)
    assert isinstance(grad_grid, torch.Tensor)


# ------------------------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize(("mode", "padding_mode"), MODES)
@pytest.mark.parametrize("layout", get_args(Layout))
def test_gradients_are_those_of_grid_sample(mode: Any, padding_mode: Any, layout: Any) -> None:
    for dtype, channels in ((np.float32, 3), (np.float32, 40), (np.float64, 16), (np.float16, 24)):
        x, grid = image(layout, 2, channels, 11, 12, dtype), jumpy(2, 8, 9, dtype)
        grad = image(layout, 2, channels, 8, 9, dtype)
        plan = gw.plan_grid_sample(grid, (11, 12), mode, padding_mode, layout=layout)
        want = gw.grid_sample_backward(grad, x, grid, mode, padding_mode, layout=layout)
        for got, expected in zip(plan.backward(grad, x), want, strict=True):
            np.testing.assert_array_equal(got, expected)
        assert plan.backward(grad, x, wrt=("x",))[1] is None
        assert plan.backward(grad, x, wrt=("grid",))[0] is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_a_shared_grid_has_the_sum_of_its_gradients(dtype: Any) -> None:
    x, grid = image("NCHW", 3, 4, 7, 8, dtype), RNG.uniform(-1, 1, (1, 5, 6, 2)).astype(dtype)
    grad = (image("NCHW", 3, 4, 5, 6) / 64).astype(dtype)
    got = gw.plan_grid_sample(grid, (7, 8)).backward(grad, x)
    shared = np.broadcast_to(grid, (3, 5, 6, 2)).astype(np.float64)
    want = gw.grid_sample_backward(grad.astype(np.float64), x.astype(np.float64), shared)[1].sum(axis=0, keepdims=True)
    # Sixteen bits are summed in float32, and rounded once.
    eps = float(ml_dtypes.finfo(dtype).eps)
    bound = (64 * eps if np.dtype(dtype).itemsize > 2 else eps + 1e-5) * np.abs(want).max()
    assert np.abs(got[1].astype(np.float64) - want).max() <= bound
    assert got[1].shape == grid.shape


# ---------------------------------------------------------------------------------------------------------- report


def pixel_of(grid: Array, h: int, w: int) -> Array:
    return ((grid.reshape(-1, 2) + 1) * np.array([w, h]) - 1) / 2


@pytest.mark.parametrize("padding_mode", get_args(PaddingMode))
@pytest.mark.parametrize("mode", get_args(SamplingMode))
def test_a_report_counts_what_the_twin_reads(mode: Any, padding_mode: Any) -> None:
    h, w = 6, 9
    grid = RNG.uniform(-1.6, 1.6, (1, 12, 11, 2))
    report = gw.plan_grid_sample(grid, (h, w), mode, padding_mode).report(channels=3)
    # One channel for each pixel, 1 there and 0 elsewhere: a point reads the pixels whose channels it sees.
    spec = torch_conventions.GRID_SAMPLE
    x = np.eye(h * w).reshape(1, h * w, h, w)
    read = reference.grid_sample(x, grid, replace(spec, mode=mode, padding_mode=padding_mode))[0] != 0
    assert report.pixels == read.any(axis=(1, 2)).sum()
    hits = read.sum(axis=(1, 2))
    if not (mode == "bicubic" and padding_mode != "zeros"):  # there, taps meet on one pixel
        assert report.taps == hits.sum()
        assert report.contended == (hits - 1)[hits > 0].sum()
        assert [s.taps for s in report.hot_spots] == sorted(hits, reverse=True)[:8]
    p = pixel_of(grid, h, w)
    first, taps = {"nearest": (np.rint(p), 1), "bilinear": (np.floor(p), 2), "bicubic": (np.floor(p) - 1, 4)}[mode]
    size = np.array([w, h])
    interior = ((first >= 0) & (first + taps <= size)).all(axis=1)
    outside = ((first + taps <= 0) | (first >= size)).any(axis=1)
    assert (report.interior, report.outside) == (interior.sum(), outside.sum())
    assert report.points == report.interior + report.outside + report.partly_outside == 132


def test_a_report_counts_nan_and_infinity() -> None:
    grid = np.zeros((2, 3, 4, 2), np.float32)
    grid[0, 0, 0, 0] = np.nan
    grid[1, 2, 3] = np.inf
    grid[1, 2, 2, 1] = -np.inf
    report = gw.plan_grid_sample(grid, (5, 5)).report()
    assert (report.with_nan, report.with_infinity, report.outside, report.interior) == (1, 2, 3, 21)
    assert report.pixels <= 4
    assert (report.hot_spots[0].y, report.hot_spots[0].x) == (2, 2)


def test_a_report_tells_smooth_from_random_and_prints() -> None:
    even = gw.plan_grid_sample(smooth(1, 64, 64), (64, 64), layout="NHWC").report(channels=64)
    wild = gw.plan_grid_sample(jumpy(1, 64, 64), (64, 64), layout="NHWC").report(channels=64)
    assert even.jumps < 0.1 * even.points < 0.8 * wild.points < wild.jumps
    assert even.x_bytes_interleaved == even.pixels * 256
    assert even.out_bytes == 64 * 64 * 64 * 4
    text = str(even)
    assert all(word in text for word in ("interior", "outside", "NaN", "pixels read", "bytes"))
    assert gw.plan_grid_sample(np.zeros((1, 0, 3, 2), np.float32), (4, 4)).report().points == 0


def test_estimates_follow_the_rates() -> None:
    names = {"dynamic NCHW", "dynamic NHWC", "plan NCHW", "plan NHWC"}
    grid = RNG.uniform(-1, 1, (1, 128, 128, 2)).astype(np.float32)
    plan = gw.plan_grid_sample(grid, (128, 128))
    estimates = plan.report(channels=64).estimates
    assert {e.variant for e in estimates} == names
    assert [e.seconds for e in estimates] == sorted(e.seconds for e in estimates)
    assert estimates[0].variant == "plan NHWC"
    slow = plan.report(channels=64, rates=MachineRates(bytes=1e6, random_bytes=1e6)).estimates
    assert min(e.seconds for e in slow) > 10 * max(e.seconds for e in estimates)
    twice = plan.report(channels=64, batch=2).estimates
    assert all(e.seconds > 0 for e in (*estimates, *twice))
    assert sum(e.bytes_moved for e in twice) > sum(e.bytes_moved for e in estimates)
    assert all(e.seconds == 0 for e in gw.plan_grid_sample(np.zeros((0, 2, 2, 2)), (3, 3)).report().estimates)
