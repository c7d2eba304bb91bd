"""The gradient of grid_sample: against its own forward, by hand, and to the bit for any number of threads.

Tolerances are eps of the arithmetic times the number of roundings times the sum of absolute terms, which the float64
twin gives (``absolute=True``). Nothing here is picked.
"""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave import reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError, DTypeError, ShapeError

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CASES = list(itertools.product(MODES, PADDINGS, (False, True)))
# Lanes are 4, 8 and 16: each with a tail, one less and one more; images of one row or column; few and many channels.
SHAPES = [
    (2, 3, 9, 11, 7, 13), (1, 20, 12, 10, 15, 17), (1, 2, 1, 1, 4, 5), (1, 2, 1, 6, 5, 4), (1, 1, 17, 1, 9, 9),
    (3, 4, 2, 7, 3, 50), (2, 17, 5, 3, 20, 20), (1, 40, 8, 9, 12, 11), (1, 8, 30, 31, 5, 7), (1, 64, 7, 6, 9, 19),
]  # fmt: skip
FLOATS: dict[str, Any] = {
    "float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
}  # fmt: skip


def arithmetic(dtype: Any) -> Any:
    return np.float64 if dtype == np.float64 else np.float32


def eps(dtype: Any) -> float:
    return float(ml_dtypes.finfo(dtype).eps)


def pixels(g: np.ndarray, size: int, corners: bool) -> np.ndarray:
    return (g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2


def grid_from_pixels(p: np.ndarray, size: int, corners: bool) -> np.ndarray:
    if corners:
        return 2 * p / (size - 1) - 1 if size > 1 else np.zeros_like(p)
    return (2 * p + 1) / size - 1


def make(shape: tuple[int, ...], corners: bool, seed: int = 0, spread: float = 1.0) -> tuple[np.ndarray, ...]:
    """Return grad_output, x and a grid whose points keep 0.05 pixels from every kink (multiples of a half)."""
    n, c, h, w, ho, wo = shape
    random = np.random.default_rng(seed)
    x, grad = random.standard_normal((n, c, h, w)), random.standard_normal((n, c, ho, wo))
    axes = []
    for size in (w, h):
        p = random.uniform(-1 - size * (spread - 1), size * spread, (n, ho, wo))
        half = np.floor(2 * p)
        axes.append(grid_from_pixels((half + 0.1 + 0.8 * (2 * p - half)) / 2, size, corners))
    return grad, x, np.stack(axes, -1)


def interleaved(a: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(a.transpose(0, 2, 3, 1))


def channels_last(a: np.ndarray) -> np.ndarray:
    return interleaved(a).transpose(0, 3, 1, 2)


def strided(a: np.ndarray) -> np.ndarray:
    room = np.full((*a.shape[:-1], 2 * a.shape[-1] + 1), 77, a.dtype)
    room[..., 1::2] = a
    return room[..., 1::2]


def flipped(a: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1]


LAYOUTS = {"planar": np.ascontiguousarray, "channels_last": channels_last, "strided": strided, "flipped": flipped}


def bounds(
    grad: np.ndarray, x: np.ndarray, grid: np.ndarray, spec: GridSampleSpec, dtype: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the twin's gradients, and how far ours may be from them.

    A weight is a product of two with a few roundings each; Keys' polynomial cancels, so its error is as large as its
    terms (at most 20 eps for |a| = 0.75), not of the weight. Sums are as long as there are points, or channels, taps.
    """
    coordinates = arithmetic(dtype)
    e = eps(coordinates)
    gx, gg = reference.grid_sample_backward(grad, x, grid, spec, coordinate_dtype=coordinates)
    ax, ag = reference.grid_sample_backward(grad, x, grid, spec, coordinate_dtype=coordinates, absolute=True)
    points, channels = grid.shape[1] * grid.shape[2], x.shape[1]
    tx, tg = e * (points + 8) * ax, e * (16 * channels + 16) * ag
    if spec.mode == "bicubic":
        every = np.abs(grad).sum((2, 3))[:, :, None, None]
        tx = tx + 40 * e * np.minimum(every, np.abs(grad).max(initial=0) * points)
        scale = max(x.shape[2:]) / 2
        tg = tg + 16 * 40 * e * scale * (np.abs(grad).sum(1) * np.abs(x).max(initial=0))[..., None]
    if dtype not in (np.float64, np.float32):  # one rounding at the store
        tx = tx + eps(dtype) * (np.abs(gx) + tx) + 1e-7
    return gx, gg, tx, tg


@pytest.mark.parametrize(("mode", "padding", "corners"), CASES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_equals_the_twin(shape: tuple[int, ...], mode: Any, padding: Any, corners: bool) -> None:
    spec = GridSampleSpec("", mode=mode, padding_mode=padding, align_corners=corners)
    for seed, spread in ((0, 1.0), (1, 4.0)):
        for name, dtype in FLOATS.items():
            grid_type = arithmetic(dtype)
            grad, x, grid = make(shape, corners, seed, spread)
            grad, x, grid = grad.astype(dtype), x.astype(dtype), grid.astype(grid_type)
            gx, gg, tx, tg = bounds(grad.astype(np.float64), x.astype(np.float64), grid, spec, dtype)
            for memory, lay in LAYOUTS.items():
                ours = gw.grid_sample_backward(lay(grad), lay(x), grid, mode, padding, corners)
                assert ours[0].dtype == dtype
                assert ours[1].dtype == grid_type
                assert np.all(np.abs(ours[0].astype(np.float64) - gx) <= tx), (name, memory)
                assert np.all(np.abs(ours[1] - gg) <= tg), (name, memory)
            ours = gw.grid_sample_backward(
                interleaved(grad), interleaved(x), grid, mode, padding, corners, layout="NHWC"
            )
            assert np.all(np.abs(ours[0].transpose(0, 3, 1, 2).astype(np.float64) - gx) <= tx), name
            assert np.all(np.abs(ours[1] - gg) <= tg), name


@pytest.mark.parametrize(("mode", "padding", "corners"), CASES)
def test_adjoint_of_the_forward(mode: Any, padding: Any, corners: bool) -> None:
    """<A x, y> = <x, A' y>. Both sides are sums of the same terms: |difference| <= roundings * eps * sum of |terms|."""
    for shape in SHAPES:
        grad, x, grid = make(shape, corners, 2, 2.0)
        forward = gw.grid_sample(x, grid, mode, padding, corners)
        grad_x, _ = gw.grid_sample_backward(grad, x, grid, mode, padding, corners, wrt=("x",))
        spec = GridSampleSpec("", mode=mode, padding_mode=padding, align_corners=corners)
        terms = np.sum(np.abs(grad) * reference.grid_sample(np.abs(x), grid, spec, absolute=True))
        cubic = 16 * 40 * np.sum(np.abs(grad)) * np.abs(x).max() if mode == "bicubic" else 0.0
        bound = eps(np.float64) * (np.log2(grad.size) + grid.size + 16) * terms + eps(np.float64) * cubic
        assert abs(np.sum(forward * grad) - np.sum(x * grad_x)) <= bound, shape


@pytest.mark.parametrize(("mode", "padding", "corners"), [c for c in CASES if c[0] != "nearest"])
def test_finite_differences(mode: Any, padding: Any, corners: bool) -> None:
    """Central differences of the forward in float64, every point at once, since a point has only its own coordinates.

    Error: rounding of the forward over the step, and for bicubic a third derivative of at most 6 |a| a tap and weight.
    """
    for shape in SHAPES:
        grad, x, grid = make(shape, corners, 3, 2.0)
        _, grad_grid = gw.grid_sample_backward(grad, x, grid, mode, padding, corners)
        step = 1e-6
        sizes = np.sum(np.abs(grad), 1) * np.abs(x).max()
        for axis, length in ((0, x.shape[3]), (1, x.shape[2])):
            ends = []
            for sign in (-1, 1):
                moved = grid.copy()
                moved[..., axis] += sign * step
                ends.append(np.sum(gw.grid_sample(x, moved, mode, padding, corners) * grad, 1))
            scale = length / 2
            distance = np.max(np.abs(pixels(grid[..., axis], length, corners))) + 2
            rounding = eps(np.float64) * (8 + shape[1] + 8 * distance * 4) * 4 * sizes / step
            curve = (6 * 0.75 * 16 * scale**3 * step**2) * sizes if mode == "bicubic" else 0.0
            difference = np.abs((ends[1] - ends[0]) / (2 * step) - grad_grid[..., axis])
            assert np.all(difference <= rounding + curve), (shape, axis)


X = np.array([0.0, 1, 4, 9, 16]).reshape(1, 1, 1, 5)
P = np.array([-3, -1.25, -0.5, 0, 0.25, 1.5, 2.5, 3.75, 4.25, 4.5, 5.25, 7])
# (mode, padding, corners): slopes dy / dp at P; grad_x for a grad_output of ones. PyTorch 2.14.1, float64.
BY_HAND: dict[tuple[str, str, bool], tuple[list[float], list[float]]] = {
    ("bilinear", "zeros", True): ([0, 0, 0, 1, 1, 3, 5, 7, -16, -16, 0, 0], [2.25, 0.75, 1, 0.75, 2]),
    ("bilinear", "border", True): ([0, 0, 0, 0, 1, 3, 5, 7, 0, 0, 0, 0], [4.75, 0.75, 1, 0.75, 4.75]),
    ("bilinear", "border", False): ([0, 0, 0, 0, 1, 3, 5, 7, 0, 0, 0, 0], [4.75, 0.75, 1, 0.75, 4.75]),
    ("bilinear", "reflection", True): ([-7, -3, -1, 0, 1, 3, 5, 7, -7, -7, -5, -3], [2.25, 3, 1.5, 3.25, 2]),
    ("bilinear", "reflection", False): ([-5, -1, 0, 0, 1, 3, 5, 7, 0, 0, -7, -5], [3.5, 1, 3, 1, 3.5]),
    ("nearest", "zeros", True): ([0] * 12, [3, 0, 2, 0, 3]),
    ("nearest", "border", True): ([0] * 12, [5, 0, 2, 0, 5]),
    ("nearest", "reflection", True): ([0] * 12, [3, 2, 2, 2, 3]),
    ("bicubic", "zeros", True): (
        [0, 0, -0.1875, 0.75, 0.328125, 2.25, 3.75, 3.796875, -15.515625, -19.3125, -2.25, 0],
        [2.2734375, 0.66796875, 1.1171875, 0.5625, 2.15234375],
    ),
    ("bicubic", "border", True): (
        [0, 0, -0.1875, 0.75, 0.328125, 2.25, 3.75, 6.046875, 0.984375, -1.3125, 0, 0],
        [4.7734375, 0.66796875, 1.1171875, 0.5625, 4.87890625],
    ),
    ("bicubic", "reflection", True): (
        [-9, -2.0625, -0.75, 0, 0.1875, 2.25, 3.75, 5.0625, -5.0625, -8.25, -5.4375, -3],
        [2.2734375, 3, 1.41796875, 3.15625, 2.15234375],
    ),
    ("bicubic", "reflection", False): (
        [-6, -0.328125, 0, 0.75, 0.328125, 2.25, 3.75, 6.046875, 2.625, 0, -6.046875, -6],
        [3.640625, 0.8359375, 3.046875, 0.6953125, 3.78125],
    ),
}


@pytest.mark.parametrize("case", BY_HAND, ids=str)
def test_numbers_of_the_specification(case: tuple[Any, Any, bool]) -> None:
    mode, padding, corners = case
    slopes, expected = BY_HAND[case]
    grid = np.zeros((1, 1, 12, 2))
    grid[..., 0] = grid_from_pixels(P, 5, corners)
    grad_x, grad_grid = gw.grid_sample_backward(np.ones((1, 1, 1, 12)), X, grid, mode, padding, corners)
    scale = 2.0 if corners else 2.5
    # With align_corners P is exact in the grid; without, (2 p + 1) / 5 is a rounding off, which moves values by that.
    off = 0.0 if corners else 64 * eps(np.float64) * 20
    np.testing.assert_allclose(grad_x[0, 0, 0], expected, rtol=0, atol=off + 64 * eps(np.float64))
    kinks = np.isin(P, [0]) if not corners else np.zeros(12, bool)  # p = 0 may round to either side
    got = grad_grid[0, 0, :, 0] / scale
    np.testing.assert_allclose(got[~kinks], np.array(slopes)[~kinks], rtol=0, atol=64 * eps(np.float64) * 20)
    assert not np.any(grad_grid[..., 1]) or mode != "nearest"


@pytest.mark.parametrize(("mode", "padding"), list(itertools.product(MODES, PADDINGS)))
@pytest.mark.parametrize("shape", [(1, 3, 90, 70, 64, 80), (1, 70, 33, 40, 64, 65), (3, 40, 20, 20, 50, 60)], ids=str)
def test_threads_change_no_bit(shape: tuple[int, ...], mode: Any, padding: Any) -> None:
    for spread, dtype in ((1.0, np.float32), (3.0, np.float16)):
        grad, x, grid = make(shape, False, 4, spread)
        grad, x, grid = grad.astype(dtype), x.astype(dtype), grid.astype(np.float32)
        for lay in (np.ascontiguousarray, channels_last):
            results = []
            for count in (1, 2, 3, 8):
                with gw.threads(count):
                    results.append(
                        [a.tobytes() for a in gw.grid_sample_backward(lay(grad), lay(x), grid, mode, padding)]
                    )
            assert all(r == results[0] for r in results[1:])


@pytest.mark.parametrize(("mode", "padding", "corners"), CASES)
def test_one_gradient_is_a_half_of_both(mode: Any, padding: Any, corners: bool) -> None:
    for shape in SHAPES:
        grad, x, grid = (a.astype(np.float32) for a in make(shape, corners, 5, 1.5))
        both = gw.grid_sample_backward(grad, x, grid, mode, padding, corners)
        only_x = gw.grid_sample_backward(grad, x, grid, mode, padding, corners, wrt=("x",))
        only_grid = gw.grid_sample_backward(grad, x, grid, mode, padding, corners, wrt=("grid",))
        assert only_x[1] is None
        assert only_grid[0] is None
        assert np.array_equal(only_x[0], both[0])
        assert np.array_equal(only_grid[1], both[1])


@pytest.mark.parametrize(("mode", "padding", "corners"), CASES)
@pytest.mark.parametrize("channels", [1, 3, 20, 32])
def test_coordinates_that_are_no_numbers(channels: int, mode: Any, padding: Any, corners: bool) -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e38, 2.5e9, -2.5e9], np.float32)
    random = np.random.default_rng(6)
    x = random.standard_normal((1, channels, 6, 7)).astype(np.float32)
    grid = np.zeros((1, 4, 8, 2), np.float32)
    grid[0, 0, :, 0] = odd
    grid[0, 1, :, 1] = odd
    grid[0, 2] = odd[:, None]
    grad = random.standard_normal((1, channels, 4, 8)).astype(np.float32)
    for a, b in ((grad, x), (channels_last(grad), channels_last(x))):
        grad_x, grad_grid = gw.grid_sample_backward(a, b, grid, mode, padding, corners)
        assert np.isfinite(grad_x).all()
        assert np.isfinite(grad_grid).all()
        for row, axis in ((0, 0), (1, 1), (2, 0), (2, 1)):
            assert not np.any(grad_grid[0, row, :3, axis])
        if padding == "zeros":
            plain, _ = gw.grid_sample_backward(a[:, :, 3:], b, grid[:, 3:], mode, padding, corners)
            np.testing.assert_array_equal(grad_x, plain)
            assert not np.any(grad_grid[0, :3])


@pytest.mark.parametrize(("mode", "padding", "corners"), [c for c in CASES if c[0] != "nearest"])
@pytest.mark.parametrize("channels", [1, 3, 17, 32])
def test_infinite_pixels_reach_their_points_only(channels: int, mode: Any, padding: Any, corners: bool) -> None:
    """A tap that does not count must not, whatever lies there; one that counts gives what arithmetic gives."""
    grad, x, grid = make((1, channels, 8, 9, 12, 13), corners, 7, 1.6)
    for bad in (np.inf, np.nan):
        dirty = x.copy()
        dirty[0, :, 0, 0] = dirty[0, :, 7, 8] = dirty[0, :, 3, 4] = bad
        spec = GridSampleSpec("", mode=mode, padding_mode=padding, align_corners=corners)
        with np.errstate(invalid="ignore"):
            _, expected = reference.grid_sample_backward(grad, dirty, grid, spec)
        for a, b in ((grad, dirty), (channels_last(grad), channels_last(dirty))):
            _, ours = gw.grid_sample_backward(a, b, grid, mode, padding, corners)
            lay = np.ascontiguousarray if b is dirty else channels_last
            _, clean = gw.grid_sample_backward(a, lay(x), grid, mode, padding, corners)
            # The twin multiplies by zero what it leaves out, so it may only be infected where we are, or more.
            finite = np.isfinite(expected)
            assert np.isfinite(ours[finite]).all()
            np.testing.assert_array_equal(ours[finite], clean[finite])
            assert not np.isfinite(ours).all()


@pytest.mark.parametrize(("mode", "padding", "corners"), CASES)
@pytest.mark.parametrize("channels", [1, 3, 17, 32])
def test_infinite_gradients_reach_their_pixels_only(channels: int, mode: Any, padding: Any, corners: bool) -> None:
    grad, x, grid = make((1, channels, 8, 9, 12, 13), corners, 8, 1.6)
    dirty = grad.copy()
    dirty[0, :, ::3, ::4] = np.inf
    spec = GridSampleSpec("", mode=mode, padding_mode=padding, align_corners=corners)
    with np.errstate(invalid="ignore"):
        expected, _ = reference.grid_sample_backward(dirty, x, grid, spec)
    for lay in (np.ascontiguousarray, channels_last):
        grad_x, grad_grid = gw.grid_sample_backward(lay(dirty), lay(x), grid, mode, padding, corners)
        clean, clean_grid = gw.grid_sample_backward(lay(grad), lay(x), grid, mode, padding, corners)
        finite = np.isfinite(expected)
        np.testing.assert_array_equal(grad_x[finite], clean[finite])
        assert not np.isfinite(grad_x).all()
        others = np.isfinite(dirty[0, 0])
        np.testing.assert_array_equal(grad_grid[0, others], clean_grid[0, others])


def test_memory_and_strides() -> None:
    grad, x, grid = (a.astype(np.float32) for a in make((3, 5, 8, 9, 10, 11), False, 9))
    shared = np.broadcast_to(grid[:1], grid.shape)
    for array in (grad, x, grid):
        array.flags.writeable = False
    before = [a.tobytes() for a in (grad, x, grid)]
    expected = gw.grid_sample_backward(grad, x, np.ascontiguousarray(shared))
    ours = gw.grid_sample_backward(grad, x, shared)
    assert ours[1].shape == grid.shape
    np.testing.assert_array_equal(ours[0], expected[0])
    np.testing.assert_array_equal(ours[1], expected[1])
    same = gw.grid_sample_backward(np.broadcast_to(grad[:1], grad.shape), np.broadcast_to(x[:1], x.shape), grid)
    alone = gw.grid_sample_backward(grad[:1], x[:1], grid[:1])
    np.testing.assert_array_equal(same[0][0], alone[0][0])
    assert [a.tobytes() for a in (grad, x, grid)] == before
    last = gw.grid_sample_backward(channels_last(grad), channels_last(x), grid)[0]
    assert last.strides == channels_last(x).strides
    turned = np.ascontiguousarray(grid.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    for a, b in zip(gw.grid_sample_backward(grad, x, grid), gw.grid_sample_backward(grad, x, turned), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_to_do(mode: Any) -> None:
    for n, c, ho, wo in ((0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 0, 5), (2, 3, 4, 0)):
        x, grid, grad = np.ones((n, c, 6, 7)), np.zeros((n, ho, wo, 2)), np.ones((n, c, ho, wo))
        grad_x, grad_grid = gw.grid_sample_backward(grad, x, grid, mode)
        assert grad_x.shape == x.shape
        assert grad_grid.shape == grid.shape
        assert not grad_x.any()
        assert not grad_grid.any()


def test_many_points_on_one_pixel() -> None:
    """A million adds to one pixel, in float32: the error of a sum in order is at most its length times eps."""
    x, grid = np.ones((1, 1, 3, 3), np.float32), np.zeros((1, 1000, 1000, 2), np.float32)
    grad = np.full((1, 1, 1000, 1000), 0.5, np.float32)
    grad_x, _ = gw.grid_sample_backward(grad, x, grid, "nearest")
    assert abs(grad_x[0, 0, 1, 1] - 5e5) <= 1e6 * eps(np.float32) * 5e5
    assert grad_x.sum() == grad_x[0, 0, 1, 1]


def test_messages() -> None:
    x, grid = np.ones((1, 2, 4, 5), np.float32), np.zeros((1, 3, 3, 2), np.float32)
    grad = np.ones((1, 2, 3, 3), np.float32)
    with pytest.raises(ShapeError, match=r"grad_output must have the shape of the output, \(1, 2, 3, 3\)"):
        gw.grid_sample_backward(grad[:, :, :2], x, grid)
    with pytest.raises(DTypeError, match="grad_output must have the dtype of x, float32"):
        gw.grid_sample_backward(grad.astype(np.float64), x, grid)
    with pytest.raises(DTypeError, match=r"x must be float16, .* to have a gradient; got uint8"):
        gw.grid_sample_backward(grad.astype(np.uint8), x.astype(np.uint8), grid)
    with pytest.raises(ArgumentError, match="wrt must name at least one"):
        gw.grid_sample_backward(grad, x, grid, wrt=())


@pytest.mark.parametrize(("mode", "padding", "corners"), CASES)
def test_equals_torch(mode: Any, padding: Any, corners: bool) -> None:
    torch = pytest.importorskip("torch")
    for shape in SHAPES:
        grad, x, grid = make(shape, corners, 10, 2.0)
        theirs = torch.ops.aten.grid_sampler_2d_backward(
            *(torch.from_numpy(a) for a in (grad, x, grid)), MODES.index(mode), PADDINGS.index(padding), corners,
            [True, True],
        )  # fmt: skip
        spec = GridSampleSpec("", mode=mode, padding_mode=padding, align_corners=corners)
        _, _, tx, tg = bounds(grad, x, grid, spec, np.float64)
        # Their coordinates are rounded differently: (g + 1) * (S / 2) - 0.5. A coordinate moves by an ulp or two, and
        # values by that times the steepest slope.
        moved = 8 * eps(np.float64) * (np.abs(grid).max() + 1) * max(shape[2:4])
        tx = tx + moved * 16 * np.abs(grad).sum((2, 3))[:, :, None, None]
        tg = tg + moved * 64 * max(shape[2:4]) * (np.abs(grad).sum(1) * np.abs(x).max())[..., None]
        ours = gw.grid_sample_backward(grad, x, grid, mode, padding, corners)
        assert np.all(np.abs(ours[0] - theirs[0].numpy()) <= tx), shape
        assert np.all(np.abs(ours[1] - theirs[1].numpy()) <= tg), shape
