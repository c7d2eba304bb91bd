"""grid_sample of volumes, x (N, C, D, H, W), and of signals, x (N, C, W): against the float64 twin, in every layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import gridwave as gw
from gridwave import conventions, like, reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import DTypeError, GridwaveError, ModeError, ShapeError, UnsupportedError
from gridwave.modes import PaddingMode, SamplingMode
from gridwave.reference.affine_grid import base_grid

Array = npt.NDArray[Any]
MODES, PADDINGS = get_args(SamplingMode), get_args(PaddingMode)
FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.uint8, np.int8, np.uint16]
EVERY = pytest.mark.parametrize("mode", MODES)
AXES = pytest.mark.parametrize("axes", [1, 3])

# Channels of every kernel: one, a few, vectors and their tails.
CHANNELS = [1, 3, 4, 9, 16, 21]


def data(axes: int, channels: int, dtype: Any = np.float32, seed: int = 0, batch: int = 2) -> tuple[Array, Array]:
    """Return x and a grid that reaches well beyond it; more points than a tile."""
    rng = np.random.default_rng([seed, axes, channels])
    spatial, points = {1: ((9,), (301,)), 3: ((4, 5, 6), (7, 6, 9))}[axes]
    values = rng.standard_normal((batch, channels, *spatial))
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, values.shape, endpoint=True)
    kind = np.float32 if np.dtype(dtype).kind in "iu" else dtype
    return values.astype(dtype), rng.uniform(-1.7, 1.7, (batch, *points, axes)).astype(kind)


def spec_of(mode: Any, padding: Any, corners: bool) -> GridSampleSpec:
    return replace(conventions.torch.GRID_SAMPLE, mode=mode, padding_mode=padding, align_corners=corners)


def twin(x: Array, grid: Array, spec: GridSampleSpec, absolute: bool = False) -> Array:
    kind = np.float64 if grid.dtype == np.float64 else np.float32
    x, grid = (a.astype(np.float32) if a.dtype == ml_dtypes.bfloat16 else a for a in (x, grid))
    return reference.grid_sample(x, grid, spec, coordinate_dtype=kind, absolute=absolute)


def check(y: Array, x: Array, grid: Array, spec: GridSampleSpec) -> None:
    """Within rounding: 16 eps of the arithmetic, or one rounding of a 16-bit result, times sum |w| |x|."""
    want, scale = twin(x, grid, spec), twin(x, grid, spec, absolute=True)
    assert y.shape == want.shape
    assert y.dtype == x.dtype
    if x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        want = np.clip(np.rint(want), info.min, info.max)
        assert np.max(np.abs(y.astype(np.float64) - want)) <= (spec.mode != "nearest")
        return
    steps = 4 if x.dtype.itemsize == 2 else 16
    bound = steps * float(ml_dtypes.finfo(x.dtype).eps) * (scale.max() if scale.size else 1)
    assert np.max(np.abs(y.astype(np.float64) - want), initial=0) <= bound


def last(x: Array) -> Array:
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def strided(x: Array) -> Array:
    memory = np.zeros([2 * n + 1 for n in x.shape], x.dtype)
    view = memory[tuple(slice(1, None, 2) for _ in x.shape)]
    view[...] = x
    return view


MEMORY: dict[str, Callable[[Array], Array]] = {
    "dense": np.ascontiguousarray,
    "channels_last": lambda x: np.moveaxis(last(x), -1, 1),
    "strided": strided,
    "flipped": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "fortran": np.asfortranarray,
}


@AXES
@EVERY
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("corners", [False, True])
def test_every_mode(axes: int, mode: str, padding: str, corners: bool) -> None:
    for channels in CHANNELS:
        x, grid = data(axes, channels)
        spec = spec_of(mode, padding, corners)
        check(gw.grid_sample(x, grid, mode, padding, corners), x, grid, spec)  # type: ignore[arg-type]
        y = gw.grid_sample(last(x), grid, mode, padding, corners, layout="NHWC")  # type: ignore[arg-type]
        check(np.moveaxis(y, -1, 1), x, grid, spec)


@AXES
@EVERY
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_every_dtype(axes: int, mode: Any, dtype: Any) -> None:
    for channels in (1, 5, 17):
        x, grid = data(axes, channels, dtype)
        for padding in PADDINGS:
            check(gw.grid_sample(x, grid, mode, padding), x, grid, spec_of(mode, padding, False))
            y = gw.grid_sample(last(x), grid, mode, padding, layout="NHWC")
            check(np.moveaxis(y, -1, 1), x, grid, spec_of(mode, padding, False))


@AXES
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(np.float16, np.float32), (ml_dtypes.bfloat16, np.float32), (np.uint8, np.float64), (np.uint16, np.float16)],
)
def test_mixed_dtypes(axes: int, dtype: Any, kind: Any) -> None:
    x, grid = data(axes, 5, dtype)
    grid = grid.astype(kind)
    for mode in MODES:
        check(gw.grid_sample(x, grid, mode), x, grid, spec_of(mode, "zeros", False))


@AXES
@EVERY
@pytest.mark.parametrize("channels", [1, 3, 20])
@pytest.mark.parametrize("memory", MEMORY)
def test_memory_does_not_matter(axes: int, mode: Any, channels: int, memory: str) -> None:
    x, grid = data(axes, channels)
    spec = spec_of(mode, "reflection", False)
    given = MEMORY[memory](x)
    before = given.copy()
    y = gw.grid_sample(given, MEMORY["strided" if memory == "strided" else "dense"](grid), mode, "reflection")
    check(y, x, grid, spec)
    assert np.array_equal(given, before)
    if memory == "channels_last" and channels > 1:
        assert np.moveaxis(y, 1, -1).flags.c_contiguous
    for name in MEMORY:
        out = MEMORY[name](np.full(y.shape, np.nan, x.dtype))
        assert gw.grid_sample(given, grid, mode, "reflection", out=out) is out
        check(out, x, grid, spec)


@AXES
def test_one_grid_for_the_whole_batch(axes: int) -> None:
    x, grid = data(axes, 6, batch=3)
    shared = np.broadcast_to(grid[:1], grid.shape)
    np.testing.assert_array_equal(gw.grid_sample(x, shared), gw.grid_sample(x, np.ascontiguousarray(shared)))


@AXES
@EVERY
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_bits_do_not_depend_on_threads(axes: int, mode: Any, layout: Any) -> None:
    rng = np.random.default_rng(1)
    spatial, points = {1: ((4000,), (9000,)), 3: ((20, 24, 28), (20, 25, 30))}[axes]
    x = rng.standard_normal((1, 20, *spatial)).astype(np.float32)
    grid = rng.uniform(-1.1, 1.1, (1, *points, axes)).astype(np.float32)
    x = last(x) if layout == "NHWC" else x
    results = []
    for threads in (1, 2, 5):
        with gw.threads(threads):
            results.append(gw.grid_sample(x, grid, mode, layout=layout))
    assert all(np.array_equal(results[0], r) for r in results[1:])


@AXES
def test_an_image_of_one_row_is_a_signal_and_a_volume_of_one_plane(axes: int) -> None:
    """What an axis of length 1 adds at its centre is nothing."""
    rng = np.random.default_rng(2)
    if axes == 1:
        signal, points = rng.standard_normal((2, 5, 9)), rng.uniform(-1.4, 1.4, (2, 40, 1))
        image, at = signal[:, :, None], np.concatenate([points, np.zeros_like(points)], -1)[:, None]
        small, other = gw.grid_sample(signal, points), gw.grid_sample(image, at)[:, :, 0]
    else:
        image, at = rng.standard_normal((2, 5, 6, 7)), rng.uniform(-1.4, 1.4, (2, 8, 9, 2))
        volume, points = image[:, :, None], np.concatenate([at, np.zeros_like(at[..., :1])], -1)[:, None]
        small, other = gw.grid_sample(image, at), gw.grid_sample(volume, points)[:, :, 0]
    np.testing.assert_allclose(small, other, rtol=0, atol=1e-14)


@AXES
@EVERY
@pytest.mark.parametrize("channels", [1, 3, 17])
@pytest.mark.parametrize("last_axis", [False, True])
def test_strange_voxels_reach_exactly_their_points(axes: int, mode: Any, channels: int, last_axis: bool) -> None:
    """A NaN or an infinity shows where the twin has it and nowhere else, tails and edges included."""
    x, grid = data(axes, channels, np.float64, seed=3)
    rng = np.random.default_rng(4)
    where = rng.uniform(size=x.shape) < 0.04
    x[where] = rng.choice([np.nan, np.inf, -np.inf], np.count_nonzero(where))
    for padding in PADDINGS:
        with np.errstate(invalid="ignore"):
            want = twin(x, grid, spec_of(mode, padding, False))
        if last_axis:
            y = np.moveaxis(gw.grid_sample(last(x), grid, mode, padding, layout="NHWC"), -1, 1)
        else:
            y = gw.grid_sample(x, grid, mode, padding)
        np.testing.assert_array_equal(np.isfinite(y), np.isfinite(want))
        sound = np.isfinite(want)
        np.testing.assert_allclose(y[sound], want[sound], rtol=0, atol=1e-12)


STRANGE = [np.nan, np.inf, -np.inf, 1e10, -1e10, 3e38, -3e38, 2.5e9, -2.5e9, 1e30, 7e6]


@AXES
@EVERY
@pytest.mark.parametrize("padding", PADDINGS)
def test_strange_coordinates(axes: int, mode: Any, padding: Any) -> None:
    for channels in (1, 5, 18):
        x, grid = data(axes, channels)
        rng = np.random.default_rng(5)
        where = rng.uniform(size=grid.shape) < 0.2
        grid[where] = rng.choice(STRANGE, np.count_nonzero(where))
        for corners in (False, True):
            y = gw.grid_sample(x, grid, mode, padding, corners)
            z = np.moveaxis(gw.grid_sample(last(x), grid, mode, padding, corners, layout="NHWC"), -1, 1)
            assert np.all(np.isfinite(y))
            np.testing.assert_allclose(y, z, rtol=0, atol=1e-4)
            if padding == "zeros":
                gone = ~np.all(np.isfinite(grid) & (np.abs(grid) < 1e9), axis=-1)
                assert not np.any(np.moveaxis(y, 1, -1)[gone])


@EVERY
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 6), (4, 1, 6), (4, 5, 1), (1, 1, 3), (2, 2, 2)])
def test_short_axes(mode: Any, padding: Any, corners: bool, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(6)
    grid = rng.uniform(-3, 3, (1, 2, 3, 20, 3)).astype(np.float32)
    for channels in (1, 6):
        x = rng.standard_normal((1, channels, *shape)).astype(np.float32)
        check(gw.grid_sample(x, grid, mode, padding, corners), x, grid, spec_of(mode, padding, corners))
        y = gw.grid_sample(last(x), grid, mode, padding, corners, layout="NHWC")
        check(np.moveaxis(y, -1, 1), x, grid, spec_of(mode, padding, corners))


@AXES
@pytest.mark.parametrize("name", ["torch:grid_sample", "onnx:GridSample", "onnxruntime:GridSample"])
def test_conventions(axes: int, name: str) -> None:
    x, grid = data(axes, 3)
    length = x.shape[-1]
    grid[0] = (np.round(grid[0] * 2 * length) / (2 * length)).astype(np.float32)  # ties
    for mode in MODES:
        for padding in PADDINGS:
            for corners in (False, True):
                base = conventions.GRID_SAMPLE[name]
                convention = replace(base, mode=mode, padding_mode=padding, align_corners=corners)
                check(gw.sampling.sample(convention, x, grid), x, grid, convention)


def test_golden_numbers_of_volumes() -> None:
    """Worked by hand: x = 4 z + 2 y + x of a 2 x 2 x 2 volume shows which coordinate goes along which axis."""
    x = np.arange(8.0).reshape(1, 1, 2, 2, 2)
    corners = [(-1, -1, -1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1), (0, 0, 0), (0.5, -0.5, 0.25), (1.5, 0, 0)]
    grid = np.array(corners, np.float64).reshape(1, 1, 1, 7, 3)
    for padding, want in {"zeros": [0, 1, 2, 4, 3.5, 3.75, 3], "border": [0, 1, 2, 4, 3.5, 3.75, 4]}.items():
        assert gw.grid_sample(x, grid, padding_mode=padding, align_corners=True).ravel().tolist() == want  # type: ignore[arg-type]
    want = [0, 0.125, 0.25, 0.5, 3.5, 4, 0]
    assert gw.grid_sample(x, grid).ravel().tolist() == want
    assert gw.grid_sample(x, grid, "nearest", "border").ravel().tolist() == [0, 1, 2, 4, 0, 5, 1]


# ----------------------------------------------------------------------------------------------------------- gradients


def check_gradients(found: tuple[Array, Array], grad: Array, x: Array, grid: Array, spec: GridSampleSpec) -> None:
    """Within rounding: 16 eps of the arithmetic, or one rounding of a 16-bit result, times sum |w| |x| |grad|."""
    kind = np.float64 if grid.dtype == np.float64 else np.float32
    arrays = [a.astype(np.float32) if a.dtype == ml_dtypes.bfloat16 else a for a in (grad, x, grid)]
    want, scale = (
        reference.grid_sample_backward(*arrays, spec, coordinate_dtype=kind, absolute=absolute)
        for absolute in (False, True)
    )
    for ours, value, size, given in zip(found, want, scale, (x, grid), strict=True):
        assert ours.shape == given.shape
        assert ours.dtype == given.dtype
        steps = 4 if given.dtype.itemsize == 2 else 16
        bound = steps * float(ml_dtypes.finfo(given.dtype).eps) * float(np.max(size, initial=0))
        assert np.max(np.abs(ours.astype(np.float64) - value), initial=0) <= bound


def gradient_data(axes: int, channels: int, dtype: Any = np.float32, seed: int = 0) -> tuple[Array, Array, Array]:
    x, grid = data(axes, channels, dtype, seed)
    shape = (*x.shape[:2], *grid.shape[1:-1])
    return np.random.default_rng([seed, 1]).standard_normal(shape).astype(dtype), x, grid


@AXES
@EVERY
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("corners", [False, True])
def test_gradients_of_every_mode(axes: int, mode: Any, padding: Any, corners: bool) -> None:
    for channels in CHANNELS:
        grad, x, grid = gradient_data(axes, channels)
        spec = spec_of(mode, padding, corners)
        check_gradients(gw.grid_sample_backward(grad, x, grid, mode, padding, corners), grad, x, grid, spec)
        gx, gg = gw.grid_sample_backward(last(grad), last(x), grid, mode, padding, corners, layout="NHWC")
        check_gradients((np.moveaxis(gx, -1, 1), gg), grad, x, grid, spec)


@AXES
@EVERY
@pytest.mark.parametrize("dtype", FLOATS)
def test_gradients_of_every_dtype(axes: int, mode: Any, dtype: Any) -> None:
    for channels in (1, 5, 17):
        grad, x, grid = gradient_data(axes, channels, dtype)
        check_gradients(gw.grid_sample_backward(grad, x, grid, mode), grad, x, grid, spec_of(mode, "zeros", False))
        if np.dtype(dtype).itemsize == 2:
            wide = grid.astype(np.float32)
            found = gw.grid_sample_backward(grad, x, wide, mode)
            check_gradients(found, grad, x, wide, spec_of(mode, "zeros", False))


@AXES
@EVERY
@pytest.mark.parametrize("channels", [1, 3, 16])
@pytest.mark.parametrize("memory", MEMORY)
def test_memory_does_not_matter_to_gradients(axes: int, mode: Any, channels: int, memory: str) -> None:
    arrays = gradient_data(axes, channels)
    given = [MEMORY[memory](a) for a in arrays]
    before = [a.copy() for a in given]
    spec = spec_of(mode, "border", True)
    both = gw.grid_sample_backward(*given, mode, "border", True)
    check_gradients(both, *arrays, spec)
    assert all(np.array_equal(a, b) for a, b in zip(given, before, strict=True))
    for position, target in enumerate(("x", "grid")):
        alone = gw.grid_sample_backward(*given, mode, "border", True, wrt=(target,))  # type: ignore[arg-type]
        assert alone[1 - position] is None
        np.testing.assert_allclose(alone[position], both[position], rtol=0, atol=1e-4)


@AXES
@EVERY
@pytest.mark.parametrize("channels", [2, 20])
def test_adjoint(axes: int, mode: Any, channels: int) -> None:
    """<A x, y> == <x, A' y>: grad_x is the exact adjoint of sampling."""
    grad, x, grid = gradient_data(axes, channels, np.float64)
    for padding in PADDINGS:
        for corners in (False, True):
            left = np.sum(gw.grid_sample(x, grid, mode, padding, corners) * grad)
            right = np.sum(gw.grid_sample_backward(grad, x, grid, mode, padding, corners)[0] * x)
            assert abs(left - right) <= 1e-12 * np.sum(np.abs(grad)) * np.max(np.abs(x))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@AXES
def test_grid_gradients_are_slopes(axes: int, mode: Any) -> None:
    """Against central differences, a tenth of a sample or more away from kinks."""
    rng = np.random.default_rng(8)
    spatial = (6, 5, 7)[-axes:]
    x = rng.standard_normal((1, 3, *spatial))
    sizes = np.array(spatial[::-1], np.float64)
    position = np.floor(rng.uniform(-2, sizes + 2, (40, axes))) + rng.choice([0.2, 0.7], (40, axes))
    position += rng.uniform(-0.09, 0.09, position.shape)
    grid = ((2 * position + 1) / sizes - 1).reshape(1, *(1,) * (axes - 1), 40, axes)
    grad = rng.standard_normal((1, 3, *grid.shape[1:-1]))
    for padding in PADDINGS:
        slope = gw.grid_sample_backward(grad, x, grid, mode, padding)[1]
        for axis in range(axes):
            step = np.zeros(axes)
            step[axis] = 1e-6
            rise = gw.grid_sample(x, grid + step, mode, padding) - gw.grid_sample(x, grid - step, mode, padding)
            np.testing.assert_allclose(slope[..., axis], np.sum(rise * grad, axis=1) / 2e-6, rtol=1e-6, atol=1e-6)


@EVERY
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(
    ("channels", "points"), [(1, (41, 40, 42)), (3, (21, 23, 46)), (20, (12, 13, 24)), (32, (9, 15, 16))]
)
def test_gradients_in_bands_of_planes(mode: Any, padding: Any, channels: int, points: tuple[int, ...]) -> None:
    """Enough values that planes are shared out: points between two bands belong to one and add to both."""
    rng = np.random.default_rng([11, channels])
    x = rng.standard_normal((1, channels, 19, 5, 6)).astype(np.float32)
    grid = rng.uniform(-1.4, 1.4, (1, *points, 3)).astype(np.float32)
    grad = rng.standard_normal((1, channels, *points)).astype(np.float32)
    spec = spec_of(mode, padding, False)
    check_gradients(gw.grid_sample_backward(grad, x, grid, mode, padding), grad, x, grid, spec)
    gx, gg = gw.grid_sample_backward(last(grad), last(x), grid, mode, padding, layout="NHWC")
    check_gradients((np.moveaxis(gx, -1, 1), gg), grad, x, grid, spec)


@AXES
@EVERY
@pytest.mark.parametrize("channels", [1, 6, 40])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_bits_of_gradients_do_not_depend_on_threads(axes: int, mode: Any, channels: int, layout: Any) -> None:
    rng = np.random.default_rng(9)
    spatial, points = {1: ((3000,), (9000,)), 3: ((20, 12, 14), (12, 15, 20))}[axes]
    x = rng.standard_normal((1, channels, *spatial)).astype(np.float32)
    grad = rng.standard_normal((1, channels, *points)).astype(np.float32)
    grid = rng.uniform(-1.1, 1.1, (1, *points, axes)).astype(np.float32)
    x, grad = (last(x), last(grad)) if layout == "NHWC" else (x, grad)
    results = []
    for threads in (1, 2, 5):
        with gw.threads(threads):
            results.append(gw.grid_sample_backward(grad, x, grid, mode, "reflection", layout=layout))
    for one, *others in zip(*results, strict=True):
        assert all(np.array_equal(one, other) for other in others)


@AXES
@EVERY
@pytest.mark.parametrize("padding", PADDINGS)
def test_gradients_at_strange_coordinates(axes: int, mode: Any, padding: Any) -> None:
    for channels in (1, 16):
        grad, x, grid = gradient_data(axes, channels)
        rng = np.random.default_rng(10)
        where = rng.uniform(size=grid.shape) < 0.2
        grid[where] = rng.choice(STRANGE, np.count_nonzero(where))
        gx, gg = gw.grid_sample_backward(grad, x, grid, mode, padding)
        assert np.all(np.isfinite(gx))
        assert np.all(np.isfinite(gg))
        assert not np.any(gg[~np.isfinite(grid)])


def test_gradients_of_nothing() -> None:
    grad, x, grid = gradient_data(3, 2)
    gx, gg = gw.grid_sample_backward(grad[:, :, :0], x, grid[:, :0])
    assert not np.any(gx)
    assert gg.shape == (2, 0, 6, 9, 3)
    gx, gg = gw.grid_sample_backward(grad[:, :0], x[:, :0], grid)
    assert gx.shape == (2, 0, 4, 5, 6)
    assert not np.any(gg)
    gx, gg = gw.grid_sample_backward(grad[:0], x[:0], grid[:0])
    assert gx.shape == (0, 2, 4, 5, 6)


def test_bad_gradients() -> None:
    grad, x, grid = gradient_data(3, 2)
    refused(lambda: gw.grid_sample_backward(grad[:, :, 1:], x, grid), ShapeError, "grad_output must have shape")
    refused(lambda: gw.grid_sample_backward(grad[0], x, grid), ShapeError, "grad_output must have shape")
    refused(lambda: gw.grid_sample_backward(grad.astype(np.float64), x, grid), DTypeError, "dtype of x")
    integers = x.astype(np.uint8)
    refused(lambda: gw.grid_sample_backward(grad.astype(np.uint8), integers, grid), DTypeError, "to have a gradient")
    refused(lambda: gw.grid_sample_backward(grad, x, grid[..., :2]), ShapeError, "last axis (x, y, z)")


# ---------------------------------------------------------------------------------------------------------- bad input


def refused(call: Callable[[], Any], error: type[GridwaveError], *fragments: str) -> None:
    with pytest.raises(error) as caught:
        call()
    text = str(caught.value)
    assert all(fragment in text for fragment in fragments), text


def volume(*shape: int, dtype: Any = np.float32) -> Array:
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("x", "grid", "fragments"),
    [
        (volume(2, 3, 4, 5, 6), volume(2, 4, 7, 2), ("(N, D_out, H_out, W_out, 3)", "x has 5 axes", "(N, C, D, H, W)")),
        (volume(2, 3, 6), volume(2, 4, 7, 2), ("(N, W_out, 1)", "x has 3 axes", "an axis for the batch")),
        (volume(2, 3, 4, 5, 6), volume(2, 3, 4, 5, 7), ("got (2, 3, 4, 5, 7)", "move the axis of length 3 to the end")),
        (volume(2, 3, 4, 5, 6), volume(2, 4, 5, 7, 2), ("last axis (x, y, z)", "got (2, 4, 5, 7, 2)")),
        (volume(2, 3, 6), volume(2, 7, 2), ("last axis (x,)", "got (2, 7, 2)")),
        (volume(2, 3, 4, 5, 6), volume(3, 4, 5, 7, 3), ("grid must have the batch size of x", "broadcast_to")),
        (volume(2, 3, 4, 0, 6), volume(2, 4, 5, 7, 3), ("at least one sample along every", "(2, 3, 4, 0, 6)")),
        (volume(2, 3, 0), volume(2, 4, 1), ("at least one sample", "(2, 3, 0)")),
        (volume(2, 3), volume(2, 4, 1), ("x must have 4 axes", "3 for signals or 5 for volumes")),
    ],
    ids=lambda v: str(getattr(v, "shape", "")),
)
def test_shapes_that_do_not_fit(x: Array, grid: Array, fragments: tuple[str, ...]) -> None:
    refused(lambda: gw.grid_sample(x, grid), ShapeError, *fragments)


def test_other_bad_input() -> None:
    x, grid = data(3, 2)
    refused(lambda: gw.grid_sample(x, grid.astype(np.float64)), DTypeError, "grid must have the dtype of x")
    refused(lambda: gw.grid_sample(x.astype(np.int32), grid), DTypeError, "x must have dtype")
    refused(lambda: gw.grid_sample(x, grid, "trilinear"), ModeError, "did you mean 'bilinear'")  # type: ignore[arg-type]
    short, wide = np.empty((2, 2, 7, 6, 8), np.float32), np.empty((2, 2, 7, 6, 9))
    refused(lambda: gw.grid_sample(x, grid, out=short), ShapeError, "out must have shape")
    refused(lambda: gw.grid_sample(x, grid, out=wide), DTypeError, "out must have the dtype of x")
    refused(lambda: gw.grid_sample(x, grid, out=grid[..., :2].transpose(0, 4, 1, 2, 3)), ShapeError, "overlaps")
    shared = np.broadcast_to(np.zeros((2, 2, 7, 6, 1), np.float32), (2, 2, 7, 6, 9))
    refused(lambda: gw.grid_sample(x, grid, out=shared), GridwaveError, "out")


def test_a_volume_larger_than_memory() -> None:
    """One voxel, broadcast to 2^58 of them."""
    _, grid = data(3, 2)
    x = np.lib.stride_tricks.as_strided(np.full(1, 3.0, np.float32), (2, 1, 1 << 20, 1 << 20, 1 << 17), (0,) * 5)
    for mode in MODES:
        np.testing.assert_allclose(gw.grid_sample(x, grid, mode, "border"), 3, rtol=1e-6)


def test_no_points_no_channels_no_batch() -> None:
    x, grid = data(3, 2)
    assert gw.grid_sample(x, grid[:, :0]).shape == (2, 2, 0, 6, 9)
    assert gw.grid_sample(x[:, :0], grid).shape == (2, 0, 7, 6, 9)
    assert gw.grid_sample(x[:0], grid[:0]).shape == (0, 2, 7, 6, 9)


# --------------------------------------------------------------------------------------------------------- frameworks


def test_what_frameworks_refuse() -> None:
    x, grid = data(3, 2)
    signal, at = data(1, 2)
    refused(lambda: like.torch.grid_sample(x, grid, "bicubic", align_corners=False), UnsupportedError, "4-D input")
    refused(lambda: like.torch.grid_sample(signal, at, align_corners=False), ShapeError, "4 or 5 axes")
    refused(lambda: like.onnxruntime.GridSample(x, grid, mode="cubic"), UnsupportedError, "4-D X")
    refused(lambda: like.onnxruntime.GridSample(signal, at), ShapeError, "4 or 5 axes")
    for operator in (like.onnx.GridSample, like.onnxruntime.GridSample):
        call = partial(operator, x, grid, mode="bilinear", opset=16)
        refused(call, UnsupportedError, "before opset 20")
    refused(lambda: like.onnx.GridSample(volume(1, 1, 2, 2, 2, 2), grid), ShapeError, "3 or 4 or 5 axes")
    assert like.onnx.GridSample(signal, at, mode="cubic").shape == (2, 2, 301)


@pytest.mark.parametrize("singleton", ["zero", "minus_one", "plus_one"])
@pytest.mark.parametrize("size", [(2, 1, 3, 4, 5), (2, 7, 1, 4, 5), (2, 1, 3, 1, 1), (2, 1, 1, 3)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_affine_grid(size: tuple[int, ...], singleton: Any, dtype: Any) -> None:
    rng = np.random.default_rng(7)
    axes = len(size) - 2
    theta = rng.standard_normal((2, axes, axes + 1)).astype(dtype)
    for corners in (False, True):
        base = base_grid(size[2:], corners, {"zero": 0.0, "minus_one": -1.0, "plus_one": 1.0}[singleton])
        want = np.einsum("...j,nij->n...i", base, theta.astype(np.float64))
        grid = gw.affine_grid(theta, size, corners, singleton=singleton)
        assert grid.dtype == theta.dtype
        eps = float(ml_dtypes.finfo(dtype).eps)
        np.testing.assert_allclose(grid.astype(np.float64), want, rtol=eps, atol=4e-15)
        grad = rng.standard_normal(grid.shape).astype(dtype)
        back = gw.affine_grid_backward(grad, size, corners, singleton=singleton)
        assert back.shape == theta.shape
        flat = np.einsum("npi,pj->nij", grad.astype(np.float64).reshape(2, -1, axes), base.reshape(-1, axes + 1))
        np.testing.assert_allclose(back.astype(np.float64), flat, rtol=eps, atol=1e-13)
