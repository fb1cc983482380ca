"""Votes: quorum, ties, and how often they flip."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.votes import majority, voted
from replaykit.grading.statistics import flip_rate
from replaykit.grading.verdict import Judgement, JudgeOutcome

LETTERS = {"S": "SUCCESS", "F": "FAILURE", "A": "ABSTAIN", "E": "ERROR"}


def outcomes(letters):
    return [JudgeOutcome(LETTERS[letter]) for letter in letters]


@pytest.mark.parametrize(
    ("votes", "majority_", "unanimous"),
    [
        ("SSS", "SUCCESS verdict", "SUCCESS verdict"),
        ("SSF", "SUCCESS verdict", "ABSTAIN tie"),
        ("SFF", "FAILURE verdict", "ABSTAIN tie"),
        ("SFA", "ABSTAIN tie", "ABSTAIN tie"),
        ("SEE", "ERROR no_quorum", "ERROR no_quorum"),
        ("SAA", "ABSTAIN no_quorum", "ABSTAIN no_quorum"),
        ("SAE", "ABSTAIN no_quorum", "ABSTAIN no_quorum"),
        ("SSFF", "ABSTAIN tie", "ABSTAIN tie"),
        ("SSAE", "SUCCESS verdict", "SUCCESS verdict"),
        ("S", "SUCCESS verdict", "SUCCESS verdict"),
        ("A", "ABSTAIN no_quorum", "ABSTAIN no_quorum"),
    ],
)
def test_rows(votes, majority_, unanimous):
    assert " ".join(majority(outcomes(votes))) == majority_
    assert " ".join(majority(outcomes(votes), "unanimous")) == unanimous


@given(st.lists(st.sampled_from("SFAE"), min_size=1, max_size=9), st.randoms())
def test_the_order_of_votes_does_not_matter(letters, random):
    shuffled = list(letters)
    random.shuffle(shuffled)
    assert majority(outcomes(letters)) == majority(outcomes(shuffled))


@given(st.lists(st.sampled_from("SFAE"), min_size=1, max_size=9))
def test_a_success_has_more_successes_than_failures(letters):
    outcome, _ = majority(outcomes(letters))
    if outcome is JudgeOutcome.SUCCESS:
        assert letters.count("S") > letters.count("F")
        assert 2 * (letters.count("S") + letters.count("F")) >= len(letters) - 1


def test_flip_rate():
    rows = [outcomes(row) for row in ("SSS", "SSF", "S", "SA", "FFA", "AEE")]
    assert flip_rate(rows) == Fraction(1, 3)
    assert flip_rate([outcomes("S")]) is None
    assert flip_rate([]) is None


def judgement(letter, reason="verdict", **fields):
    outcome = JudgeOutcome(LETTERS[letter])
    made = {"stages": ({"stage": "verdict"},), "origins": {"live": 1}, "other_mode": "FAILURE", **fields}
    return Judgement(judge="j", outcome=outcome, votes=(outcome,), reason=reason, fingerprint="f", **made)


def test_every_vote_is_kept():
    found = voted([judgement("S"), judgement("F"), judgement("S")])
    assert (found.outcome, found.reason, found.votes) == (
        "SUCCESS",
        "verdict",
        ("SUCCESS", "FAILURE", "SUCCESS"),
    )
    assert [stage["sample"] for stage in found.stages] == [0, 1, 2]
    assert (found.origins, found.other_mode) == ({"live": 3}, "FAILURE")


def test_one_vote_stays_as_it_is():
    assert voted([judgement("S")]) == judgement("S")


def test_errors_say_why():
    missed = judgement("E", "tape_miss", stages=(), detail="no reply", other_mode=None)
    found = voted([judgement("S"), missed, missed])
    assert (found.outcome, found.reason, found.detail) == ("ERROR", "tape_miss", "no reply")


def test_a_run_without_evidence_abstains_for_its_reason():
    blind = judgement("A", "no_evidence", stages=(), origins={}, other_mode=None)
    found = voted([blind, blind, blind])
    assert (found.outcome, found.reason, found.votes) == ("ABSTAIN", "no_evidence", ("ABSTAIN",) * 3)
