"""Read JSON and plain values into types, from any number of threads.

msgspec learns about a struct when it is first read, and crashes the interpreter where two threads do so at
once. Here the first use of a type waits for its turn; nothing else in the package may ask msgspec for a type.

Modules of events and tasks do without `from __future__ import annotations`: msgspec compiles every annotation
that is a text, once for each struct that inherits it.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, TypeVar, overload

import msgspec

_T = TypeVar("_T")

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
    return decoder(kind).decode(data)


@overload
def convert(value: Any, kind: type[_T], *, strict: bool = True) -> _T: ...
@overload
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any: ...
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any:
    """Read plain values into a type; not strict: texts as numbers, too. Raises msgspec.ValidationError."""
    decoder(kind)
    return msgspec.convert(value, kind, strict=strict)
