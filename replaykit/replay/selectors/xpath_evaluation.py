"""XPath over a recorded document: what `document.evaluate` would have found.

Names of HTML elements compare without ASCII case; elements of other languages have a namespace and match no
plain name. Attributes are also nodes; the document node is row 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree, ascii_lower
from replaykit.snapshot.attributes import namespace_of, qualified
from replaykit.snapshot.snapshot_format import COMMENT, HTML, OTHER, TEXT
from replaykit.tasks.grammar.xpath_grammar import (
    Function,
    Operation,
    Path,
    XPath,
    XPathStep,
    XPathValue,
    parse,
)

VISITS_MAX = 1_000_000
"""Nodes visited by one expression."""

_SPACE = lazy_pattern("[ \t\r\n]+")
# The digits are bounded, since a hostile page may hold any number of them.
_NUMBER = lazy_pattern(r"[ \t\r\n]*(-?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300}))[ \t\r\n]*")


class Attribute(NamedTuple):
    """An attribute as a node."""

    row: int
    """Its element."""
    name: str
    """Qualified name."""
    value: str
    """Value."""


class _Around(NamedTuple):
    """Where an expression is evaluated."""

    node: int | Attribute
    position: int
    size: int


def find(source: str, dom: Dom) -> list[Node]:
    """Return the elements that a path leads to, in document order.

    Raises `Unsupported` and `LocatorLimit`; what leads to no elements gives none.
    """
    if dom.snapshot.omitted:
        raise Unsupported(locator=source, reason="the snapshot leaves elements out")
    found = _Evaluation(dom.tree, source).value(parse(source), _Around(0, 1, 1))
    rows = found if isinstance(found, list) else []
    return [Node(dom, row) for row in rows if isinstance(row, int) and dom.tree.kind[row] <= OTHER]


class _Evaluation:
    """One expression over one tree, with a budget of work."""

    def __init__(self, tree: Tree, source: str) -> None:
        self.tree = tree
        self.source = source
        self.left = VISITS_MAX

    def value(self, expression: XPath, around: _Around) -> Any:
        match expression:
            case XPathValue(value=value):
                return value
            case Path():
                return self._path(expression, around)
            case Operation(operator=operator, left=left, right=right):
                return self._operation(operator, left, right, around)
            case Function(name=name, arguments=arguments):
                return self._function(name, arguments, around)

    def _path(self, path: Path, around: _Around) -> list[int | Attribute]:
        nodes: list[int | Attribute] = [0 if path.is_absolute else around.node]
        if path.start is not None:
            nodes = self._nodes(self.value(path.start, around))
            nodes = self._filter(nodes, path.predicates)
        for step in path.steps:
            found = [hit for node in nodes for hit in self._step(step, node)]
            nodes = _ordered(found)
        return nodes

    def _step(self, step: XPathStep, node: int | Attribute) -> list[int | Attribute]:
        found = [near for near in self._axis(step.axis, node) if self._passes(step, near)]
        return self._filter(found, step.predicates)

    def _filter(self, nodes: list[int | Attribute], predicates: Iterable[XPath]) -> list[int | Attribute]:
        """Keep what fulfils every predicate; positions count along the axis."""
        for predicate in predicates:
            size = len(nodes)
            nodes = [
                node
                for place, node in enumerate(nodes, 1)
                if self._holds(predicate, _Around(node, place, size))
            ]
        return nodes

    def _holds(self, predicate: XPath, around: _Around) -> bool:
        found = self.value(predicate, around)
        return found == around.position if isinstance(found, float) else _boolean(found)

    def _axis(self, axis: str, node: int | Attribute) -> Iterator[int | Attribute]:
        for near in self._near(axis, node):
            self.left -= 1
            if self.left < 0:
                raise LocatorLimit(locator=self.source, limit=f"{VISITS_MAX} visited nodes")
            yield near

    def _near(self, axis: str, node: int | Attribute) -> Iterator[int | Attribute]:
        if isinstance(node, Attribute):
            yield from self._near_attribute(axis, node)
        elif axis == "attribute":
            pairs = self.tree.attributes(node) if self.tree.kind[node] <= OTHER else []
            yield from (Attribute(node, name, value) for name, value in pairs)
        else:
            yield from _ROWS[axis](self.tree, node)

    def _near_attribute(self, axis: str, node: Attribute) -> Iterator[int | Attribute]:
        if axis in ("self", "ancestor-or-self", "descendant-or-self"):
            yield node
        if axis in ("parent", "ancestor", "ancestor-or-self"):
            yield node.row
        if axis in ("ancestor", "ancestor-or-self"):
            yield from _ancestors(self.tree, node.row)
        if axis in ("following", "preceding"):
            raise Unsupported(locator=self.source, reason=f"{axis} of an attribute")

    def _passes(self, step: XPathStep, node: int | Attribute) -> bool:
        if isinstance(node, Attribute):
            is_named = step.test == node.name and not namespace_of(node.name, self.tree.kind[node.row])
            return is_named or step.test in ("*", "node()")
        kind = self.tree.kind[node]
        match step.test:
            case "node()":
                return True
            case "text()":
                return kind == TEXT
            case "comment()":
                return kind == COMMENT
            case "*":
                return kind <= OTHER and step.axis != "attribute"
        if kind == OTHER and self.tree.name[node] == step.test:
            raise Unsupported(locator=self.source, reason=f"the namespace of <{step.test}>")
        return kind == HTML and self.tree.name[node] == (
            ascii_lower(step.test) if self.tree.html else step.test
        )

    def _operation(self, operator: str, left: XPath, right: XPath, around: _Around) -> Any:
        first = self.value(left, around)
        if operator in ("or", "and"):
            is_true = _boolean(first)
            return is_true if is_true is (operator == "or") else _boolean(self.value(right, around))
        second = self.value(right, around)
        if operator == "|":
            return _ordered([*self._nodes(first), *self._nodes(second)])
        return self._compares(operator, first, second)

    def _compares(self, operator: str, first: Any, second: Any) -> bool:
        """Compare: of sets of nodes, any pair will do (3.4)."""
        if isinstance(first, bool) or isinstance(second, bool):
            return _compare(operator, _boolean(first), _boolean(second))
        pairs = ((one, other) for one in self._texts(first) for other in self._texts(second))
        is_number = isinstance(first, float) or isinstance(second, float) or operator not in ("=", "!=")
        for one, other in pairs:
            self.left -= 1
            if self.left < 0:
                raise LocatorLimit(locator=self.source, limit=f"{VISITS_MAX} visited nodes")
            sides = (_number(one), _number(other)) if is_number else (self.text(one), self.text(other))
            if _compare(operator, *sides):
                return True
        return False

    def _texts(self, value: Any) -> list[Any]:
        return [self._string(node) for node in value] if isinstance(value, list) else [value]

    def _function(self, name: str, arguments: tuple[XPath, ...], around: _Around) -> Any:
        match name:
            case "last":
                return float(around.size)
            case "position":
                return float(around.position)
            case "true" | "false":
                return name == "true"
        # Without an argument a function takes the context node (XPath 1.0, 4).
        given = [self.value(argument, around) for argument in arguments] or [[around.node]]
        match name:
            case "not":
                return not _boolean(given[0])
            case "boolean":
                return _boolean(given[0])
            case "count":
                return float(len(self._nodes(given[0])))
            case "number":
                return _number(self.text(given[0]))
            case "name" | "local-name":
                return self._name(around.node)
        return _TEXTS[name](*(self.text(value) for value in given))

    def _name(self, node: int | Attribute) -> str:
        if isinstance(node, Attribute):
            return qualified(node.name)
        return self.tree.name[node] if self.tree.kind[node] <= OTHER else ""

    def text(self, value: Any) -> str:
        """Return a value as text: of nodes, the first one's."""
        if isinstance(value, list):
            return self._string(value[0]) if value else ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return _number_text(value, self.source)
        return str(value)

    def _string(self, node: int | Attribute) -> str:
        if isinstance(node, Attribute):
            return node.value
        self.left -= self.tree.end[node] - node
        if self.left < 0:
            raise LocatorLimit(locator=self.source, limit=f"{VISITS_MAX} visited nodes")
        return self.tree.text_content(node)

    def _nodes(self, value: Any) -> list[int | Attribute]:
        if not isinstance(value, list):
            raise Unsupported(locator=self.source, reason="nodes of what is no path")
        return value


def _ordered(nodes: Iterable[int | Attribute]) -> list[int | Attribute]:
    """Return nodes in document order, each once."""
    return sorted(dict.fromkeys(nodes), key=_place)


def _place(node: int | Attribute) -> tuple[int, str]:
    return (node.row, node.name) if isinstance(node, Attribute) else (node, "")


def _ancestors(tree: Tree, row: int) -> Iterator[int]:
    yield from tree.ancestors(row)
    if row:
        yield 0


def _parent(tree: Tree, row: int) -> Iterator[int]:
    if row:
        yield tree.up[row] if tree.up[row] >= 0 else 0


def _siblings(tree: Tree, row: int) -> list[int]:
    return list(tree.children(next(_parent(tree, row)))) if row else []


def _following(tree: Tree, row: int) -> Iterator[int]:
    return (node for node in tree.descendants(0) if node >= tree.end[row])


def _preceding(tree: Tree, row: int) -> Iterator[int]:
    above = set(tree.ancestors(row))
    before = takewhile(lambda node: node < row, tree.descendants(0))
    return reversed([node for node in before if node not in above])


def _with_self(axis: Callable[[Tree, int], Iterator[int]]) -> Callable[[Tree, int], Iterator[int]]:
    def both(tree: Tree, row: int) -> Iterator[int]:
        yield row
        yield from axis(tree, row)

    return both


_ROWS: dict[str, Callable[[Tree, int], Iterator[int]]] = {
    "self": lambda tree, row: iter((row,)),
    "child": lambda tree, row: tree.children(row),
    "descendant": lambda tree, row: tree.descendants(row),
    "descendant-or-self": _with_self(lambda tree, row: tree.descendants(row)),
    "parent": _parent,
    "ancestor": _ancestors,
    "ancestor-or-self": _with_self(_ancestors),
    "following": _following,
    "preceding": _preceding,
    "following-sibling": lambda tree, row: (node for node in _siblings(tree, row) if node > row),
    "preceding-sibling": lambda tree, row: (node for node in reversed(_siblings(tree, row)) if node < row),
}


def _boolean(value: Any) -> bool:
    if isinstance(value, float):
        return bool(value) and not math.isnan(value)
    return bool(value)


def _number(value: Any) -> float:
    if isinstance(value, bool | float):
        return float(value)
    found = _NUMBER.fullmatch(value)
    return float(found[1]) if found else math.nan


def _number_text(value: float, source: str) -> str:
    if value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    raise Unsupported(locator=source, reason="the text of a number that is not whole")


def _compare(operator: str, one: Any, other: Any) -> bool:
    match operator:
        case "=":
            return bool(one == other)
        case "!=":
            return bool(one != other)
        case "<":
            return bool(one < other)
        case "<=":
            return bool(one <= other)
        case ">":
            return bool(one > other)
    return bool(one >= other)


def _translated(text: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, char in enumerate(old):
        table.setdefault(ord(char), new[place] if place < len(new) else None)
    return text.translate(table)


_TEXTS: dict[str, Callable[..., Any]] = {
    "string": str,
    "contains": lambda text, part: part in text,
    "starts-with": lambda text, part: text.startswith(part),
    "normalize-space": lambda text: _SPACE.sub(" ", text).strip(" "),
    "string-length": lambda text: float(len(text)),
    "concat": lambda *parts: "".join(parts),
    "translate": _translated,
    "substring-before": lambda text, part: text.partition(part)[0] if part in text else "",
    "substring-after": lambda text, part: text.partition(part)[2],
}
