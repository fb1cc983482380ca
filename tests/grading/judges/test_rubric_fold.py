"""From criteria to a verdict: a table of every combination, and what no change of evidence may ever do."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.grading.judges.rubric.rubric_verdict import CriterionReading, Met, fold
from replaykit.grading.verdict import JudgeOutcome
from replaykit.tasks.rubric import Criterion

Y, N, C = Met.YES, Met.NO, Met.CANNOT_TELL
WORDS = {"Y": Y, "N": N, "?": C}


def criterion(id: str, **fields: Any) -> Criterion:
    return Criterion(id=id, statement="The page shows what was asked.", **fields)


def table(plain: str) -> dict[str, str]:
    """Read cells `YN?=F`: three readings, and S, F, A or 0 (no criterion left)."""
    return dict(cell.split("=") for cell in plain.split())


OUTCOMES = {
    "S": ("SUCCESS", "all_met"),
    "F": ("FAILURE", "not_met"),
    "A": ("ABSTAIN", "cannot_tell"),
    "0": ("ABSTAIN", "no_criteria"),
}
ALONE = table(
    "YYY=S YYN=F YY?=A YNY=F YNN=F YN?=F Y?Y=A Y?N=F Y??=A "
    "NYY=F NYN=F NY?=F NNY=F NNN=F NN?=F N?Y=F N?N=F N??=F "
    "?YY=A ?YN=F ?Y?=A ?NY=F ?NN=F ?N?=F ??Y=A ??N=F ???=A"
)
GROUPED = table(  # the first two are one group
    "YYY=S YYN=F YY?=A YNY=S YNN=F YN?=A Y?Y=S Y?N=F Y??=A "
    "NYY=S NYN=F NY?=A NNY=F NNN=F NN?=F N?Y=A N?N=F N??=A "
    "?YY=S ?YN=F ?Y?=A ?NY=A ?NN=F ?N?=A ??Y=A ??N=F ???=A"
)
CONDITION_HOLDS = ALONE
CONDITION_UNKNOWN = table(  # of the third: whatever it says, it is unknown
    "YYY=A YYN=A YY?=A YNY=F YNN=F YN?=F Y?Y=A Y?N=A Y??=A "
    "NYY=F NYN=F NY?=F NNY=F NNN=F NN?=F N?Y=F N?N=F N??=F "
    "?YY=A ?YN=A ?Y?=A ?NY=F ?NN=F ?N?=F ??Y=A ??N=A ???=A"
)
CONDITION_FAILS = table(  # the third is not there
    "YYY=S YYN=S YY?=S YNY=F YNN=F YN?=F Y?Y=A Y?N=A Y??=A "
    "NYY=F NYN=F NY?=F NNY=F NNN=F NN?=F N?Y=F N?N=F N??=F "
    "?YY=A ?YN=A ?Y?=A ?NY=F ?NN=F ?N?=F ??Y=A ??N=A ???=A"
)
GROUPED_WITHOUT_THE_SECOND = table(  # one group of two whose second is not there, and a third
    "YYY=S YYN=F YY?=A YNY=S YNN=F YN?=A Y?Y=S Y?N=F Y??=A "
    "NYY=F NYN=F NY?=F NNY=F NNN=F NN?=F N?Y=F N?N=F N??=F "
    "?YY=A ?YN=F ?Y?=A ?NY=A ?NN=F ?N?=A ??Y=A ??N=F ???=A"
)
PLAIN = [criterion("a"), criterion("b"), criterion("c")]
GROUP = [criterion("a", any_of="g"), criterion("b", any_of="g"), criterion("c")]
WHEN = [criterion("a"), criterion("b"), criterion("c", when="if it is there")]
BOTH = [criterion("a", any_of="g"), criterion("b", any_of="g", when="if it is there"), criterion("c")]


@pytest.mark.parametrize(
    ("criteria", "applies", "expected"),
    [
        (PLAIN, Y, ALONE),
        (PLAIN, N, ALONE),  # without a condition nobody asks whether it holds
        (GROUP, Y, GROUPED),
        (WHEN, Y, CONDITION_HOLDS),
        (WHEN, C, CONDITION_UNKNOWN),
        (WHEN, N, CONDITION_FAILS),
        (BOTH, Y, GROUPED),
        (BOTH, N, GROUPED_WITHOUT_THE_SECOND),
    ],
)
def test_every_combination_of_three_criteria(
    criteria: list[Criterion], applies: Met, expected: dict[str, str]
) -> None:
    assert len(expected) == 27
    for cell in map("".join, product("YN?", repeat=3)):
        pairs = zip(criteria, cell, strict=True)
        readings = {one.id: CriterionReading(verdict=WORDS[word], applies=applies) for one, word in pairs}
        found = fold(criteria, readings)
        assert (found.outcome, found.reason) == OUTCOMES[expected[cell]], cell


def test_nothing_left_is_no_success() -> None:
    gone = [criterion("a", when="if it is there"), criterion("b", kind="process")]
    found = fold(gone, {"a": CriterionReading(verdict=Y, applies=N), "b": CriterionReading(verdict=Y)})
    assert (found.outcome, found.reason) == ("ABSTAIN", "no_criteria")


def test_the_way_decides_nothing_and_counts_in_its_score() -> None:
    criteria = [
        criterion("a", weight=3),
        criterion("b", kind="process"),
        criterion("c", kind="process", weight=2),
    ]
    said = {
        "a": CriterionReading(verdict=Y),
        "b": CriterionReading(verdict=N),
        "c": CriterionReading(verdict=C),
    }
    found = fold(criteria, said)
    assert found.outcome == "SUCCESS"
    assert (found.process.score, found.process.upper) == (0.5, 0.833333)


def test_what_the_agent_could_not_help() -> None:
    walled = CriterionReading(verdict=N, excused=True)
    found = fold(PLAIN, {"a": walled, "b": CriterionReading(verdict=Y), "c": walled})
    assert (found.outcome, found.reason, found.n_blocked) == ("FAILURE", "blocked", 2)
    assert found.process.score == 1.0  # the excused ones count nowhere
    also = fold(PLAIN, {"a": walled, "b": CriterionReading(verdict=N), "c": CriterionReading(verdict=C)})
    assert (also.outcome, also.reason) == ("FAILURE", "not_met")
    all_ = fold(PLAIN, dict.fromkeys("abc", walled))
    assert (all_.process.score, all_.process.upper) == (None, None)


def test_a_task_that_cannot_be_done_is_no_failure() -> None:
    found = fold(PLAIN, dict.fromkeys("abc", CriterionReading(verdict=N)), invalid=True)
    assert (found.outcome, found.reason) == ("ABSTAIN", "task_invalid")


def test_without_a_reading_the_outcome_is_abstain() -> None:
    assert fold(PLAIN, {}).outcome == "ABSTAIN"


METS = st.sampled_from(list(Met))
READINGS = st.builds(CriterionReading, verdict=METS, applies=METS, excused=st.booleans())
CRITERIA = st.lists(
    st.tuples(
        st.sampled_from(["outcome", "process"]),
        st.sampled_from(["", "g", "h"]),
        st.sampled_from(["", "if so"]),
    ),
    min_size=1,
    max_size=12,
).map(
    lambda rows: [
        criterion(f"c{n}", kind=kind, any_of=group, when=when) for n, (kind, group, when) in enumerate(rows)
    ]
)


@given(criteria=CRITERIA, data=st.data())
def test_no_yes_turned_into_anything_else_ever_makes_a_success(
    criteria: list[Criterion], data: st.DataObject
) -> None:
    readings = {one.id: data.draw(READINGS) for one in criteria}
    invalid = data.draw(st.booleans())
    before = fold(criteria, readings, invalid=invalid)
    yes = [id for id, one in readings.items() if one.verdict is Y]
    fewer = dict(readings)
    for id in data.draw(st.lists(st.sampled_from(yes), unique=True)) if yes else ():
        other = data.draw(st.sampled_from([N, C, None]))
        if other is None:
            del fewer[id]
        else:
            fewer[id] = replace(readings[id], verdict=other)
    after = fold(criteria, fewer, invalid=invalid)
    if before.outcome is not JudgeOutcome.SUCCESS:
        assert after.outcome is not JudgeOutcome.SUCCESS


@given(criteria=CRITERIA, data=st.data())
def test_no_evidence_removed_ever_makes_a_success_or_raises_the_score(
    criteria: list[Criterion], data: st.DataObject
) -> None:
    """A reading whose evidence is gone: YES and the failed condition become unknown, an excuse falls."""
    readings = {one.id: data.draw(READINGS) for one in criteria}
    before = fold(criteria, readings)
    gone = {id: one for id, one in readings.items() if data.draw(st.booleans())}
    removed = {
        id: replace(
            one,
            verdict=C if one.verdict is Y else one.verdict,
            applies=C if one.applies is N else one.applies,
            excused=False,
        )
        for id, one in gone.items()
    }
    after = fold(criteria, {**readings, **removed})
    if before.outcome is not JudgeOutcome.SUCCESS:
        assert after.outcome is not JudgeOutcome.SUCCESS
    if before.process.score is not None and after.process.score is not None:
        assert after.process.score <= before.process.score
