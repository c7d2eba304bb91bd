"""``gridwave config``."""

from __future__ import annotations

from gridwave.cli.app import ExitCode


def config() -> int:
    """Show what runs: version, the instruction set in use and the best of this CPU, threads."""
    import gridwave

    shown = gridwave.show_config()
    width = max(map(len, shown))
    for name, value in shown.items():
        print(f"{name:<{width}}  {value}")
    return ExitCode.CLEAN
