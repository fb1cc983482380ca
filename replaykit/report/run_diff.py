"""Two recorded runs compared: where they part, step by step, and what else differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec
from msgspec import Struct

from replaykit.bundle.reader import Bundle
from replaykit.report.html.timeline import placed
from replaykit.trajectory.action_rendering import render_step
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Step, Trajectory

SCHEMA = "replaykit.trajectory-diff/1"
"""Name and version of the layout of its JSON."""

WORK_MAX = 4_000_000
"""Pairs of steps that are aligned; longer middles are listed unaligned, one after the other."""

Mark = Literal["same", "differs", "removed", "new"]


class Fact(Struct, frozen=True, kw_only=True):
    """One value that differs."""

    what: str
    """Of runs: `task`, `answer`, `ending` and others; of a step: `target url page error messages`."""
    before: str | None
    """Value of the first run; None = it has no value."""
    after: str | None
    """Value of the second run; None = it has no value."""


class RunDiffRow(Struct, frozen=True, kw_only=True):
    """One step of either run, or the same action in both."""

    mark: Mark
    """`same`; `differs`: same action with another target, page, result or message; `removed`; `new`."""
    before: int | None = None
    """Step of the first run, from 0."""
    after: int | None = None
    """Step of the second run, from 0."""
    line: str
    """The action; roots of sites are shown as their names."""
    facts: tuple[Fact, ...] = ()
    """Differences although the action is the same."""


class RunDiff(Struct, frozen=True, kw_only=True):
    """Differences between two runs."""

    schema: str = SCHEMA
    """Name and version of this layout."""
    before: str
    """Digest of the first run."""
    after: str
    """Digest of the second run."""
    common: int
    """Number of equal steps at the beginning."""
    parts: bool
    """Whether any step differs."""
    rows: tuple[RunDiffRow, ...]
    """All steps of both runs, aligned."""
    facts: tuple[Fact, ...]
    """Other differences."""


def compare_runs(before: Bundle, after: Bundle) -> RunDiff:
    """Compare two runs. Memory and time: their stories, and at most WORK_MAX pairs of steps."""
    ours, theirs = before.trajectory, after.trajectory
    rows = tuple(_rows(_step_rows(ours), _step_rows(theirs)))
    common = next((at for at, row in enumerate(rows) if row.mark != "same"), len(rows))
    return RunDiff(
        before="sha256:" + before.digest,
        after="sha256:" + after.digest,
        common=common,
        parts=common < len(rows),
        rows=rows,
        facts=tuple(_differing(_run_facts(ours), _run_facts(theirs))),
    )


class _StepRow(Struct, frozen=True, kw_only=True):
    """A step as it is compared."""

    index: int
    line: str
    details: dict[str, str | None]


def _step_rows(run: Trajectory) -> list[_StepRow]:
    looks = run.of_type(Observation)
    titles = {look.of: look.title for look in looks if look.role == "after" and look.title is not None}
    messages = _messages(run)
    return [_step_row(step, run, titles.get(step.index), messages.get(step.index, [])) for step in run.steps]


def _messages(run: Trajectory) -> dict[int | None, list[str]]:
    """Return the messages after each step; an answer belongs to the run, not to a step."""
    found: dict[int | None, list[str]] = {}
    for one, step in placed(run):
        if one.kind != "answer":
            found.setdefault(step, []).append(f"{one.role} {one.kind}: {_named(one.text, run)}")
    return found


def _step_row(step: Step, run: Trajectory, title: str | None, messages: list[str]) -> _StepRow:
    element = step.action.element
    details = {
        "target": (element.css or element.ref or None) if element else None,
        "url": _named(step.url, run) if step.url else None,
        "page": title or None,
        "error": step.error.name if step.error else None,
        "messages": "\n".join(messages) or None,
    }
    return _StepRow(index=step.index, line=_named(render_step(step), run), details=details)


def _rows(ours: Sequence[_StepRow], theirs: Sequence[_StepRow]) -> Iterator[RunDiffRow]:
    for kind, a, b, c, d in _opcodes([action.line for action in ours], [action.line for action in theirs]):
        if kind == "equal":
            yield from (_both(one, other) for one, other in zip(ours[a:b], theirs[c:d], strict=True))
        else:
            yield from (
                RunDiffRow(mark="removed", before=action.index, line=action.line) for action in ours[a:b]
            )
            yield from (
                RunDiffRow(mark="new", after=action.index, line=action.line) for action in theirs[c:d]
            )


def _opcodes(ours: list[str], theirs: list[str]) -> list[tuple[str, int, int, int, int]]:
    start = next((at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), None)
    if start is None:
        start = min(len(ours), len(theirs))
    if (len(ours) - start) * (len(theirs) - start) > WORK_MAX:
        return [("equal", 0, start, 0, start), ("replace", start, len(ours), start, len(theirs))]
    return list(SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes())


def _both(one: _StepRow, other: _StepRow) -> RunDiffRow:
    facts = tuple(_differing(one.details, other.details))
    mark: Mark = "differs" if facts else "same"
    return RunDiffRow(mark=mark, before=one.index, after=other.index, line=other.line, facts=facts)


def _differing(before: dict[str, str | None], after: dict[str, str | None]) -> Iterator[Fact]:
    for what in before:
        if before[what] != after[what]:
            yield Fact(what=what, before=before[what], after=after[what])


def _run_facts(run: Trajectory) -> dict[str, str | None]:
    header, ending = run.header, run.ending
    task = header.task or {}
    return {
        "task": str(task["id"]) if "id" in task else None,
        "task content": msgspec.json.encode(task, order="sorted").decode(),
        "agent": msgspec.json.encode(header.agent).decode() if header.agent else None,
        "browser": " ".join(filter(None, (header.environment.browser, header.environment.browser_version))),
        "viewport": str(header.environment.viewport),
        "steps": str(len(run.steps)),
        "ending": f"{ending.kind} by {ending.cause}" if ending else "interrupted",
        "answer": run.answer,
    }


def _named(text: str, run: Trajectory) -> str:
    """Write the roots of sites as their names: two recordings of one site stand on different ports."""
    roots = [(root.rstrip("/"), name) for name, found in run.header.sites.items() for root in found]
    for root, name in sorted(roots, key=lambda row: -len(row[0])):
        text = text.replace(root, f"__{name.upper()}__") if root else text
    return text
