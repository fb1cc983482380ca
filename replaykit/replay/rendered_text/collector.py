"""The rendered text collection of the HTML standard (3.2.7), for one element.

What is rendered, and each text's white space, comes from `layout.Layout`; here texts, line breaks and tabs
are put together. The steps are those of Chromium's collector; numbers in comments are the standard's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from replaykit.errors import Unsupported
from replaykit.replay import form_values
from replaykit.replay.dom_tree import SPACES, Tree
from replaykit.replay.rendered_text.layout import Layout
from replaykit.replay.rendered_text.text_shapes import NO_ROW
from replaykit.snapshot.snapshot_format import OTHER, TEXT


def unsupported(tree: Tree, row: int, reason: str) -> Unsupported:
    """Build the refusal to read the text of an element."""
    return Unsupported(locator=f"innerText of <{tree.name[row]}>", reason=reason)


class Collector:
    """Collects the items of one element: texts, and counts of required line breaks between them."""

    def __init__(self, layout: Layout, *, is_held: bool = False, refuses: bool = True) -> None:
        self.layout = layout
        #: Whether the texts were held against their shape, and are read as that has mended them.
        self.is_held = is_held
        #: Whether what cannot be told is refused; else it is collected as well as it goes.
        self.refuses = refuses
        self.tree = layout.tree
        self.items: list[str] = []
        #: Per item the text or option that it comes from.
        self.rows: list[int] = []
        self.is_started = False
        #: Line breaks that are requested, and the item that they become.
        self.breaks = self.requested = 0
        self.stack: list[tuple[Iterator[int], Callable[[], None] | None]] = []

    def run(self, row: int) -> str:
        """Run the collection steps for the children of an element. Raises Unsupported."""
        if self.tree.is_html(row, "select"):
            self._options(row)
        elif self.tree.is_html(row, "option"):
            self._option(row)
        else:
            self._push(row, None)
        while self.stack:
            children, leave = self.stack[-1]
            child = next(children, None)
            if child is not None:
                self._node(child)
                continue
            self.stack.pop()
            if leave:
                leave()
        return "".join(self.items)

    def _push(self, row: int, leave: Callable[[], None] | None) -> None:
        self.stack.append((self.tree.children(row), leave))

    def _text(self, text: str, row: int = NO_ROW) -> None:
        if text:
            # Requests at the start vanish, a run of them becomes its largest (steps 4 and 5).
            if self.breaks:
                self.items[self.requested] = "\n" * self.breaks
            self.breaks, self.is_started = 0, True
        self._add(text, row)

    def _add(self, text: str, row: int) -> None:
        self.items.append(text)
        self.rows.append(row)

    def _require(self, count: int) -> None:
        if not self.is_started or not count:
            return
        if not self.breaks:
            self.requested = len(self.items)
            self._add("", NO_ROW)
        self.breaks = max(self.breaks, count)

    def _node(self, row: int) -> None:
        kind = self.tree.kind[row]
        if kind == TEXT:
            if row in self.layout.texts and row not in self.layout.unseen:
                self._shown(row)
        elif kind <= OTHER and row in self.layout.boxed and row not in self.layout.locked:
            self._element(row)

    def _shown(self, row: int) -> None:
        layout, text = self.layout, self.layout.texts[row]
        if self.refuses and row in layout.secret and text:
            raise unsupported(self.tree, self.tree.parent[row], "text is masked")
        is_told = self.is_held and row in layout.vouched
        if self.refuses and not is_told and self._wavers(row):
            raise unsupported(self.tree, self.tree.parent[row], "its first line has letters of its own")
        self._text(layout.mended.get(row, text) if self.is_held else text, row)

    def _wavers(self, row: int) -> bool:
        return any(block < row < self.tree.end[block] for block in self.layout.wavering)

    def _element(self, row: int) -> None:
        tree, style = self.tree, self.layout.style(row)
        if not style.is_visible:
            self._push(row, None)
        elif tree.is_html(row, "select"):
            self._options(row)
        elif tree.is_html(row, "option"):
            self._option(row)
        elif tree.is_html(row, "br"):
            self._text("\n")
        elif style.display == "table-cell":
            self._push(row, self._tab if self._has_next_cell(row) else None)
        elif style.display == "table-row":
            self._push(row, self._newline if self._has_next_row(row) else None)
        else:
            self._block(row, self._break_count(row))

    def _tab(self) -> None:
        self._text("\t")

    def _newline(self) -> None:
        self._text("\n")

    def _break_count(self, row: int) -> int:
        style = self.layout.style(row)
        if style.display == "contents":
            return 0
        if self.tree.is_html(row, "p"):
            return 2
        if style.display.startswith("table-") and style.display not in _ROWLESS:
            return 0
        return int(self.layout.is_block(row) or style.display in _ROWLESS)

    def _block(self, row: int, count: int) -> None:
        self._require(count)
        self._push(row, (lambda: self._require(count)) if count else None)

    def _options(self, row: int) -> None:
        """Give a line to every option; groups ask for line breaks, their labels show nowhere."""
        tree = self.tree
        for option in form_values.options(tree, row):
            self._option(option)
        if any(tree.is_html(child, "optgroup") for child in tree.elements(row)):
            self._require(1)

    def _option(self, row: int) -> None:
        self._require(1)
        self._text(form_values.option_text(self.tree, row), row)
        self._require(1)

    def _has_next_cell(self, row: int) -> bool:
        """Whether another cell, real or anonymous, follows in the row of a table cell."""
        after = next(self._boxes_after(row), -1)
        if after < 0 or self._parent_display(row) == "table-row":
            return after >= 0
        display = self._display(after)
        if self._parent_display(row) in _TABLES:
            return display != "table-row" and display not in _SECTIONS and display not in _ROWLESS
        return display == "table-cell"

    def _display(self, row: int) -> str:
        return self.layout.style(row).display if self.tree.is_element(row) else ""

    def _parent_display(self, row: int) -> str:
        """Return the display of the nearest box above."""
        row = self.tree.up[row]
        while row >= 0 and self._display(row) == "contents":
            row = self.tree.up[row]
        return self._display(row) if row >= 0 else ""

    def _boxes_after(self, row: int) -> Iterator[int]:
        """Yield the boxes that follow beside an element's, parents without a box of their own crossed."""
        tree, layout = self.tree, self.layout
        while True:
            above, after = tree.parent[row], tree.end[row]
            while after < tree.end[above]:
                if self._is_shown(after):
                    yield after
                after = tree.end[after]
            if above not in layout.boxed or layout.style(above).display != "contents":
                return
            row = above

    def _has_next_row(self, row: int) -> bool:
        """Whether another row follows in the table, in this section or a later one."""
        if self._is_row_after(row):
            return True
        section = self.tree.up[row]
        return section >= 0 and self._display(section) in _SECTIONS and self._is_row_after(section)

    def _is_row_after(self, row: int) -> bool:
        """Whether a row follows beside an element; without a table around, its pieces stand together."""
        is_in_table = self._parent_display(row) in _TABLES
        for other in self._boxes_after(row):
            if not is_in_table and not self._display(other).startswith("table-"):
                return False
            if self._makes_row(other):
                return True
        return False

    def _makes_row(self, row: int) -> bool:
        """Whether a child of a table or section is a row, holds one, or gets an anonymous one around it."""
        display = self._display(row)
        if display == "contents":
            return any(self._makes_row(child) for child in self.tree.children(row) if self._is_shown(child))
        if display not in _SECTIONS:
            return display not in _ROWLESS
        self.layout.reach_children(row)
        return any(self._is_shown(child) for child in self.tree.children(row))

    def _is_shown(self, row: int) -> bool:
        return row in self.layout.boxed or bool(self.layout.texts.get(row, "").strip(SPACES))


_SECTIONS = ("table-row-group", "table-header-group", "table-footer-group")
_TABLES = ("table", "inline-table", *_SECTIONS)
_ROWLESS = ("table-caption", "table-column", "table-column-group")
