"""Rows without the evidence of their verdicts: memory holds only what rates, gate and warnings need.

A whole verdict is some 8 KB in memory, and 100,000 of them are more than many machines have.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, overload

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from replaykit.grading.verdict import CheckResult, Evidence, Judgement, PolicyResult, RunFinding, Verdict
from replaykit.grading.workers.shards import Known, Shards
from replaykit.grading.workers.stored_verdicts import Row

_T = TypeVar("_T")

SHARED = 4096
"""Parts of verdicts that are looked for again; runs of one task differ in few."""


class CompactRows:
    """Makes rows compact, and finds the whole verdicts again in the shards of this run."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._parts: dict[tuple[type, bytes], Any] = {}

    def compact(self, row: Row) -> Row:
        """Return a row without the evidence of its verdict, if the whole one stands in a shard."""
        known = self._stored(row)
        if known is None:
            return row
        verdict = replace(self._compact(row.verdict), trajectory=known.trajectory)
        return replace(
            row, verdict=verdict, trajectory=known.trajectory, grader=known.grader, source=known.source
        )

    def whole(self, row: Row) -> Verdict:
        """Return the verdict of a row as it was graded. Raises EngineError."""
        return row.verdict if self._stored(row) is None else self._shards.row(row.source).verdict

    def _stored(self, row: Row) -> Known | None:
        """Return where the whole row lies; None where a shard lacks it, or holds another row."""
        known = None if row.is_error else self._shards.known(row.source)
        is_same = known is not None and (known.trajectory, known.grader) == (row.trajectory, row.grader)
        return known if is_same else None

    def _compact(self, verdict: Verdict) -> Verdict:
        return replace(
            verdict,
            task_id=sys.intern(verdict.task_id),
            suite=_interned(verdict.suite),
            mode=sys.intern(verdict.mode),
            dialect=sys.intern(verdict.dialect),
            assumes=_interned(verdict.assumes),
            validity=sys.intern(verdict.validity),
            completion=self._shared(verdict.completion),
            checks=self._shared(tuple(map(_compact_check, verdict.checks))),
            policies=self._shared(tuple(map(_compact_policy, verdict.policies))),
            violations=self._shared(verdict.violations),
            violations_by_source=self._shared(verdict.violations_by_source),
            judgements=self._shared(tuple(map(_compact_judgement, verdict.judgements))),
            judged=self._shared(verdict.judged),
            findings=self._shared(tuple(map(_compact_finding, verdict.findings))),
            first_failure=None,
        )

    def _shared(self, part: _T) -> _T:
        """Return one object for all parts that are equal."""
        if part is None or part is UNSET or part == ():
            return part
        key = (type(part), msgspec.json.encode(part))
        if len(self._parts) >= SHARED:
            self._parts.clear()
        shared: _T = self._parts.setdefault(key, part)
        return shared


class WholeVerdicts(Sequence[Verdict]):
    """The whole verdicts of rows, each read when it is asked for."""

    def __init__(self, rows: Sequence[Row], whole: Callable[[Row], Verdict]) -> None:
        self._rows = rows
        self._whole = whole

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Verdict]:
        return map(self._whole, self._rows)

    @overload
    def __getitem__(self, place: int) -> Verdict: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Verdict]: ...
    def __getitem__(self, place: int | slice) -> Verdict | Sequence[Verdict]:
        if isinstance(place, slice):
            return WholeVerdicts(self._rows[place], self._whole)
        return self._whole(self._rows[place])


def _interned(text: str | None) -> str | None:
    return text if text is None else sys.intern(text)


def _compact_check(check: CheckResult) -> CheckResult:
    return replace(check, evidence=(), notes=())


def _compact_policy(policy: PolicyResult) -> PolicyResult:
    return replace(policy, evidence=())


def _compact_judgement(judgement: Judgement) -> Judgement:
    return replace(judgement, stages=(), images={}, grounding=(), claims=UNSET)


def _compact_finding(finding: RunFinding) -> RunFinding:
    # A gate names what was changed, which is the note.
    return replace(finding, evidence=tuple(Evidence(note=one.note) for one in finding.evidence))
