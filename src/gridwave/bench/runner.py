"""Measuring cells: every arm prepared, checked, then timed in turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from gridwave.bench.aims import judge
from gridwave.bench.arms import Arm, Gridwave, peers
from gridwave.bench.arms.ours import Variant
from gridwave.bench.arrays import Arrays, make_arrays
from gridwave.bench.bandwidth import BandwidthMeter, floor, traffic
from gridwave.bench.cells import Cell, Suite, suite
from gridwave.bench.correctness import Expectation
from gridwave.bench.first_call import measure_first_calls
from gridwave.bench.interleave import Entrant, run_rounds
from gridwave.bench.provenance import gather
from gridwave.bench.records import ArmRecord, Band, CellRecord, Run
from gridwave.bench.statistics import band, check_rounds, ratio
from gridwave.bench.timing import Heap, heap, no_collection
from gridwave.errors import ArgumentError

METHOD = (
    "Arms take turns, forwards in one round and backwards in the next; in a round each arm keeps the shortest of its "
    "samples; ratios are formed round by round and given as median with 10th and 90th percentile. Results are checked "
    "against float64 first. Outputs are fresh or reused as each arm's record says."
)


@dataclass(frozen=True, slots=True)
class Options:
    """How long and how to measure.

    Parameters
    ----------
    budget : float
        Seconds to spend on the samples of each cell, about.
    rounds : int or None
        Rounds in a cell; None fits them to the budget.
    quick : bool
        Two rounds of short samples: only to see that everything runs.
    heap : {"warm", "system"}
        See :data:`gridwave.bench.timing.Heap`.
    """

    budget: float = 2.0
    rounds: int | None = None
    quick: bool = False
    heap: Heap = "warm"

    def __post_init__(self) -> None:
        if not 0 < self.budget < math.inf:
            raise ArgumentError(f"budget must be a positive number of seconds; got {self.budget}")
        if self.rounds is not None:
            check_rounds(self.rounds)

    @property
    def least_sample(self) -> float:
        """Seconds that a sample lasts, unless one call is longer."""
        return 1e-4 if self.quick else 2e-3


def run(
    name: str = "sampling",
    cells: Sequence[Cell] | None = None,
    options: Options | None = None,
    progress: Callable[[CellRecord], None] = lambda record: None,
    arms: Sequence[Arm] | None = None,
) -> Run:
    """Measure a suite.

    Parameters
    ----------
    name : str
        The suite.
    cells : sequence of Cell, optional
        Some of its cells; all by default. See :meth:`Suite.select`.
    options : Options, optional
        How long to measure.
    progress : callable
        Called with each cell's record.
    arms : sequence of Arm, optional
        Arms, ours among them; by default gridwave with its variants and every installed peer.
    """
    options = options or Options()
    chosen = suite(name)
    entrants = tuple(arm for arm in (arms if arms is not None else default_arms()) if arm.available())
    meter = BandwidthMeter(0.05 if options.quick else 0.5)
    records = []
    with heap(options.heap) as heap_kind:
        for cell in chosen.cells if cells is None else cells:
            record = run_cell(chosen, cell, entrants, options, meter)
            progress(record)
            records.append(record)
    versions = {a.name: a.version for r in records for a in r.arms if a.role != "variant" and a.version}
    provenance = gather(versions, heap_kind, METHOD)
    return Run(name, provenance, meter.measured, tuple(records))


def default_arms() -> tuple[Arm, ...]:
    """Return gridwave, its variants and all peers."""
    return *map(Gridwave, get_args(Variant)), *peers()


def run_cell(suite: Suite, cell: Cell, arms: Sequence[Arm], options: Options, meter: BandwidthMeter) -> CellRecord:
    """Measure one cell; an arm that fails or is wrong is recorded as such and the others go on."""
    taking_part = [arm for arm in arms if arm.supports(cell)]
    if not any(arm.role == "ours" for arm in taking_part):
        raise ArgumentError(f"{cell.id}: no arm with the role 'ours' takes part")
    refusing = [arm for arm in arms if not arm.supports(cell) and arm.reports_refusal(cell)]
    skipped = [_blank(arm, cell, "skipped", arm.refusal(cell)) for arm in refusing]
    with no_collection():
        if cell.first_call:
            entrants, rounds, repeats = measure_first_calls(cell, taking_part, options.quick, options.rounds)
        else:
            arrays = make_arrays(cell)
            entrants = prepare(cell, arrays, taking_part)
            rounds, repeats = run_rounds(entrants, options.budget, options.rounds, options.least_sample, options.quick)
    records = _compare(cell, entrants)
    best = _best_peer(records)
    ours = next(a for a in records if a.role == "ours")
    bound = one = share = None
    if not cell.first_call:
        read, written = traffic(cell)
        bound = floor(read, written, meter.of(read + written, cell.threads))
        one = floor(read, written, meter.of(read + written, 1))
        share = bound.seconds / ours.seconds.median if ours.seconds else None
    lead = best.ratio if best else None
    return CellRecord(
        cell, rounds, repeats, (*records, *skipped), best.name if best else None, lead, bound, share,
        judge(suite, cell, records, lead, bound, one), suite.reason(cell),
    )  # fmt: skip


def prepare(cell: Cell, arrays: Arrays, arms: Sequence[Arm]) -> list[Entrant]:
    """Prepare and check every arm; those that cannot run carry a record that says why."""
    expectation = Expectation(cell, arrays)
    return [_prepare(arm, cell, arrays, expectation) for arm in arms]


def _prepare(arm: Arm, cell: Cell, arrays: Arrays, expectation: Expectation) -> Entrant:
    record = _blank(arm, cell, "ok", arm.loose(cell))
    try:
        call = arm.prepare(cell, arrays, arm.threads(cell))
        arm.activate(arm.threads(cell))
        record = replace(record, outputs=arm.outputs)
        results = arm.results(call(), cell)
        record = replace(record, version=arm.version())
        if not arm.checked(cell):
            return Entrant(arm, call, record)
        check = expectation.check(arm, results)
    except Exception as error:  # an arm is foreign code: whatever it raises is its record
        return Entrant(arm, None, replace(record, status="failed", note=f"{type(error).__name__}: {error}"[:300]))
    status = record.status if check.passed else "wrong"
    return Entrant(arm, call, replace(record, status=status, check=check))


def _blank(arm: Arm, cell: Cell, status: str, note: str) -> ArmRecord:
    return ArmRecord(arm.name, arm.role, "", arm.threads(cell), arm.outputs, status, note)  # type: ignore[arg-type]


def _compare(cell: Cell, entrants: Sequence[Entrant]) -> tuple[ArmRecord, ...]:
    ours = next(e for e in entrants if e.record.role == "ours")

    def finish(entrant: Entrant) -> ArmRecord:
        if not entrant.times:
            return entrant.record
        lead: Band | None = ratio(entrant.times, ours.times) if ours.times and entrant is not ours else None
        seconds = band(entrant.times, 20, 80)
        return replace(entrant.record, inner=entrant.inner, seconds=seconds, ratio=lead, rounds=tuple(entrant.times))

    return tuple(finish(entrant) for entrant in entrants)


def _best_peer(records: Sequence[ArmRecord]) -> ArmRecord | None:
    """Return the fastest peer that is right."""
    right = [r for r in records if r.role == "peer" and r.status == "ok" and r.seconds is not None]
    return min(right, key=lambda r: r.seconds.median if r.seconds else 0.0, default=None)
