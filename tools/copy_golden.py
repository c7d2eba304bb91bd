"""Copy the recorded cases that the tests replay out of the full set of golden values.

    python tools/copy_golden.py FOLDER [tests/golden] [--peer PEER]

Takes every case that a convention claims (see ``replay/``), peers' refusals included, with the arrays it names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from replay.cases import Arrays, Case, load
from replay.registry import find


def is_claimed(case: Case, inputs: Arrays) -> bool:
    """Say whether gridwave answers a case."""
    try:
        find(case).twin(case, inputs)
    except NotImplementedError:
        return False
    return "unrepeatable" not in case.get("tags", ())


def copy(source: Path, target: Path, peer: str | None) -> int:
    """Write a folder for each peer, with ``cases.jsonl`` and an ``.npz``, and return the number of cases."""
    lines: dict[str, list[str]] = {}
    arrays: dict[tuple[str, str], dict[str, Any]] = {}
    stored = {path.name: np.load(path) for path in source.glob("*.npz")}
    for case, inputs, _ in load(source, peer=peer):
        if is_claimed(case, inputs):
            lines.setdefault(case["peer"], []).append(json.dumps(case, separators=(",", ":")))
            for key in (*case.get("inputs", {}).values(), *case.get("outputs", {}).values()):
                arrays.setdefault((case["peer"], case["npz"]), {})[key] = stored[case["npz"]][key]
    for name, members in lines.items():
        (target / name).mkdir(parents=True, exist_ok=True)
        (target / name / "cases.jsonl").write_text("".join(line + "\n" for line in members))
    for (name, file), contents in arrays.items():
        np.savez_compressed(target / name / file, **contents)
    return sum(map(len, lines.values()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("source", type=Path, help="folder of the full set")
    parser.add_argument("target", type=Path, nargs="?", default=Path("tests/golden"), help="folder to write")
    parser.add_argument("--peer", help="only this framework")
    options = parser.parse_args()
    print(f"{copy(options.source, options.target, options.peer)} cases copied")
