"""What is measured: frozen cells, read from a data file beside this module."""

from __future__ import annotations

import hashlib
import itertools
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from gridwave.errors import ArgumentError, FileFormatError
from gridwave.modes import Layout, PaddingMode, SamplingMode

GridKind = Literal["smooth", "random", "skewed"]
"""How the sample points lie: a rotation with a ripple, anywhere, or mostly outside with one hot spot."""

DTypeName = Literal["float32", "float16", "bfloat16", "float64", "uint8"]
"""Type of the data; the grid has the same type, or float32 where the data are integers."""

Direction = Literal["forward", "backward"]
"""The operator, or both of its gradients."""

AimKind = Literal["peers", "own_zeros", "own_threads", "microseconds"]
"""What a cell is held against; see the data file."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Input (n, c, h, w) and output (ho, wo) lengths."""

    n: int
    c: int
    h: int
    w: int
    ho: int
    wo: int


@dataclass(frozen=True, slots=True)
class Aim:
    """A number that a cell has to reach."""

    kind: AimKind
    value: float


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured case of grid_sample."""

    shape: str
    sizes: Sizes
    grid: GridKind = "smooth"
    mode: SamplingMode = "bilinear"
    padding: PaddingMode = "zeros"
    layout: Layout = "NCHW"
    dtype: DTypeName = "float32"
    direction: Direction = "forward"
    threads: int = 1
    aims: tuple[Aim, ...] = ()

    @property
    def id(self) -> str:
        """Its name, made of all of its fields."""
        parts = (self.direction, self.shape, self.grid, self.mode, self.padding, self.layout, self.dtype)
        return "/".join((*parts, f"{self.threads}t"))

    @property
    def operator(self) -> str:
        """The heading that it is listed under."""
        return f"{self.mode} {self.direction}" if self.shape not in {"tiny", "fresh"} else "per call"

    @property
    def first_call(self) -> bool:
        """Whether each call has a shape that this process has not seen."""
        return self.sizes.h == 0


@dataclass(frozen=True, slots=True)
class Suite:
    """The cells of one operator, with what the data file says about them."""

    name: str
    cells: tuple[Cell, ...]
    reasons: tuple[tuple[str, str], ...]
    memory_bound_share: float
    memory_bound_floor: float

    def reason(self, cell: Cell) -> str:
        """Return why ``cell`` loses, or an empty string."""
        return next((text for pattern, text in self.reasons if fnmatchcase(cell.id, pattern)), "")

    def select(self, substring: str = "", threads: int | None = None) -> tuple[Cell, ...]:
        """Return the cells whose id contains ``substring``, with this number of threads.

        Raises
        ------
        ArgumentError
            If none does.
        """
        chosen = tuple(c for c in self.cells if substring in c.id and threads in {None, c.threads})
        if not chosen:
            wanted = f"filter {substring!r}" + ("" if threads is None else f" and threads {threads}")
            raise ArgumentError(f"{wanted} selects no cell of {self.name!r}; an id looks like {self.cells[0].id!r}")
        return chosen

    def digest(self) -> str:
        """Return a SHA-256 of all cells and aims, in order."""
        lines = (f"{c.id} {c.sizes} {[(a.kind, a.value) for a in c.aims]}" for c in self.cells)
        limits = f"{self.memory_bound_share} {self.memory_bound_floor}"
        return hashlib.sha256("\n".join((*lines, limits)).encode()).hexdigest()


@cache
def suite(name: str) -> Suite:
    """Read a suite from its data file.

    Parameters
    ----------
    name : str
        ``"sampling"``.

    Raises
    ------
    FileFormatError
        If the file has an unknown field or choice, or names a cell twice.
    """
    return parse_suite(name, (files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


def parse_suite(name: str, text: str) -> Suite:
    """Turn the text of a cells file into a :class:`Suite`; see :func:`suite`."""
    raw = tomllib.loads(text)
    shapes = {key: Sizes(*value) for key, value in raw["shapes"].items()}
    cells = tuple(cell for group in raw["group"] for cell in _expand(group, raw["defaults"], shapes))
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            raise FileFormatError(f"cells file {name!r}: {cell.id} comes twice")
        seen.add(cell.id)
    limits = raw["limits"]
    return Suite(name, cells, tuple(raw.get("reasons", {}).items()), **limits)


_CHOICES: dict[str, Any] = {
    "grid": GridKind, "mode": SamplingMode, "padding": PaddingMode, "layout": Layout, "dtype": DTypeName,
    "direction": Direction,
}  # fmt: skip


def _expand(group: dict[str, Any], defaults: dict[str, Any], shapes: dict[str, Sizes]) -> Iterator[Cell]:
    fields = {**defaults, **group}
    aims = tuple(Aim(kind, float(value)) for kind, value in fields.pop("aims", {}).items())
    if unknown := {a.kind for a in aims} - set(get_args(AimKind)):
        raise FileFormatError(f"cells file: unknown aims {sorted(unknown)}")
    names = tuple(fields)
    for values in itertools.product(*(_as_list(fields[name]) for name in names)):
        chosen = dict(zip(names, values, strict=True))
        for name, kind in _CHOICES.items():
            if chosen[name] not in get_args(kind):
                raise FileFormatError(f"cells file: {name} must be one of {get_args(kind)}; got {chosen[name]!r}")
        try:
            yield Cell(sizes=shapes[chosen["shape"]], aims=aims, **chosen)
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"cells file: bad group {group}: {error}") from error


def _as_list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]
