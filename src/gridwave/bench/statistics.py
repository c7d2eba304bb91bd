"""The arithmetic of interleaved comparisons: orders, ratios, bands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridwave.bench.records import Band
from gridwave.errors import ArgumentError


def check_rounds(rounds: int) -> int:
    """Return ``rounds``, or raise if it is odd or less than 2.

    The arms run forwards in one round and backwards in the next: an odd count would favour one end.
    """
    if rounds < 2 or rounds % 2:
        raise ArgumentError(f"rounds must be even and at least 2, because the arms' order alternates; got {rounds}")
    return rounds


def order(count: int, round_index: int) -> tuple[int, ...]:
    """Return the order in which ``count`` arms run: forwards in even rounds, backwards in odd ones."""
    forwards = tuple(range(count))
    return forwards if round_index % 2 == 0 else forwards[::-1]


def band(values: Sequence[float], low: float, high: float) -> Band:
    """Return the median of ``values`` with the ``low`` and ``high`` percentiles."""
    bottom, middle, top = np.percentile(np.asarray(values, float), [low, 50, high])
    return Band(float(middle), float(bottom), float(top))


def ratio(other: Sequence[float], ours: Sequence[float]) -> Band:
    """Return other / ours, round by round: median, 10th and 90th percentile. Above 1, ours is faster."""
    if len(other) != len(ours):
        raise ArgumentError(f"both arms need the same number of rounds; got {len(other)} and {len(ours)}")
    return band([a / b for a, b in zip(other, ours, strict=True)], 10, 90)


def rounds_for(budget: float, round_seconds: float) -> int:
    """Return the even number of rounds that fits ``budget`` seconds: 4 to 30, or 2 where even 4 are far too many."""
    fitting = int(budget / max(round_seconds, 1e-9))
    least = 4 if 4 * round_seconds <= 3 * budget else 2
    return min(30, max(least, fitting - fitting % 2))
