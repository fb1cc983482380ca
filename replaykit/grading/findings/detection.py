"""All findings of a run, without a model, and the step at which a run that failed went wrong.

Findings never change a check, a policy or a reward. Detectors that read the texts of pages run only where a
run did not pass: of a good run they would double the time and say nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from replaykit.grading.findings.blockers import astray, blocked, dialogs
from replaykit.grading.findings.effects import vain
from replaykit.grading.findings.endings import ended, unsupported
from replaykit.grading.findings.forms import passed_over, wrong_values
from replaykit.grading.findings.repetition import repeated
from replaykit.grading.findings.side_effects import side_effects
from replaykit.grading.findings.taxonomy import MOST, found
from replaykit.grading.findings.turns import turns
from replaykit.grading.verdict import (
    CheckResult,
    FirstFailure,
    Judgement,
    PolicyOutcome,
    PolicyResult,
    RunFinding,
)
from replaykit.replay.player import Replay
from replaykit.trajectory.exchange import Gap

if TYPE_CHECKING:
    from replaykit.tasks.task import AllowedChange

PAGE_CODES = ("B1", "B2", "B3", "D4", "E5", "E6")
"""Codes of detectors that read the texts of pages."""


def findings_of(
    replay: Replay,
    checks: Sequence[CheckResult] = (),
    policies: Sequence[PolicyResult] = (),
    allow: Sequence[AllowedChange] = (),
    *,
    judgements: Sequence[Judgement] = (),
    reads_pages: bool = True,
) -> tuple[RunFinding, ...]:
    """Return what detectors find in a run, by step, at most 20 of a code; those without a step come last."""
    steps = turns(replay)
    given = [
        *vain(steps),
        *repeated(steps),
        *wrong_values(steps),
        *dialogs(replay),
        *astray(replay),
        *ended(replay),
        *side_effects(replay, checks, allow),
        *_broken(policies),
        *_contradicted(judgements),
        *_gaps(replay),
        *(blocked(replay) if reads_pages else ()),
        *(unsupported(replay) if reads_pages else ()),
        *(passed_over(replay) if reads_pages else ()),
    ]
    return tuple(_first(sorted(given, key=_order)))


def first_failure(findings: Iterable[RunFinding]) -> FirstFailure | None:
    """Return where a failed run went wrong: the earliest finding that may be why and was not recovered."""
    for one in findings:
        if one.severity == "fails" and not one.recovered and one.step is not None:
            return FirstFailure(step=one.step, code=one.code, name=one.name)
    return None


def _order(one: RunFinding) -> tuple[bool, int, str]:
    return one.step is None, one.step or 0, one.code


def _first(findings: Iterable[RunFinding]) -> Iterator[RunFinding]:
    count: Counter[str] = Counter()
    for one in findings:
        count[one.code] += 1
        if count[one.code] <= MOST:
            yield one


def _broken(policies: Sequence[PolicyResult]) -> Iterator[RunFinding]:
    for policy in policies:
        if policy.outcome is PolicyOutcome.VIOLATED:
            steps = [one.step for one in policy.evidence]
            yield found("P1", steps, item=policy.id, note=policy.reason)


def _contradicted(judgements: Sequence[Judgement]) -> Iterator[RunFinding]:
    """Yield D5 for each claim of the answer that the judge `claims` found contradicted."""
    for judgement in judgements:
        for one in () if judgement.claims is UNSET else judgement.claims:
            if one["of"] == "answer" and one["finding"] == "CONTRADICTED":
                shown = [e for predicate in one["predicates"] for e in predicate["evidence"]]
                steps = [e.get("step") for e in shown]
                yield found(
                    "D5", steps, source=judgement.judge, excerpt=one["quote"][:300], note=one["reason"]
                )


def _gaps(replay: Replay) -> Iterator[RunFinding]:
    reported: set[tuple[str, str]] = set()
    for gap in replay.trajectory.of_type(Gap):
        if (gap.channel, gap.why) not in reported:
            reported.add((gap.channel, gap.why))
            yield found("R1", [gap.step], source=gap.channel, note=gap.why)
