"""Two gradings in one file: their runs, the earlier verdict of each, and what changed between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from replaykit.grading.verdict import Report, Verdict
from replaykit.report.html.bounded_text import line, without_empty
from replaykit.report.reasons import SECTIONS, reason_words
from replaykit.report.report_diff import Comparison, Pair, ResultChange, compare, difference
from replaykit.report.verdict_pairs import matched

CHANGES_MAX = 200
"""Changes of one pair that are listed."""


class Linked(NamedTuple):
    """A pair that differs, and where its runs are."""

    pair: Pair
    """The pair that differs."""
    before: int
    """Place of the earlier run; that of the later one where they are the same run."""
    after: int
    """Place of the later run."""


class Gradings(Struct, frozen=True, kw_only=True):
    """The runs of a file, by place."""

    verdicts: Sequence[Verdict]
    """Those of the report, then those of runs that only the earlier report has, or has another run for."""
    earlier: Mapping[int, Verdict] = {}
    """The earlier verdict of the same run, where it differs."""
    pairs: Sequence[Linked] = ()
    """Pairs that differ, by task."""
    new: Sequence[int] = ()
    """Runs that the earlier report lacks."""
    removed: Sequence[int] = ()
    """Runs that the later report lacks."""
    flow: Mapping[str, int] = {}
    """How many pairs went from which success to which: `PASS FAIL`."""
    comparison: Comparison | None = None
    """Comparison of the reports; None = one report."""

    def differing(self) -> frozenset[int]:
        """Return the runs of pairs that differ."""
        return frozenset(place for linked in self.pairs for place in (linked.before, linked.after))


def gradings(before: Report | None, report: Report) -> Gradings:
    """Return the runs of one report, or of two."""
    if before is None:
        return Gradings(verdicts=report.verdicts)
    verdicts, earlier, pairs = list(report.verdicts), dict[int, Verdict](), list[Linked]()
    new: list[int] = []
    removed: list[int] = []
    flow: Counter[str] = Counter()
    for ours, theirs in matched(before, report):
        was = None if ours is None else before.verdicts[ours]
        if was is None:
            new += [] if theirs is None else [theirs]
        elif theirs is None:
            removed.append(len(verdicts))
            verdicts.append(was)
        else:
            flow[f"{_success(was)} {_success(report.verdicts[theirs])}"] += 1
            _link(was, theirs, verdicts, earlier, pairs)
    return Gradings(
        verdicts=verdicts,
        earlier=earlier,
        pairs=pairs,
        new=new,
        removed=removed,
        flow=dict(sorted(flow.items())),
        comparison=compare(before, report),
    )


def changes(before: Report, report: Report, found: Gradings, ids: Sequence[str]) -> dict[str, Any]:
    """Return what lies between the reports as data of the first screen; `ids` name the runs, by place."""
    comparison = found.comparison or compare(before, report)
    return {
        "before": line(before.label) or "before",
        "after": line(report.label) or "after",
        "pairs": [_pair_data(linked, ids) for linked in found.pairs],
        "same": comparison.same,
        "new": [ids[place] for place in found.new],
        "removed": [ids[place] for place in found.removed],
        "flow": dict(found.flow),
        "rates": to_builtins(comparison.rates),
    }


def _link(
    was: Verdict, place: int, verdicts: list[Verdict], earlier: dict[int, Verdict], pairs: list[Linked]
) -> None:
    pair = difference(was, verdicts[place])
    if pair is None:
        return
    if was.trajectory == verdicts[place].trajectory:
        earlier[place] = was
        pairs.append(Linked(pair, place, place))
    else:
        pairs.append(Linked(pair, len(verdicts), place))
        verdicts.append(was)


def _pair_data(linked: Linked, ids: Sequence[str]) -> dict[str, Any]:
    pair = linked.pair
    rows = [[line(c.what), c.before, c.after, line(_reason(c))] for c in pair.changes[:CHANGES_MAX]]
    return without_empty(
        {
            "kind": pair.kind,
            "before": ids[linked.before],
            "after": ids[linked.after],
            "changes": rows,
            "more": max(0, len(pair.changes) - CHANGES_MAX) or None,
            "why": [line(cause) for cause in pair.why],
        }
    )


def _success(verdict: Verdict) -> str:
    return "ERROR" if verdict.error is not None else str(verdict.success or "none")


def _reason(change: ResultChange) -> str | None:
    """Return the reason of what became of a result as a sentence; the word itself where none is known."""
    kind = change.what.partition(" ")[0]
    known = reason_words(kind, change.reason) if change.reason and kind in SECTIONS else ""
    return known or change.reason
