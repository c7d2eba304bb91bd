"""Comparing gridwave with what else is installed: frozen cells, arms in turns, ratios with bands, a bandwidth floor.

Nothing here prints; :mod:`gridwave.report` shows what :func:`run` returns.
"""

from gridwave.bench.cells import Cell as Cell
from gridwave.bench.cells import Suite as Suite
from gridwave.bench.cells import suite as suite
from gridwave.bench.records import CellRecord as CellRecord
from gridwave.bench.records import Run as Run
from gridwave.bench.runner import Options as Options
from gridwave.bench.runner import run as run
