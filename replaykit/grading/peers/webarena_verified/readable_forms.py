"""Forms of values that WebArena-Verified reads or refuses; strict rules follow it where it is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

from replaykit.grading.peers.webarena_verified import lengths, peer_quantities
from replaykit.grading.peers.webarena_verified.normal_text import peer_normal
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.typed_values import SHORT, PeerOptions, typed
from replaykit.patterns import lazy_pattern

_UNQUOTED = frozenset({"number", "duration"})
"""Types of which the package reads no text in quotes."""
_ZEROS = lazy_pattern(r"(?<![\d.,_])0+\d(?!\d*\.)", re.ASCII)
"""A number that begins with 0: no number in the expressions that the package reads as lengths."""

# Which day fills up a date is no matter: strict rules compare stated parts only.
_OPTIONS = PeerOptions(today=date(2020, 1, 1))


def is_refused(value: Any, kind: str) -> bool:
    """Return whether the package does not read a value that strict rules might: quoted, a sentence."""
    if kind == "distance":
        return isinstance(value, str) and _ZEROS.search(value) is not None
    if kind not in _UNQUOTED:
        return False
    text = peer_normal(value).strip() if isinstance(value, str) else ""
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return is_quoted or (kind == "duration" and text.endswith("."))


def reads(value: Any, kind: str) -> bool:
    """Return whether the package reads a value as a type."""
    try:
        typed(value, kind, _OPTIONS)
    except Unparsed:
        return False
    return True


def is_same(expected: Any, found: Any, kind: str) -> bool:
    """Return whether the package takes two values for equal; what it cannot read equals nothing."""
    try:
        return bool(typed(expected, kind, _OPTIONS) == typed(found, kind, _OPTIONS))
    except Unparsed:
        return False


def rewritten(text: str, kind: str) -> str | None:
    """Write a value that only the package reads in a form that all rules do; None where it reads nothing."""
    plain = peer_normal(text)
    if len(plain) > SHORT:
        return None
    try:
        return _FORMS.get(kind, str)(plain)
    except Unparsed:
        return None


def _metres(text: str) -> str:
    return f"{Decimal(repr(lengths.distance(text))):f} m"


def _seconds(text: str) -> str:
    return f"{Decimal(repr(peer_quantities.duration(text, text))):f} s"


_FORMS: dict[str, Callable[[str], str]] = {
    "number": lambda text: text.rstrip(","),
    "currency": lambda text: text.strip(" `*,;:!?"),
    "distance": _metres,
    "duration": _seconds,
}
