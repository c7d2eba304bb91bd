"""gridwave.like: each framework's own checks and rules, and live comparison where the framework is installed."""

from __future__ import annotations

import importlib
import inspect
import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import ml_dtypes
import numpy as np
import pytest

from gridwave import conventions, like, reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError, DTypeError, GridwaveError, ModeError, ShapeError, UnsupportedError
from gridwave.modes import PaddingMode, SamplingMode

MODES, PADDINGS = get_args(SamplingMode), get_args(PaddingMode)
ONNX_NAMES = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}
DTYPES = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
CALLS = ["torch", "onnx", "onnxruntime"]


def images(dtype: Any = np.float32, seed: int = 0) -> tuple[Any, Any, Any]:
    """Return x, grid and grad_output: odd sizes, coordinates well beyond the image."""
    rng = np.random.default_rng(seed)
    x, grad = rng.standard_normal((2, 3, 5, 7)), rng.standard_normal((2, 3, 4, 6))
    return x.astype(dtype), rng.uniform(-2.5, 2.5, (2, 4, 6, 2)).astype(dtype), grad.astype(dtype)


def sample(name: str, x: Any, grid: Any, mode: str, padding: str, corners: bool, **kwargs: Any) -> Any:
    if name == "torch":
        return like.torch.grid_sample(x, grid, mode, padding, corners, **kwargs)
    return getattr(like, name).GridSample(
        x, grid, mode=ONNX_NAMES[mode], padding_mode=padding, align_corners=int(corners), **kwargs
    )


def spec(name: str, mode: Any, padding: Any, corners: bool) -> GridSampleSpec:
    base: GridSampleSpec = getattr(conventions, name).GRID_SAMPLE
    return replace(base, mode=mode, padding_mode=padding, align_corners=corners)


def tolerance(dtype: Any, scale: Any) -> float:
    """16 eps of float32 and float64 arithmetic, or the one rounding of 16-bit results, times sum|w| |x|."""
    steps = 4 if np.dtype(dtype).itemsize == 2 else 16
    return float(steps * ml_dtypes.finfo(dtype).eps * np.max(scale))


# ------------------------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_its_convention(name: str, dtype: Any) -> None:
    if name == "onnxruntime" and dtype is ml_dtypes.bfloat16:
        pytest.skip("ONNX Runtime has no bfloat16 GridSample")
    x, grid, _ = images(dtype)
    at = np.float64 if dtype is np.float64 else np.float32
    for mode, padding, corners in itertools.product(MODES, PADDINGS, (False, True)):
        y = sample(name, x, grid, mode, padding, corners)
        assert y.dtype == dtype
        s = spec(name, mode, padding, corners)
        expected, scale = (
            reference.grid_sample(x, grid, s, coordinate_dtype=at, absolute=absolute) for absolute in (False, True)
        )
        np.testing.assert_allclose(
            y.astype(np.float64), expected, rtol=0, atol=tolerance(dtype, scale), err_msg=f"{mode} {padding} {corners}"
        )


def gradients(dtype: Any, s: GridSampleSpec, arrays: tuple[Any, Any, Any]) -> Iterator[tuple[Any, float]]:
    x, grid, grad = arrays
    at = np.float64 if dtype is np.float64 else np.float32
    values, scales = (
        reference.grid_sample_backward(grad, x, grid, s, coordinate_dtype=at, absolute=absolute)
        for absolute in (False, True)
    )
    for value, scale in zip(values, scales, strict=True):
        yield value, tolerance(dtype, scale)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
def test_torch_backward(dtype: Any) -> None:
    x, grid, grad = images(dtype)
    for mode, padding, corners in itertools.product(MODES, PADDINGS, (False, True)):
        got = like.torch.grid_sample_backward(grad, x, grid, mode, padding, corners)
        for ours, (value, atol) in zip(
            got, gradients(dtype, spec("torch", mode, padding, corners), (x, grid, grad)), strict=True
        ):
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours.astype(np.float64), value, rtol=0, atol=atol, err_msg=f"{mode} {padding}")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_ascend_backward(data_format: Any, dtype: Any) -> None:
    x, grid, grad = images(dtype)

    def arranged(array: Any) -> Any:
        return array if data_format == "NCHW" else np.ascontiguousarray(np.moveaxis(array, 1, -1))

    for mode, padding, corners in itertools.product(MODES, PADDINGS, (False, True)):
        dx, dgrid = like.ascend.grid_sampler_2d_grad(
            arranged(grad), arranged(x), grid, mode, padding, corners, data_format=data_format
        )
        (value_x, atol_x), (value_grid, atol_grid) = gradients(
            dtype, spec("ascend", mode, padding, corners), (x, grid, grad)
        )
        np.testing.assert_allclose(dx.astype(np.float64), arranged(value_x), rtol=0, atol=atol_x)
        np.testing.assert_allclose(dgrid.astype(np.float64), value_grid, rtol=0, atol=atol_grid)


def test_cubic_slopes_are_signed() -> None:
    """The trap of the operator page: with absolute distances the four slopes do not sum to 0."""
    flat = np.ones((1, 1, 6, 6))
    grid = np.random.default_rng(2).uniform(-0.4, 0.4, (1, 3, 3, 2))
    _, dgrid = like.ascend.grid_sampler_2d_grad(np.ones((1, 1, 3, 3)), flat, grid, "bicubic")
    np.testing.assert_allclose(dgrid, 0, atol=1e-13)


def test_output_mask_chooses_the_gradients() -> None:
    x, grid, grad = images()
    both = like.torch.grid_sample_backward(grad, x, grid, align_corners=False)
    only_x = like.torch.grid_sample_backward(grad, x, grid, align_corners=False, output_mask=(True, False))
    only_grid = like.torch.grid_sample_backward(grad, x, grid, align_corners=False, output_mask=(False, True))
    assert only_x[1] is None
    assert only_grid[0] is None
    np.testing.assert_array_equal(only_x[0], both[0])
    np.testing.assert_array_equal(only_grid[1], both[1])
    none = like.torch.grid_sample_backward(grad, x, grid, align_corners=False, output_mask=(False, False))
    assert none == (None, None)


def test_non_finite_coordinates() -> None:
    x = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)
    grid = np.array([[np.nan, 0], [np.inf, 0], [-np.inf, 0]], np.float32).reshape(1, 1, 3, 2)
    outside = {"zeros": [0, 0, 0], "border": [5, 8, 5], "reflection": [5, 5, 5]}
    for name, mode, padding in itertools.product(("torch", "onnx"), MODES, PADDINGS):
        np.testing.assert_allclose(sample(name, x, grid, mode, padding, False).ravel(), outside[padding], rtol=1e-6)
    for mode, value in (("bilinear", 2.5), ("nearest", 5), ("bicubic", 2.40625)):
        np.testing.assert_allclose(sample("onnxruntime", x, grid, mode, "zeros", False).ravel(), value, rtol=1e-6)
    ones = np.ones((1, 1, 1, 3), np.float32)
    for mode, padding in itertools.product(MODES, PADDINGS):  # PyTorch's own CPU kernel crashes on some of these
        dx, dgrid = like.torch.grid_sample_backward(ones, x, grid, mode, padding, False)
        assert not dgrid[..., 0].any()
        np.testing.assert_allclose(dx.sum(), 0 if padding == "zeros" else 3, rtol=1e-6)


def test_inputs_stay_as_they_are_and_may_be_read_only() -> None:
    x, grid, grad = images()
    copies = [a.copy() for a in (x, grid, grad)]
    for array in (x, grid, grad):
        array.flags.writeable = False
    like.torch.grid_sample(x, grid, align_corners=False)
    like.ascend.grid_sampler_2d_grad(grad, x, grid)
    like.onnxruntime.GridSample(x[:, :, ::-1], grid[:, ::-1])
    for array, copy in zip((x, grid, grad), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


SINGLETON = {"torch": 0.0, "onnx": -1.0, "onnxruntime": 1.0}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (5, 1), (1, 1)])
def test_affine_grid(name: str, shape: tuple[int, int], dtype: Any) -> None:
    theta = np.random.default_rng(4).standard_normal((2, 2, 3)).astype(dtype)
    size = (2, 3, *shape)
    for corners in (False, True):
        if name == "torch":
            grid = like.torch.affine_grid(theta, size, corners)
        else:
            grid = getattr(like, name).AffineGrid(theta, np.array(size), align_corners=int(corners))
        base = reference.affine_grid(np.eye(2, 3)[None], size, corners)
        if corners:
            for k, length in enumerate(shape[::-1]):
                base[..., k] = SINGLETON[name] if length == 1 else base[..., k]
        expected = np.einsum("hwj,nij->nhwi", base[0], theta[:, :, :2]) + theta[:, None, None, :, 2]
        assert grid.dtype == dtype
        np.testing.assert_allclose(grid, expected, rtol=0, atol=16 * np.finfo(dtype).eps)


def test_affine_grid_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(5)
    theta, grad = rng.standard_normal((2, 2, 3)), rng.standard_normal((2, 4, 3, 2))
    for corners in (False, True):
        forward = np.sum(like.torch.affine_grid(theta, (2, 1, 4, 3), corners) * grad)
        backward = np.sum(like.torch.affine_grid_backward(grad, (2, 1, 4, 3), corners) * theta)
        np.testing.assert_allclose(forward, backward, rtol=1e-12)


# ------------------------------------------------------------------------------------------- the installed frameworks


def test_torch_has_the_same_signatures() -> None:
    torch = pytest.importorskip("torch")
    for name in ("grid_sample", "affine_grid"):
        theirs = inspect.signature(getattr(torch.nn.functional, name)).parameters
        ours = inspect.signature(getattr(like.torch, name)).parameters
        assert [(p.name, p.default, p.kind) for p in ours.values()] == [
            (p.name, p.default, p.kind) for p in theirs.values()
        ]


def onnx_model(op: str, opset: int, feeds: dict[str, Any], constant: tuple[str, ...] = (), **attributes: Any) -> Any:
    onnx = importlib.import_module("onnx")
    helper = onnx.helper
    kinds = {k: helper.np_dtype_to_tensor_dtype(v.dtype) for k, v in feeds.items()}
    inputs = [helper.make_tensor_value_info(k, kinds[k], v.shape) for k, v in feeds.items() if k not in constant]
    fixed = [onnx.numpy_helper.from_array(feeds[k], k) for k in constant]
    output = helper.make_tensor_value_info("Y", next(iter(kinds.values())), None)
    node = helper.make_node(op, list(feeds), ["Y"], **attributes)
    graph = helper.make_graph([node], "g", inputs, [output], fixed)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    return model


def run_onnxruntime(model: Any, feeds: dict[str, Any]) -> Any:
    runtime = importlib.import_module("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def run_reference(model: Any, feeds: dict[str, Any]) -> Any:
    evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(model)
    return evaluator.run(None, feeds)[0]


@pytest.mark.parametrize(("name", "run"), [("onnxruntime", run_onnxruntime), ("onnx", run_reference)])
@pytest.mark.parametrize("mode", MODES)
def test_onnx_agrees(name: str, run: Any, mode: str) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    x, grid, _ = images()
    x, grid = x[:1, :1], grid[:1]
    grid[0, 0, :, 0] = (2 * (np.arange(6) - 1.5) + 1) / 7 - 1  # ties, and the rim where cubic and border differ
    grid[0, 1, :, 1] = np.linspace(-1.3, -0.9, 6)
    feeds = {"X": x, "grid": grid}
    for padding, corners in itertools.product(PADDINGS, (0, 1)):
        attributes = {"mode": ONNX_NAMES[mode], "padding_mode": padding, "align_corners": corners}
        expected = run(onnx_model("GridSample", 20, feeds, **attributes), feeds)
        y = getattr(like, name).GridSample(x, grid, **attributes)
        np.testing.assert_allclose(y, expected, rtol=0, atol=32 * np.finfo(np.float32).eps * 3, err_msg=padding)


@pytest.mark.parametrize(("name", "run"), [("onnxruntime", run_onnxruntime), ("onnx", run_reference)])
def test_onnx_agrees_on_an_axis_of_length_1(name: str, run: Any) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    theta = np.random.default_rng(6).standard_normal((1, 2, 3)).astype(np.float32)
    feeds = {"theta": theta, "size": np.array([1, 1, 1, 4])}
    model = onnx_model("AffineGrid", 20, feeds, ("size",), align_corners=1)
    grid = getattr(like, name).AffineGrid(theta, feeds["size"], align_corners=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = run(model, {"theta": theta})
    np.testing.assert_allclose(grid, expected, rtol=0, atol=2e-6)


# ------------------------------------------------------------------------------------------------------------ errors


def test_align_corners_left_out_warns_as_torch_does() -> None:
    x, grid, grad = images()
    with pytest.warns(UserWarning, match="align_corners was left out") as caught:
        y = like.torch.grid_sample(x, grid)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(y, like.torch.grid_sample(x, grid, align_corners=False))
    with pytest.warns(UserWarning, match="align_corners") as caught:
        like.torch.grid_sample_backward(grad, x, grid)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="align_corners") as caught:
        like.torch.affine_grid(np.zeros((1, 2, 3)), (1, 1, 2, 2))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("opset", "mode", "right"),
    [(16, "linear", "bilinear"), (16, "cubic", "bicubic"), (20, "bilinear", "linear"), (22, "bicubic", "cubic")],
)
@pytest.mark.parametrize("name", ["onnx", "onnxruntime"])
def test_a_mode_of_another_opset_is_named(name: str, opset: int, mode: str, right: str) -> None:
    x, grid, _ = images()
    operator = getattr(like, name).GridSample
    with pytest.raises(ModeError, match=f"at opset {opset}.*write '{right}'"):
        operator(x, grid, mode=mode, opset=opset)
    np.testing.assert_array_equal(operator(x, grid, mode=right, opset=opset), operator(x, grid, mode={
        "bilinear": "linear", "bicubic": "cubic"}.get(right, right), opset=21))  # fmt: skip
    assert operator(x, grid, opset=opset).shape == (2, 3, 4, 6)  # the default mode has the right name by itself


def test_unknown_names_and_flags() -> None:
    x, grid, grad = images()
    with pytest.raises(ModeError, match="did you mean 'bilinear'"):
        like.torch.grid_sample(x, grid, "linear", align_corners=False)
    with pytest.raises(ModeError, match="did you mean 'reflection'"):
        like.onnx.GridSample(x, grid, padding_mode="reflect")
    with pytest.raises(ModeError, match="mode must be one of 'linear', 'nearest', 'cubic' at opset 20; got 3"):
        like.onnx.GridSample(x, grid, mode=3)  # type: ignore[arg-type]
    with pytest.raises(ModeError, match="interpolation_mode"):
        like.ascend.grid_sampler_2d_grad(grad, x, grid, "trilinear")
    with pytest.raises(ModeError, match="data_format"):
        like.ascend.grid_sampler_2d_grad(grad, x, grid, data_format="NC1HWC0")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="align_corners must be 0 or 1"):
        like.onnx.GridSample(x, grid, align_corners=2)
    with pytest.raises(UnsupportedError, match="since opset 16"):
        like.onnx.GridSample(x, grid, opset=11)
    with pytest.raises(UnsupportedError, match="since opset 20"):
        like.onnxruntime.AffineGrid(np.zeros((1, 2, 3), np.float32), (1, 1, 2, 2), opset=19)


@pytest.mark.parametrize("name", CALLS)
def test_shapes_that_do_not_fit(name: str) -> None:
    x, grid, grad = images()

    def call(x: Any, grid: Any) -> Any:
        return sample(name, x, grid, "bilinear", "zeros", False)

    with pytest.raises(ShapeError, match=r"must have .*4.* axes"):
        call(np.zeros((2, 2), np.float32), grid)
    for wrong in (grid[:1], grid[..., :1]):
        with pytest.raises(ShapeError):
            call(x, wrong)
    with pytest.raises(ShapeError):
        call(x[:, :, :0], grid)
    assert call(x[:, :0], grid).shape == (2, 0, 4, 6)
    assert call(x[:0], grid[:0]).shape == (0, 3, 4, 6)
    assert call(x, grid[:, :0]).shape == (2, 3, 0, 6)
    if name == "torch":
        with pytest.raises(ShapeError):
            like.torch.grid_sample_backward(grad[:, :, 1:], x, grid, align_corners=False)


def test_dtypes_that_do_not_fit() -> None:
    x, grid, grad = images()
    with pytest.raises(DTypeError, match="input, grid must have one dtype; got float32, float64"):
        like.torch.grid_sample(x, grid.astype(np.float64), align_corners=False)
    with pytest.raises(DTypeError, match="grad_output, input, grid"):
        like.torch.grid_sample_backward(grad.astype(np.float16), x, grid, align_corners=False)
    with pytest.raises(DTypeError):
        like.torch.grid_sample(x.astype(np.int32), grid.astype(np.int32), align_corners=False)
    with pytest.raises(DTypeError, match="float16, float32"):
        like.onnxruntime.GridSample(x.astype(np.uint8), grid)
    with pytest.raises(DTypeError, match="grad, x, grid"):
        like.ascend.grid_sampler_2d_grad(grad, x, grid.astype(np.float64))
    half = like.onnxruntime.GridSample(x.astype(np.float16), grid)
    assert half.dtype == np.float16


def test_affine_sizes_that_do_not_fit() -> None:
    theta = np.zeros((2, 2, 3), np.float32)
    for size, error in {
        (2, 1, 2, 2, 2): ShapeError,
        (2, 1): ShapeError,
        (2, 1, 2): ShapeError,
        (2, 1, 2, 2, 2, 2): ShapeError,
        (2, 1, 0, 2): ArgumentError,
        (3, 1, 2, 2): ShapeError,
    }.items():
        with pytest.raises(error):
            like.torch.affine_grid(theta, size, False)
        with pytest.raises(error):
            like.onnx.AffineGrid(theta, size)
        with pytest.raises(error):
            like.onnxruntime.AffineGrid(theta, size)
    with pytest.raises(GridwaveError):
        like.torch.affine_grid(np.zeros((2, 3, 3), np.float32), (2, 1, 2, 2), False)
    with pytest.raises(GridwaveError):
        like.torch.affine_grid_backward(np.zeros((2, 2, 3, 2), np.float32), (2, 1, 2, 2), False)


# ------------------------------------------------------------------------------------------------------- conventions


def test_conventions_differ_where_they_are_said_to() -> None:
    torch, onnx, ort = (conventions.GRID_SAMPLE[f"{n}"] for n in ("torch:grid_sample", "onnx:GridSample",
                                                                  "onnxruntime:GridSample"))  # fmt: skip
    assert set(torch.differs_from(onnx)) == {"pad_order", "cubic_padding"}
    assert set(torch.differs_from(ort)) == {"pad_order", "nonfinite"}
    assert set(onnx.differs_from(ort)) == {"cubic_padding", "nonfinite"}
    assert all(s.source for s in conventions.GRID_SAMPLE.values())
