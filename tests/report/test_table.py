"""Text of strangers in a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from replaykit.report.text.table import safe, short, table


@given(st.text())
def test_nothing_that_a_terminal_obeys_gets_through(text: str) -> None:
    shown = safe(text)
    assert len(shown) == len(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


def test_an_escape_sequence_is_visible() -> None:
    assert safe("\x1b[31mred\u202eder\n") == "\ufffd[31mred\ufffdder "


def test_columns_align_and_numbers_stand_to_the_right() -> None:
    assert table([["run", "n"], ["a", "1"], ["bbbb", "22"]]) == ["run    n", "a      1", "bbbb  22"]


def test_wide_characters_take_two_columns() -> None:
    assert table([["a", "b"], ["漢", "x"]]) == ["a   b", "漢  x"]


@given(st.text(), st.integers(1, 20))
def test_short_keeps_to_its_limit(text: str, limit: int) -> None:
    assert len(short(text, limit)) <= limit
    assert short(text, limit) == text or short(text, limit).endswith("…")
