"""A page before a gesture and after it, and what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from replaykit.replay.dom import Node
from replaykit.replay.dom_tree import Tree
from replaykit.replay.run_state import Page
from replaykit.snapshot.snapshot_format import TEXT

NAME_MAX = 200
"""Characters of the name of an entry."""

PART_MIN = 3
"""Characters of a part of a name that are enough to know it by."""

_PHRASES = ("b", "em", "font", "i", "mark", "small", "span", "strong", "sub", "sup", "u")
"""Tags of parts of a line."""

_PARTS_MAX = 4
"""Elements around a text that may be parts of one line."""

ROWS_MAX = 200
"""Nodes of an element that may show one choice, or hold one box."""


class PageChange(NamedTuple):
    """A page before a gesture and after it."""

    before: Page
    after: Page


def vanished(change: PageChange) -> list[str]:
    """Return the short texts that a person saw before and does not see after, or less often."""
    return list(shown_texts(change.before) - shown_texts(change.after))


def shown_texts(page: Page | None) -> Counter[str]:
    """Return the short texts that a person sees on a page, read once."""
    dom = page.dom if page is not None else None
    if dom is None:
        return Counter()
    known = dom.tree.memo(_known_texts)
    if not known:
        known.append(Counter(_shown(Node(dom, 0))))
    return known[0]


def texts_in(node: Node) -> Iterator[str]:
    """Yield the texts in an element and in its shadow trees."""
    tree = node.dom.tree
    for row in range(node.row, tree.end[node.row]):
        text = tree.name[row].strip() if tree.kind[row] == TEXT else ""
        if text and tree.name[tree.parent[row]] not in ("script", "style"):
            yield text


def size_of(node: Node) -> int:
    """Return the number of nodes of an element."""
    return node.dom.tree.end[node.row] - node.row


def around(node: Node, levels: int) -> Iterator[Node]:
    """Yield an element and those around it, the innermost first."""
    yield node
    yield from (Node(node.dom, row) for row in islice(node.dom.tree.ancestors(node.row), levels))


def lines_in(root: Node) -> Iterator[str]:
    """Yield the lines in an element that a person sees in parts: pages mark the letters that were typed."""
    lines: dict[int, list[str]] = {}
    for holder, text in _seen(root):
        lines.setdefault(_line(holder), []).append(text)
    joined = (" ".join("".join(parts).split()) for parts in lines.values() if sum(map(_is_word, parts)) > 1)
    yield from (line for line in joined if len(line) <= NAME_MAX)


def _is_word(text: str) -> bool:
    return bool(text.strip())


def _shown(root: Node) -> Iterator[str]:
    yield from (text.strip() for _, text in _seen(root) if 0 < len(text.strip()) <= NAME_MAX)
    yield from lines_in(root)


def _seen(root: Node) -> Iterator[tuple[Node, str]]:
    """Yield the texts that a person sees, and blanks after them, each with the element that it stands in."""
    tree = root.dom.tree
    ends: tuple[int, ...] = ()
    for row in range(root.row, tree.end[root.row]):
        if tree.kind[row] != TEXT or not (tree.name[row].strip() or tree.parent[row] in ends):
            continue
        holder = _holder(Node(root.dom, tree.parent[row]))
        if holder.visible:
            ends = (tree.parent[row], tree.parent[tree.parent[row]])
            yield holder, tree.name[row]


def _line(holder: Node) -> int:
    """Return the row of the element whose line a text is on: the first around it that is more than a part."""
    return next((one.row for one in around(holder, _PARTS_MAX) if one.tag not in _PHRASES), holder.row)


def _holder(node: Node) -> Node:
    """Return the element that a text stands in: that of a shadow root is its host."""
    return node if node.is_element else node.host or node


def _known_texts(tree: Tree) -> list[Counter[str]]:
    """The texts that a page shows, filled when they are asked for."""
    return []
