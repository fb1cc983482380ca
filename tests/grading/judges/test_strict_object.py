"""Replies that end with one JSON object."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.replies.strict_object import DEPTH_MAX, last_object


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('So.\n```json\n{"a": 1}\n```\n', {"a": 1}),
        ('The page says {"a": 2}. Mine:\n{"a": 1}', {"a": 1}),
        ('{"a": "}{"}', {"a": "}{"}),
        ("a { b\n" + '{"a": 1}', {"a": 1}),
        (nested(DEPTH_MAX), json.loads(nested(DEPTH_MAX))),
        ('{"b": 2, "page": {"a": 1}', "no_object"),
        ('{"b": "}", "page": {"a": 1}', "no_object"),
        ('[{"a": 1}, {"a": 2}', {"a": 2}),
        ('{"a": 1} is what I say.', "not_final"),
        ('{"a": 1}\n{"b"', "not_final"),
        ('{"a": 1}{', "not_final"),
        ("", "no_object"),
        ("SUCCESS", "no_object"),
        ('["a"]', "no_object"),
        ('{"a": NaN}', "no_object"),
        (nested(DEPTH_MAX + 1), "no_object"),
        ('{"a":' * 20_000, "no_object"),
        ('{"' * 30_000, "no_object"),
        ('{"a": "' + "x" * 65_536 + '"}', "no_object"),
        ('{"a": 1, "a": 2}', "ambiguous"),
        ('{"b": [{"a": 1, "a": 1}]}', "ambiguous"),
        ('{"a": ' + "9" * 5000 + "}", "no_object"),
    ],
)
def test_replies(text, found):
    assert last_object(text, "end_turn") == found


@pytest.mark.parametrize(
    ("stop", "why"), [("max_tokens", "truncated"), ("refusal", "refused"), ("odd", "stopped")]
)
def test_replies_that_are_not_whole(stop, why):
    assert last_object('{"a": 1}', stop) == why


@given(st.text(alphabet='{}[]":, a1\\\n`', max_size=200))
def test_any_text_is_an_object_or_a_reason(text):
    assert isinstance(last_object(text, "end_turn"), dict | str)


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)), st.text(alphabet="{ab \n"))
def test_an_object_at_the_end_is_found(value, before):
    assert last_object(f"{before}\n{json.dumps(value)}", "end_turn") in (value, "no_object")
