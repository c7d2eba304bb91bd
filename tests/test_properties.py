"""What must hold of grid_sample whatever the numbers: identity, shift, linearity, adjoints, batches, threads, CPUs."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gridwave as gw
from gridwave.conventions.spec import GridSampleSpec
from gridwave.modes import PaddingMode, SamplingMode
from gridwave.reference.grid_sample import grid_sample as twin

MODES = get_args(SamplingMode)
PADDINGS = get_args(PaddingMode)
EVERY = list(itertools.product(MODES, PADDINGS, (False, True)))
WEIGHTS = {"bilinear": 1.0, "nearest": 1.0, "bicubic": 1.375**2}
"""Largest sum of absolute weights of a point: |c|_1 of Keys' cubic with a = -0.75 is at most 1.375 an axis."""


def random_case(seed: int, shape: tuple[int, ...], out: tuple[int, int], reach: float = 1.2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    grid = rng.uniform(-reach, reach, (shape[0], *out, 2))
    x.flags.writeable = grid.flags.writeable = False
    return x, grid


def identity(n: int, h: int, w: int, align_corners: bool, dtype: Any = np.float64) -> Any:
    theta = np.broadcast_to(np.array([[1, 0, 0], [0, 1, 0]], dtype), (n, 2, 3))
    return gw.affine_grid(theta, (n, 1, h, w), align_corners)


@pytest.mark.parametrize(("mode", "padding", "corners"), EVERY)
@given(h=st.integers(2, 40), w=st.integers(2, 40), c=st.integers(1, 20))
@settings(max_examples=20, deadline=None)
def test_identity_grid_gives_the_image(mode: Any, padding: Any, corners: bool, h: int, w: int, c: int) -> None:
    x, _ = random_case(0, (1, c, h, w), (1, 1))
    y = gw.grid_sample(x, identity(1, h, w, corners), mode, padding, corners)
    # A coordinate is off its pixel by a few eps of the axis; the slope of a pixel pair is at most 2 max|x| (cubic: 4).
    limit = 16 * np.finfo(np.float64).eps * max(h, w) * np.abs(x).max()
    np.testing.assert_allclose(y, x, rtol=0, atol=limit)


@given(dx=st.integers(-9, 9), dy=st.integers(-9, 9))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("mode", MODES)
def test_a_shift_by_whole_pixels_moves_pixels(mode: Any, dx: int, dy: int) -> None:
    h, w = 8, 16  # powers of two: these grid values are exact
    x, _ = random_case(1, (1, 3, h, w), (1, 1))
    grid = identity(1, h, w, False) + 2.0 * np.array([dx / w, dy / h])
    expected = np.zeros_like(x)
    ys, xs = np.mgrid[0:h, 0:w]
    inside = (ys + dy >= 0) & (ys + dy < h) & (xs + dx >= 0) & (xs + dx < w)
    expected[:, :, inside] = x[:, :, (ys + dy)[inside], (xs + dx)[inside]]
    y = gw.grid_sample(x, grid, mode, "zeros", False)
    np.testing.assert_allclose(y, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("mode", "padding", "corners"), EVERY)
def test_linear_in_the_image(mode: Any, padding: Any, corners: bool) -> None:
    x, grid = random_case(2, (2, 5, 9, 33), (13, 40))
    z, _ = random_case(3, x.shape, (1, 1))
    together = gw.grid_sample(2.5 * x - z, grid, mode, padding, corners)
    apart = 2.5 * gw.grid_sample(x, grid, mode, padding, corners) - gw.grid_sample(z, grid, mode, padding, corners)
    limit = 16 * np.finfo(np.float64).eps * WEIGHTS[mode] * (2.5 * np.abs(x).max() + np.abs(z).max())
    np.testing.assert_allclose(together, apart, rtol=0, atol=limit)


@pytest.mark.parametrize(("mode", "padding", "corners"), EVERY)
@pytest.mark.parametrize("shape", [(2, 3, 9, 11), (1, 17, 20, 31), (3, 1, 1, 7), (1, 40, 2, 2)])
def test_backward_is_the_adjoint(mode: Any, padding: Any, corners: bool, shape: tuple[int, ...]) -> None:
    x, grid = random_case(4, shape, (12, 10))
    y = np.random.default_rng(5).standard_normal((shape[0], shape[1], 12, 10))
    forward = gw.grid_sample(x, grid, mode, padding, corners)
    grad_x, _ = gw.grid_sample_backward(y, x, grid, mode, padding, corners, wrt=("x",))
    # Both are sums of the same products; the error of either is bounded by the sum of their absolute values.
    scale = np.vdot(gw.grid_sample(np.abs(x), grid, mode, padding, corners), np.abs(y))
    scale = max(scale, WEIGHTS[mode] * np.abs(x).max() * np.abs(y).sum())
    assert abs(np.vdot(forward, y) - np.vdot(x, grad_x)) <= 32 * np.finfo(np.float64).eps * scale


@pytest.mark.parametrize(("mode", "padding", "corners"), EVERY)
def test_a_batch_is_its_images(mode: Any, padding: Any, corners: bool) -> None:
    x, grid = random_case(6, (4, 3, 10, 12), (9, 21))
    x, grid = x.astype(np.float32), grid.astype(np.float32)
    batch = gw.grid_sample(x, grid, mode, padding, corners)
    loop = [gw.grid_sample(x[i : i + 1], grid[i : i + 1], mode, padding, corners) for i in range(4)]
    np.testing.assert_array_equal(batch, np.concatenate(loop))
    shared = gw.grid_sample(x, np.broadcast_to(grid[:1], grid.shape), mode, padding, corners)
    copies = gw.grid_sample(x, np.repeat(grid[:1], 4, axis=0), mode, padding, corners)
    np.testing.assert_array_equal(shared, copies)


@pytest.mark.parametrize(("mode", "padding", "corners"), EVERY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_channels_last_equals_channels_first(mode: Any, padding: Any, corners: bool, dtype: Any) -> None:
    for channels in (1, 2, 3, 4, 8, 16, 19):
        x, grid = random_case(7, (2, channels, 14, 18), (16, 17))
        x, grid = x.astype(dtype), grid.astype(dtype)
        first = gw.grid_sample(x, grid, mode, padding, corners)
        last = gw.grid_sample(x.transpose(0, 2, 3, 1).copy(), grid, mode, padding, corners, layout="NHWC")
        limit = 8 * np.finfo(dtype).eps * WEIGHTS[mode] * np.abs(x).max()
        np.testing.assert_allclose(last.transpose(0, 3, 1, 2), first, rtol=0, atol=limit)


def skewed(grid: Any) -> Any:
    """Make three quarters of a grid point far outside, and the rest at one hot spot."""
    grid = grid.copy()
    rows = grid.shape[1]
    grid[:, : rows * 3 // 4] = 7.0
    grid[:, rows * 3 // 4 :] *= 0.01
    return grid


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("kind", ["smooth", "random", "skewed"])
def test_bits_do_not_depend_on_threads(mode: Any, layout: Any, kind: str) -> None:
    for shape, out in (((2, 24, 40, 48), (70, 90)), ((1, 3, 120, 160), (120, 320))):
        x, grid = random_case(8, shape, out)
        if kind == "smooth":
            grid = 0.9 * gw.affine_grid(np.array([[[0.9, 0.2, 0], [-0.2, 0.9, 0]]] * shape[0]), (shape[0], 1, *out))
        elif kind == "skewed":
            grid = skewed(grid)
        x, grid = x.astype(np.float32), grid.astype(np.float32)
        if layout == "NHWC":
            x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
        results = []
        for n in (1, 2, 3, 8):
            with gw.threads(n):
                y = gw.grid_sample(x, grid, mode, "border", layout=layout)
                results.append((y, *gw.grid_sample_backward(y, x, grid, mode, "border", layout=layout)))
        for other in results[1:]:
            for a, b in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32))


_ON_ONE_SET = """
import sys, numpy as np, gridwave as gw
data = np.load(sys.argv[1])
results = {"isa": np.array(gw.show_config()["isa"])}
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for layout in ("NCHW", "NHWC"):
            x = data["x"] if layout == "NCHW" else np.ascontiguousarray(data["x"].transpose(0, 2, 3, 1))
            y = gw.grid_sample(x, data["grid"], mode, padding, layout=layout)
            gx, gg = gw.grid_sample_backward(y, x, data["grid"], mode, padding, layout=layout)
            if layout == "NHWC":
                y, gx = y.transpose(0, 3, 1, 2), gx.transpose(0, 3, 1, 2)
            for name, value in (("y", y), ("grad_x", gx), ("grad_grid", gg)):
                results[f"{mode} {padding} {layout} {name}"] = value
np.savez(sys.argv[2], **results)
"""


def sets_of_this_cpu() -> list[str]:
    order = ["x86-64-v4", "x86-64-v3", "x86-64-v2"]
    best = gw.show_config()["best_isa"]
    return order[order.index(best) :] if best in order else [best]


def test_instruction_sets_agree(tmp_path: Path) -> None:
    x, grid = random_case(9, (2, 19, 21, 37), (23, 41))
    x, grid = x.astype(np.float32), grid.astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x, grid=grid)
    runs = {}
    for isa in sets_of_this_cpu():
        out = tmp_path / f"{isa}.npz"
        env = os.environ | {"GRIDWAVE_ISA": isa}
        subprocess.run([sys.executable, "-c", _ON_ONE_SET, str(tmp_path / "in.npz"), str(out)], env=env, check=True)
        runs[isa] = dict(np.load(out))
        assert str(runs[isa].pop("isa")) == isa
    eps = float(np.finfo(np.float32).eps)
    first = next(iter(runs.values()))
    for name, ours in first.items():
        mode = name.split()[0]
        # Coordinates are the same to the bit, so only sums differ: the float rule with each sum's absolute terms.
        # A pixel of grad_x is the sum of about points / pixels * 4 terms (16 for bicubic), grad_grid of 2 C taps.
        terms = 1.0
        if name.endswith("grad_x"):
            terms = 16 * grid.shape[1] * grid.shape[2] / (x.shape[2] * x.shape[3])
        elif name.endswith("grad_grid"):
            terms = 4 * x.shape[1] * x.shape[3] * np.abs(x).max()
        limit = 4 * eps * WEIGHTS[mode] ** 2 * np.abs(x).max() * terms
        for isa, other in runs.items():
            np.testing.assert_allclose(other[name], ours, rtol=0, atol=limit, err_msg=f"{name} on {isa}")


def test_these_properties_catch_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gw.grid_sample

    def swapped(x: Any, grid: Any, *args: Any, **kwargs: Any) -> Any:
        return right(x, np.ascontiguousarray(grid[..., ::-1]), *args, **kwargs)

    monkeypatch.setattr(gw, "grid_sample", swapped)
    with pytest.raises(AssertionError):
        test_a_shift_by_whole_pixels_moves_pixels.hypothesis.inner_test("bilinear", 1, 0)  # type: ignore[attr-defined]
    with pytest.raises(AssertionError):
        test_backward_is_the_adjoint("bilinear", "zeros", False, (2, 3, 9, 11))

    def truncated(x: Any, grid: Any, *args: Any, **kwargs: Any) -> Any:
        y = right(x, grid, *args, **kwargs)
        return y if y.shape[0] == 1 else np.concatenate([y[:-1], 0.999 * y[-1:]])

    monkeypatch.setattr(gw, "grid_sample", truncated)
    with pytest.raises(AssertionError):
        test_a_batch_is_its_images("bilinear", "zeros", False)


@pytest.mark.parametrize(("mode", "padding", "corners"), EVERY)
@given(
    seed=st.integers(0, 2**20),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 40), st.integers(1, 24), st.integers(1, 40)),
    out=st.tuples(st.integers(1, 30), st.integers(1, 50)),
    reach=st.sampled_from([0.3, 1.0, 1.2, 4.0]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=25, deadline=None)
def test_equals_the_twin(
    mode: Any, padding: Any, corners: bool, seed: int, shape: Any, out: Any, reach: float, dtype: Any
) -> None:
    x, grid = random_case(seed, shape, out, reach)
    x, grid = x.astype(dtype), grid.astype(dtype)
    y = gw.grid_sample(x, grid, mode, padding, corners)
    spec = GridSampleSpec("test", mode, padding, corners)
    expected = twin(x.astype(np.float64), grid, spec, coordinate_dtype=dtype)
    # Keys' polynomials cancel in float32: 16 eps where bilinear's weights need 4.
    limit = (16 if mode == "bicubic" else 4) * np.finfo(dtype).eps * WEIGHTS[mode] * np.abs(x).max()
    np.testing.assert_allclose(y, expected, rtol=0, atol=limit)
