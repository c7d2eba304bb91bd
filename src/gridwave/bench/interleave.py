"""The rounds: arms taking turns, in alternating order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from gridwave.bench.arms.arm import Arm, Call
from gridwave.bench.records import ArmRecord
from gridwave.bench.statistics import check_rounds, order, rounds_for
from gridwave.bench.timing import calibrate, sample

REPEATS = 3
"""Samples that an arm takes in a round, to keep the shortest; one where even that is long."""

SETTLE = 3e-3
"""Seconds in which another arm's idle threads stop spinning, before an arm with several threads starts."""


@dataclass(slots=True)
class Entrant:
    """An arm on its way through the rounds."""

    arm: Arm
    call: Call | None
    record: ArmRecord
    inner: int = 1
    times: list[float] = field(default_factory=list)


def run_rounds(
    entrants: Sequence[Entrant], budget: float, rounds: int | None, least_sample: float, quick: bool = False
) -> tuple[int, int]:
    """Time every entrant that has a call; return the number of rounds and of samples an arm in each.

    Parameters
    ----------
    entrants : sequence of Entrant
        Their ``times`` are filled, one entry a round.
    budget : float
        Seconds to spend, about.
    rounds : int or None
        Even; None fits it to the budget.
    least_sample : float
        Seconds that a sample lasts, unless one call is longer.
    quick : bool
        Two rounds, one sample each.
    """
    running = [e for e in entrants if e.call is not None]
    cost = 0.0
    for entrant in running:
        assert entrant.call is not None
        entrant.arm.activate(entrant.record.threads)
        entrant.inner, seconds = calibrate(entrant.call, least_sample)
        cost += entrant.inner * seconds
    repeats = REPEATS if 4 * REPEATS * cost <= 2 * budget and not quick else 1
    if rounds is None:
        rounds = 2 if quick else rounds_for(budget, repeats * cost)
    for round_index in range(check_rounds(rounds)):
        for k in order(len(running), round_index):
            running[k].times.append(_shortest(running[k], repeats))
    return rounds, repeats


def _shortest(entrant: Entrant, repeats: int) -> float:
    assert entrant.call is not None
    entrant.arm.activate(entrant.record.threads)
    if entrant.record.threads > 1:
        time.sleep(SETTLE)
    return min(sample(entrant.call, entrant.inner) for _ in range(repeats))
