"""Comparisons for a terminal: what was lost first, then what was won, then what moved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replaykit.report.report_diff import Comparison, Kind, Pair, Rate, ResultChange
from replaykit.report.text.table import safe, table

_KINDS: tuple[Kind, ...] = ("regressed", "fixed", "changed")


def comparison_text(found: Comparison) -> str:
    """Return a comparison as text, ending in a newline."""
    remarks = [f"remark: {safe(remark)}" for remark in found.remarks]
    parts = [
        [_head(found), *remarks],
        *_pairs(found),
        _listed("new", found.new),
        _listed("removed", found.removed),
    ]
    return "\n\n".join("\n".join(part) for part in [*parts, _rates(found.rates)] if part) + "\n"


def _head(found: Comparison) -> str:
    counts = [f"{found.count(kind)} {kind}" for kind in _KINDS]
    counts += [f"{len(found.new)} new", f"{len(found.removed)} removed", f"{found.same} the same"]
    return ", ".join(counts)


def _pairs(found: Comparison) -> Iterator[list[str]]:
    for kind in _KINDS:
        for pair in found.pairs:
            if pair.kind == kind:
                yield [f"== {kind}: {_title(pair)}", *_changes(pair), f"  {_why(pair)}"]


def _title(pair: Pair) -> str:
    """Return the task, with the bundle where it is called otherwise: a task may have several runs."""
    is_task = pair.run is None or pair.run == pair.task_id
    return safe(pair.task_id if is_task else f"{pair.task_id} ({pair.run})")


def _changes(pair: Pair) -> Iterator[str]:
    for change in pair.changes:
        reason = f" ({safe(change.reason)})" if change.reason else ""
        yield f"  {safe(change.what)}: {_outcomes(change)}{reason}"


def _outcomes(change: ResultChange) -> str:
    return f"{change.before or 'not there'} -> {change.after or 'not there'}"


def _why(pair: Pair) -> str:
    if not pair.why:
        return "why: nothing that the reports name differs: other options, or another release of replaykit"
    runs = f" ({_short(pair.before)} -> {_short(pair.after)})" if "trajectory" in pair.why else ""
    return safe(f"differs: {', '.join(pair.why)}{runs}")


def _short(digest: str | None) -> str:
    return "unreadable" if digest is None else digest.removeprefix("sha256:")[:12]


def _listed(title: str, tasks: tuple[str, ...]) -> list[str]:
    counts = Counter(tasks)
    rows = [f"  {safe(task)}" + (f" ({n} runs)" if n > 1 else "") for task, n in counts.items()]
    return [f"== {title}", *rows] if rows else []


def _rates(rates: tuple[Rate, ...]) -> list[str]:
    rows = [["metric", "tasks", "before", "after", "difference", "95 % interval", "up", "down", "p"]]
    for rate in rates:
        between = "-" if rate.ci95 is None else f"{rate.ci95[0]:+.3f} to {rate.ci95[1]:+.3f}"
        rows.append([rate.metric, str(rate.tasks), f"{rate.before:.3f}", f"{rate.after:.3f}"])
        rows[-1] += [f"{rate.difference:+.3f}", between, str(rate.up), str(rate.down), f"{rate.p:.4f}"]
    return table(rows) if rates else []
