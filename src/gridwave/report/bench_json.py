"""A benchmark as JSON: every record, and flat rows in Liger-Kernel's columns for plotting elsewhere."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from gridwave.bench.records import ArmRecord, CellRecord, Run

SCHEMA = 1
"""Goes up when a field changes its meaning or leaves."""


def to_json(run: Run) -> str:
    """Return ``run`` as a JSON document with the keys schema, suite, provenance, bandwidths, cells, rows."""
    cells = [_cell(record) for record in run.cells]
    document = {
        "schema": SCHEMA,
        "suite": run.suite,
        "provenance": {**asdict(run.provenance), "versions": dict(run.provenance.versions)},
        "bandwidths": [asdict(b) for b in run.bandwidths],
        "cells": cells,
        "rows": rows(run),
    }
    return json.dumps(document, indent=1, allow_nan=False, default=str) + "\n"


def rows(run: Run) -> list[dict[str, Any]]:
    """Return one flat row for each arm with times, in the columns of Liger-Kernel's benchmark CSV."""
    return [_row(run, record, arm) for record in run.cells for arm in record.arms if arm.seconds is not None]


def _cell(record: CellRecord) -> dict[str, Any]:
    shown = asdict(record)
    for arm in shown["arms"]:
        if arm["check"] is not None and arm["check"]["worst"] == float("inf"):
            arm["check"]["worst"] = None  # JSON has no infinity
    return {"id": record.cell.id, "lost": record.lost, **shown}


def _row(run: Run, record: CellRecord, arm: ArmRecord) -> dict[str, Any]:
    assert arm.seconds is not None
    cell = record.cell
    config = {
        "mode": cell.mode, "padding": cell.padding, "layout": cell.layout, "dtype": cell.dtype, "grid": cell.grid,
        "threads": arm.threads, "outputs": arm.outputs, "status": arm.status, "heap": run.provenance.heap,
    }  # fmt: skip
    return {
        "kernel_name": "grid_sample",
        "kernel_provider": arm.name,
        "kernel_operation_mode": cell.direction,
        "metric_name": "time",
        "metric_unit": "ms",
        "x_name": "cell",
        "x_label": "cell",
        "x_value": cell.id,
        "y_value_50": arm.seconds.median * 1e3,
        "y_value_20": arm.seconds.low * 1e3,
        "y_value_80": arm.seconds.high * 1e3,
        "extra_benchmark_config_str": json.dumps(config),
        "device_name": run.provenance.cpu,
        "timestamp": run.provenance.timestamp,
        "provider_version": arm.version,
    }
