"""Two runs side by side for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.report.run_diff import Fact, RunDiff, RunDiffRow
from replaykit.report.text.table import safe, short
from replaykit.trajectory.plurals import counted

_MARKS = {"same": " ", "differs": "~", "removed": "-", "new": "+"}

_CONTEXT = 2
"""Steps alike that are shown around what differs."""


def run_diff_text(found: RunDiff) -> str:
    """Return the comparison of two runs as text, ending in a newline."""
    facts = [_fact(fact) for fact in found.facts]
    parts = [[_head(found)], list(_rows(found.rows)) if found.parts else [], facts]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _head(found: RunDiff) -> str:
    if found.before == found.after:
        return "the same recording"
    if not found.parts:
        return f"the same {counted(found.common, 'step')}"
    return f"the runs part after {counted(found.common, 'step')} alike"


def _rows(rows: tuple[RunDiffRow, ...]) -> Iterator[str]:
    near = {
        place + by
        for place, row in enumerate(rows)
        if row.mark != "same"
        for by in range(-_CONTEXT, _CONTEXT + 1)
    }
    skipped = False
    for place, row in enumerate(rows):
        if place in near:
            yield from _row(row)
        elif not skipped:
            yield "  ..."
        skipped = place not in near


def _row(row: RunDiffRow) -> Iterator[str]:
    numbers = [("-" if number is None else str(number)).rjust(3) for number in (row.before, row.after)]
    yield f"{_MARKS[row.mark]} {' '.join(numbers)}  {safe(short(row.line, 140))}"
    for fact in row.facts:
        change = f"{fact.what}: {fact.before or 'none'} -> {fact.after or 'none'}"
        yield f"             {safe(short(change, 180))}"


def _fact(fact: Fact) -> str:
    if fact.what == "task content":
        return "the tasks stored in the bundles differ"
    before, after = (
        "none" if value is None else repr(short(value, 120)) for value in (fact.before, fact.after)
    )
    return safe(f"{fact.what}: {before} -> {after}")
