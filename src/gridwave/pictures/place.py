"""Where a result is written: found out before the work, and never left there by half."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from gridwave.errors import ArgumentError


def check_writable(output: Path, suffixes: Collection[str], inputs: Collection[Path], what: str) -> None:
    """Raise now rather than after the work if ``output`` cannot be written.

    Parameters
    ----------
    output : Path
        The file to write.
    suffixes : collection of str
        What it may end in, in lower case.
    inputs : collection of Path
        Files it must not be.
    what : str
        What the inputs are called in messages.

    Raises
    ------
    ArgumentError
        If the suffix is not known, the place is a folder or one of the inputs, or permission is missing.
    """
    if output.suffix.lower() not in suffixes:
        raise ArgumentError(f"output must end in one of {', '.join(suffixes)}; got {output}")
    if output.is_dir():
        raise ArgumentError(f"output must be a file; {output} is a folder")
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise ArgumentError(f"output must not be {what} itself; both are {output}")
    part = _part(output)
    try:
        part.open("xb").close()
        part.unlink()
        if output.exists() and not os.access(output, os.W_OK):
            raise PermissionError("the file there may not be replaced")
    except OSError as error:
        raise _unwritable(output, error) from error


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """Give a file beside ``output`` to write, which takes its place when that has gone well."""
    part = _part(output)
    try:
        yield part
        part.replace(output.resolve())
    except OSError as error:
        raise _unwritable(output, error) from error
    finally:
        part.unlink(missing_ok=True)


def _unwritable(output: Path, error: OSError) -> ArgumentError:
    return ArgumentError(f"output must be a place that can be written; {output}: {error.strerror or error}")


def _part(output: Path) -> Path:
    target = output.resolve()
    return target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
