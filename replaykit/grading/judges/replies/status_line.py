"""The line `Status: success` or `Status: failure` of a reply (Online-Mind2Web, `WebJudge`)."""

from __future__ import annotations

import re

from replaykit.grading.judges.replies.verdict_token import (
    REPLY_MAX,
    Parsed,
    abstain,
    normalised,
    silent,
    unfinished,
    verdict,
)
from replaykit.patterns import lazy_pattern

_LINE = lazy_pattern(r"\s*(?:[-•+]\s*|\(?\d{1,3}[.)]\s*)?status\s*[:=](.*)", re.IGNORECASE)
_VALUE = lazy_pattern(r"(success|failure)(?![^\W_])(.*)", re.IGNORECASE)
_DOUBT = lazy_pattern(r"success|fail|not|partial|n't", re.IGNORECASE)


def status_line(text: str, stop_reason: str, mode: str) -> Parsed:
    """Read a reply that holds a status line; in strict mode the last one decides."""
    if mode == "compat":
        return _between_marks(text)
    return unfinished(stop_reason) or _last_line(normalised(text[-REPLY_MAX:]))


def _between_marks(text: str) -> Parsed:
    parts = text.lower().split("status:")
    return verdict(len(parts) > 1 and "success" in parts[1])


def _last_line(text: str) -> Parsed:
    values = _values(text.split("\n"))
    if not values:
        return silent(text)
    if values[-1] is None:
        return abstain("unknown_token")
    return abstain("ambiguous") if len(set(values)) > 1 else verdict(values[-1])


def _values(lines: list[str]) -> list[bool | None]:
    """Return the value of each status line; None = neither success nor failure."""
    values, following = [], ""
    for line in reversed(lines):
        found = _LINE.fullmatch(line)
        if found is not None:
            values.append(_value(found[1].strip() or following))
        following = line.strip() or following
    return values[::-1]


def _value(text: str) -> bool | None:
    found = _VALUE.fullmatch(text)
    if found is None or _DOUBT.search(found[2]):
        return None
    return found[1].lower() == "success"
