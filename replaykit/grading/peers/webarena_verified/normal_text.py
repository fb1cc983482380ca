"""Texts as WebArena-Verified normalises them before it compares: ASCII, one case, one kind of blank."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from replaykit.patterns import lazy_pattern

Derender = Callable[[str], str]
"""Puts the name of a site in the place of its roots."""

_MARKS = dict.fromkeys(map(ord, "™®℠©"))
_HYPHENS = "-‐‑‒–—―−\u00ad"
_HYPHEN = lazy_pattern(rf"(?<=[a-zA-Z])[{_HYPHENS}]|[{_HYPHENS}](?=[a-zA-Z])")
_SPELLED = {
    "Є": "Ie", "Ъ": "'", "ъ": "'", "⁊": "&", "⁎": "*", "⁒": "%", "⁓": "~", "₰": "Pf", "₱": "P", "₲": "G",
    "₳": "A", "₴": "UAH", "₵": "C|", "₶": "L", "₷": "Sm", "₸": "T", "₹": "Rs", "₺": "L", "₻": "M", "₼": "m",
    "₽": "R", "₾": "l", "₿": "BTC", "℗": "(p)", "℮": "e", "−": "-", "∕": "/", "∖": "\\", "∗": "*", "∣": "|",
    "∶": ":", "∼": "~", "≤": "<=", "≥": ">=", "≦": "<=", "≧": ">=", "♠": "spades", "♡": "hearts",
    "♢": "diamonds", "♣": "clubs", "♤": "spades", "♥": "hearts", "♦": "diamonds", "♧": "clubs", "♯": "#",
    "א": "A", "ח": "H", "ך": "KH", "כ": "KH", "ק": "k", "Ŋ": "NG", "ŋ": "ng", "❘": "|", "❜": "'", "❝": '"',
    "❞": '"', "⟦": "[", "⟨": "<", "⟩": "> ", "し": "shi", "ち": "chi", "っ": "tsu", "つ": "tsu",
    "シ": "shi", "チ": "chi", "ッ": "tsu", "ツ": "tsu", "゠": "=", "・": "*", "ー": "-",
}  # fmt: skip
"""Signs that the package spells in another way than the tables here."""
_UNKNOWN = "[?]"
"""Mark of the tables for signs that they do not know; the package drops them."""


def is_pattern(value: Any) -> bool:
    """Return whether a value is a regular expression: a text between `^` and `$`."""
    return isinstance(value, str) and len(value) >= 2 and value.startswith("^") and value.endswith("$")


def peer_normal(text: str, derender: Derender | None = None) -> str:
    """Return a text in the package's normal form; expressions stay as they are."""
    if not text or is_pattern(text):
        return text
    if derender is not None and "http" in text:
        text = derender(text)
    text = unicodedata.normalize("NFKC", text.translate(_MARKS))
    text = _without_controls(_HYPHEN.sub(" ", text))
    return " ".join(_ascii(text).split()).casefold()


def bare(text: str) -> str:
    """Return a text without the punctuation around it."""
    return text.strip("'\"`.,;:!?")


def _without_controls(text: str) -> str:
    if text.isprintable():
        return text
    blanks = text.translate({9: " ", 10: " ", 13: " "})
    return "".join(char for char in blanks if not unicodedata.category(char).startswith("C"))


def _ascii(text: str) -> str:
    """Write a text in ASCII: letters and signs of all scripts spelled, others dropped."""
    return text if text.isascii() else "".join(map(_spelled, text))


@lru_cache(maxsize=4096)
def _spelled(char: str) -> str:
    from text_unidecode import unidecode  # its tables are large, and most texts are ASCII

    if char.isascii():
        return char
    found = _SPELLED.get(char) or str(unidecode(char))
    return "" if _UNKNOWN in found else found
