"""ONNX Runtime's GridSample on the CPU provider."""

# The methods' docstrings are those of the base class.
# ruff: noqa: D102

from __future__ import annotations

import importlib
from typing import Any, Final

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.arrays import Array, Arrays, dtype_of
from gridwave.bench.cells import Cell

ONNX_MODES: Final[dict[str, str]] = {"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}


class OnnxRuntime(Arm):
    """A session of one GridSample-20 node, with inputs and output bound."""

    name = "onnxruntime"
    packages = ("onnxruntime", "onnx")
    outputs = "reused"

    def __init__(self) -> None:
        self._dynamic: dict[tuple[str, int], Any] = {}

    def refusal(self, cell: Cell) -> str:
        if cell.call not in {"grid_sample", "plan"}:
            return "takes grids, not maps or matrices"
        if cell.layout != "NCHW":
            return "GridSample takes NCHW data"
        if cell.direction == "backward":
            return "no gradient in the inference package"
        if cell.sizes.d and cell.mode == "bicubic":
            return "cubic takes images only"
        return "" if cell.dtype in {"float32", "float64", "float16"} else f"no GridSample kernel for {cell.dtype}"

    def reports_refusal(self, cell: Cell) -> bool:
        return cell.layout == "NCHW" and cell.direction == "forward"

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        session = _session(cell, threads, arrays.x.shape, arrays.grid.shape)
        ort: Any = importlib.import_module("onnxruntime")
        n, *space, _ = arrays.grid.shape
        binding = session.io_binding()
        binding.bind_cpu_input("x", arrays.x)
        binding.bind_cpu_input("grid", arrays.grid)
        shape = [n, arrays.x.shape[1], *space]
        output = ort.OrtValue.ortvalue_from_shape_and_type(shape, arrays.x.dtype, "cpu")
        binding.bind_ortvalue_output("y", output)
        run = session.run_with_iobinding

        def call() -> Any:
            run(binding)
            return output

        return call

    def prepare_fresh(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        key = (f"{cell.mode} {cell.padding} {cell.dtype}", threads)
        if key not in self._dynamic:
            self._dynamic[key] = _session(cell, threads, (None,) * 4, (None,) * 4)
        session, feeds = self._dynamic[key], {"x": arrays.x, "grid": arrays.grid}
        return lambda: session.run(None, feeds)

    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        return (value[0] if isinstance(value, list) else value.numpy(),)


def _session(cell: Cell, threads: int, x_shape: tuple[Any, ...], grid_shape: tuple[Any, ...]) -> Any:
    ort: Any = importlib.import_module("onnxruntime")
    onnx: Any = importlib.import_module("onnx")
    make = onnx.helper
    kind = onnx.helper.np_dtype_to_tensor_dtype(dtype_of(cell.dtype))
    node = make.make_node(
        "GridSample", ["x", "grid"], ["y"], mode=ONNX_MODES[cell.mode], padding_mode=cell.padding, align_corners=0
    )
    inputs = [
        make.make_tensor_value_info("x", kind, list(x_shape)),
        make.make_tensor_value_info("grid", kind, list(grid_shape)),
    ]
    graph = make.make_graph([node], "cell", inputs, [make.make_tensor_value_info("y", kind, [None] * len(x_shape))])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 20)], ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Its threads may spin during a run, but not on into the next arm's time.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
