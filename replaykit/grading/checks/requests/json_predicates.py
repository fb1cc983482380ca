"""Predicates over JSON: equality that distinguishes kinds, order, containment, patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from replaykit.grading.checks.structured_answer import best_assignment, compare_data
from replaykit.grading.values.bounded_regex import found_in

_DEPTH_MAX = 64


def holds(op: str, node: Any, value: Any, kind: str | None = None) -> bool:
    """Return whether one value fulfils a predicate; `kind` types both sides. Raises `RegexRefused`."""
    if kind is not None and op in ("equals", "not_equals"):
        matches = compare_data(value, node, {"format": kind}, {}).matches
        return matches is (op == "equals")
    return _OPERATORS[op](node, value)


def same(one: Any, other: Any, depth: int = 0) -> bool:
    """Return whether two JSON values are equal; true is not 1."""
    # Deeper values are equal only as one object: hostile JSON must not exhaust the stack.
    if isinstance(one, bool) or isinstance(other, bool) or depth > _DEPTH_MAX:
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same(a, b, depth + 1) for a, b in pairs)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key], depth + 1) for key in one)
    return bool(one == other)


def _contains(node: Any, value: Any) -> bool:
    if isinstance(node, str):
        return isinstance(value, str) and value in node
    if isinstance(node, dict):
        return isinstance(value, str) and value in node
    return isinstance(node, list) and any(same(part, value) for part in node)


def _is_among(node: Any, value: Any) -> bool:
    return isinstance(value, list | tuple) and any(same(node, part) for part in value)


def _holds_subset(node: Any, value: Any, depth: int = 0) -> bool:
    """Return whether everything of the value is in the node: fields of objects, items of lists."""
    if depth > _DEPTH_MAX:
        return False
    if isinstance(value, dict) and isinstance(node, dict):
        return all(key in node and _holds_subset(node[key], part, depth + 1) for key, part in value.items())
    if isinstance(value, list | tuple) and isinstance(node, list | tuple):
        possible = [
            [n for n, one in enumerate(node) if _holds_subset(one, part, depth + 1)] for part in value
        ]
        return best_assignment(possible) == len(value)
    return same(node, value)


def _has_length(node: Any, value: Any) -> bool:
    return isinstance(node, str | list | dict) and same(len(node), value)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(node: Any, value: Any) -> bool:
        sides: Sequence[Any] = (node, value)
        if any(isinstance(side, bool) for side in sides):
            return False
        is_alike = all(isinstance(side, int | float) for side in sides) or all(
            isinstance(side, str) for side in sides
        )
        return is_alike and compare(node, value)

    return holds


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": same,
    "not_equals": lambda node, value: not same(node, value),
    "in": _is_among,
    "contains": _contains,
    "subset": _holds_subset,
    "matches": lambda node, value: isinstance(node, str) and found_in(str(value), node),
    "length": _has_length,
    "lt": _ordered(lambda node, value: bool(node < value)),
    "le": _ordered(lambda node, value: bool(node <= value)),
    "gt": _ordered(lambda node, value: bool(node > value)),
    "ge": _ordered(lambda node, value: bool(node >= value)),
}
