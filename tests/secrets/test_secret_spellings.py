"""A declared secret is found in the spellings that people and programs use; other texts stay."""

from __future__ import annotations

import html
import json
import re
import string
from html.entities import html5
from urllib.parse import quote_plus, unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.charsets import LEGACY
from replaykit.secrets.redactor import Redactor

SECRET = "Badge-QX-7781"
HIDDEN = "⟦secret:BADGE⟧"


def hidden(text: str, **secrets: str) -> str:
    return Redactor(secrets or {"BADGE": SECRET}).text(text)


def full_width(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


WAYS = {
    "upper case": str.upper,
    "lower case": str.lower,
    "swapped case": str.swapcase,
    "soft hyphens": "\u00ad".join,
    "signs without width": "\u200b".join,
    "byte order marks": "\ufeff".join,
    "full width": full_width,
    "hyphens that do not break": lambda text: text.replace("-", "\u2011"),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal in capitals": lambda text: text.encode().hex().upper(),
    "bytes of a program": lambda text: "".join(f"\\x{ord(one):02x}" for one in text),
    "code points of a program": lambda text: "".join(f"\\u{{{ord(one):x}}}" for one in text),
    "bytes of a mail": lambda text: "".join(f"={ord(one):02X}" for one in text),
    "escape()": lambda text: "".join(f"%u{ord(one):04X}" for one in text),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_secret_is_found_in_another_spelling(way) -> None:
    assert hidden(f"Is it {way(SECRET)}?") == f"Is it {HIDDEN}?"


credentials = st.text(string.ascii_letters + string.digits + "-_.!", min_size=8, max_size=16).filter(
    lambda text: any(map(str.isalpha, text)) and any(map(str.isdigit, text))
)


@given(credentials, st.sampled_from(sorted(WAYS)))
def test_any_credential_is_found_in_each_spelling(secret: str, way: str) -> None:
    assert hidden(WAYS[way](secret), BADGE=secret) == HIDDEN


def entities(text: str) -> str:
    names = {chars: name for name, chars in html5.items() if name.endswith(";") and name.islower()}
    return "".join(f"&{names[one]}" if one in names else one for one in text)


QUOTED = {
    "JSON in an attribute": lambda text: html.escape(json.dumps(text)[1:-1]),
    "JSON within JSON in an attribute": lambda text: html.escape(json.dumps(json.dumps(text)[1:-1])[1:-1]),
    "names of HTML": entities,
    "names of HTML without semicolons": lambda text: html.escape(text).replace(";", ""),
    "a text of Python": lambda text: repr(text)[1:-1],
    "bytes of Python": lambda text: repr(text.encode())[2:-1],
    "a text of SQL": lambda text: text.replace("'", "''"),
    "a word of a shell": lambda text: text.replace("'", "'\\''"),
    "Markdown": lambda text: re.sub(r"([*_<>&!|])", r"\\\1", text),
}

signs = st.text("abcXYZ019é/+=&<>\"'!*_|$", min_size=8, max_size=16)


@given(signs, st.sampled_from(sorted(QUOTED)))
def test_a_secret_with_signs_is_found_as_each_language_quotes_it(secret: str, way: str) -> None:
    written = QUOTED[way](secret)
    assert hidden(f"a {written} b", BADGE=secret) == f"a {HIDDEN} b"


@pytest.mark.parametrize(
    "text",
    [
        "Badge QX 7781",
        "Badge-QX-778",
        "adge-QX-7781",
        "Badge\u200b" * 50,
        "42616467652d51582d373738",
        "BADGE",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert hidden(text) == text


def test_the_case_of_a_word_counts() -> None:
    assert hidden("Tulip, TULIP and tulip", WORD="tulip") == "Tulip, TULIP and ⟦secret:WORD⟧"


def test_secrets_that_differ_in_case_only_keep_their_own_marks() -> None:
    assert hidden("tea-4711 TEA-4711 Tea-4711", LOW="tea-4711", UP="TEA-4711") == (
        "⟦secret:LOW⟧ ⟦secret:UP⟧ Tea-4711"
    )


@pytest.mark.parametrize("sign", ["\\", "&amp;", "%25", "\u200b", "B", "B" + "\u200b" * 9])
def test_many_signs_of_one_kind_take_no_time(sign: str) -> None:
    assert hidden(sign * 100_000) == sign * 100_000


@given(st.text(min_size=4, max_size=12), st.sampled_from(LEGACY), st.booleans())
def test_a_secret_in_another_charset_reaches_no_disk(secret: str, codec: str, is_encoded: bool) -> None:
    try:
        data = secret.encode(codec)
    except UnicodeEncodeError:
        return
    sent = b"who=" + (quote_plus(data).encode() if is_encoded else data) + b"&n=1"
    assert data not in unquote_to_bytes(
        Redactor({"WHO": secret}).blob("text/plain", sent).replace(b"+", b" ")
    )


@pytest.mark.parametrize("codec", ["cp1252", "iso8859-15", "mac-roman"])
def test_another_text_in_another_charset_stays(codec: str) -> None:
    sent = f"who={quote_plus('Jörgen Groß'.encode(codec))}".encode()
    assert Redactor({"WHO": "Jürgen Groß"}).blob("application/x-www-form-urlencoded", sent) == sent
