"""Holding a cell's numbers against its aims."""

from __future__ import annotations

from collections.abc import Sequence

from gridwave.bench.cells import Aim, Cell, Suite
from gridwave.bench.records import AimResult, ArmRecord, Band, Floor


def judge(
    suite: Suite, cell: Cell, arms: Sequence[ArmRecord], ratio: Band | None, floor: Floor | None, one: Floor | None
) -> tuple[AimResult, ...]:
    """Return what became of each aim of ``cell``.

    Parameters
    ----------
    suite : Suite
        Holds the limits that scaling is judged by.
    cell : Cell
        What was measured.
    arms : sequence of ArmRecord
        All arms of the cell.
    ratio : Band or None
        Best peer's time / ours.
    floor, one : Floor or None
        The bandwidth floor with the cell's threads, and with one.
    """
    return tuple(_judge(suite, aim, arms, ratio, floor, one) for aim in cell.aims)


def _judge(
    suite: Suite, aim: Aim, arms: Sequence[ArmRecord], ratio: Band | None, floor: Floor | None, one: Floor | None
) -> AimResult:
    ours = next(a for a in arms if a.role == "ours")
    if ours.seconds is None:
        return AimResult(aim.kind, aim.value, None, None, "not measured")
    match aim.kind:
        case "peers":
            return _at_least(aim, ratio.median if ratio else None, "no peer" if ratio is None else "")
        case "microseconds":
            reached = ours.seconds.median * 1e6
            return AimResult(aim.kind, aim.value, reached, reached <= aim.value)
        case "against":
            return _at_least(aim, _ratio_of(arms, aim.peer), aim.peer)
        case "own_zeros":
            return _at_least(aim, _ratio_of(arms, "gridwave zeros"))
        case "own_dynamic":
            return _at_least(aim, _ratio_of(arms, "gridwave dynamic"))
        case "own_threads":
            return _scaling(suite, aim, arms, ours.seconds.median, floor, one)


def _scaling(
    suite: Suite, aim: Aim, arms: Sequence[ArmRecord], seconds: float, floor: Floor | None, one: Floor | None
) -> AimResult:
    single = next((a for a in arms if a.name == "gridwave 1 thread"), None)
    gain = _ratio_of(arms, "gridwave 1 thread")
    if single is not None and single.seconds is not None and one is not None and floor is not None:
        share = one.seconds / single.seconds.median
        if share >= suite.memory_bound_share:
            reached = floor.seconds / seconds
            wanted = suite.memory_bound_floor
            note = f"of the floor: one thread alone uses {share:.0%} of the bandwidth; {gain:.2f}x one thread"
            return AimResult(aim.kind, wanted, reached, reached >= wanted, note)
    return _at_least(aim, gain)


def _ratio_of(arms: Sequence[ArmRecord], name: str) -> float | None:
    return next((a.ratio.median for a in arms if a.name == name and a.ratio is not None), None)


def _at_least(aim: Aim, reached: float | None, note: str = "") -> AimResult:
    return AimResult(aim.kind, aim.value, reached, None if reached is None else reached >= aim.value, note)
