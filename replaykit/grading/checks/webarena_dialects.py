"""Where the peers' rules differ: WebArena, its lite copy, VisualWebArena, ST-WebAgentBench."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from replaykit.grading.checks.requirement import OR
from replaykit.grading.values.normal_form import clean
from replaykit.grading.values.tokens import tokens
from replaykit.grading.values.urls import peer_matches

EXACT = "EXACT"
PREDICTED = "GOLD in PRED"
"""The rules for URLs that a record may name (`url_note`)."""

UNESCAPED = ("webarena", "stwab")
"""Dialects that undo HTML escapes in what they read."""

_LENIENT = 1e-8
_OPERATORS: tuple[tuple[str, Callable[[float, float], bool]], ...] = (
    ("<=", lambda one, other: one <= other + _LENIENT),
    (">=", lambda one, other: one >= other - _LENIENT),
    ("==", lambda one, other: abs(one - other) <= _LENIENT),
    ("<", lambda one, other: one < other + _LENIENT),
    (">", lambda one, other: one > other - _LENIENT),
)


class PeerRaises(Exception):
    """What the peer does where it cannot go on."""


def cleaned(text: str, dialect: str) -> str:
    """Return a text as the peer compares it; VisualWebArena does not strip."""
    if dialect != "vwa":
        return clean(text)
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def includes(reference: str, text: str, dialect: str, *, is_only: bool) -> bool:
    """Say whether the answer holds a part: a word, where the peer takes the reference for one."""
    if dialect == "vwa":
        return any(_has_word(part, text) for part in reference.split(OR))
    part, whole = cleaned(reference, dialect), cleaned(text, dialect)
    if is_only and len(part) == 1 and len(tokens(part)) == 1:
        return part in tokens(whole)
    return part in whole


def excludes(reference: str, text: str, dialect: str) -> bool:
    """Say whether the answer is free of a part."""
    if dialect == "vwa":
        return not _has_word(reference, text)
    return cleaned(reference, dialect) not in cleaned(text, dialect)


def contains(reference: str, text: str, dialect: str) -> bool:
    """Say whether a page's text holds one of the alternatives of a part."""
    if dialect == "vwa":
        return includes(reference, text, dialect, is_only=False)
    parts = reference.split(OR)
    if dialect == "stwab":
        parts = re.split(r" \|(?:OR|or)\| ", reference)
    return any(cleaned(part, dialect) in cleaned(text, dialect) for part in parts)


def fulfils(required: str, value: Any) -> bool:
    """Say whether a number fulfils one of the alternatives of an inequality (`< 700 |OR| == 0`).

    A text has to be a whole number. Raises `PeerRaises` for what is no inequality.
    """
    number = _whole(value) if isinstance(value, str) else value
    if not isinstance(number, int | float):
        return False
    results = [_compares(part, float(number)) for part in required.split(OR)]
    return any(results)


def url_matches(reference: str, found: str, note: str | None, dialect: str) -> bool:
    """Compare a URL as the peer does. Raises ValueError and `PeerRaises` where it does."""
    if dialect == "vwa":
        return _visual_url(reference, found, EXACT if note is None else note)
    if note not in (None, PREDICTED):
        raise PeerRaises(f"url_note is {PREDICTED}")
    return peer_matches(reference, found, is_decoded=dialect == "stwab")


def _has_word(reference: str, text: str) -> bool:
    part, whole = cleaned(reference, "vwa"), cleaned(text, "vwa")
    return part in (tokens(whole) if len(tokens(part)) == 1 else whole)


def _whole(text: str) -> int | None:
    bare = text.replace(",", "").strip()
    return int(bare) if re.fullmatch(r"[+-]?\d{1,300}(?:_\d{1,300})*", bare) else None


def _compares(inequality: str, number: float) -> bool:
    for operator, holds in _OPERATORS:
        if operator in inequality:
            try:
                _, limit = inequality.split(operator)
                return holds(number, float(limit.strip()))
            except ValueError as error:
                raise PeerRaises(f"no number in {inequality!r}") from error
    raise PeerRaises(f"no inequality: {inequality!r}")


def _visual_url(reference: str, found: str, note: str) -> bool:
    url = _local(found)
    alternatives = [_local(part) for part in reference.split(OR)]
    if note == EXACT:
        return url in alternatives
    if note == PREDICTED:
        return any(part in url for part in alternatives)
    raise PeerRaises(f"url_note is {EXACT} or {PREDICTED}")


def _local(url: str) -> str:
    return url.replace("localhost", "127.0.0.1").removesuffix("/")
