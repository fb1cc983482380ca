"""Read JSON and plain values into types, to one depth, from any number of threads.

How deep a decoder reads depends on the version of Python and on who calls it. So everything from outside is
read here, where one limit stands.

msgspec learns about a struct when it is first read, and crashes the interpreter where two threads do so at
once. Here the first use of a type waits for its turn; nothing else in the package may ask msgspec for a type.

Modules of events and tasks do without `from __future__ import annotations`: msgspec compiles every annotation
that is a text, once for each struct that inherits it.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from replaykit.patterns import lazy_pattern

if TYPE_CHECKING:
    from json import JSONDecoder

_T = TypeVar("_T")

NEST_MAX = 200
"""Levels of lists and objects in JSON: so many can be walked by calls of calls on any Python."""

STORED_NEST_MAX = NEST_MAX - 20
"""Levels of a value that becomes a part of a story line."""

_learning = Lock()


@overload
def decoder(kind: type[_T]) -> msgspec.json.Decoder[_T]: ...
@overload
def decoder(kind: Any) -> msgspec.json.Decoder[Any]: ...
def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the JSON decoder of a type; everything that the type holds is known to msgspec afterwards."""
    return _learned(kind)


@cache
def _learned(kind: Any) -> msgspec.json.Decoder[Any]:
    with _learning:
        return msgspec.json.Decoder(kind)


@overload
def decode(data: bytes | str, kind: type[_T]) -> _T: ...
@overload
def decode(data: bytes | str, kind: Any) -> Any: ...
def decode(data: bytes | str, kind: Any) -> Any:
    """Read JSON into a type. Raises msgspec.MsgspecError, UnicodeError, RecursionError."""
    check_nesting(data)
    return decoder(kind).decode(data)


def decode_plain(data: bytes | str, levels: int = NEST_MAX) -> Any:
    """Read JSON as plain values. Raises msgspec.DecodeError, UnicodeError, RecursionError."""
    check_nesting(data, levels)
    return msgspec.json.decode(data)


def decode_each_key_once(text: str) -> Any:
    """Read JSON that people write as plain values, and refuse two fields of one name in an object.

    Raises msgspec.DecodeError, ValueError, RecursionError.
    """
    plain = decode_plain(text)
    # The parser keeps the last of two fields with one name. Each colon outside of texts is a field, so most
    # files need no second parser, which would have to be loaded.
    if _STRING.sub("", text).count(":") != fields_in(plain):
        decode_as_python(text, object_pairs_hook=_with_each_key_once)
    return plain


_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"')


def fields_in(plain: Any) -> int:
    """Return how many fields the objects of a plain value have together."""
    count, stack = 0, [plain]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            count += len(value)
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return count


def _with_each_key_once(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"one object has the field {twice!r:.80} twice: leave one of them out")


def decode_as_python(data: bytes | str, **hooks: Any) -> Any:
    """Read JSON as `json.loads` does, NaN and UTF-16 included. Raises ValueError, RecursionError."""
    import json  # for bodies, answers and replies only

    text = data if isinstance(data, str) else data.decode(json.detect_encoding(data), "surrogatepass")
    check_nesting(text)
    return json.loads(text, **hooks)


def decode_within(text: str, start: int, reader: JSONDecoder) -> tuple[Any, int]:
    """Return the JSON that begins at a place of a text, and its end. Raises ValueError, RecursionError."""
    if text.count("[", start) + text.count("{", start) > NEST_MAX:
        _refuse_deeper(_value_depths(text, start), NEST_MAX)
    found: tuple[Any, int] = reader.raw_decode(text, start)
    return found


def check_nesting(data: bytes | str, levels: int = NEST_MAX) -> None:
    """Raise RecursionError where JSON is nested deeper; whether it is JSON is not looked at."""
    # Two passes of `memchr`: nearly every text has fewer brackets than that.
    if isinstance(data, str):
        if data.count("[") + data.count("{") > levels:
            _refuse_deeper(_depths(data.encode("utf-8", "surrogatepass")), levels)
    elif data.count(b"[") + data.count(b"{") > levels:
        _refuse_deeper(_depths(data), levels)


def check_nesting_of_all(texts: Iterable[bytes]) -> None:
    """Do so for texts that are then read as JSON: what ends before all is closed is refused there."""
    for text in texts:
        # An array takes two bytes, an object around another value five: lines of a story are seldom longer.
        if len(text) > 2 * NEST_MAX:
            arrays = text.count(b"[")
            if len(text) + 3 * arrays >= 5 * NEST_MAX and arrays + text.count(b"{") > NEST_MAX:
                _refuse_deeper(_depths(text), NEST_MAX)


def _refuse_deeper(depths: Iterator[int], levels: int) -> None:
    if any(depth > levels for depth in depths):
        raise RecursionError(f"nested deeper than {levels} levels")


def is_nested_deeper(value: Any, levels: int) -> bool:
    """Whether plain values have more levels of lists and objects. Nothing recurses; parts may be shared."""
    level = _containers([value])
    for _ in range(levels):
        level = _containers(part for one in level for part in _parts(one))
        if not level:
            return False
    return bool(level)


def _parts(container: Any) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container


def _containers(values: Iterable[Any]) -> list[Any]:
    return list({id(value): value for value in values if isinstance(value, dict | list | tuple)}.values())


_PART = 1 << 20
"""Signs that are looked at together: pieces of a text take fifty times the memory of what they hold."""

_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")


def _depths(data: bytes) -> Iterator[int]:
    """Yield how deep the brackets outside of strings go, part by part."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes side by side change nothing for what stands around them.
    signs = data.translate(None, _OTHERS).replace(b'""', b"")
    depth, begins_inside = 0, 0
    for start in range(0, len(signs), _PART):
        pieces = signs[start : start + _PART].split(b'"')
        steps = array("b", b"".join(pieces[begins_inside::2]).translate(_STEPS))
        yield max(accumulate(steps, initial=depth))
        depth += sum(steps)
        begins_inside ^= (len(pieces) - 1) & 1


_SIGN = lazy_pattern(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)

_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def _value_depths(text: str, start: int) -> Iterator[int]:
    """Yield the depth at each bracket of the value that begins at a place."""
    depth = 0
    for sign in _SIGN.finditer(text, start):
        depth += _STEP.get(sign[0], 0)
        yield depth
        if not depth:
            return


@overload
def convert(value: Any, kind: type[_T], *, strict: bool = True) -> _T: ...
@overload
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any: ...
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any:
    """Convert plain values to a type, leniently: a numeric string is accepted for a number.

    Raises msgspec.ValidationError.
    """
    decoder(kind)
    return msgspec.convert(value, kind, strict=strict)
