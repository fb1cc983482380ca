"""Answers between tags: worked rows of both modes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.replies.answer_tags import PeerRefusal, tags

S, F, A = "SUCCESS", "FAILURE", "ABSTAIN"
V = "verdict"

ROWS = [
    ("<success>Successful</success>", (S, V), S),
    ("<Success> 'successful.' </SUCCESS>", (S, V), F),
    ("<success>Unsuccessful</success>", (F, V), F),
    ("<success>unsuccesful</success>", (A, "unknown_token"), F),
    ("<success>yes</success>", (A, "unknown_token"), S),
    ("<success>Successful</success> or <success>Unsuccessful</success>", (A, "ambiguous"), S),
    ("<success>Unsuccessful</success>\n<success>Unsuccessful</success>", (F, V), F),
    ("<success>Successful", (A, "no_token"), F),
    ("<success></success>", (A, "unknown_token"), F),
    ("<success>n/a</success>", (A, "unknown_token"), A),
    ("<success>\u200bSuccess\u200bful</success>", (S, V), None),
    ("Successful", (A, "no_token"), F),
    ("", (A, "empty_reply"), F),
    ("<success>not successful</success>", (A, "unknown_token"), None),
]


@pytest.mark.parametrize(("text", "strict", "compat"), ROWS)
def test_rows(text, strict, compat):
    parsed = tags(text, "end_turn", "strict")
    assert (parsed.outcome, parsed.reason) == strict
    if compat is None:
        with pytest.raises(PeerRefusal):
            tags(text, "end_turn", "compat")
    else:
        assert tags(text, "end_turn", "compat").outcome == compat


def test_the_other_answers():
    text = (
        "<success>Successful</success><side>No</side><optimal>3. Somewhat Optimal</optimal><loop>Yes</loop>"
    )
    assert tags(text, "end_turn", "strict").extra == {"side_effect": False, "optimality": 3, "looping": True}
    assert tags(text, "end_turn", "compat").extra == {"side_effect": 0, "optimality": 3, "looping": 1}
    text = (
        "<success>Successful</success><side>Perhaps</side><optimal>3</optimal><loop>No</loop><loop>Yes</loop>"
    )
    assert tags(text, "end_turn", "strict").extra == {
        "side_effect": None,
        "optimality": None,
        "looping": None,
    }
    with pytest.raises(PeerRefusal, match="perhaps"):
        tags(text, "end_turn", "compat")


@pytest.mark.parametrize(
    ("label", "number"),
    [("1. x", 1), ("a complete failure", 1), ("Suboptimal", 2), ("partially successful", 3), ("4. x", 4)],
)
def test_the_peer_s_optimality(label, number):
    assert tags(f"<optimal>{label}</optimal>", "end_turn", "compat").extra["optimality"] == number


def test_a_closing_tag_before_its_opening_is_no_answer():
    assert tags("</success><success>Successful", "end_turn", "compat").outcome == F


def test_a_cut_reply_is_no_verdict():
    assert tags("<success>Successful</success>", "max_tokens", "strict").reason == "truncated"


DRESS = st.sampled_from(["", " ", "\n", "*", "**", "`", '"', "'", "\u201c", "\u200b", ".", "_"])


@given(
    st.lists(DRESS, min_size=6, max_size=6),
    st.sampled_from(["Unsuccessful", "unsuccessful", "not successful"]),
)
def test_no_dressing_turns_failure_into_success(dress, value):
    a, b, c, d, e, f = dress
    text = f"{a}<success>{b}{c}{value}{d}{e}</success>{f}"
    assert tags(text, "end_turn", "strict").outcome != S


@given(st.text(alphabet="<>/success loplY\n", max_size=80))
def test_any_text_has_an_outcome(text):
    assert tags(text, "end_turn", "strict").outcome in (S, F, A)


def test_many_tags_take_no_longer_than_their_length():
    assert tags("<success>" * 110_000, "end_turn", "strict").outcome == A
    assert tags("<success" + " " * 1_000_000, "end_turn", "strict").outcome == A
