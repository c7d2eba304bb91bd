"""Hold the order that a plan's report expects of its variants against the order that is measured.

``python tools/check_estimates.py [--seconds S]``: prints both for a few shapes, and which pairs are the wrong way round
although they are measured more than a tenth apart. No test: it measures time.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gridwave as gw
from gridwave.bench.bandwidth import BandwidthMeter
from gridwave.sampling import MachineRates

APART = 1.1


class Case(NamedTuple):
    """An image, an output and a kind of grid."""

    channels: int
    size: tuple[int, int]
    out: tuple[int, int]
    kind: str
    mode: str


CASES = [
    Case(channels, (128, 128), (128, 128), kind, mode)
    for channels in (3, 64)
    for kind in ("smooth", "random")
    for mode in ("bilinear", "nearest", "bicubic")
] + [Case(256, (32, 88), (100, 100), kind, "bilinear") for kind in ("smooth", "random")]


def grid_of(case: Case) -> Any:
    """Return a rotation, or points anywhere."""
    h, w = case.out
    if case.kind == "random":
        return np.random.default_rng(0).uniform(-1, 1, (1, h, w, 2)).astype(np.float32)
    y, x = np.meshgrid(np.linspace(-1, 1, h), np.linspace(-1, 1, w), indexing="ij")
    return np.stack([0.99 * x - 0.1 * y, 0.1 * x + 0.99 * y], axis=-1)[None].astype(np.float32)


def variants_of(case: Case) -> tuple[dict[str, Callable[[], Any]], Any]:
    """Return the calls to be timed by their names, and a plan."""
    calls: dict[str, Callable[[], Any]] = {}
    grid, planar = grid_of(case), np.random.default_rng(1).random((1, case.channels, *case.size), np.float32)
    mode: Any = case.mode
    plan = None
    layouts: tuple[Any, ...] = ("NCHW", "NHWC")
    for layout in layouts:
        x = planar if layout == "NCHW" else np.ascontiguousarray(planar.transpose(0, 2, 3, 1))
        plan = gw.plan_grid_sample(grid, case.size, mode, layout=layout)
        out = plan(x)
        calls[f"plan {layout}"] = lambda p=plan, x=x, out=out: p(x, out=out)
        calls[f"dynamic {layout}"] = lambda layout=layout, x=x, out=out: gw.grid_sample(
            x, grid, mode, layout=layout, out=out
        )
    return calls, plan


def measured(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """Time the calls in turns, and return the lower quartile of each."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 4:
        for name, call in calls.items():
            for _ in range(4):  # bring its own arrays back into the caches
                call()
            for _ in range(4):
                start = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - start)
    return {name: statistics.quantiles(values, n=4)[0] for name, values in times.items()}


def main() -> None:
    """Print both orders of every case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="time for one case")
    seconds = parser.parse_args().seconds
    meter = BandwidthMeter(0.2)
    pairs = wrong = 0
    with gw.threads(1):
        for case in CASES:
            calls, plan = variants_of(case)
            moved = plan.report(case.channels)
            copy = meter.of(moved.x_bytes_interleaved + moved.out_bytes, 1).copy
            report = plan.report(case.channels, rates=MachineRates(bytes=copy))
            times = measured(calls, seconds)
            expected = {e.variant: e.seconds for e in report.estimates}
            print(f"{case.mode}, {case.kind}, {case.channels} channels, {case.size} to {case.out}")
            for name in sorted(times, key=lambda n: times[n]):
                print(f"  {name:<14} measured {times[name] * 1e3:8.3f} ms   expected {expected[name] * 1e3:8.3f} ms")
            for a, b in itertools.permutations(times, 2):
                if times[a] * APART < times[b]:
                    pairs += 1
                    if expected[a] > expected[b]:
                        wrong += 1
                        print(f"  expected the other way round: {a} before {b}")
    print(f"{pairs - wrong} of {pairs} pairs that are a tenth apart are in the expected order")


if __name__ == "__main__":
    main()
