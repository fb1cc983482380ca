"""Untrusted JSON: any failure is ours, nesting and size are bounded, Python's `NaN` is no value."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from replaykit.decoders import NEST_MAX, decode_plain
from replaykit.file_types import HEAD, kind_of_bytes
from replaykit.interop.unreadable.wide_text import wide_encoding, wide_words

SOURCE_NEST_MAX = 2 * NEST_MAX
"""Levels of JSON in untrusted files: recorded pages are part of them, one element inside of the other."""

CONTAINERS_MAX = 20_000_000
"""Objects and lists of one value: each takes a hundred bytes of memory, and two in a file."""

DIGITS_MAX = 4000
"""Digits of a whole number that is read as one; longer ones stay texts."""

_TEXTS = ("a JSON file", "a text file", "a file of another kind")
"""Kinds of files that say nothing of why they are not UTF-8."""

_BOM = b"\xef\xbb\xbf"


class JsonFault(Exception):
    """Why bytes are no JSON value that can be kept."""

    def __init__(self, found: str, expected: str = "JSON") -> None:
        super().__init__(found)
        self.expected = expected


def decode_json(data: bytes, depth: int = SOURCE_NEST_MAX) -> Any:
    """Return a JSON value; a byte order mark is skipped, NaN and infinities become null.

    Lone surrogates become U+FFFD, because no file can hold them. Raises JsonFault, also for a key with two
    values in one object.
    """
    data = _countable(data)
    # Before the value is built: the garbage collector would look through it again and again.
    is_repeating = _repeats_a_key(data)
    plain = glance_at_json(data, depth)
    if is_repeating:
        _parsed(data, object_pairs_hook=_unambiguous)
    return plain


def glance_at_json(data: bytes, depth: int = SOURCE_NEST_MAX) -> Any:
    """Return a JSON value to see what it is, with the last of two fields of one name. Raises JsonFault."""
    data = _countable(data)
    levels = min(depth, SOURCE_NEST_MAX)
    try:
        return decode_plain(data, levels)
    except RecursionError as error:
        raise JsonFault("nested deeper", f"at most {levels} levels") from error
    except (msgspec.DecodeError, UnicodeError):
        return _tolerant(data)


def _countable(data: bytes) -> bytes:
    """Return JSON without its byte order mark. Raises JsonFault where memory would not hold its parts."""
    data = data.removeprefix(_BOM)
    if len(data) > CONTAINERS_MAX and data.count(b"[") + data.count(b"{") > CONTAINERS_MAX:
        raise JsonFault("of more objects and lists than can be kept", f"at most {CONTAINERS_MAX}")
    return data


def _repeats_a_key(data: bytes) -> bool:
    """Whether an object has a key twice, in whatever notation; false of what is no JSON."""
    try:
        _KEYS.decode(data.decode("utf-8", "replace"))
    except _Repeated:
        return True
    except (ValueError, RecursionError):  # reading it raises the fault that names the place
        return False
    return False


class _Repeated(Exception):
    """An object has a key twice."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _Repeated


_KEYS = json.JSONDecoder(object_pairs_hook=_each_key_once, parse_int=len, parse_float=len, strict=False)
"""Reads the keys of objects and forgets their values, which takes less time than to count what was read."""


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. Raises JsonFault for a key with two values: none of them is the one that counts."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and not _is_same(found[name], value):
            raise JsonFault(f"an object with the key {name!r:.80} twice, and two values", "each key once")
        found[name] = value
    return found


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _parsed(data: bytes, **hooks: Any) -> Any:
    return json.loads(
        data.decode("utf-8"), parse_constant=lambda _: None, parse_float=_finite, parse_int=_whole_number,
        **hooks,
    )  # fmt: skip


def _tolerant(data: bytes) -> Any:
    # Python also writes values that JSON does not have: NaN, infinities, halves of surrogate pairs.
    if not data.strip():
        raise JsonFault("empty")
    if (encoding := wide_encoding(data)) is not None:
        raise JsonFault(wide_words(encoding), "JSON in UTF-8")
    try:
        found = _parsed(data, object_pairs_hook=_unambiguous)
        return json.loads(whole_text(json.dumps(found, ensure_ascii=False)))
    except UnicodeError as error:
        kind = kind_of_bytes(data[:HEAD])
        raise JsonFault("not UTF-8" if kind in _TEXTS else kind, "JSON in UTF-8") from error
    except ValueError as error:
        raise JsonFault(f"not JSON ({error})") from error


def _whole_number(text: str) -> int | str:
    return int(text) if len(text) <= DIGITS_MAX else text


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def whole_text(text: str) -> str:
    """Put U+FFFD in the place of each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
