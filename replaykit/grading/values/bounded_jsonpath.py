"""JSONPath as `python-jsonpath` reads it, with a limit to the work that a recorded document can cause.

The library reads the paths and selects. It counts nothing, it keeps every visited node with its whole path,
and its expressions may take exponential time. So every node and every comparison is counted here, nodes carry
no paths, and expressions run in the matcher that bounds them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jsonpath import JSONPath, JSONPathEnvironment, JSONPathMatch, Parser
from jsonpath.exceptions import JSONPathError
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.segments import JSONPathChildSegment, JSONPathRecursiveDescentSegment

from replaykit.grading.values.bounded_regex import RegexRefused, found_in, full_match
from replaykit.grading.values.jsonpath_limits import VISITS_MAX, PathFault

CHARACTERS = 1024
"""Characters of a text that are compared for the price of one visit."""


class _Budget(threading.local):
    """Visits that are left to the search of this thread."""

    left = VISITS_MAX

    def spend(self, visits: int = 1) -> None:
        self.left -= visits
        if self.left < 0:
            raise PathFault(f"more than {VISITS_MAX} nodes")


_BUDGET = _Budget()


class _Node(JSONPathMatch):
    """A node without a path: the library's own joins all names above, however long they are."""

    __slots__ = ()

    def __init__(self, value: Any, root: Any) -> None:
        super().__init__(filter_context={}, obj=value, parent=None, path="", parts=(), root=root)

    def add_child(self, *children: JSONPathMatch) -> None:
        """Forget them: a search would keep all that it visited."""

    def new_child(self, obj: object, key: int | str) -> JSONPathMatch:
        _BUDGET.spend()
        return _Node(obj, self.root)


def _plain(nodes: Iterable[JSONPathMatch]) -> Iterator[JSONPathMatch]:
    """Replace the nodes that the library makes itself: the roots of queries in filters."""
    return (node if isinstance(node, _Node) else _Node(node.obj, node.root) for node in nodes)


class _Children(JSONPathChildSegment):
    """`.name`, `[...]`."""

    __slots__ = ()

    def resolve(self, nodes: Iterable[JSONPathMatch]) -> Iterable[JSONPathMatch]:
        return super().resolve(_plain(nodes))


class _Descendants(JSONPathRecursiveDescentSegment):
    """`..name`, `..[...]`; without recursion, so that documents may be deep."""

    __slots__ = ()

    def resolve(self, nodes: Iterable[JSONPathMatch]) -> Iterable[JSONPathMatch]:
        return super().resolve(_plain(nodes))

    def _visit(self, node: JSONPathMatch, depth: int = 1) -> Iterable[JSONPathMatch]:
        waiting = [node.obj]
        while waiting:
            value = waiting.pop()
            _BUDGET.spend()
            yield _Node(value, node.root)
            inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            waiting += reversed([one for one in inner if isinstance(one, dict | list)])


class _Parser(Parser):
    def parse_query(self, stream: Any) -> Iterable[Any]:
        for segment in super().parse_query(stream):
            is_child = isinstance(segment, JSONPathChildSegment)
            kind = _Children if is_child else _Descendants
            yield kind(env=segment.env, token=segment.token, selectors=segment.selectors)


class _Expression(FilterFunction):
    """`match(text, expression)` or `search(text, expression)`."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]
    return_type = ExpressionType.LOGICAL

    def __init__(self, matches: Callable[[str, str], bool]) -> None:
        self._matches = matches

    def __call__(self, text: object, expression: object) -> bool:
        is_text = isinstance(text, str) and isinstance(expression, str)
        return is_text and self._matches(str(expression), str(text))


class _Environment(JSONPathEnvironment):
    parser_class = _Parser

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions |= {"match": _Expression(full_match), "search": _Expression(found_in)}

    def is_truthy(self, obj: object) -> bool:
        _BUDGET.spend()
        return super().is_truthy(obj)

    def compare(self, left: object, operator: str, right: object) -> bool:
        _BUDGET.spend(_cost(left) if isinstance(right, type(left)) else 1)
        return super().compare(left, operator, right)


def _cost(value: object) -> int:
    """Return how many visits a comparison with a value of the same type costs at most."""
    cost, waiting = 0, [value]
    while waiting and cost <= VISITS_MAX:
        one = waiting.pop()
        cost += 1 + (len(one) // CHARACTERS if isinstance(one, str) else 0)
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return cost


class _NumberReader(_Environment):
    """Compares with a whole number, `true` included, as `jsonpath-ng` does: what is no number never fits."""

    def compare(self, left: Any, operator: str, right: object) -> bool:
        # As `jsonpath-ng` does: the left side is read as a number where the right one is a number.
        if isinstance(right, int) and operator not in ("&&", "||"):
            try:
                left = int(left)
            except (ValueError, TypeError, OverflowError):
                return False
        return super().compare(left, operator, int(right) if isinstance(right, bool) else right)


# Absolute queries in filters are not kept: what is kept is not counted again where it is compared.
_STRICT = _Environment(strict=True, filter_caching=False)
_NUMBERS = _NumberReader(strict=True, filter_caching=False)


def compiled(path: str, *, reads_numbers: bool = False) -> Callable[[Any], list[Any]]:
    """Return the search for what a path leads to; both raise `PathFault`. `reads_numbers`: as in `find`."""
    try:
        query = (_NUMBERS if reads_numbers else _STRICT).compile(path)
    except (JSONPathError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PathFault(f"not a path: {path[:80]!r}: {reason}") from error
    if not isinstance(query, JSONPath):
        raise PathFault(f"not a path: {path[:80]!r}: two of them")

    def search(document: Any) -> list[Any]:
        _BUDGET.left = VISITS_MAX
        nodes: Iterable[JSONPathMatch] = [_Node(document, document)]
        try:
            for segment in query.segments:
                nodes = segment.resolve(nodes)
            return [node.obj for node in nodes]
        except (JSONPathError, RegexRefused, RecursionError) as error:
            raise PathFault(f"{path[:80]!r}: {error}") from error

    return search
