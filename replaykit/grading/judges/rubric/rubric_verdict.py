"""From readings of criteria to a verdict and a process score: code only, no model.

Missing evidence never earns credit: what nothing shows is no YES, in the verdict and in the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct

from replaykit.grading.verdict import JudgeOutcome
from replaykit.tasks.rubric import Criterion


class Met(StrEnum):
    """Whether a criterion holds."""

    YES = "YES"
    """A cited step shows it."""
    NO = "NO"
    """It does not hold."""
    CANNOT_TELL = "CANNOT_TELL"
    """The recording does not show whether the criterion is met."""


class CriterionReading(Struct, frozen=True, kw_only=True):
    """Reading of one criterion."""

    verdict: Met
    """Whether it holds."""
    applies: Met = Met.YES
    """Whether its condition holds."""
    excused: bool = False
    """The agent could not have met it."""


UNKNOWN = CriterionReading(verdict=Met.CANNOT_TELL)
"""Of a criterion that nothing was read of."""


class Process(Struct, frozen=True, kw_only=True):
    """How much of a rubric was met."""

    score: float | None
    """Weight of YES over the weight that counts; null where nothing counts."""
    upper: float | None
    """The same with every CANNOT_TELL as a YES."""


class Folded(Struct, frozen=True, kw_only=True):
    """A verdict of criteria."""

    outcome: JudgeOutcome
    """SUCCESS, FAILURE or ABSTAIN."""
    reason: str
    """Why, in a word."""
    process: Process
    """How much was met."""
    n_blocked: int = 0
    """Outcome criteria that are NO and excused."""


class _Part(Struct, frozen=True, kw_only=True):
    """A single criterion, or a group of which one is enough."""

    is_outcome: bool
    verdict: Met
    weight: int
    excused: bool
    n_blocked: int


def fold(
    criteria: Sequence[Criterion], readings: Mapping[str, CriterionReading], *, invalid: bool = False
) -> Folded:
    """Return the verdict of criteria from their readings, by id; one without a reading is undecided.

    `invalid`: both the rubric and the reading call the task impossible or not allowed.
    """
    parts = _parts(criteria, readings)
    outcomes = [part for part in parts if part.is_outcome]
    blocked = sum(part.n_blocked for part in outcomes if part.verdict is Met.NO)
    outcome, reason = _verdict(outcomes, invalid)
    return Folded(outcome=outcome, reason=reason, process=_process(parts), n_blocked=blocked)


def _verdict(parts: Sequence[_Part], invalid: bool) -> tuple[JudgeOutcome, str]:
    if not parts:
        return JudgeOutcome.ABSTAIN, "no_criteria"
    if invalid:
        return JudgeOutcome.ABSTAIN, "task_invalid"
    failed = [part for part in parts if part.verdict is Met.NO]
    if failed:
        is_blocked = all(part.excused for part in failed)
        return JudgeOutcome.FAILURE, "blocked" if is_blocked else "not_met"
    if any(part.verdict is Met.CANNOT_TELL for part in parts):
        return JudgeOutcome.ABSTAIN, "cannot_tell"
    return JudgeOutcome.SUCCESS, "all_met"


def _parts(criteria: Sequence[Criterion], readings: Mapping[str, CriterionReading]) -> list[_Part]:
    """Return what counts, in order: conditions first, then groups of one kind."""
    groups: dict[tuple[str, str, str], list[tuple[Criterion, CriterionReading]]] = {}
    for one in criteria:
        found = _under_condition(one, readings.get(one.id, UNKNOWN))
        if found is not None:
            groups.setdefault((one.kind, one.any_of, "" if one.any_of else one.id), []).append((one, found))
    return [_part(kind, members) for (kind, _, _), members in groups.items()]


def _under_condition(one: Criterion, found: CriterionReading) -> CriterionReading | None:
    """Return a reading where the criterion applies; None where it does not."""
    if not one.when or found.applies is Met.YES:
        return found
    return None if found.applies is Met.NO else UNKNOWN


def _part(kind: str, members: Sequence[tuple[Criterion, CriterionReading]]) -> _Part:
    verdicts = [found.verdict for _, found in members]
    verdict = Met.YES if Met.YES in verdicts else Met.NO if set(verdicts) == {Met.NO} else Met.CANNOT_TELL
    excused = [found.excused and found.verdict is Met.NO for _, found in members]
    return _Part(
        is_outcome=kind == "outcome",
        verdict=verdict,
        weight=max(one.weight for one, _ in members),
        excused=all(excused),
        n_blocked=sum(excused),
    )


def _process(parts: Sequence[_Part]) -> Process:
    counted = [part for part in parts if not part.excused]
    total = sum(part.weight for part in counted)
    if not total:
        return Process(score=None, upper=None)
    met = sum(part.weight for part in counted if part.verdict is Met.YES)
    open_ = sum(part.weight for part in counted if part.verdict is Met.CANNOT_TELL)
    return Process(score=_rounded(met, total), upper=_rounded(met + open_, total))


def _rounded(part: int, whole: int) -> float:
    return round(float(Fraction(part, whole)), 6)
