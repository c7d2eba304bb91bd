"""A benchmark as Markdown, for the README."""

from __future__ import annotations

from gridwave.bench.records import CellRecord, Run
from gridwave.report import bench_words as words


def to_markdown(run: Run) -> str:
    """Return one table an operator and, below, where the numbers come from.

    A ratio is bold where its whole band is on one side of 1.
    """
    parts = []
    for _, records in words.by_operator(run):
        head = ["cell", "gridwave", "best peer", "ratio (band)", "aim", "of floor", ""]
        notes = any(words.note(record) for record in records)
        head += ["why"] if notes else []
        rows = [_row(record) + ([words.note(record)] if notes else []) for record in records]
        align = ["---", *["---:"] * 5, "---", *["---"] * notes]
        lines = [_line(head), _line(align), *(_line(row) for row in rows)]
        parts.append(f"#### {words.heading(records[0].cell)}\n\n" + "\n".join(lines))
    parts.append("\n".join(f"<sub>{line}</sub><br>" for line in words.provenance(run)))
    return "\n\n".join(parts) + "\n"


def _row(record: CellRecord) -> list[str]:
    best = next((arm for arm in record.arms if arm.name == record.best_peer), None)
    ratio = words.ratio(record.ratio)
    if record.ratio is not None and (record.ratio.low > 1 or record.ratio.high < 1):
        ratio = f"**{record.ratio.median:.2f}x** ({record.ratio.low:.2f} to {record.ratio.high:.2f})"
    verdict = words.verdict(record)
    return [
        words.title(record.cell),
        words.seconds(record.ours.seconds.median) if record.ours.seconds else "-",
        f"{best.name} {words.seconds(best.seconds.median)}" if best and best.seconds else "-",
        ratio,
        words.aims(record),
        f"{record.share_of_floor:.0%}" if record.share_of_floor is not None else "-",
        f"**{verdict}**" if verdict not in {"ok", "-"} else verdict,
    ]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
