"""Places in JSON: JSONPath (RFC 9535) by the library `python-jsonpath`, and JSON Pointer (RFC 6901)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from replaykit.grading.values.jsonpath_limits import PathFault

SOURCE_MAX = 1024
"""Characters of a path."""


def find(path: str, document: Any, *, reads_numbers: bool = False) -> list[Any]:
    """Return the values of all nodes that a JSONPath, or a JSON Pointer, leads to, in document order.

    `reads_numbers`: a filter that compares with a whole number reads texts as numbers first, which RFC 9535
    does not do. Raises `PathFault`.
    """
    if not path or path.startswith("/"):
        return _pointed(path, document)
    return _compiled(path, reads_numbers)(document)


def check_path(path: str) -> None:
    """Raise `PathFault` for a path that cannot be read."""
    if path and not path.startswith("/"):
        _compiled(path, False)


@lru_cache(maxsize=1024)
def _compiled(path: str, reads_numbers: bool) -> Callable[[Any], list[Any]]:
    if len(path) > SOURCE_MAX or not path.startswith("$"):
        raise PathFault(f"not a path: {path[:80]!r}; it begins with $ or /")
    # Most tasks have no JSONPath: `grade` loads the library for those that do.
    from replaykit.grading.values.bounded_jsonpath import compiled

    return compiled(path, reads_numbers=reads_numbers)


def _pointed(pointer: str, document: Any) -> list[Any]:
    """Follow a JSON Pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        # In this order, or `~01` would become `/` (RFC 6901, section 4).
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and re.fullmatch(r"0|[1-9]\d{0,8}", name, re.ASCII):
            if int(name) >= len(document):
                return []
            document = document[int(name)]
        else:
            return []
    return [document]
