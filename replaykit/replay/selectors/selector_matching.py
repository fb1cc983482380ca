"""Matching compiled selectors: right to left over the columns of a tree, with a budget of work."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter

from replaykit.errors import LocatorLimit
from replaykit.replay.dom_tree import Tree, ascii_lower
from replaykit.snapshot.snapshot_format import DOCUMENT, SHADOW

# Compound tests per query. A page of 16,000 elements asks for some 50,000.
VISITS_MIN = 1_000_000
VISITS_PER_ELEMENT = 20


class Query:
    """One evaluation: the tree, the scoping element, the work that is left."""

    def __init__(self, tree: Tree, source: str, scope: int) -> None:
        self.tree = tree
        self.source = source
        self.scope = scope
        self.anchor = -1
        self.quirks = tree.quirks(scope)
        self.left = max(VISITS_MIN, VISITS_PER_ELEMENT * len(tree.snapshot.nodes))

    def visit(self) -> None:
        """Count one compound test; raise LocatorLimit when there were too many."""
        self.left -= 1
        if self.left < 0:
            raise LocatorLimit(locator=self.source, limit="visited nodes")


Test = Callable[[Query, int], bool]


class Complex:
    """One selector of a list: compounds from left to right and the combinators between them."""

    def __init__(self, compounds: list[Compound], combinators: list[str], matchable: bool) -> None:
        self.compounds = compounds
        self.combinators = combinators
        self.matchable = matchable
        #: Bytes, without ASCII case, that a snapshot with a match contains.
        # The longest first: it is found fastest, and stands on the fewest pages.
        words = {word for compound in compounds for word in compound.words}
        self.words = tuple(sorted(words, key=lambda word: (-len(word), word)))

    def matches(self, query: Query, row: int) -> bool:
        """Whether the element is a subject of this selector."""
        return self.matchable and self._from(query, row, len(self.compounds) - 1)

    def _from(self, query: Query, row: int, place: int) -> bool:
        query.visit()
        if not self.compounds[place].test(query, row):
            return False
        if place == 0:
            return True
        reach = _REACH[self.combinators[place - 1]]
        return any(self._from(query, other, place - 1) for other in reach(query.tree, row))


class Compound:
    """Simple selectors that hold together on one element, their words, and the index of candidates.

    `names`: ids, classes, attributes and parts of their values that such an element has.
    """

    def __init__(
        self,
        tests: list[Test],
        key: tuple[str, str] | None,
        words: Iterable[bytes] = (),
        names: Iterable[str] = (),
    ) -> None:
        self.tests = tests
        self.key = key
        self.words = frozenset(words)
        self.names = tuple(names)

    def test(self, query: Query, row: int) -> bool:
        """Whether every simple selector holds."""
        return all(test(query, row) for test in self.tests)


def _preceding(tree: Tree, row: int) -> Iterator[int]:
    row = tree.before[row]
    while row >= 0:
        yield row
        row = tree.before[row]


def _one(row: int) -> tuple[int, ...]:
    return (row,) if row >= 0 else ()


_REACH: dict[str, Callable[[Tree, int], Iterable[int]]] = {
    " ": lambda tree, row: tree.ancestors(row),
    ">": lambda tree, row: _one(tree.up[row]),
    "+": lambda tree, row: _one(tree.before[row]),
    "~": _preceding,
}


class Selector:
    """A compiled selector list."""

    def __init__(self, source: str, complexes: list[Complex], looks_ahead: bool) -> None:
        self.source = source
        self.complexes = complexes
        #: Whether a match can depend on what comes later in the document.
        self.looks_ahead = looks_ahead

    def nearest(self, tree: Tree, rows: Iterable[int], scope: int) -> int:
        """Return the first of these elements that matches, else -1; `scope` is what `:scope` stands for."""
        query = Query(tree, self.source, scope)
        return next((row for row in rows if any(one.matches(query, row) for one in self.complexes)), -1)

    def find(self, tree: Tree, scope: int) -> Iterator[int]:
        """Yield the matching elements below a document, shadow root or element, in document order."""
        query = Query(tree, self.source, scope)
        inside = scope if tree.kind[scope] in (SHADOW, DOCUMENT) else tree.scope[scope]
        for row, complexes in self._candidates(query, scope):
            if tree.scope[row] == inside and any(one.matches(query, row) for one in complexes):
                yield row

    def _candidates(self, query: Query, scope: int) -> Iterable[tuple[int, list[Complex]]]:
        """Return the elements that may match, in order, and which selectors of the list each may match."""
        found: dict[int, list[Complex]] = {}
        for one in self.complexes:
            rows = keyed(query, one.compounds[-1].key)
            low, high = bisect_left(rows, scope + 1), bisect_left(rows, query.tree.end[scope])
            if len(self.complexes) == 1:
                return ((row, self.complexes) for row in rows[low:high])
            for row in rows[low:high]:
                found.setdefault(row, []).append(one)
        return sorted(found.items(), key=itemgetter(0))


def keyed(query: Query, key: tuple[str, str] | None) -> list[int]:
    """Return the rows that an index finds for a key, else all elements."""
    tree = query.tree
    # In quirks mode ids and classes ignore case, which the indexes do not.
    if key is None or (query.quirks and key[0] in ("id", "class")):
        return tree.snapshot.nodes
    kind, name = key
    if kind == "id":
        return tree.by_id.get(name, [])
    if kind == "class":
        return tree.by_class.get(name, [])
    index = tree.by_tag if kind == "tag" else tree.by_attribute
    return index.get(ascii_lower(name) if tree.html else name, [])
