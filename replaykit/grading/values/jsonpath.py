"""Places in JSON: JSONPath (RFC 9535: names, indices, wildcards, slices, `..`, filters), JSON Pointer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

SOURCE_MAX = 1024
"""Characters of a path."""

VISITS_MAX = 200_000
"""Nodes visited by one path."""


class PathFault(ValueError):
    """A path that cannot be read, or that visits too much."""


class Condition(NamedTuple):
    """One comparison of a filter: `@.a.b operator value`, or the existence of a node."""

    path: tuple[str | int, ...]
    """Names and indices below the node."""
    operator: str
    """`exists == != < <= > >=`."""
    value: Any
    """What it is compared with."""


class Segment(NamedTuple):
    """One step of a path."""

    kind: str
    """`name index slice all filter`."""
    descends: bool
    """Written `..`: of the node and everything below it."""
    value: Any
    """The name, the index, the slice, or the alternatives of a filter, each all of its conditions."""


def find(path: str, document: Any) -> list[Any]:
    """Return the values of all nodes that a JSONPath, or a JSON Pointer, leads to, in document order.

    Raises `PathFault`.
    """
    if not path or path.startswith("/"):
        return _pointed(path, document)
    nodes, budget = [document], [VISITS_MAX]
    for segment in _segments(path):
        nodes = [found for node in nodes for found in _step(segment, node, budget)]
    return nodes


def check_path(path: str) -> None:
    """Raise `PathFault` for a path that cannot be read."""
    if path and not path.startswith("/"):
        _segments(path)


def _pointed(pointer: str, document: Any) -> list[Any]:
    """Follow a JSON Pointer (RFC 6901)."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, dict) and name in document:
            document = document[name]
        elif isinstance(document, list) and re.fullmatch(r"0|[1-9]\d{0,8}", name, re.ASCII):
            if int(name) >= len(document):
                return []
            document = document[int(name)]
        else:
            return []
    return [document]


_LITERAL = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|true|false|null"
_PLACE = r"@((?:\.[A-Za-z_][\w-]*|\[(?:\d{1,9}|'[^'\]]*'|\"[^\"\]]*\")\])*)"
_SEGMENT = re.compile(
    r"""(?P<descends>\.\.)?(?:
        (?P<dot>\.)?(?P<name>[^\W\d][\w-]*)
      | (?:\.)?(?P<star>\*)
      | \.?\[\s*(?:
            (?P<index>-?\d{1,9})
          | (?P<slice>(?:-?\d{1,9})?\s*:\s*(?:-?\d{1,9})?(?:\s*:\s*(?:-?\d{1,9})?)?)
          | (?P<all>\*)
          | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
          | \?(?P<filter>(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\[\]]*\]|[^\[\]'"])*)
        )\s*\]
    )""",
    re.VERBOSE,
)
_CONDITION = re.compile(rf"\s*{_PLACE}\s*(?:(==|!=|<=|>=|<|>)\s*({_LITERAL}))?\s*")
_PART = re.compile(r"\.([A-Za-z_][\w-]*)|\[(\d{1,9})\]|\['([^'\]]*)'\]|\[\"([^\"\]]*)\"\]")


@lru_cache(maxsize=1024)
def _segments(path: str) -> tuple[Segment, ...]:
    if len(path) > SOURCE_MAX or not path.startswith("$"):
        raise PathFault(f"not a path: {path[:80]!r}; it begins with $ or /")
    found: list[Segment] = []
    at = 1
    while at < len(path):
        match = _SEGMENT.match(path, at)
        if match is None or (match["name"] and not match["dot"] and not match["descends"]):
            raise PathFault(f"not a path: {path[:80]!r} at {path[at : at + 12]!r}")
        found.append(_segment(match))
        at = match.end()
    return tuple(found)


def _segment(match: re.Match[str]) -> Segment:
    descends = bool(match["descends"])
    if match["name"] or match["quoted"]:
        return Segment("name", descends, match["name"] or _literal(match["quoted"]))
    if match["index"]:
        return Segment("index", descends, int(match["index"]))
    if match["slice"]:
        bounds = [int(part) if part.strip() else None for part in match["slice"].split(":")]
        return Segment("slice", descends, slice(*bounds))
    if match["filter"] is not None:
        return Segment("filter", descends, _filter(match["filter"]))
    return Segment("all", descends, None)


def _filter(text: str) -> tuple[tuple[Condition, ...], ...]:
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    return tuple(tuple(map(_condition, part.split("&&"))) for part in text.split("||"))


def _condition(text: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise PathFault(f"not a comparison: {text[:80]!r}")
    path = tuple(
        int(part[2]) if part[2] else part[1] or part[3] or part[4] or "" for part in _PART.finditer(found[1])
    )
    return Condition(path, found[2] or "exists", _literal(found[3]) if found[3] else None)


def _literal(text: str) -> Any:
    if text.startswith("'"):
        text = '"' + text[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        return json.loads(text)
    except ValueError as error:
        raise PathFault(f"not a value: {text[:80]!r}") from error


def _step(segment: Segment, node: Any, budget: list[int]) -> Iterator[Any]:
    for place in _below(node, budget) if segment.descends else (node,):
        for found in _STEPS[segment.kind](place, segment.value):
            _spend(budget)
            yield found


def _spend(budget: list[int]) -> None:
    budget[0] -= 1
    if budget[0] < 0:
        raise PathFault(f"more than {VISITS_MAX} nodes")


def _below(node: Any, budget: list[int]) -> Iterator[Any]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        _spend(budget)
        yield node
        waiting += reversed(_children(node))


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _named(node: Any, name: str) -> list[Any]:
    return [node[name]] if isinstance(node, dict) and name in node else []


def _indexed(node: Any, index: int) -> list[Any]:
    is_there = isinstance(node, list) and -len(node) <= index < len(node)
    return [node[index]] if is_there else []


def _sliced(node: Any, bounds: slice) -> list[Any]:
    return node[bounds] if isinstance(node, list) and bounds.step != 0 else []


def _filtered(node: Any, alternatives: tuple[tuple[Condition, ...], ...]) -> list[Any]:
    return [
        child
        for child in _children(node)
        if any(all(_holds(one, child) for one in conditions) for conditions in alternatives)
    ]


def _holds(condition: Condition, node: Any) -> bool:
    for part in condition.path:
        found = _indexed(node, part) if isinstance(part, int) else _named(node, part)
        if not found:
            return False
        node = found[0]
    if condition.operator == "exists":
        return True
    return _COMPARE[condition.operator](node, condition.value)


def _equals(one: Any, other: Any) -> bool:
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _is_less(one: Any, other: Any) -> bool:
    numbers = all(isinstance(side, int | float) and not isinstance(side, bool) for side in (one, other))
    return (numbers or (isinstance(one, str) and isinstance(other, str))) and bool(one < other)


_STEPS: dict[str, Callable[[Any, Any], list[Any]]] = {
    "name": _named,
    "index": _indexed,
    "slice": _sliced,
    "all": lambda node, _: _children(node),
    "filter": _filtered,
}
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equals,
    "!=": lambda one, other: not _equals(one, other),
    "<": _is_less,
    ">": lambda one, other: _is_less(other, one),
    "<=": lambda one, other: _is_less(one, other) or _equals(one, other),
    ">=": lambda one, other: _is_less(other, one) or _equals(one, other),
}
