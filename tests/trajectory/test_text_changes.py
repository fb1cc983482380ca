"""Texts that were put into others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.trajectory.action import Element, Fill
from replaykit.trajectory.text_changes import alike, is_put_in

LETTERS = st.text("ab", max_size=8)


@given(LETTERS, LETTERS, LETTERS)
def test_a_text_that_was_put_in_is_found_wherever_it_is(start: str, text: str, end: str) -> None:
    assert is_put_in(text, start + end, start + text + end)


@given(LETTERS, LETTERS, LETTERS)
def test_whatever_is_found_was_put_in_at_one_place(text: str, before: str, after: str) -> None:
    places = range(len(before) + 1)
    assert is_put_in(text, before, after) == any(before[:at] + text + before[at:] == after for at in places)


@given(LETTERS, LETTERS)
def test_texts_are_alike_up_to_their_first_difference(one: str, other: str) -> None:
    count = alike(one, other)
    assert one[:count] == other[:count]
    assert one[count : count + 1] != other[count : count + 1] or one == other


@pytest.mark.parametrize(
    ("element", "after", "found"),
    [
        (Element(tag="input", value="delta"), "deltagamma", True),
        (Element(tag="div", text="delta"), "gammadelta", True),
        (Element(tag="input", value="delta"), "gamma", False),
        (Element(tag="input", value=""), "gamma", False),
        (Element(tag="input", value="delta"), None, False),
        (None, "gamma", False),
    ],
)
def test_a_fill_replaces_a_text_or_is_put_into_it(
    element: Element | None, after: str | None, found: bool
) -> None:
    assert Fill(element=element, value="gamma", value_after=after).is_put_in is found
