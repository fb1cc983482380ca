"""Data of a source beyond the fields that an importer reads: kept under its path."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct, inspect


def rest(value: Any, kind: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield path and value of the parts of a JSON value that a type does not read, except empty ones."""
    yield from _rest(value, _about(kind), path)


def _rest(value: Any, about: inspect.Type, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and (struct := _part(about, inspect.StructType)):
        known = {field.encode_name: field.type for field in struct.fields}
        for key, part in value.items():
            inner = f"{path}.{key}" if path else key
            if key in known:
                yield from _rest(part, known[key], inner)
            elif holds_data(part):
                yield inner, part
    elif isinstance(value, list) and (many := _part(about, inspect.ListType)):
        for at, part in enumerate(value):
            yield from _rest(part, many.item_type, f"{path}[{at}]")


def holds_data(value: Any) -> bool:
    """Whether a JSON value holds anything at all."""
    if isinstance(value, dict):
        return any(holds_data(part) for part in value.values())
    if isinstance(value, list):
        return any(holds_data(part) for part in value)
    return value is not None and value != ""


def _part(about: inspect.Type, wanted: type[Any]) -> Any:
    if isinstance(about, inspect.UnionType):
        return next((one for one in about.types if isinstance(one, wanted)), None)
    return about if isinstance(about, wanted) else None


@cache
def _about(kind: type[Struct] | Any) -> inspect.Type:
    return inspect.type_info(kind)
