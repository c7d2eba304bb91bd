"""How fast this machine moves bytes, and the least time that a cell can take."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gridwave.bench.arrays import dtype_of, grid_dtype_of
from gridwave.bench.cells import Cell, Sizes
from gridwave.bench.records import Bandwidth, Floor
from gridwave.bench.statistics import order

Bytes = NDArray[np.uint8]

_SAMPLE = 2e-3
_LEAST_SIZE = 1 << 18


def traffic(cell: Cell, sizes: Sizes | None = None) -> tuple[int, int]:
    """Return the bytes a cell must read and must write.

    Every input is counted as read once and every result as written once, whatever part of it the grid touches.

    Parameters
    ----------
    cell : Cell
        What is measured.
    sizes : Sizes, optional
        Lengths that replace the cell's own.
    """
    s = sizes or cell.sizes
    item = dtype_of(cell.dtype).itemsize
    x, points = s.n * s.c * math.prod(s.space) * item, s.n * math.prod(s.out_space)
    out = points * s.c * item
    given = cell.call not in {"warp_affine", "warp_perspective"}  # a warp's points come from its matrix
    grid = points * len(s.space) * grid_dtype_of(cell.dtype).itemsize if given else 0
    return (x + grid, out) if cell.direction == "forward" else (out + x + grid, x + grid)


def floor(read: int, written: int, bandwidth: Bandwidth) -> Floor:
    """Return the least time for these bytes: what can be paired at the copy rate, the rest at its own."""
    paired = min(read, written)
    seconds = 2 * paired / bandwidth.copy
    seconds += (read - paired) / bandwidth.read + (written - paired) / bandwidth.write
    return Floor(read, written, seconds, bandwidth.in_cache)


@cache
def last_level_cache() -> int:
    """Return the size of the largest CPU cache in bytes (32 MiB where the system does not say)."""
    sizes = [32 << 20]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        sizes.append(int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1].isalpha() else int(text))
    return max(sizes[1:] or sizes)


class BandwidthMeter:
    """Measures bandwidths when first asked for, and keeps them for the run.

    Parameters
    ----------
    seconds : float
        Time for one measurement of all three rates.
    """

    def __init__(self, seconds: float = 0.5) -> None:
        self._seconds = seconds
        self._known: dict[tuple[int, int], Bandwidth] = {}

    @property
    def measured(self) -> tuple[Bandwidth, ...]:
        """All that has been measured, by threads and size."""
        return tuple(self._known[key] for key in sorted(self._known))

    def of(self, total: int, threads: int) -> Bandwidth:
        """Return the bandwidth for a working set of ``total`` bytes: at its size in cache, else from memory."""
        llc = last_level_cache()
        in_cache = total <= llc // 2
        size = max(_LEAST_SIZE, 1 << (max(total, 2) // 2 - 1).bit_length()) if in_cache else max(4 * llc, 1 << 27)
        key = (threads, size)
        if key not in self._known:
            self._known[key] = measure(size, threads, self._seconds, in_cache)
        return self._known[key]


def measure(size: int, threads: int, seconds: float, in_cache: bool) -> Bandwidth:
    """Measure reading, filling and copying arrays of ``size`` bytes, interleaved; the best of each counts.

    The best, because a floor must not be beaten by noise: several NumPy loops stand for each kind.
    """
    source, target = (_aligned(size) for _ in range(2))
    source.fill(1)
    target.fill(1)
    parts = np.array_split(np.arange(size // 64), threads)
    spans = [slice(int(p[0]) * 64, (int(p[-1]) + 1) * 64) for p in parts]
    loops: list[tuple[str, int, Callable[[slice], object]]] = [
        ("read", size, lambda s: source[s].view(np.float32).max()),
        ("read", size, lambda s: np.bitwise_or.reduce(source[s].view(np.uint64))),
        ("write", size, lambda s: target[s].fill(0)),
        ("write", size, lambda s: target[s].view(np.float32).fill(1.0)),
        ("copy", 2 * size, lambda s: np.copyto(target[s], source[s])),
        ("copy", 2 * size, lambda s: np.negative(source[s].view(np.int32), target[s].view(np.int32))),
    ]
    best = {"read": 0.0, "write": 0.0, "copy": 0.0}
    repeats = [max(1, int(_SAMPLE / max(_run(loop, spans, 2) / 2, 1e-9))) for _, _, loop in loops]
    end, round_index = time.perf_counter() + seconds, 0
    while round_index < 2 or time.perf_counter() < end:
        for k in order(len(loops), round_index):
            kind, count, loop = loops[k]
            best[kind] = max(best[kind], count * repeats[k] / _run(loop, spans, repeats[k]))
        round_index += 1
    return Bandwidth(threads, size, in_cache, best["read"], best["write"], best["copy"])


def _run(loop: Callable[[slice], object], spans: list[slice], repeats: int) -> float:
    """Return the seconds that ``repeats`` passes take, one thread a span (NumPy's loops release the GIL)."""

    def work(span: slice) -> None:
        gate.wait()
        for _ in range(repeats):
            loop(span)

    gate = threading.Barrier(len(spans))
    others = [threading.Thread(target=work, args=(span,)) for span in spans[1:]]
    for thread in others:
        thread.start()
    start = time.perf_counter()
    work(spans[0])
    for thread in others:
        thread.join()
    return time.perf_counter() - start


def _aligned(size: int) -> Bytes:
    memory = np.empty(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]
