"""Visible texts of certain elements, wherever they show on a page: in shadow trees and in frames.

Own module: it crosses frames, which no selector does.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.errors import Unsupported
from replaykit.replay.composed_tree import trees_inside
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.replay.frame_pages import shown
from replaykit.replay.run_state import Page
from replaykit.snapshot.snapshot_format import DOCUMENT


def selected_texts(page: Page, css: str) -> list[str]:
    """Return the visible texts of the elements that a selector finds on a page and in its frames.

    Raises as `Page.dom` and `Dom.pierce_all` do.
    """
    doms = (page.dom, *(frame.dom for frame in shown(page.frames)))
    return [text for dom in doms if dom is not None for text in _texts(dom, css)]


def _texts(dom: Dom, css: str) -> list[str]:
    """Return them of one snapshot, which is read once for all that ask."""
    known = dom.tree.memo(_known_texts)
    if css not in known:
        found = (node for document in _documents(dom) for node in dom.pierce_all(css, document))
        known[css] = [text for node in found if (text := _seen(node))]
    return known[css]


def _known_texts(tree: Tree) -> dict[str, list[str]]:
    """Texts by selector, filled as they are asked for."""
    return {}


def _documents(dom: Dom) -> Iterator[int]:
    """Yield the rows of the document and, where it is known that they show, of those in its frames."""
    yield 0
    try:
        yield from (row for row in trees_inside(dom.inner_texts) if dom.tree.kind[row] == DOCUMENT)
    except Unsupported:
        return


def _seen(node: Node) -> str:
    """Return the visible text of an element; no text if it cannot be read."""
    try:
        if not node.visible:
            return ""
        # In a shadow tree, what stands in its slots is the text of the host.
        host = None if node.text.strip() else node.host
        return node.text if host is None else host.text
    except Unsupported:
        return ""
