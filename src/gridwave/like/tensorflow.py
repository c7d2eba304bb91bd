"""TensorFlow: ImageProjectiveTransform, its wrapper of version 2 and its gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_args

import numpy as np

from gridwave import sampling
from gridwave.errors import ArgumentError, DTypeError, ModeError, ShapeError
from gridwave.modes import FillMode
from gridwave.typing import Array, as_numpy

_INTERPOLATIONS: Final = ("NEAREST", "BILINEAR")
_FILL_MODES: Final = tuple(name.upper() for name in get_args(FillMode))


def ImageProjectiveTransformV3(  # noqa: N802 (the operator's name)
    images: Any,
    transforms: Any,
    output_shape: Sequence[int],
    fill_value: float,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Any:
    """Compute ``tf.raw_ops.ImageProjectiveTransformV3``.

    Parameters
    ----------
    images : array, (N, H, W, C), uint8 | int32 | int64 | float16 | bfloat16 | float32 | float64
        H and W are not 0.
    transforms : array, (N, 8) or (1, 8), float32, or nested sequences of numbers
        Map output pixels to input pixels: see :func:`gridwave.sampling.projective_transform`. Units are pixels, (0, 0)
        is the centre of the top left one.
    output_shape : (height, width)
        Of the result, both at least 1.
    fill_value : float
        Outside the image with ``CONSTANT``.
    interpolation : {"NEAREST", "BILINEAR"}
    fill_mode : {"REFLECT", "WRAP", "CONSTANT", "NEAREST"}

    Returns
    -------
    array, (N, height, width, C), of the dtype and kind of ``images``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError
        Shapes that do not fit, another dtype, an unknown mode.

    Notes
    -----
    The equation, edges and NaN are those of :func:`gridwave.sampling.projective_transform`.

    =================================================  ==================================================
    Same as                                            with
    =================================================  ==================================================
    tf.raw_ops.ImageProjectiveTransformV3              tensors
    gridwave.sampling.projective_transform             modes in lower case
    =================================================  ==================================================

    References
    ----------
    TensorFlow 2.21, ``tensorflow/core/kernels/image/image_ops.h``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.uint8).reshape(1, 1, 4, 1)
    >>> ImageProjectiveTransformV3(x, [[1, 0, 2, 0, 1, 0, 0, 0]], (1, 4), 0, "NEAREST", "REFLECT").ravel().tolist()
    [2, 3, 3, 2]
    """
    return sampling.projective_transform(
        images,
        _transforms(transforms),
        output_shape,
        _name("interpolation", interpolation, _INTERPOLATIONS),
        _name("fill_mode", fill_mode, _FILL_MODES),
        fill_value,
    )


def ImageProjectiveTransformV2(  # noqa: N802
    images: Any, transforms: Any, output_shape: Sequence[int], interpolation: str, fill_mode: str = "CONSTANT"
) -> Any:
    """Compute ``tf.raw_ops.ImageProjectiveTransformV2``: version 3 with a ``fill_value`` of 0.

    Parameters
    ----------
    images, transforms, output_shape, interpolation, fill_mode
        As in :func:`ImageProjectiveTransformV3`.

    Returns
    -------
    array, (N, height, width, C), of the dtype and kind of ``images``
    """
    return ImageProjectiveTransformV3(images, transforms, output_shape, 0.0, interpolation, fill_mode)


def ImageProjectiveTransformV3_backward(  # noqa: N802
    grad: Any, images: Any, transforms: Any, interpolation: str, fill_mode: str = "CONSTANT"
) -> Any:
    """Compute what TensorFlow takes for the gradient with respect to ``images``: ``grad`` under the inverse maps.

    Parameters
    ----------
    grad : array, (N, H_out, W_out, C), of one of the dtypes of images
        Gradient of a scalar with respect to the result.
    images : array, (N, H, W, C)
        Only its shape is used.
    transforms : array, (N, 8), (1, 8) or (8,), float32, or sequences of numbers
        Those of the forward call.
    interpolation, fill_mode
        As in :func:`ImageProjectiveTransformV3`.

    Returns
    -------
    array, (N, H, W, C), of the dtype and kind of ``grad``

    Raises
    ------
    ShapeError, DTypeError, ArgumentError, ModeError
        As :func:`ImageProjectiveTransformV3`; a map that has no inverse.

    Notes
    -----
    It is not the adjoint: where the map scales, sums are not kept. Inverses are taken in float32, and may differ from
    TensorFlow's in the last bits; ``fill_value`` is 0.

    References
    ----------
    TensorFlow 2.21, ``tensorflow/python/ops/image_grad.py``.

    Examples
    --------
    >>> import numpy as np
    >>> g, x = np.arange(3, dtype=np.float32).reshape(1, 1, 3, 1), np.zeros((1, 1, 3, 1), np.float32)
    >>> ImageProjectiveTransformV3_backward(g, x, [1, 0, 1, 0, 1, 0, 0, 0], "BILINEAR").ravel().tolist()
    [0.0, 0.0, 1.0]
    """
    shape = np.shape(images)
    if len(shape) != 4:
        raise ShapeError(f"images must have shape (N, H, W, C); got {shape}")
    flat = _transforms(transforms)
    flat = flat[None] if flat.ndim == 1 else flat
    if flat.ndim != 2 or flat.shape[1] != 8:
        raise ShapeError(f"transforms must have shape (N, 8), (1, 8) or (8,); got {flat.shape}")
    square = np.concatenate([flat, np.ones((len(flat), 1), np.float32)], axis=1).reshape(-1, 3, 3)
    try:
        inverse = np.linalg.inv(square).reshape(-1, 9)
    except np.linalg.LinAlgError:
        raise ArgumentError("transforms must have an inverse for the gradient; got a singular one") from None
    with np.errstate(all="ignore"):
        inverse = inverse[:, :8] / inverse[:, 8:]
    return ImageProjectiveTransformV3(grad, inverse, shape[1:3], 0.0, interpolation, fill_mode)


def _transforms(value: Any) -> Array:
    """Return the maps as float32, as TensorFlow converts what is no tensor; arrays must be float32."""
    array, _ = as_numpy("transforms", value)
    if hasattr(value, "dtype"):
        if array.dtype != np.float32:
            raise DTypeError(f"transforms must be float32; got {array.dtype}: convert it with astype")
        return array
    try:
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    except (TypeError, ValueError):
        raise DTypeError(f"transforms must be numbers; got {array.dtype}") from None


def _name(argument: str, value: Any, members: tuple[str, ...]) -> Any:
    if value not in members:
        raise ModeError(f"{argument} must be one of {', '.join(map(repr, members))}; got {value!r}")
    return value.lower()
