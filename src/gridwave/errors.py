"""Every exception gridwave raises.

::

    GridwaveError
    ├── ShapeError      (ValueError)  a rank, a length or an array's memory does not fit the others
    ├── ModeError       (ValueError)  a name is not one of a mode's choices
    ├── DTypeError      (TypeError)   a dtype, or a mix of dtypes, that the operator does not take
    ├── ArgumentError   (ValueError)  any other value that breaks a rule
    ├── UnsupportedError(ValueError)  well formed, but this operator or convention does not have it
    ├── FileFormatError (ValueError)  a file from outside that is not what it says it is
    └── CoreError       (RuntimeError) the compiled core failed: out of memory, or a bug to report

Each message names the argument, the rule, what came, and what to do.
"""

from __future__ import annotations


class GridwaveError(Exception):
    """Root of every error that gridwave raises."""


class ShapeError(GridwaveError, ValueError):
    """A rank, a length or an array's memory does not fit the others."""


class ModeError(GridwaveError, ValueError):
    """A name is not one of a mode's choices."""


class DTypeError(GridwaveError, TypeError):
    """A dtype, or a mix of dtypes, that the operator does not take."""


class ArgumentError(GridwaveError, ValueError):
    """A value that breaks a rule of its argument."""


class UnsupportedError(GridwaveError, ValueError):
    """Well formed, but this operator or convention does not have it."""


class FileFormatError(GridwaveError, ValueError):
    """A file from outside is not what it says it is."""


class CoreError(GridwaveError, RuntimeError):
    """The compiled core failed: out of memory, or a bug to report."""
