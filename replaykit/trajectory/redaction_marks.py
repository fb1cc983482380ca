"""Marks that stand for values which were hidden: it is unknown what they were."""

from __future__ import annotations

import re
from typing import Any

from replaykit.patterns import lazy_pattern

MASKED = "⟦masked⟧"
"""Mark of a value that must not be kept; a declared secret is named instead and stays comparable."""

MASKED_OTHER = "⟦masked:other⟧"
"""The same, of a value that holds neither a declared secret nor test data that rules of the task look for."""

MASKS = (MASKED, MASKED_OTHER)
"""Marks that name no secret."""

MASK = "⟦masked"
"""How both begin."""

MASK_NAME = "masked(?::other)?"
"""Regular expression of the name of both, between the brackets."""

MARK = lazy_pattern(
    rf"⟦(?:(?:secret|pattern):[A-Za-z_][\w.-]{{0,63}}|{MASK_NAME}|header(?::known)?|cut:\d+)⟧"
)
"""Mark in the place of a secret, or of what was cut off, as it is written."""

HIDDEN_HEADER = "⟦header⟧"
"""Mark of the value of a header such as `Cookie`."""

KNOWN_HEADER = "⟦header:known⟧"
"""The same, where every part of the value was sent before, or set by a response of this recording."""

UNREAD = "⟦unread⟧"
"""Stands for bytes of a body or a URL whose charset is unknown; it is in no file."""

MARKS = (MASK, "⟦secret:", "⟦pattern:")
"""How marks within bodies begin."""

HIDDEN = "value.redacted"
"""Code of a value that was hidden."""

_NO_CHARSET = "value.charset"
"""Code of a value whose charset is unknown."""

_UNREAD = lazy_pattern("(?:⟦|%E2%9F%A6)unread")

_MARK = lazy_pattern(
    f"⟦(?:{MASK_NAME}|unread|header(?::known)?|secret:[^⟧]*|pattern:[^⟧]*)⟧"
    "|%E2%9F%A6(?:masked|unread|secret|pattern)",
    re.IGNORECASE,
)


def holds_mark(value: Any) -> bool:
    """Whether a text, or any text within a JSON value, holds a mark in the place of a value."""
    if isinstance(value, str):
        return _MARK.search(value) is not None
    if isinstance(value, dict):
        return any(map(holds_mark, value.values()))
    return isinstance(value, list | tuple) and any(map(holds_mark, value))


def unknown_code(value: Any) -> str:
    """Return why it is not known what a value with a mark was."""
    return HIDDEN if _UNREAD.search(str(value)) is None else _NO_CHARSET
