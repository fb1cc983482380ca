"""From findings to a verdict: what is contradicted fails, and only what all is shown succeeds."""

from __future__ import annotations

from collections.abc import Sequence

from replaykit.grading.judges.claims.decisions import ClaimFinding
from replaykit.grading.judges.claims.guards import unquoted, unspoken
from replaykit.grading.judges.claims.items import Decided
from replaykit.grading.verdict import JudgeOutcome

_Verdict = tuple[JudgeOutcome, str, str | None]


def folded(
    needs: Sequence[Decided],
    claims: Sequence[Decided],
    task: str,
    answer: str,
    *,
    asks: bool,
    side_effect: bool,
) -> _Verdict:
    """Return outcome, reason, and what it turns on.

    A need or key claim that is contradicted fails. Success takes all needs and key claims, one need that
    shows an effect, an answer where one was asked for, and no number, quotation or new word left out.
    """
    weighed = [*needs, *(one for one in claims if one.item.is_key)]
    wrong = next((one for one in weighed if one.finding is ClaimFinding.CONTRADICTED), None)
    if wrong is not None:
        return JudgeOutcome.FAILURE, "contradicted", _named(wrong)
    if side_effect:
        return JudgeOutcome.FAILURE, "side_effect", None
    unshown = next((one for one in weighed if not one.is_supported), None)
    why = _named(unshown) if unshown is not None else _lacking(needs, claims, task, answer, asks)
    return (JudgeOutcome.ABSTAIN, "not_shown", why) if why else (JudgeOutcome.SUCCESS, "all_shown", None)


def _lacking(
    needs: Sequence[Decided], claims: Sequence[Decided], task: str, answer: str, asks: bool
) -> str | None:
    """Return what is missing though every item is shown; None where nothing is."""
    if not any(one.is_proof for one in needs):
        return "no need of the task is shown by an effect"
    if not asks and not any(one.is_deed for one in needs):
        return "the task wants no answer, and nothing but a text shows that it was done"
    if asks and not any(one.is_supported and one.item.is_key for one in claims):
        return "the task asks for an answer, and none is shown to be true"
    missing = unspoken(task, _quotes(needs))
    if missing is not None:
        return f"nothing shown speaks of this part of the task: {missing}"
    shown = [one for one in claims if one.is_supported]
    missing = unspoken(answer, _quotes(shown)) or unquoted(answer, _quotes(claims), task)
    return None if missing is None else f"nothing shown speaks of this part of the answer: {missing}"


def _quotes(items: Sequence[Decided]) -> list[str]:
    return [one.item.quote for one in items]


def _named(one: Decided) -> str:
    quote = " ".join(one.item.quote.split())[:120]
    return f'{one.of}, {one.item.id}: "{quote}": {one.finding} ({one.reason})'
