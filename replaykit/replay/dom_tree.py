"""A snapshot as a tree to walk: parents, siblings, attributes, and indexes built on first use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from replaykit.patterns import lazy_pattern
from replaykit.replay.per_object_cache import Memo
from replaykit.snapshot.attributes import qualified
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, OTHER, SHADOW, TEXT, ElementState, Snapshot

_NO_ATTRIBUTES: list[str] = []
_NO_STATE = ElementState()

# ASCII white space as HTML defines it: what separates classes and tokens.
SPACES = "\t\n\f\r "


class Tree(Memo):
    """The columns of a snapshot and what can be derived from them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.kind = snapshot.kind
        self.name = snapshot.name
        self.parent = snapshot.parent
        self.end = snapshot.end
        self.number = snapshot.number
        self.scope = snapshot.scope
        self.html = snapshot.head.content_type == "text/html"

    def is_element(self, row: int) -> bool:
        """Whether the row is an element."""
        return self.kind[row] <= OTHER

    def is_html(self, row: int, *tags: str) -> bool:
        """Whether the row is an HTML element of one of these tags (of any where none is given)."""
        return self.kind[row] == HTML and (not tags or self.name[row] in tags)

    def attribute(self, row: int, name: str) -> str | None:
        """Return the value of an attribute by its exact qualified name."""
        pairs = self.snapshot.attributes.get(row, _NO_ATTRIBUTES)
        for place in range(0, len(pairs), 2):
            if pairs[place] == name or (pairs[place][:1] == "^" and qualified(pairs[place]) == name):
                return pairs[place + 1]
        return None

    def attributes(self, row: int) -> list[tuple[str, str]]:
        """Return name, as the snapshot has it, and value of every attribute in DOM order."""
        pairs = self.snapshot.attributes.get(row, _NO_ATTRIBUTES)
        return list(zip(pairs[::2], pairs[1::2], strict=True))

    def has(self, row: int, name: str) -> bool:
        """Whether the element has the attribute."""
        return self.attribute(row, name) is not None

    def language(self, row: int) -> str | None:
        """Return the language that an element states; HTML elements of HTML pages know `lang` only."""
        is_plain = self.html and self.kind[row] == HTML
        found = None if is_plain else self.attribute(row, "xml:lang")
        return self.attribute(row, "lang") if found is None else found

    def state(self, row: int) -> ElementState:
        """Return the live state of an element; an empty one where nothing was recorded."""
        return self.snapshot.state.get(row, _NO_STATE)

    def children(self, row: int) -> Iterator[int]:
        """Yield the child nodes that the DOM has: no shadow root, inner document or template content."""
        kind, end = self.kind, self.end
        if kind[row] == HTML and self.name[row] == "template":
            return
        child, last = row + 1, end[row]
        while child < last:
            if kind[child] != SHADOW and kind[child] != DOCUMENT:
                yield child
            child = end[child]

    def elements(self, row: int) -> Iterator[int]:
        """Yield the child elements."""
        return (child for child in self.children(row) if self.kind[child] <= OTHER)

    def descendants(self, row: int) -> Iterator[int]:
        """Yield the nodes below, in order, without shadow trees, inner documents and template contents."""
        scope, end = self.scope, self.end
        inside = row if self.kind[row] in (SHADOW, DOCUMENT) else scope[row]
        node, last = row + 1, end[row]
        while node < last:
            if scope[node] != inside:
                node = end[node]
                continue
            yield node
            node += 1

    def ancestors(self, row: int) -> Iterator[int]:
        """Yield the elements above within the same tree, nearest first."""
        up = self.up
        row = up[row]
        while row >= 0:
            yield row
            row = up[row]

    def shadow(self, row: int) -> int:
        """Return the row of the element's shadow root, -1 without one."""
        first = row + 1
        return first if first < self.end[row] and self.kind[first] == SHADOW else -1

    def inner_document(self, row: int) -> int:
        """Return the row of the document inside a frame, -1 without one."""
        child = row + 1
        while child < self.end[row]:
            if self.kind[child] == DOCUMENT:
                return child
            child = self.end[child]
        return -1

    def text_content(self, row: int) -> str:
        """Join the texts below, as `textContent` does."""
        if self.kind[row] > OTHER and self.kind[row] not in (SHADOW, DOCUMENT):
            return self.name[row]
        return "".join(self.name[node] for node in self.descendants(row) if self.kind[node] == TEXT)

    def document(self, row: int) -> int:
        """Return the row of the document that the node belongs to, shadow trees crossed."""
        while self.kind[row] != DOCUMENT:
            row = self.parent[row]
        return row

    def root(self, document: int = 0) -> int:
        """Return the root element of a document (or shadow root), -1 without one."""
        return next(self.elements(document), -1)

    @cached_property
    def up(self) -> list[int]:
        """Per node: its parent element within the same tree, or -1."""
        kind, scope = self.kind, self.scope
        if not any(scope):  # no tree but the document's
            # Row 0 is the document, which is no element.
            return [above or -1 for above in self.parent]
        return [
            above if above >= 0 and kind[above] <= OTHER and scope[above] == scope[row] else -1
            for row, above in enumerate(self.parent)
        ]

    @cached_property
    def before(self) -> list[int]:
        """Per element: the element before it among its siblings, or -1."""
        last: dict[int, int] = {}
        before = [-1] * len(self.kind)
        for row in self.snapshot.nodes:
            above = self.parent[row]
            before[row] = last.get(above, -1)
            last[above] = row
        return before

    @cached_property
    def after(self) -> list[int]:
        """Per element: the element after it among its siblings, or -1."""
        after = [-1] * len(self.kind)
        for row in self.snapshot.nodes:
            if self.before[row] >= 0:
                after[self.before[row]] = row
        return after

    @cached_property
    def by_id(self) -> dict[str, list[int]]:
        """Element rows by exact `id`."""
        return self._index("id", lambda value: [value])

    @cached_property
    def by_class(self) -> dict[str, list[int]]:
        """Element rows by each class."""
        return self._index("class", lambda value: dict.fromkeys(split(value)))

    @cached_property
    def by_tag(self) -> dict[str, list[int]]:
        """Element rows by local name; in HTML documents by its lower case, which selectors compare."""
        index: defaultdict[str, list[int]] = defaultdict(list)
        names = self.name
        for row in self.snapshot.nodes:
            index[names[row]].append(row)
        if self.html:
            for name in [name for name in index if not name.islower() and name != ascii_lower(name)]:
                index[ascii_lower(name)] = sorted(index.get(ascii_lower(name), []) + index.pop(name))
        return dict(index)

    @cached_property
    def by_attribute(self) -> dict[str, list[int]]:
        """Element rows by each name that may mean one of their attributes: `xlink:href` is also `href`.

        In HTML documents by its lower case, which selectors compare.
        """
        index: defaultdict[str, list[int]] = defaultdict(list)
        known: dict[str, tuple[str, ...]] = {}  # a page has few names of attributes
        for row, pairs in self.snapshot.attributes.items():
            for name in pairs[::2]:
                if name not in known:
                    known[name] = self._meant(name)
                for meant in known[name]:
                    rows = index[meant]
                    if not rows or rows[-1] != row:
                        rows.append(row)
        return dict(index)

    def _meant(self, name: str) -> tuple[str, ...]:
        name = ascii_lower(qualified(name)) if self.html else qualified(name)
        _, colon, local = name.partition(":")
        return (name, local) if colon and local != name else (name,)

    def _index(self, attribute: str, keys: Callable[[str], Iterable[str]]) -> dict[str, list[int]]:
        index: dict[str, list[int]] = {}
        known: dict[str, tuple[str, ...]] = {}  # most values of a page stand on many of its elements
        for row, pairs in self.snapshot.attributes.items():
            # Most elements lack it: the list itself is asked first, values included.
            if attribute not in pairs:
                continue
            value = pairs[1] if pairs[0] == attribute else self.attribute(row, attribute) or ""
            found = known.get(value)
            if found is None:
                found = known[value] = tuple(keys(value)) if value else ()
            for key in found:
                index.setdefault(key, []).append(row)
        return index

    def ordinal(self, row: int, *, backwards: bool, of_type: bool) -> int:
        """Return the 1-based place of an element among its siblings, or among those of its type."""
        found = self._ordinals.get((backwards, of_type))
        if found is None:
            found = self._ordinals[backwards, of_type] = self._ordinal_column(backwards, of_type)
        return found[row]

    @cached_property
    def _ordinals(self) -> dict[tuple[bool, bool], list[int]]:
        return {}

    def _ordinal_column(self, backwards: bool, of_type: bool) -> list[int]:
        count: dict[object, int] = {}
        column = [0] * len(self.kind)
        for row in reversed(self.snapshot.nodes) if backwards else self.snapshot.nodes:
            # Content of a template has no parent, yet its own siblings; so has the root of a document.
            type_ = (self.kind[row], self.name[row]) if of_type else None
            key = (self.parent[row], type_)
            column[row] = count[key] = count.get(key, 0) + 1
        return column

    def quirks(self, scope: int) -> bool:
        """Whether the document around a tree is in quirks mode, where ids and classes ignore ASCII case."""
        document = self.document(scope)
        compat = self.snapshot.inner[document].compat if document else self.snapshot.head.compat
        return compat == "BackCompat"


def words(text: str) -> frozenset[str]:
    """Split a list of names into a set."""
    return frozenset(text.split())


def ascii_lower(text: str) -> str:
    """Lower-case A to Z only: HTML and CSS never fold other letters."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


_LOWER = {upper: upper + 32 for upper in range(65, 91)}


def split(text: str) -> list[str]:
    """Split at ASCII white space only: other blanks do not separate tokens in HTML."""
    return [part for part in _SEPARATORS.split(text) if part]


_SEPARATORS = lazy_pattern(f"[{SPACES}]+")
