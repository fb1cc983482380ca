"""What box each element of a page makes, and what is laid out inside of it: no neighbours, no lines.

The tree walked here is the flat one: slots are filled, and what a browser draws itself holds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.replay.dom_tree import SPACES, Tree, words
from replaykit.replay.form_values import is_menu
from replaykit.replay.rendered_text.style_palette import NO_BOX, Style, palette, style_of
from replaykit.replay.slot_assignment import slotted
from replaykit.snapshot.snapshot_format import HTML, SHADOW, SVG, TEXT

# Elements that a browser draws itself: what they contain is never laid out.
_CHILDLESS = words(
    "audio canvas embed frame iframe img input meter noscript option progress template textarea video"
)
_REPLACED = words("audio canvas embed frame iframe img input meter progress textarea video")
# One thing on a line even where their style says inline.
ATOMS = words("button fieldset option select")
# What they are made of stands in a block, even where they are inline themselves.
HOLLOW = words("details marquee meter progress")
# HTML elements whose tag decides more than their style does.
SPECIAL = _CHILDLESS | words("br details object q select slot wbr")
# SVG elements that never show, whatever their style says.
_SVG_UNSEEN = words("title desc metadata style script")
# Those that show in these parents only.
_SVG_SPANS = {"textPath": words("a text"), "tspan": words("a text textPath tspan")}

PAGE = style_of("block|visible|collapse|none")
"""Style of a document."""


class Boxes:
    """Boxes of one page, by row; text, comments and instructions have none of their own."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.palette = [*palette(tree.snapshot.head.styles), NO_BOX]
        self._slotted: dict[int, list[int]] = {}
        self._slots_of: dict[int, int] = {}

    def style(self, row: int) -> Style:
        """Return the style of an element."""
        # -1 (hidden by an ancestor) is the last entry, which has no box.
        return self.palette[self.tree.snapshot.style[self.tree.number[row]]]

    def is_block(self, row: int) -> bool:
        """Whether the element's box stands on lines of its own."""
        tree, style = self.tree, self.style(row)
        if tree.kind[row] == SVG and tree.up[row] >= 0 and tree.kind[tree.up[row]] == SVG:
            return tree.name[row] in ("text", "foreignObject")
        return not (style.is_inline or style.is_atom or tree.is_html(row, "wbr"))

    def is_inline(self, row: int) -> bool:
        """Whether the element's box is part of the lines around it, and nothing of its own."""
        style, tag = self.style(row), self.tree.name[row]
        is_other = tag in ATOMS or tag in HOLLOW or self.is_replaced(row, style)
        return style.is_inline and not (is_other and style.display != "contents")

    def has_box(self, row: int) -> bool:
        """Whether an element has a box where its parent has one."""
        is_html = self.tree.kind[row] == HTML
        return not (self.style(row).is_boxless or self.is_boxless(row, self.tree.name[row], is_html))

    def flat_children(self, row: int) -> Iterator[int]:
        """Yield what is laid out directly inside of a node."""
        style = self.style(row) if self.tree.is_element(row) else PAGE
        return self.rows(row, style, self.tree.is_html(row) and self.tree.name[row] in SPECIAL)

    def flat_parent(self, row: int) -> int:
        """Return the node that a node is laid out in."""
        above = self.tree.parent[row]
        return self.tree.parent[above] if self.tree.kind[above] == SHADOW else self._slots_of.get(row, above)

    def is_boxless(self, row: int, tag: str, is_html: bool) -> bool:
        """Whether an element never has a box, whatever its style says."""
        if is_html:
            is_empty = tag == "embed" and not (self.tree.has(row, "src") or self.tree.has(row, "type"))
            return tag == "noscript" or is_empty
        if self.tree.kind[row] != SVG:
            return tag == "noscript"
        above = self.tree.parent[row]
        if tag != "svg" and self.tree.kind[above] != SVG:
            return True
        is_stray = tag in _SVG_SPANS and self.tree.name[above] not in _SVG_SPANS[tag]
        return is_stray or tag in _SVG_UNSEEN or tag == "noscript"

    def is_replaced(self, row: int, style: Style) -> bool:
        """Whether a browser draws the element's content itself."""
        tag = self.tree.name[row]
        if self.tree.kind[row] == SVG:
            return tag == "svg"
        return tag in _REPLACED and self.tree.kind[row] == HTML and style.display != "contents"

    def is_sealed(self, row: int) -> bool:
        """Whether content that the snapshot cannot hold stands on the line around: then the box has a width.

        So do objects that show their data, and custom elements with a closed shadow tree.
        """
        box, at, tag = self.tree.snapshot.box, 4 * self.tree.number[row], self.tree.name[row]
        if not ("-" in tag or tag == "object"):
            return False
        is_empty = self.tree.end[row] == row + 1 or (tag == "object" and not self._falls_back(row))
        return is_empty and bool(box) and box[at + 2] > 0

    def rows(self, row: int, style: Style, is_special: bool) -> Iterator[int]:
        """Yield the children that are laid out: those of the shadow tree, of the slot, or the node's own."""
        tree = self.tree
        if tree.is_html(row, "frameset"):
            return (child for child in tree.elements(row) if tree.is_html(child, "frame", "frameset"))
        if is_special and self._is_childless(row):
            return self._menu_rows(row)
        if style.is_column:
            # Columns hold nothing but columns.
            return (child for child in tree.elements(row) if self.style(child).display == "table-column")
        if tree.end[row] > row + 1 and tree.kind[row + 1] == SHADOW:
            self._assign(row)
            return tree.children(row + 1)
        return iter(self._slotted[row]) if is_special and row in self._slotted else tree.children(row)

    def _menu_rows(self, row: int) -> Iterator[int]:
        """Yield the button of a menu that the page draws itself; nothing for all else that holds nothing."""
        first = next(self.tree.elements(row), -1) if "m" in self.style(row).letters else -1
        return iter((first,) if first >= 0 and self.tree.is_html(first, "button") else ())

    def _is_childless(self, row: int) -> bool:
        tag = self.tree.name[row]
        return tag in _CHILDLESS or is_menu(self.tree, row) or (tag == "object" and not self._falls_back(row))

    def _falls_back(self, row: int) -> bool:
        """Whether an object shows its content instead of its data: then the content has boxes."""
        if not self._has_fallback(row):
            return False
        if not self.tree.has(row, "data") or "d" in self.style(row).letters:
            return True
        box = self.tree.snapshot.box
        places = (4 * self.tree.number[child] for child in self.tree.elements(row))
        return any(box[place + 2] or box[place + 3] for place in places if box)

    def _has_fallback(self, row: int) -> bool:
        tree = self.tree
        return any(
            tree.is_element(child) or (tree.kind[child] == TEXT and bool(tree.name[child].strip(SPACES)))
            for child in tree.children(row)
        )

    def _assign(self, host: int) -> None:
        """Give the children of a shadow host to the slots of its tree."""
        for child, slot in slotted(self.tree, host).items():
            if child not in self._slots_of:
                self._slots_of[child] = slot
                self._slotted.setdefault(slot, []).append(child)
