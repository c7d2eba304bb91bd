"""Judging a replayed case: ours against the peer, with the float64 twin between, and the exceptions that are known.

For each output, with slack = max|peer - twin| and bound = 4 eps scale::

    max|ours - peer| <= 2 slack + bound     and     max|ours - twin| <= slack + bound

eps is that of the recorded dtype; scale is the largest sum of |weight| |datum| over the output, from the twin run on
absolute values (for the gradients too, where the sums run over channels or over points). It replaces the bounds
sum|w| max|x|: 1 max|x| for bilinear, 1.375^2 max|x| for bicubic, which it never exceeds.

The rule says little where the peer is far from the twin: it took another pixel, or computed in 16 bits. So a slack
above ``LOOSE`` eps scale is reported, and then |ours - twin| must hold without it: to ``LOOSE`` eps scale, or to 4 in
float16 and bfloat16, whose results are rounded but once. A peer that is NaN where the twin is a number, or loose on
NaN and infinite coordinates, where each peer has its own rule, differs: that needs a named exception. In float16 and
bfloat16 looseness alone does not, since there PyTorch computes in 16 bits. Elsewhere a loose case that is counted as
reproduced must be one that an exception names; the tests allow no other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from replay.cases import Arrays, Case, epsilon
from replay.registry import Truth

LOOSE = 16
"""Slack, in eps scale, from which the rule alone is not trusted: peers that compute in the recorded type measure below
10 (bicubic; Keys' polynomials cancel), and below 3 otherwise. Also what ours may be off without any slack."""

Status = Literal["reproduced", "differs", "wrong"]


@dataclass(slots=True)
class Verdict:
    """``differs``: ours is the twin to within rounding, but the peer is something else."""

    status: Status = "reproduced"
    slack: float = 0.0  # worst over the outputs, in eps scale
    loose: bool = False
    notes: list[str] = field(default_factory=list)

    def lower(self, status: Status, note: str) -> None:
        """Keep the worse of two statuses."""
        order = ("reproduced", "differs", "wrong")
        self.status = max(self.status, status, key=order.index)
        self.notes.append(note)


def judge(case: Case, ours: Arrays, peer: Arrays, truth: dict[str, Truth]) -> Verdict:
    """Compare every output of a case."""
    verdict = Verdict()
    if set(ours) != set(peer):
        verdict.lower("wrong", f"outputs {sorted(ours)} instead of {sorted(peer)}")
        return verdict
    for name, theirs in peer.items():
        _judge_output(case, name, ours[name], theirs, truth[name], verdict)
    return verdict


def follows_twin(case: Case, ours: Arrays, truth: dict[str, Truth]) -> bool:
    """Say whether ours is the twin to within rounding; where a peer refused there is nothing else to compare with."""
    return all(
        ours[name].shape == t.value.shape
        and _worst(ours[name], _in_range(t.value, ours[name].dtype)) <= _rounding(case, name, ours[name], t)
        for name, t in truth.items()
    )


def _in_range(value: Any, dtype: Any) -> Any:
    """Return the values that an integer type saturates to."""
    if not np.issubdtype(dtype, np.integer):
        return value
    return np.clip(value, np.iinfo(dtype).min, np.iinfo(dtype).max)


def _rounding(case: Case, name: str, ours: Any, truth: Truth) -> float:
    """Return what rounding may put between ours and the twin: of integers half a level and float32 arithmetic."""
    if np.issubdtype(ours.dtype, np.integer):
        return 0.5 + LOOSE * float(np.finfo(np.float32).eps) * truth.scale
    return _own_bound(epsilon(case, name, ours)) * truth.scale


def _judge_output(case: Case, name: str, ours: Any, peer: Any, truth: Truth, verdict: Verdict) -> None:
    if ours.shape != peer.shape:
        return verdict.lower("wrong", f"{name}: shape {ours.shape} instead of {peer.shape}")
    if peer.dtype.kind in "iub":
        if ours.dtype != peer.dtype or not np.array_equal(ours, peer):
            verdict.lower("wrong", f"{name}: {np.count_nonzero(ours != peer)} integers differ")
        return None
    eps = max(epsilon(case, name, peer), epsilon(case, name, ours))
    unit = eps * truth.scale
    slack, from_twin, from_peer = _worst(peer, truth.value), _worst(ours, truth.value), _worst(ours, peer)
    verdict.slack = max(verdict.slack, slack / unit if unit else (0.0 if slack == 0 else np.inf))
    loose = slack > LOOSE * unit
    verdict.loose |= loose
    numbers = f"{name}: |ours - peer| {from_peer:.3g}, |ours - twin| {from_twin:.3g}, |peer - twin| {slack:.3g}"
    numbers += f", 4 eps scale {4 * unit:.3g}"
    if loose and from_twin > _own_bound(eps) * truth.scale:
        return verdict.lower("wrong", numbers)
    if loose and (np.isinf(slack) or ("nonfinite" in case.get("tags", ()) and not _is_16_bit(eps))):
        return verdict.lower("differs", numbers)
    if from_peer > 2 * slack + 4 * unit or from_twin > slack + 4 * unit:
        return verdict.lower("wrong", numbers)
    if ours.dtype != peer.dtype:
        return verdict.lower("differs", f"{name}: dtype {ours.dtype}, the peer's is {peer.dtype}")
    return None


def _is_16_bit(eps: float) -> bool:
    return eps > float(np.finfo(np.float32).eps)


def _own_bound(eps: float) -> float:
    """Return what ours may be off the twin, relative to scale, where the peer says nothing."""
    return (4 if _is_16_bit(eps) else LOOSE) * eps


def _worst(a: Any, b: Any) -> float:
    """Return max|a - b|; infinite where only one of them is finite."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(a - b))
    return float(np.max(np.where(np.isnan(gap), np.inf, gap), initial=0.0))


@dataclass(slots=True)
class KnownException:
    """A peer's behaviour that is not reproduced, why, and the cases it explains."""

    reason: str
    match: dict[str, Any]
    used: int = 0
    stale: list[str] = field(default_factory=list)  # cases that are in fact reproduced

    def covers(self, case: Case) -> bool:
        """Say whether every field of ``match`` fits; a list allows any of its values."""
        return all(
            self._fits(case, key, want if isinstance(want, list) else [want]) for key, want in self.match.items()
        )

    @staticmethod
    def _fits(case: Case, key: str, wanted: list[Any]) -> bool:
        if key == "tag":
            return any(tag in wanted for tag in case.get("tags", ()))
        return case.get(key, case["kwargs"].get(key)) in wanted


def read_exceptions(path: Path) -> list[KnownException]:
    """Read the known exceptions of a folder, a file for each peer; each must say its reason."""
    entries = [
        KnownException(**entry) for file in sorted(path.glob("*.json")) for entry in json.loads(file.read_text())
    ]
    for entry in entries:
        if not entry.reason.strip() or not entry.match:
            raise ValueError(f"an exception needs a reason and a match: {entry}")
    return entries


def name_exception(case: Case, verdict: Verdict, exceptions: list[KnownException]) -> str | None:
    """Return the reason that explains a case that differs or where the peer is loose, and note stale entries.

    An entry is stale if a case that it covers is reproduced without looseness.
    """
    reason = None
    for entry in exceptions:
        if not entry.covers(case):
            continue
        if verdict.status == "differs" or (verdict.status == "reproduced" and verdict.loose):
            entry.used += 1
            reason = reason or entry.reason
        elif verdict.status == "reproduced":
            entry.stale.append(case["id"])
    return reason
