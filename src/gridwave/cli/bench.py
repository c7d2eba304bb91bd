"""``gridwave bench``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from gridwave.cli.app import ExitCode
from gridwave.errors import ArgumentError

if TYPE_CHECKING:
    from rich.console import Console

    from gridwave.bench.records import CellRecord, Run

_PICTURES = (".png", ".svg", ".pdf")

app = App(name="bench", help="Compare with the installed peers, cell by cell.")


@app.command
def sampling(
    *,
    filter: str = "",  # noqa: A002
    threads: int | None = None,
    budget: float = 2.0,
    rounds: int | None = None,
    quick: Annotated[bool, Parameter(negative=())] = False,
    heap: Literal["warm", "system"] = "warm",
    list_cells: Annotated[bool, Parameter(name="--list", negative=())] = False,
    json: Path | None = None,
    plot: Path | None = None,
    markdown: Path | None = None,
) -> int:
    """Compare grid_sample and its gradients, plans, remap and warps with the peers that are installed.

    Arms take turns; every arm's result is checked against float64 first. Ends with 1 if a cell misses its aim.

    Parameters
    ----------
    filter
        Only cells whose id contains this text, for example "feat64/random" or "remap". See --list.
    threads
        Only cells with this number of threads.
    budget
        Seconds to spend on each cell's samples, about.
    rounds
        Rounds in each cell, even; by default as many as the budget allows.
    quick
        Two rounds of short samples: to see that everything runs, not for numbers.
    heap
        warm: freed memory stays with the process, so that large outputs cost no page faults; system: as malloc does it.
    list_cells
        Only print the ids of the cells.
    json
        Write all records here.
    plot
        Draw the ratios here (PNG, SVG or PDF).
    markdown
        Write the tables here.
    """
    from rich.console import Console

    from gridwave.bench import Options, run, suite

    chosen = suite("sampling").select(filter, threads)
    if list_cells:
        print("\n".join(cell.id for cell in chosen))
        return ExitCode.CLEAN
    for path in (json, plot, markdown):
        _check_folder(path)
    if plot is not None and plot.suffix not in _PICTURES:
        raise ArgumentError(f"--plot must end in one of {', '.join(_PICTURES)}; got {str(plot)!r}")
    console = Console(soft_wrap=False) if sys.stdout.isatty() else Console(width=200)
    options = Options(budget, rounds, quick, heap)
    with _Progress(console, len(chosen)) as progress:
        result = run("sampling", chosen, options, progress)
    _write(result, console, json, plot, markdown)
    return ExitCode.FINDINGS if result.lost else ExitCode.CLEAN


def _write(result: Run, console: Console, json: Path | None, plot: Path | None, markdown: Path | None) -> None:
    from gridwave.report import bench_json, bench_markdown, bench_table

    bench_table.show(result, console)
    if json is not None:
        json.write_text(bench_json.to_json(result), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(bench_markdown.to_markdown(result), encoding="utf-8")
    if plot is not None:
        from gridwave.report import bench_plot

        bench_plot.save(result, plot)


class _Progress:
    """A bar on a terminal, a plain line for each cell elsewhere."""

    def __init__(self, console: Console, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=console, transient=True) if console.is_terminal else None
        self._total, self._done = total, 0

    def __enter__(self) -> Callable[[CellRecord], None]:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("measuring", total=self._total)
        return self._step

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _step(self, record: CellRecord) -> None:
        from gridwave.report import bench_table

        self._done += 1
        if self._bar is None:
            print(bench_table.line(record, self._done, self._total), flush=True)
        else:
            self._bar.update(self._task, advance=1, description=record.cell.id)


def _check_folder(path: Path | None) -> None:
    """Refuse a path that cannot be written before minutes of measuring, not after."""
    if path is not None and not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"{path}: its folder does not exist")
    if path is not None and (path.is_dir() or not os.access(path if path.exists() else path.resolve().parent, os.W_OK)):
        raise PermissionError(f"{path}: cannot be written")
