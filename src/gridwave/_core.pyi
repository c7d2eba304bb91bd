"""The compiled extension: arrays and integer codes of gridwave.h."""

from collections.abc import Callable
from typing import Any

class GridSampleSpec:
    def __init__(
        self,
        mode: int,
        padding: int,
        align_corners: int,
        layout: int,
        rounding: int,
        pad_order: int,
        cubic_padding: int,
        nonfinite: int,
        cubic_coeff_a: float,
        unnormalise: int,
        reflection: int,
        border_slope: int,
        /,
    ) -> None: ...
    @property
    def layout(self) -> int: ...

class SplineSpec:
    def __init__(
        self,
        order: int,
        boundary: int,
        basis: int,
        prefilter: int,
        taps_only: int,
        half_away: int,
        reflect_in_place: int,
        diagonal: int,
        cval: float,
        /,
    ) -> None: ...

def map_coordinates(
    spec: SplineSpec,
    x: Any,
    x_type: int,
    coordinates: Any,
    coordinates_type: int,
    out: Any,
    out_type: int,
    /,
) -> None: ...
def map_affine(spec: SplineSpec, x: Any, x_type: int, matrix: Any, out: Any, out_type: int, /) -> None: ...
def spline_filter(spec: SplineSpec, x: Any, axis: int, /) -> None: ...

class RemapSpec:
    def __init__(
        self, mode: int, border: int, subpixel: int, relative: int, coordinates: int, reach: int, border_value: Any, /
    ) -> None: ...

def remap(
    spec: RemapSpec,
    image: Any,
    image_type: int,
    map_x: Any,
    map_x_type: int,
    map_y: Any,
    map_y_type: int,
    out: Any,
    out_type: int,
    /,
) -> None: ...
def warp(spec: RemapSpec, image: Any, image_type: int, matrix: Any, out: Any, out_type: int, /) -> None: ...
def set_failure(make: Callable[[str, str], BaseException], /) -> None: ...
def grid_sample(
    spec: GridSampleSpec, x: Any, x_type: int, grid: Any, grid_type: int, out: Any, out_type: int, /
) -> None: ...
def grid_sample_backward(
    spec: GridSampleSpec,
    grad_output: Any,
    grad_type: int,
    x: Any,
    x_type: int,
    grid: Any,
    grid_type: int,
    grad_x: Any | None,
    grad_grid: Any | None,
) -> None: ...
def grid_sample_double_backward(
    spec: GridSampleSpec,
    grad_grad_x: Any | None,
    grad_grad_x_type: int,
    grad_grad_grid: Any | None,
    grad_grad_grid_type: int,
    grad_output: Any,
    grad_type: int,
    x: Any,
    x_type: int,
    grid: Any,
    grid_type: int,
    grad_grad_output: Any | None,
    grad_x: Any | None,
    grad_grid: Any | None,
) -> None: ...

class GridPlan:
    def __init__(self, spec: GridSampleSpec, size: tuple[int, ...], grid: Any, grid_type: int, /) -> None: ...
    def execute(self, x: Any, x_type: int, out: Any, out_type: int, /) -> None: ...
    def backward(
        self,
        grad_output: Any,
        grad_type: int,
        x: Any,
        x_type: int,
        grid_type: int,
        grad_x: Any | None,
        grad_grid: Any | None,
    ) -> None: ...
    def counts(self) -> list[int]: ...

def affine_grid(theta: Any, dtype: int, align_corners: bool, singleton: int, out: Any, /) -> None: ...
def affine_grid_backward(
    grad_output: Any, dtype: int, align_corners: bool, singleton: int, grad_theta: Any, /
) -> None: ...
def pillow_transform(
    image: Any,
    dtype: int,
    out: Any,
    method: int,
    filter_: int,
    clear: bool,
    box: tuple[int, int, int, int],
    coefficients: tuple[float, ...],
    /,
) -> None: ...
def pillow_premultiply(image: Any, undo: bool, out: Any, /) -> None: ...
def projective_transform(
    images: Any, dtype: int, transforms: Any, out: Any, interpolation: int, fill_mode: int, fill_value: float, /
) -> None: ...
def set_num_threads(n: int, /) -> None: ...
def set_local_num_threads(n: int, /) -> None: ...
def get_num_threads() -> int: ...
def get_local_num_threads() -> int: ...
def isa() -> str: ...
def best_isa() -> str: ...
def version() -> str: ...
