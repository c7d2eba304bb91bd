"""What a run of the benchmark says, as frozen data. Nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gridwave.bench.cells import AimKind, Cell

Role = Literal["ours", "variant", "peer"]
"""The arm under test, the same library called another way, or another library."""

Status = Literal["ok", "wrong", "unchecked", "skipped", "failed"]
"""Only ``ok`` peers count as competitors; ``skipped`` and ``failed`` arms have no times."""


@dataclass(frozen=True, slots=True)
class Band:
    """A median with a low and a high percentile around it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Check:
    """How an arm's results compare with the float64 twin's."""

    passed: bool
    worst: float
    """Largest error in units of its own tolerance, so that 1 is the limit."""
    rule: str


@dataclass(frozen=True, slots=True)
class ArmRecord:
    """One arm in one cell."""

    name: str
    role: Role
    version: str
    threads: int
    outputs: str
    """``fresh``: allocated by each call; ``reused``: as this library's users do it."""
    status: Status
    note: str = ""
    check: Check | None = None
    inner: int = 0
    """Calls in a sample."""
    seconds: Band | None = None
    """Of one call: median, 20th and 80th percentile over the rounds."""
    ratio: Band | None = None
    """This arm's time / ours, round by round: median, 10th and 90th percentile."""
    rounds: tuple[float, ...] = field(default=(), repr=False)
    """Seconds a call, one entry a round."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time that moving a cell's bytes can take, at measured bandwidths."""

    bytes_read: int
    bytes_written: int
    seconds: float
    in_cache: bool


@dataclass(frozen=True, slots=True)
class AimResult:
    """An aim and what was reached; ``met`` is None where there was nothing to hold it against."""

    kind: AimKind
    wanted: float
    reached: float | None
    met: bool | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class CellRecord:
    """One cell: every arm, the best peer, the floor and the aims."""

    cell: Cell
    rounds: int
    repeats: int
    arms: tuple[ArmRecord, ...]
    best_peer: str | None
    ratio: Band | None
    """Best peer's time / ours."""
    floor: Floor | None
    share_of_floor: float | None
    """Floor / our time: 1 is as fast as memory allows."""
    aims: tuple[AimResult, ...]
    reason: str = ""

    @property
    def ours(self) -> ArmRecord:
        """The arm under test."""
        return next(a for a in self.arms if a.role == "ours")

    @property
    def lost(self) -> bool:
        """Whether an aim is missed, our result is wrong, or a peer is faster (where the aim does not allow it)."""
        allowed = any(a.kind == "microseconds" or (a.kind == "peers" and a.wanted < 1) for a in self.aims)
        slower = self.ratio is not None and self.ratio.median < 1 and not allowed
        return self.ours.status in {"wrong", "failed"} or slower or any(a.met is False for a in self.aims)


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second that simple loops reach: ``copy`` counts what it reads and what it writes."""

    threads: int
    size: int
    """Bytes of each array."""
    in_cache: bool
    read: float
    write: float
    copy: float


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where, when and with what the numbers were taken."""

    timestamp: str
    cpu: str
    cpus: int
    isa: str
    os: str
    python: str
    versions: tuple[tuple[str, str], ...]
    commit: str
    heap: str
    method: str


@dataclass(frozen=True, slots=True)
class Run:
    """Everything that one run measured."""

    suite: str
    provenance: Provenance
    bandwidths: tuple[Bandwidth, ...]
    cells: tuple[CellRecord, ...]

    @property
    def lost(self) -> tuple[CellRecord, ...]:
        """The cells that miss an aim, are wrong, or are slower than a peer."""
        return tuple(c for c in self.cells if c.lost)
