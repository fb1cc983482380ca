"""Results of grading as evaluation events, as OpenTelemetry's conventions for generative AI describe them.

Source: https://github.com/open-telemetry/semantic-conventions-genai, event `gen_ai.evaluation.result`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import replaykit

EVENT = "gen_ai.evaluation.result"
"""Name of the event."""

EXPLANATION_MAX = 1_000
"""Characters of an explanation."""

VALUES = {"PASS": 1.0, "FAIL": 0.0, "OK": 1.0, "VIOLATED": 0.0, "SUCCESS": 1.0, "FAILURE": 0.0}
"""Outcome to its value. Others have none: UNDECIDED, ABSTAIN, ERROR, DORMANT, NOT_EVALUATED."""

Attributes = dict[str, str | float | int]


class Evaluation(NamedTuple):
    """One result."""

    name: str
    """`success`, `cup`, `check.<id>`, `policy.<id>`, `judge.<name>`."""
    label: str
    """Outcome."""
    explanation: str = ""
    """Reason and first evidence; the text of a recording may be in it."""
    step: int | None = None
    """Step index of the evidence, from 0."""
    fingerprint: str | None = None
    """Digest of what shapes a judge's answer."""


def evaluations(verdict: replaykit.Verdict) -> Iterator[Evaluation]:
    """Return every result of a run: success, completion under policy, then checks, policies and judges."""
    if verdict.success is not None:
        yield Evaluation("success", verdict.success)
    if verdict.error is not None:
        yield Evaluation("success", "ERROR", verdict.error.kind)
    if verdict.completion is not None:
        yield Evaluation("cup", _cup(verdict))
    for check in verdict.checks:
        yield _result(f"check.{check.id}", check.outcome, check.reason, check.evidence)
    for policy in verdict.policies:
        yield _result(f"policy.{policy.id}", policy.outcome, policy.reason, policy.evidence)
    for one in verdict.judgements:
        yield Evaluation(f"judge.{one.judge}", one.outcome, one.reason, fingerprint=one.fingerprint)


def attributes(one: Evaluation, verdict: replaykit.Verdict) -> Attributes:
    """Return the attributes of the event, without unknown facts; an undecided result has no value."""
    found = {
        "gen_ai.evaluation.name": one.name,
        "gen_ai.evaluation.score.label": str(one.label),
        "gen_ai.evaluation.score.value": VALUES.get(one.label),
        "gen_ai.evaluation.explanation": one.explanation or None,
        "replaykit.trajectory": verdict.trajectory,
        "replaykit.task": verdict.task_id,
        "replaykit.mode": verdict.mode,
        "replaykit.step": one.step,
        "replaykit.fingerprint": one.fingerprint,
    }
    return {name: _plain(value) for name, value in found.items() if value is not None}


def _cup(verdict: replaykit.Verdict) -> str:
    outcomes = {
        str(verdict.completion and verdict.completion.outcome),
        *(p.outcome for p in verdict.policies),
    }
    if outcomes & {"FAIL", "VIOLATED"}:
        return "FAIL"
    return "PASS" if verdict.cup else "ERROR" if "ERROR" in outcomes else "UNDECIDED"


def _result(
    name: str, outcome: str, reason: str | None, evidence: Sequence[replaykit.Evidence]
) -> Evaluation:
    first = evidence[0] if evidence else replaykit.Evidence()
    found = None if first.found is None else f"found {first.found.raw!r}"
    shown = [first.action, first.url, first.locator, found, first.excerpt, first.note]
    step = next((one.step for one in evidence if one.step is not None), None)
    return Evaluation(name, outcome, "; ".join(part for part in (reason, *shown) if part), step)


def _plain(value: str | float | int) -> str | float | int:
    """Return a text without what a terminal obeys, cut to the limit."""
    if not isinstance(value, str):
        return value
    return "".join(char if char.isprintable() else " " for char in value[:EXPLANATION_MAX])
