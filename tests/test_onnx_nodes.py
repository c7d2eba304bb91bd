"""The GridSample and AffineGrid node tests of the installed onnx package."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from gridwave import like

pytest.importorskip("onnx")

Node = tuple[str, Any, list[Any], list[Any]]


def node_tests(module_name: str, class_name: str) -> list[Node]:
    """Run the exporters of a case module of the onnx package and catch what they declare."""
    module = importlib.import_module(f"onnx.backend.test.case.node.{module_name}")
    found: list[Node] = []

    def expect(node: Any, inputs: list[Any], outputs: list[Any], name: str, **_: Any) -> None:
        found.append((name, node, inputs, outputs))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "expect", expect)
        operator = getattr(module, class_name)
        for name in dir(operator):
            if name.startswith("export"):
                getattr(operator, name)()
    return found


def attributes(node: Any) -> dict[str, Any]:
    onnx = importlib.import_module("onnx")
    values = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in values.items()}


GRID_SAMPLE = node_tests("gridsample", "GridSample")
AFFINE_GRID = node_tests("affinegrid", "AffineGrid")


def named(tests: list[Node]) -> list[Any]:
    return [pytest.param(t, id=t[0]) for t in tests]


@pytest.mark.parametrize("test", named(GRID_SAMPLE))
@pytest.mark.parametrize("operator", [like.onnx.GridSample, like.onnxruntime.GridSample], ids=["onnx", "onnxruntime"])
def test_grid_sample(operator: Any, test: Node) -> None:
    _, node, (x, grid), (expected,) = test
    y = operator(x, grid, opset=22, **attributes(node))
    assert y.dtype == expected.dtype
    # onnx's own tolerance: the expected values are written out to four digits
    np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("test", named(AFFINE_GRID))
@pytest.mark.parametrize("operator", [like.onnx.AffineGrid, like.onnxruntime.AffineGrid], ids=["onnx", "onnxruntime"])
def test_affine_grid(operator: Any, test: Node) -> None:
    _, node, (theta, size), (expected,) = test
    grid = operator(theta, size, opset=20, **attributes(node))
    assert grid.dtype == theta.dtype
    np.testing.assert_allclose(grid, expected, rtol=0, atol=4 * np.finfo(np.float32).eps * 3)


def test_none_is_forgotten() -> None:
    """18 GridSample tests, 4 of them volumetric; 8 AffineGrid tests, half of them of volumes."""
    assert len(GRID_SAMPLE) == 18
    assert sum(x.ndim == 5 for _, _, (x, _), _ in GRID_SAMPLE) == 4
    assert len({name.removesuffix("_expanded") for name, *_ in AFFINE_GRID}) >= 4
    assert {theta.shape[1] for _, _, (theta, _), _ in AFFINE_GRID} == {2, 3}
