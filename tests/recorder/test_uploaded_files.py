"""Which uploaded files are text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.session.uploaded_files import text_of

LETTERS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(
    lambda t: t[0] != "\ufeff"
)


@given(LETTERS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_texts_are_read_back(text: str, encoding: str) -> None:
    assert text_of(text.encode(encoding)) == text


@given(st.binary())
def test_whatever_is_read_holds_no_zero(data: bytes) -> None:
    assert "\0" not in (text_of(data) or "")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0", b"\x1f\x8b\x08\0", b"PK\x03\x04", b"a\0b"])
def test_what_is_no_text(data: bytes) -> None:
    assert text_of(data) is None


def test_letters_of_old_files() -> None:
    assert text_of("Köln".encode("latin-1")) == "Köln"
