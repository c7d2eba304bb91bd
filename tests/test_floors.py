"""The floors of CONTRIBUTING.md, and what the quick imports leave alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gridwave

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(gridwave.__file__).parent
HEAVY = (
    "onnx",
    "onnxruntime",
    "torch",
    "jax",
    "matplotlib",
    "scipy",
    "PIL",
    "cv2",
    "openvino",
    "rich",
    "cyclopts",
    "tomllib",
)


def run(code: str) -> list[str]:
    """Run ``code`` in a new interpreter and return the lines it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def loaded(code: str, names: tuple[str, ...]) -> list[str]:
    return run(f"{code}\nimport sys; print(*[m for m in {names!r} if m in sys.modules])")[-1].split()


def test_imports_go_downwards() -> None:
    pytest.importorskip("importlinter")
    lint = "import sys; from importlinter.cli import lint_imports_command; sys.argv[1:] = []; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def importers_of(name: str) -> set[str]:
    """Return the package's files that import ``gridwave.name``; the linter sees Python alone, so not ``_core``."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            from_package = isinstance(node, ast.ImportFrom) and node.module == "gridwave"
            names = [a.name for a in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            module = node.module if isinstance(node, ast.ImportFrom) else None
            if (from_package and name in names) or f"gridwave.{name}" in [module, *names]:
                found.add(path.relative_to(PACKAGE).as_posix())
    return found


def test_only_the_operators_call_the_core() -> None:
    outside = {path for path in importers_of("_core") if not path.startswith("sampling/")}
    assert outside == {"threads.py"}


def test_the_twin_needs_no_core() -> None:
    # The package itself imports the core, so its parts are loaded under an empty one.
    code = f"""
import sys, types
sys.modules["gridwave._core"] = None
sys.modules["gridwave"] = package = types.ModuleType("gridwave")
package.__path__ = [{str(PACKAGE)!r}]
from gridwave import conventions, reference
print(reference.grid_sample.__name__)
"""
    assert run(code) == ["grid_sample"]


def test_import_is_quick() -> None:
    assert loaded("import gridwave", HEAVY) == []
    assert loaded("import gridwave.like, gridwave.conventions", HEAVY) == []


def test_import_starts_no_thread() -> None:
    assert run("import gridwave, os; print(len(os.listdir('/proc/self/task')))") == run(
        "import numpy, ml_dtypes, os; print(len(os.listdir('/proc/self/task')))"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["config"]], ids=" ".join)
def test_the_command_line_is_quick(arguments: list[str]) -> None:
    heavy = tuple(name for name in HEAVY if name not in {"rich", "cyclopts"})
    code = f"from gridwave.cli import main; main({arguments!r})"
    assert loaded(code, (*heavy, "gridwave.bench", "gridwave.demo", "gridwave.report", "gridwave.like")) == []
