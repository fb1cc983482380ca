"""Scores of screenshots and of runs: worked rows of both modes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.replies.score_replies import own_score, reward_line, screenshot_score
from replaykit.tasks.judge_settings import ScoreParser

ROWS = [
    ("**Reasoning**: cart visible\n\n**Score**: 4", (4, "cart visible"), (4, "cart visible")),
    ("**Reasoning**: cart visible\n**Score**: 2", (2, "cart visible"), (2, "cart visible **Score**: 2")),
    (
        "1. **Reasoning**: cart\nvisible\n2. **Score**: 4",
        (4, "cart visible"),
        (4, "cart visible 2. **Score**: 4"),
    ),
    ("Score: 5/5", (5, ""), (5, "Score: 5/5")),
    ("**Score:** **5**", (5, ""), (5, "**Score:** **5**")),
    ("Score: 4 out of 5", (4, ""), (4, "Score: 4 out of 5")),
    ("Score this page first.\n**Score**: 3", (3, "Score this page first."), (0, "")),
    ("score: 3", (3, ""), (0, "")),
    ("**Score**: 12", (None, ""), (1, "**Score**: 12")),
    ("Score: 4/10", (None, ""), (4, "Score: 4/10")),
    ("**Score**: 3.5", (None, ""), (3, "**Score**: 3.5")),
    ("Score: 3, revised Score: 4", (None, ""), (3, "Score: 3, revised Score: 4")),
    ("Score: 0", (None, ""), (0, "")),
    ("no number", (None, "no number"), (0, "")),
    ("Score: 2-3", (None, ""), (2, "Score: 2-3")),
    ("Score: 80%", (None, ""), (0, "")),
    ("Score: 4 - highly relevant", (4, ""), (4, "Score: 4 - highly relevant")),
]


@pytest.mark.parametrize(("text", "strict", "compat"), ROWS)
def test_rows(text, strict, compat):
    found = screenshot_score(text, "end_turn", "strict")
    assert (found.score, found.reason) == strict
    found = screenshot_score(text, "end_turn", "compat")
    assert (found.score, found.reason) == compat


def test_a_cut_reply_has_no_score():
    assert screenshot_score("**Score**: 4", "max_tokens", "strict").score is None
    assert screenshot_score("**Score**: 4", "max_tokens", "compat").score == 4


@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from(["\n", " ", ". ", "\n\n"]))
def test_scores_that_disagree_are_none(one, other, between):
    found = screenshot_score(f"Score: {one}{between}Final score: {other}", "end_turn", "strict").score
    assert found == (one if one == other else None)


@given(st.text(max_size=60))
def test_any_text_has_a_score_or_none(text):
    assert screenshot_score(text, "end_turn", "strict").score in (None, 1, 2, 3, 4, 5)
    assert screenshot_score(text, "end_turn", "compat").score in (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("Grade: 8", "SUCCESS", "verdict"),
        ("**grade** (7)", "FAILURE", "verdict"),
        ("Grade: 8/10", "SUCCESS", "verdict"),
        ("Grade: 8/9", "ABSTAIN", "unknown_token"),
        ("Grade: 11", "ABSTAIN", "unknown_token"),
        ("Grade: 8\nGrade: 9", "ABSTAIN", "unknown_token"),
        ("eight", "ABSTAIN", "no_token"),
        ("", "ABSTAIN", "empty_reply"),
    ],
)
def test_a_header_of_one_s_own(text, outcome, reason):
    parser = ScoreParser(header="Grade", min=0, max=10, pass_at=8)
    found = own_score(text, "end_turn", parser)
    assert (found.outcome, found.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("Thought: fine\nReward: 4", "SUCCESS", "verdict"),
        ("Reward: 1\nReward: **5**.", "SUCCESS", "verdict"),
        ("Reward: 3", "FAILURE", "verdict"),
        ("Reward: 45", "ABSTAIN", "unknown_token"),
        ("Reward: 4 or 5", "ABSTAIN", "unknown_token"),
        ("4", "ABSTAIN", "no_token"),
    ],
)
def test_reward_lines(text, outcome, reason):
    found = reward_line(text, "end_turn")
    assert (found.outcome, found.reason) == (outcome, reason)
    assert reward_line(text, "refusal").reason == "refused"


def test_long_replies_take_no_longer_than_their_length():
    assert screenshot_score("score: " * 150_000, "end_turn", "strict").score is None
    assert screenshot_score("reasoning " * 100_000 + "score: 3", "end_turn", "strict").score == 3
    assert screenshot_score("score: " + "1.1" * 300_000, "end_turn", "strict").score is None
