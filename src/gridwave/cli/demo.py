"""``gridwave demo``."""

from __future__ import annotations

from pathlib import Path

from gridwave.cli.app import ExitCode


def demo(image: Path | None = None, *, output: Path = Path("gridwave-demo.png")) -> int:
    """Warp, rectify and register a picture, turn a volume, and show each step in one figure.

    Parameters
    ----------
    image
        A picture of your own; by default one that comes with the package.
    output
        The figure to write.
    """
    from gridwave.demo import run

    written = run(image, output, progress=print)
    print(f"wrote {written}")
    return ExitCode.CLEAN
