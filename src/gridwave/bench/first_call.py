"""What the first call of a shape costs: one call each, over many shapes that the process has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gridwave.bench.arms.arm import Arm
from gridwave.bench.arrays import Array, fresh_sizes, make_arrays
from gridwave.bench.cells import Cell
from gridwave.bench.correctness import Expectation
from gridwave.bench.interleave import Entrant
from gridwave.bench.records import ArmRecord
from gridwave.bench.statistics import check_rounds, order
from gridwave.bench.timing import sample

SHAPES = 100
"""Shapes in a cell, each one round."""


def measure_first_calls(
    cell: Cell, arms: Sequence[Arm], quick: bool, rounds: int | None = None
) -> tuple[list[Entrant], int, int]:
    """Time the first call of each arm on ``rounds`` fresh shapes (100 by default, 2 if quick).

    Results are checked on one more fresh shape before, which also loads code and starts threads. Inputs are read
    before each call, so that no arm finds them in cache by coming later.
    """
    rounds = check_rounds(rounds or (2 if quick else SHAPES))
    entrants = _check(cell, arms)
    running = [e for e in entrants if e.call is not None]
    for round_index in range(rounds):
        arrays = make_arrays(cell, fresh_sizes(cell))
        calls = [e.arm.prepare_fresh(cell, arrays, e.record.threads) for e in running]
        for k in order(len(running), round_index):
            running[k].arm.activate(running[k].record.threads)
            for array in (arrays.x, arrays.grid, arrays.grad_output):
                _touch(array)
            running[k].times.append(sample(calls[k], 1))
    return entrants, rounds, 1


def _check(cell: Cell, arms: Sequence[Arm]) -> list[Entrant]:
    arrays = make_arrays(cell, fresh_sizes(cell))
    expectation = Expectation(cell, arrays)
    entrants = []
    for arm in arms:
        record = ArmRecord(arm.name, arm.role, "", arm.threads(cell), "fresh", "ok")
        call = None
        try:
            call = arm.prepare_fresh(cell, arrays, record.threads)
            results = arm.results(call(), cell)
            check = expectation.check(arm, results)
            record = replace(record, version=arm.version(), check=check, status="ok" if check.passed else "wrong")
        except Exception as error:  # an arm is foreign code: whatever it raises is its record
            call, record = None, replace(record, status="failed", note=f"{type(error).__name__}: {error}"[:300])
        entrants.append(Entrant(arm, call, record))
    return entrants


def _touch(array: Array | None) -> None:
    if array is not None:
        array.max()
