"""JSON that is shown or kept: what a terminal would obey is written as an escape, which reads as the same."""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.patterns import lazy_pattern

# DEL, and the 8-bit control characters U+0080 to U+009F in UTF-8. Within JSON they only stand in strings.
_CONTROL = lazy_pattern(rb"\x7f|\xc2[\x80-\x9f]")


def json_text(value: Any, indent: int = 0) -> bytes:
    """Return a value as JSON, UTF-8, without any control character but those between its parts.

    Bytes of file names that are not UTF-8 become escapes.
    """
    try:
        plain = msgspec.json.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.json.encode(_writable(msgspec.to_builtins(value, str_keys=True)))
    return without_controls(msgspec.json.format(plain, indent=indent) if indent else plain)


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list | tuple):
        return [_writable(part) for part in value]
    if isinstance(value, dict):
        return {_writable(name): _writable(part) for name, part in value.items()}
    return value


def without_controls(json: bytes) -> bytes:
    """Return a JSON text with its control characters as escapes."""
    return _CONTROL.sub(lambda found: rb"\u%04x" % ord(found[0].decode()), json)
