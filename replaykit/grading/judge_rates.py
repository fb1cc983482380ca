"""Summary of each judge: counts, rates, votes, members, criteria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations
from typing import Any

from msgspec import UNSET, ValidationError

from replaykit.decoders import convert
from replaykit.grading.statistics import FEW, clustered_bootstrap, flip_rate, mean, rounded, weighted_kappa
from replaykit.grading.verdict import Judgement, JudgeOutcome, Verdict

TWO_RUBRICS = "two_rubrics"
"""Reason of the rates of a judge that judged one task by two rubrics."""


def member_judgements(panel: Judgement) -> Iterator[Judgement]:
    """Yield the judgements of a panel's members; a report by somebody else may call others members."""
    for one in () if panel.members is UNSET else panel.members:
        with suppress(ValidationError):
            yield convert(one, Judgement)


def judges_summary(
    verdicts: Sequence[Verdict], max_error_share: float, *, pool_rubrics: bool = False
) -> dict[str, Any]:
    """Return name to counts and rates of each judge; results of different fingerprints are never pooled."""
    given = [judgement for verdict in verdicts for judgement in verdict.judgements]
    two = frozenset() if pool_rubrics else frozenset(_of_two_rubrics(verdicts))
    names = sorted({judgement.judge for judgement in given})
    found: dict[str, Any] = {}
    for name in names:
        own = [judgement for judgement in given if judgement.judge == name]
        prints = sorted({judgement.fingerprint for judgement in own})
        for mark in prints:
            shown = name if len(prints) == 1 else f"{name}@{mark.removeprefix('sha256:')[:8] or 'off'}"
            alike = [one for one in own if one.fingerprint == mark]
            found[shown] = _judge(alike, mark, max_error_share, has_two=(name, mark) in two)
    return found


def _of_two_rubrics(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    """Yield the judges, by name and fingerprint, that judged one task by two rubrics."""
    used: dict[tuple[str, str, str], str] = {}
    for verdict in verdicts:
        for one in verdict.judgements:
            key = one.judge, one.fingerprint, verdict.task_id
            if one.rubric is not None and used.setdefault(key, one.rubric) != one.rubric:
                yield one.judge, one.fingerprint


def _judge(
    judgements: Sequence[Judgement], mark: str, max_error_share: float, *, has_two: bool
) -> dict[str, Any]:
    n, count = len(judgements), Counter(judgement.outcome for judgement in judgements)
    success, failure = count[JudgeOutcome.SUCCESS], count[JudgeOutcome.FAILURE]
    withheld = has_two or count[JudgeOutcome.ERROR] > max_error_share * n
    origins = _added(judgement.origins for judgement in judgements)
    return {
        "fingerprint": mark,
        "n": n,
        "n_success": success,
        "n_failure": failure,
        "n_abstain": count[JudgeOutcome.ABSTAIN],
        "n_error": count[JudgeOutcome.ERROR],
        "few": success + failure < FEW,
        "n_not_evaluated": count[JudgeOutcome.NOT_EVALUATED],
        "success_rate": None if withheld else rounded(_ratio(success, n)),
        "success_rate_judged": None if withheld else rounded(_ratio(success, success + failure)),
        "flip_rate": rounded(flip_rate(judgement.votes for judgement in judgements)),
        "reasons": dict(sorted(Counter(judgement.reason for judgement in judgements).items())),
        "origins": dict(sorted(origins.items())),
        **({"reason": TWO_RUBRICS} if has_two else {}),
        **_of_effects(judgements),
        **_of_criteria(judgements),
        **_members(judgements),
    }


def _of_criteria(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return of a judge with criteria how much of the way was done, and what stayed unread."""
    scores = [one.process for one in judgements if one.process is not UNSET]
    known = [Fraction(str(one["score"])) for one in scores if one["score"] is not None]
    rows = [row for one in judgements if one.criteria is not UNSET for row in one.criteria]
    if not rows:
        return {}
    return {
        "process": rounded(mean(known)),
        "process_ci95": clustered_bootstrap([[score] for score in known]),
        "n_blocked": sum(bool(one["n_blocked"]) for one in scores),
        "n_unsupported": sum(bool(one.unsupported) for one in judgements if one.unsupported is not UNSET),
        "unread_share": rounded(_ratio(sum(row["reason"] == "unread" for row in rows), len(rows))),
    }


def _of_effects(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return of a judge that lists unexplained requests in how many runs there are any."""
    listed = [one.side_effects for one in judgements if one.side_effects is not UNSET]
    if not listed:
        return {}
    return {"n_side_effects": sum(any("event" in row for row in rows) for rows in listed)}


def _members(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return of a panel how well each two members agree, over the runs that both decide."""
    outcomes = [
        {one.judge: str(one.outcome) for one in member_judgements(judgement)}
        for judgement in judgements
        if judgement.members is not UNSET
    ]
    names = list(dict.fromkeys(name for row in outcomes for name in row))
    pairs = [_pair(first, second, outcomes) for first, second in combinations(names, 2)]
    return {"pairs": pairs} if pairs else {}


def _pair(first: str, second: str, outcomes: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    both = [(row.get(first), row.get(second)) for row in outcomes]
    decided = Counter(pair for pair in both if set(pair) <= {"SUCCESS", "FAILURE"})
    table = [[decided[a, b] for b in ("FAILURE", "SUCCESS")] for a in ("FAILURE", "SUCCESS")]
    return {
        "members": [first, second],
        "n": decided.total(),
        "kappa": rounded(weighted_kappa(table)),
        "differed": sum(n for (a, b), n in decided.items() if a != b),
    }


def _added(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total


def _ratio(part: int, whole: int) -> Fraction | None:
    return Fraction(part, whole) if whole else None
