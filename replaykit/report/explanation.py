"""Results of a verdict in plain words: what a reason means, and what would have recorded missing evidence."""

from __future__ import annotations

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.grading.verdict import CheckResult, Evidence, Judgement, PolicyResult, Verdict
from replaykit.report.reasons import reason_words
from replaykit.report.remedies import remedy


class Explanation(Struct, frozen=True, kw_only=True):
    """One result of a verdict in plain words."""

    kind: str
    """`check policy judge`."""
    id: str
    """Id of the check or policy, name of the judge."""
    outcome: str
    """Outcome of the check, policy or judge."""
    reason: str | None
    """Reason for the outcome, as a word."""
    words: str
    """Reason in a sentence; empty if a plug-in gives a reason of its own."""
    detail: str | None = None
    """Further text of a judgement, in the judge's words."""
    missing: dict[str, str] = {}
    """Code of missing evidence to what would have recorded it."""
    evidence: tuple[Evidence, ...] = ()
    """Where the result comes from; empty for judges."""


def explain(verdict: Verdict, id: str) -> tuple[Explanation, ...]:
    """Explain one check, policy or judge of a verdict: outcome, reason, evidence, missing evidence.

    `id`: id of the check, policy or judge. If a check and a policy share it, both are explained. Raises
    UsageError for an unknown id.

    Example:
        for found in replaykit.explain(verdict, "ask-before-refund"):
            print(found.outcome, found.words)
    """
    checks = [_of_rule("check", one) for one in verdict.checks if one.id == id]
    policies = [_of_rule("policy", one) for one in verdict.policies if one.id == id]
    judges = [_of_judge(one) for one in verdict.judgements if one.judge == id]
    found = (*checks, *policies, *judges)
    if not found:
        known = ", ".join(_ids(verdict)) or "none"
        raise UsageError(what=f"no check, policy or judge is called {id!r}; the verdict has {known}")
    return found


def _ids(verdict: Verdict) -> list[str]:
    checks, policies = (one.id for one in verdict.checks), (one.id for one in verdict.policies)
    return [*checks, *policies, *(one.judge for one in verdict.judgements)]


def _of_rule(kind: str, result: CheckResult | PolicyResult) -> Explanation:
    return Explanation(
        kind=kind,
        id=result.id,
        outcome=str(result.outcome),
        reason=result.reason,
        words=reason_words(kind, result.reason or ""),
        missing={code: remedy(code) for code in result.missing},
        evidence=result.evidence,
    )


def _of_judge(judgement: Judgement) -> Explanation:
    return Explanation(
        kind="judge",
        id=judgement.judge,
        outcome=str(judgement.outcome),
        reason=judgement.reason,
        words=reason_words("judge", judgement.reason),
        detail=judgement.detail,
    )
