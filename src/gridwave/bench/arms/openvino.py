"""OpenVINO's GridSample on the CPU plugin."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
from typing import Any

import ml_dtypes
import numpy as np

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell


class OpenVINO(Arm):
    """An infer request of one GridSample-9 node, on tensors that share the arrays' memory."""

    name = "openvino"
    packages = ("openvino",)
    outputs = "reused"

    def __init__(self) -> None:
        self._dynamic: dict[tuple[str, int], Any] = {}

    def refusal(self, cell: Cell) -> str:
        if cell.call not in {"grid_sample", "plan"}:
            return "takes grids, not maps or matrices"
        if cell.layout != "NCHW":
            return "GridSample takes NCHW data"
        if cell.sizes.d:
            return "GridSample takes images only"
        if cell.direction == "backward":
            return "no gradients"
        return "" if cell.dtype != "uint8" else "GridSample takes floats only"

    def reports_refusal(self, cell: Cell) -> bool:
        return cell.layout == "NCHW" and cell.direction == "forward"

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        request = _compile(cell, threads, list(arrays.x.shape), list(arrays.grid.shape)).create_infer_request()
        return _bind(request, arrays)

    def prepare_fresh(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        key = (f"{cell.mode} {cell.padding} {cell.dtype}", threads)
        if key not in self._dynamic:
            compiled = _compile(cell, threads, [-1] * 4, [-1, -1, -1, 2])
            self._dynamic[key] = compiled.create_infer_request()
        return _bind(self._dynamic[key], arrays)

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        data = np.asarray(value.data)
        return (data.view(np.uint16).view(ml_dtypes.bfloat16) if cell.dtype == "bfloat16" else data,)


def _bind(request: Any, arrays: Arrays) -> Call:
    request.set_input_tensor(0, _tensor(arrays.x))
    request.set_input_tensor(1, _tensor(arrays.grid))
    infer = request.infer

    def call() -> Any:
        infer()
        return request.get_output_tensor(0)

    return call


def _compile(cell: Cell, threads: int, x_shape: list[int], grid_shape: list[int]) -> Any:
    ov: Any = importlib.import_module("openvino")
    ops: Any = importlib.import_module("openvino.opset9")
    kind = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}[cell.dtype]
    x = ops.parameter(x_shape, getattr(ov.Type, kind), name="x")
    grid = ops.parameter(grid_shape, getattr(ov.Type, kind), name="grid")
    attributes = {"mode": cell.mode, "padding_mode": cell.padding, "align_corners": False}
    model = ov.Model([ops.grid_sample(x, grid, attributes)], [x, grid], "cell")
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "f32",
        "ENABLE_CPU_PINNING": False,
    }
    return ov.Core().compile_model(model, "CPU", settings)


def _tensor(array: Array) -> Any:
    ov: Any = importlib.import_module("openvino")
    if array.dtype == ml_dtypes.bfloat16:
        return ov.Tensor(array.view(np.uint16), ov.Shape(list(array.shape)), ov.Type.bf16)
    return ov.Tensor(array, shared_memory=True)
