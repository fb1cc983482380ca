"""Three-valued truth with its reasons: what was found, or which evidence is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class TextSpan(NamedTuple):
    """A hit inside a text."""

    text: str
    """Where it was found."""
    start: int
    """First character of the hit."""
    end: int
    """Character after the hit."""

    @property
    def words(self) -> str:
        """The hit itself."""
        return self.text[self.start : self.end]


class Truth(NamedTuple):
    """TRUE, FALSE or UNKNOWN (Kleene), with its hit or its missing evidence."""

    holds: bool | None
    """None = the recording does not show it."""
    span: TextSpan | None = None
    """The hit, where there is one to show."""
    missing: tuple[str, ...] = ()
    """Codes of the evidence that would decide it."""


TRUE = Truth(True)
FALSE = Truth(False)


def unknown(*codes: str) -> Truth:
    """Return UNKNOWN for want of this evidence."""
    return Truth(None, None, codes)


def of(holds: bool) -> Truth:
    """Return a plain truth."""
    return TRUE if holds else FALSE


def every(truths: Iterable[Truth]) -> Truth:
    """Return the conjunction; stops at the first FALSE."""
    open_: list[Truth] = []
    span = None
    for truth in truths:
        if truth.holds is False:
            return FALSE
        if truth.holds is None:
            open_.append(truth)
        span = span or truth.span
    return Truth(None, span, codes(open_)) if open_ else Truth(True, span)


def some(truths: Iterable[Truth]) -> Truth:
    """Return the disjunction; stops at the first TRUE."""
    open_: list[Truth] = []
    for truth in truths:
        if truth.holds:
            return truth
        if truth.holds is None:
            open_.append(truth)
    return Truth(None, None, codes(open_)) if open_ else FALSE


def negate(truth: Truth) -> Truth:
    """Return the opposite; UNKNOWN stays."""
    return truth if truth.holds is None else of(not truth.holds)


def codes(truths: Iterable[Truth]) -> tuple[str, ...]:
    """Return all missing evidence, each code once, in order."""
    return tuple(dict.fromkeys(code for truth in truths for code in truth.missing))
