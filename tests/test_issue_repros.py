"""Public threads about grid_sample and affine_grid, each as its smallest repro and what ought to come out.

Threads about exporters and converters that only lack the operator have no test here.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import ml_dtypes
import numpy as np
import pytest

import gridwave as gw
from gridwave import conventions, like, reference
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import DTypeError, ModeError, UnsupportedError
from gridwave.modes import PaddingMode, SamplingMode

MODES: tuple[Any, ...] = get_args(SamplingMode)
PADDINGS: tuple[Any, ...] = get_args(PaddingMode)
ROW = np.array([0.0, 1.0, 4.0, 9.0, 16.0])
X12 = np.arange(1, 13, dtype=np.float32).reshape(1, 1, 3, 4)


def on_row(p: Any, corners: bool, size: int = 5, dtype: Any = np.float64) -> Any:
    """Return a grid that reads a row of ``size`` pixels at coordinates ``p``."""
    p = np.asarray(p, np.float64)
    g = 2 * p / (size - 1) - 1 if corners else (2 * p + 1) / size - 1
    return np.stack([g, np.zeros_like(g)], -1).astype(dtype).reshape(1, 1, -1, 2)


def along_x(*values: float, dtype: Any = np.float32) -> Any:
    """Return a grid of points in the middle row with these values of x."""
    return np.array([[v, 0] for v in values], dtype).reshape(1, 1, -1, 2)


def identity(size: tuple[int, ...], corners: bool, dtype: Any = np.float32) -> Any:
    axes = len(size) - 2
    return gw.affine_grid(np.eye(axes, axes + 1, dtype=dtype)[None], size, corners)


RAMP = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)


# ------------------------------------------------------------------------------ NaN, infinity, huge coordinates, sizes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", PADDINGS)
def test_nan_grid(mode: Any, padding: Any) -> None:
    """https://github.com/pytorch/pytorch/issues/24823: NaN in a grid crashed, or read anywhere."""
    grid = np.full((1, 3, 5, 2), np.nan, np.float32)
    y = gw.grid_sample(X12, grid, mode, padding)
    np.testing.assert_array_equal(y, 0 if padding == "zeros" else X12[0, 0, 0, 0])
    dx, dgrid = gw.grid_sample_backward(np.ones_like(y), X12, grid, mode, padding)
    np.testing.assert_array_equal(dgrid, 0)
    assert dx.sum() == (0 if padding == "zeros" else 15)


@pytest.mark.parametrize("count", [8, 9])
def test_nan_in_vectors_and_in_the_tail(count: int) -> None:
    """https://github.com/pytorch/pytorch/issues/19826: the vector clamp of border kept NaN, the scalar one did not."""
    y = gw.grid_sample(X12, along_x(*[np.nan] * count), padding_mode="border")
    np.testing.assert_array_equal(y, 5)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_reflection_of_huge_coordinates(mode: Any, corners: bool) -> None:
    """https://github.com/pytorch/pytorch/issues/42616: fmod and floor of a huge reflected coordinate left the image."""
    y = gw.grid_sample(np.ones((1, 1, 3, 4), np.float32), along_x(2.5e38, -2.5e38), mode, "reflection", corners)
    np.testing.assert_allclose(y, 1, rtol=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_huge_coordinates_lie_outside(mode: Any) -> None:
    """https://github.com/pytorch/pytorch/issues/51911: an infinite weight times 0 gave NaN."""
    np.testing.assert_array_equal(gw.grid_sample(X12, along_x(1e10, 3e38, -3e38), mode), 0)


def test_coordinates_beyond_int32() -> None:
    """https://github.com/pytorch/pytorch/issues/35202: illegal memory access on CUDA around 1e7."""
    grid = along_x(*(s * 1e7 * f for s in (1, -1) for f in (1, 10, 1000)))
    for mode in MODES:
        y = gw.grid_sample(X12, grid, mode)
        np.testing.assert_array_equal(y, 0)
        for gradient in gw.grid_sample_backward(np.ones_like(y), X12, grid, mode):
            np.testing.assert_array_equal(gradient, 0)


def test_backward_of_nan_does_not_kill_the_process() -> None:
    """PyTorch 2.13 and 2.14 on a CPU die in the backward of bilinear with NaN or infinite coordinates."""
    program = (
        "import numpy as np, gridwave as gw\n"
        "x = np.ones((1, 2, 5, 7)); g = np.full((1, 9, 9, 2), np.nan); g[:, ::2] = np.inf\n"
        "for d in (np.float32, np.float64):\n"
        "    for p in ('border', 'reflection'):\n"
        "        for c in (False, True):\n"
        "            gw.grid_sample_backward(np.ones((1, 2, 9, 9), d), x.astype(d), g.astype(d), 'bilinear', p, c)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_nan_in_a_volume() -> None:
    """https://github.com/pytorch/pytorch/issues/163851: NaN was taken for -1, the corner voxel."""
    x = np.arange(1, 9, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    grid = np.full((1, 1, 1, 2, 3), np.nan, np.float32)
    for mode in ("bilinear", "nearest"):
        np.testing.assert_array_equal(gw.grid_sample(x, grid, mode), 0)


def test_onnxruntime_puts_nan_on_the_lower_border() -> None:
    """https://github.com/microsoft/onnxruntime/pull/27975: hardened against out-of-bounds reads."""
    assert like.onnxruntime.GridSample(X12, along_x(np.nan)).item() == 2.5


def test_border_of_a_huge_coordinate_is_the_edge() -> None:
    """https://github.com/microsoft/onnxruntime/pull/28302: weights of a coordinate past 2^24 vanish there: 0 for 8."""
    for call in (gw.grid_sample, like.onnxruntime.GridSample):
        assert call(X12, along_x(1e10), padding_mode="border").item() == 8


def test_offsets_past_2_31(tmp_path: Path) -> None:
    """https://github.com/pytorch/pytorch/issues/41656: 32769 x 65536 pixels overflowed 32-bit offsets."""
    stride = 2**31
    memory = np.memmap(tmp_path / "image", np.uint8, "w+", shape=(stride + 64,))  # sparse
    memory[:4], memory[stride : stride + 4] = (1, 2, 3, 4), (5, 6, 7, 8)
    x = np.lib.stride_tricks.as_strided(memory, (1, 1, 2, 4), (0, 0, stride, 1))
    for mode in MODES:
        y = gw.grid_sample(x, identity((1, 1, 2, 4), False), mode)
        np.testing.assert_array_equal(y[0, 0], [[1, 2, 3, 4], [5, 6, 7, 8]])


def test_flat_indices_are_exact() -> None:
    """https://github.com/tenstorrent/tt-forge-onnx/pull/3287: h W + w in 16-bit or 32-bit floats is not an index."""
    for shape in ((4, 4), (64, 65), (257, 129)):
        x = np.arange(np.prod(shape), dtype=np.uint16).reshape(1, 1, *shape)
        for dtype, corners in itertools.product((np.float32, np.float64), (False, True)):
            grid = identity((1, 1, *shape), corners, dtype)
            np.testing.assert_array_equal(gw.grid_sample(x, grid, "nearest", "border", corners), x)


def test_coordinates_past_2_24() -> None:
    """CANN's aclnnGridSampler2D: grid times size beyond 2^24 loses whole pixels in float32; a float64 grid does not."""
    x = np.zeros((1, 1, 1, 2**25), np.uint8)
    x[0, 0, 0, 2**24 : 2**24 + 4] = (1, 2, 3, 4)
    grid = on_row(2**24 + np.arange(4), False, 2**25)
    np.testing.assert_array_equal(gw.grid_sample(x, grid, "nearest").ravel(), [1, 2, 3, 4])


# ---------------------------------------------------------------------------------------- align_corners, conventions


def test_affine_grid_and_grid_sample_need_the_same_flag() -> None:
    """https://github.com/pytorch/pytorch/issues/40153: equal flags are the identity, unequal ones lose the corners."""
    for made, read in itertools.product((False, True), repeat=2):
        y = gw.grid_sample(RAMP, identity((1, 1, 4, 4), made), align_corners=read)
        error = np.abs(y - RAMP).max()
        assert error < 1e-5 if made == read else error > 1
    y = gw.grid_sample(RAMP, identity((1, 1, 4, 4), True), align_corners=False)
    np.testing.assert_allclose(np.abs(y - RAMP).max(), 11.25, rtol=1e-5)


def test_the_default_is_false() -> None:
    """https://github.com/pytorch/pytorch/pull/23923: True before 1.3; models without the flag must say which."""
    grid = along_x(-1, 0.3, dtype=np.float32)
    np.testing.assert_array_equal(gw.grid_sample(X12, grid), gw.grid_sample(X12, grid, align_corners=False))
    with pytest.warns(UserWarning, match="align_corners was left out"):
        like.torch.grid_sample(X12, grid)


def test_pixel_maps_normalised_for_the_other_flag() -> None:
    """https://github.com/kornia/kornia/issues/4504: 2 p / (S - 1) - 1 read with align_corners=False is no identity."""
    rows, columns = np.mgrid[:4, :4].astype(np.float32)
    grid = np.stack([2 * columns / 3 - 1, 2 * rows / 3 - 1], -1)[None].astype(np.float32)
    np.testing.assert_allclose(gw.grid_sample(RAMP, grid, align_corners=True), RAMP, atol=1e-5)
    np.testing.assert_allclose(np.abs(gw.grid_sample(RAMP, grid) - RAMP).max(), 11.25, rtol=1e-5)


def test_nearest_identity_of_an_even_size() -> None:
    """https://github.com/kornia/kornia/issues/862: a tie at -0.5 gave a row of zeros."""
    for corners in (False, True):
        np.testing.assert_array_equal(
            gw.grid_sample(RAMP, identity((1, 1, 4, 4), corners), "nearest", "zeros", corners), RAMP
        )


def test_paddles_default_is_the_opposite() -> None:
    """https://github.com/PaddlePaddle/Paddle: align_corners=True there, so a converter must write it."""
    assert conventions.paddle.GRID_SAMPLE.differs_from(conventions.torch.GRID_SAMPLE)["align_corners"] == (True, False)


def test_absolute_coordinates_in_16_bits() -> None:
    """https://github.com/pytorch/pytorch/issues/94816: float16 holds the positions of 4096 pixels to half a pixel."""
    size = 4096
    x = np.arange(size, dtype=np.uint16).reshape(1, 1, 1, size)
    grid = on_row(np.arange(size), False, size, np.float32)
    np.testing.assert_array_equal(gw.grid_sample(x, grid, padding_mode="border"), x)
    for dtype, worst in ((np.float16, 0.5), (ml_dtypes.bfloat16, 4)):
        y = gw.grid_sample(x, grid.astype(dtype), padding_mode="border").astype(int)
        error = np.abs(y - x).max()
        assert 0 < error <= np.ceil(worst)


# ------------------------------------------------------------------------------------------- padding, boundary gradient


def test_gradient_on_the_border_is_zero() -> None:
    """https://github.com/pytorch/pytorch/issues/23925: -8 where the clamp's slope is 0."""
    x, grid = ROW.reshape(1, 1, 1, 5), on_row([0, 4], True)
    _, dgrid = gw.grid_sample_backward(np.ones((1, 1, 1, 2)), x, grid, "bilinear", "border", True)
    np.testing.assert_array_equal(dgrid, 0)


def test_an_axis_of_length_1_has_no_outside() -> None:
    """https://github.com/pytorch/pytorch/issues/15386: with align_corners every coordinate is pixel 0."""
    x = np.array([[[[7.0]]]])
    grid = along_x(-3, 0, 5, dtype=np.float64)
    for mode, padding in itertools.product(MODES, PADDINGS):
        np.testing.assert_allclose(gw.grid_sample(x, grid, mode, padding, True), 7)
    np.testing.assert_allclose(gw.grid_sample(x, along_x(-3, -0.5, 0, 5, dtype=np.float64)).ravel(), [0, 5.25, 7, 0])


def test_zeros_fades() -> None:
    """https://github.com/pytorch/pytorch/issues/19717, .../149013: half a pixel outside is half of the edge pixel."""
    x, grid = np.array([3.0, 1.0]).reshape(1, 1, 1, 2), on_row([-0.5, 1.5], True, 2)
    np.testing.assert_allclose(gw.grid_sample(x, grid, align_corners=True).ravel(), [1.5, 0.5])


def test_border_is_not_a_clamped_grid() -> None:
    """https://github.com/pytorch/pytorch/issues/125098: -1 is the outer edge; clamping the grid leaves half of x[0]."""
    x = ROW.reshape(1, 1, 1, 5) + 1
    assert gw.grid_sample(x, along_x(-1.0, dtype=np.float64), padding_mode="border").item() == 1


def test_bicubic_border_pads_taps() -> None:
    """https://github.com/microsoft/onnxruntime/issues/10607: a coordinate clamped first gives 16 at 4.25."""
    x, grid = ROW.reshape(1, 1, 1, 5), on_row([4.25], True)
    for y in (
        gw.grid_sample(x, grid, "bicubic", "border", True),
        like.onnxruntime.GridSample(x, grid, mode="cubic", padding_mode="border", align_corners=1),
    ):
        np.testing.assert_allclose(y.item(), 16.73828125)


def test_the_onnx_reference_clamps_the_coordinate() -> None:
    """https://github.com/onnx/onnx, onnx/reference/ops/op_grid_sample.py in 1.23.2: the same case is 16 there."""
    x, grid = ROW.reshape(1, 1, 1, 5), on_row([4.25], True)
    assert like.onnx.GridSample(x, grid, mode="cubic", padding_mode="border", align_corners=1).item() == 16


def test_bicubic_overshoots() -> None:
    """https://github.com/microsoft/onnxruntime/issues/28090: not a bug; the range for pixels of 0 and 1 is exact."""
    signs = np.outer([-1, 1, 1, -1], [-1, 1, 1, -1])  # of the weights at (1.5, 1.5)
    grid = np.zeros((1, 1, 1, 2))
    for x, bound in ((signs > 0, 1.4453125), (signs < 0, -0.4453125)):
        y = gw.grid_sample(x.astype(np.float64).reshape(1, 1, 4, 4), grid, "bicubic", "border", True)
        np.testing.assert_allclose(y.item(), bound, rtol=1e-14)
    row = np.array([0.0, 1.0, 1.0, 0.0]).reshape(1, 1, 1, 4)
    np.testing.assert_allclose(gw.grid_sample(row, grid, "bicubic", "border", True).item(), 1.1875)


def test_a_row_with_border() -> None:
    """https://github.com/llvm/torch-mlir/issues/4186: values and gradients of border padding."""
    p = [-3, -1.25, -0.5, 0, 0.25, 1.5, 2.5, 3.75, 4.25, 4.5, 5.25, 7]
    x = ROW.reshape(1, 1, 1, 5)
    for corners in (False, True):
        grid = on_row(p, corners)
        y = gw.grid_sample(x, grid, padding_mode="border", align_corners=corners)
        np.testing.assert_allclose(y.ravel(), [0, 0, 0, 0, 0.25, 2.5, 6.5, 14.25, 16, 16, 16, 16], atol=1e-12)
        dx, dgrid = gw.grid_sample_backward(np.ones((1, 1, 1, 12)), x, grid, "bilinear", "border", corners)
        np.testing.assert_allclose(dx.ravel(), [4.75, 0.75, 1, 0.75, 4.75], atol=1e-12)
        slope = dgrid[0, 0, :, 0] / (2 if corners else 2.5)
        np.testing.assert_allclose(slope, [0, 0, 0, 0, 1, 3, 5, 7, 0, 0, 0, 0], atol=1e-12)


def test_reflection_mirrors_about_edges_or_centres() -> None:
    """TensorRT's kREFLECT is documented about the centre of the edge pixels: that is align_corners alone."""
    x = ROW.reshape(1, 1, 1, 5)
    for corners, value in ((False, 0), (True, 1)):
        assert gw.grid_sample(x, on_row([-1], corners), "bilinear", "reflection", corners).item() == value


def test_mnn_has_no_reflection() -> None:
    """https://github.com/alibaba/MNN/issues/1911: border without a warning."""
    x, grid = ROW.reshape(1, 1, 1, 5), on_row([-1.25], True)
    assert gw.grid_sample(x, grid, "bilinear", "reflection", True).item() == 1.75
    x, grid = x.astype(np.float32), grid.astype(np.float32)
    assert like.mnn.GridSample(x, grid, padding_mode="reflection", align_corners=1).item() == 0


def test_ncnn_reflects_once() -> None:
    """https://github.com/Tencent/ncnn/issues/5101: -13 has a period of 8 and is 3 elsewhere."""
    x, grid = ROW.reshape(1, 1, 1, 5).astype(np.float32), on_row([-13], True, dtype=np.float32)
    assert gw.grid_sample(x, grid, "bilinear", "reflection", True).item() == 9
    y = like.ncnn.GridSample(x[0], grid[0], padding_mode="reflection", align_corner=1)
    assert y.item() == 0


# --------------------------------------------------------------------------------------------------- export, conversion


def test_volumes_before_opset_20() -> None:
    """https://github.com/pytorch/pytorch/issues/92209: 5-D at opset 16; the message says from where on it is there."""
    x, grid = np.zeros((1, 1, 2, 2, 2), np.float32), np.zeros((1, 1, 1, 1, 3), np.float32)
    with pytest.raises(UnsupportedError, match="before opset 20"):
        like.onnx.GridSample(x, grid, opset=16)


def test_any_number_of_axes_from_opset_20_on() -> None:
    """https://github.com/onnx/onnx/issues/5010: the request for N-D data."""
    for axes in (1, 2, 3):
        x = np.ones((1, 1, *(3,) * axes), np.float32)
        assert like.onnx.GridSample(x, np.zeros((1, *(1,) * axes, axes), np.float32), opset=20).item() == 1


def test_linear_is_not_nearest() -> None:
    """https://github.com/NVIDIA/TensorRT/issues/4646: opset 20's "linear" fell through to nearest."""
    x, grid = np.arange(5.0).reshape(1, 1, 1, 5), on_row([0.25], True)
    assert like.onnx.GridSample(x, grid, mode="linear", align_corners=1, opset=20).item() == 0.25
    with pytest.raises(ModeError, match="write 'linear'"):
        like.onnx.GridSample(x, grid, mode="bilinear", opset=20)


RAMP_ROWS = {
    ("bilinear", "zeros"): ([0, 3, 12, 4.35], [0, 0.75, 3, 3.3]),
    ("bilinear", "border"): ([0, 3, 12, 4.35], [0, 3, 12, 3.3]),
    ("bilinear", "reflection"): ([0, 3, 12, 4.35], [0, 3, 12, 3.3]),
    ("nearest", "zeros"): ([0, 3, 12, 6], [0, 0, 0, 2]),
    ("nearest", "border"): ([0, 3, 12, 6], [0, 3, 12, 2]),
    ("nearest", "reflection"): ([0, 3, 12, 6], [0, 3, 12, 2]),
    ("bicubic", "zeros"): ([0, 3, 12, 4.083486], [-0.234375, 0.609375, 3.140625, 3.334728]),
    ("bicubic", "border"): ([0, 3, 12, 3.944625], [-0.46875, 2.71875, 12.28125, 3.06975]),
    ("bicubic", "reflection"): ([0, 3, 12, 3.656625], [-0.9375, 2.4375, 12.5625, 3.06975]),
}


@pytest.mark.parametrize(("mode", "padding"), RAMP_ROWS)
def test_a_ramp_of_4_by_4(mode: Any, padding: Any) -> None:
    """https://github.com/TrojanXu/onnxparser-trt-plugin-sample/issues/16: attributes lost on the way to a plugin."""
    grid = np.array([[[[-1, -1], [1, -1]], [[-1, 1], [0.3, -0.6]]]])
    for corners, expected in zip((True, False), RAMP_ROWS[mode, padding], strict=True):
        y = gw.grid_sample(RAMP.astype(np.float64), grid, mode, padding, corners)
        np.testing.assert_allclose(y.ravel(), expected, atol=2e-6)


# ---------------------------------------------------------------------------------------------------- mixed precision


def exact(x: Any, grid: Any, mode: Any = "bilinear", padding: Any = "zeros", corners: bool = False) -> Any:
    spec = replace(conventions.torch.GRID_SAMPLE, mode=mode, padding_mode=padding, align_corners=corners)
    return reference.grid_sample(x, grid, spec, coordinate_dtype=np.float32)


@pytest.mark.parametrize("mode", MODES)
def test_16_bit_values_are_computed_in_32(mode: Any) -> None:
    """https://github.com/pytorch/pytorch/issues/96429: weights in half; the result may be off by its own rounding."""
    rng = np.random.default_rng(1)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = rng.standard_normal((1, 2, 8, 512)).astype(dtype)
        grid = rng.uniform(-1, 1, (1, 9, 33, 2)).astype(dtype)
        for points in (grid, grid.astype(np.float32)):
            y = gw.grid_sample(x, points, mode).astype(np.float64)
            expected = exact(x, points.astype(np.float64), mode)
            assert np.all(np.abs(y - expected) <= float(ml_dtypes.finfo(dtype).eps) * np.abs(expected) + 1e-5)


def test_half_data_with_a_float_grid() -> None:
    """https://github.com/pytorch/pytorch/issues/94733: refused there; it is the right way to keep positions."""
    x, grid = X12.astype(np.float16), identity((1, 1, 3, 4), False)
    np.testing.assert_array_equal(gw.grid_sample(x, grid), x)
    with pytest.raises(DTypeError, match="must have one dtype"):
        like.torch.grid_sample(x, grid, align_corners=False)


def test_every_float_type() -> None:
    """https://github.com/pytorch/pytorch/pull/134812: half and bfloat16 were missing on some devices."""
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        x = X12.astype(dtype)
        for mode in MODES:
            assert gw.grid_sample(x, np.zeros((1, 1, 1, 2), dtype), mode).dtype == dtype


def test_half_gradients_are_summed_in_float() -> None:
    """https://github.com/pytorch/executorch/pull/19117: a sum kept in half stops at 2048."""
    x, grid = np.zeros((1, 1, 3, 3), np.float16), np.zeros((1, 64, 64, 2), np.float16)
    dx, _ = gw.grid_sample_backward(np.ones((1, 1, 64, 64), np.float16), x, grid)
    assert dx[0, 0, 1, 1] == 4096


def test_onnxruntimes_dtypes() -> None:
    """https://github.com/microsoft/onnxruntime/issues/15137: one model for each dtype; bfloat16 is refused."""
    for dtype in (np.float16, np.float32, np.float64):
        assert like.onnxruntime.GridSample(X12.astype(dtype), np.zeros((1, 1, 1, 2), dtype)).dtype == dtype
    with pytest.raises(DTypeError):
        like.onnxruntime.GridSample(X12.astype(ml_dtypes.bfloat16), np.zeros((1, 1, 1, 2), ml_dtypes.bfloat16))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_16_bit_images_of_more_than_32768_pixels(dtype: Any, mode: Any) -> None:
    """https://github.com/pytorch/pytorch/issues/127224: 16-bit offsets read, and in the gradient write, elsewhere."""
    x = np.ones((1, 1, 256, 256), dtype)
    grid = np.zeros((1, 256, 1, 2), np.float32)
    grid[0, :, 0, 0] = (2 * 64 + 1) / 256 - 1
    grid[0, :, 0, 1] = (2 * np.arange(256) + 1) / 256 - 1
    y = gw.grid_sample(x, grid, mode, "border")
    np.testing.assert_array_equal(y.astype(np.float32), 1)
    dx, _ = gw.grid_sample_backward(np.ones_like(y), x, grid, mode, "border")
    np.testing.assert_allclose(dx.astype(np.float64).sum(), 256, rtol=1e-2)
    last = np.ones((1, 64, 64, 64), dtype).transpose(0, 3, 1, 2)  # channels last: offsets grow by the channels
    np.testing.assert_array_equal(gw.grid_sample(last, grid, mode, "border").astype(np.float32), 1)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float32])
def test_every_dtype_against_the_twin(dtype: Any) -> None:
    """https://github.com/tenstorrent/tt-metal/issues/55017: FLOAT32 was taken and gave unrelated values."""
    rng = np.random.default_rng(2)
    x, grid = rng.standard_normal((1, 32, 16, 16)).astype(dtype), rng.uniform(-1, 1, (1, 8, 8, 2)).astype(np.float32)
    y = gw.grid_sample(x, grid).astype(np.float64)
    np.testing.assert_allclose(y, exact(x, grid), rtol=0, atol=4 * 4 * float(ml_dtypes.finfo(dtype).eps))


def test_tails_of_every_length() -> None:
    """https://github.com/openvinotoolkit/openvino/pull/15009: sporadic faults at odd channels and short tails."""
    rng = np.random.default_rng(3)
    for channels, count in itertools.product((1, 3, 5, 17), range(1, 34)):
        x = rng.standard_normal((1, channels, 4, 5)).astype(np.float32)
        grid = rng.uniform(-1.2, 1.2, (1, 1, count, 2)).astype(np.float32)
        np.testing.assert_allclose(gw.grid_sample(x, grid), exact(x, grid), rtol=0, atol=1e-5)


# ------------------------------------------------------------------------------------------- determinism, second order


def test_many_points_on_one_pixel() -> None:
    """https://github.com/pytorch/pytorch/issues/68959: atomic additions gave other bits in every run."""
    x, grid = np.zeros((1, 1, 3, 3), np.float32), np.zeros((1, 1000, 1000, 2), np.float32)
    grad = np.random.default_rng(4).uniform(0, 1, (1, 1, 1000, 1000)).astype(np.float32)
    sums = []
    for threads in (1, 2, 4):
        with gw.threads(threads):
            sums.append(gw.grid_sample_backward(grad, x, grid)[0])
    assert all(np.array_equal(s, sums[0]) for s in sums)
    np.testing.assert_allclose(sums[0][0, 0, 1, 1], grad.sum(dtype=np.float64), rtol=1e-4)


def test_the_gradient_has_a_gradient() -> None:
    """https://github.com/pytorch/pytorch/issues/34704: "derivative for grid_sampler_2d_backward is not implemented"."""
    rng = np.random.default_rng(5)
    x, v, u = rng.standard_normal((1, 2, 4, 5)), rng.standard_normal((1, 2, 4, 5)), rng.standard_normal((1, 3, 3, 2))
    p = rng.integers(0, 3, (1, 3, 3, 2)) + rng.uniform(0.2, 0.8, (1, 3, 3, 2))
    grid, go = (2 * p + 1) / np.array([5, 4]) - 1, rng.standard_normal((1, 2, 3, 3))
    step = 1e-6

    def inner(go: Any, x: Any, grid: Any) -> float:
        dx, dgrid = gw.grid_sample_backward(go, x, grid, "bicubic")
        return float(np.sum(v * dx) + np.sum(u * dgrid))

    found = gw.grid_sample_double_backward(v, u, go, x, grid, "bicubic")
    for k, gradient in enumerate(found):
        arguments = [go, x, grid]
        direction = rng.standard_normal(arguments[k].shape)
        ends = []
        for sign in (1, -1):
            moved = list(arguments)
            moved[k] = arguments[k] + sign * step * direction
            ends.append(inner(*moved))
        np.testing.assert_allclose(np.sum(gradient * direction), (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-7)


def test_conventions_say_in_what_they_differ() -> None:
    """Two frameworks' specs compared field by field: what a converter has to look at."""
    torch: GridSampleSpec = conventions.torch.GRID_SAMPLE
    found = {name: set(spec.differs_from(torch)) for name, spec in conventions.GRID_SAMPLE.items()}
    assert found["openvino:GridSample-9"] == {"pad_order", "unnormalise"}
    assert found["paddle:grid_sample"] == {"align_corners", "border_slope"}
    assert found["mindspore:grid_sample"] == {"nearest_rounding"}
    assert found["ncnn:GridSample"] == {"nearest_rounding", "reflection"}
    assert found["mnn:GridSample"] == {"nearest_rounding"}
