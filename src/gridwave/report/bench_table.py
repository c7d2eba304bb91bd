"""A benchmark in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from gridwave.bench.records import CellRecord, Run
from gridwave.report import bench_words as words

_STYLES = {"ok": "green", "LOST": "bold red", "WRONG": "bold white on red", "FAILED": "bold white on red", "-": "dim"}


def show(run: Run, console: Console) -> None:
    """Print one table an operator, then where the numbers come from.

    Parameters
    ----------
    run : Run
        What was measured.
    console : rich.console.Console
        Where to print.
    """
    for _, records in words.by_operator(run):
        console.print(table(records))
    for line in words.provenance(run):
        console.print(line, style="dim", highlight=False)
    lost, total = len(run.lost), len(run.cells)
    summary = f"{total - lost} of {total} cells hold" + (f", {lost} lost" if lost else "")
    console.print(summary, style="bold red" if lost else "bold green", highlight=False)


def table(records: list[CellRecord]) -> Table:
    """Return the table of one operator; lost cells stay in it, marked."""
    result = Table(title=words.heading(records[0].cell), box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    result.add_column("cell", overflow="fold")
    result.add_column("gridwave", justify="right", no_wrap=True)
    result.add_column("best peer", justify="right", overflow="fold")
    result.add_column("ratio", justify="right", no_wrap=True)
    result.add_column("aim", justify="right", overflow="fold")
    result.add_column("of floor", justify="right", no_wrap=True)
    result.add_column("", no_wrap=True)
    notes = any(words.note(record) for record in records)
    if notes:
        result.add_column("why", overflow="fold")
    for record in records:
        verdict = words.verdict(record)
        row = (*_numbers(record), f"[{_STYLES[verdict]}]{verdict}[/]")
        result.add_row(*row, *([words.note(record).replace("[", r"\[")] if notes else []))
    return result


def line(record: CellRecord, done: int, total: int) -> str:
    """Return one plain line for a cell that has just been measured."""
    title, ours, peer, ratio, aims, _ = _numbers(record)
    parts = (f"{record.cell.operator}: {title}", ours, peer, ratio, f"aim {aims}", words.verdict(record))
    return f"[{done}/{total}] " + "; ".join(parts)


def _numbers(record: CellRecord) -> tuple[str, str, str, str, str, str]:
    ours = words.seconds(record.ours.seconds.median) if record.ours.seconds else "-"
    best = next((arm for arm in record.arms if arm.name == record.best_peer), None)
    peer = f"{best.name} {words.seconds(best.seconds.median)}" if best and best.seconds else "no peer"
    share = f"{record.share_of_floor:.0%}" if record.share_of_floor is not None else "-"
    return words.title(record.cell), ours, peer, words.ratio(record.ratio), words.aims(record), share
