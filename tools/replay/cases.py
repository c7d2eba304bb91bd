"""Reading folders of recorded cases: ``cases.jsonl`` and the ``.npz`` files that it names.

A folder holds a ``cases.jsonl``, or one subfolder with its own for each peer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Case = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def load(folder: Path, op: str | None = None, peer: str | None = None) -> Iterator[tuple[Case, Arrays, Arrays]]:
    """Yield (case, inputs, outputs) of a folder or of its subfolders; arrays recorded as bfloat16 come as float32."""
    inner = sorted(path.parent for path in folder.glob("*/cases.jsonl"))
    for one in inner if inner else [folder]:
        yield from _load(one, op, peer)


def _load(folder: Path, op: str | None, peer: str | None) -> Iterator[tuple[Case, Arrays, Arrays]]:
    files: dict[str, Any] = {}
    with (folder / "cases.jsonl").open() as lines:
        for line in lines:
            case = json.loads(line)
            if (op and case["op"] != op) or (peer and case["peer"] != peer):
                continue
            if case["npz"] not in files:
                files[case["npz"]] = np.load(folder / case["npz"])
            stored = files[case["npz"]]
            yield case, _arrays(case, "inputs", stored), _arrays(case, "outputs", stored)


def narrow(case: Case, arrays: Arrays) -> Arrays:
    """Return ``arrays`` with those that were recorded as bfloat16 in that type again."""
    kinds = case.get("array_dtypes", {})
    return {k: v.astype(ml_dtypes.bfloat16) if kinds.get(k) == "bfloat16" else v for k, v in arrays.items()}


def widen(arrays: Arrays) -> Arrays:
    """Return ``arrays`` with bfloat16 ones as float32, which is how cases are loaded."""
    return {k: v.astype(np.float32) if v.dtype == ml_dtypes.bfloat16 else v for k, v in arrays.items()}


def epsilon(case: Case, name: str, array: NDArray[Any]) -> float:
    """Return the spacing of 1 in the type in which the output ``name`` was recorded."""
    if case.get("array_dtypes", {}).get(name) == "bfloat16":
        return float(ml_dtypes.finfo(ml_dtypes.bfloat16).eps)
    return float(np.finfo(array.dtype).eps)


def _arrays(case: Case, which: str, stored: Any) -> Arrays:
    kinds = case.get("array_dtypes", {})
    return {
        name: (stored[key].astype(np.uint32) << 16).view(np.float32) if name in kinds else stored[key]
        for name, key in case.get(which, {}).items()
    }
