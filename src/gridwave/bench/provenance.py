"""Where, when and with what numbers are taken."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from gridwave.bench.records import Provenance


def gather(versions: Mapping[str, str], heap: str, method: str) -> Provenance:
    """Describe this machine and process.

    Parameters
    ----------
    versions : mapping
        Version of each arm.
    heap, method : str
        How the run treats memory, and how it measures, in words.
    """
    everything = {"numpy": np.__version__, **versions}
    return Provenance(
        timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
        cpu=cpu_model(),
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        isa=isa(),
        os=platform.platform(terse=True),
        python=platform.python_version(),
        versions=tuple(sorted(everything.items())),
        commit=commit(),
        heap=heap,
        method=method,
    )


def cpu_model() -> str:
    """Return the CPU's name, as the system knows it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def isa() -> str:
    """Return the instruction set that gridwave's kernels use, or an empty string without the compiled core."""
    try:
        return str(importlib.import_module("gridwave").show_config()["isa"])
    except ImportError:
        return ""


def commit() -> str:
    """Return the git commit that this package lies in, with ``+`` if files changed since, or an empty string."""
    here = Path(__file__).parent
    try:
        head = _git(here, "rev-parse", "--short=12", "HEAD")
        return head + ("+" if _git(here, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(here: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(here), *arguments], capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()
