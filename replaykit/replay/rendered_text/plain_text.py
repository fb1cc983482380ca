"""Texts that need no witness: of plain words on plain lines, rules that never change say all."""

from __future__ import annotations

from replaykit.replay.dom_tree import words
from replaykit.replay.rendered_text.layout import Layout
from replaykit.replay.rendered_text.style_palette import Style
from replaykit.snapshot.snapshot_format import COMMENT, DOCUMENT, HTML, OTHER, TEXT

# What browsers give no text, no marks and no lines of their own.
_TAGS = words(
    "a abbr address article aside b blockquote body br button cite code dd div dl dt em figcaption figure "
    "footer h1 h2 h3 h4 h5 h6 header i img kbd label li main mark nav ol p s section small span strong sub "
    "sup td th time u ul var"
)
_BLOCKS = words("block inline-block list-item table-cell")
# Letters of a style above that reach into the lines below it.
_REACHING = frozenset("ulnk")
# Characters that change what stands beside them.
_ODD = frozenset("\f\r\u200b")


def is_plain(layout: Layout, row: int) -> bool:
    """Whether blanks that collapse are all that decides what an element shows, and the block around it."""
    tree = layout.tree
    if "unread" in tree.snapshot.head.flags:
        return False
    while layout.style(row).display == "inline" and tree.up[row] >= 0:
        row = tree.up[row]
    above = (layout.style(other) for other in tree.ancestors(row) if tree.is_element(other))
    style = layout.style(row)
    return (
        style.display in _BLOCKS
        and tree.kind[tree.scope[row]] == DOCUMENT
        # What floats or is positioned moves with all that is in it.
        and not set(style.letters) - {"f"}
        and _holds_plain(layout, row)
        and all(_REACHING.isdisjoint(style.letters) for style in above)
    )


def _holds_plain(layout: Layout, top: int) -> bool:
    tree, row, end = layout.tree, top, layout.tree.end[top]
    while row < end:
        kind, name = tree.kind[row], tree.name[row]
        if kind <= OTHER and layout.style(row).is_boxless:
            row = tree.end[row]
            continue
        if kind == HTML:
            style = layout.style(row)
            if name not in _TAGS or not _is_plain_style(style) or (style.letters and row > top):
                return False
        elif kind not in (TEXT, COMMENT) or not _ODD.isdisjoint(name):
            return False
        row += 1
    return True


def _is_plain_style(style: Style) -> bool:
    is_flow = style.display == "inline" or style.display in _BLOCKS
    return is_flow and style.is_visible and style.collapse == "collapse" and not style.transform
