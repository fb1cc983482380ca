"""Texts as WebArena-Verified normalises them before it compares: ASCII, one case, one kind of blank."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

Derender = Callable[[str], str]
"""Puts the name of a site in the place of its roots."""

_MARKS = dict.fromkeys(map(ord, "™®℠©"))
_HYPHENS = "-‐‑‒–—―−\u00ad"
_HYPHEN = re.compile(rf"(?<=[a-zA-Z])[{_HYPHENS}]|[{_HYPHENS}](?=[a-zA-Z])")
_LETTERS = {
    "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "þ": "th", "Þ": "Th",
    "ð": "d", "Ð": "D", "đ": "d", "Đ": "D", "ł": "l", "Ł": "L", "ı": "i", "‘": "'", "’": "'", "‚": ",",
    "‛": "'", "“": '"', "”": '"', "„": ",,", "‟": '"', "′": "'", "″": '"', "‐": "-", "‑": "-", "‒": "-",
    "–": "-", "—": "--", "―": "--", "−": "-", "…": "...", "«": "<<", "»": ">>", "•": "*", "·": "*",
    "°": "deg", "×": "x", "÷": "/", "€": "EUR", "£": "PS", "¥": "Y=", "§": "SS", "←": "-", "→": "-",
}  # fmt: skip


def is_pattern(value: Any) -> bool:
    """Say whether a value is a regular expression: a text between `^` and `$`."""
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


def _digit(char: str) -> str:
    """Return the digit of any script in ASCII, any other character as it is."""
    return str(unicodedata.decimal(char, char))


def _ascii(text: str) -> str:
    """Write a text in ASCII: accents dropped, a few letters and signs spelled, others dropped."""
    if text.isascii():
        return text
    spelled = "".join(_LETTERS.get(char) or _digit(char) for char in text)
    return unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode("ascii")
