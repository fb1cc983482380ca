"""Addresses in a text: the user and password of each, and the fields of its query.

No pattern reads a sign of a text again and again: recorded pages write what they like.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from replaykit.patterns import lazy_pattern
from replaykit.trajectory.redaction_marks import MARK, MASKED

HideField: TypeAlias = Callable[[str, str], str]
"""Returns what stands for the value of a field: name, value."""

_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_SCHEME_MAX = 32

# These two begin with a sign that is found fast, and look back for the scheme.
_USER_INFO = lazy_pattern(r":(?<=[A-Za-z0-9+.-]:)\\?/\\?/(?P<who>[^\s/?#\"'<>\\@⟦⟧][^\s/?#\"'<>\\]{0,1023})@")
_ADDRESS = lazy_pattern(r":(?<=[A-Za-z0-9+.-]:)\\?/\\?/[^\s\"'<>]+")

_CODED_USER_INFO = lazy_pattern(r"%3A%2F%2F((?:(?!%2F|%3F|%23|%40)[^\s&\"'<>]){1,1023})%40", re.IGNORECASE)
"""User and password of a percent-encoded address."""

_URL = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*+:[^\s?#;&]*+[?#;&]\S++$")
"""A text that is one address with fields."""

_QUERIED = lazy_pattern(r"(?<![^\s\"'<>])[^\s\"'<>?]*+\?[^\s\"'<>]*+")
"""A word with a question mark: it may end with a relative address."""

_RELATIVE = lazy_pattern(r"(?<![^(=,])(?:\.{0,2}/|\?)")
"""Where a relative address begins in such a word."""

_FIELD = lazy_pattern(r"(?<=[?&;#])([^=&;#?\s\"'<>]{1,256})=([^&;#\s\"'<>]+)")
"""A field of a query or a fragment: name, value."""


def hide_in_addresses(text: str, hide: HideField, *, is_program: bool = False) -> str:
    """Return a text whose addresses have no user or password, and `hide(name, value)` in each field.

    `is_program`: only absolute addresses differ from the signs of a program.
    """
    if "@" in text or "%40" in text:
        text = _CODED_USER_INFO.sub(_without_coded_user, _USER_INFO.sub(_without_user, text))
    if "=" not in text:
        return text
    if not is_program and _URL.match(text):
        return hide_in_query(text, hide)
    text = _ADDRESS.sub(lambda address: hide_in_query(address[0], hide), text)
    return text if is_program else _QUERIED.sub(partial(_in_relative, hide), text)


def hide_in_query(text: str, hide: HideField) -> str:
    """Return a text with `hide(name, value)` for each field behind `?`, `&`, `;` or `#`."""
    return _FIELD.sub(lambda field: f"{field[1]}={hide(field[1], field[2])}", text)


def _in_relative(hide: HideField, word: re.Match[str]) -> str:
    start = _RELATIVE.search(word[0])
    at = start.start() if start is not None else len(word[0])
    return word[0][:at] + hide_in_query(word[0][at:], hide)


def _without_user(found: re.Match[str]) -> str:
    """Return an address without user and password; a bare user name is kept where it asks for no page."""
    before = _SCHEME.search(found.string, max(0, found.start() - _SCHEME_MAX), found.start())
    is_page = before is not None and before[0].lower().startswith(("http", "ws", "ftp"))
    return (
        found[0].replace(found["who"], _shown(found["who"])) if is_page or ":" in found["who"] else found[0]
    )


def _without_coded_user(found: re.Match[str]) -> str:
    has_password = ":" in found[1] or "%3a" in found[1].lower()
    return found[0].replace(found[1], _shown(found[1])) if has_password else found[0]


def _shown(who: str) -> str:
    # A declared secret keeps its name here, so that a reader can tell which one it was.
    return "".join(mark[0] for mark in MARK.finditer(who)) or MASKED
