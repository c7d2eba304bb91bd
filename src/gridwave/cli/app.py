"""The command ``gridwave``: its sub-commands, exit codes, and how errors are shown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import IntEnum

from cyclopts import App, CycloptsError

from gridwave import __version__
from gridwave.errors import ArgumentError, GridwaveError, ModeError


class ExitCode(IntEnum):
    """What the shell gets."""

    CLEAN = 0
    """Done, and nothing to report."""
    FINDINGS = 1
    """Done, and something was found: a lost cell, a difference."""
    USAGE = 2
    """The command line makes no sense."""
    COULD_NOT_RUN = 3
    """A file, a package or the machine did not allow it."""
    INTERRUPTED = 130
    """Stopped from the keyboard, as shells count it."""


app = App(
    name="gridwave",
    help="grid_sample and its gradients: right, fast, and as each framework does it.",
    help_epilogue="Exit codes: 0 clean, 1 findings, 2 bad usage, 3 could not run.",
    version=__version__,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
# Named by path, so that only the command that runs is imported.
app.command("gridwave.cli.bench:app", name="bench", help="Compare with the installed peers, cell by cell.")
app.command(
    "gridwave.cli.demo:demo",
    name="demo",
    help="Warp, rectify and register a picture, turn a volume; see it in a figure.",
)
app.command(
    "gridwave.cli.warp:warp",
    name="warp",
    help="Warp a picture file: each output pixel reads the input where a matrix or a flow says.",
)
app.command("gridwave.cli.config:config", name="config", help="Show what runs: version, instruction set, threads.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; see :class:`ExitCode`.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; ``sys.argv[1:]`` by default.
    """
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(tokens, exit_on_error=False, print_error=True)
    except CycloptsError:
        return ExitCode.USAGE
    except (GridwaveError, OSError, ImportError) as error:
        print(f"gridwave: error: {_one_line(error)}", file=sys.stderr)
        return ExitCode.USAGE if isinstance(error, (ArgumentError, ModeError)) else ExitCode.COULD_NOT_RUN
    except KeyboardInterrupt:
        print("gridwave: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    return code if isinstance(code, int) else ExitCode.CLEAN


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
