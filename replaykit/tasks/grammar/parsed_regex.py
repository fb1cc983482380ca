"""Regular expressions as Python's own parser reads them: it has no public name, and no types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

codes: Any = import_module("re._constants")
"""Codes of the items of an expression."""

_parser: Any = import_module("re._parser")


def parsed(pattern: str, flags: int = 0) -> Any:
    """Return the items of an expression, pairs of code and value. Raises `re.error`."""
    return _parser.parse(pattern, flags)


def least_width(item: tuple[Any, Any]) -> int:
    """Return the fewest characters that an item takes, which must not refer to a group."""
    return int(_parser.SubPattern(_parser.State(), [item]).getwidth()[0])
