"""Two runs side by side, as data of the first screen: steps in rows, what differs in them and in the runs.

Own module: it makes plain data of a `RunDiff`; `run_diff_file.py` writes files and knows nothing of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any

import msgspec

from replaykit.report.html.bounded_text import STEPS_MAX, any_value, bounded, line
from replaykit.report.run_diff import Fact, RunDiff, RunDiffRow

_PARTS = {"task content": "task", "agent": "agent"}
"""Facts that are JSON objects, to the word before the names of their fields."""


def sides(found: RunDiff, ids: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Return two runs side by side; `ids` name them in links, `names` for people.

    Rows are `[mark, before, after, facts]`: mark `same differs removed new apart`, two steps or null, and
    `[what, before, after]` each. `apart`: a step that only one run has beside one that only the other has.
    """
    rows = list(_side_by_side(found.rows))
    return {
        "before": ids[0],
        "after": ids[1],
        "names": [line(name) for name in names],
        "is_same": found.before == found.after,
        "common": found.common,
        "rows": rows[:STEPS_MAX],
        "more": max(0, len(rows) - STEPS_MAX),
        "facts": list(_facts(found.facts)),
    }


def _side_by_side(rows: Iterable[RunDiffRow]) -> Iterator[list[Any]]:
    """Yield rows; what one run has stands beside what the other has in its place."""
    for in_one, block in groupby(rows, key=lambda row: row.mark in ("removed", "new")):
        if not in_one:
            yield from (
                [row.mark, row.before, row.after, [_fact_row(fact) for fact in row.facts]] for row in block
            )
            continue
        found = list(block)
        ours = [row.before for row in found if row.mark == "removed"]
        theirs = [row.after for row in found if row.mark == "new"]
        for before, after in zip_longest(ours, theirs):
            yield ["new" if before is None else "removed" if after is None else "apart", before, after, []]


def _facts(facts: Iterable[Fact]) -> Iterator[list[str | None]]:
    for fact in facts:
        if fact.what in _PARTS and fact.before is not None and fact.after is not None:
            yield from _fields(_PARTS[fact.what], fact.before, fact.after)
        else:
            yield [fact.what, bounded(fact.before), bounded(fact.after)]


def _fields(of: str, before: str, after: str) -> Iterator[list[str | None]]:
    """Yield which fields of two JSON objects differ; the name of a task is a fact of its own."""
    ours, theirs = msgspec.json.decode(before), msgspec.json.decode(after)
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name) and (of, name) != ("task", "id"):
            yield [f"{of} {line(name)}", any_value(ours.get(name)), any_value(theirs.get(name))]


def _fact_row(fact: Fact) -> list[str | None]:
    return [fact.what, line(fact.before), line(fact.after)]
