"""Make values storable: join or replace surrogates, drop numbers that JSON or the model does not have."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields, replace

from replaykit.decoders import STORED_NEST_MAX, convert, is_nested_deeper
from replaykit.trajectory.scalars import INT_MAX

_S = TypeVar("_S", bound=Struct)

_DROP = object()


def repair_text(text: str) -> tuple[str, int]:
    """Join surrogate pairs and replace lone ones by U+FFFD; return the text and how many were replaced."""
    with suppress(UnicodeEncodeError):  # a surrogate, which most texts lack
        text.encode()
        return text, 0
    # "utf-16-le", not "utf-16": a leading U+FEFF is content.
    repaired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    # The text may have held U+FFFD before.
    return repaired, repaired.count("\ufffd") - text.count("\ufffd")


def repair(struct: _S) -> tuple[_S, int]:
    """Return a struct that can be stored and the number of values changed or left out.

    An optional field whose value contradicts its type is left out; a required one stays as it is, so
    that the nearest optional field around it is left out instead. Structs with a field `repaired` add
    their own count to it.
    """
    changes: dict[str, Any] = {}
    count = 0
    for field in fields(struct):
        value, repaired = _repair_field(getattr(struct, field.name), field)
        count += repaired
        if repaired or value is not getattr(struct, field.name):
            changes[field.name] = value
    if count and hasattr(struct, "repaired"):
        changes["repaired"] = struct.repaired + count
    return (replace(struct, **changes) if changes else struct), count


def numbers_fit(value: Any) -> bool:
    """Whether every integer inside a JSON value is within 2^53; no recursion."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            stack.extend(part.values())
        elif isinstance(part, (list, tuple)):
            stack.extend(part)
        elif isinstance(part, int) and abs(part) > INT_MAX:
            return False
    return True


def _repair_field(value: Any, field: FieldInfo) -> tuple[Any, int]:
    try:
        if isinstance(value, dict | list) and is_nested_deeper(value, STORED_NEST_MAX):
            raise RecursionError
        repaired, count = _repair_value(value)
        if repaired is not _DROP and _fits(repaired, field.type):
            return repaired, count
    except RecursionError:
        count = 0
    if field.required:
        return value, 0
    return (field.default_factory() if field.default is NODEFAULT else field.default), count + 1


def _repair_value(value: Any) -> tuple[Any, int]:
    match value:
        case str():
            return repair_text(value)
        case Struct():
            return repair(value)
        case dict():
            return _repair_dict(value)
        case list() | tuple():
            return _repair_items(value)
        case float() if not math.isfinite(value):
            return _DROP, 0
        case int() if abs(value) > INT_MAX:
            return _DROP, 0
        case _:
            return value, 0


def _repair_dict(value: dict[Any, Any]) -> tuple[dict[Any, Any], int]:
    result: dict[Any, Any] = {}
    count = 0
    for key, part in value.items():
        name, in_name = _repair_value(key)
        repaired, in_part = _repair_value(part)
        count += in_name + in_part + (repaired is _DROP)
        if repaired is not _DROP:
            result[name] = repaired
    return result, count


def _repair_items(value: list[Any] | tuple[Any, ...]) -> tuple[Any, int]:
    # Positions carry meaning in a list, so a number without JSON form leaves a null behind.
    pairs = [_repair_value(part) for part in value]
    items = [None if part is _DROP else part for part, _ in pairs]
    count = sum(repaired + (part is _DROP) for part, repaired in pairs)
    return (items if isinstance(value, list) else tuple(items)), count


def _fits(value: Any, kind: Any) -> bool:
    try:
        convert(msgspec.to_builtins(value), kind)
    except (msgspec.ValidationError, TypeError, UnicodeError):
        return False
    return True
