"""The verdict of a run, as a trace shows it: violations as errors of their steps, verdicts attached."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from replaykit.bundle.reader import Bundle
from replaykit.grading.verdict import Evidence, Outcome, PolicyOutcome, Verdict

OURS = "replaykit"
"""Name of errors that are no errors of the run; imports pass them over."""

TEXT_MAX = 300
"""Characters of a quoted piece of evidence."""


def verdict_of(bundle: Bundle, verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the verdict on this very content; None where it was not graded."""
    return next((one for one in verdicts if one.trajectory == f"sha256:{bundle.digest}"), None)


def errors_of(verdict: Verdict, steps: Mapping[int, bool]) -> tuple[dict[int, str], str]:
    """Return step index to what is wrong with the step, and what belongs to no step.

    `steps`: index to whether the step can take it; one that failed by itself keeps its own error.
    """
    at: dict[int, list[str]] = {}
    rest = []
    for words, step in _faults(verdict):
        if step is not None and steps.get(step, False):
            at.setdefault(step, []).append(words)
        else:
            rest.append(words if step is None else f"step {step}: {words}")
    return {step: "\n".join(found) for step, found in at.items()}, "\n".join(rest)


def summary_of(verdict: Verdict) -> str:
    """Return what came of the run in one line."""
    done = "-" if verdict.completion is None else verdict.completion.outcome
    stated = [f"CuP={verdict.cup}", f"completion={done}", f"violations={sum(verdict.violations.values())}"]
    return " ".join([*stated, *(f"{one.judge}={one.outcome}" for one in verdict.judgements)])


def files_of(verdict: Verdict) -> dict[str, bytes]:
    """Return name to content of what is attached: the whole verdict, and each judge's replies."""
    found = {"verdict.json": _json(verdict)}
    for number, one in enumerate(verdict.judgements):
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", one.judge)[:60]
        found[f"judge-{number}-{name}.json"] = _json(one)
    return found


def _faults(verdict: Verdict) -> Iterable[tuple[str, int | None]]:
    for policy in verdict.policies:
        if policy.outcome is PolicyOutcome.VIOLATED:
            for one in policy.evidence or (Evidence(),):
                yield f"policy {policy.id} violated{_evidence_text(one)}", one.step
    for check in verdict.checks:
        if check.outcome in (Outcome.FAIL, Outcome.ERROR):
            reason = f": {check.reason}" if check.reason else ""
            yield f"check {check.id} {check.outcome}{reason}", None


def _evidence_text(one: Evidence) -> str:
    parts = (one.action, one.url, one.excerpt, one.note)
    stated = ", ".join(part[:TEXT_MAX] for part in parts if part)
    return f": {stated}" if stated else ""


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="sorted"), indent=1) + b"\n"
