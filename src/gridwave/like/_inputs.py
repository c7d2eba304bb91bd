"""Checks that frameworks make and the plain operators do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gridwave.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError


def check_planar(name: str, array: Any, rank: int = 4) -> None:
    """Raise unless ``array`` has the rank that two spatial axes give."""
    shape = tuple(np.shape(array))
    if len(shape) == rank:
        return
    text = f"{name} must have {rank} axes, two of them spatial; got shape {shape}"
    if len(shape) in (rank - 1, rank + 1):
        raise UnsupportedError(f"{text}. One and three spatial axes are not available yet.")
    raise ShapeError(f"{text}.")


def check_same_dtype(**arrays: Any) -> None:
    """Raise unless all ``arrays`` have one dtype, as frameworks that never promote want it."""
    names = {name: dtype_name(array) for name, array in arrays.items()}
    if len(set(names.values())) > 1:
        raise DTypeError(
            f"{', '.join(names)} must have one dtype; got {', '.join(names.values())}. Cast them to the same dtype."
        )


def check_dtypes(allowed: Iterable[tuple[str, ...]], **arrays: Any) -> None:
    """Raise unless the dtypes of ``arrays``, in order, are one of ``allowed``."""
    rows = list(allowed)
    found = tuple(dtype_name(array) for array in arrays.values())
    if found not in rows:
        choices = "; ".join(", ".join(row) for row in rows)
        raise DTypeError(f"({', '.join(arrays)}) must have dtypes ({choices}); got ({', '.join(found)}).")


def dtype_name(array: Any) -> str:
    """Return the plain name of an array's dtype, whatever library made the array."""
    dtype = getattr(array, "dtype", None)
    return str(np.asarray(array).dtype if dtype is None else dtype).rpartition(".")[2]


def output_size(size: Iterable[Any]) -> tuple[int, ...]:
    """Return the (N, C, H, W) that an affine grid is for, as ints."""
    values = tuple(int(v) for v in size)
    if len(values) in (3, 5):
        raise UnsupportedError(
            f"size must be (N, C, H, W); got {values}. One and three spatial axes are not available yet."
        )
    if len(values) != 4:
        raise ShapeError(f"size must be (N, C, H, W); got {len(values)} numbers: {values}.")
    if min(values) <= 0:
        raise ArgumentError(f"size must be positive in every axis; got {values}.")
    return values
