"""Fields of structs that hold free texts, as opposed to ids, digests and words of the format."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from msgspec import Struct, inspect

_IDENTIFIERS = frozenset({"id", "secrets"})
"""Fields whose texts others refer to."""


@cache
def text_fields(kind: type[Struct]) -> tuple[tuple[str, bool], ...]:
    """Return the fields that hold strings or structs, and whether those strings are free texts."""
    about = inspect.type_info(kind)
    fields = about.fields if isinstance(about, inspect.StructType) else ()
    named = [one for one in fields if one.name not in _IDENTIFIERS]
    return tuple((one.name, _has(one.type, _is_text)) for one in named if _has(one.type, _is_part))


@cache
def is_free(kind: type[Struct], name: str) -> bool:
    """Whether a field holds any JSON, whose keys are no names of the format."""
    about = inspect.type_info(kind)
    fields = about.fields if isinstance(about, inspect.StructType) else ()
    return any(one.name == name and _has(one.type, _is_any) for one in fields)


def _is_any(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.AnyType)


def _is_text(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.AnyType) or (isinstance(kind, inspect.StrType) and kind.pattern is None)


def _is_part(kind: inspect.Type) -> bool:
    return _is_text(kind) or isinstance(kind, inspect.StructType)


def _has(kind: inspect.Type, holds: Callable[[inspect.Type], bool]) -> bool:
    """Whether any part of a type holds; keys of dicts and fields of structs are not looked at."""
    match kind:
        case inspect.Metadata(type=part):
            return _has(part, holds)
        case inspect.UnionType(types=types):
            return any(_has(one, holds) for one in types)
        case inspect.DictType(value_type=part):
            return _has(part, holds)
        case inspect.VarTupleType(item_type=part) | inspect.ListType(item_type=part):
            return _has(part, holds)
        case inspect.TupleType(item_types=parts):
            return any(_has(one, holds) for one in parts)
    return holds(kind)
