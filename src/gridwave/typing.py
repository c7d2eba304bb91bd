"""Array types: which dtypes core takes, and how arrays of other libraries come in and go out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from gridwave.errors import DTypeError, ShapeError

Array = npt.NDArray[Any]

BFLOAT16: Final = np.dtype(ml_dtypes.bfloat16)
_UINT16: Final = np.dtype(np.uint16)

DTYPE_CODES: Final[dict[Any, int]] = {
    np.dtype(np.float32): 0,
    np.dtype(np.float64): 1,
    np.dtype(np.float16): 2,
    BFLOAT16: 3,
    np.dtype(np.uint8): 4,
    np.dtype(np.int8): 5,
    _UINT16: 6,
    np.dtype(np.int16): 7,
    np.dtype(np.int32): 8,
    np.dtype(np.int64): 9,
}
"""NumPy dtype to ``gw_dtype``, as ``gridwave.h`` numbers them."""

SAMPLED_DTYPES: Final = tuple(d for d, code in DTYPE_CODES.items() if code < 7)
"""What grid_sample takes as data."""

FLOAT_DTYPES: Final = tuple(d for d, code in DTYPE_CODES.items() if code < 4)


def dtype_code(name: str, array: Array, allowed: tuple[Any, ...] = SAMPLED_DTYPES) -> int:
    """Return the code of ``array``'s dtype, or raise naming the dtypes that are taken."""
    code = DTYPE_CODES.get(array.dtype)
    if code is not None and array.dtype in allowed:
        return code
    names = ", ".join(str(d) for d in allowed)
    if array.dtype.newbyteorder("=") in allowed:
        raise DTypeError(f"{name} must be in the machine's byte order; got {array.dtype.str}: convert it with astype")
    raise DTypeError(f"{name} must have dtype {names}; got {array.dtype}")


def carrier(array: Array) -> Array:
    """Return ``array`` as the extension can take it: bfloat16, which no buffer protocol has, as its bit patterns."""
    return array.view(_UINT16) if array.dtype == BFLOAT16 else array


def as_numpy(name: str, value: Any) -> tuple[Array, Callable[[Array], Any] | None]:
    """Return ``value`` as a NumPy array without copying where possible, and how to give results back in its kind.

    NumPy arrays, lists and scalars give ``None``: results stay NumPy arrays. Anything that speaks DLPack on the CPU
    (a torch, JAX, CuPy-on-host or array-API array) gives a function that turns a NumPy array into the same kind.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise DTypeError(f"{name} is a masked array, and masks are not honoured; fill it first, with {name}.filled(0)")
    if isinstance(value, np.ndarray):
        return value, None
    if value is None:
        raise DTypeError(f"{name} must be an array; got None")
    if not hasattr(value, "__dlpack__"):
        return _from_sequence(name, value), None
    if hasattr(value, "detach") and getattr(value, "requires_grad", False):
        value = value.detach()
    return _from_dlpack(name, value), _giver(value)


def _from_sequence(name: str, value: Any) -> Array:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ShapeError(
            f"{name} must be an array, or sequences of equal length; got {type(value).__name__}: {error}"
        ) from None


def _from_dlpack(name: str, value: Any) -> Array:
    kind = type(value).__module__.partition(".")[0]
    if kind == "torch" and str(value.dtype) == "torch.bfloat16":
        bits = value.view(__import__("torch").uint16)
        return np.from_dlpack(bits).view(BFLOAT16)
    try:
        return np.from_dlpack(value)
    except (RuntimeError, BufferError, TypeError, ValueError) as error:
        if kind in {"jax", "jaxlib"}:  # JAX gives bfloat16 to NumPy itself
            return np.asarray(value)
        raise DTypeError(f"{name} is a {type(value).__name__} that NumPy cannot read in place: {error}") from None


def _giver(value: Any) -> Callable[[Array], Any]:
    module = type(value).__module__.partition(".")[0]
    if module == "torch":
        import torch  # already loaded: the array came from it

        def give_torch(a: Array) -> Any:
            if a.dtype == BFLOAT16:
                return torch.from_numpy(a.view(_UINT16)).view(torch.bfloat16)
            return torch.from_numpy(a)

        return give_torch
    if module in {"jax", "jaxlib"}:
        import jax.numpy as jnp

        return lambda a: jnp.asarray(a)
    namespace = value.__array_namespace__() if hasattr(value, "__array_namespace__") else None
    if namespace is not None and hasattr(namespace, "from_dlpack"):
        return lambda a: namespace.from_dlpack(a)
    return lambda a: a
