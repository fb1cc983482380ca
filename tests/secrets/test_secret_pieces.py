"""A hidden text is compared with the secrets: what may hold a part of one is never taken for free of it."""

from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from replaykit.secrets.secret_pieces import SecretPieces, holds_letters

SECRET = "badge-QX-7781"
PIECES = SecretPieces([SECRET, "4711"])


@pytest.mark.parametrize("text", ["hunter2", "Winter2026!", "a b", "471", "correct horse battery"])
def test_a_text_without_a_piece_of_a_secret_is_free_of_it(text: str) -> None:
    assert SecretPieces([SECRET]).are_absent(text)


@pytest.mark.parametrize(
    "text",
    ["7781", "QX", "7", "bádge", "BADGE", "1 8 7 7", "x4711", "4-7-1-1", "!", "", SECRET.encode().hex()],
)
def test_a_text_that_may_be_a_piece_is_not(text: str) -> None:
    assert not PIECES.are_absent(text)


def test_of_no_secret_nothing_is_known() -> None:
    assert not SecretPieces([]).are_absent("hunter2")
    assert not SecretPieces(["!!??"]).are_absent("hunter2")


WAYS = [
    str,
    str.upper,
    lambda text: text[::-1],
    lambda text: quote(text, safe=""),
    lambda text: quote(quote(text, safe=""), safe=""),
    lambda text: "".join(f"&#{ord(one)};" for one in text),
    " ".join,
    lambda text: text.encode().hex(),
    lambda text: base64.b64encode(text.encode()).decode(),
]


# HTML reads references to control characters as other characters.
SIGNS = st.characters(exclude_categories=["Cs", "Cc"])


@example("000\u0131", str.upper, "")
@given(st.text(SIGNS, min_size=4, max_size=20), st.sampled_from(WAYS), st.text("xyz!", max_size=5))
def test_no_usual_way_to_write_a_secret_passes(secret, way, around) -> None:
    assert not SecretPieces([secret]).are_absent(way(secret))
    # At the end of it, base64 mixes the last signs of a text with what follows.
    assert not SecretPieces([secret]).are_absent(f"{around} {way(secret)} {around}")


@given(st.text(min_size=4, max_size=20), st.integers(0, 16), st.integers(4, 20))
def test_no_part_of_a_secret_passes(secret: str, start: int, length: int) -> None:
    part = secret[start : start + length]
    assume(part)
    assert not SecretPieces([secret]).are_absent(part)


@pytest.mark.parametrize(
    ("text", "part", "holds"),
    [("ab-QX 7781", "qx-7781", True), ("abc", "d", False), ("a!!b", "!!", True), ("a", "!!", False)],
)
def test_letters_within_a_text(text: str, part: str, holds: bool) -> None:
    assert holds_letters(text, part) is holds
