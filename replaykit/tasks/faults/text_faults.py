"""Faults of texts that are compared as words and are written as something else: expressions, lists, tags."""

from __future__ import annotations

import re
from functools import lru_cache

from replaykit.patterns import lazy_pattern
from replaykit.tasks.grammar.regex_reach import is_slashed

_EXPRESSION = lazy_pattern(
    r"^\^.+\$$|(?<![*.])\.[*+]|\\[dwsb](?![A-Za-z0-9_.-])|\(\?[:i)!=]|\[(?:a-z|A-Z|0-9)[^\]]{0,40}\]",
    re.DOTALL,
)
"""How a text looks that is meant as a regular expression, unlike `*.*` and `C:\\docs`."""

_LIST = lazy_pattern(r"(?:\w[\w ]*\|)+\w[\w ]*")
"""Alternatives of an expression; ` | ` with blanks stands on pages."""

_TAG = lazy_pattern(
    r"<(?:a|button|div|h[1-6]|input|label|li|option|p|select|span|t[dhr]|textarea)(?:\s[^<>]*)?>"
)
"""How `replaykit show` begins the target of a step, and HTML an element."""


_QUOTED = lazy_pattern(
    "\u201c[^\u201c\u201d]+\u201d|\u201e[^\u201c\u201e]+\u201c|\u2018[^\u2018\u2019]+\u2019"
)
"""Words as an editor for letters writes quotation marks; YAML knows only straight ones."""

_GLOB = lazy_pattern(r"\*\w[^*]*\*")
"""Words between two asterisks; one at an end marks a required field."""


def is_expression(plain: str) -> bool:
    """Whether a text is meant as a regular expression."""
    return _EXPRESSION.search(plain) is not None or is_slashed(plain)


def is_list(plain: str) -> bool:
    """Whether a text is meant as several, with `|` between them."""
    return _LIST.fullmatch(plain) is not None


@lru_cache(maxsize=1024)
def words_fault(words: str) -> str:
    """Return why a text cannot be meant as the words that it is compared as; empty if it can."""
    plain = words.strip()
    if is_list(plain):
        return f"{words!r} is compared as one text: give each its own entry, [A, B], or write {{regex: ...}}"
    if is_expression(plain):
        return f"{words!r} is an expression, and is compared as a text: write {{regex: ...}}"
    return ""


def name_fault(words: str) -> str:
    """Return why no element can be meant that has this name; empty if one can."""
    if _TAG.match(words.strip()):
        return f"{words!r} begins with a tag: give only the words that a person reads"
    if _QUOTED.fullmatch(words.strip()):
        return f"{words!r} is in quotation marks, which are compared as well: leave them out"
    if _GLOB.fullmatch(words.strip()):
        return f"{words!r} is compared with its asterisks: leave them out, or write {{contains: ...}}"
    return words_fault(words)
