"""What every arm has to say and do."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar

from gridwave.bench.arrays import Array, Arrays
from gridwave.bench.cells import Cell
from gridwave.bench.records import Role

Call = Callable[[], Any]
"""One call of the operator, everything prepared; its return value goes to :meth:`Arm.results`."""


class Arm(ABC):
    """One way of computing a cell. Importing the arm's library happens in :meth:`prepare`, not before."""

    name: str
    packages: ClassVar[tuple[str, ...]]
    """What must be importable."""
    role: Role = "peer"
    outputs: str = "fresh"
    """``fresh``: each call allocates its results; ``reused``: it writes into the same buffer."""

    def available(self) -> bool:
        """Return whether the library is installed, without importing it."""
        return all(find_spec(package) is not None for package in self.packages)

    def version(self) -> str:
        """Return the version of the (by now imported) library."""
        return str(getattr(importlib.import_module(self.packages[0]), "__version__", "?")).split("-")[0]

    def supports(self, cell: Cell) -> bool:
        """Return whether :meth:`refusal` has nothing against this cell."""
        return not self.refusal(cell)

    @abstractmethod
    def refusal(self, cell: Cell) -> str:
        """Return why this arm has no part in ``cell``, or an empty string."""

    def reports_refusal(self, cell: Cell) -> bool:
        """Return whether a refusal is worth a line in the record (a defect, say, and not just another layout)."""
        return False

    @abstractmethod
    def prepare(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        """Convert the arrays, build sessions and plans, and return what is timed."""

    def prepare_fresh(self, cell: Cell, arrays: Arrays, threads: int) -> Call:
        """Like :meth:`prepare`, but nothing may be done ahead for the shape of these arrays."""
        return self.prepare(cell, arrays, threads)

    def activate(self, threads: int) -> None:  # noqa: B027
        """Set the library's number of threads, where that is a global; called before every sample."""

    @abstractmethod
    def results(self, value: Any, cell: Cell) -> tuple[Array, ...]:
        """Turn what a call returned into arrays: (output,) or (grad_x, grad_grid), data in the order n, c, space."""

    def threads(self, cell: Cell) -> int:
        """Return the number of threads this arm runs ``cell`` with."""
        return cell.threads

    def checked(self, cell: Cell) -> bool:
        """Return whether the results are those of ``cell`` and can be checked."""
        return True

    def loose(self, cell: Cell) -> str:
        """Return why only a loose bound can be asked of this arm, or an empty string."""
        return ""

    def coordinate_error(self, cell: Cell) -> float | None:
        """Return by how many samples this arm rounds coordinates, or None for their type's own rounding."""
        return None

    def value_error(self, cell: Cell) -> float:
        """Return an error allowed on top: half a step where results are integers."""
        return 0.5 + 1e-3 if cell.dtype == "uint8" else 0.0
