"""Memory for results."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from gridwave.errors import ArgumentError, DTypeError
from gridwave.typing import Array, as_numpy

_LINE: Final = 64
_LARGE: Final = 8 << 20
"""Results of at least this many bytes start on a cache line, so that kernels can write whole lines past the caches."""


def empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an uninitialised array; a large one aligned (NumPy's own start 16 bytes past a page)."""
    size = math.prod(shape) * dtype.itemsize
    if size < _LARGE:
        return np.empty(shape, dtype)
    memory = np.empty(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    aligned: Array = memory[start : start + size].view(dtype).reshape(shape)
    return aligned


def check_out(out: Any) -> Array:
    """Return ``out`` as the NumPy array to write to, or raise."""
    array, _ = as_numpy("out", out)
    if not isinstance(out, np.ndarray) and not hasattr(out, "__dlpack__"):
        raise DTypeError(f"out must be an array to write to; got {type(out).__name__}")
    if not array.flags.writeable:
        raise ArgumentError("out is read-only; give an array that may be written")
    return array
