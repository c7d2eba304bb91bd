"""Recorded outputs of the frameworks, replayed; and proof that the judge can say no."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import replay_golden  # noqa: E402
from replay.cases import load, narrow, widen  # noqa: E402
from replay.families.grid_sample import spec_of  # noqa: E402
from replay.judge import follows_twin, judge, read_exceptions  # noqa: E402
from replay.registry import find  # noqa: E402

FOLDER = ROOT / "tests" / "golden"
EXCEPTIONS = read_exceptions(FOLDER / "exceptions")


def group_of(case: dict[str, Any]) -> str:
    kwargs = case["kwargs"]
    mode = kwargs.get("mode", kwargs.get("sample_type"))
    names = (case["peer"], case["op"], case["dtype"], mode, kwargs.get("padding_mode"))
    return "-".join(name for name in names if name)


GROUPS: dict[str, list[Any]] = defaultdict(list)
for entry in load(FOLDER):
    GROUPS[group_of(entry[0])].append(entry)


@pytest.fixture(autouse=True)
def _silent() -> Any:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("group", GROUPS)
def test_recorded_outputs_are_reproduced_or_named(group: str) -> None:
    results = [replay_golden.replay_case(*entry, EXCEPTIONS) for entry in GROUPS[group]]
    bad = [f"{r.case['id']} {r.outcome}: {r.detail}" for r in results if r.outcome in ("wrong", "raised", "unclaimed")]
    assert not bad, "\n".join(bad)


# In float16 and bfloat16 it is, by PyTorch's doing: see test_the_judge_rejects_16_bit_arithmetic below.
@pytest.mark.parametrize("group", [g for g in GROUPS if "float16" not in g])
def test_the_rule_is_not_loose(group: str) -> None:
    results = [replay_golden.replay_case(*entry, EXCEPTIONS) for entry in GROUPS[group]]
    loose = [r.case["id"] for r in results if r.outcome == "reproduced" and r.verdict.loose]
    if group.startswith("onnxref") and "float64" in group:  # the reference stores float64 coordinates as float32
        loose = [r.case["id"] for r in results if r.verdict.slack * np.finfo(np.float64).eps > 1e-5]
    assert not loose


def test_every_exception_explains_something_and_nothing_that_is_reproduced() -> None:
    exceptions = read_exceptions(FOLDER / "exceptions")
    for entries in GROUPS.values():
        for entry in entries:
            replay_golden.replay_case(*entry, exceptions)
    assert [e.reason for e in exceptions if not e.used] == []
    assert [(e.match, e.stale) for e in exceptions if e.stale] == []


def test_an_exception_that_covers_reproduced_cases_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "ort.json"
    path.write_text('[{"reason": "none", "match": {"peer": "ort", "padding_mode": "border"}}]')
    exceptions = read_exceptions(tmp_path)
    for entry in GROUPS["ort-grid_sample-float64-linear-border"]:
        replay_golden.replay_case(*entry, exceptions)
    assert exceptions[0].stale
    path.write_text('[{"reason": " ", "match": {"peer": "ort"}}]')
    with pytest.raises(ValueError, match="needs a reason"):
        read_exceptions(tmp_path)


def swap_axes(arrays: dict[str, Any]) -> dict[str, Any]:
    return {k: v[..., ::-1] if k == "grid" else v[:, ::-1] if k == "theta" else v for k, v in arrays.items()}


def nudge(arrays: dict[str, Any]) -> dict[str, Any]:
    """Move everything by 32 steps of the dtype: what a kernel with a slightly wrong constant would do."""
    steps = {k: (4 * v.dtype.itemsize) * np.finfo(v.dtype).eps for k, v in arrays.items() if v.dtype.kind == "f"}
    return {k: (v + steps[k] * (1 + np.max(np.abs(v), initial=0))) if k in steps else v for k, v in arrays.items()}


def rows_and_columns(inputs: dict[str, Any]) -> tuple[int, ...]:
    return tuple(inputs.get("x", inputs.get("X")).shape[2:])


FINITE = [
    entry
    for entries in GROUPS.values()
    for entry in entries
    if "error" not in entry[0] and "nonfinite" not in entry[0].get("tags", ()) and "smooth" in entry[0].get("tags", ())
]


@pytest.mark.parametrize("peer", ["torch", "ort", "onnxref"])
@pytest.mark.parametrize("op", ["grid_sample", "grid_sample_grad"])
def test_the_judge_rejects_swapped_axes(peer: str, op: str) -> None:
    if op == "grid_sample_grad" and peer != "torch":
        pytest.skip("only torch has gradients")
    # On an image of one row or one pixel axes may be swapped unseen; the recorded ones of 5 x 7 show it.
    entries = [e for e in FINITE if (e[0]["peer"], e[0]["op"]) == (peer, op) and min(rows_and_columns(e[1])) > 1]
    assert entries
    for case, inputs, outputs in entries:
        truth = find(case).twin(case, inputs)
        ours = replay_golden.run(case, swap_axes(inputs))
        assert judge(case, ours, outputs, truth).status == "wrong", case["id"]
        assert not follows_twin(case, ours, truth)


def test_the_judge_rejects_swapped_rows_of_theta() -> None:
    for case, inputs, outputs in (e for g, es in GROUPS.items() if "affine_grid" in g for e in es):
        ours = replay_golden.run(case, swap_axes(inputs))
        assert judge(case, ours, outputs, find(case).twin(case, inputs)).status == "wrong", case["id"]


def is_cubic(case: dict[str, Any]) -> bool:
    kwargs = case["kwargs"]
    named = (kwargs.get(key, "") for key in ("mode", "sample_type", "interpolation", "flags", "resample"))
    return any("cubic" in name.lower() for name in named)


def test_the_judge_rejects_a_small_error_and_a_missing_output() -> None:
    entries = [e for e in FINITE if e[0]["dtype"] == "float32" and not is_cubic(e[0])]
    assert {e[0]["peer"] for e in entries} >= {"torch", "ort", "openvino", "paddle", "mindspore", "ncnn", "mnn"}
    for case, inputs, outputs in entries:
        truth = find(case).twin(case, inputs)
        if any(t.scale == 0 for t in truth.values()) or any(np.isnan(v).any() for v in outputs.values()):
            continue  # nothing to be off by; or a peer's NaN, which is an exception by name
        sound = {k: t.value.astype(outputs[k].dtype) for k, t in truth.items()}
        assert judge(case, sound, outputs, truth).status == "reproduced"
        assert judge(case, nudge(sound), outputs, truth).status == "wrong", case["id"]
        assert judge(case, {}, outputs, truth).status == "wrong"
        assert judge(case, {k: v[:0] for k, v in sound.items()}, outputs, truth).status == "wrong"
        assert judge(case, {k: v * np.nan for k, v in sound.items()}, outputs, truth).status == "wrong"


def test_the_judge_rejects_16_bit_arithmetic() -> None:
    """PyTorch's 16-bit outputs are far from the twin; repeating them must not count as right."""
    seen = 0
    for case, inputs, outputs in FINITE:
        if case["dtype"] not in ("float16", "bfloat16"):
            continue
        verdict = judge(case, outputs, outputs, find(case).twin(case, inputs))
        if verdict.loose:
            seen += 1
            assert verdict.status == "wrong", case["id"]
    assert seen > 0


def test_bfloat16_goes_in_and_out_as_float32() -> None:
    case, inputs, _ = next(e for e in FINITE if e[0]["dtype"] == "bfloat16" and e[0]["op"] == "grid_sample")
    assert narrow(case, inputs)["x"].dtype.name == "bfloat16"
    y = replay_golden.run(case, inputs)["y"]
    assert y.dtype == np.float32
    assert np.array_equal(widen(narrow(case, {"y": y}))["y"], y)  # it was rounded to bfloat16


def test_unclaimed_calls_raise() -> None:
    case = {"peer": "torch", "op": "resize", "call": "torch.nn.functional.interpolate", "kwargs": {}}
    with pytest.raises(NotImplementedError, match="no convention claims"):
        replay_golden.run(case, {})


def test_spec_of_reads_the_names_of_every_opset() -> None:
    modes = {spec_of(e[0]).mode for e in FINITE if e[0]["peer"] == "ort"}
    assert modes == {"bilinear", "nearest", "bicubic"}


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    status = replay_golden.main([str(FOLDER), "--op", "affine_grid", "--peer", "ort", "--verbose"])
    assert status == 0
    assert "onnx::AffineGrid@20" in capsys.readouterr().out
