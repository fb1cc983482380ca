"""A rerun for a terminal: one line per step, and below it what differs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from replaykit.report.text.table import safe, short
from replaykit.reruns.rerun_diff import Difference, Rerun, RerunRow
from replaykit.trajectory.plurals import counted

_WORDS = {
    "done": "done", "skipped": "skipped", "missing": "not found", "changed": "another element",
    "failed": "failed", "refused": "not attempted", "not_reached": "not reached",
}  # fmt: skip


def rerun_text(found: Rerun, kinds: Collection[str]) -> str:
    """Return the comparison as text that ends in a newline; `kinds` are those that count."""
    lines = [line for row in found.rows for line in _row(row, kinds)]
    return "\n".join([*lines, "", _summary(found, kinds)]) + "\n"


def _row(row: RerunRow, kinds: Collection[str]) -> Iterator[str]:
    mark = "!" if any(one.kind in kinds for one in row.differences) else "~" if row.differences else " "
    number = "-" if row.step is None else str(row.step)
    line = safe(short(row.line, 100)) + (f"  {safe(short(row.url, 120))}" if row.url else "")
    yield f"{mark} {number:>3}  {_WORDS[row.state]:<15}  {line}"
    if row.why and row.state in ("skipped", "refused"):
        yield f"       {safe(short(row.why, 180))}"
    for one in row.differences:
        yield from _difference(one)


def _difference(one: Difference) -> Iterator[str]:
    before, after = (short(text or "none", 120) for text in (one.before, one.after))
    yield safe(
        f"       {one.kind}: {after}" if one.before is None else f"       {one.kind}: {before} -> {after}"
    )
    yield from (safe(f"         - {short(line, 120)}") for line in one.gone)
    yield from (safe(f"         + {short(line, 120)}") for line in one.new)


def _summary(found: Rerun, kinds: Collection[str]) -> str:
    steps = [row for row in found.rows if row.step is not None]
    done = sum(row.state == "done" for row in steps)
    counts = f"{done} of {counted(len(steps), 'step')} done"
    if found.error:
        return safe(f"{counts}; broken off: {short(found.error, 200)}")
    first = found.diverges_at(kinds)
    if first is None:
        ended = next((row for row in steps if row.state not in ("done", "skipped")), None)
        there = f" up to step {ended.step}: {_WORDS[ended.state]}" if ended else ""
        return f"{counts}, no divergence{there}"
    place = "at the start" if first.step is None else f"at step {first.step}"
    named = [one.kind for one in first.differences if one.kind in kinds]
    return f"{counts}, diverges {place} ({', '.join(dict.fromkeys(named))})"
