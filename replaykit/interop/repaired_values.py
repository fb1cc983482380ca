"""JSON values that do not fit a type, without the parts that are at fault: one flaw costs one value."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from replaykit.decoders import convert
from replaykit.patterns import lazy_pattern

Lose = Callable[[str, Any], None]
"""Takes the path and the value of each part that is left out."""


class Unfit(Exception):
    """A value of which nothing fits."""


def mended(value: Any, kind: Any, lose: Lose, path: str = "") -> Any:
    """Return a JSON value without the parts that `kind` does not take. Raises Unfit where nothing is left.

    Only the item of a list or the optional field is left out; without a required field the object is, and
    without any item the list. A number in a text is that number, one text in a list is that text.
    """
    # Nearly all values fit, and this one call sees it.
    if _fits(value, kind):
        return value
    for one in _choices(kind):
        if isinstance(value, dict) and (isinstance(one, type) and issubclass(one, Struct)):
            return _mended_object(value, one, lose, path)
        if isinstance(value, list) and get_origin(one) is list and not _is_texts(value):
            return _mended_list(value, get_args(one)[0], lose, path)
    converted = (_converted(value, one) for one in _choices(kind))
    found = next((one for one in converted if one is not None and _fits(one, kind)), None)
    if found is None:
        raise Unfit
    return found


def _is_texts(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(part, str) for part in value)


def _converted(value: Any, kind: Any) -> Any:
    """Return the same value as the other type: numbers and texts, lines and a text; None if it is not one."""
    if kind is str:
        return _as_text(value)
    if kind is list or get_origin(kind) is list:
        return [value] if isinstance(value, str) and value else None
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)  # one number for JavaScript, and for pandas beside a null
    if not isinstance(value, str) or kind not in (int, float, bool):
        return None
    plain = value.strip().lower()
    if kind is bool:
        return {"true": True, "false": False}.get(plain)
    return _as_number(plain, kind)


def _as_number(plain: str, kind: Any) -> int | float | None:
    if not _NUMBER.fullmatch(plain):
        return None
    number = float(plain)
    # `1.0` is the integer 1 in JavaScript; `1.5` would lose its half.
    return number if kind is float else int(number) if number.is_integer() else None


def plain_number(value: Any) -> float | None:
    """Return a number, also one in a text; None for anything else, and for one that a double rounds."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 2**53 else None


def whole_numbers(value: Any) -> Any:
    """Return a JSON value in which `3.0` is 3: some languages and tables know fractions only."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, list):
        return [whole_numbers(part) for part in value]
    return {key: whole_numbers(part) for key, part in value.items()} if isinstance(value, dict) else value


# Fifteen digits are what a double holds without rounding.
_NUMBER = lazy_pattern(r"[+-]?\d{1,15}(\.\d{1,15})?")


def _as_text(value: Any) -> str | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    parts = [_part_text(part) for part in value] if isinstance(value, list) else []
    texts = [part for part in parts if part is not None]
    return "\n".join(texts) if parts and len(texts) == len(parts) else None


def _part_text(part: Any) -> str | None:
    """Return the text of a part of a message: its own, or that of a part of type text."""
    if isinstance(part, dict) and part.keys() <= {"type", "text"}:
        part = part.get("text")
    return part if isinstance(part, str) else None


def _mended_object(value: dict[str, Any], kind: type[Struct], lose: Lose, path: str) -> dict[str, Any]:
    found, known = {}, _fields(kind)
    for key, part in value.items():
        inner = f"{path}.{key}" if path else key
        if key not in known:
            found[key] = part
            continue
        if part is None and not known[key].required:
            continue  # null holds as little as a key that is missing
        try:
            found[key] = mended(part, known[key].type, lose, inner)
        except Unfit:
            # Without this key, the whole object is lost, and reported as one.
            if known[key].required:
                raise
            lose(inner, part)
    if not all(key in found for key, field in known.items() if field.required):
        raise Unfit
    return found


def _mended_list(value: list[Any], kind: Any, lose: Lose, path: str) -> list[Any]:
    found: list[Any] = []
    lost: list[tuple[str, Any]] = []
    for at, part in enumerate(value):
        try:
            found.append(mended(part, kind, lose, f"{path}[{at}]"))
        except Unfit:
            lost.append((f"{path}[{at}]", part))
    # A list with only faulty values has another layout.
    if lost and not found:
        raise Unfit
    for place, part in lost:
        lose(place, part)
    return found


def _fits(value: Any, kind: Any) -> bool:
    try:
        convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


def _choices(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


@cache
def _fields(kind: type[Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in fields(kind)}
