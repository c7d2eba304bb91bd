"""Taking times: samples, calibration, the heap."""

from __future__ import annotations

import ctypes
import gc
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Literal

from gridwave.bench.arms.arm import Call

Heap = Literal["warm", "system"]
"""``warm``: freed memory stays with the process, so that large results cost no page faults in any arm;
``system``: the C library's defaults, under which they do, more or less, depending on the arm."""

_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_MMAP_DEFAULT = -1, -4, 65536


def sample(call: Call, inner: int) -> float:
    """Return the mean seconds of a call over ``inner`` calls in a row."""
    start = time.perf_counter_ns()
    for _ in repeat(None, inner):
        call()
    return (time.perf_counter_ns() - start) / inner / 1e9


def calibrate(call: Call, least: float) -> tuple[int, float]:
    """Return how many calls make a sample of at least ``least`` seconds, and the seconds of one.

    The call has run before: its results were checked.
    """
    inner, seconds = 1, sample(call, 1)
    while inner * seconds < least / 2:
        inner = min(inner * 10, math.ceil(least / max(seconds, 1e-9)))
        seconds = sample(call, inner)
    return max(1, math.ceil(least / seconds)) if seconds < least else 1, seconds


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python's garbage collector out of the samples."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def heap(kind: Heap) -> Iterator[str]:
    """Set how the C library's malloc treats large blocks; yields what holds, for the record."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if kind == "system" or mallopt is None:
        yield "system"
        return
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_TRIM_THRESHOLD, -1)  # never
    try:
        yield "warm"
    finally:
        mallopt(_M_MMAP_MAX, _M_MMAP_DEFAULT)
        mallopt(_M_TRIM_THRESHOLD, 1 << 20)
