"""Copy the recorded cases that the tests replay out of the full set of golden values.

    python tools/copy_golden.py FOLDER [tests/golden]

Takes every case that a convention claims (see ``replay/``), peers' refusals included, with the arrays it names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import replay.sampling
from replay.cases import Arrays, Case, load
from replay.registry import find

FAMILIES = (replay.sampling,)
"""Importing a family registers its claims."""


def is_claimed(case: Case, inputs: Arrays) -> bool:
    """Say whether gridwave answers a case."""
    try:
        find(case).twin(case, inputs)
    except NotImplementedError:
        return False
    return "unrepeatable" not in case.get("tags", ())


def copy(source: Path, target: Path) -> int:
    """Write ``cases.jsonl`` and one ``.npz`` for each of the source's, and return the number of cases."""
    lines: list[str] = []
    arrays: dict[str, dict[str, Any]] = {}
    stored = {path.name: np.load(path) for path in source.glob("*.npz")}
    for case, inputs, _ in load(source):
        if is_claimed(case, inputs):
            lines.append(json.dumps(case, separators=(",", ":")))
            for key in (*case.get("inputs", {}).values(), *case.get("outputs", {}).values()):
                arrays.setdefault(case["npz"], {})[key] = stored[case["npz"]][key]
    target.mkdir(parents=True, exist_ok=True)
    (target / "cases.jsonl").write_text("".join(line + "\n" for line in lines))
    for name, members in arrays.items():
        np.savez_compressed(target / name, **members)
    return len(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", type=Path, help="folder of the full set")
    parser.add_argument("target", type=Path, nargs="?", default=Path("tests/golden"), help="folder to write")
    options = parser.parse_args()
    print(f"{copy(options.source, options.target)} cases copied")
