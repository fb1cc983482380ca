"""Page source: a recorded tree written as HTML, as `outerHTML` and `page.content()` give it.

The fragment serialisation of the HTML standard (13.3), attributes only: live state never shows in source.
"""

from __future__ import annotations

from replaykit.replay.dom_tree import Tree, words
from replaykit.snapshot.attributes import serialized
from replaykit.snapshot.snapshot_format import COMMENT, DOCUMENT, HTML, INSTRUCTION, OTHER, SHADOW, TEXT

_VOID = words(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr"
)
# Their text is written as it is. `noscript` belongs here because scripting was on when the page was recorded.
_RAW = words("iframe noembed noframes noscript plaintext script style xmp")

_TEXT = str.maketrans({"&": "&amp;", "\u00a0": "&nbsp;", "<": "&lt;", ">": "&gt;"})
# `<` and `>` are escaped in attributes too since 2025 (HTML standard, Chromium 138).
_ATTRIBUTE = str.maketrans({"&": "&amp;", "\u00a0": "&nbsp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


def page_source(tree: Tree, document: int = 0) -> str:
    """Write doctype and root element of a document, as `page.content()` does."""
    root = tree.root(document)
    return doctype(tree, document) + (outer_html(tree, root) if root >= 0 else "")


def doctype(tree: Tree, document: int = 0) -> str:
    """Write the doctype of a document; empty where it has none."""
    snapshot = tree.snapshot
    found = snapshot.inner[document].doctype if document else snapshot.head.doctype
    if found is None:
        return ""
    name, public, system = found
    if public:
        return f'<!DOCTYPE {name} PUBLIC "{public}"' + (f' "{system}">' if system else ">")
    return f'<!DOCTYPE {name} SYSTEM "{system}">' if system else f"<!DOCTYPE {name}>"


def outer_html(tree: Tree, row: int) -> str:
    """Write an element with its tags."""
    return _written(tree, row, tree.end[row])


def inner_html(tree: Tree, row: int) -> str:
    """Write the content of an element."""
    return _written(tree, row + 1, tree.end[row])


def _written(tree: Tree, row: int, last: int) -> str:
    parts: list[str] = []
    open_rows: list[int] = []
    while row < last:
        while open_rows and tree.end[open_rows[-1]] <= row:
            parts.append(_end_tag(tree, open_rows.pop()))
        kind = tree.kind[row]
        if kind in (SHADOW, DOCUMENT):
            row = tree.end[row]
            continue
        if kind <= OTHER:
            parts.append(_start_tag(tree, row))
            open_rows.append(row)
        else:
            parts.append(_leaf(tree, row))
        row += 1
    parts.extend(_end_tag(tree, row) for row in reversed(open_rows))
    return "".join(parts)


def _start_tag(tree: Tree, row: int) -> str:
    kind = tree.kind[row]
    pairs = ((serialized(name, kind), value) for name, value in tree.attributes(row))
    attributes = "".join(f' {name}="{value.translate(_ATTRIBUTE)}"' for name, value in pairs)
    return f"<{tree.name[row]}{attributes}>"


def _end_tag(tree: Tree, row: int) -> str:
    return "" if tree.kind[row] == HTML and tree.name[row] in _VOID else f"</{tree.name[row]}>"


def _leaf(tree: Tree, row: int) -> str:
    kind, data = tree.kind[row], tree.name[row]
    if kind == TEXT:
        above = tree.parent[row]
        raw = tree.kind[above] == HTML and tree.name[above] in _RAW
        return data if raw else data.translate(_TEXT)
    if kind == COMMENT:
        return f"<!--{data}-->"
    return f"<?{data}>" if kind == INSTRUCTION else ""
