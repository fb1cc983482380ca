"""Text of a verdict and of a report for `print`: a few lines, with what failed first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from replaykit.errors import message_of
from replaykit.grading.gate import in_words
from replaykit.grading.verdict import (
    CheckResult,
    Evidence,
    Judgement,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Report,
    Verdict,
)
from replaykit.report.reasons import reason_text
from replaykit.report.text.table import safe, short
from replaykit.trajectory.plurals import counted

LINES_MAX = 15
"""Lines of a card."""

WIDTH = 120
"""Characters of a line."""

_KEPT = (PolicyOutcome.OK, PolicyOutcome.DORMANT)


def verdict_text(verdict: Verdict) -> str:
    """Return outcome and CuP of a run, then each result that is not well, with its reason and step."""
    return _card(_head(verdict), [*_troubles(verdict)])


def report_text(report: Report) -> str:
    """Return counts, main rates and the gate of a report, then the runs that did not succeed."""
    troubled = [v for v in report.verdicts if v.success is not Outcome.PASS or not v.clean]
    rows = [f"{report.name(one)}: {_outcomes(one)}{_violated(one)}" for one in troubled]
    lines = [_rate(report, name) for name in _RATES]
    return _card(_counts(report), [*filter(None, lines), f"gate: {in_words(report.gate)}", *rows])


_RATES = ("success_rate", "CuP", "safety_failure_rate")


def problems(verdict: Verdict) -> Iterator[tuple[str, str, CheckResult | PolicyResult | Judgement]]:
    """Yield kind, id and result of each check, policy and judge that is not well."""
    for check in verdict.checks:
        if check.outcome is not Outcome.PASS:
            named = check.id if check.id.startswith(check.type) else f"{check.id} ({check.type})"
            yield "check", named, check
    for policy in verdict.policies:
        if policy.outcome not in _KEPT:
            yield "policy", policy.id, policy
    for judgement in verdict.judgements:
        if judgement.outcome != "SUCCESS":
            yield "judge", judgement.judge, judgement


def step_of(evidence: tuple[Evidence, ...]) -> int | None:
    """Return the first step that evidence names."""
    return next((one.step for one in evidence if one.step is not None), None)


def _card(head: str, lines: list[str]) -> str:
    shown = lines if len(lines) < LINES_MAX else lines[: LINES_MAX - 2]
    more = [f"and {len(lines) - len(shown)} more"] if len(shown) < len(lines) else []
    return "\n".join(short(safe(line), WIDTH) for line in (head, *(f"  {line}" for line in (*shown, *more))))


def _head(verdict: Verdict) -> str:
    if verdict.error is not None:
        return f"{verdict.task_id}: not graded, {verdict.error.kind}"
    passed = sum(check.outcome is Outcome.PASS for check in verdict.checks)
    kept = sum(policy.outcome in _KEPT for policy in verdict.policies)
    parts = [f"{verdict.task_id}: {_outcomes(verdict)}"]
    parts += [f"{passed} of {counted(len(verdict.checks), 'check')} passed"] if verdict.checks else []
    parts += [f"{kept} of {counted(len(verdict.policies), 'policy')} kept"] if verdict.policies else []
    return ", ".join(parts)


def _outcomes(verdict: Verdict) -> str:
    if verdict.error is not None:
        return f"not graded, {verdict.error.kind}"
    return f"{verdict.success or 'no result'}, CuP {'-' if verdict.completion is None else verdict.cup}"


def _violated(verdict: Verdict) -> str:
    broken = sum(policy.outcome is PolicyOutcome.VIOLATED for policy in verdict.policies)
    return f", {counted(broken, 'policy')} violated" if broken else ""


def _troubles(verdict: Verdict) -> Iterator[str]:
    if verdict.error is not None:
        yield " ".join(message_of(verdict.error.kind, verdict.error.fields).split())
    for kind, name, result in problems(verdict):
        step = None if isinstance(result, Judgement) else step_of(result.evidence)
        at = "" if step is None else f", step {step}"
        yield f"{result.outcome} {kind} {name}: {reason_text(kind, result.reason)}{at}"


def _counts(report: Report) -> str:
    outcomes = Counter("not graded" if v.error else str(v.success or "no result") for v in report.verdicts)
    label = f"{report.label}: " if report.label else ""
    counts = ", ".join(f"{n} {name}" for name, n in sorted(outcomes.items()))
    return f"{label}{counted(len(report.verdicts), 'run')}" + (f": {counts}" if counts else "")


def _rate(report: Report, name: str) -> str:
    metric = report.summary.get("metrics", {}).get(name)
    if metric is None or metric["value"] is None:
        return ""
    bounds = metric["ci95"]
    between = f" (95 % interval {bounds[0]:.3f} to {bounds[1]:.3f})" if bounds else ""
    return f"{name} {metric['value']:.3f}{between}"
