"""How many threads operators may use, and what the build runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gridwave import _core
from gridwave.errors import ArgumentError

__all__ = ["get_num_threads", "set_num_threads", "show_config", "threads"]


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= value.__index__() <= 1024:
        raise ArgumentError(f"{name} must be a number of threads from 1 to 1024; got {value!r}")
    return int(value.__index__())


def set_num_threads(n: int | None) -> None:
    """Set how many threads an operator may use, in the whole process.

    Parameters
    ----------
    n : int or None
        1 to 1024. None gives the default back: ``GRIDWAVE_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the number of
        CPUs this process may run on, within its cgroup's CPU quota.

    Notes
    -----
    Results do not depend on it, to the bit. Small calls use one thread whatever the number.
    """
    _core.set_num_threads(0 if n is None else _count("n", n))


def get_num_threads() -> int:
    """Return how many threads an operator called now, from this thread, may use."""
    return int(_core.get_num_threads())


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use ``n`` threads inside a ``with`` block, for calls from this thread only.

    Examples
    --------
    >>> import gridwave as gw
    >>> with gw.threads(1):
    ...     gw.get_num_threads()
    1
    """
    before = _core.get_local_num_threads()
    _core.set_local_num_threads(_count("n", n))
    try:
        yield
    finally:
        _core.set_local_num_threads(before)


def show_config() -> dict[str, Any]:
    """Return what runs: version, instruction set (``isa``), the best this CPU has, threads.

    ``isa`` is one of ``x86-64-v2``, ``x86-64-v3``, ``x86-64-v4``, ``neon``; the environment variable ``GRIDWAVE_ISA``,
    read once, forces a lower one than ``best_isa``.
    """
    return {
        "version": _core.version(),
        "isa": _core.isa(),
        "best_isa": _core.best_isa(),
        "threads": get_num_threads(),
    }
