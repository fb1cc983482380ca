"""Texts in UTF-16 and UTF-32: secrets in them are found, wherever in a body they begin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets.redactor import Redactor
from replaykit.secrets.utf16_bodies import wide_texts

ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


@given(st.sampled_from(ENCODINGS), st.text(max_size=20), st.binary(max_size=3))
def test_a_secret_is_found_wherever_it_begins(encoding: str, after: str, before: bytes) -> None:
    found = Redactor({"badge": "QX-7781-BADGE"}).scan(
        before + ("QX-7781-BADGE" + after).encode(encoding, "replace")
    )
    assert found is not None and found.is_declared


@given(st.sampled_from(ENCODINGS[:3]), st.text("äöüßéñ日本語", min_size=4, max_size=20))
def test_other_letters_than_ascii_are_read(encoding: str, text: str) -> None:
    assert any(text in wide for wide in wide_texts(("password: " + text).encode(encoding)))


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=50))
def test_a_text_in_utf_8_is_no_wide_text(text: str) -> None:
    assert wide_texts(text.encode()) == ()


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xfe", b"\xff\xfe\x00", b"\x00" * 7])
def test_nothing_raises(data: bytes) -> None:
    assert Redactor({"badge": "QX-7781-BADGE"}).scan(data) is None
