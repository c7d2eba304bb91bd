"""The float64 twin: against numbers worked out by hand, against PyTorch, and against mutations of itself."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from gridwave import reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.modes import PaddingMode, SamplingMode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import replay_golden  # noqa: E402, F401  registers the claims
from replay.cases import load  # noqa: E402
from replay.judge import judge  # noqa: E402
from replay.registry import Truth, find  # noqa: E402

twin = importlib.import_module("gridwave.reference.grid_sample")

MODES, PADDINGS = get_args(SamplingMode), get_args(PaddingMode)
ALL = list(itertools.product(MODES, PADDINGS, (False, True)))


def spec(mode: Any, padding: Any, corners: bool, **other: Any) -> GridSampleSpec:
    return GridSampleSpec("test", mode=mode, padding_mode=padding, align_corners=corners, **other)


# ------------------------------------------------------------------------------------------- numbers worked by hand
# One row x = 0 1 4 9 16 sampled at the positions P: value, slope per sample, and gradient of x for ones.

ROW = np.array([0.0, 1.0, 4.0, 9.0, 16.0])
P = np.array([-3, -1.25, -0.5, 0, 0.25, 1.5, 2.5, 3.75, 4.25, 4.5, 5.25, 7])
ROWS = """
bilinear zeros 1 | 0 0 0 0 .25 2.5 6.5 14.25 12 8 0 0 | 0 0 0 1 1 3 5 7 -16 -16 0 0 | 2.25 .75 1 .75 2
bilinear zeros 0 | 0 0 0 0 .25 2.5 6.5 14.25 12 8 0 0 | 0 0 0 0 1 3 5 7 -16 -16 0 0 | 2.25 .75 1 .75 2
bilinear border 01 | 0 0 0 0 .25 2.5 6.5 14.25 16 16 16 16 | 0 0 0 0 1 3 5 7 0 0 0 0 | 4.75 .75 1 .75 4.75
bilinear reflection 1 | 9 1.75 .5 0 .25 2.5 6.5 14.25 14.25 12.5 7.75 1 \
 | -7 -3 -1 0 1 3 5 7 -7 -7 -5 -3 | 2.25 3 1.5 3.25 2
bilinear reflection 0 | 4 .25 0 0 .25 2.5 6.5 14.25 16 16 14.25 4 | -5 -1 0 0 1 3 5 7 0 0 -7 -5 | 3.5 1 3 1 3.5
nearest zeros 01 | 0 0 0 0 0 4 4 16 16 16 0 0 | 0 0 0 0 0 0 0 0 0 0 0 0 | 3 0 2 0 3
nearest border 01 | 0 0 0 0 0 4 4 16 16 16 16 16 | 0 0 0 0 0 0 0 0 0 0 0 0 | 5 0 2 0 5
nearest reflection 1 | 9 1 0 0 0 4 4 16 16 16 9 1 | 0 0 0 0 0 0 0 0 0 0 0 0 | 3 2 2 2 3
nearest reflection 0 | 4 0 0 0 0 4 4 16 16 16 16 4 | 0 0 0 0 0 0 0 0 0 0 0 0 | 4 0 4 0 4
bicubic zeros 01 | 0 0 -.09375 0 .12109 2.125 6.125 16.27734 13.11328 8.65625 -1.6875 0 \
 | 0 0 -.1875 .75 .32812 2.25 3.75 3.79688 -15.51562 -19.3125 -2.25 0 | 2.27344 .66797 1.11719 .5625 2.15234
bicubic border 01 | 0 0 -.09375 0 .12109 2.125 6.125 14.58984 16.73828 16.65625 16 16 \
 | 0 0 -.1875 .75 .32812 2.25 3.75 6.04688 .98438 -1.3125 0 0 | 4.77344 .66797 1.11719 .5625 4.87891
bicubic reflection 1 | 9 1.60938 .125 0 .01562 2.125 6.125 15.32812 15.32812 13.625 7.23438 1 \
 | -9 -2.0625 -.75 0 .1875 2.25 3.75 5.0625 -5.0625 -8.25 -5.4375 -3 | 2.27344 3 1.41797 3.15625 2.15234
bicubic reflection 0 | 4 .12109 -.1875 0 .12109 2.125 6.125 14.58984 16.98438 17.3125 14.58984 4 \
 | -6 -.32812 0 .75 .32813 2.25 3.75 6.04688 2.625 0 -6.04688 -6 | 3.64062 .83594 3.04688 .69531 3.78125
"""
KINKS = np.array([-1, -0.5, -0.25, 0, 0.5, 1, 2, 3.5, 4, 4.25, 4.5, 5])
KINK_SLOPES = {
    "zeros": [0, 0, 0, 1, 1, 3, 5, 7, -16, -16, -16, 0],
    "border": [0, 0, 0, 0, 1, 3, 5, 7, 0, 0, 0, 0],
    "reflection": [-3, -1, -1, 0, 1, 3, 5, 7, 0, -7, -7, -7],
}
RAMP_GRID = np.array([[[[-1, -1], [1, -1]], [[-1, 1], [0.3, -0.6]]]])
RAMP = """
bilinear zeros        | 0 3 12 4.35      | 0 .75 3 3.3
bilinear border       | 0 3 12 4.35      | 0 3 12 3.3
bilinear reflection   | 0 3 12 4.35      | 0 3 12 3.3
nearest zeros         | 0 3 12 6         | 0 0 0 2
nearest border        | 0 3 12 6         | 0 3 12 2
nearest reflection    | 0 3 12 6         | 0 3 12 2
bicubic zeros         | 0 3 12 4.083486  | -.234375 .609375 3.140625 3.334728
bicubic border        | 0 3 12 3.944625  | -.46875 2.71875 12.28125 3.06975
bicubic reflection    | 0 3 12 3.656625  | -.9375 2.4375 12.5625 3.06975
"""
CUBE_GRID = np.array([[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [0, 0, 0], [0.5, -0.5, 0.25], [1.5, 0, 0]])
CUBE = """
bilinear zeros        | 0 1 2 4 3.5 3.75 3      | 0 .125 .25 .5 3.5 4 0
bilinear border       | 0 1 2 4 3.5 3.75 4      | 0 1 2 4 3.5 4 4
bilinear reflection   | 0 1 2 4 3.5 3.75 3.75   | 0 1 2 4 3.5 4 4
nearest zeros         | 0 1 2 4 0 5 1           | 0 0 0 0 0 5 0
nearest border        | 0 1 2 4 0 5 1           | 0 1 2 4 0 5 1
nearest reflection    | 0 1 2 4 0 5 1           | 0 1 2 4 0 5 1
"""


def row_grid(p: Any, corners: bool) -> Any:
    g = 2 * p / 4 - 1 if corners else (2 * p + 1) / 5 - 1
    return np.stack([g, np.zeros_like(g)], -1).reshape(1, 1, -1, 2)


def numbers(text: str) -> Any:
    return np.array([float(v) for v in text.split()])


def table(text: str) -> list[tuple[list[str], list[Any]]]:
    lines = [line.split("|") for line in text.strip().splitlines()]
    return [(cells[0].split(), [numbers(c) for c in cells[1:]]) for cells in lines]


def check_rows() -> None:
    for (mode, padding, corner_cases), (value, slope, grad_x) in table(ROWS):
        for corners in (c == "1" for c in corner_cases):
            s, grid = spec(mode, padding, corners), row_grid(P, corners)
            x = ROW.reshape(1, 1, 1, 5)
            np.testing.assert_allclose(reference.grid_sample(x, grid, s).ravel(), value, atol=6e-6)
            dx, dgrid = reference.grid_sample_backward(np.ones((1, 1, 1, 12)), x, grid, s)
            np.testing.assert_allclose(dgrid[..., 0].ravel() / (2 if corners else 2.5), slope, atol=6e-6)
            np.testing.assert_allclose(dx.ravel(), grad_x, atol=6e-6)


def check_kinks() -> None:
    for padding, slopes in KINK_SLOPES.items():
        s = spec("bilinear", padding, True)
        _, dgrid = reference.grid_sample_backward(
            np.ones((1, 1, 1, 12)), ROW.reshape(1, 1, 1, 5), row_grid(KINKS, True), s
        )
        np.testing.assert_allclose(dgrid[..., 0].ravel() / 2, slopes, atol=1e-12)


def check_single_pixel() -> None:
    grid = np.array([[-3, 0], [-0.5, 0], [0, 0], [0.5, 30], [5, 0]]).reshape(1, 1, 5, 2)
    x = np.full((1, 1, 1, 1), 7.0)
    for mode, padding in itertools.product(MODES, PADDINGS):
        np.testing.assert_allclose(reference.grid_sample(x, grid, spec(mode, padding, True)).ravel(), 7)
        if padding != "zeros" and mode != "bicubic":
            np.testing.assert_allclose(reference.grid_sample(x, grid, spec(mode, padding, False)).ravel(), 7)
    y = reference.grid_sample(x, grid, spec("bilinear", "zeros", False))
    np.testing.assert_allclose(y.ravel(), [0, 5.25, 7, 0, 0])


def check_ramp() -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    for (mode, padding), columns in table(RAMP):
        for corners, expected in zip((True, False), columns, strict=True):
            y = reference.grid_sample(x, RAMP_GRID, spec(mode, padding, corners))
            np.testing.assert_allclose(y.ravel(), expected, atol=1e-6)


def check_cube() -> None:
    x = np.arange(8.0).reshape(1, 1, 2, 2, 2)
    for (mode, padding), columns in table(CUBE):
        for corners, expected in zip((True, False), columns, strict=True):
            y = reference.grid_sample(x, CUBE_GRID.reshape(1, 1, 1, 7, 3), spec(mode, padding, corners))
            np.testing.assert_allclose(y.ravel(), expected, atol=1e-12)


def check_cubic_weights() -> None:
    pairs = list(twin.cubic_weights(np.array(0.3), -0.75))
    np.testing.assert_allclose([w for w, _ in pairs], [-0.11025, 0.83125, 0.32625, -0.04725], atol=1e-15)
    np.testing.assert_allclose([d for _, d in pairs], [-0.0525, -1.0125, 1.3125, -0.2475], atol=1e-14)


HAND_CHECKS = [check_rows, check_kinks, check_single_pixel, check_ramp, check_cube, check_cubic_weights]


@pytest.mark.parametrize("check", HAND_CHECKS, ids=lambda c: c.__name__)
def test_numbers_worked_by_hand(check: Callable[[], None]) -> None:
    check()


# ------------------------------------------------------------------------------------------------ rules and options


def test_weights_sum_to_one_and_slopes_to_zero() -> None:
    g = np.linspace(-3, 3, 61)
    for mode, padding, corners in ALL:
        for length in (1, 2, 5):
            taps = twin.axis_taps(g, length, spec(mode, padding, corners))
            np.testing.assert_allclose(sum(t.weight for t in taps), 1, atol=1e-14)
            np.testing.assert_allclose(sum(t.slope for t in taps), 0, atol=1e-13)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_backward_is_the_adjoint_and_the_derivative(axes: int) -> None:
    rng = np.random.default_rng(axes)
    shape, out = (4, 5, 6)[:axes], (2, 3, 2)[:axes]
    x, y = rng.standard_normal((2, 3, *shape)), rng.standard_normal((2, 3, *out))
    for mode, padding, corners in ALL:
        s = spec(mode, padding, corners)
        p = rng.integers(-3, 9, (2, *out, axes)) + rng.uniform(0.1, 0.4, (2, *out, axes))  # away from kinks and ties
        size = np.array(shape[::-1])
        g = 2 * p / (size - 1) - 1 if corners else (2 * p + 1) / size - 1
        dx, dgrid = reference.grid_sample_backward(y, x, g, s)
        forward = np.sum(reference.grid_sample(x, g, s) * y)
        assert abs(forward - np.sum(dx * x)) < 1e-12 * max(1, abs(forward)) + 1e-11
        direction = rng.standard_normal(g.shape)
        ahead, behind = (np.sum(reference.grid_sample(x, g + h * direction, s) * y) for h in (1e-6, -1e-6))
        assert abs((ahead - behind) / 2e-6 - np.sum(dgrid * direction)) < 1e-6 * (1 + np.abs(dgrid).sum())


def nonfinite_grid(*values: float) -> Any:
    return np.stack([np.array(values), np.zeros(len(values))], -1).reshape(1, 1, -1, 2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("corners", [False, True])
def test_non_finite_and_huge_coordinates(mode: str, corners: bool) -> None:
    x = np.arange(1.0, 13.0).reshape(1, 1, 3, 4)
    grid = nonfinite_grid(np.nan, np.inf, -np.inf, 1e10, -1e10)
    ones = np.ones((1, 1, 1, 5))
    expected = {"zeros": [0] * 5, "border": [5, 8, 5, 8, 5]}
    for padding, values in expected.items():
        s = spec(mode, padding, corners)
        np.testing.assert_allclose(reference.grid_sample(x, grid, s).ravel(), values)
        dx, dgrid = reference.grid_sample_backward(ones, x, grid, s)
        assert not dgrid[..., 0].any()
        np.testing.assert_allclose(dx.sum(), 0 if padding == "zeros" else 5)
    s = spec(mode, "reflection", corners)
    np.testing.assert_allclose(reference.grid_sample(x, grid[:, :, :3], s).ravel(), 5)
    assert not reference.grid_sample_backward(ones[..., :3], x, grid[:, :, :3], s)[1][..., 0].any()


def test_lower_border_is_onnxruntimes() -> None:
    x = np.arange(1.0, 13.0).reshape(1, 1, 3, 4)
    grid = nonfinite_grid(np.nan, np.inf, -np.inf, 1e30)
    for mode, value in (("bilinear", 2.5), ("nearest", 5), ("bicubic", 2.40625)):
        s = spec(mode, "zeros", False, nonfinite="lower_border")
        np.testing.assert_allclose(reference.grid_sample(x, grid, s).ravel(), value)
        s = replace(s, padding_mode="border")
        if mode != "bicubic":
            np.testing.assert_allclose(reference.grid_sample(x, grid, s).ravel(), 5)


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [("half_even", [1, 1, 1, 3, 3]), ("half_away", [1, 2, 2, 3, 4]), ("half_up", [1, 1, 2, 3, 4])],
)
def test_nearest_rounding(rounding: Any, expected: list[int]) -> None:
    x = np.arange(1.0, 5.0).reshape(1, 1, 1, 4)
    p = np.array([-0.5, 0.5, 0.5, 1.5, 2.5])
    grid = np.stack([(2 * p + 1) / 4 - 1, p * 0], -1).reshape(1, 1, 5, 2)
    y = reference.grid_sample(x, grid, spec("nearest", "border", False, nearest_rounding=rounding)).ravel()
    rule = {"half_even": np.rint, "half_up": lambda v: np.floor(v + 0.5)}.get(
        rounding, lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v)
    )
    np.testing.assert_array_equal(y, 1 + np.clip(rule(p), 0, 3))


def test_nearest_pads_before_or_after_rounding() -> None:
    """W = 4, values 1 to 4: the row of ties on which PyTorch and ONNX Runtime differ."""
    x = np.arange(1.0, 5.0).reshape(1, 1, 1, 4)
    p = np.arange(-3.5, 7)
    grid = np.stack([(2 * p + 1) / 4 - 1, p * 0], -1).reshape(1, 1, -1, 2)
    s = spec("nearest", "reflection", False)
    y = reference.grid_sample(x, grid, s).ravel()
    np.testing.assert_array_equal(y, [3, 3, 1, 1, 1, 3, 3, 4, 3, 3, 1])
    y = reference.grid_sample(x, grid, replace(s, pad_order="index")).ravel()
    np.testing.assert_array_equal(y, [4, 2, 2, 1, 1, 3, 3, 4, 4, 2, 2])


def test_cubic_clamps_the_coordinate_beyond_the_outer_edges_only() -> None:
    p = np.array([-0.75, -0.25, 4.25, 4.75])
    for corners, beyond in ((False, [True, False, False, True]), (True, [True] * 4)):
        taps, coordinate = (
            reference.grid_sample(
                ROW.reshape(1, 1, 1, 5), row_grid(p, corners), spec("bicubic", "border", corners, cubic_padding=rule)
            ).ravel()
            for rule in ("taps", "coordinate")
        )
        np.testing.assert_allclose(coordinate, np.where(beyond, [0, 0, 16, 16], taps))
        assert np.all(np.abs(taps - [0, 0, 16, 16]) > 0.01)


def test_coordinates_in_another_dtype() -> None:
    """In float32 the coordinate of this g is exactly a tie, in float64 it is not."""
    g = np.float32(2 * 2.5 + 1) / np.float32(7) - np.float32(1)
    grid = np.array([g, 0], np.float32).reshape(1, 1, 1, 2)
    x = np.arange(7.0).reshape(1, 1, 1, 7)
    for dtype in (np.float32, np.float64):
        p = ((grid[..., 0].astype(dtype) + 1) * 7 - 1) / 2
        y = reference.grid_sample(x, grid, spec("nearest", "border", False), coordinate_dtype=dtype)
        assert y.item() == np.rint(p).item()


def test_absolute_sums_bound_the_values() -> None:
    rng = np.random.default_rng(1)
    x, grid, grad = (rng.standard_normal(s) for s in ((2, 3, 4, 5), (2, 3, 3, 2), (2, 3, 3, 3)))
    for mode, padding, corners in ALL:
        s = spec(mode, padding, corners)
        size = reference.grid_sample(x, grid, s, absolute=True)
        assert np.all(np.abs(reference.grid_sample(x, grid, s)) <= size + 1e-12)
        assert np.all(size <= 1.375**2 * np.abs(x).max() + 1e-12)
        pairs = (reference.grid_sample_backward(grad, x, grid, s, absolute=a) for a in (False, True))
        for value, bound in zip(*pairs, strict=True):
            assert np.all(np.abs(value) <= bound + 1e-12)


def test_empty_arrays() -> None:
    s = spec("bilinear", "zeros", False)
    for shape, out in (((0, 3, 4, 5), (2, 2)), ((2, 0, 4, 5), (2, 2)), ((2, 3, 4, 5), (0, 2))):
        x, grid = np.zeros(shape), np.zeros((shape[0], *out, 2))
        y = reference.grid_sample(x, grid, s)
        assert y.shape == (*shape[:2], *out)
        assert [a.shape for a in reference.grid_sample_backward(y, x, grid, s)] == [x.shape, grid.shape]


def test_affine_grid_by_hand() -> None:
    identity = np.eye(2, 3)[None]
    grid = reference.affine_grid(identity, (1, 1, 1, 2))
    np.testing.assert_allclose(grid[0, 0], [[-0.5, 0], [0.5, 0]])
    for zero, y in ((True, 0), (False, -1)):
        grid = reference.affine_grid(identity, (1, 1, 1, 3), True, zero)
        np.testing.assert_allclose(grid[0, 0], [[-1, y], [0, y], [1, y]])
    np.testing.assert_allclose(reference.affine_grid_backward(np.ones((1, 1, 2, 2)), (1, 1, 1, 2)), [[[0, 0, 2]] * 2])


# ---------------------------------------------------------------------------------------------------------- PyTorch


def coordinates_for_torch(rng: Any, sizes: tuple[int, ...], corners: bool, kind: str) -> Any:
    """Positions in samples as normalised coordinates: anywhere, on lattice lines, half-way between them."""
    shape = (2, *(3,) * (len(sizes) - 1), 4, len(sizes))
    p = rng.integers(-8, 14, shape) + {"random": rng.uniform(0.02, 0.98, shape), "lattice": 0.0, "half": 0.5}[kind]
    size = np.array(sizes[::-1])
    return 2 * p / np.maximum(size - 1, 1) - 1 if corners else (2 * p + 1) / size - 1


@pytest.mark.parametrize("kind", ["random", "lattice", "half"])
@pytest.mark.parametrize("axes", [2, 3])
def test_torch_agrees(axes: int, kind: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(7)
    for mode, padding, corners in ALL:
        if axes == 3 and mode == "bicubic":
            continue
        # Powers of two, and one more with align_corners: coordinates on the lattice and half-way are then exact.
        sizes = ((5, 9, 3) if corners else (4, 8, 2))[:axes]
        grid = coordinates_for_torch(rng, sizes, corners, kind)
        x, grad = rng.standard_normal((2, 3, *sizes)), rng.standard_normal((2, 3, *grid.shape[1:-1]))
        tx, tg = (torch.from_numpy(a.copy()).requires_grad_(True) for a in (x, grid))
        y = torch.nn.functional.grid_sample(tx, tg, mode, padding, corners)
        y.backward(torch.from_numpy(grad))
        s = spec(mode, padding, corners)
        label = f"{mode} {padding} {corners}"
        np.testing.assert_allclose(reference.grid_sample(x, grid, s), y.detach().numpy(), atol=1e-12, err_msg=label)
        dx, dgrid = reference.grid_sample_backward(grad, x, grid, s)
        np.testing.assert_allclose(dx, tx.grad.numpy(), atol=1e-12, err_msg=label)
        np.testing.assert_allclose(dgrid, tg.grad.numpy(), atol=1e-11, err_msg=label)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0")  # torch's, on an axis of length 1
@pytest.mark.parametrize("size", [(2, 1, 3, 4), (2, 1, 1, 1), (2, 1, 1, 5), (2, 1, 2, 3, 4), (2, 1, 1, 2, 1)])
@pytest.mark.parametrize("corners", [False, True])
def test_torch_agrees_on_affine_grid(size: tuple[int, ...], corners: bool) -> None:
    torch = pytest.importorskip("torch")
    k = len(size) - 2
    rng = np.random.default_rng(3)
    theta, grad = rng.standard_normal((2, k, k + 1)), rng.standard_normal((2, *size[2:], k))
    t = torch.from_numpy(theta).requires_grad_(True)
    grid = torch.nn.functional.affine_grid(t, list(size), corners)
    grid.backward(torch.from_numpy(grad))
    np.testing.assert_allclose(reference.affine_grid(theta, size, corners), grid.detach().numpy(), atol=1e-14)
    np.testing.assert_allclose(reference.affine_grid_backward(grad, size, corners), t.grad.numpy(), atol=1e-13)


# -------------------------------------------------------------------------------------------------------- mutations
# Mistakes that real kernels have had. Each must be seen by a number worked by hand, and by the judge of recorded
# cases when the mutated twin answers them. (Padding of quantised data with 0 is for the quantised operators.)


def swap_x_and_y(m: pytest.MonkeyPatch) -> None:
    taps = twin._all_taps
    m.setattr(twin, "_all_taps", lambda points, *rest: taps(points[..., [1, 0, *range(2, points.shape[-1])]], *rest))


def swap_x_and_z(m: pytest.MonkeyPatch) -> None:
    taps = twin._all_taps
    m.setattr(twin, "_all_taps", lambda points, *rest: taps(points[..., ::-1], *rest))


def swap_align_corners(m: pytest.MonkeyPatch) -> None:
    original = twin.unnormalise
    m.setattr(twin, "unnormalise", lambda g, length, corners, *rule: original(g, length, not corners, *rule))


def weights_from_the_clamped_floor(m: pytest.MonkeyPatch) -> None:
    def taps(g: Any, length: int, s: GridSampleSpec) -> Any:
        p = twin._pad(twin.unnormalise(g, length, s.align_corners), length, s)[0]
        start = np.clip(np.floor(p), 0, length - 1)
        ones, scale = np.ones(g.shape), (length - 1) / 2 if s.align_corners else length / 2
        last = np.minimum(start + 1, length - 1)
        return [
            twin._tap(start, length, ones > 0, 1 - (p - start), -ones * scale),
            twin._tap(last, length, ones > 0, p - start, ones * scale),
        ]

    original = twin.axis_taps
    m.setattr(twin, "axis_taps", lambda g, n, s: taps(g, n, s) if s.mode == "bilinear" else original(g, n, s))


def border_slope_survives_on_the_border(m: pytest.MonkeyPatch) -> None:
    original = twin.clip
    m.setattr(twin, "clip", lambda p, n, slope="zero": original(p, n, "inside"))


def reflection_without_the_final_clip(m: pytest.MonkeyPatch) -> None:
    original = twin._pad

    def pad(p: Any, length: int, s: GridSampleSpec) -> Any:
        return twin.reflect(p, length, s.align_corners) if s.padding_mode == "reflection" else original(p, length, s)

    m.setattr(twin, "_pad", pad)


def nearest_rounds_half_away(m: pytest.MonkeyPatch) -> None:
    original = twin.round_half
    m.setattr(twin, "round_half", lambda p, rule: original(p, "half_away"))


def bicubic_clamps_the_coordinate(m: pytest.MonkeyPatch) -> None:
    original = twin._pad_cubic_coordinate
    m.setattr(twin, "_pad_cubic_coordinate", lambda p, n, s: original(p, n, replace(s, cubic_padding="coordinate")))


def bicubic_constant_of_pillow(m: pytest.MonkeyPatch) -> None:
    original = twin.cubic_weights
    m.setattr(twin, "cubic_weights", lambda t, a: original(t, -0.5))


def absolute_cubic_derivatives(m: pytest.MonkeyPatch) -> None:
    """The operator page of GridSampler2DGrad: derivative polynomials at absolute distances."""
    original = twin.cubic_weights

    def weights(t: Any, a: float) -> Any:
        for k, (w, _) in enumerate(original(t, a)):
            d = np.abs(t + 1 - k)
            outer = (3 * a * d - 10 * a) * d + 8 * a
            yield w, outer if k in (0, 3) else (3 * (a + 2) * d - 2 * (a + 3)) * d

    m.setattr(twin, "cubic_weights", weights)


def zeros_is_a_hard_mask(m: pytest.MonkeyPatch) -> None:
    original = twin._finite

    def finite(p: Any, length: int, s: GridSampleSpec) -> Any:
        q, usable, moves = original(p, length, s)
        return q, usable & ((s.padding_mode != "zeros") | ((q >= 0) & (q <= length - 1))), moves

    m.setattr(twin, "_finite", finite)


MUTATIONS = [
    swap_x_and_y,
    swap_x_and_z,
    swap_align_corners,
    weights_from_the_clamped_floor,
    border_slope_survives_on_the_border,
    reflection_without_the_final_clip,
    nearest_rounds_half_away,
    bicubic_clamps_the_coordinate,
    bicubic_constant_of_pillow,
    absolute_cubic_derivatives,
    zeros_is_a_hard_mask,
]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda f: f.__name__)
def test_a_hand_check_sees_the_mutation(mutate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):  # noqa: PT012  any of them may be the one
        for check in HAND_CHECKS:
            check()


@pytest.fixture(scope="module")
def recorded() -> list[tuple[Any, Any, Any, dict[str, Truth]]]:
    """Torch's float32 cases of the 5 x 7 image, with the sound twin's values."""
    cases = []
    for case, inputs, outputs in load(ROOT / "tests" / "golden", peer="torch"):
        plain = case["op"] != "affine_grid" and case["dtype"] == "float32" and "nonfinite" not in case["tags"]
        if plain and inputs["x"].shape[2:] == (5, 7):
            cases.append((case, inputs, outputs, find(case).twin(case, inputs)))
    assert len(cases) > 100
    return cases


def answer(case: Any, inputs: Any, outputs: Any) -> Any:
    """Answer a case with the twin as it now is, rounded as our own result would be."""
    return {k: t.value.astype(outputs[k].dtype) for k, t in find(case).twin(case, inputs).items()}


def test_the_judge_accepts_the_sound_twin(recorded: Any) -> None:
    for case, inputs, outputs, truth in recorded:
        assert judge(case, answer(case, inputs, outputs), outputs, truth).status == "reproduced", case["id"]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda f: f.__name__)
def test_the_judge_sees_the_mutation(mutate: Any, recorded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    wrong = sum(judge(c, answer(c, i, o), o, truth).status == "wrong" for c, i, o, truth in recorded)
    assert wrong > 0
