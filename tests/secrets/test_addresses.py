"""Addresses in texts: which of their parts are hidden, at any depth, in bounded time."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets.addresses import hide_in_addresses
from replaykit.secrets.redactor import NESTED_MAX, Redactor

SIGNS = st.text(st.sampled_from("ab:/?#&;=@.% \"'<>(,\\1"), max_size=30)


def marked(name: str, value: str) -> str:
    return "X" if name == "key" else value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://shop.test/?key=1&b=2 now", "see https://shop.test/?key=X&b=2 now"),
        ("see /a/b?key=1", "see /a/b?key=X"),
        ("url(../a?key=1)", "url(../a?key=X"),
        ("?key=1", "?key=X"),
        ('<a href="/a?key=1">', '<a href="/a?key=X">'),
        ("<b>/a?key=1</b>", "<b>/a?key=X</b>"),
        ("x=(/a/(/b?key=1", "x=(/a/(/b?key=X"),
        ("mailto:a@b.test?key=1", "mailto:a@b.test?key=X"),
        ("why?key=1", "why?key=1"),
        ("a:b?c d&key=1", "a:b?c d&key=1"),
        ("https://shop.test/a?#", "https://shop.test/a?#"),
        ("see https:\\/\\/shop.test\\/?key=1", "see https:\\/\\/shop.test\\/?key=X"),
    ],
)
def test_fields_of_addresses(text: str, shown: str) -> None:
    assert hide_in_addresses(text, marked) == shown


def test_a_program_has_absolute_addresses_only() -> None:
    text = "open('/a?key=1'), open('https://shop.test/?key=1')"
    shown = "open('/a?key=1'), open('https://shop.test/?key=X')"
    assert hide_in_addresses(text, marked, is_program=True) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ann:pw@shop.test", "https://⟦masked⟧@shop.test"),
        ("https://ann@shop.test", "https://⟦masked⟧@shop.test"),
        ("ssh://git@host", "ssh://git@host"),
        ("db+pg://u:pw@host", "db+pg://⟦masked⟧@host"),
        ("https://⟦secret:PASS⟧@shop.test", "https://⟦secret:PASS⟧@shop.test"),
        ("to=https%3A%2F%2Fann%3Apw%40shop.test", "to=https%3A%2F%2F⟦masked⟧%40shop.test"),
        ("https%3a%2f%2fann%40shop.test", "https%3a%2f%2fann%40shop.test"),
        ("a // b: c@d", "a // b: c@d"),
    ],
)
def test_users_of_addresses(text: str, shown: str) -> None:
    assert hide_in_addresses(text, lambda _, value: value) == shown


@given(SIGNS, st.booleans())
def test_a_text_without_secret_fields_keeps_its_signs(text: str, is_program: bool) -> None:
    plain = text.replace("@", "")
    assert hide_in_addresses(plain, lambda _, value: value, is_program=is_program) == plain


@given(SIGNS)
def test_hiding_twice_changes_nothing_more(text: str) -> None:
    once = hide_in_addresses(text + "?key=1", marked)
    assert hide_in_addresses(once, marked) == once


def nested(inner: str, levels: int) -> str:
    """Return an address that is in a field of an address, and so on."""
    for _ in range(levels):
        inner = f"https://shop.test/?next={quote(inner, safe='')}"
    return inner


@pytest.mark.parametrize("levels", range(NESTED_MAX + 1))
def test_addresses_in_addresses_are_read(levels: int) -> None:
    assert "hunter22" not in Redactor().text(nested("https://shop.test/?token=hunter22", levels))
    plain = nested("https://shop.test/?page=2", levels)
    assert Redactor().text(plain) == plain


@pytest.mark.parametrize("levels", [NESTED_MAX + 1, NESTED_MAX + 4])
def test_an_address_that_lies_deeper_is_hidden(levels: int) -> None:
    shown = Redactor().text(nested("https://shop.test/?page=2", levels))
    # Its percent signs may look like another secret as well.
    assert shown.startswith("https://shop.test/?next=⟦masked⟧")
    assert "page" not in shown


@pytest.mark.parametrize("levels", [300, 3000])
def test_fields_of_any_depth_end(levels: int) -> None:
    text = "https://shop.test/" + "?a=" * levels + "%" + "25" * levels + "41"
    assert Redactor().text(text) == "https://shop.test/?a=⟦masked⟧"


def packed(inner: str, levels: int) -> str:
    """Return JSON that is in base64 in JSON, and so on."""
    for _ in range(levels):
        inner = '{"a": "' + b64encode(inner.encode()).decode() + '"}'
    return inner


@pytest.mark.parametrize("levels", [1, NESTED_MAX, NESTED_MAX + 3])
def test_base64_in_base64(levels: int) -> None:
    assert Redactor().text(packed('{"token": "hunter22-9"}', levels)) == '{"a": "⟦masked⟧"}'
    plain = packed('{"page": "two of them"}', levels)
    assert Redactor().text(plain) == (plain if levels <= NESTED_MAX else '{"a": "⟦masked⟧"}')
