"""Lists and objects as WebArena-Verified (revision 6473f72) types them by schema and compares them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from replaykit.decoders import check_nesting
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.typed_values import PeerOptions, Typed, typed

VALUES_MAX = 1000
"""Values of a list that are compared with each expected one: of a longer list they are not all expected."""

DEPTH_MAX = 64
"""Values inside values."""
NESTING_MAX = 900
"""Lists and objects in one another that the package's interpreter reads, whatever interpreter runs here."""


class PeerFault(Exception):
    """Raised where the package gives up: its verdict is an error."""


def read_list(
    values: Any, schema: Mapping[str, Any] | None, options: PeerOptions, *, is_expected: bool
) -> Any:
    """Type the items of a list by the schema of an array.

    What is expected has to be readable (`PeerFault`); what was found stays raw where it is not.
    """
    if schema is not None and schema.get("type", "array") != "array":
        raise PeerFault(f"a schema of type {schema.get('type')!r} where there are data")
    items = {} if schema is None else schema.get("items", {})
    if items.get("type", "string") == "object":
        return tuple(_object_or_list(item, items, options, is_expected) for item in values)
    return tuple(_simple(item, _format(items), options, is_expected) for item in values)


def read_object(value: Any, schema: Mapping[str, Any], options: PeerOptions, *, is_expected: bool) -> Any:
    """Type the properties of an object; those that the schema does not name are texts."""
    value = _decoded(value, dict) if isinstance(value, str) else value
    if not isinstance(value, Mapping):
        if is_expected:
            raise PeerFault("an object is expected")
        return value
    fields = schema.get("properties", {})
    return {
        name: None if part is None else _property(part, fields.get(name), options, is_expected)
        for name, part in value.items()
    }


def equal(expected: Any, actual: Any, *, is_ordered: bool = False, allows_more: bool = False) -> bool:
    """Compare by structure, greedily where order does not count. Raises `PeerFault` and `RegexRefused`."""
    return _equal(expected, actual, is_ordered, allows_more, [False], 0)


def _property(part: Any, schema: Mapping[str, Any] | None, options: PeerOptions, is_expected: bool) -> Any:
    if schema is None:
        return _simple(part, "string", options, is_expected)
    if schema.get("type") == "array":
        return _array_property(part, schema.get("items", {}), options, is_expected)
    if schema.get("type") == "object":
        return read_object(part, schema, options, is_expected=is_expected)
    return _simple(part, _format(schema), options, is_expected)


def _array_property(part: Any, items: Mapping[str, Any], options: PeerOptions, is_expected: bool) -> Any:
    part = _decoded(part, list) if isinstance(part, str) else part
    if not isinstance(part, str | list | tuple):
        if is_expected:
            raise PeerFault("a list is expected")
        return part
    if items.get("type") == "object":
        return _object_or_list(part, items, options, is_expected)
    # A text is a list of its characters, as upstream.
    return tuple(_simple(item, _format(items), options, is_expected) for item in part)


def _object_or_list(value: Any, schema: Mapping[str, Any], options: PeerOptions, is_expected: bool) -> Any:
    if isinstance(value, list | tuple):
        return tuple(read_object(one, schema, options, is_expected=is_expected) for one in value)
    return read_object(value, schema, options, is_expected=is_expected)


def _format(schema: Mapping[str, Any]) -> str:
    return str(schema.get("format") or schema.get("type") or "string")


def _simple(value: Any, kind: str, options: PeerOptions, is_expected: bool) -> Any:
    try:
        return typed(value, kind, options)
    except Unparsed as error:
        if is_expected or str(error).startswith("no type"):
            raise PeerFault(f"{value!r} is no {kind}: {error}") from error
        return value


def read_json(text: str) -> Any:
    """Return a text read as JSON; a text that is not JSON is returned as it is.

    Raises `PeerFault` for what the package's interpreter does not read.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        # Another interpreter raises before it reaches the faulty part.
        _refuse_deep(text[: error.pos])
        return text
    except (ValueError, RecursionError) as error:
        raise PeerFault(f"JSON that cannot be read: {error}") from error
    _refuse_deep(text)
    return found


def _refuse_deep(text: str) -> None:
    try:
        check_nesting(text, NESTING_MAX)
    except RecursionError as error:
        raise PeerFault("JSON that cannot be read: nested too deeply") from error


def _decoded(text: str, wanted: type) -> Any:
    found = read_json(text)
    return found if isinstance(found, wanted) else text


def _equal(
    expected: Any, actual: Any, is_ordered: bool, allows_more: bool, seen: list[bool], depth: int
) -> bool:
    if depth > DEPTH_MAX:
        raise PeerFault("values inside of values without end")
    if actual == () and isinstance(actual, tuple):
        # Upstream remembers containers by identity, and all empty ones are one.
        if seen[0]:
            raise PeerFault("circular reference")
        seen[0] = True
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, Mapping):
        return _equal_objects(expected, actual, is_ordered, allows_more, seen, depth)
    if isinstance(expected, list | tuple):
        return _equal_lists(expected, actual, is_ordered, allows_more, seen, depth)
    return _equal_values(expected, actual)


def _equal_values(expected: Any, actual: Any) -> bool:
    """Compare what has no parts. The package writes down a URL that differs, which takes queries of lists."""
    queries = [value for side in (expected, actual) for value in _query_values(side)]
    if any(isinstance(value, Typed) for value in queries):
        raise PeerFault("a query value that is no list")
    matches = bool(expected == actual)
    if not matches and any(value is None for value in queries):
        raise PeerFault("a query value that is null")
    return matches


def _query_values(value: Any) -> Iterable[Any]:
    is_url = isinstance(value, Typed) and value.kind == "url"
    return value.alternatives[0].query.values() if is_url else ()


def _equal_objects(
    expected: Mapping[str, Any],
    actual: Any,
    is_ordered: bool,
    allows_more: bool,
    seen: list[bool],
    depth: int,
) -> bool:
    if not isinstance(actual, Mapping):
        return False
    if not expected:
        raise PeerFault("an expected object has a property")
    results = [
        _equal(expected[key], actual[key], is_ordered, allows_more, seen, depth + 1)
        for key in expected
        if key in actual
    ]
    missing = expected.keys() - actual.keys()
    more = set() if allows_more else actual.keys() - expected.keys()
    return all(results) and not missing and not more


def _equal_lists(
    expected: Sequence[Any], actual: Any, is_ordered: bool, allows_more: bool, seen: list[bool], depth: int
) -> bool:
    if not isinstance(actual, list | tuple):
        return False
    if is_ordered:
        pairs = zip(expected, actual, strict=False)
        results = [_equal(one, other, is_ordered, allows_more, seen, depth + 1) for one, other in pairs]
        return len(expected) == len(actual) and all(results)
    left = list(actual)
    if len(left) > max(len(expected), VALUES_MAX):
        return False
    matched = 0
    for one in expected:
        for place, other in enumerate(left):
            trial = list(seen)
            if _equal(one, other, is_ordered, allows_more, trial, depth + 1):
                seen[0] = trial[0]
                del left[place]
                matched += 1
                break
    return matched == len(expected) and not left
