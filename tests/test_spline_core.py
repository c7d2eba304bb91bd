"""Core's splines, before they have a public name: what interpolation must do whatever the boundary."""

import numpy as np
import pytest

from gridwave import _core

FLOAT64 = 1
BOUNDARIES = range(7)


def spec(order: int, boundary: int, *, prefilter: int = 1, diagonal: int = 0) -> _core.SplineSpec:
    return _core.SplineSpec(order, boundary, 0, prefilter, 0, 0, 0, diagonal, 0.0)


def sample(x, coordinates, *codes, **named):
    out = np.empty(coordinates.shape[1])
    _core.map_coordinates(spec(*codes, **named), x, FLOAT64, coordinates, FLOAT64, out, FLOAT64)
    return out


@pytest.mark.parametrize("shape", [(9,), (7, 6), (1, 5), (40, 33), (5, 4, 6), (3, 4, 2, 5), (3, 3, 2, 2, 3)])
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("order", range(6))
def test_samples_are_met(order: int, boundary: int, shape: tuple[int, ...]) -> None:
    """At the samples' own places the result is the samples; a filter with a wrong beginning or gain misses them."""
    x = np.random.default_rng(0).random(shape)
    places = np.indices(shape, dtype=np.float64).reshape(len(shape), -1)
    # Filtering divides by the smallest value of the B-spline's spectrum, 0.133 of order 5, along each axis.
    bound = 64 * np.finfo(float).eps * 7.5 ** len(shape) if order > 1 else 0.0
    assert np.abs(sample(x, places, order, boundary) - x.ravel()).max() <= bound


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("order", range(6))
def test_affine_map_is_the_map_at_its_coordinates(order: int, boundary: int) -> None:
    x = np.random.default_rng(1).random((11, 200))
    matrix = np.array([[0.9, 0.01, -1.3], [-0.2, 1.1, 2.25]])
    out = np.empty((13, 150))
    _core.map_affine(spec(order, boundary), x, FLOAT64, matrix, out, FLOAT64)
    i, j = np.indices(out.shape, dtype=np.float64)
    at = np.stack([(m[2] + m[0] * i + m[1] * j).ravel() for m in matrix])
    np.testing.assert_array_equal(out.ravel(), sample(x, at, order, boundary))


def test_not_a_number_and_infinity_give_cval() -> None:
    at = np.array([[np.nan, np.inf, -np.inf, 1e300]])
    out = np.empty(4)
    for order in range(6):
        _core.map_coordinates(
            _core.SplineSpec(order, 2, 0, 1, 0, 0, 0, 0, 7.0), np.arange(9.0), FLOAT64, at, FLOAT64, out, FLOAT64
        )
        assert out.tolist() == [7.0] * 4
