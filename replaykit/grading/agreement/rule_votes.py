"""Answer of each rule of a verdict about its run, and whether the run succeeds by all other rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import UNSET

from replaykit.grading.findings.detection import PAGE_CODES
from replaykit.grading.findings.taxonomy import KINDS
from replaykit.grading.judge_rates import member_judgements
from replaykit.grading.verdict import (
    CheckResult,
    Judgement,
    JudgeOutcome,
    Outcome,
    PolicyOutcome,
    Verdict,
    combine,
    compose,
)

RuleAnswer: TypeAlias = Literal["pass", "fail", "undecided", "error", "dormant"]
"""Answer of a rule about one run. DORMANT is a pass: nothing was broken."""

RuleKind: TypeAlias = Literal["check", "item", "policy", "judge", "criterion", "finding"]
"""Kind of a rule. A finding fails the runs in which it was found."""

KINDS_OF_RULES: tuple[RuleKind, ...] = ("check", "item", "policy", "judge", "criterion", "finding")
"""In the order of reports."""


class RuleKey(NamedTuple):
    """Identity of a rule: checks, items and criteria belong to one task, the others to a whole corpus."""

    kind: RuleKind
    """Kind of the rule."""
    task: str | None
    """Task of a check, item or criterion."""
    name: str
    """Id of the check, `check/item`, id of the policy, judge, `judge/criterion`, of a panel
    `panel/judge/criterion`, or code of the finding."""
    fingerprint: str | None = None
    """Of a judge, also of that of a criterion."""
    basis: str | None = None
    """Of a criterion: digest of the rubric that holds it; in another one the same id asks something else."""


class RuleVote(NamedTuple):
    """Answer of one rule about one run."""

    rule: RuleKey
    """The rule."""
    answer: RuleAnswer
    """Its outcome."""
    others: bool | None
    """Whether the run succeeds by all other rules; None = they do not decide."""


def votes_of(verdict: Verdict, codes: Sequence[str] = tuple(KINDS)) -> Iterator[RuleVote]:
    """Yield the vote of each rule of a verdict, each rule once. `codes`: findings that count as rules."""
    success = _decided(verdict.success)
    for check in verdict.checks:
        others = _without_check(verdict, check)
        yield RuleVote(RuleKey("check", verdict.task_id, check.id), _OUTCOMES[check.outcome], others)
        yield from _items(verdict.task_id, check, others)
    for policy in verdict.policies:
        yield RuleVote(RuleKey("policy", None, policy.id), _POLICIES[policy.outcome], success)
    for place, judge in enumerate(verdict.judgements):
        if judge.outcome is not JudgeOutcome.NOT_EVALUATED:
            key = RuleKey("judge", None, judge.judge, judge.fingerprint or None)
            others = _without_judge(verdict, place)
            yield RuleVote(key, _JUDGES[judge.outcome], others)
            for title, one in ((judge.judge, judge), *_members(judge)):
                yield from _criteria(verdict.task_id, title, one, others)
    found = {one.code for one in verdict.findings if not one.unknown}
    unknown = {one.code for one in verdict.findings if one.unknown}
    for code in codes:
        yield RuleVote(RuleKey("finding", None, code), _finding(code, found, unknown, verdict), success)


_OUTCOMES: dict[Outcome, RuleAnswer] = {
    Outcome.PASS: "pass", Outcome.FAIL: "fail", Outcome.UNDECIDED: "undecided", Outcome.ERROR: "error",
}  # fmt: skip
_POLICIES: dict[PolicyOutcome, RuleAnswer] = {
    PolicyOutcome.OK: "pass", PolicyOutcome.VIOLATED: "fail", PolicyOutcome.DORMANT: "dormant",
    PolicyOutcome.UNDECIDED: "undecided", PolicyOutcome.ERROR: "error",
}  # fmt: skip
_JUDGES: dict[JudgeOutcome, RuleAnswer] = {
    JudgeOutcome.SUCCESS: "pass", JudgeOutcome.FAILURE: "fail", JudgeOutcome.ABSTAIN: "undecided",
    JudgeOutcome.ERROR: "error",
}  # fmt: skip


def _items(task: str, check: CheckResult, others: bool | None) -> Iterator[RuleVote]:
    """Yield the items of a check that has several: a single one has the outcome of the check."""
    if len(check.items) > 1:
        for item in check.items:
            yield RuleVote(RuleKey("item", task, f"{check.id}/{item.id}"), _OUTCOMES[item.outcome], others)


def _members(panel: Judgement) -> Iterator[tuple[str, Judgement]]:
    """Yield the members of a panel with their titles."""
    yield from ((f"{panel.judge}/{one.judge}", one) for one in member_judgements(panel))


def _criteria(task: str, title: str, judge: Judgement, others: bool | None) -> Iterator[RuleVote]:
    """Yield the criteria of a judge that has some."""
    for row in () if judge.criteria is UNSET else judge.criteria:
        key = RuleKey("criterion", task, f"{title}/{row['id']}", judge.fingerprint or None, judge.rubric)
        yield RuleVote(key, _met(row), others)


def _met(row: Mapping[str, Any]) -> RuleAnswer:
    """Return the answer of a criterion; where it does not apply, or may not, it decides nothing."""
    applies = row.get("applies", "YES") == "YES"
    return _CRITERIA.get(row["verdict"], "undecided") if applies else "undecided"


_CRITERIA: dict[str, RuleAnswer] = {"YES": "pass", "NO": "fail"}


def _without_check(verdict: Verdict, check: CheckResult) -> bool | None:
    left = [one.outcome for one in verdict.checks if one is not check]
    rules = combine(left, verdict.mode) if left else None
    return _decided(compose(rules, [one.outcome for one in verdict.judgements]))


def _without_judge(verdict: Verdict, place: int) -> bool | None:
    rules = verdict.completion.outcome if verdict.completion is not None and verdict.checks else None
    left = [one.outcome for at, one in enumerate(verdict.judgements) if at != place]
    return _decided(compose(rules, left))


def _decided(outcome: Outcome | None) -> bool | None:
    return outcome is Outcome.PASS if outcome in (Outcome.PASS, Outcome.FAIL) else None


def _finding(code: str, found: set[str], unknown: set[str], verdict: Verdict) -> RuleAnswer:
    """Return `fail` where it was found; of runs that passed no one read the pages."""
    if code in found:
        return "fail"
    unread = code in PAGE_CODES and verdict.success is Outcome.PASS
    return "undecided" if unread or code in unknown else "pass"
