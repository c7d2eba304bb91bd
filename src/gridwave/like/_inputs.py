"""Checks that frameworks make and the plain operators do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gridwave.errors import ArgumentError, DTypeError, ModeError, ShapeError, UnsupportedError


def check_planar(name: str, array: Any) -> None:
    """Raise unless ``array`` has two spatial axes, for an operator of images."""
    shape = tuple(np.shape(array))
    if len(shape) != 4:
        raise UnsupportedError(f"{name} must have 4 axes, two of them spatial: images only; got shape {shape}.")


def check_axes(name: str, array: Any, ranks: tuple[int, ...]) -> int:
    """Return the number of spatial axes of ``array``, or raise unless its rank is one that the framework takes."""
    shape = tuple(np.shape(array))
    if len(shape) not in ranks:
        wanted = " or ".join(map(str, ranks))
        raise ShapeError(f"{name} must have {wanted} axes, the first two batch and channels; got shape {shape}.")
    return len(shape) - 2


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


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the modes that a framework has, where it does not have all of ours."""
    if value not in choices:
        raise ModeError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def dtype_name(array: Any) -> str:
    """Return the plain name of an array's dtype, whatever library made the array."""
    dtype = getattr(array, "dtype", None)
    return str(np.asarray(array).dtype if dtype is None else dtype).rpartition(".")[2]


def output_size(size: Iterable[Any]) -> tuple[int, ...]:
    """Return the (N, C, H, W) or (N, C, D, H, W) that an affine grid is for, as ints."""
    values = tuple(int(v) for v in size)
    if len(values) not in (4, 5):
        raise ShapeError(f"size must be (N, C, H, W) or (N, C, D, H, W); got {len(values)} numbers: {values}.")
    if min(values) <= 0:
        raise ArgumentError(f"size must be positive in every axis; got {values}.")
    return values
