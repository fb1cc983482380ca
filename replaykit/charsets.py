"""Charsets of pages that are not in UTF-8: what their bytes mean, and how a text looks in each of them.

A form is sent in the charset of its page, and nothing in the request names it. Which charsets there are, and
under which names, is the WHATWG Encoding Standard's; Python has a codec for each of them.
"""

from __future__ import annotations

import codecs
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from replaykit.patterns import lazy_pattern

_BROWSER_CODECS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Codecs that Python names, and the ones by which browsers read what is labelled so."""

LEGACY = (
    *(f"cp125{number}" for number in range(9)),
    *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *("koi8-r", "koi8-u", "cp866", "cp874", "mac-roman", "mac-cyrillic"),
    *("gb18030", "big5hkscs", "euc_jp", "iso2022_jp", "cp932", "cp949"),
)
"""Codecs of all charsets but UTF-8 and UTF-16 in which a page can be: no form is sent in UTF-16."""

_CODECS = frozenset({*LEGACY, "utf-8", "utf-16", "utf-16-le", "utf-16-be"})
ENCODED = lazy_pattern(r"%[89A-Fa-f]|%1[Bb]")
"""Percent-encoded bytes that may be text in another charset."""

SHIFTS = ("\x1b$", "\x1b(")
"""Escapes with which ISO-2022-JP changes its signs. Those of terminals differ."""

_PARTS = lazy_pattern(r"^(?:x-)+|-[ie]$")
"""Parts of labels before and after names that Python knows."""

_NAMES = {"macintosh": "mac-roman", "windows-31j": "cp932", "windows-874": "cp874"}


@lru_cache(maxsize=256)
def codec_of(label: str) -> str | None:
    """Return the codec that reads what is labelled so; None where browsers know no such charset."""
    # A page may name any codec of Python, such as those that run programs or inflate.
    plain = _PARTS.sub("", label.strip().lower())
    try:
        found = codecs.lookup(_NAMES.get(plain, plain)).name
    except (LookupError, ValueError):  # a label with a NUL
        return None
    name = _BROWSER_CODECS.get(found, found)
    return name if name in _CODECS else None


def utf8_text(data: bytes) -> str | None:
    """Return the text of bytes that are UTF-8; ISO-2022-JP is not, which has its own escapes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if any(shift in text for shift in SHIFTS) else text


@lru_cache(maxsize=256)
def in_legacy_charsets(text: str) -> tuple[bytes, ...]:
    """Return each form in bytes that a text has in a charset other than UTF-8; nothing for ASCII."""
    if text.isascii():
        return ()
    return tuple(dict.fromkeys(data for codec in LEGACY if (data := _encoded(text, codec))))


def _encoded(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        return b""


def as_bytes(data: bytes) -> str:
    """Return a text of one character for each byte, in which `in_legacy_charsets` can be searched."""
    return data.decode("latin-1")


def in_bytes(text: str) -> tuple[str, ...]:
    """Return a text that holds percent-encoded bytes which are not UTF-8, as its bytes; else nothing."""
    if ENCODED.search(text) is None:
        return ()
    data = unquote_to_bytes(text.replace("+", " "))
    return () if utf8_text(data) is not None else (as_bytes(data),)
