"""Channels last against channels first and the definition: every channel count, dtype, stride and memory edge."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any, get_args

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave.conventions.spec import GridSampleSpec
from gridwave.modes import PaddingMode, SamplingMode
from gridwave.reference.grid_sample import grid_sample as twin

MODES = get_args(SamplingMode)
PADDINGS = get_args(PaddingMode)
EVERY = list(itertools.product(MODES, PADDINGS))
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 128)
WEIGHTS = {"bilinear": 1.0, "nearest": 1.0, "bicubic": 1.375**2}
"""Largest sum of absolute weights of a point: |c|_1 of Keys' cubic with a = -0.75 is at most 1.375 an axis."""
FLOATS = (np.float32, np.float64, np.float16, ml_dtypes.bfloat16)
INTEGERS = (np.uint8, np.int8, np.uint16)


def image(rng: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if np.dtype(dtype).kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def last(x: Any) -> Any:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1))


def first(y: Any) -> Any:
    return y.transpose(0, 3, 1, 2)


def wide(x: Any) -> Any:
    return np.asarray(x).astype(np.float64)


def check_against_twin(y: Any, x: Any, grid: Any, mode: Any, padding: Any, corners: bool) -> None:
    """Assert the float rule: 4 eps sum|w| max|x| (bicubic 16: its polynomials cancel) and one rounding at the store."""
    integer = np.dtype(x.dtype).kind in "iu"
    compute = np.float64 if x.dtype == np.float64 else np.float32
    spec = GridSampleSpec("test", mode, padding, corners)
    expected = twin(wide(x), grid.astype(compute), spec, coordinate_dtype=compute)
    largest = np.abs(wide(x)).max(initial=0.0)
    limit = (16 if mode == "bicubic" else 4) * np.finfo(compute).eps * WEIGHTS[mode] * largest
    if integer:
        info = np.iinfo(x.dtype)
        expected = np.clip(expected, info.min, info.max)
        limit += 0.5
    elif x.dtype != compute:
        limit += float(ml_dtypes.finfo(x.dtype).eps) / 2 * WEIGHTS[mode] * largest
    np.testing.assert_allclose(wide(y), expected, rtol=0, atol=limit)


@pytest.mark.parametrize(("mode", "padding"), EVERY)
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_layouts_agree_with_the_twin(mode: Any, padding: Any, dtype: Any) -> None:
    rng = np.random.default_rng(11)
    for c, (h, w) in itertools.product(CHANNELS, ((9, 13), (4, 4), (1, 1), (3, 2), (1, 6), (5, 1))):
        corners = bool((c + h) % 2)
        n, ho, wo = 1 + c % 3, 5, 7 + c % 11
        x = image(rng, (n, c, h, w), dtype)
        grid = rng.uniform(-1.6, 1.6, (n, ho, wo, 2)).astype(np.float64 if dtype == np.float64 else np.float32)
        # 1e30 has no fraction left to reflect.
        far = 1e30 if padding != "reflection" else 1e3
        grid[0, 0, :4] = [[np.nan, 0], [0, np.inf], [far, -far], [-1, 1]]
        check_against_twin(gw.grid_sample(x, grid, mode, padding, corners), x, grid, mode, padding, corners)
        y = first(gw.grid_sample(last(x), grid, mode, padding, corners, layout="NHWC"))
        check_against_twin(y, x, grid, mode, padding, corners)


@pytest.mark.parametrize(("mode", "padding"), EVERY)
@pytest.mark.parametrize("channels", [3, 16, 65])
def test_large_outputs_and_shared_grids(mode: Any, padding: Any, channels: int) -> None:
    """Written past the caches (more than 8 MB), several tiles wide, one grid for the batch."""
    rng = np.random.default_rng(12)
    n, ho, wo = 2, 130, 9_500_000 // (4 * 2 * channels * 130)
    x = image(rng, (n, channels, 19, 23), np.float32)
    yy, xx = np.meshgrid(np.linspace(-1.1, 1.1, ho), np.linspace(-1.1, 1.1, wo), indexing="ij")
    one = np.stack([xx + 0.1 * yy, yy - 0.2 * xx], -1).astype(np.float32)[None]
    grid = np.broadcast_to(one, (n, ho, wo, 2))
    y = gw.grid_sample(last(x), grid, mode, padding, layout="NHWC")
    check_against_twin(first(y), x, grid, mode, padding, False)
    single = [gw.grid_sample(last(x[i : i + 1]), one, mode, padding, layout="NHWC") for i in range(n)]
    np.testing.assert_array_equal(y, np.concatenate(single))


@pytest.mark.parametrize(("mode", "padding"), EVERY)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_only_taps_spread_what_is_not_finite(mode: Any, padding: Any, layout: Any, dtype: Any) -> None:
    """Powers of two make coordinates exact, also those on pixels and edges, where taps have a weight of zero."""
    rng = np.random.default_rng(13)
    h, w = 8, 16
    values = np.arange(-80, 81) / 64
    yy, xx = np.meshgrid(values[::5], values, indexing="ij")
    grid = np.stack([xx, yy], -1)[None].astype(np.float64 if dtype == np.float64 else np.float32)
    for c, bad in itertools.product((1, 3, 5, 18), (np.inf, -np.inf, np.nan)):
        x = image(rng, (1, c, h, w), dtype)
        x[0, c // 2, :, 0] = x[0, c // 2, 0, :] = x[0, 0, h - 1, w // 2 :] = bad
        x[0, c - 1, 3, 5] = x[0, 0, :, w - 1] = bad
        spec = GridSampleSpec("test", mode, padding, False)
        with np.errstate(invalid="ignore"):
            expected = twin(wide(x), grid, spec, coordinate_dtype=grid.dtype)
        if layout == "NCHW":
            y = gw.grid_sample(x, grid, mode, padding)
        else:
            y = first(gw.grid_sample(last(x), grid, mode, padding, layout="NHWC"))
        np.testing.assert_array_equal(np.isfinite(wide(y)), np.isfinite(expected))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("channels", [2, 3, 5, 16, 33])
def test_channels_last_memory_in_channels_first_order(mode: Any, channels: int) -> None:
    rng = np.random.default_rng(14)
    x = last(image(rng, (2, channels, 11, 9), np.float32))
    grid = rng.uniform(-1.2, 1.2, (2, 6, 21, 2)).astype(np.float32)
    expected = gw.grid_sample(x, grid, mode, layout="NHWC")
    y = gw.grid_sample(first(x), grid, mode)
    assert y.strides == first(expected).strides
    np.testing.assert_array_equal(y, first(expected))
    for view in (x[:, ::2, :, :], x[:, :, ::-1, :], x[:, ::-1, ::3, :], x[..., ::2], x[..., : channels - 1]):
        got = gw.grid_sample(view, grid, mode, "reflection", layout="NHWC")
        expected = gw.grid_sample(view.copy(), grid, mode, "reflection", layout="NHWC")
        limit = 16 * np.finfo(np.float32).eps * WEIGHTS[mode] * np.abs(x).max()  # strides choose how pixels are read
        np.testing.assert_allclose(got, expected, rtol=0, atol=limit)


@pytest.mark.parametrize(("mode", "layout"), [*itertools.product(MODES, ["NCHW", "NHWC"])])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8])
def test_nothing_is_written_beside_out(mode: Any, layout: Any, dtype: Any) -> None:
    rng = np.random.default_rng(15)
    for c, offset in itertools.product(CHANNELS, (0, 1, 7)):
        x = image(rng, (2, c, 7, 9), dtype)
        x = x if layout == "NCHW" else last(x)
        grid = rng.uniform(-1.2, 1.2, (2, 9, 31, 2)).astype(np.float64 if dtype == np.float64 else np.float32)
        expected = gw.grid_sample(x, grid, mode, layout=layout)
        guard = 64 + offset
        whole = np.full(expected.size + 2 * guard, 77, dtype)
        out = whole[guard : guard + expected.size].reshape(expected.shape)
        assert gw.grid_sample(x, grid, mode, layout=layout, out=out) is out
        np.testing.assert_array_equal(out, expected)
        assert (whole[:guard] == 77).all()
        assert (whole[guard + expected.size :] == 77).all()
        # A window of a larger array, every other row and column of it.
        frame = np.full([2 * s + 3 for s in expected.shape], 77, dtype)
        out = frame[tuple(slice(1, 1 + 2 * s, 2) for s in expected.shape)]
        gw.grid_sample(x, grid, mode, layout=layout, out=out)
        np.testing.assert_array_equal(out, expected)
        out[...] = 77
        assert (frame == 77).all()


_BETWEEN_FORBIDDEN_PAGES = """
import ctypes, itertools, mmap, sys
import ml_dtypes, numpy as np
import gridwave as gw
page = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
rng = np.random.default_rng(16)
grid = rng.uniform(-1.3, 1.3, (2, 5, 37, 2)).astype(np.float32)
grid[0, 0, :6] = [[-1, -1], [1, 1], [0.999, 0.999], [np.nan, 0.999], [np.inf, 1e30], [-1e30, -np.inf]]
calls = 0
for dtype, channels in itertools.product(sys.argv[1].split(), map(int, sys.argv[2].split())):
    dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    for h, w in ((6, 5), (4, 4), (1, 3), (2, 2), (13, 17)):
        size = 2 * channels * h * w * dtype.itemsize
        pages = -(-size // page)
        memory = mmap.mmap(-1, (pages + 2) * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for edge in (start, start + (pages + 1) * page):
            assert libc.mprotect(ctypes.c_void_p(edge), page, 0) == 0
        for at in (page, (pages + 1) * page - size):
            flat = np.frombuffer(memory, dtype, 2 * channels * h * w, at)
            flat[...] = 1
            g = grid.astype(np.float64) if dtype == np.float64 else grid
            for mode, padding in itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "reflection")):
                gw.grid_sample(flat.reshape(2, h, w, channels), g, mode, padding, layout="NHWC")
                gw.grid_sample(flat.reshape(2, channels, h, w), g, mode, padding)
                calls += 2
print(calls)
"""


def sets_of_this_cpu() -> list[str]:
    order = ["x86-64-v4", "x86-64-v3", "x86-64-v2"]
    best = gw.show_config()["best_isa"]
    return order[order.index(best) :] if best in order else [best]


@pytest.mark.skipif(sys.platform == "win32", reason="needs mprotect")
@pytest.mark.parametrize("isa", sets_of_this_cpu())
def test_nothing_is_read_beside_x(isa: str) -> None:
    """Both ends of ``x`` touch pages that kill the process when read."""
    dtypes = "float32 float64 float16 bfloat16 uint8 int8 uint16"
    arguments = [dtypes, " ".join(map(str, CHANNELS))]
    env = os.environ | {"GRIDWAVE_ISA": isa}
    done = subprocess.run(
        [sys.executable, "-c", _BETWEEN_FORBIDDEN_PAGES, *arguments],
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 7 * len(CHANNELS) * 5 * 2 * 6 * 2
