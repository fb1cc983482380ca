"""Hints where a task file has an unknown name: the nearest name, and all names."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from replaykit.patterns import lazy_pattern
from replaykit.tasks.described_schema import components

_UNKNOWN_FIELD = lazy_pattern("Object contains unknown field `(.*)`")
_WRONG_WORD = lazy_pattern("Invalid (?:enum )?value '(.*)'")
_KEY = lazy_pattern(r"\.(\w+)|\[(\d+)\]")

_HIDDEN = {"source_record"}
"""Fields that no one writes by hand."""

_COMPARED_MAX = 80
"""Characters of a wrong name that are compared: a bundle may bring one of any length."""

_NEAR = 0.6
"""So alike is a name that is meant for another one: `checks` is not meant for `schema`."""

_Schema = dict[str, Any]


def suggestion(reason: str, path: str, plain: Any, kind: type) -> str:
    """Return what to add to msgspec's `reason`: the nearest accepted name, and those there are.

    `plain` is the whole that was read as the struct `kind`; `path` is msgspec's place in it. Empty where no
    name is wrong.
    """
    (root,), parts = components(kind)
    schema = _Names(parts)
    if wrong := _UNKNOWN_FIELD.fullmatch(reason):
        known = [name for name in schema.fields(*schema.at(root, plain, path)) if name not in _HIDDEN]
    elif wrong := _WRONG_WORD.fullmatch(reason):
        known = schema.words(root, plain, path)
    if wrong is None or not known:
        return ""
    given = wrong[1][:_COMPARED_MAX]
    near = get_close_matches(given, known, 1, _NEAR) or [one for one in known if given and given in one][:1]
    return "".join(f"; did you mean {one}?" for one in near) + f" (there are {', '.join(known)})"


def missing_fields(path: str, plain: Any, kind: type) -> list[str]:
    """Return the required fields that an object lacks; `plain` was read as the struct `kind`."""
    (root,), parts = components(kind)
    names = _Names(parts)
    schema, value = names.at(root, plain, path)
    tag: str | None = next((union["propertyName"] for union in names.unions(schema)), None)
    if tag is not None and isinstance(value, dict) and tag not in value:
        return [tag]
    needed = names.form(schema, value).get("required", ())
    return [name for name in needed if isinstance(value, dict) and name not in value]


class _Names:
    """The names in a JSON Schema, found along the path of a value."""

    def __init__(self, parts: dict[str, _Schema]) -> None:
        self._parts = parts

    def at(self, root: _Schema, plain: Any, path: str) -> tuple[_Schema, Any]:
        """Return the schema at a path and the value there; an empty schema where the path leads nowhere."""
        schema, value = root, plain
        for field, index in _KEY.findall(path):
            inner = self.form(schema, value)
            schema = inner.get("properties", {}).get(field, {}) if field else inner.get("items", {})
            value = _below(value, field or int(index))
        return schema, value

    def fields(self, schema: _Schema, value: Any) -> list[str]:
        """Return the fields of an object."""
        return [*self.form(schema, value).get("properties", {})]

    def words(self, root: _Schema, plain: Any, path: str) -> list[str]:
        """Return the words that a value may be: its enumeration, or the tags of the forms around it."""
        schema, _ = self.at(root, plain, path)
        words = [str(word) for one in self._forms(schema) for word in one.get("enum", ())]
        around, field = path.rpartition(".")[::2]
        outer, _ = self.at(root, plain, around)
        tags = [
            str(tag) for one in self.unions(outer) if one["propertyName"] == field for tag in one["mapping"]
        ]
        return tags or words

    def form(self, schema: _Schema, value: Any) -> _Schema:
        """Return the form of a schema that a value was meant to have."""
        wanted = "properties" if isinstance(value, dict) else "items"
        for union in self.unions(schema):
            tag = value.get(union["propertyName"]) if isinstance(value, dict) else None
            if isinstance(tag, str) and tag in union["mapping"]:
                return self._resolved({"$ref": union["mapping"][tag]})
        return next((one for one in self._forms(schema) if wanted in one), {})

    def _forms(self, schema: _Schema) -> Iterator[_Schema]:
        schema = self._resolved(schema)
        for one in schema.get("anyOf", [schema]):
            yield from self._forms(one) if "anyOf" in one else [self._resolved(one)]

    def unions(self, schema: _Schema) -> Iterator[_Schema]:
        """Yield what distinguishes tagged forms."""
        schema = self._resolved(schema)
        if "discriminator" in schema:
            yield schema["discriminator"]
        for one in schema.get("anyOf", ()):
            yield from self.unions(one) if "$ref" not in one else ()

    def _resolved(self, schema: _Schema) -> _Schema:
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        return self._parts[name] if name else schema


def _below(value: Any, key: str | int) -> Any:
    try:
        return value[key]
    except (KeyError, IndexError, TypeError):
        return None
