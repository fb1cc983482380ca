"""Charsets other than UTF-8: which codec reads a label, and how forms and URLs in them are read."""

from __future__ import annotations

import codecs
from urllib.parse import parse_qsl, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.charsets import LEGACY, as_bytes, codec_of, in_bytes, in_legacy_charsets, utf8_text
from replaykit.form_texts import form_in_utf8, text_of, url_in_utf8
from replaykit.trajectory.redaction_marks import UNREAD

TEXTS = {
    "windows-1252": "Müller & Söhne",
    "iso-8859-2": "Łódź",
    "windows-1251": "Иванов Пётр",
    "koi8-r": "Иванов Пётр",
    "Shift_JIS": "山田太郎様",
    "EUC-JP": "山田太郎様",
    "ISO-2022-JP": "山田太郎様",
    "gb18030": "王小明先生",
    "Big5": "陳大文先生",
    "EUC-KR": "홍길동",
}


def nothing() -> None: ...


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("ISO-8859-1", "cp1252"), ("latin1", "cp1252"), ("us-ascii", "cp1252"), ("windows-874", "cp874"),
        ("GBK", "gb18030"), ("gb2312", "gb18030"), ("x-gbk", "gb18030"), ("x-sjis", "cp932"), ("Windows-31J", "cp932"),
        ("euc-kr", "cp949"), ("x-mac-cyrillic", "mac-cyrillic"), ("macintosh", "mac-roman"), ("IBM866", "cp866"),
        ("iso-8859-8-i", "iso8859-8"), (" UTF-8 ", "utf-8"), ("utf-16le", "utf-16-le"),
        ("zip", None), ("unicode_escape", None), ("utf-7", None), ("idna", None), ("rot13", None), ("\0", None), ("", None),
    ],
)  # fmt: skip
def test_a_label_names_the_codec_that_browsers_use(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec


@given(st.text())
def test_a_label_names_a_charset_or_nothing(label: str) -> None:
    found = codec_of(label)
    assert found is None or codecs.lookup(found).name == found


@pytest.mark.parametrize("label", TEXTS)
def test_a_form_in_any_charset_is_read(label: str) -> None:
    codec = codec_of(label)
    assert codec is not None
    sent = f"who={quote_plus(TEXTS[label].encode(codec))}&plain=a+b%26c&n=%C3%BC"
    read = dict(parse_qsl(form_in_utf8(sent, lambda: codec)))
    assert read == {"who": TEXTS[label], "plain": "a b&c", "n": "ü"}
    assert dict(parse_qsl(form_in_utf8(sent, nothing)))["who"].count(UNREAD) >= 1
    assert text_of(TEXTS[label].encode(codec), lambda: codec) == TEXTS[label]


@given(st.lists(st.tuples(st.text(), st.text())))
def test_what_is_in_utf8_stays_as_it_is(pairs: list[tuple[str, str]]) -> None:
    encodable = [(a, b) for a, b in pairs if utf8_text((a + b).encode("utf-8", "surrogatepass")) is not None]
    form = "&".join(f"{quote_plus(a)}={quote_plus(b)}" for a, b in encodable)
    assert form_in_utf8(form, nothing) == form
    assert url_in_utf8(f"http://a.test/%FC?{form}", nothing) == f"http://a.test/%FC?{form}"
    assert in_bytes(form) == ()


@given(st.text(min_size=1), st.sampled_from(LEGACY))
def test_a_text_is_found_in_every_charset_that_has_its_letters(text: str, codec: str) -> None:
    try:
        data = text.encode(codec)
    except UnicodeEncodeError:
        return
    forms = in_legacy_charsets(text)
    assert (data in forms) is not text.isascii()
    for reading in in_bytes(f"a={quote_plus(data)}"):
        assert as_bytes(data) in reading


def test_bytes_that_are_no_text_are_unread() -> None:
    assert text_of(b"a\xffb", nothing) == f"a{UNREAD}b"
    assert text_of(b"a\x81b", lambda: "cp1252") == f"a{UNREAD}b"


def test_the_escapes_of_a_terminal_are_text() -> None:
    shown = "\x1b[31mM\xfcller\x1b[0m"
    assert text_of(shown.encode(), lambda: "cp1252") == shown
    assert text_of(b"\x1b$B", nothing) == f"{UNREAD}B"
