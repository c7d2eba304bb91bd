"""Replay recorded outputs of real frameworks through gridwave and judge every case.

    python tools/replay_golden.py tests/golden [--op grid_sample] [--peer torch] [--verbose]

``run(case, arrays)`` answers a single recorded case. Exit status 1 if a case is wrong or raised, or an exception in
the list explains a case that is in fact reproduced.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridwave.errors import GridwaveError
from replay.cases import Arrays, Case, load, narrow, widen
from replay.judge import KnownException, Verdict, follows_twin, judge, name_exception, read_exceptions
from replay.registry import find

EXCEPTIONS = Path(__file__).resolve().parent.parent / "tests" / "golden" / "exceptions"
OUTCOMES_OF = {"reproduced": "reproduced", "differs": "wrong"}  # of a verdict that no exception explains
OUTCOMES = ("reproduced", "named", "wrong", "raised", "unclaimed", "peer refused")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case; ``outcome`` is one of ``OUTCOMES``."""

    case: Case
    outcome: str
    detail: str = ""
    verdict: Verdict = field(default_factory=Verdict)


def run(case: Case, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Answer a recorded case with gridwave.

    Parameters
    ----------
    case : dict
        A line of ``cases.jsonl``: ``peer``, ``call``, ``op``, ``kwargs`` and ``array_dtypes`` are read.
    arrays : dict of ndarray
        Its inputs by name, bfloat16 ones as float32.

    Returns
    -------
    dict of ndarray
        Every output under the case's own names, bfloat16 ones as float32.

    Raises
    ------
    NotImplementedError
        If no convention claims the call yet.
    """
    return widen(find(case).run(case, narrow(case, arrays)))


def replay_case(case: Case, inputs: Arrays, outputs: Arrays, exceptions: list[KnownException]) -> Result:
    """Run and judge one case."""
    case = case | {"rank": max((array.ndim for array in inputs.values()), default=0), "pixels": pixels(case, inputs)}
    try:
        truth = find(case).twin(case, inputs)
    except NotImplementedError as error:
        return Result(case, "unclaimed", str(error))
    try:
        ours = run(case, inputs)
    except GridwaveError as error:
        return Result(case, "peer refused" if "error" in case else "raised", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Result(case, "raised", f"{type(error).__name__}: {error}")
    if "error" in case:  # no target, but ours must still be the documented value
        sound = follows_twin(case, ours, truth)
        return Result(case, "peer refused" if sound else "wrong", case["error"] if sound else "ours is not the twin")
    verdict = judge(case, ours, outputs, truth)
    reason = name_exception(case, verdict, exceptions)
    outcome = "wrong" if verdict.status == "wrong" else "named" if reason else OUTCOMES_OF[verdict.status]
    return Result(case, outcome, reason or "; ".join(verdict.notes), verdict)


def pixels(case: Case, inputs: Arrays) -> int:
    """Return how many samples a channel of the data has: on one alone nobody's rule about coordinates can be told."""
    data = inputs.get("x", inputs.get("X"))
    return 0 if data is None else math.prod(data.shape[1 if case["peer"] == "ncnn" else 2 :])


def replay(folder: Path, op: str | None, peer: str | None, exceptions: list[KnownException]) -> Iterator[Result]:
    """Run and judge the cases of a folder."""
    for case, inputs, outputs in load(folder, op, peer):
        if "unrepeatable" not in case.get("tags", ()):
            yield replay_case(case, inputs, outputs, exceptions)


def table(results: list[Result]) -> str:
    """Return the counts by framework, call and dtype; slack is the largest max|peer - twin| in eps scale."""
    groups: dict[tuple[str, ...], list[Result]] = defaultdict(list)
    for r in results:
        groups[r.case["peer"], r.case["op"], r.case["call"].rpartition(".")[2], r.case["dtype"]].append(r)
    rows = [("peer", "op", "call", "dtype", *OUTCOMES, "loose", "slack")]
    for key, group in sorted(groups.items()):
        counts = Counter(r.outcome for r in group)
        judged = [r.verdict for r in group if r.outcome == "reproduced"]
        loose = sum(v.loose for v in judged)
        slack = f"{max((v.slack for v in judged), default=0.0):.3g}" if judged else ""
        rows.append((*key, *(str(counts[o] or "") for o in OUTCOMES), str(loose or ""), slack))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def main(arguments: list[str] | None = None) -> int:
    """Replay a folder, print the table and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="folder with cases.jsonl")
    parser.add_argument("--op", help="only this op, for example grid_sample_grad")
    parser.add_argument("--peer", help="only this framework")
    parser.add_argument(
        "--exceptions", type=Path, default=EXCEPTIONS, help="folder of known exceptions, a file for each peer"
    )
    parser.add_argument("--verbose", action="store_true", help="list named exceptions and peers' refusals too")
    options = parser.parse_args(arguments)
    exceptions = read_exceptions(options.exceptions)
    results = list(replay(options.folder, options.op, options.peer, exceptions))
    print(table(results))
    for outcome in ("wrong", "raised", *(("named", "peer refused") if options.verbose else ())):
        for r in (r for r in results if r.outcome == outcome):
            print(
                f"{outcome}: {r.case['id']} {r.case['dtype']} {r.case['kwargs']} {r.case.get('tags', '')}: {r.detail}"
            )
    for entry in exceptions:
        print(f"exception explains {entry.used}: {entry.reason}")
        if entry.stale:
            print(f"stale: {entry.match} also covers {len(entry.stale)} reproduced cases: {entry.stale[:9]}")
    failed = any(r.outcome in ("wrong", "raised") for r in results) or any(entry.stale for entry in exceptions)
    return int(failed)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
