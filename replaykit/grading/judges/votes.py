"""Several votes of one judge, and one judgement of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from replaykit.grading.verdict import Judgement, JudgeOutcome

S, F = JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE
A, E = JudgeOutcome.ABSTAIN, JudgeOutcome.ERROR


def majority(votes: Sequence[JudgeOutcome], require: str = "majority") -> tuple[JudgeOutcome, str]:
    """Return outcome and reason of votes.

    Fewer than half with a verdict: ERROR if errors outnumber abstentions, else ABSTAIN `no_quorum`. With
    `unanimous`, votes that disagree are a tie.
    """
    count = Counter(votes)
    if count[S] + count[F] < (len(votes) + 1) // 2:
        return (E, "no_quorum") if count[E] > count[A] else (A, "no_quorum")
    if count[S] == count[F] or (require == "unanimous" and count[S] and count[F]):
        return A, "tie"
    return (S if count[S] > count[F] else F), "verdict"


def voted(judgements: Sequence[Judgement], require: str = "majority") -> Judgement:
    """Return the judgement of several votes; every vote is kept. One vote stays as it is."""
    first = judgements[0]
    if len(judgements) == 1:
        return first
    if len({(one.outcome, one.reason, bool(one.stages)) for one in judgements}) == 1 and not first.stages:
        return replace(first, votes=tuple(one.outcome for one in judgements))
    outcome, reason = majority([one.outcome for one in judgements], require)
    other, _ = majority([JudgeOutcome(one.other_mode or one.outcome) for one in judgements], require)
    errors = [one for one in judgements if one.outcome is E]
    # The fields beside the verdict are taken from a vote that gave it.
    own = next((one for one in judgements if one.outcome is outcome), first)
    return replace(
        own,
        outcome=outcome,
        reason=errors[0].reason if outcome is E else reason,
        votes=tuple(one.outcome for one in judgements),
        stages=tuple(_numbered(judgements)),
        origins=_added(one.origins for one in judgements),
        other_mode=other,
        detail=errors[0].detail if errors else None,
    )


def _numbered(judgements: Sequence[Judgement]) -> Iterable[dict[str, Any]]:
    for sample, judgement in enumerate(judgements):
        yield from ({"sample": sample, **stage} for stage in judgement.stages)


def _added(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return dict(sorted(total.items()))
