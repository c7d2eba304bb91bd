"""The benchmark's own arithmetic: cells, orders, ratios, floors, verdicts. Nothing here asserts a time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gridwave._core", exc_type=ImportError)

from rich.console import Console

from gridwave import bench, reference
from gridwave.bench import bandwidth, interleave, statistics
from gridwave.bench.aims import judge
from gridwave.bench.arms import Arm, peers
from gridwave.bench.arms.opencv_images import OpenCVFixedMaps, OpenCVImages
from gridwave.bench.arms.scipy import SciPy
from gridwave.bench.arms.torch import TorchChannelsLast, TorchNCHW
from gridwave.bench.arrays import BORDERS, Arrays, fresh_sizes, make_arrays, to_nchw
from gridwave.bench.cells import Aim, Cell, Sizes, parse_suite
from gridwave.bench.records import ArmRecord, Band, Bandwidth, Floor
from gridwave.bench.runner import run_cell
from gridwave.conventions.spec import GridSampleSpec
from gridwave.errors import ArgumentError, FileFormatError
from gridwave.report import bench_json, bench_markdown, bench_plot, bench_table

SMALL = Sizes(2, 3, 9, 11, 6, 5)
VOLUME = Sizes(2, 3, 6, 7, 5, 4, 5, 3)
IMAGE = Sizes(1, 3, 9, 11, 9, 11)
QUICK = bench.Options(budget=0.01, quick=True)


class Twin(Arm):
    """An arm that returns the float64 twin's numbers, rounded to the cell's type, and off by what a test wants."""

    packages = ("numpy",)

    def __init__(self, name: str, role: Any = "peer", off: float = 0.0, fails: bool = False) -> None:
        self.name, self.role, self.off, self.fails = name, role, off, fails

    def refusal(self, cell: Cell) -> str:
        return ""

    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Any:
        if self.fails:
            raise RuntimeError("no such kernel")
        if cell.mode == "lanczos4":
            assert arrays.maps is not None
            image = reference.remap(arrays.x[0], *arrays.maps, "lanczos4", BORDERS[cell.padding])
            lanczos = (np.moveaxis(image, -1, 0)[None] + self.off).astype(arrays.x.dtype)
            return lambda: (lanczos,)
        mode: Any = "bilinear" if cell.mode == "order1" else cell.mode
        spec = GridSampleSpec("twin", mode, cell.padding)
        x = to_nchw(arrays.x, cell)
        if arrays.grad_output is None:
            results: tuple[Any, ...] = (reference.grid_sample(x, arrays.grid, spec),)
        else:
            results = reference.grid_sample_backward(to_nchw(arrays.grad_output, cell), x, arrays.grid, spec)
        if cell.dtype == "uint8":
            results = tuple(np.clip(np.rint(r), 0, 255) for r in results)
        rounded = tuple((r + self.off).astype(arrays.x.dtype) for r in results)
        return lambda: rounded

    def results(self, value: Any, cell: Cell) -> tuple[Any, ...]:
        return tuple(value)


def measure(cell: Cell, arms: Sequence[Arm]) -> bench.CellRecord:
    return run_cell(bench.suite("sampling"), cell, arms, QUICK, bandwidth.BandwidthMeter(0.0))


# ---- cells


FROZEN = {
    "grid_sample": (141, "7fae347234a8e34fbd43a5e0527edf2431f3a3a75c6b6ea837a8871f792b2303"),
    "images": (48, "be2dbbadbd1b397343a691f236b6d8b619c7fd66df6bbfe3370daae3daf29ca1"),
    "plans": (4, "4b0d591508ed61dc68336324c3643c9b45271884a33bf87e1be91cb6923f8623"),
    "volumes": (34, "d44f215d325998e23e2f6b1f01632b50f9928a0184e83fdfb52dbb653cb5c042"),
}
LIMITS = """
group = []
[defaults]
[shapes]
[limits]
memory_bound_share = 0.40
memory_bound_floor = 0.85
"""


@pytest.mark.parametrize("family", FROZEN)
def test_cells_are_frozen(family: str) -> None:
    text = (files("gridwave.bench.cells") / "sampling" / f"{family}.toml").read_text(encoding="utf-8")
    suite = parse_suite(family, text, LIMITS)
    assert (len(suite.cells), suite.digest()) == FROZEN[family], (
        "the cells or their aims changed; if that is meant, change the digest in the same commit"
    )


def test_every_file_of_cells_is_frozen() -> None:
    folder = files("gridwave.bench.cells") / "sampling"
    assert sorted(f.name for f in folder.iterdir() if f.name.endswith(".toml")) == [f"{name}.toml" for name in FROZEN]
    assert len(bench.suite("sampling").cells) == sum(count for count, _ in FROZEN.values())
    assert bench.suite("sampling").memory_bound_share == 0.40
    assert bench.suite("sampling").memory_bound_floor == 0.85


def test_every_cell_has_its_own_id_and_every_axis_is_measured() -> None:
    cells = bench.suite("sampling").cells
    assert len({c.id for c in cells}) == len(cells)
    assert {c.grid for c in cells} == {"smooth", "random", "skewed"}
    assert {c.mode for c in cells} >= {"bilinear", "nearest", "bicubic", "lanczos4"}
    assert {c.call for c in cells} >= {"grid_sample", "plan", "remap", "warp_affine", "warp_perspective"}
    assert {c.padding for c in cells} == {"zeros", "border", "reflection"}
    assert {c.dtype for c in cells} == {"float32", "float16", "bfloat16", "float64", "uint8"}
    assert {(c.layout, c.direction) for c in cells} == {
        (a, b) for a in ("NCHW", "NHWC") for b in ("forward", "backward")
    }
    assert {c.threads for c in cells} == {1, 2}


HEAD = """
[defaults]
grid = "smooth"
mode = "bilinear"
padding = "zeros"
layout = "NCHW"
dtype = "float32"
direction = "forward"
threads = 1
[limits]
memory_bound_share = 0.4
memory_bound_floor = 0.85
[shapes]
a = [1, 1, 2, 2, 2, 2]
"""


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ('[[group]]\nshape = "a"\n[[group]]\nshape = "a"', "comes twice"),
        ('[[group]]\nshape = "a"\nmode = "linear"', "mode must be one of"),
        ('[[group]]\nshape = "b"', "bad group"),
        ('[[group]]\nshape = "a"\ncolour = 1', "bad group"),
        ('[[group]]\nshape = "a"\naims = { luck = 2 }', "unknown aims"),
    ],
)
def test_bad_cells_file_is_refused(group: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        parse_suite("test", HEAD + group)


def test_reasons_match_ids_and_patterns() -> None:
    suite = parse_suite("test", HEAD + '[[group]]\nshape = "a"\n[reasons]\n"forward/a/*" = "3 bytes a point"')
    assert suite.reason(suite.cells[0]) == "3 bytes a point"


def test_select_names_what_it_did_not_find() -> None:
    with pytest.raises(ArgumentError, match="'nothing'"):
        bench.suite("sampling").select("nothing")
    assert all(c.threads == 2 for c in bench.suite("sampling").select("", threads=2))


def test_arrays_repeat_and_fresh_shapes_do_not() -> None:
    cell = bench.suite("sampling").select("fresh")[0]
    sizes = [fresh_sizes(cell) for _ in range(20)]
    assert len(set(sizes)) == 20
    a, b = make_arrays(cell, sizes[0]), make_arrays(cell, sizes[0])
    np.testing.assert_array_equal(a.x, b.x)
    np.testing.assert_array_equal(a.grid, b.grid)


def test_skewed_grid_is_mostly_outside_with_a_hot_spot() -> None:
    grid = make_arrays(Cell("s", Sizes(1, 1, 64, 64, 64, 64), grid="skewed")).grid
    inside = np.abs(grid).max(-1) < 1
    assert 0.05 < inside.mean() < 0.2
    assert np.ptp(grid[inside], axis=0).max() < 0.5


# ---- statistics


def test_ratio_is_the_median_of_round_ratios_with_a_band() -> None:
    result = statistics.ratio([2.0, 4.0, 6.0, 8.0, 30.0], [1.0, 1.0, 2.0, 2.0, 3.0])
    assert result.median == 4.0  # of 2, 4, 3, 4, 10
    assert (result.low, result.high) == pytest.approx((2.4, 7.6))
    with pytest.raises(ArgumentError, match="same number of rounds"):
        statistics.ratio([1.0], [1.0, 2.0])


def test_order_alternates() -> None:
    assert [statistics.order(3, k) for k in range(4)] == [(0, 1, 2), (2, 1, 0)] * 2


@pytest.mark.parametrize("rounds", [-2, 0, 1, 3, 7])
def test_odd_rounds_are_refused(rounds: int) -> None:
    with pytest.raises(ArgumentError, match="even"):
        statistics.check_rounds(rounds)
    with pytest.raises(ArgumentError, match="even"):
        bench.Options(rounds=rounds)


@pytest.mark.parametrize("seconds", [1e-9, 0.01, 0.07, 0.3, 1.0, 5.0, 100.0])
def test_rounds_for_a_budget_are_even(seconds: float) -> None:
    rounds = statistics.rounds_for(2.0, seconds)
    assert rounds % 2 == 0
    assert 2 <= rounds <= 30


def test_arms_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(interleave, "calibrate", lambda call, least: (1, 1e-3))
    monkeypatch.setattr(interleave, "sample", lambda call, inner: seen.append(call()) or 1e-3)
    entrants = [
        interleave.Entrant(Twin(n), (lambda n=n: n), ArmRecord(n, "peer", "", 1, "fresh", "ok"))  # type: ignore[misc]
        for n in "abc"
    ]
    rounds, repeats = interleave.run_rounds(entrants, 2.0, 4, 1e-3)
    assert (rounds, repeats) == (4, 3)
    assert "".join(seen[::3]) == "abccbaabccba"
    assert all(len(e.times) == 4 for e in entrants)


# ---- correctness before speed

CASES = [
    Cell("s", SMALL),
    Cell("s", SMALL, grid="random", mode="nearest", padding="reflection"),
    Cell("s", SMALL, grid="random", mode="bicubic", padding="border", layout="NHWC"),
    Cell("s", SMALL, dtype="bfloat16"),
    Cell("s", SMALL, dtype="float16", layout="NHWC"),
    Cell("s", SMALL, dtype="float64", mode="bicubic"),
    Cell("s", SMALL, grid="random", direction="backward"),
    Cell("s", SMALL, grid="random", direction="backward", padding="reflection", layout="NHWC"),
    Cell("s", SMALL, grid="skewed", direction="backward", mode="bicubic"),
    Cell("v", VOLUME),
    Cell("v", VOLUME, grid="random", layout="NHWC", padding="border"),
    Cell("v", VOLUME, grid="random", direction="backward"),
    Cell("v", VOLUME, grid="random", mode="bicubic", layout="NHWC"),
    Cell("v", VOLUME, grid="random", mode="bicubic", direction="backward"),
    Cell("p", SMALL, layout="NHWC", call="plan", direction="backward"),
    Cell("i", IMAGE, layout="NHWC", call="remap"),
    Cell("i", IMAGE, layout="NHWC", call="remap", mode="lanczos4", padding="reflection"),
    Cell("i", IMAGE, layout="NHWC", call="warp_affine"),
    Cell("i", IMAGE, layout="NHWC", call="warp_perspective", padding="reflection"),
    Cell("i", Sizes(1, 1, 9, 11, 6, 5), call="map_coordinates", mode="order1", grid="random", dtype="float64"),
]


@pytest.mark.parametrize("cell", CASES, ids=lambda c: c.id)
def test_wrong_arm_is_caught_and_not_counted(cell: Cell) -> None:
    arms = [
        Twin("ours", "ours"),
        Twin("right"),
        Twin("wrong", off=0.3),
        Twin("nan", off=np.nan),
        Twin("broken", fails=True),
    ]
    record = measure(cell, arms)
    assert {a.name: a.status for a in record.arms} == {
        "ours": "ok", "right": "ok", "wrong": "wrong", "nan": "wrong", "broken": "failed"
    }  # fmt: skip
    assert record.best_peer == "right"
    assert not any(a.check and a.check.passed for a in record.arms if a.name in {"wrong", "nan"})
    assert "no such kernel" in next(a.note for a in record.arms if a.name == "broken")


def test_integers_are_rounded_and_saturated() -> None:
    cell = Cell("s", SMALL, grid="random", mode="bicubic", layout="NHWC", dtype="uint8")
    record = measure(cell, [Twin("ours", "ours"), Twin("wrapped", off=2.0)])
    assert {a.name: a.status for a in record.arms} == {"ours": "ok", "wrapped": "wrong"}


def test_small_errors_are_caught() -> None:
    cell = Cell("s", SMALL, grid="random")
    record = measure(cell, [Twin("ours", "ours"), Twin("a little", off=3e-4)])
    assert next(a for a in record.arms if a.name == "a little").status == "wrong"


def test_our_own_wrong_result_loses_the_cell() -> None:
    record = measure(Cell("s", SMALL, aims=(Aim("peers", 0.0),)), [Twin("ours", "ours", off=1.0), Twin("right")])
    assert record.ours.status == "wrong"
    assert record.lost


def test_a_cell_without_peers_has_no_ratio_and_is_not_lost() -> None:
    record = measure(Cell("s", SMALL, aims=(Aim("peers", 2.0),)), [Twin("ours", "ours"), Twin("wrong", off=1.0)])
    assert (record.best_peer, record.ratio, record.lost) == (None, None, False)
    assert record.aims[0].met is None


def test_no_arm_of_ours_is_refused() -> None:
    with pytest.raises(ArgumentError, match="ours"):
        measure(Cell("s", SMALL), [Twin("right")])


def test_first_calls_use_a_new_shape_each() -> None:
    cell = Cell("fresh", Sizes(1, 2, 0, 0, 0, 0))
    record = measure(cell, [Twin("ours", "ours"), Twin("right")])
    assert record.best_peer == "right"
    assert record.rounds == len(record.ours.rounds) == 2
    assert record.floor is None


def test_torch_half_is_skipped_where_its_offsets_overflow() -> None:
    half = Cell("s", Sizes(1, 64, 128, 128, 8, 8), dtype="float16")
    assert TorchNCHW().supports(half)
    assert "16-bit" in TorchNCHW().refusal(replace(half, sizes=Sizes(1, 3, 720, 1280, 8, 8)))
    assert "16-bit" in TorchChannelsLast().refusal(replace(half, layout="NHWC"))
    assert TorchChannelsLast().reports_refusal(replace(half, layout="NHWC"))


def test_peers_are_found_without_importing_them() -> None:
    code = (
        "import sys; from gridwave.bench.arms import peers; [p.available() for p in peers()];"
        "import gridwave.bench.runner; print([m for m in ('torch', 'onnx', 'onnxruntime', 'openvino', 'cv2', 'rich',"
        " 'matplotlib', 'cyclopts') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert len({p.name for p in peers()} - {"opencv"}) == 6


# ---- floor and aims


def test_traffic_of_known_bytes() -> None:
    cell = Cell("s", Sizes(1, 64, 128, 128, 32, 16))
    x, grid, out = 64 * 128 * 128 * 4, 32 * 16 * 2 * 4, 64 * 32 * 16 * 4
    assert bandwidth.traffic(cell) == (x + grid, out)
    assert bandwidth.traffic(replace(cell, direction="backward")) == (out + x + grid, x + grid)
    assert bandwidth.traffic(replace(cell, dtype="uint8")) == (x // 4 + grid, out // 4)
    assert bandwidth.traffic(replace(cell, dtype="bfloat16")) == ((x + grid) // 2, out // 2)


def test_traffic_of_volumes_and_warps() -> None:
    volume = Cell("v", Sizes(1, 2, 4, 5, 7, 8, 3, 6))
    x, grid, out = 2 * 3 * 4 * 5 * 4, 6 * 7 * 8 * 3 * 4, 2 * 6 * 7 * 8 * 4
    assert bandwidth.traffic(volume) == (x + grid, out)
    image = Cell("i", IMAGE, layout="NHWC", call="remap")
    pixels, maps = 3 * 9 * 11 * 4, 9 * 11 * 2 * 4
    assert bandwidth.traffic(image) == (pixels + maps, pixels)
    assert bandwidth.traffic(replace(image, call="warp_affine")) == (pixels, pixels)


@pytest.mark.parametrize("call", ["warp_affine", "warp_perspective", "remap"])
def test_the_grid_of_an_image_cell_is_what_its_call_samples(call: Any) -> None:
    cv2 = pytest.importorskip("cv2")
    cell = Cell("i", Sizes(1, 3, 40, 60, 40, 60), layout="NHWC", call=call)
    arms: list[Any] = [OpenCVImages(), OpenCVFixedMaps()] if call == "remap" else [OpenCVImages()]
    for peer in arms:
        record = measure(cell, [Twin("ours", "ours"), peer])
        assert record.arms[1].status == "ok", (cv2.__version__, record.arms[1])


def test_scipy_takes_the_coordinates_in_its_own_order() -> None:
    pytest.importorskip("scipy")
    for sizes in (Sizes(1, 1, 40, 60, 30, 20), Sizes(1, 1, 8, 9, 7, 6, 11, 5)):
        cell = Cell("i", sizes, call="map_coordinates", mode="order1", padding="border")
        assert measure(cell, [Twin("ours", "ours"), SciPy()]).arms[1].status == "ok"


def test_floor_of_known_bytes() -> None:
    rates = Bandwidth(1, 1 << 20, True, read=10.0, write=20.0, copy=40.0)
    assert bandwidth.floor(100, 40, rates).seconds == pytest.approx(80 / 40 + 60 / 10)
    assert bandwidth.floor(40, 100, rates).seconds == pytest.approx(80 / 40 + 60 / 20)


def test_bandwidth_is_measured_at_the_cells_size_or_from_memory() -> None:
    result = bandwidth.measure(1 << 16, 2, 0.0, True)
    assert min(result.read, result.write, result.copy) > 0


def arm(name: str, seconds: float, ours: float, role: Any = "variant") -> ArmRecord:
    times = Band(seconds, seconds, seconds)
    lead = Band(*[seconds / ours] * 3)
    return ArmRecord(name, role, "1", 1, "fresh", "ok", seconds=times, ratio=None if role == "ours" else lead)


@pytest.mark.parametrize(
    ("one_thread", "ours", "share", "met", "wanted"),
    [
        (10.0, 5.0, 0.30, True, 1.8),  # compute bound: twice as fast
        (10.0, 6.0, 0.30, False, 1.8),
        (10.0, 8.0, 0.70, True, 0.85),  # memory bound: 7 / 8 of the floor
        (10.0, 9.0, 0.70, False, 0.85),
    ],
)
def test_scaling_is_judged_by_what_bounds_it(
    one_thread: float, ours: float, share: float, met: bool, wanted: float
) -> None:
    cell = Cell("s", SMALL, threads=2, aims=(Aim("own_threads", 1.8),))
    arms = [arm("gridwave", ours, ours, "ours"), arm("gridwave 1 thread", one_thread, ours)]
    floor = Floor(1, 1, share * one_thread, False)
    (result,) = judge(bench.suite("sampling"), cell, arms, None, floor, floor)
    assert (result.met, result.wanted) == (met, wanted)


def test_an_aim_against_one_peer_and_one_without_a_plan() -> None:
    cell = Cell("s", SMALL, aims=(Aim("against", 2.0, "fixed"), Aim("own_dynamic", 1.3), Aim("against", 1.0, "absent")))
    arms = [arm("gridwave", 1.0, 1.0, "ours"), arm("fixed", 2.5, 1.0, "peer"), arm("gridwave dynamic", 1.2, 1.0)]
    results = judge(bench.suite("sampling"), cell, arms, None, None, None)
    assert [(r.kind, r.met) for r in results] == [("against", True), ("own_dynamic", False), ("against", None)]


def test_other_aims() -> None:
    cell = Cell("s", SMALL, aims=(Aim("peers", 2.0), Aim("own_zeros", 0.667), Aim("microseconds", 3.0)))
    arms = [arm("gridwave", 2e-6, 2e-6, "ours"), arm("gridwave zeros", 1e-6, 2e-6)]
    results = judge(bench.suite("sampling"), cell, arms, Band(1.9, 1.8, 2.1), None, None)
    assert [(r.kind, r.met) for r in results] == [("peers", False), ("own_zeros", False), ("microseconds", True)]


# ---- renderings


@pytest.fixture(scope="module")
def small_run() -> bench.Run:
    cells = [
        Cell("s", SMALL, aims=(Aim("peers", 1e9),)),
        Cell("s", SMALL, mode="nearest", aims=(Aim("peers", 1e-9),)),
        Cell("s", SMALL, direction="backward"),
    ]
    arms = [Twin("ours", "ours"), Twin("right"), Twin("[odd] | name", off=1.0)]
    return bench.run(cells=cells, options=QUICK, arms=arms)


def test_json_has_all_records_and_liger_rows(small_run: bench.Run) -> None:
    document = json.loads(bench_json.to_json(small_run))
    assert document["schema"] == bench_json.SCHEMA
    assert document["provenance"]["versions"]["right"]
    assert [c["id"] for c in document["cells"]] == [c.cell.id for c in small_run.cells]
    assert document["cells"][0]["lost"] is True
    row = document["rows"][0]
    assert row["kernel_provider"] == "ours"
    assert row["y_value_20"] <= row["y_value_50"] <= row["y_value_80"]
    assert json.loads(row["extra_benchmark_config_str"])["layout"] == "NCHW"


def test_lost_cells_stay_in_the_tables(small_run: bench.Run) -> None:
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    bench_table.show(small_run, console)
    console.file.close()
    text = console.export_text()
    assert "LOST" in text
    assert "[odd] | name wrong" in text
    assert f"{len(small_run.lost)} lost" in text
    markdown = bench_markdown.to_markdown(small_run)
    assert "**LOST**" in markdown
    assert r"[odd] \| name wrong" in markdown


def test_plot_is_drawn(small_run: bench.Run, tmp_path: Path) -> None:
    bench_plot.save(small_run, tmp_path / "ratios.png")
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")
    assert [a.get_title(loc="left") for a in bench_plot.figure(small_run).axes] == [
        "bilinear forward", "nearest forward", "bilinear backward"
    ]  # fmt: skip
