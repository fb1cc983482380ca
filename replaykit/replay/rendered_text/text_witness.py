"""What the browser itself said of the texts of a page, and what of those read without it can be believed."""

from __future__ import annotations

from replaykit.replay.dom_tree import Tree
from replaykit.replay.rendered_text.collector import Collector, unsupported
from replaykit.replay.rendered_text.layout import Layout
from replaykit.replay.rendered_text.mending import compare
from replaykit.replay.rendered_text.plain_text import is_plain
from replaykit.replay.rendered_text.text_shapes import NO_ROW, Finding
from replaykit.snapshot.snapshot_format import TEXT

# Languages that write letters in the other case by rules of their own (Unicode, SpecialCasing).
_SPELLED = ("az", "el", "lt", "nl", "tr")


def hold(layout: Layout, row: int) -> bool:
    """Hold the text of an element against its shape: mend what it says how, refuse to read what it does not.

    False where it is plain, and no witness was asked. Raises Unsupported.
    """
    tree = layout.tree
    if is_plain(layout, row):
        return False
    for witness in _witnesses(layout, row):
        found = _heard(layout, witness)
        if any(row <= high and low < tree.end[row] for low, high in found.doubts):
            raise unsupported(tree, row, "the browser rendered it in another way than its styles say")
        if any(_spans(layout, row, *seam) for seam in found.seams):
            raise unsupported(tree, row, "the browser broke its lines in another way than its styles say")
    return True


def _spans(layout: Layout, row: int, before: int, after: int) -> bool:
    """Whether an element shows more of what stands between two texts than what one of them stands in."""
    tree = layout.tree
    if row <= before:
        below = (other for other in tree.ancestors(before) if other > row)
        # Cells and rows of a table end in a tab or line break of their own.
        return before + 1 < tree.end[row] or any(layout.style(other).is_piece for other in below)
    return row < after and any(tree.end[other] <= after for other in range(row, after))


def _witnesses(layout: Layout, row: int) -> list[int]:
    """Return what has a shape: the element itself or one around it in the same tree, else all those in it."""
    tree = layout.tree
    known = [other for other in layout.shapes if tree.scope[other] == tree.scope[row]]
    around = [other for other in known if other <= row < tree.end[other]]
    return around or [other for other in known if row < other < tree.end[row]]


def _heard(layout: Layout, row: int) -> Finding:
    if row not in layout.heard:
        layout.heard[row] = _hear(layout, row)
    return layout.heard[row]


def _hear(layout: Layout, row: int) -> Finding:
    tree = layout.tree
    layout.fill(row)
    if row not in layout.boxed or row in layout.locked:
        return Finding({}, [], [])
    collector = Collector(layout, refuses=False)
    collector.run(row)
    rows, items = collector.rows, collector.items
    found = compare(rows, items, layout.shapes[row], lambda at: _data(tree, at), tree.parent.__getitem__)
    layout.mended.update(found.texts)
    layout.vouched.update(rows)
    doubts = [
        (row if low == NO_ROW else low, tree.end[row] if high == NO_ROW else high)
        for low, high in found.doubts
    ]
    # There a capital is more than the other case of a letter.
    doubts += [(at, at) for at in found.texts if _language(tree, at) in _SPELLED]
    return found._replace(doubts=doubts)


def _language(tree: Tree, row: int) -> str:
    told = (tree.language(above) for above in tree.ancestors(row) if tree.is_element(above))
    return next((found for found in told if found is not None), "").lower().split("-")[0]


def _data(tree: Tree, row: int) -> str:
    return tree.name[row] if tree.kind[row] == TEXT else ""
