"""Numbered messages of a page: whoever takes one out leaves a hole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.tab.cdp_worlds import Numbers
from replaykit.recorder.page.page_script import split_number


@given(st.integers(0, 10**14), st.text())
def test_a_number_comes_before_its_message(number: int, text: str) -> None:
    assert split_number(f"{number} {text}") == (number, text)


@pytest.mark.parametrize("text", ["", "{}", '{"k": 1}', "x {}", "-1 {}", "٣ {}", "1" * 16 + " {}"])
def test_a_message_without_a_number_is_whole(text: str) -> None:
    assert split_number(text) == (None, text)


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([0, 1, 2], 0),
        ([0, 2], 1),
        ([2], 2),
        ([0, 1, 1], 1),
        ([0, 1, 0, 1], 0),  # the first, empty document of a window and the one that takes its place
        ([None, 0, None, 1], 0),
    ],
)
def test_what_is_missing_is_counted(numbers: list[int | None], missing: int) -> None:
    received = Numbers()
    assert sum(received.misses(number) for number in numbers) == missing


@given(st.sets(st.integers(1, 30)), st.integers(31, 40))
def test_every_message_that_is_taken_out_is_missed(taken: set[int], last: int) -> None:
    received = Numbers()
    assert sum(received.misses(number) for number in range(last + 1) if number not in taken) == len(taken)
