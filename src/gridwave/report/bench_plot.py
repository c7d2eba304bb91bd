"""A benchmark as a picture: ratios with bands and aims on a log axis."""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from gridwave.bench.records import Band, CellRecord, Run
from gridwave.report import bench_words as words

_WON, _SHORT, _LOST, _AIM, _INK, _FAINT = "#1f77a4", "#e0a030", "#c23b3b", "#222222", "#333333", "#9aa3ab"
_ROW, _HEAD = 0.235, 0.5


def save(run: Run, path: Path) -> None:
    """Draw ``run`` into ``path``; its suffix chooses the format.

    Parameters
    ----------
    run : Run
        What was measured.
    path : Path
        PNG, SVG or PDF.
    """
    figure(run).savefig(path, dpi=150)


def figure(run: Run) -> Figure:
    """Return a figure with one panel an operator: median ratio as a bar, its band as a line, the aim as a tick."""
    groups = [(name, [r for r in records if r.ratio is not None]) for name, records in words.by_operator(run)]
    groups = [(name, records) for name, records in groups if records]
    rows = sum(len(records) for _, records in groups)
    height = 1.75 + rows * _ROW + len(groups) * _HEAD
    result = Figure(figsize=(9.5, height), facecolor="white")
    if not groups:
        result.text(0.5, 0.5, "no peer to compare with", ha="center")
        return result
    lowest, highest = _limits([record for _, records in groups for record in records])
    top = 1 - 0.95 / height
    for index, (name, records) in enumerate(groups):
        size = len(records) * _ROW / height
        axes = result.add_axes((0.26, top - size - 0.3 / height, 0.51, size))
        top -= size + _HEAD / height
        _panel(axes, name, records, lowest, highest, last=index == len(groups) - 1)
    result.text(0.02, 1 - 0.32 / height, "grid_sample: how many times faster than the best peer", fontsize=14,
                weight="bold", color=_INK, va="center")  # fmt: skip
    _legend(result, 1 - 0.62 / height)
    _footer(result, run, height)
    return result


def _panel(axes: Axes, name: str, records: list[CellRecord], lowest: float, highest: float, last: bool) -> None:
    axes.set_xscale("log")
    axes.set_xlim(lowest, highest)
    axes.set_ylim(len(records) - 0.4, -0.6)
    for row, record in enumerate(records):
        band = record.ratio
        assert band is not None
        colour = _colour(record, band)
        axes.barh(row, band.median - 1, left=1, height=0.68, color=colour, alpha=0.85, zorder=2)
        axes.plot([band.low, band.high], [row, row], color=_INK, linewidth=1.4, solid_capstyle="butt", zorder=3)
        wanted = next((aim.wanted for aim in record.aims if aim.kind == "peers"), None)
        if wanted is not None:
            axes.plot([wanted, wanted], [row - 0.42, row + 0.42], color=_AIM, linewidth=2.2, zorder=4)
        best = f"{band.median:.2f}x  {record.best_peer}"
        axes.annotate(best, (1.015, row), xycoords=("axes fraction", "data"), fontsize=8, va="center", color=_INK,
                      annotation_clip=False)  # fmt: skip
    axes.axvline(1, color=_INK, linewidth=1, zorder=5)
    axes.set_yticks(range(len(records)), [words.title(record.cell) for record in records], fontsize=8, ha="left")
    axes.tick_params(axis="y", pad=0.235 * 9.5 * 72)  # from the axis to the names' left edge, in points
    axes.set_title(name, loc="left", fontsize=10, weight="bold", color=_INK, x=-0.24 / 0.51, pad=4)
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 50, 100) if lowest <= t <= highest]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="both", length=0, colors=_INK, labelsize=8, labelbottom=last)
    axes.grid(axis="x", color="#e3e6e8", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)


def _colour(record: CellRecord, band: Band) -> str:
    if band.median < 1 and not record.cell.first_call:
        return _LOST
    return _SHORT if any(aim.kind == "peers" and aim.met is False for aim in record.aims) else _WON


def _limits(records: list[CellRecord]) -> tuple[float, float]:
    values = [1.0]
    for record in records:
        assert record.ratio is not None
        values += [record.ratio.low, record.ratio.high, *(a.wanted for a in record.aims if a.kind == "peers")]
    return min(0.8, min(values) / 1.1), 10 ** (math.log10(max(2.0, *values)) + 0.05)


def _legend(result: Figure, y: float) -> None:
    x = 0.02
    for colour, text in ((_WON, "aim reached, or none set"), (_SHORT, "faster, short of its aim"), (_LOST, "slower")):
        result.text(x, y, "\u25a0", color=colour, fontsize=12, va="center")
        result.text(x + 0.018, y, text, color=_INK, fontsize=8.5, va="center")
        x += 0.045 + 0.0088 * len(text)
    result.text(
        x, y, "\u2503 aim    \u2501 10th to 90th percentile of the rounds", color=_INK, fontsize=8.5, va="center"
    )


def _footer(result: Figure, run: Run, height: float) -> None:
    p = run.provenance
    versions = ", ".join(f"{name} {version}" for name, version in p.versions)
    first = f"{p.cpu}, {p.isa or 'no compiled core'}; Python {p.python}; heap {p.heap}; {p.timestamp}"
    result.text(0.02, 0.34 / height, first, fontsize=7.5, color=_FAINT, va="center")
    result.text(0.02, 0.16 / height, versions, fontsize=7.5, color=_FAINT, va="center")
