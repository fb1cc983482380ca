"""Verdicts by a share: what counts, that thresholds only ever leave a verdict out or follow the counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.share_thresholds import (
    PROCESS_PARTS,
    Share,
    ShareThresholds,
    ThresholdFile,
    by_thresholds,
    share_of,
)
from replaykit.grading.verdict import Judgement, JudgeOutcome

S, F, A, E = JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE, JudgeOutcome.ABSTAIN, JudgeOutcome.ERROR
MARK = "sha256:" + "1" * 64
FILE_DIGEST = "sha256:" + "2" * 64
RUBRIC = "sha256:" + "3" * 64


def judgement(outcome: JudgeOutcome = S, **said: Any) -> Judgement:
    return Judgement(judge="j", outcome=outcome, reason="verdict", fingerprint=MARK, **said)


def panel(*said: JudgeOutcome, outcome: JudgeOutcome = S, reason: str = "quorum") -> Judgement:
    members = tuple({"judge": f"m{n}", "outcome": str(one)} for n, one in enumerate(said))
    return replace(judgement(outcome, members=members), reason=reason)


def thresholds(accept: str | None = None, reject: str | None = None) -> ThresholdFile:
    known = {MARK: ShareThresholds(accept=accept, reject=reject)}
    return ThresholdFile(name="c.json", digest=FILE_DIGEST, judges=known)


@pytest.mark.parametrize(
    ("one", "share"),
    [
        (judgement(votes=(S, S, F)), (Fraction(2, 3), Fraction(2, 3), 3)),
        (judgement(votes=(S, A, F, E)), (Fraction(1, 4), Fraction(3, 4), 4)),
        (judgement(votes=(S,)), None),
        (panel(S, S, A), (Fraction(2, 3), 1, 3)),
        (panel(S, S, F, outcome=F, reason="veto"), (0, 0, 3)),
        (panel(S, S, E, F, outcome=F), (0, Fraction(3, 4), 4)),
        (judgement(E, votes=(E, E)), None),
        (judgement(S, process={"score": 0.75, "upper": 0.8}), (Fraction(3, 4), 1, PROCESS_PARTS)),
        (judgement(F, process={"score": 0.75, "upper": 0.8}), (0, Fraction(4, 5), PROCESS_PARTS)),
        (judgement(A, process={"score": 0.75, "upper": 0.8}), (0, 1, PROCESS_PARTS)),
        (judgement(S, process={"score": None, "upper": None}), (0, 1, PROCESS_PARTS)),
        (judgement(S, votes=(S, F, S), process={"score": 0.75, "upper": 0.8}), (Fraction(2, 3),) * 2 + (3,)),
    ],
)
def test_the_share_is_of_members_then_votes_then_the_process(one: Judgement, share: Any) -> None:
    assert share_of(one) == (None if share is None else Share(*share))


@pytest.mark.parametrize(
    ("votes", "outcome", "reason"),
    [
        ((S, S, S), S, "verdict"),
        ((S, S, F), A, "below_threshold"),
        ((S, S, A), A, "below_threshold"),
        ((S, F, F), A, "below_threshold"),
        ((F, F, F), F, "verdict"),
    ],
)
def test_between_the_thresholds_there_is_no_verdict(votes: Any, outcome: JudgeOutcome, reason: str) -> None:
    before = S if votes.count(S) > 1 else F
    found = by_thresholds(judgement(before, votes=votes), thresholds("1", "0"), "t")
    assert (found.outcome, found.reason) == (outcome, reason)
    assert isinstance(found.share, dict)
    assert (found.share["accept"], found.share["reject"], found.share["was"]) == ("1", "0", str(before))


def test_a_threshold_decides_what_was_a_tie() -> None:
    tie = replace(judgement(A, votes=(S, S, F, F)), reason="tie")
    found = by_thresholds(tie, thresholds("1/2"), "t")
    assert (found.outcome, found.reason) == (S, "threshold")


def test_an_abstention_keeps_its_reason_and_an_error_its_outcome() -> None:
    silent = replace(judgement(A, votes=(A, A, A)), reason="no_evidence")
    assert by_thresholds(silent, thresholds("1", "0"), "t").reason == "no_evidence"
    lost = replace(judgement(E, votes=(E, E, S)), reason="timeout")
    assert by_thresholds(lost, thresholds("1/3", "0"), "t").outcome is E
    off = Judgement(judge="j", outcome=JudgeOutcome.NOT_EVALUATED, reason="off", fingerprint="")
    assert by_thresholds(off, thresholds("1"), "t") is off


def test_the_digest_of_the_file_goes_into_the_basis_and_the_rubric_stays_apart() -> None:
    plain = by_thresholds(judgement(votes=(S, S)), thresholds("1"), "t")
    assert plain.basis == f"calibration:{FILE_DIGEST}"
    assert (plain.fingerprint, plain.rubric, plain.bases) == (MARK, None, ())
    process = {"score": 1.0, "upper": 1.0}
    both = by_thresholds(judgement(basis=RUBRIC, process=process), thresholds("1"), "t")
    assert both.basis == f"{RUBRIC} calibration:{FILE_DIGEST}"
    assert (both.rubric, both.bases) == (RUBRIC, (RUBRIC,))


def test_a_judge_without_thresholds_is_refused() -> None:
    other = replace(judgement(votes=(S, S)), fingerprint="sha256:" + "9" * 64)
    with pytest.raises(JudgeError, match=r"fingerprint sha256:9{12} has no thresholds in c.json.*--choose"):
        by_thresholds(other, thresholds("1"), "t")


accepting = st.one_of(st.none(), st.integers(1, 20).map(lambda n: str(Fraction(n, 20))))
rejecting = st.one_of(st.none(), st.integers(0, 19).map(lambda n: str(Fraction(n, 20))))


@given(st.sampled_from([S, F, A]), st.floats(0, 1), st.floats(0, 1), accepting, rejecting)
def test_a_process_score_never_makes_a_verdict(outcome, first, second, accept, reject) -> None:
    process = {"score": min(first, second), "upper": max(first, second)}
    found = by_thresholds(judgement(outcome, process=process), thresholds(accept, reject), "t")
    assert found.outcome in (outcome, A)


@given(st.lists(st.sampled_from([S, F, A, E]), min_size=2, max_size=9), st.data(), accepting, rejecting)
def test_fewer_votes_for_it_never_make_a_success(said, data, accept, reject) -> None:
    place = data.draw(st.integers(0, len(said) - 1))
    less = [data.draw(st.sampled_from([F, A, E])) if n == place else one for n, one in enumerate(said)]
    known = thresholds(accept, reject)
    for kind in (panel, lambda *votes, outcome: judgement(outcome, votes=votes)):
        before, after = (by_thresholds(kind(*one, outcome=A), known, "t").outcome for one in (said, less))
        if before is not S and said[place] is not E:
            assert after is not S


@given(st.lists(st.sampled_from([S, F, A]), min_size=1, max_size=9))
def test_no_panel_succeeds_while_a_member_is_missing(said) -> None:
    assert by_thresholds(panel(*said, E, outcome=F), thresholds("1/9"), "t").outcome is not S
