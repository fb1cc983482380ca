"""Texts compared: the benchmarks' cleaning, bit for bit, and the normal form of strict checks."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from replaykit.patterns import lazy_pattern
from replaykit.tasks.grammar.letters import is_of_word, is_unseen, joins

_ASCII = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼ", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    }
)
_CURLY = str.maketrans({**dict.fromkeys("‘’‛ʼ", "'"), **dict.fromkeys("“”‟", '"')})
_BLANKS = str.maketrans("\u00a0\u2007\u202f", "   ")
_NOT_ASCII = lazy_pattern(r"[^\x00-\x7f]+")
_I = lazy_pattern("i\u0307|ı")
"""Small letters of which the capital is an I in some language."""


def clean(text: str) -> str:
    """Return the text as WebArena compares it: stripped, one pair of quotes dropped, lower-cased.

    A lone quote becomes empty, as upstream (`evaluators.py`, `clean_answer`).
    """
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def fold(text: str) -> str:
    """Return the text without differences of typography, white space and case; idempotent."""
    if text.isascii():
        return spaced(text).casefold()
    for _ in range(4):  # compatibility forms, dropped marks and case folding enable each other
        folded = _fold_once(text)
        if folded == text:
            break
        text = folded
    return text


def without_typography(text: str, signs: Mapping[int, str]) -> str:
    """Return the text with these signs replaced (code point to text) and unseen characters dropped."""
    # Pages hold few different characters outside of ASCII: looking at all takes ten times as long.
    for char in set("".join(_NOT_ASCII.findall(text))):
        sign = signs.get(ord(char), "" if is_unseen(char) else char)
        text = text if sign == char else text.replace(char, sign)
    return text


def legible(text: str) -> str:
    """Return the text in NFKC, quotes straight, unseen characters dropped; case and white space kept."""
    if text.isascii():
        return text
    return without_typography(unicodedata.normalize("NFKC", text), _CURLY)


def composed(text: str) -> str:
    """Return the text in NFC: every letter is one character, whatever it was typed as."""
    return unicodedata.normalize("NFC", text)


def spellings(text: str) -> tuple[str, ...]:
    """Return the texts in which an expression is looked for: as it stands, and as a person reads it."""
    return tuple(dict.fromkeys((composed(text).translate(_BLANKS), legible(text))))


def normal(text: str) -> str:
    """Return the strict normal form: folded, outer quotes and a final full stop dropped; idempotent."""
    # Each type that a value may have asks for it, and references come back with every run of their task.
    return _kept(text) if len(text) <= SHORT else _long(text)


def _normal(text: str) -> str:
    text = fold(text)
    start, end = 0, len(text)
    while (inner := _unwrapped(text, start, end)) != (start, end):
        start, end = inner
    return text[start:end]


SHORT = 200
"""Characters of a text of which what was found out is kept."""
_kept = lru_cache(maxsize=4096)(_normal)
_long = lru_cache(maxsize=4)(_normal)  # many parts are looked for in one answer


def includes(part: str, text: str) -> bool:
    """Return whether the part occurs in the text; both are normal forms.

    An alphanumeric edge of the part must be a word boundary: `cat` is not in `a catalogue`. A number is
    whole: `5 km` is not in `1.5 km`; so is a mail address: `b@c.test` is not in `a.b@c.test`.
    """
    start = text.find(part)
    while part and start >= 0:
        end = start + len(part)
        if _begins(text, start) and _ends(text, end) and not ("@" in part and _is_of_mail(text, start, end)):
            return True
        start = text.find(part, start + 1)
    return False


def _fold_once(text: str) -> str:
    text = without_typography(unicodedata.normalize("NFKC", text), _ASCII)
    text = unicodedata.normalize("NFKC", _I.sub("i", text.casefold()))
    return spaced(text)


def size(text: str) -> int:
    """Return how much a text says, in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def spaced(text: str) -> str:
    """Return the text with one blank for each run of white space, and none at its ends."""
    return " ".join(text.split())


_MARKS = ("'", '"', "```", "`", "***", "**", "*", "__", "_")
"""Marks around an answer: quotes, marks of code and of emphasis in Markdown."""


def _unwrapped(text: str, start: int, end: int) -> tuple[int, int]:
    """Return what is inside of a pair of marks, or before a final full stop or `!`, without blanks around."""
    for mark in _MARKS:
        size = len(mark)
        is_pair = end - start > 2 * size or (size == 1 and mark in "'\"" and end - start == 2)
        if is_pair and text.startswith(mark, start, end) and text.endswith(mark, start, end):
            return _trimmed(text, start + size, end - size)
    if text.endswith((".", "!"), start, end) and not text.endswith(("..", "!!"), start, end):
        return _trimmed(text, start, end - 1)
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] == " ":
        start += 1
    while start < end and text[end - 1] == " ":
        end -= 1
    return start, end


def _begins(text: str, start: int) -> bool:
    is_inside = text[start].isdigit() and start > 1 and text[start - 1] in ".," and text[start - 2].isdigit()
    return _is_edge(text, start, text[start]) and not is_inside


def _ends(text: str, end: int) -> bool:
    last = text[end - 1]
    goes_on = last.isdigit() and _MORE_DIGITS.match(text, end) is not None
    goes_on = goes_on or (last.isalpha() and _NAME_GOES_ON.match(text, end) is not None)
    return _is_edge(text, end, text[end - 1]) and not goes_on


def _is_of_mail(text: str, start: int, end: int) -> bool:
    return (start > 0 and text[start - 1] in "._%+-") or _DOMAIN_GOES_ON.match(text, end) is not None


_DOMAIN_GOES_ON = lazy_pattern(r"[.-]\w")

_MORE_DIGITS = lazy_pattern(r"\.(?!0+(?!\d))\d|,\d{3}(?!\d)")
"""Continuation of a number: decimals that are not all zero, a group of thousands."""


def _is_edge(text: str, position: int, char: str) -> bool:
    if not is_of_word(char) or position in (0, len(text)):
        return True
    before, after = text[position - 1], text[position]
    return not joins(before, after)


_NAME_GOES_ON = lazy_pattern(r"[+#](?:[+#]|(?![\w]))")
"""Characters that make another name of a letter: `C++`, `C#`, `A+`."""
