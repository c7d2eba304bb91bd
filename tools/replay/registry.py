"""Which recorded calls gridwave answers: a claim holds our function and the float64 twin for one (peer, call)."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from replay.cases import Arrays, Case


@dataclass(frozen=True, slots=True)
class Truth:
    """The float64 value of one output, and the size that its rounding errors are measured against."""

    value: NDArray[np.float64]
    scale: float  # max over the output of the sum of |weight| * |datum|


@dataclass(frozen=True, slots=True)
class Claim:
    """Our answer to one call of one peer; both functions raise NotImplementedError for what is not claimed."""

    run: Callable[[Case, Arrays], Arrays]
    twin: Callable[[Case, Arrays], dict[str, Truth]]


CLAIMS: dict[tuple[str, str], Claim] = {}
"""By (peer, op and call): the call is a prefix, so that ``onnx::GridSample@`` claims every opset."""


def claim(peer: str, op: str, call: str, entry: Claim) -> None:
    """Register an answer; a second one for the same call is a mistake."""
    key = (peer, f"{op} {call}")
    if key in CLAIMS:
        raise ValueError(f"{key} is claimed twice")
    CLAIMS[key] = entry


@cache
def load_families() -> None:
    """Import every module of ``replay/families``, which registers its claims."""
    import replay.families

    for module in pkgutil.iter_modules(replay.families.__path__):
        importlib.import_module(f"replay.families.{module.name}")


def find(case: Case) -> Claim:
    """Return the claim for a case: the longest call prefix wins."""
    load_families()
    name = f"{case['op']} {case['call']}"
    fitting = [call for peer, call in CLAIMS if peer == case["peer"] and name.startswith(call)]
    if not fitting:
        raise NotImplementedError(f"no convention claims {case['peer']} {name}")
    return CLAIMS[case["peer"], max(fitting, key=len)]
