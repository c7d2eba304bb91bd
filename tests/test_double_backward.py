"""The gradient of grid_sample's gradient: against its twin, differences of the first gradient, and autograd twice.

Tolerances are eps of the arithmetic times the number of roundings times the sum of absolute terms, which the float64
twin gives (``absolute=True``). Every judge is shown to refuse wrong formulas.
"""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave import like, reference, sampling
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ModeError, ShapeError

Array = np.ndarray[Any, np.dtype[Any]]
Double = Callable[..., tuple[Any, Any, Any]]
twin = importlib.import_module("gridwave.reference.grid_sample_double_backward")

MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
CASES = list(itertools.product(MODES, PADDINGS, (False, True)))
FLOATS: dict[str, Any] = {
    "float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
}  # fmt: skip
# (N, C), spatial axes of x, of the output. Channels: single, a padded four, a padded sixteen, several blocks; few
# points of a large image (nothing is packed), many of a small one, more than one tile of points; single rows; several
# rows of channels at a time; points shared out.
SHAPES = [
    ((2, 3), (9, 11), (7, 13)), ((1, 20), (12, 10), (5, 17)), ((1, 1), (17, 1), (9, 9)), ((1, 2), (1, 6), (5, 4)),
    ((3, 5), (2, 7), (3, 90)), ((1, 37), (5, 3), (20, 20)), ((1, 10), (40, 31), (3, 4)), ((2, 4), (30, 31), (5, 2)),
    ((1, 16), (6, 7), (1, 1)), ((4, 80), (5, 4), (6, 5)), ((1, 3), (60, 70), (64, 65)), ((1, 32), (60, 40), (64, 66)),
]  # fmt: skip
SIGNALS = [((2, 3), (11,), (300,)), ((1, 20), (6,), (13,)), ((1, 2), (1,), (5,)), ((1, 5), (90,), (3,))]
VOLUMES = [
    ((2, 3), (5, 6, 4), (3, 4, 5)), ((1, 20), (4, 3, 5), (5, 4, 20)), ((1, 2), (1, 6, 1), (2, 5, 4)),
    ((1, 5), (12, 11, 13), (1, 2, 3)), ((1, 2), (9, 20, 21), (16, 16, 17)),
]  # fmt: skip
SMALL = [
    ((1, 2), (4, 5), (2, 3)), ((2, 1), (2, 3), (2, 2)), ((1, 5), (3, 1), (1, 4)), ((2, 2), (5,), (4,)),
    ((1, 2), (3, 2, 4), (1, 2, 2)),
]  # fmt: skip


def eps(dtype: Any) -> float:
    return float(ml_dtypes.finfo(dtype).eps)


def make(shape: Any, corners: bool, seed: int = 0, spread: float = 1.5) -> tuple[Array, ...]:
    """Return v, u, grad_output, x and a grid whose points keep 0.05 pixels from every kink (multiples of a half)."""
    (n, c), spatial, out = shape
    random = np.random.default_rng(seed)
    v, x = random.standard_normal((2, n, c, *spatial))
    go = random.standard_normal((n, c, *out))
    u = random.standard_normal((n, *out, len(out)))
    axes = []
    for size in spatial[::-1]:
        p = random.uniform(-1 - size * (spread - 1), size * spread, (n, *out))
        half = np.floor(2 * p)
        p = (half + 0.1 + 0.8 * (2 * p - half)) / 2
        axes.append((2 * p / (size - 1) - 1 if size > 1 else p) if corners else (2 * p + 1) / size - 1)
    return v, u, go, x, np.stack(axes, -1)


def to_last(a: Array) -> Array:
    return np.ascontiguousarray(np.moveaxis(a, 1, -1))


def channels_last(a: Array) -> Array:
    return np.moveaxis(to_last(a), -1, 1)


def strided(a: Array) -> Array:
    room = np.full((*a.shape[:-1], 2 * a.shape[-1] + 1), 77, a.dtype)
    room[..., 1::2] = a
    return room[..., 1::2]


def flipped(a: Array) -> Array:
    return np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1]


LAYOUTS = {"planar": np.ascontiguousarray, "channels_last": channels_last, "strided": strided, "flipped": flipped}


def spec_of(mode: Any, padding: Any, corners: bool) -> GridSampleSpec:
    return GridSampleSpec("", mode=mode, padding_mode=padding, align_corners=corners)


def judged(v: Any, u: Any, go: Array, x: Array, grid: Array, spec: GridSampleSpec, dtype: Any) -> Iterator[Any]:
    """Give the twin's gradients, each with how far arithmetic of ``dtype`` may be from them.

    A product of weights has a few roundings. Keys' polynomials cancel: the error of a weight or of one of its
    derivatives is up to 32 eps, whatever its size, its factors are at most 4.5, and there are 4^axes taps.
    """
    at: Any = np.float64 if dtype == np.float64 else np.float32
    e, axes = eps(at), x.ndim - 2
    values = reference.grid_sample_double_backward(v, u, go, x, grid, spec, coordinate_dtype=at)
    sizes = reference.grid_sample_double_backward(v, u, go, x, grid, spec, coordinate_dtype=at, absolute=True)
    points, channels = int(np.prod(grid.shape[1:-1])), x.shape[1]
    taps = 4**axes
    lengths = [8 * taps * axes, points + 8 * axes, 8 * taps * axes**2 * channels]
    cubic = [0.0, 0.0, 0.0]
    if spec.mode == "bicubic" and points * channels * x.shape[0]:
        off, scale = 32 * 4.5 ** (axes - 1) * axes * e, max(x.shape[2:]) / 2
        top_v = 0.0 if v is None else float(np.abs(v).max())
        top_u = 0.0 if u is None else float(np.abs(u).max()) * axes * scale
        top_x, top_go = float(np.abs(x).max()), float(np.abs(go).max())
        cubic = [
            off * taps * (top_v + top_u * top_x),
            off * points * top_go * top_u * min(taps, 4 * taps / max(1, min(x.shape[2:]))),
            off * taps * channels * top_go * scale * (top_v + top_u * top_x),
        ]
    for value, size, length, extra in zip(values, sizes, lengths, cubic, strict=True):
        bound = e * length * size + extra
        if dtype not in (np.float64, np.float32):  # one rounding at the store
            bound = bound + eps(dtype) * (np.abs(value) + bound) + 1e-7
        yield value, bound


def check_twin(case: Any, shape: Any, double: Double = gw.grid_sample_double_backward, seed: int = 0) -> None:
    mode, padding, corners = case
    large = np.prod(shape[2]) >= 4096  # one dtype of many points is enough, and the twin is slow
    for name, dtype in {"float32": np.float32}.items() if large else FLOATS.items():
        at = np.float64 if dtype == np.float64 else np.float32
        v, u, go, x, grid = make(shape, corners, seed)
        v, go, x = (a.astype(dtype) for a in (v, go, x))
        u, grid = u.astype(at), grid.astype(at)
        wide = [a.astype(np.float64) for a in (v, u, go, x)]
        expected = list(judged(*wide, grid, spec_of(*case), dtype))
        for memory, lay in LAYOUTS.items():
            ours = double(lay(v), u, lay(go), lay(x), grid, mode, padding, corners)
            assert [a.dtype for a in ours] == [dtype, dtype, at]
            for k, (a, (value, bound)) in enumerate(zip(ours, expected, strict=True)):
                assert np.all(np.abs(a.astype(np.float64) - value) <= bound), (name, memory, k)
        ours = double(to_last(v), u, to_last(go), to_last(x), grid, mode, padding, corners, layout="NHWC")
        ours = (np.moveaxis(ours[0], -1, 1), np.moveaxis(ours[1], -1, 1), ours[2])
        for k, (a, (value, bound)) in enumerate(zip(ours, expected, strict=True)):
            assert np.all(np.abs(a.astype(np.float64) - value) <= bound), (name, k)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("shape", SHAPES + SIGNALS + VOLUMES, ids=str)
def test_equals_the_twin(shape: Any, case: Any) -> None:
    check_twin(case, shape)


# ---------------------------------------------------------------------------------------------------- gradgradcheck


def check_differences(case: Any, shape: Any, double: Double = gw.grid_sample_double_backward) -> None:
    """Compare with differences of the first gradient, for every number of every input.

    The scalar L = sum v grad_x + sum u grad_grid is linear in grad_output and in x, so their derivatives are L at unit
    arrays, to rounding. By the grid: central differences, with the rounding of L over the step, and for bicubic a
    third derivative: at most 7.5 of Keys', times 4.5 and 1.5 of the other factors, 4^axes taps and the scale cubed.
    """
    mode, padding, corners = case
    v, u, go, x, grid = make(shape, corners, 3)
    v, u = v + 0.1, u - 0.1

    def first(go: Array, x: Array, grid: Array) -> float:
        grad_x, grad_grid = gw.grid_sample_backward(go, x, grid, mode, padding, corners)
        return float(np.sum(v * grad_x) + np.sum(u * grad_grid))

    ours = double(v, u, go, x, grid, mode, padding, corners)
    bounds = [bound for _, bound in judged(v, u, go, x, grid, spec_of(*case), np.float64)]
    no_x = np.zeros_like(x)
    for i in np.ndindex(go.shape):
        unit = np.zeros_like(go)
        unit[i] = 1
        assert abs(first(unit, x, grid) - ours[0][i]) <= 4 * bounds[0][i] + 1e-13 * abs(ours[0][i])
    constant = first(go, no_x, grid)
    for i in np.ndindex(x.shape):
        unit = no_x.copy()
        unit[i] = 1
        assert abs(first(go, unit, grid) - constant - ours[1][i]) <= 4 * bounds[1][i] + 1e-14 * (1 + abs(constant))
    step, scale, axes = 1e-5, max(x.shape[2:]) / 2, x.ndim - 2
    terms = np.abs(go).sum() * (np.abs(v).max() + axes * scale * np.abs(u).max() * np.abs(x).max()) * 4**axes
    rounding = 64 * eps(np.float64) * (1 + np.abs(grid).max()) * terms * scale / step
    curve = 7.5 * 4.5 * 1.5 * scale**3 * step**2 / 6 * terms if mode == "bicubic" else 0.0
    for i in np.ndindex(grid.shape):
        ends = []
        for sign in (-1, 1):
            moved = grid.copy()
            moved[i] += sign * step
            ends.append(first(go, x, moved))
        assert abs((ends[1] - ends[0]) / (2 * step) - ours[2][i]) <= rounding + curve


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("shape", SMALL, ids=str)
def test_differences_of_the_first_gradient(shape: Any, case: Any) -> None:
    check_differences(case, shape)


# ------------------------------------------------------------------------------------------------------------ PyTorch


def composed(torch: Any, x: Any, grid: Any, mode: str, padding: str, corners: bool) -> Any:
    """Sample with gathers and arithmetic alone, which autograd differentiates as often as asked."""
    axes, sizes = x.ndim - 2, x.shape[2:]
    taps = []
    for axis, size in enumerate(sizes):
        g = grid[..., axes - 1 - axis]
        p = (g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2

        def pad(q: Any, size: int = size) -> Any:
            low, span = (0.0, size - 1) if corners else (-0.5, size)
            if padding == "reflection":
                if span == 0:
                    return q * 0
                period = 2 * span
                q = q - low
                q = q - period * torch.floor(q.detach() / period)
                q = torch.where(q > span, period - q, q) + low
            return q if padding == "zeros" else q.clamp(0, size - 1)

        def tap(index: Any, weight: Any, size: int = size) -> Any:
            index = index.detach()
            inside = (index >= 0) & (index < size)
            return torch.where(inside, index, torch.zeros_like(index)).long(), torch.where(inside, weight, weight * 0)

        if mode == "bicubic":
            start = torch.floor(p).detach()
            t = p - start
            list_ = []
            for k in range(4):
                d = (t + 1 - k).abs()
                weight = ((-0.75 * d + 3.75) * d - 6) * d + 3 if k in (0, 3) else ((1.25 * d - 2.25) * d) * d + 1
                list_.append(tap(pad(start + (k - 1)), weight))
            taps.append(list_)
        elif mode == "nearest":
            taps.append([tap(torch.round(pad(p)), torch.ones_like(p))])
        else:
            q = pad(p)
            start = torch.floor(q).detach()
            taps.append([tap(start, 1 - (q - start)), tap(start + 1, q - start)])
    batch = torch.arange(x.shape[0]).reshape(-1, *(1,) * axes)
    total = 0
    for chosen in itertools.product(*taps):
        weight = functools.reduce(lambda a, b: a * b, [w for _, w in chosen])
        values = x.movedim(1, -1)[(batch, *(index for index, _ in chosen))]
        total = total + weight[..., None] * values
    return total.movedim(-1, 1)


def check_torch(case: Any, shape: Any, double: Double = gw.grid_sample_double_backward) -> None:
    torch = pytest.importorskip("torch")
    v, u, go, x, grid = make(shape, case[2], 10)
    tv, tu = torch.from_numpy(v), torch.from_numpy(u)
    inputs = [torch.from_numpy(a).requires_grad_() for a in (go, x, grid)]
    y = composed(torch, inputs[1], inputs[2], *case)
    grads = torch.autograd.grad(y, inputs[1:], inputs[0], create_graph=True, allow_unused=True)
    scalar = sum((a * b).sum() for a, b in zip(grads, (tv, tu), strict=True) if a is not None)
    theirs = torch.autograd.grad(scalar, inputs, allow_unused=True)
    ours = double(v, u, go, x, grid, *case)
    expected = judged(v, u, go, x, grid, spec_of(*case), np.float64)
    moved = 8 * eps(np.float64) * (np.abs(grid).max() + 1) * max(x.shape[2:])  # a reflected coordinate, by roundings
    for k, (a, b, (value, bound)) in enumerate(zip(ours, theirs, expected, strict=True)):
        want = np.zeros(a.shape) if b is None else b.numpy()
        slope = 4.5 ** (x.ndim - 2) * max(x.shape[2:]) ** (2 if k == 2 else 1) * np.abs(u).max() * np.abs(x).max()
        terms = np.abs(go).sum() * (slope + np.abs(v).max()) * 4 ** (x.ndim - 2)
        assert np.all(np.abs(a - want) <= 2 * bound + moved * terms), k
        assert np.all(np.abs(want - value) <= 2 * bound + moved * terms), k


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_autograd_twice(case: Any) -> None:
    for shape in SHAPES[:5] + SIGNALS[:3] + VOLUMES[:3]:
        check_torch(case, shape)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("axes", [2, 3])
def test_equals_torch_on_kinks_too(axes: int, case: Any) -> None:
    """PyTorch's own second gradient, with coordinates exactly on centres, edges, mirrors and half-way."""
    torch = pytest.importorskip("torch", minversion="2.13")
    if axes == 3 and case[0] == "bicubic":
        return  # PyTorch has none
    random = np.random.default_rng(15)
    sizes = np.array((5, 3, 2)[:axes] if case[2] else (4, 8, 2)[:axes])  # lattices are exact in the grid
    p = random.integers(-12, 17, (2, *(4, 5, 6)[:axes], axes)) / 2
    p = np.where(random.random(p.shape) < 0.2, random.uniform(-3, 8, p.shape), p)
    grid = 2 * p / (sizes[::-1] - 1) - 1 if case[2] else (2 * p + 1) / sizes[::-1] - 1
    v, x = random.standard_normal((2, 2, 3, *sizes))
    u, go = random.standard_normal(grid.shape), random.standard_normal((2, 3, *grid.shape[1:-1]))
    inputs = [torch.from_numpy(a).requires_grad_() for a in (go, x, grid)]
    y = torch.nn.functional.grid_sample(inputs[1], inputs[2], *case)
    grads = torch.autograd.grad(y, inputs[1:], inputs[0], create_graph=True)
    scalar = sum((a * torch.from_numpy(b)).sum() for a, b in zip(grads, (v, u), strict=True))
    theirs = torch.autograd.grad(scalar, inputs, allow_unused=True)
    ours = gw.grid_sample_double_backward(v, u, go, x, grid, *case)
    for a, b in zip(ours, theirs, strict=True):
        want = np.zeros(a.shape) if b is None else b.numpy()
        np.testing.assert_allclose(a, want, rtol=0, atol=400 * eps(np.float64) * 64 * go.size)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradgradcheck_of_an_autograd_function(case: Any) -> None:
    """What a user of PyTorch writes around the three calls, checked by PyTorch's own differences of both orders."""
    torch = pytest.importorskip("torch")

    class Backward(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, go: Any, x: Any, grid: Any) -> Any:
            ctx.save_for_backward(go, x, grid)
            return like.torch.grid_sample_backward(go, x, grid, *case)

        @staticmethod
        def backward(ctx: Any, v: Any, u: Any) -> Any:
            return like.torch.grid_sample_double_backward(v, u, *ctx.saved_tensors, *case)

    class Forward(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, grid: Any) -> Any:
            ctx.save_for_backward(x, grid)
            return like.torch.grid_sample(x, grid, *case)

        @staticmethod
        def backward(ctx: Any, go: Any) -> Any:
            return Backward.apply(go, *ctx.saved_tensors)

    for shape in (SMALL[0], SMALL[4]):
        if len(shape[1]) == 3 and case[0] == "bicubic":
            continue  # PyTorch has no cubic volumes
        _, _, _, x, grid = (torch.from_numpy(a) for a in make(shape, case[2], 17))
        inputs = (x.requires_grad_(), grid.requires_grad_())
        assert torch.autograd.gradcheck(Forward.apply, inputs)
        assert torch.autograd.gradgradcheck(Forward.apply, inputs)


# --------------------------------------------------------------------------------------- the judges refuse wrong ones


def without_slopes_of_x(v: Any, u: Any, *rest: Any, **other: Any) -> Any:
    right = gw.grid_sample_double_backward(v, u, *rest, **other)
    return gw.grid_sample_double_backward(v, None, *rest, **other)[0], *right[1:]


def with_the_other_sign(v: Any, u: Any, *rest: Any, **other: Any) -> Any:
    right = gw.grid_sample_double_backward(v, u, *rest, **other)
    return right[0], -right[1], right[2]


def without_second_derivatives(v: Any, u: Any, *rest: Any, **other: Any) -> Any:
    right = gw.grid_sample_double_backward(v, u, *rest, **other)
    return *right[:2], gw.grid_sample_double_backward(v, None, *rest, **other)[2]


def without_the_first(v: Any, u: Any, *rest: Any, **other: Any) -> Any:
    right = gw.grid_sample_double_backward(v, u, *rest, **other)
    return *right[:2], gw.grid_sample_double_backward(None, u, *rest, **other)[2]


def with_x_and_y_swapped(v: Any, u: Any, *rest: Any, **other: Any) -> Any:
    return gw.grid_sample_double_backward(v, np.ascontiguousarray(u[..., ::-1]), *rest, **other)


WRONG = [
    without_slopes_of_x, with_the_other_sign, without_second_derivatives, without_the_first, with_x_and_y_swapped
]  # fmt: skip


@pytest.mark.parametrize("judge", [check_twin, check_differences, check_torch])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_every_judge_refuses_wrong_formulas(mode: Any, wrong: Double, judge: Any) -> None:
    if judge is check_torch:
        pytest.importorskip("torch")
    case = (mode, "reflection", False)
    judge(case, SMALL[0])
    with pytest.raises(AssertionError):
        judge(case, SMALL[0], wrong)


@pytest.mark.parametrize("factor", [-1.0, 0.999999])
def test_a_wrong_curvature_of_the_twin_is_seen(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = twin.cubic_curvatures
    monkeypatch.setattr(twin, "cubic_curvatures", lambda t, a: (factor * e for e in right(t, a)))
    with pytest.raises(AssertionError):
        check_twin(("bicubic", "border", True), SMALL[0])


# ---------------------------------------------------------------------------------------------------------- by hand


def test_numbers_by_hand() -> None:
    """One row 0 1 4 9 16: slopes and bends of its pieces, two pixels a unit of g."""
    x = np.array([0.0, 1, 4, 9, 16]).reshape(1, 1, 1, 5)
    v = np.array([1.0, 0, 0, 0, 0]).reshape(1, 1, 1, 5)
    p = np.array([0.25, 1.5, 2.5, 3.25])
    grid = np.zeros((1, 1, 4, 2))
    grid[..., 0] = p / 2 - 1
    u = np.zeros_like(grid)
    u[..., 0] = 1
    ones = np.ones((1, 1, 1, 4))
    out, grad_x, grad_grid = gw.grid_sample_double_backward(v, u, ones, x, grid, align_corners=True)
    np.testing.assert_allclose(out.ravel(), [0.75 + 2, 2 * 3, 2 * 5, 2 * 7], rtol=1e-15)
    np.testing.assert_allclose(grad_x.ravel(), [-2, 2 - 2, 2 - 2, 2 - 2, 2], atol=1e-15)
    np.testing.assert_allclose(grad_grid[..., 0].ravel(), [-2, 0, 0, 0], atol=1e-15)
    # Keys with a = -3/4 half-way: second derivatives 3/4, -3/4, -3/4, 3/4 a pixel, 4 times that for two pixels a unit.
    grad_grid = gw.grid_sample_double_backward(None, u, ones, x, grid, "bicubic", align_corners=True)[2]
    np.testing.assert_allclose(grad_grid[0, 0, 1:3, 0], [4 * 0.75 * (0 - 1 - 4 + 9), 4 * 0.75 * (1 - 4 - 9 + 16)])
    # A checkerboard's mixed derivative: 1 per pixel and pixel.
    square = np.array([0.0, 0, 0, 1]).reshape(1, 1, 2, 2)
    centre, along_y = np.zeros((1, 1, 1, 2)), np.array([[[[0.0, 1.0]]]])
    grad_grid = gw.grid_sample_double_backward(None, along_y, np.ones((1, 1, 1, 1)), square, centre)[2]
    assert grad_grid.ravel().tolist() == [1.0, 0.0]


# ---------------------------------------------------------------------------------------------- threads, memory, None


@pytest.mark.parametrize(("mode", "padding"), list(itertools.product(MODES, PADDINGS)))
def test_threads_change_no_bit(mode: Any, padding: Any) -> None:
    for shape in (
        ((1, 3), (90, 70), (64, 80)), ((2, 37), (33, 40), (64, 65)), ((5, 1), (20, 20), (90, 60)),
        ((1, 40), (800,), (900,)), ((2, 20), (9, 10, 11), (8, 12, 13)),
    ):  # fmt: skip
        v, u, go, x, grid = (a.astype(np.float32) for a in make(shape, False, 4))
        for lay in (np.ascontiguousarray, channels_last):
            results = []
            for count in (1, 2, 3, 8):
                with gw.threads(count):
                    ours = gw.grid_sample_double_backward(lay(v), u, lay(go), lay(x), grid, mode, padding)
                results.append([a.tobytes() for a in ours])
            assert all(r == results[0] for r in results[1:])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_not_asked_for_is_not_given_and_changes_nothing(case: Any) -> None:
    for shape in SHAPES + SIGNALS + VOLUMES:
        v, u, go, x, grid = (a.astype(np.float32) for a in make(shape, case[2], 5))
        whole = gw.grid_sample_double_backward(v, u, go, x, grid, *case)
        names = ("grad_output", "x", "grid")
        for wrt in itertools.chain(*(itertools.combinations(names, k) for k in (1, 2))):
            some: Any = gw.grid_sample_double_backward(v, u, go, x, grid, *case, wrt=wrt)
            for name, a, b in zip(names, some, whole, strict=True):
                assert (a is None) == (name not in wrt)
                assert a is None or np.array_equal(a, b)
        for nothing in (None, np.zeros_like(v)):
            lone = gw.grid_sample_double_backward(nothing, u, go, x, grid, *case)
            np.testing.assert_array_equal(lone[1], whole[1])
            for k, (value, bound) in enumerate(judged(None, u, go, x, grid, spec_of(*case), np.float32)):
                assert np.all(np.abs(lone[k] - value) <= bound)
        for nothing in (None, np.zeros_like(u)):
            lone = gw.grid_sample_double_backward(v, nothing, go, x, grid, *case)
            assert not lone[1].any()
            np.testing.assert_allclose(
                lone[0], gw.grid_sample(v, grid, *case), rtol=0, atol=eps(np.float32) * 1600 * np.abs(v).max()
            )
        assert not any(a.any() for a in gw.grid_sample_double_backward(None, None, go, x, grid, *case))


def test_memory_and_strides() -> None:
    v, u, go, x, grid = (a.astype(np.float32) for a in make(((3, 5), (8, 9), (10, 11)), False, 9))
    arrays = (v, u, go, x, grid)
    for array in arrays:
        array.flags.writeable = False
    before = [a.tobytes() for a in arrays]
    shared = [np.broadcast_to(a[:1], a.shape) for a in arrays]
    alone = gw.grid_sample_double_backward(*(a[:1] for a in arrays))
    same = gw.grid_sample_double_backward(*shared)
    turned = [np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2) for a in arrays]
    for k in range(3):
        for n in range(3):
            np.testing.assert_array_equal(same[k][n], alone[k][0])
        np.testing.assert_array_equal(
            gw.grid_sample_double_backward(*turned)[k], gw.grid_sample_double_backward(*arrays)[k]
        )
    assert [a.tobytes() for a in arrays] == before
    last = gw.grid_sample_double_backward(*(channels_last(a) if a is not u and a is not grid else a for a in arrays))
    assert last[1].strides == channels_last(x).strides


@pytest.mark.parametrize("mode", MODES)
def test_nothing_to_do(mode: Any) -> None:
    for n, c, ho, wo in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0)):
        x, grid, go = np.ones((n, c, 6, 7)), np.zeros((n, ho, wo, 2)), np.ones((n, c, ho, wo))
        ours = gw.grid_sample_double_backward(x, grid + 1, go, x, grid, mode)
        assert [a.shape for a in ours] == [go.shape, x.shape, grid.shape]
        assert not any(a.any() for a in ours)


# ------------------------------------------------------------------------------------------------------- not numbers


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("channels", [1, 3, 20])
def test_coordinates_that_are_no_numbers(channels: int, case: Any) -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e38, 2.5e9, -2.5e9], np.float32)
    random = np.random.default_rng(6)
    v, x = random.standard_normal((2, 1, channels, 6, 7)).astype(np.float32)
    grid = np.zeros((1, 4, 8, 2), np.float32)
    grid[0, 0, :, 0] = odd
    grid[0, 1, :, 1] = odd
    grid[0, 2] = odd[:, None]
    go = random.standard_normal((1, channels, 4, 8)).astype(np.float32)
    u = random.standard_normal(grid.shape).astype(np.float32)
    for lay in (np.ascontiguousarray, channels_last):
        out, grad_x, grad_grid = gw.grid_sample_double_backward(lay(v), u, lay(go), lay(x), grid, *case)
        assert all(np.isfinite(a).all() for a in (out, grad_x, grad_grid))
        for row, axis in ((0, 0), (1, 1), (2, 0), (2, 1)):
            assert not np.any(grad_grid[0, row, :3, axis])
        if case[1] == "zeros":
            assert not np.any(grad_grid[0, :3])
            assert not np.any(out[0, :, :3])


@pytest.mark.parametrize("case", [c for c in CASES if c[0] != "nearest"], ids=str)
@pytest.mark.parametrize("channels", [1, 3, 17])
@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_infinite_pixels_reach_their_points_only(bad: float, channels: int, case: Any) -> None:
    v, u, go, x, grid = make(((1, channels), (8, 9), (12, 13)), case[2], 7)
    dirty_x, dirty_v, dirty_go = x.copy(), v.copy(), go.copy()
    dirty_x[0, :, 0, 0] = dirty_v[0, :, 7, 8] = dirty_go[0, :, ::5, ::6] = bad
    with np.errstate(invalid="ignore"):
        expected = reference.grid_sample_double_backward(dirty_v, u, dirty_go, dirty_x, grid, spec_of(*case))
    clean = gw.grid_sample_double_backward(v, u, go, x, grid, *case)
    for lay in (np.ascontiguousarray, channels_last):
        ours = gw.grid_sample_double_backward(lay(dirty_v), u, lay(dirty_go), lay(dirty_x), grid, *case)
        for a, value, untouched in zip(ours, expected, clean, strict=True):
            finite = np.isfinite(value)
            np.testing.assert_array_equal(a[finite], untouched[finite])
            assert not np.isfinite(a).all()


# ----------------------------------------------------------------------------------------------- conventions, errors


def test_every_field_of_a_convention_is_honoured() -> None:
    v, u, go, x, grid = make(((1, 3), (5, 6), (7, 8)), False, 11, 3.0)
    for fields in (
        {"mode": "bicubic", "padding_mode": "border", "cubic_padding": "coordinate"},
        {"mode": "bicubic", "padding_mode": "reflection", "cubic_coeff_a": -0.5},
        {"mode": "nearest", "padding_mode": "reflection", "pad_order": "index", "nearest_rounding": "half_up"},
        {"mode": "bilinear", "padding_mode": "zeros", "nonfinite": "lower_border"},
    ):
        spec = GridSampleSpec("", **({"align_corners": False} | fields))  # type: ignore[arg-type]
        ours = sampling.sample_double_backward(spec, v, u, go, x, grid)
        for a, (value, bound) in zip(ours, judged(v, u, go, x, grid, spec, np.float64), strict=True):
            assert np.all(np.abs(a - value) <= bound), fields


def test_like_torch() -> None:
    v, u, go, x, grid = make(SMALL[0], True, 12)
    for case in CASES:
        ours = like.torch.grid_sample_double_backward(v, u, go, x, grid, *case)
        for a, b in zip(ours, gw.grid_sample_double_backward(v, u, go, x, grid, *case), strict=True):
            np.testing.assert_array_equal(a, b)
    named = like.torch.grid_sample_double_backward(
        grad_grad_input=v, grad_grad_grid=None, grad_output=go, input=x, grid=grid, align_corners=False,
        output_mask=(False, False, True),
    )  # fmt: skip
    assert [a is None for a in named] == [True, True, False]
    mask = (False, False, False)
    nothing = like.torch.grid_sample_double_backward(v, u, go, x, grid, align_corners=True, output_mask=mask)
    assert nothing == (None, None, None)
    with pytest.warns(UserWarning, match="align_corners"):
        like.torch.grid_sample_double_backward(v, u, go, x, grid)
    with pytest.raises(DTypeError, match="must have one dtype"):
        like.torch.grid_sample_double_backward(v.astype(np.float32), u, go, x, grid, align_corners=True)


def test_torch_arrays_come_back_as_such() -> None:
    torch = pytest.importorskip("torch")
    given = [torch.from_numpy(a) for a in make(SMALL[0], False, 13)]
    ours = gw.grid_sample_double_backward(*given)
    assert all(isinstance(a, torch.Tensor) for a in ours)
    half = [a.to(torch.bfloat16) for a in given]
    assert [a.dtype for a in gw.grid_sample_double_backward(*half)] == [torch.bfloat16] * 3


V, U, GO, X, GRID = (a.astype(np.float32) for a in make(((2, 3), (5, 6), (4, 7)), False, 14))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"grad_grad_x": V[:1]},
            ShapeError,
            r"grad_grad_x must have the shape of x, \(2, 3, 5, 6\); got",
        ),
        ({"grad_grad_x": V.astype(float)}, DTypeError, "grad_grad_x must have the dtype of x, float32; got float64"),
        ({"grad_grad_x": V.astype(np.int32)}, DTypeError, "grad_grad_x must have dtype float32, .* got int32"),
        ({"grad_grad_x": "v"}, GridwaveError, "grad_grad_x must have dtype"),
        ({"grad_grad_grid": U[..., :1]}, ShapeError, "grad_grad_grid must have the shape of grid"),
        ({"grad_grad_grid": U.astype(float)}, DTypeError, "grad_grad_grid must have the dtype of grid, float32"),
        ({"grad_grad_grid": np.zeros((2,) * 9, np.float32)}, ShapeError, "grad_grad_grid must have at most"),
        ({"grad_output": GO[:, :, :2]}, ShapeError, r"grad_output must have the shape of the output, \(2, 3, 4, 7\)"),
        ({"grad_output": GO.astype(float)}, DTypeError, "grad_output must have the dtype of the output, float32"),
        ({"grad_output": None}, DTypeError, "grad_output must be an array; got None"),
        ({"x": X[0]}, ShapeError, "one image needs an axis for the batch"),
        ({"x": X[0, 0]}, ShapeError, "x must have 4 axes"),
        ({"x": X[..., None]}, ShapeError, r"grid must have shape \(N, D_out, H_out, W_out, 3\)"),
        ({"x": X[:, :, :0], "grad_grad_x": None}, ShapeError, "x must have a height and width of at least 1"),
        ({"x": X.astype(np.uint8), "grad_grad_x": None}, DTypeError, "x must be float16, bfloat16, float32 or float64"),
        ({"grid": GRID[..., :1]}, ShapeError, "grid must have"),
        ({"grid": GRID[:1]}, ShapeError, "grid must have the batch size of x"),
        ({"grid": GRID.astype(float)}, DTypeError, "grid must have the dtype of x"),
        ({"mode": "linear"}, ModeError, "did you mean 'bilinear'"),
        ({"padding_mode": "reflect"}, ModeError, "did you mean 'reflection'"),
        ({"layout": "nhwc"}, ModeError, "did you mean 'NHWC'"),
        ({"align_corners": 2}, ArgumentError, "align_corners must be True or False"),
        ({"wrt": ()}, ArgumentError, "wrt must name at least one of 'grad_output', 'x' and 'grid'"),
        ({"wrt": ("x", "input")}, ModeError, "wrt must be one of 'grad_output', 'x', 'grid'; got 'input'"),
    ],
)
def test_bad_input(arguments: dict[str, Any], error: type[GridwaveError], message: str) -> None:
    good: dict[str, Any] = {
        "grad_grad_x": V, "grad_grad_grid": U, "grad_output": GO, "x": X, "grid": GRID
    }  # fmt: skip
    with pytest.raises(error, match=message):
        gw.grid_sample_double_backward(**(good | arguments))


def test_bad_volumes() -> None:
    v, u, go, x, grid = make(VOLUMES[0], False, 16)
    for arguments, message in (
        ((v, u[..., :2], go, x, grid), r"grad_grad_grid must have the shape of grid, \(2, 3, 4, 5, 3\)"),
        ((v, u, go[:, :, :, :, :4], x, grid), r"grad_output must have the shape of the output, \(2, 3, 3, 4, 5\)"),
        ((v[:, :2], u, go, x, grid), r"grad_grad_x must have the shape of x, \(2, 3, 5, 6, 4\)"),
        ((v, u, go, x, grid[..., :2]), "last axis"),
        ((v, u, go, x[:, :, :, :0], grid), "at least one sample along every spatial axis"),
    ):
        with pytest.raises(ShapeError, match=message):
            gw.grid_sample_double_backward(*arguments)


def test_a_huge_image_that_is_not_there_is_no_crash() -> None:
    """Two points of an image of 2^42 pixels, all of them one number: nothing is packed; its gradient has no room."""
    x = np.broadcast_to(np.float32(1), (1, 1, 2**21, 2**21))
    grid = np.zeros((1, 1, 2, 2), np.float32)
    go = np.ones((1, 1, 1, 2), np.float32)
    out, _, grad_grid = gw.grid_sample_double_backward(x, grid + 1, go, x, grid, wrt=("grad_output", "grid"))
    np.testing.assert_array_equal(out, 1)
    assert not grad_grid.any()
    with pytest.raises(MemoryError):
        gw.grid_sample_double_backward(x, grid + 1, go, x, grid)
