"""Recorded words, cut to what a reader of a report can use, and saying so."""

from __future__ import annotations

from typing import Any

import msgspec

TEXT_MAX = 20_000
"""Characters of one recorded text."""

LINE_MAX = 2_000
"""Characters of a URL, a console line or a header's value."""

ROWS_MAX = 2_000
"""Requests, console lines and the like of one run, each."""


STEPS_MAX = 5_000
"""Steps of one run that are listed."""


def bounded(text: str | None, limit: int = TEXT_MAX) -> str | None:
    """Cut a text, with a mark that counts the characters cut."""
    if text is None or len(text) <= limit:
        return text
    return f"{text[:limit]}⟦cut:{len(text) - limit}⟧"


def line(text: str | None) -> str | None:
    """Cut a text that stands on one line."""
    return bounded(text, LINE_MAX)


def any_value(value: Any) -> str | None:
    """Return a recorded value as text: a string as it is, strings with commas, all else as JSON."""
    if value is None or isinstance(value, str):
        return bounded(value)
    if isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value):
        return bounded(", ".join(value))
    return bounded(msgspec.json.encode(value).decode())


def without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out what holds nothing: None, False, empty texts and rows. Zeros stay."""
    return {key: value for key, value in fields.items() if not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, str | list | tuple | dict) and not value)
