"""What an installation holds: files beside the modules, the command, what it asks for."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gridwave
from gridwave.cli import main

try:
    DISTRIBUTION = importlib.metadata.distribution("gridwave")
except importlib.metadata.PackageNotFoundError:
    pytest.skip("gridwave is on the path, not installed", allow_module_level=True)


@pytest.mark.parametrize("file", ["py.typed", "_core.pyi", "bench/cells/sampling/grid_sample.toml"])
def test_files_beside_the_modules(file: str) -> None:
    assert importlib.resources.files("gridwave").joinpath(file).is_file()


def test_the_command() -> None:
    (entry,) = [e for e in DISTRIBUTION.entry_points if e.group == "console_scripts"]
    assert (entry.name, entry.load()) == ("gridwave", main)
    script = Path(sysconfig.get_path("scripts"), "gridwave")
    if not script.exists():
        pytest.skip("installed without scripts")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == gridwave.__version__


def test_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "gridwave", "config"], capture_output=True, text=True, check=True)
    assert gridwave.__version__ in done.stdout


def test_a_plain_installation_asks_for_no_framework() -> None:
    plain = [r for r in DISTRIBUTION.requires or [] if "extra ==" not in r]
    assert {r.split(">")[0].strip().replace("-", "_") for r in plain} == {
        "numpy", "ml_dtypes", "pillow", "matplotlib", "cyclopts", "rich"
    }  # fmt: skip


def test_metadata() -> None:
    assert DISTRIBUTION.version == gridwave.__version__
    assert DISTRIBUTION.metadata["License-Expression"] == "Apache-2.0"
    assert DISTRIBUTION.metadata["Requires-Python"] == ">=3.11"
    assert "grid_sample" in (DISTRIBUTION.metadata["Summary"] or "")
