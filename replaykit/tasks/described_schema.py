"""JSON Schemas whose properties say what they mean: the docstring below each field of a struct."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from replaykit.errors import UsageError

DRAFT = "https://json-schema.org/draft/2020-12/schema"
"""Dialect of every schema."""

TEMPLATE = "#/$defs/{name}"
"""Where a schema keeps its parts."""


FOLDERS = (Path(__file__).parents[1] / "schemas", Path(__file__).parents[2] / "docs")
"""Where the schemas lie in a wheel, and in a checkout."""


def components(*types: type) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return a reference to each struct, and their parts, in which every property is described."""
    found, parts = msgspec.json.schema_components(types, ref_template=TEMPLATE)
    for struct in _structs(types):
        _describe(parts[_name_in(parts, struct)], struct)
    return [*found], parts


def document(title: str, id: str, root: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """Return a whole schema. `id` is a URN: a schema has no address of its own."""
    return {"$schema": DRAFT, "$id": id, "title": title, **root, "$defs": parts}


def schema_file(name: str) -> Path:
    """Return the schema's file: in the wheel, or in the checkout. Raises UsageError if neither holds it."""
    file = f"{name}.schema.json"
    found = next((folder / file for folder in FOLDERS if (folder / file).is_file()), None)
    if found is None:
        command = f"replaykit tasks schema {name} > {file}"
        raise UsageError(what=f"this installation has no file {file}; write one: `{command}`")
    return found


def _describe(part: dict[str, Any], struct: Any) -> None:
    words = field_meanings(struct, encoded=True)
    for name, schema in part["properties"].items():
        meaning = words.get(name) or _of_the_tag(struct, name)
        part["properties"][name] = {"description": meaning, **schema} if meaning else schema


def _of_the_tag(struct: Any, name: str) -> str:
    config = struct.__struct_config__
    return f"Always `{config.tag}`, which selects this form." if name == config.tag_field else ""


def field_meanings(kind: object, encoded: bool = False) -> dict[str, str]:
    """Return the docstring below each field of a struct, by its name in Python or, `encoded`, in files.

    Members of an enumeration count as its fields.
    """
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct | Enum)):
        return {}
    meanings: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        meanings |= _docstrings(base.__module__).get(base.__qualname__, {})
    if issubclass(kind, Enum):
        return meanings
    fields = [one for one in msgspec.structs.fields(kind) if one.name in meanings]
    return {one.encode_name if encoded else one.name: meanings[one.name] for one in fields}


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return class name to field to docstring; nothing for a module without source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    return {node.name: dict(_fields(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())


def _name_in(parts: dict[str, Any], struct: type) -> str:
    """Return what a schema calls a struct: its own name, or a longer one where two have it."""
    if struct.__name__ in parts:
        return struct.__name__
    return f"{struct.__module__}.{struct.__qualname__}".replace(".", "_")


def _structs(types: tuple[type, ...]) -> set[type]:
    found: set[type] = set()
    left: list[Any] = [*msgspec.inspect.multi_type_info(types)]
    while left:
        node = left.pop()
        if isinstance(node, msgspec.inspect.StructType):
            if node.cls in found:
                continue
            found.add(node.cls)
        if isinstance(node, tuple):
            left.extend(node)
        elif isinstance(node, msgspec.inspect.Type | msgspec.inspect.Field):
            left.extend(getattr(node, name) for name in node.__struct_fields__)
    return found
