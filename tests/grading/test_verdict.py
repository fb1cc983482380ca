"""Outcomes combine by precedence; checks and judges compose as documented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.verdict import JudgeOutcome, Outcome, combine, compose

P, F, U, E = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDED, Outcome.ERROR
YES, NO, ABSTAIN, BROKEN = (
    JudgeOutcome.SUCCESS,
    JudgeOutcome.FAILURE,
    JudgeOutcome.ABSTAIN,
    JudgeOutcome.ERROR,
)


@pytest.mark.parametrize(
    ("outcomes", "strict", "compat"),
    [
        ([P, P], P, P),
        ([P, U], U, U),
        ([U, E], E, E),
        ([F, E], F, E),
        ([F, U, P], F, F),
        ([], P, P),
    ],
)
def test_combine_takes_the_worst(outcomes: list[Outcome], strict: Outcome, compat: Outcome) -> None:
    assert combine(outcomes) is strict
    assert combine(outcomes, "compat") is compat


@given(st.lists(st.sampled_from(list(Outcome))))
def test_combine_passes_only_if_all_pass(outcomes: list[Outcome]) -> None:
    assert (combine(outcomes) is P) == all(outcome is P for outcome in outcomes)


# Rows: checks; columns: judge SUCCESS, FAILURE, ABSTAIN, ERROR.
TABLES = {
    "rules_first": {P: (P, P, P, P), F: (F, F, F, F), U: (P, F, U, E), E: (P, F, U, E)},
    "and": {P: (P, F, U, E), F: (F, F, F, F), U: (U, F, U, E), E: (E, F, E, E)},
    "or": {P: (P, P, P, P), F: (P, F, U, E), U: (P, U, U, E), E: (P, E, E, E)},
}


@pytest.mark.parametrize("how", TABLES)
@pytest.mark.parametrize("rules", [P, F, U, E])
def test_all_combinations_of_checks_and_judge(how: str, rules: Outcome) -> None:
    found = tuple(compose(rules, [judge], how) for judge in (YES, NO, ABSTAIN, BROKEN))
    assert found == TABLES[how][rules]


def test_either_may_stand_alone() -> None:
    assert compose(None, [YES]) is P
    assert compose(F, []) is F
    assert compose(None, []) is None
    assert compose(U, [JudgeOutcome.NOT_EVALUATED]) is U


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ([YES, YES, NO], P),
        ([YES, NO, NO], F),
        ([YES, NO], U),
        ([YES, ABSTAIN, ABSTAIN], U),
        ([YES, BROKEN, BROKEN], E),
        ([BROKEN, ABSTAIN], U),
    ],
)
def test_several_judges_vote(votes: list[JudgeOutcome], outcome: Outcome) -> None:
    assert compose(None, votes) is outcome
