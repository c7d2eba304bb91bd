"""What comes in wrong, strange or at a bad moment: messages, memory, forks, interrupts, sizes past 2^31."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ModeError, ShapeError
from gridwave.modes import PaddingMode, SamplingMode
from gridwave.typing import SAMPLED_DTYPES

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(5)


def image(*shape: int, dtype: Any = np.float32) -> Array:
    return RNG.standard_normal(shape).astype(dtype)


def points(*shape: int, dtype: Any = np.float32) -> Array:
    return RNG.uniform(-1.2, 1.2, shape).astype(dtype)


X, GRID = image(2, 3, 5, 6), points(2, 4, 7, 2)
OUT = (2, 3, 4, 7)


def forward(x: Any = X, grid: Any = GRID, **other: Any) -> Any:
    return gw.grid_sample(x, grid, **other)


def backward(x: Any = X, grid: Any = GRID, grad_output: Any = None, **other: Any) -> Any:
    return gw.grid_sample_backward(np.ones(OUT, np.float32) if grad_output is None else grad_output, x, grid, **other)


def named(value: Any) -> str | None:
    """Make a readable test id."""
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype}{value.shape}"
    if isinstance(value, dict):
        return ",".join(f"{name}={named(item) or item!r}" for name, item in value.items())
    return value.__name__ if isinstance(value, type) else None


BOTH = pytest.mark.parametrize("call", [forward, backward])
Call = Callable[..., Any]


def refused(error: type[GridwaveError], *fragments: str) -> Any:
    """Expect ``error`` with a message that has all the fragments, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(map(re.escape, fragments)))


# ------------------------------------------------------------------------------------------------------------- shapes


@BOTH
@pytest.mark.parametrize(
    ("x", "fragments"),
    [
        (np.float32(1), ("x must have 4 axes (N, C, H, W)", "got shape ()")),
        (image(5, 6), ("x must have 4 axes (N, C, H, W)", "got shape (5, 6)")),
        (image(2, 3, 0, 6), ("x must have a height and width of at least 1", "got shape (2, 3, 0, 6)")),
        (image(2, 3, 5, 0), ("x must have a height and width of at least 1", "got shape (2, 3, 5, 0)")),
        (image(1, 3, 5, 6), ("grid must have the batch size of x", "(2, 4, 7, 2)", "(1, 3, 5, 6)", "broadcast_to")),
    ],
    ids=named,
)
def test_x_of_a_wrong_shape(call: Call, x: Any, fragments: tuple[str, ...]) -> None:
    with refused(ShapeError, *fragments):
        call(x=x)


@BOTH
@pytest.mark.parametrize(
    ("grid", "fragments"),
    [
        (points(2), ("grid must have shape (N, H_out, W_out, 2)", "got (2,)")),
        (points(4, 7, 2), ("grid must have shape (N, H_out, W_out, 2)", "got (4, 7, 2)")),
        (points(2, 4, 7, 3), ("grid must have shape (N, H_out, W_out, 2)", "got (2, 4, 7, 3)")),
        (points(2, 2, 4, 7), ("got (2, 2, 4, 7)", "move the axis of length 2 to the end")),
        (points(3, 4, 7, 2), ("grid must have the batch size of x", "(3, 4, 7, 2)", "(2, 3, 5, 6)")),
    ],
    ids=named,
)
def test_grid_of_a_wrong_shape(call: Call, grid: Any, fragments: tuple[str, ...]) -> None:
    with refused(ShapeError, *fragments):
        call(grid=grid)


@BOTH
def test_the_layout_decides_which_axes_are_which(call: Call) -> None:
    with (
        refused(ShapeError, "(N, H, W, C)", "(2, 5, 0, 3)", "(N, H, W, C)") if False else refused(ShapeError, "x must")
    ):
        call(x=image(2, 5, 0, 3), layout="NHWC")


@BOTH
def test_more_than_three_spatial_axes(call: Call) -> None:
    for rank in (6, 9):
        with pytest.raises(GridwaveError, match="x must have"):
            call(x=np.zeros((2,) * rank, np.float32))


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 7, 4), (2, 4, 7, 3), (1, 3, 4, 7), (2, 3, 4, 7, 1), ()])
def test_grad_output_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    with refused(ShapeError, "grad_output must have the shape of the output, (2, 3, 4, 7)", f"got {shape}"):
        backward(grad_output=np.ones(shape, np.float32))


# ------------------------------------------------------------------------------------------------------------- dtypes


@BOTH
@pytest.mark.parametrize(
    "dtype",
    [np.int16, np.int32, np.int64, np.uint32, np.bool_, np.complex64, np.longdouble, "O", "U3", "M8[s]"],
    ids=str,
)
def test_dtypes_that_no_argument_takes(call: Call, dtype: Any) -> None:
    bad = np.zeros(X.shape, dtype)
    with refused(
        DTypeError, "x must have dtype float32, float64, float16, bfloat16, uint8, int8, uint16", f"got {bad.dtype}"
    ):
        call(x=bad)
    with refused(DTypeError, "grid must", f"got {bad.dtype}"):
        call(grid=np.zeros(GRID.shape, dtype))


@BOTH
@pytest.mark.parametrize("dtype", [">f4", ">f8", ">f2", ">u2"])
def test_the_other_byte_order(call: Call, dtype: str) -> None:
    with refused(DTypeError, "x must be in the machine's byte order", dtype, "astype"):
        call(x=np.zeros(X.shape, dtype))


FLOATS = [np.dtype(d) for d in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]


@BOTH
@pytest.mark.parametrize("x", FLOATS, ids=str)
@pytest.mark.parametrize("grid", FLOATS, ids=str)
def test_mixes_of_floats(call: Call, x: Any, grid: Any) -> None:
    arguments = {"x": X.astype(x), "grid": GRID.astype(grid)}
    if call is backward:
        arguments["grad_output"] = np.ones(OUT, x)
    if x == grid or (x.itemsize == 2 and grid == np.float32):
        call(**arguments)
        return
    with refused(DTypeError, "grid must have the dtype of x", f"got x {x}, grid {grid}", "convert one"):
        call(**arguments)


@BOTH
def test_integers(call: Call) -> None:
    with refused(DTypeError, "grid must", "bfloat16", "got uint8"):
        call(x=X.astype(np.uint8), grid=np.zeros(GRID.shape, np.uint8))
    if call is backward:
        with refused(DTypeError, "x must be float16, bfloat16, float32 or float64 to have a gradient", "got uint8"):
            call(x=X.astype(np.uint8), grad_output=np.ones(OUT, np.uint8))


def test_grad_output_of_another_dtype() -> None:
    with refused(DTypeError, "grad_output must have the dtype of x, float32", "got float64"):
        backward(grad_output=np.ones(OUT))


@BOTH
@pytest.mark.parametrize("bad", [None, "image", object(), {}, [[1, 2], [3]], [None]], ids=repr)
def test_what_is_no_array(call: Call, bad: Any) -> None:
    for name in ("x", "grid"):
        with pytest.raises(GridwaveError, match=f"^{name} must"):
            call(**{name: bad})


# -------------------------------------------------------------------------------------------------------------- modes


@BOTH
@pytest.mark.parametrize(
    ("argument", "value", "fragments"),
    [
        ("mode", "bilinaer", ("'bilinear', 'nearest', 'bicubic'", "got 'bilinaer'", "did you mean 'bilinear'?")),
        ("mode", "linear", ("got 'linear'", "did you mean 'bilinear'?")),
        ("mode", "cubic", ("got 'cubic'", "did you mean 'bicubic'?")),
        ("mode", "Nearest", ("got 'Nearest'", "did you mean 'nearest'?")),
        ("mode", "lanczos", ("mode must be one of", "got 'lanczos'")),
        ("mode", None, ("mode must be one of", "got None")),
        ("mode", 0, ("mode must be one of", "got 0")),
        ("mode", ["bilinear"], ("mode must be one of", "got ['bilinear']")),
        ("padding_mode", "zero", ("'zeros', 'border', 'reflection'", "did you mean 'zeros'?")),
        ("padding_mode", "replicate", ("did you mean 'border'?",)),
        ("padding_mode", "reflect", ("did you mean 'reflection'?",)),
        ("layout", "nhwc", ("'NCHW', 'NHWC'", "did you mean 'NHWC'?")),
        ("layout", "channels_last", ("did you mean 'NHWC'?",)),
    ],
    ids=repr,
)
def test_unknown_modes(call: Call, argument: str, value: Any, fragments: tuple[str, ...]) -> None:
    with refused(ModeError, f"{argument} must be one of", *fragments[-1:]):
        call(**{argument: value})
    with refused(ModeError, *fragments):
        call(**{argument: value})


@BOTH
@pytest.mark.parametrize("value", [None, "True", 2, -1, 0.5, [True], np.array([True, False])], ids=repr)
def test_align_corners_is_a_bool(call: Call, value: Any) -> None:
    with refused(ArgumentError, "align_corners must be True or False", f"got {value!r}"):
        call(align_corners=value)


def test_wrt() -> None:
    with refused(ModeError, "wrt must be one of 'x', 'grid'", "got 'input'"):
        backward(wrt=("x", "input"))
    with refused(ArgumentError, "wrt must name at least one"):
        backward(wrt=())
    assert [g is None for g in backward(wrt=("grid",))] == [True, False]
    assert [g is None for g in backward(wrt="x")] == [False, True]


# ---------------------------------------------------------------------------------------------------------------- out


@pytest.mark.parametrize(
    ("out", "error", "fragments"),
    [
        (np.zeros((2, 3, 7, 4), np.float32), ShapeError, ("out must have shape (2, 3, 4, 7)", "got (2, 3, 7, 4)")),
        (np.zeros((2, 3, 4), np.float32), ShapeError, ("out must have shape (2, 3, 4, 7)", "got (2, 3, 4)")),
        (np.zeros(OUT), DTypeError, ("out must have the dtype of x, float32", "got float64")),
        (np.zeros(OUT, np.int32), DTypeError, ("out must have dtype", "got int32")),
        (np.broadcast_to(np.float32(0), OUT), ArgumentError, ("out is read-only",)),
        (np.zeros(OUT, np.float32).tolist(), DTypeError, ("out must be an array to write to", "got list")),
        (7, DTypeError, ("out must be an array to write to", "got int")),
    ],
    ids=named,
)
def test_out_that_does_not_fit(out: Any, error: type[GridwaveError], fragments: tuple[str, ...]) -> None:
    with refused(error, *fragments):
        forward(out=out)


def test_out_over_other_memory() -> None:
    with refused(ShapeError, "out overlaps the memory of x"):
        gw.grid_sample(square := image(1, 1, 4, 4), points(1, 4, 4, 2), out=square)
    with refused(ShapeError, "out overlaps the memory of grid"):
        gw.grid_sample(image(1, 2, 4, 4), grid := points(1, 4, 4, 2), out=grid.transpose(0, 3, 1, 2))
    twice = np.lib.stride_tricks.as_strided(np.zeros(84, np.float32), OUT, (0, 112, 28, 4), writeable=True)
    with refused(ShapeError, "out has elements that share memory"):
        forward(out=twice)


def test_a_failed_call_writes_nothing() -> None:
    out = np.full(OUT, 7, np.float32)
    for wrong in (
        {"mode": "x"},
        {"grid": GRID[:1]},
        {"x": X[:1]},
        {"align_corners": 3},
        {"grid": GRID.astype(np.float64)},
    ):
        with pytest.raises(GridwaveError):
            forward(out=out, **wrong)
    assert (out == 7).all()


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_out_of_any_strides_is_written_and_returned(layout: Any) -> None:
    x = X if layout == "NCHW" else X.transpose(0, 2, 3, 1)
    want = gw.grid_sample(x, GRID, layout=layout)
    for make in (
        lambda s: np.zeros(s, np.float32), lambda s: np.zeros(s, np.float32, order="F"),
        lambda s: np.zeros(s[::-1], np.float32).T[::-1, ::-1, ::-1, ::-1],
        lambda s: np.zeros((*s[:3], 2 * s[3]), np.float32)[..., ::2],
    ):  # fmt: skip
        out = make(want.shape)
        assert gw.grid_sample(x, GRID, layout=layout, out=out) is out
        np.testing.assert_array_equal(out, want)


# ------------------------------------------------------------------------------------------------- affine_grid and back


@pytest.mark.parametrize(
    ("arguments", "error", "fragments"),
    [
        ({"theta": image(2, 3)}, ShapeError, ("theta must have shape (N, 2, 3)", "got (2, 3)")),
        ({"theta": image(2, 3, 2)}, ShapeError, ("theta must have shape (N, 2, 3)", "got (2, 3, 2)")),
        ({"theta": image(3, 2, 3)}, ShapeError, ("theta",)),
        ({"theta": image(2, 2, 3).astype(np.int32)}, DTypeError, ("theta must have dtype", "got int32")),
        ({"theta": image(2, 2, 3).astype(np.uint8)}, DTypeError, ("theta", "must", "float", "got uint8")),
        ({"theta": image(2, 2, 3).astype(">f4")}, DTypeError, ("theta", "byte order", ">f4")),
        ({"theta": None}, DTypeError, ("theta must", "got None")),
        ({"size": (2, 3, 5)}, ShapeError, ("size must be four lengths (N, C, H, W)", "got (2, 3, 5)")),
        ({"size": (2, 3, 4, 5, 6)}, ShapeError, ("the grid must have shape (N, H, W, 2)", "got (2, 4, 5, 6, 3)")),
        ({"theta": image(2, 3, 4)}, ShapeError, ("the grid must have shape (N, D, H, W, 3)", "(2, 3, 4)")),
        ({"theta": image(2, 3, 3)}, ShapeError, ("theta must have shape", "(N, 3, 4) for volumes", "got (2, 3, 3)")),
        ({"size": (2, 3, 4, 5, 6, 7)}, ShapeError, ("size must be four lengths", "five of a volume")),
        ({"size": (2, 3, 0, 6)}, ShapeError, ("size must have", "D, H, W >= 1", "got (2, 3, 0, 6)")),
        ({"size": (-2, 3, 5, 6)}, ShapeError, ("size must have N, C >= 0", "got (-2, 3, 5, 6)")),
        ({"size": 7}, ArgumentError, ("size must be four lengths", "got 7")),
        ({"size": "abcd"}, ArgumentError, ("size must be four lengths", "got 'abcd'")),
        ({"size": (2, 3, 5.5, 6)}, ArgumentError, ("size must be four lengths",)),
        ({"size": (2, 3, None, 6)}, ArgumentError, ("size must be four lengths",)),
        ({"align_corners": "no"}, ArgumentError, ("align_corners must be True or False", "got 'no'")),
        ({"singleton": "one"}, ModeError, ("singleton must be one of", "'zero'", "got 'one'")),
        ({"singleton": ["zero"]}, ModeError, ("singleton must be",)),
    ],
    ids=named,
)
def test_affine_grid(arguments: dict[str, Any], error: type[GridwaveError], fragments: tuple[str, ...]) -> None:
    good: dict[str, Any] = {"theta": image(2, 2, 3), "size": (2, 3, 5, 6)}
    with refused(error, *fragments):
        gw.affine_grid(**(good | arguments))


@pytest.mark.parametrize(
    ("arguments", "error", "fragments"),
    [
        ({"grad_output": image(2, 5, 6)}, ShapeError, ("(N, H, W, 2)", "got (2, 5, 6)")),
        ({"grad_output": image(2, 5, 6, 3)}, ShapeError, ("(N, H, W, 2)", "got (2, 5, 6, 3)")),
        ({"grad_output": np.float32(0)}, ShapeError, ("(N, H, W, 2)", "got ()")),
        ({"grad_output": image(2, 5, 6, 2).astype(np.int8)}, DTypeError, ("must", "got int8")),
        ({"grad_output": image(2, 5, 6, 2).astype(">f8")}, DTypeError, ("grad_output", "byte order", ">f8")),
        ({"size": (2, 3, 6, 5)}, ShapeError, ("grad_output", "(2, 3, 6, 5)", "got (2, 5, 6, 2)")),
        ({"align_corners": 9}, ArgumentError, ("align_corners",)),
        ({"singleton": "one"}, ModeError, ("singleton",)),
    ],
    ids=named,
)
def test_affine_grid_backward(
    arguments: dict[str, Any], error: type[GridwaveError], fragments: tuple[str, ...]
) -> None:
    with refused(error, *fragments):
        gw.affine_grid_backward(**({"grad_output": image(2, 5, 6, 2)} | arguments))


# --------------------------------------------------------------------------------------------------- odd but welcome


@BOTH
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_read_only_and_strided_inputs(call: Call, layout: Any) -> None:
    x = X if layout == "NCHW" else X.transpose(0, 2, 3, 1)
    grad = np.ones(OUT, np.float32) if layout == "NCHW" else np.ones((2, 4, 7, 3), np.float32)
    arguments: dict[str, Any] = {"layout": layout} | ({"grad_output": grad} if call is backward else {})
    want = call(x=np.ascontiguousarray(x), grid=GRID, **arguments)
    for change in (
        lambda a: a.copy(), lambda a: np.asfortranarray(a), lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
        lambda a: a[::-1, ::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1, ::-1],
    ):  # fmt: skip
        a, g = change(x), change(GRID)
        a.setflags(write=False)
        g.setflags(write=False)
        for got, expected in zip(np.atleast_1d(call(x=a, grid=g, **arguments)) if call is forward else
                                 call(x=a, grid=g, **arguments), want, strict=True):  # fmt: skip
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", SAMPLED_DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("n", "c", "h", "w"), [(0, 3, 4, 7), (2, 0, 4, 7), (2, 3, 0, 7), (2, 3, 4, 0), (0, 0, 0, 0)])
def test_empty_results(dtype: Any, layout: Any, n: int, c: int, h: int, w: int) -> None:
    def shape(*planar: int) -> tuple[int, ...]:
        return planar if layout == "NCHW" else (planar[0], *planar[2:], planar[1])

    grid_dtype = dtype if dtype in FLOATS else np.float32
    x, grid = np.ones(shape(n, c, 5, 6), dtype), np.zeros((n, h, w, 2), grid_dtype)
    out = gw.grid_sample(x, grid, layout=layout)
    assert out.shape == shape(n, c, h, w)
    assert out.dtype == dtype
    if dtype in FLOATS:
        grad_x, grad_grid = gw.grid_sample_backward(out, x, grid, layout=layout)
        assert grad_x.shape == x.shape
        assert grad_grid.shape == grid.shape
        assert not grad_x.any()
        assert not grad_grid.any()


def test_empty_affine_grids() -> None:
    assert gw.affine_grid(np.zeros((0, 2, 3)), (0, 3, 4, 5)).shape == (0, 4, 5, 2)
    assert gw.affine_grid_backward(np.zeros((0, 4, 5, 2))).shape == (0, 2, 3)
    assert not gw.affine_grid_backward(np.zeros((2, 0, 5, 2))).any()


def test_lists_and_nested_sequences_are_arrays_of_their_own_dtype() -> None:
    got = gw.grid_sample([[[[1.0, 2.0], [3.0, 4.0]]]], [[[[0.0, 0.0]]]])
    assert got.tolist() == [[[[2.5]]]]


STRANGE = [np.nan, np.inf, -np.inf, 1e10, -1e10, 3e38, -3e38, 2.5e9, -2.5e9, 65504, 1e-45, -0.0]


@pytest.mark.parametrize("mode", SamplingMode.__args__)
@pytest.mark.parametrize("padding_mode", PaddingMode.__args__)
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_coordinates_that_are_not_numbers_or_enormous(
    mode: Any, padding_mode: Any, align_corners: bool, layout: Any, dtype: Any
) -> None:
    with np.errstate(over="ignore"):
        values = np.array(STRANGE).astype(dtype)
    grid = np.stack(np.meshgrid(values, values), axis=-1)[None].repeat(3, axis=2)
    x = np.full((1, 19, 6, 5) if layout == "NCHW" else (1, 6, 5, 19), 2, dtype)
    arguments = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners, "layout": layout}
    out = gw.grid_sample(x, grid, **arguments)
    assert np.isfinite(out.astype(float)).all()
    if padding_mode != "zeros":
        np.testing.assert_allclose(out.astype(float), 2, rtol=2e-2)  # weights sum to 1 wherever the point is
    far = ~(np.abs(grid.astype(float)) < 1e4).all(axis=-1)
    if padding_mode == "zeros":
        assert not (out.transpose(0, 2, 3, 1) if layout == "NCHW" else out)[far].any()
    grad_x, grad_grid = gw.grid_sample_backward(out, x, grid, **arguments)
    assert np.isfinite(grad_x.astype(float)).all()
    assert np.isfinite(grad_grid.astype(float)).all()
    assert not grad_grid[~np.isfinite(grid.astype(float))].any()


# ------------------------------------------------------------------------------------------- sizes, forks, interrupts


def sparse(count: int, dtype: Any) -> Array:
    """Zeros without memory behind them: pages that nobody writes are not there."""
    size = count * np.dtype(dtype).itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
    return np.frombuffer(mmap.mmap(-1, size, flags=flags), dtype)


@pytest.mark.parametrize("mode", SamplingMode.__args__)
@pytest.mark.parametrize(("h", "w"), [(46349, 46351), (2, 2**31 + 11), (2**31 + 11, 2)])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_more_than_2_to_the_31_pixels(mode: Any, h: int, w: int, layout: Any) -> None:
    x = sparse(h * w, np.uint8).reshape((1, 1, h, w) if layout == "NCHW" else (1, h, w, 1))
    plane = x[0, 0] if layout == "NCHW" else x[0, :, :, 0]
    corners = [(0, 0), (0, w - 1), (h - 1, 0), (h - 1, w - 1)]
    for value, (i, j) in enumerate(corners, 1):
        plane[i, j] = value * 50
    grid = np.array([[((2 * j + 1) / w - 1, (2 * i + 1) / h - 1) for i, j in corners]])[None]
    out = gw.grid_sample(x, grid, mode, "border", layout=layout)
    assert out.ravel().tolist() == [50, 100, 150, 200]


def some_result(_: int = 0) -> bytes:
    with gw.threads(2):
        out = gw.grid_sample(BIG_X, BIG_GRID)
        grads = gw.grid_sample_backward(out, BIG_X, BIG_GRID)
    return b"".join(a.tobytes() for a in (out, *grads))


BIG_X, BIG_GRID = image(1, 8, 100, 100), points(1, 200, 200, 2)
no_warning = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@no_warning
def test_fork_after_use() -> None:
    want = some_result()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(60)
            os.write(write, b"same" if some_result() == want == some_result() else b"other")
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    assert some_result() == want
    assert os.waitpid(child, 0)[1] == 0
    assert os.read(read, 10) == b"same"
    os.close(read)
    assert some_result() == want


@no_warning
def test_multiprocessing_by_fork() -> None:
    want = some_result()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(some_result, range(4)).get(timeout=100) == [want] * 4
    assert some_result() == want


LONG_CALL = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
import numpy as np, gridwave as gw
n, c, size, ho, wo = 400, 32, 64, 400, 500
x = np.broadcast_to(np.float32(1), (n, c, size, size))
grid = np.random.default_rng(0).uniform(-1, 1, (n, 1, wo, 2)).astype(np.float32)
grid = np.broadcast_to(grid, (n, ho, wo, 2))
gw.grid_sample(x[:1], grid[:1])
with gw.threads(int(sys.argv[1])):
    print("ready", flush=True)
    try:
        CALL
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        assert gw.grid_sample(x[:1], grid[:1]).shape == (1, c, ho, wo)
        sys.exit(0)
print("it ended too soon")
"""
CALLS = {
    "forward": "gw.grid_sample(x, grid, 'bicubic')",
    "backward": "gw.grid_sample_backward(np.broadcast_to(np.float32(1), (n, c, ho, wo)), x, grid, 'bicubic')",
}
"""2.6 thousand million values, 10 GiB of results that are never all there: seconds, however fast the kernels get."""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", CALLS)
def test_keyboard_interrupt_during_a_long_call(call: str, threads: int) -> None:
    command = [sys.executable, "-c", LONG_CALL.replace("CALL", CALLS[call]), str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.4)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            took = time.monotonic() - start
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    assert took < 5  # a tenth of a second on a quiet machine


def test_masks_are_not_dropped_silently() -> None:
    x, grid = np.ma.array(np.ones((1, 1, 2, 2), np.float32), mask=True), np.zeros((1, 1, 1, 2), np.float32)
    with refused(DTypeError, "x is a masked array", "x.filled(0)"):
        gw.grid_sample(x, grid)


@pytest.mark.parametrize("wrt", [None, (), 5])
def test_a_gradient_of_nothing(wrt: Any) -> None:
    x, grid = np.ones((1, 1, 2, 2), np.float32), np.zeros((1, 1, 1, 2), np.float32)
    with refused(ArgumentError, "wrt must name at least one of 'x' and 'grid'", repr(wrt)):
        gw.grid_sample_backward(np.ones((1, 1, 1, 1), np.float32), x, grid, wrt=wrt)


def test_a_grid_is_not_of_integers() -> None:
    with refused(DTypeError, "grid must be float16, bfloat16, float32 or float64; got int64"):
        gw.grid_sample(np.ones((1, 1, 2, 2), np.float32), np.zeros((1, 1, 1, 2), np.int64))


def test_an_affine_grid_past_all_memory() -> None:
    with refused(ShapeError, "size", "memory"):
        gw.affine_grid(np.zeros((1, 2, 3)), (1, 3, 2**62, 2**62))
