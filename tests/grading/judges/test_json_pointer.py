"""Verdicts in JSON."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.custom_judge import json_verdict
from replaykit.tasks.judge_settings import JsonParser

PARSER = JsonParser(pointer="/verdict", success=("success", "pass"), failure="failure")


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ('{"verdict": "Success"}', "SUCCESS", "verdict"),
        ('Here:\n```json\n{"verdict": " failure "}\n```\n', "FAILURE", "verdict"),
        ('{"verdict": "pass"} then {"verdict": "failure"}', "FAILURE", "verdict"),
        ('The page shows {"total": 3}.\n{"verdict": "pass"}', "SUCCESS", "verdict"),
        ('{"verdict": "failure"} then {"verdict": "pass"}', "ABSTAIN", "ambiguous"),
        ('{"verdict": "failure", "verdict": "pass"}', "ABSTAIN", "ambiguous"),
        ('{"verdict": "failure", "page": {"verdict": "pass"}', "ABSTAIN", "no_object"),
        ('{"verdict": "pass"} Done [1].', "ABSTAIN", "not_final"),
        ('{"verdict": "maybe"}', "ABSTAIN", "unknown_token"),
        ('{"other": "success"}', "ABSTAIN", "unknown_token"),
        ('{"verdict": ["success"]}', "ABSTAIN", "unknown_token"),
        ("success", "ABSTAIN", "no_object"),
        ('{"verdict": "success"', "ABSTAIN", "no_object"),
        ("", "ABSTAIN", "empty_reply"),
    ],
)
def test_rows(text, outcome, reason):
    found = json_verdict(text, "end_turn", PARSER)
    assert (found.outcome, found.reason) == (outcome, reason)
    assert json_verdict(text, "max_tokens", PARSER).reason == "truncated"


def test_pointers_reach_into_lists_and_escaped_names():
    parser = JsonParser(pointer="/a~1b/1/c~0d")
    assert json_verdict('{"a/b": [0, {"c~d": true}]}', "end_turn", parser).outcome == "SUCCESS"
    assert json_verdict('{"a/b": [0, {"c~d": false}]}', "end_turn", parser).outcome == "FAILURE"
    assert json_verdict('{"a/b": [0]}', "end_turn", parser).reason == "unknown_token"


@given(st.text(alphabet='{}[]":,ab1 ', max_size=60))
def test_any_text_has_an_outcome(text):
    assert json_verdict(text, "end_turn", PARSER).outcome in ("SUCCESS", "FAILURE", "ABSTAIN")


def test_deep_and_long_replies_end():
    for mode, reason in (("strict", "no_object"), ("compat", "no_token")):
        assert json_verdict('{"a":' * 100_000, "end_turn", PARSER, mode).reason == reason
        assert json_verdict("{" * 1_000_000, "end_turn", PARSER, mode).reason == reason


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ('Here:\n```json\n{"verdict": " failure "}\n```\nDone [1].', "FAILURE"),
        ('{"verdict": "failure"} then {"verdict": "pass"}', "SUCCESS"),
        ('{"verdict": "failure", "verdict": "pass"}', "SUCCESS"),
    ],
)
def test_in_compat_mode_the_last_object_decides_whatever_stands_around_it(text, outcome):
    assert json_verdict(text, "end_turn", PARSER, "compat").outcome == outcome
