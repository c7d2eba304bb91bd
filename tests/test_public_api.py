"""What is public is listed, documented, and does what its own examples say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import itertools
import pkgutil
import re
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

import gridwave as gw
from gridwave import conventions, modes, reference, sampling
from gridwave.modes import Layout, PaddingMode, SamplingMode

FUNCTIONS = [name for name in gw.__all__ if inspect.isfunction(getattr(gw, name))]
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(gw.__path__, "gridwave.") if not m.name.endswith(("._core", "__main__"))
)
NO_ARGUMENTS_THAT_CAN_BE_WRONG = {"get_num_threads", "show_config"}


def test_all_is_complete() -> None:
    public = {name for name, value in vars(gw).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public - {"annotations"} <= {*gw.__all__, "threads"}
    assert all(hasattr(gw, name) for name in gw.__all__)
    assert gw.__all__ == sorted(gw.__all__)
    assert callable(gw.threads)  # the function hides the module of its name


@pytest.mark.parametrize("module", ["gridwave", "gridwave.sampling", "gridwave.threads"])
def test_star_import(module: str) -> None:
    names: dict[str, Any] = {}
    exec(f"from {module} import *", names)
    assert set(importlib.import_module(module).__all__) <= set(names)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports_and_says_what_it_is(name: str) -> None:
    if name.startswith("gridwave.bench.arms."):
        return  # arms import their library
    assert (importlib.import_module(name).__doc__ or "").strip()


def sections(text: str) -> dict[str, str]:
    """Return numpydoc's sections by their names."""
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_documented(name: str) -> None:
    function = getattr(gw, name)
    text = inspect.getdoc(function) or ""
    found, parameters = sections(text), inspect.signature(function).parameters
    assert text.splitlines()[0].endswith((".", ":"))
    for parameter, value in parameters.items():
        assert re.search(rf"(^|\W){parameter}\W", found.get("Parameters", "") or text), parameter
        assert value.annotation is not inspect.Parameter.empty
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty
    if function.__module__.startswith("gridwave.sampling."):
        assert {"Parameters", "Returns", "Raises"} <= set(found)


@pytest.mark.parametrize("name", ["grid_sample", "grid_sample_backward", "grid_sample_double_backward", "affine_grid"])
def test_operators_have_notes_and_examples(name: str) -> None:
    found = sections(inspect.getdoc(getattr(gw, name)) or "")
    assert {"Notes", "Examples"} <= set(found)
    assert "ame as" in found["Notes"]  # the same call elsewhere


OPERATORS = [f"gridwave.sampling.{m.name}" for m in pkgutil.iter_modules(sampling.__path__) if m.name[0] != "_"]


@pytest.mark.parametrize("name", [*OPERATORS, "gridwave.threads"])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def test_defaults_and_keywords() -> None:
    x = inspect.signature(gw.grid_sample).parameters
    assert [(p, x[p].default) for p in ("mode", "padding_mode", "align_corners", "layout", "out")] == [
        ("mode", "bilinear"), ("padding_mode", "zeros"), ("align_corners", False), ("layout", "NCHW"), ("out", None)
    ]  # fmt: skip
    assert x["layout"].kind is x["out"].kind is inspect.Parameter.KEYWORD_ONLY


# ------------------------------------------------------------------------- every choice of every mode does something


LITERALS = {name: get_args(value) for name, value in vars(modes).items() if get_args(value) and name[0].isupper()}


def test_every_literal_is_known_here() -> None:
    operators = {"SamplingMode", "PaddingMode", "Layout", "GradientTarget", "DoubleGradientTarget"}
    operators |= {"RemapMode", "BorderMode", "FillMode", "PillowMethod"}
    # Of a convention; those of gradients and of rounding are in test_like_frameworks.py.
    fields = {kind for kind, _, _ in FIELDS.values()} | {"BorderSlope", "Unnormalise"}
    assert set(LITERALS) == operators | fields | {"Singleton"}


@pytest.mark.parametrize(
    ("mode", "padding_mode"), list(itertools.product(get_args(SamplingMode), get_args(PaddingMode)))
)
@pytest.mark.parametrize("layout", get_args(Layout))
@pytest.mark.parametrize("align_corners", [False, True])
def test_every_mode_equals_the_twin(mode: Any, padding_mode: Any, layout: Any, align_corners: bool) -> None:
    rng = np.random.default_rng(1)
    x, grid = rng.standard_normal((2, 3, 6, 7)), rng.uniform(-1.5, 1.5, (2, 4, 5, 2))
    spec = replace(conventions.torch.GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=align_corners)
    given = x if layout == "NCHW" else x.transpose(0, 2, 3, 1)
    got = gw.grid_sample(given, grid, mode, padding_mode, align_corners, layout=layout)
    got = got if layout == "NCHW" else got.transpose(0, 3, 1, 2)
    want, weighed = reference.grid_sample(x, grid, spec), reference.grid_sample(x, grid, spec, absolute=True)
    assert (np.abs(got - want) <= 64 * np.finfo(float).eps * (weighed + np.abs(x).max())).all()


FIELDS = {
    "nearest_rounding": ("NearestRounding", "nearest", "zeros"),
    "pad_order": ("PadOrder", "nearest", "reflection"),
    "cubic_padding": ("CubicPadding", "bicubic", "border"),
    "nonfinite": ("NonFinite", "bilinear", "zeros"),
    "reflection": ("Reflection", "bilinear", "reflection"),
}
"""A field of a convention, its Literal, and a mode and padding for which its choices differ."""


@pytest.mark.parametrize(("field", "choice"), [(f, c) for f, (kind, *_) in FIELDS.items() for c in LITERALS[kind]])
def test_every_choice_of_a_convention_equals_the_twin_and_differs_from_the_others(field: str, choice: str) -> None:
    x = np.arange(1.0, 9)[None, None, None].repeat(3, axis=2)
    p = np.array([-17.25, -2.5, -1.5, -0.75, -0.5, 0.5, 1.5, 2.5, 6.5, 7.25, 7.5, 8.5, 9.5, 17.75, np.nan, np.inf])
    grid = np.stack([(2 * p + 1) / 8 - 1, np.zeros_like(p)], axis=-1)[None, None]
    kind, mode, padding_mode = FIELDS[field]
    spec = replace(conventions.torch.GRID_SAMPLE, mode=mode, padding_mode=padding_mode, align_corners=False)
    results = {}
    for each in LITERALS[kind]:
        varied = replace(spec, **{field: each})
        results[each] = sampling.sample(varied, x, grid)[0, 0, 0]
        np.testing.assert_allclose(
            results[each], reference.grid_sample(x, grid, varied)[0, 0, 0], rtol=1e-14, atol=1e-14
        )
    assert all((results[choice] != other).any() for each, other in results.items() if each != choice)


def test_every_gradient_target() -> None:
    x, grid = np.ones((1, 1, 3, 3)), np.zeros((1, 2, 2, 2))
    for target in get_args(modes.GradientTarget):
        both = gw.grid_sample_backward(np.ones((1, 1, 2, 2)), x, grid, wrt=(target,))
        assert [g is not None for g in both] == [target == "x", target == "grid"]


def test_every_second_gradient_target() -> None:
    x, grid, go = np.ones((1, 1, 3, 3)), np.zeros((1, 2, 2, 2)), np.ones((1, 1, 2, 2))
    for target in get_args(modes.DoubleGradientTarget):
        three = gw.grid_sample_double_backward(x, grid, go, x, grid, wrt=(target,))
        assert [g is not None for g in three] == [target == "grad_output", target == "x", target == "grid"]


def test_number_of_threads() -> None:
    before = gw.get_num_threads()
    with gw.threads(3):
        assert gw.get_num_threads() == 3
    gw.set_num_threads(2)
    assert gw.get_num_threads() == 2
    gw.set_num_threads(None)
    assert gw.get_num_threads() == before
    for bad in (0, -1, 1025, 1.5, "2", True, None):
        with pytest.raises(ValueError, match="number of threads from 1 to 1024"), gw.threads(bad):  # type: ignore[arg-type]
            pass
    with pytest.raises(ValueError, match="number of threads from 1 to 1024"):
        gw.set_num_threads(0)


def test_version_is_written_the_same_everywhere() -> None:
    import importlib.metadata

    assert gw.__version__ == gw.show_config()["version"]
    try:
        assert importlib.metadata.version("gridwave") == gw.__version__
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("gridwave is on the path, not installed")
