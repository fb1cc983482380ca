"""Verdicts in replies: worked rows of both modes, and that no dressing turns a failure into a success."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.replies.verdict_token import failure_token, normalised, success_token

S, F, A = "SUCCESS", "FAILURE", "ABSTAIN"

ROWS = [
    ("The cart shows two items.\nSUCCESS", (S, "verdict"), S),
    ("Verdict: **SUCCESS**.", (S, "verdict"), S),
    ("The order is there, so the result is SUCCESS.", (S, "verdict"), S),
    ("Final verdict: **NOT SUCCESS**", (F, "verdict"), F),
    ("It is missing, so this is not SUCCESS.", (F, "verdict"), S),
    ("Verdict: *NOT*  SUCCESS", (F, "verdict"), S),
    ("so: NOT\nSUCCESS", (F, "verdict"), S),
    ("It is NOT_SUCCESS", (F, "verdict"), S),
    ("The run was UNSUCCESSFUL.", (A, "no_token"), S),
    ("SUCCESSFUL", (A, "no_token"), S),
    ("At best a partial SUCCESS", (A, "hedged"), S),
    ("Neither list proves SUCCESS.", (A, "hedged"), S),
    ("It isn't a SUCCESS.", (A, "hedged"), S),
    ("It isn\u2019t a SUCCESS.", (A, "hedged"), S),
    ("The banner says:\nSUCCESS\nbut the basket is empty.", (A, "not_final"), S),
    ("SUCCESS\n\nThe map shows the route.", (A, "not_final"), S),
    ("SUCCESS\n\nOn reflection the date is wrong: NOT SUCCESS.", (F, "verdict"), F),
    ("First pass: NOT SUCCESS.\nThe second screenshot shows the order.\nSUCCESS", (S, "verdict"), F),
    ("I must answer 'SUCCESS' or 'NOT SUCCESS'.", (A, "ambiguous"), F),
    ("SUC\u200bCESS", (S, "verdict"), A),
    ("Success", (A, "no_token"), A),
    ("FAILURE", (A, "no_token"), A),
    ("", (A, "empty_reply"), A),
    (" \n", (A, "empty_reply"), A),
    # what stands between, and just before, does not hide a doubt
    ("This is not:\nSUCCESS", (A, "hedged"), S),
    ("I would call it almost - **SUCCESS**", (A, "hedged"), S),
    ("The verdict is <b>SUCCESS</b>", (S, "verdict"), S),
    ("# Verdict\n\n> `SUCCESS`", (S, "verdict"), S),
    ("The verdict: NOT-SUCCESS", (F, "verdict"), S),
    ("\uff33\uff35\uff23\uff23\uff25\uff33\uff33", (S, "verdict"), A),
    ("KNOT SUCCESS", (S, "verdict"), F),
    ("SUCCESS2", (A, "no_token"), S),
]


@pytest.mark.parametrize(("text", "strict", "compat"), ROWS)
def test_rows(text, strict, compat):
    parsed = success_token(text, "end_turn", "strict")
    assert (parsed.outcome, parsed.reason) == strict
    assert success_token(text, "end_turn", "compat").outcome == compat


def test_a_verdict_that_was_taken_back_is_noted():
    taken = success_token("NOT SUCCESS.\nNo, wait: the order is there.\nSUCCESS", "end_turn", "strict")
    assert (taken.outcome, taken.contradiction) == (S, True)
    assert success_token("SUCCESS\nWrong date.\nNOT SUCCESS", "end_turn", "strict").contradiction
    assert not success_token("All there.\nSUCCESS", "end_turn", "strict").contradiction


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        ("max_tokens", "truncated"),
        ("refusal", "refused"),
        ("model_context_window_exceeded", "context_full"),
        ("pause_turn", "stopped"),
        ("", "stopped"),
    ],
)
def test_a_reply_that_did_not_end_is_no_verdict(stop, reason):
    parsed = success_token("SUCCESS", stop, "strict")
    assert (parsed.outcome, parsed.reason) == (A, reason)
    assert success_token("SUCCESS", stop, "compat").outcome == S
    assert success_token("SUCCESS", "stop_sequence", "strict").outcome == S


WORDS = st.sampled_from(["the page", "shows", "SUCCESS", "NOT", "not", "is", ".", "\n", "done", "!", "it's"])
DRESSING = st.sampled_from(["*", "**", "`", "_", " ", '"', "\u201c", "~~", "\u200b", "#", "> "])


@given(st.lists(WORDS, max_size=8))
def test_a_failure_at_the_end_never_succeeds(words):
    text = " ".join([*words, "NOT SUCCESS"])
    assert success_token(text, "end_turn", "strict").outcome != S


@given(st.lists(WORDS, max_size=6), DRESSING, DRESSING, st.sampled_from([" ", "  ", "\n", "\t", "_", "-"]))
def test_no_dressing_turns_failure_into_success(words, before, after, between):
    text = " ".join([*words, f"{before}NOT{between}SUCCESS{after}"])
    assert success_token(text, "end_turn", "strict").outcome != S


@given(st.text(max_size=60))
def test_any_text_has_an_outcome_and_a_normal_form(text):
    assert success_token(text, "end_turn", "strict").outcome in (S, F, A)
    assert "*" not in normalised(text)


def test_a_long_reply_takes_no_longer_than_its_length():
    text = "not " * 50_000 + "SUCCESS"
    assert success_token(text, "end_turn", "strict").outcome == F
    assert success_token("a. " * 60_000 + "SUCCESS", "end_turn", "strict").outcome == S
    assert success_token("x" * 200_000 + " SUCCESS", "end_turn", "strict").outcome == S
    assert success_token("<a " * 60_000 + "SUCCESS", "end_turn", "strict").outcome == S
    assert success_token("NOT\n" * 50_000 + "x SUCCESS", "end_turn", "strict").outcome == S


@pytest.mark.parametrize(
    ("text", "compat"), [("FAILURE", F), ("SUCCESS", S), ("", S), ("Failure", S), ("NOT SUCCESS", S)]
)
def test_the_copy_s_token(text, compat):
    assert failure_token(text, "end_turn", "compat").outcome == compat
    strict = failure_token(text, "end_turn", "strict")
    assert strict == success_token(text, "end_turn", "strict")
