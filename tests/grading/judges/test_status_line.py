"""Status lines: worked rows of both modes, and that no dressing turns a failure into a success."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.replies.status_line import status_line

S, F, A = "SUCCESS", "FAILURE", "ABSTAIN"
V = "verdict"

ROWS = [
    ('Thoughts: dates match.\nStatus: "success"', (S, V), S),
    ("Status: Success.", (S, V), S),
    ("Status:\nsuccess", (S, V), S),
    ("*Status*: success", (S, V), F),
    ("Status = success", (S, V), F),
    ("- **Status**: success", (S, V), F),
    ("2. Status: success", (S, V), S),
    ("Thoughts: first the status: failure page, then fixed\nStatus: success", (S, V), F),
    ("Thoughts: the shipment status: success is shown, wrong parcel\nStatus: failure", (F, V), S),
    ("Status: unsuccessful.", (A, "unknown_token"), S),
    ("Status: mostly a success", (A, "unknown_token"), S),
    ("Status: failure, it was not successful", (A, "unknown_token"), S),
    ('Status: "success" or "failure"', (A, "unknown_token"), S),
    ("Status: success\nStatus: failure", (A, "ambiguous"), S),
    ("Status: failure", (F, V), F),
    ("Status: done", (A, "unknown_token"), F),
    ("success", (A, "no_token"), F),
    ("", (A, "empty_reply"), F),
    ("Status: successful", (A, "unknown_token"), S),
    ("Status: success (partially)", (A, "unknown_token"), S),
    ("Status: success isn't proven", (A, "unknown_token"), S),
    ("Status:\n\n\nStatus:", (A, "unknown_token"), F),
    ("status:\u200b succ\u200bess", (S, V), F),
]


@pytest.mark.parametrize(("text", "strict", "compat"), ROWS)
def test_rows(text, strict, compat):
    parsed = status_line(text, "end_turn", "strict")
    assert (parsed.outcome, parsed.reason) == strict
    assert status_line(text, "end_turn", "compat").outcome == compat


def test_a_reply_that_did_not_end_is_no_verdict():
    assert status_line("Status: success", "max_tokens", "strict").reason == "truncated"
    assert status_line("Status: success", "max_tokens", "compat").outcome == S


MARKS = st.sampled_from(["", "*", "**", "`", '"', "\u201c", "~~", "# ", "> ", "- ", " ", "\t", "\u200b"])
VALUES = st.sampled_from(["failure", "Failure", "FAILURE", "not success", "unsuccessful", "no success"])


@given(
    MARKS,
    MARKS,
    MARKS,
    st.sampled_from([":", " :", "=", ":\n"]),
    VALUES,
    st.sampled_from(["status", "Status"]),
)
def test_no_dressing_turns_failure_into_success(before, between, after, colon, value, word):
    text = f"Thoughts: fine\n{before}{word}{between}{colon} {between}{value}{after}"
    assert status_line(text, "end_turn", "strict").outcome != S


@given(st.text(max_size=80))
def test_any_text_has_an_outcome(text):
    for mode in ("strict", "compat"):
        assert status_line(text, "end_turn", mode).outcome in (S, F, A)


def test_many_lines_take_no_longer_than_their_length():
    assert status_line("status:\n" * 120_000, "end_turn", "strict").reason == "unknown_token"
    assert status_line("status:" * 140_000, "end_turn", "strict").outcome == A
