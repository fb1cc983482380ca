"""Which characters a person sees, and which of them belong to one word."""

from __future__ import annotations

import unicodedata

from replaykit.patterns import lazy_pattern

_UNSEEN = lazy_pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Characters that renderers ignore (Unicode `Default_Ignorable_Code_Point`) and that are no format
characters.
"""

_OPTIONAL = lazy_pattern("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]")
"""Vowel points of Hebrew and Arabic, and the stroke that stretches a word: most texts leave them out."""

_WITHOUT_BLANKS = lazy_pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\U00020000-\U0003ffff]"
)
"""Letters of scripts that write no blanks between words, or none before particles."""

_MARKS = ("Mn", "Mc")


def is_unseen(char: str) -> bool:
    """Whether a text reads the same without this character."""
    is_format = unicodedata.category(char) == "Cf"
    return is_format or _UNSEEN.match(char) is not None or _OPTIONAL.match(char) is not None


def is_blank(text: str) -> bool:
    """Whether nothing of a text is left where white space and what no one sees do not count."""
    return all(char.isspace() or is_unseen(char) or unicodedata.category(char) == "Cc" for char in text)


def plain_letters(text: str) -> str:
    """Return the letters and digits of a text, in one case."""
    return "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if char.isalnum())


def is_of_word(char: str) -> bool:
    """Whether it is a letter or digit, or a mark on one."""
    return char.isalnum() or unicodedata.category(char) in _MARKS


def joins(before: str, after: str) -> bool:
    """Whether two neighbours belong to one word."""
    is_latin = before.isascii() and after.isascii()
    if not is_latin and (_WITHOUT_BLANKS.match(before) or _WITHOUT_BLANKS.match(after)):
        return False
    return is_of_word(before) and is_of_word(after)
