"""Values that a text gives in another form: dates, times, numbers, telephone numbers."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.given_values import in_another_form
from replaykit.grading.values.normal_form import fold

TASK = fold(
    "Book a table for two people on May 6, 2024 at 7pm for Ines, phone (412) 555-0117, budget $1,200, code QX-7781."
)


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-06",
        "05/06/2024",
        "06.05.2024",
        "19:00",
        "7:00 pm",
        "2024-05-06t19:00",
        "2",
        "1200",
        "1200.00",
        "4125550117",
        "412-555-0117",
    ],
)
def test_the_same_value(value: str) -> None:
    assert in_another_form(value, TASK) is True


@pytest.mark.parametrize("value", ["+14125550117", "qx 7781", "qx7781", "1"])
def test_perhaps_the_same_value(value: str) -> None:
    assert in_another_form(value, TASK) is None


@pytest.mark.parametrize(
    "value",
    [
        "2024-06-07",
        "2025-05-06",
        "20:00",
        "2024-05-06t20:00",
        "3",
        "1300",
        "4125550118",
        "qx7782",
        "bob",
        "",
        "--",
    ],
)
def test_another_value(value: str) -> None:
    assert in_another_form(value, TASK) is False


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2024-05-06", "book it for may 6"),
        ("2024-05-06", "book it for next monday"),
        ("2024-05-06", "book it for tomorrow"),
        ("19:00", "book it at 7"),
        ("19:30", "book it in the evening"),
        ("2024-05-06t19:00", "book it for may 6, 2024 at 7"),
        ("1", "order a kettle"),
    ],
)
def test_what_a_text_leaves_open(value: str, text: str) -> None:
    assert in_another_form(value, text) is None


@given(st.dates(date(1971, 1, 1), date(2068, 12, 31)), st.dates(date(1971, 1, 1), date(2068, 12, 31)))
def test_dates_are_compared_by_value(one: date, other: date) -> None:
    text = fold(f"On {one:%B} {one.day}, {one.year}.")
    assert in_another_form(f"{other:%Y-%m-%d}", text) is (one == other)


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 23), st.integers(0, 59))
def test_times_are_compared_by_value(hour: int, minute: int, other: int, other_minute: int) -> None:
    text = f"at {hour % 12 or 12}:{minute:02} {'pm' if hour >= 12 else 'am'}."
    found = in_another_form(f"{other:02}:{other_minute:02}", text)
    assert (found is not False) == (
        (hour, minute) == (other, other_minute) or (other <= 12 and found is None)
    )
    assert found is not True or (hour, minute) == (other, other_minute)


@given(st.text(max_size=30), st.text(max_size=60))
def test_nothing_raises(value: str, text: str) -> None:
    assert in_another_form(fold(value), fold(text)) in (True, False, None)
