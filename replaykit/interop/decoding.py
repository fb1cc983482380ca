"""JSON of strangers: any failure is ours, nesting and size are bounded, Python's `NaN` is no value."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

NEST_MAX = 400
"""Nesting that is read at all: values end up inside of a story line, whose decoders use the same stack."""

CONTAINERS_MAX = 20_000_000
"""Objects and lists of one value: each takes a hundred bytes of memory, and two in a file."""

DIGITS_MAX = 4000
"""Digits of a whole number that is read as one; longer ones stay texts."""

_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How files in UTF-16 begin."""


class JsonFault(Exception):
    """Why bytes are no JSON value that can be kept."""

    def __init__(self, found: str, expected: str = "JSON") -> None:
        super().__init__(found)
        self.expected = expected


def decode_json(data: bytes, depth: int = NEST_MAX) -> Any:
    """Return a JSON value; a byte order mark is passed over, NaN and infinities become null.

    Halves of surrogate pairs become U+FFFD: no file could hold them. Raises JsonFault.
    """
    data = data.removeprefix(_BOM)
    if len(data) > CONTAINERS_MAX and data.count(b"[") + data.count(b"{") > CONTAINERS_MAX:
        raise JsonFault("of more objects and lists than can be kept", f"at most {CONTAINERS_MAX}")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        value = _tolerant(data)
    allowed = min(depth, NEST_MAX)
    if _is_deeper(value, allowed):
        raise JsonFault("nested deeper", f"at most {allowed} levels")
    return value


def _tolerant(data: bytes) -> Any:
    # What Python writes and JSON does not know: NaN, infinities, halves of surrogate pairs.
    if not data.strip():
        raise JsonFault("empty")
    if data.startswith(_WIDE):
        raise JsonFault("in UTF-16", "JSON in UTF-8")
    try:
        found = json.loads(
            data.decode("utf-8"), parse_constant=lambda _: None, parse_float=_finite, parse_int=_whole_number
        )
        return json.loads(whole_text(json.dumps(found, ensure_ascii=False)))
    except UnicodeError as error:
        raise JsonFault("not UTF-8") from error
    except ValueError as error:
        raise JsonFault(f"not JSON ({error})") from error
    except RecursionError as error:
        raise JsonFault("nested deeper", f"at most {NEST_MAX} levels") from error


def _whole_number(text: str) -> int | str:
    return int(text) if len(text) <= DIGITS_MAX else text


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def whole_text(text: str) -> str:
    """Put U+FFFD in the place of each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_deeper(value: Any, allowed: int) -> bool:
    """Whether containers are nested deeper; level by level, so that nothing recurses."""
    level = _containers([value])
    for _ in range(allowed):
        level = [part for one in level for part in _parts(one)]
        if not level:
            return False
    return True


def _parts(container: Any) -> list[Any]:
    return _containers(container.values() if isinstance(container, dict) else container)


def _containers(values: Any) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]
