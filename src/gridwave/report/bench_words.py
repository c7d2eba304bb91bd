"""The words and numbers that every rendering of a benchmark shares."""

from __future__ import annotations

from itertools import groupby

from gridwave.bench.cells import Cell
from gridwave.bench.records import AimResult, ArmRecord, Band, CellRecord, Run


def by_operator(run: Run) -> list[tuple[str, list[CellRecord]]]:
    """Return the cells under their operators, in the order in which operators first come."""
    names = list(dict.fromkeys(record.cell.operator for record in run.cells))
    ordered = sorted(run.cells, key=lambda record: names.index(record.cell.operator))
    return [(name, list(records)) for name, records in groupby(ordered, key=lambda record: record.cell.operator)]


def heading(cell: Cell) -> str:
    """Return what a table of the cell's operator is called."""
    return f"grid_sample: {cell.operator}" if cell.call == "grid_sample" else cell.operator


def title(cell: Cell) -> str:
    """Return a short name: shape, grid, layout, and what is not float32, zeros, one thread."""
    plain = (cell.grid if cell.shape not in {"tiny", "fresh"} else cell.mode, cell.layout)
    extra: list[str] = [cell.dtype] if cell.dtype != "float32" else []
    if cell.padding != "zeros":
        extra.append(cell.padding)
    if cell.shape == "fresh" and cell.direction == "backward":
        extra.append("backward")
    if cell.threads != 1:
        extra.append(f"{cell.threads} threads")
    name = {"fresh": "first call", "tiny": "tiny 4x4"}.get(cell.shape, cell.shape)
    return " ".join((name, *plain, *extra))


def seconds(value: float) -> str:
    """Return a time with three figures and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}" if value / scale < 999.5 else f"{value / scale:.0f} {unit}"
    return f"{value * 1e9:.3g} ns"


def ratio(band: Band | None, with_band: bool = True) -> str:
    """Return ``3.10x (2.95 to 3.22)``."""
    if band is None:
        return "-"
    return f"{band.median:.2f}x" + (f" ({band.low:.2f} to {band.high:.2f})" if with_band else "")


def aim(result: AimResult) -> str:
    """Return an aim with what was reached, if it is not the ratio that stands beside it."""
    match result.kind:
        case "peers":
            return f"{result.wanted:g}x"
        case "against":
            return f"{result.note} {result.wanted:g}x: {_reached(result, 'x')}"
        case "own_dynamic":
            return f"no plan {result.wanted:g}x: {_reached(result, 'x')}"
        case "microseconds":
            return f"at most {result.wanted:g} us"
        case "own_zeros":
            return f"zeros {result.wanted:g}x: {_reached(result, 'x')}"
        case "own_threads" if result.wanted < 1:
            return f"floor {result.wanted:.0%}: {'-' if result.reached is None else f'{result.reached:.0%}'}"
        case "own_threads":
            return f"1 thread {result.wanted:g}x: {_reached(result, 'x')}"


def aims(record: CellRecord) -> str:
    """Return all aims of a cell."""
    return "; ".join(aim(result) for result in record.aims) or "-"


def verdict(record: CellRecord) -> str:
    """Return ``ok``, ``LOST``, ``WRONG`` or, where nothing is asked or nothing there to compare, ``-``."""
    if record.ours.status in {"wrong", "failed"}:
        return record.ours.status.upper()
    if record.lost:
        return "LOST"
    return "ok" if any(result.met for result in record.aims) else "-"


def note(record: CellRecord) -> str:
    """Return what must be said about a cell: why it loses, which arms are out and why."""
    parts = [record.reason] if record.reason else []
    if record.ours.note:
        parts.append(record.ours.note)
    parts += [f"{arm.name} {arm.status}{_why(arm)}" for arm in record.arms if arm.role != "ours" and arm.status != "ok"]
    return "; ".join(parts)


def provenance(run: Run) -> list[str]:
    """Return the lines that belong under every table."""
    p = run.provenance
    versions = ", ".join(f"{name} {version}" for name, version in p.versions)
    lines = [
        f"{p.cpu}, {p.cpus} CPUs, {p.isa or 'no compiled core'}; {p.os}; Python {p.python}; {versions}"
        + (f"; commit {p.commit}" if p.commit else "")
        + f"; {p.timestamp}; heap {p.heap}.",
        p.method,
    ]
    for b in run.bandwidths:
        where = f"{b.size / 2**20:.3g} MiB" + (" (in cache)" if b.in_cache else "")
        rates = f"read {b.read / 1e9:.1f}, write {b.write / 1e9:.1f}, copy {b.copy / 1e9:.1f} GB/s"
        lines.append(f"Bandwidth, {b.threads} thread{'s' if b.threads > 1 else ''}, {where}: {rates}.")
    return lines


def _reached(result: AimResult, unit: str) -> str:
    return "-" if result.reached is None else f"{result.reached:.2f}{unit}"


def _why(arm: ArmRecord) -> str:
    if arm.status == "wrong" and arm.check is not None:
        return f" ({arm.check.worst:.2g} of its tolerance)"
    return f" ({arm.note})" if arm.note else ""
