"""The command line: exit codes, one-line errors, lazy imports, a run from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gridwave._core", exc_type=ImportError)

import gridwave
from gridwave.cli import main
from gridwave.cli.app import ExitCode
from gridwave.errors import CoreError, FileFormatError

Capture = pytest.CaptureFixture[str]


def gridwave_process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gridwave", *arguments], capture_output=True, text=True, check=False)


def test_exit_codes_are_what_is_documented() -> None:
    assert {c.name: int(c) for c in ExitCode} == {
        "CLEAN": 0, "FINDINGS": 1, "USAGE": 2, "COULD_NOT_RUN": 3, "INTERRUPTED": 130
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"], ["--version"], ["bench", "--help"], ["bench", "sampling", "--help"], ["demo", "--help"], ["config"],
        ["bench", "sampling", "--list"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_clean(arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == ExitCode.CLEAN
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"], ["--nonsense"], ["bench", "nonsense"], ["bench", "sampling", "--nonsense"], ["config", "extra"],
        ["bench", "sampling", "--budget", "soon"], ["bench", "sampling", "--budget", "0"],
        ["bench", "sampling", "--heap", "cold"], ["bench", "sampling", "--rounds", "3"],
        ["bench", "sampling", "--filter", "no such cell"], ["bench", "sampling", "--threads", "77"],
        ["bench", "sampling", "--plot", "ratios.xyz"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_usage(arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == ExitCode.USAGE
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [CoreError("out of\nmemory"), FileFormatError("no picture"), FileNotFoundError("gone"), ImportError("gone")],
)
def test_failures_are_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def fail() -> Any:
        raise error

    monkeypatch.setattr(gridwave, "show_config", fail)
    assert main(["config"]) == ExitCode.COULD_NOT_RUN
    captured = capsys.readouterr().err
    assert captured == f"gridwave: error: {' '.join(str(error).split())}\n"


def test_interrupt(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def fail() -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(gridwave, "show_config", fail)
    assert main(["config"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "gridwave: interrupted\n"


def test_missing_folder_is_found_before_measuring(capsys: Capture, tmp_path: Path) -> None:
    code = main(["bench", "sampling", "--filter", "tiny", "--json", str(tmp_path / "no" / "such.json")])
    assert code == ExitCode.COULD_NOT_RUN
    assert "folder" in capsys.readouterr().err


def test_config_shows_what_runs(capsys: Capture) -> None:
    assert main(["config"]) == ExitCode.CLEAN
    shown = capsys.readouterr().out
    assert all(name in shown for name in gridwave.show_config())


def test_help_imports_nothing_heavy() -> None:
    heavy = "('torch', 'onnx', 'onnxruntime', 'openvino', 'cv2', 'matplotlib', 'scipy', 'PIL', 'gridwave.bench')"
    code = (
        "import sys; from gridwave.cli import main; code = main(['--help']);"
        f"print(code, [m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_as_a_process() -> None:
    assert gridwave_process("--help").returncode == 0
    done = gridwave_process("bench", "sampling", "--nonsense")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_bench_sampling_from_end_to_end(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("records.json", "table.md", "ratios.png")]
    options = [str(part) for pair in zip(("--json", "--markdown", "--plot"), files, strict=True) for part in pair]
    done = gridwave_process("bench", "sampling", "--filter", "tiny", "--quick", *options)
    assert done.returncode in {0, 1}, done.stderr
    assert "tiny 4x4" in done.stdout
    document = json.loads(files[0].read_text())
    (cell,) = document["cells"]
    ours = next(a for a in cell["arms"] if a["role"] == "ours")
    assert ours["status"] == "ok"
    assert ours["check"]["passed"]
    assert done.returncode == (1 if cell["lost"] else 0)
    assert document["provenance"]["isa"] == gridwave.show_config()["isa"]
    assert files[1].read_text().startswith("#### ")
    assert files[2].stat().st_size > 1000
