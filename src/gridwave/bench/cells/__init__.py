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

CallName = Literal["grid_sample", "plan", "remap", "warp_affine", "warp_perspective", "map_coordinates"]
"""What is called; ``plan`` is ``plan_grid_sample``'s result."""

ModeName = SamplingMode | Literal["lanczos4", "order1", "order3"]
"""How values are formed: ``remap`` and warps also know ``lanczos4``, ``map_coordinates`` has orders instead."""

AimKind = Literal["peers", "against", "own_zeros", "own_threads", "own_dynamic", "microseconds"]
"""What a cell is held against; see the data files."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Input (n, c, h, w) and output (ho, wo) lengths; volumes have a depth (d, do) too."""

    n: int
    c: int
    h: int
    w: int
    ho: int
    wo: int
    d: int = 0
    do: int = 0

    @property
    def space(self) -> tuple[int, ...]:
        """Input lengths in memory order: (h, w) or (d, h, w)."""
        return (self.d, self.h, self.w) if self.d else (self.h, self.w)

    @property
    def out_space(self) -> tuple[int, ...]:
        """Output lengths in memory order."""
        return (self.do, self.ho, self.wo) if self.d else (self.ho, self.wo)


@dataclass(frozen=True, slots=True)
class Aim:
    """A number that a cell has to reach."""

    kind: AimKind
    value: float
    peer: str = ""
    """The arm that ``against`` means."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured case."""

    shape: str
    sizes: Sizes
    grid: GridKind = "smooth"
    mode: ModeName = "bilinear"
    padding: PaddingMode = "zeros"
    layout: Layout = "NCHW"
    dtype: DTypeName = "float32"
    direction: Direction = "forward"
    threads: int = 1
    aims: tuple[Aim, ...] = ()
    call: CallName = "grid_sample"

    @property
    def id(self) -> str:
        """Its name, made of all of its fields."""
        what: str = self.direction if self.call == "grid_sample" else self.call
        what += "_backward" if self.call == "plan" and self.direction == "backward" else ""
        parts = (what, self.shape, self.grid, self.mode, self.padding, self.layout, self.dtype)
        return "/".join((*parts, f"{self.threads}t"))

    @property
    def operator(self) -> str:
        """The heading that it is listed under."""
        if self.call != "grid_sample":
            return f"{self.call} {self.mode}" + (" backward" if self.direction == "backward" else "")
        if self.shape in {"tiny", "fresh"}:
            return "per call"
        return f"{self.mode} {self.direction}" + (" of volumes" if self.sizes.d else "")

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
        lines = (f"{c.id} {c.sizes} {[(a.kind, a.value, a.peer) for a in c.aims]}" for c in self.cells)
        limits = f"{self.memory_bound_share} {self.memory_bound_floor}"
        return hashlib.sha256("\n".join((*lines, limits)).encode()).hexdigest()


@cache
def suite(name: str) -> Suite:
    """Read a suite from its folder of data files, in the order of their names.

    Parameters
    ----------
    name : str
        ``"sampling"``.

    Raises
    ------
    FileFormatError
        If a file has an unknown field or choice, or a cell comes twice.
    """
    folder = sorted((f for f in (files(__name__) / name).iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return parse_suite(name, *(file.read_text(encoding="utf-8") for file in folder))


def parse_suite(name: str, *texts: str) -> Suite:
    """Turn the texts of cells files into a :class:`Suite`; see :func:`suite`. One of them holds the limits."""
    cells: list[Cell] = []
    reasons: dict[str, str] = {}
    limits: dict[str, float] = {}
    for text in texts:
        raw = tomllib.loads(text)
        shapes = {key: _sizes(value) for key, value in raw["shapes"].items()}
        cells += (cell for group in raw["group"] for cell in _expand(group, raw["defaults"], shapes))
        reasons |= raw.get("reasons", {})
        limits |= raw.get("limits", {})
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            raise FileFormatError(f"cells file {name!r}: {cell.id} comes twice")
        seen.add(cell.id)
    return Suite(name, tuple(cells), tuple(reasons.items()), **limits)


def _sizes(values: list[int]) -> Sizes:
    if len(values) == 8:  # n, c, d, h, w, do, ho, wo
        n, c, d, h, w, do, ho, wo = values
        return Sizes(n, c, h, w, ho, wo, d, do)
    return Sizes(*values)


_CHOICES: dict[str, Any] = {
    "call": CallName, "grid": GridKind, "mode": ModeName, "padding": PaddingMode, "layout": Layout, "dtype": DTypeName,
    "direction": Direction,
}  # fmt: skip


def _expand(group: dict[str, Any], defaults: dict[str, Any], shapes: dict[str, Sizes]) -> Iterator[Cell]:
    fields = {"call": "grid_sample", **defaults, **group}
    aims = tuple(Aim(kind, float(value)) for kind, value in fields.pop("aims", {}).items())
    aims += tuple(Aim("against", float(value), peer) for peer, value in fields.pop("against", {}).items())
    if unknown := {a.kind for a in aims} - set(get_args(AimKind)):
        raise FileFormatError(f"cells file: unknown aims {sorted(unknown)}")
    names = tuple(fields)
    for values in itertools.product(*(_as_list(fields[name]) for name in names)):
        chosen = dict(zip(names, values, strict=True))
        for name, kind in _CHOICES.items():
            if chosen[name] not in (known := _choices(kind)):
                raise FileFormatError(f"cells file: {name} must be one of {known}; got {chosen[name]!r}")
        try:
            yield Cell(sizes=shapes[chosen["shape"]], aims=aims, **chosen)
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"cells file: bad group {group}: {error}") from error


def _choices(kind: Any) -> tuple[str, ...]:
    """Return the values of a Literal, or of a union of them."""
    parts = get_args(kind)
    return tuple(value for part in parts for value in (_choices(part) if get_args(part) else (part,)))


def _as_list(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else [value]
