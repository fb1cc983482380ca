"""`innerText` of a recorded element: worked out, and held against what the browser said of it.

Where a snapshot holds shapes of texts, nothing that differs from them is an answer.
"""

from __future__ import annotations

from replaykit.replay.dom_tree import Tree
from replaykit.replay.rendered_text.collector import Collector, unsupported
from replaykit.replay.rendered_text.layout import Layout
from replaykit.replay.rendered_text.text_witness import hold

_MASK = "\u27e6masked\u27e7"
_CUT = "\u27e6cut:"


def inner_text(layout: Layout, row: int) -> str:
    """Return what `innerText` gives for an element.

    Raises Unsupported where the snapshot cannot tell: styles not recorded, text masked or cut, text that the
    browser rendered in another way.
    """
    tree = layout.tree
    layout.fill(row)
    if row in layout.boxed and row not in layout.locked:
        text = Collector(layout, is_held=hold(layout, row)).run(row)
    else:
        text = "" if layout.reads_empty(row) else tree.text_content(row)
    _refuse_gaps(tree, row, text)
    return text


def _refuse_gaps(tree: Tree, row: int, text: str) -> None:
    if _MASK in text:
        raise unsupported(tree, row, "text is masked")
    if "cut" not in tree.snapshot.head.flags:
        return
    if _CUT in text or any(row < omitted < tree.end[row] for omitted in tree.snapshot.omitted):
        raise unsupported(tree, row, "text is cut")
