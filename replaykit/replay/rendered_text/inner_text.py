"""`innerText` of elements, composed by the rule of docs/snapshot-format.md, section 5.1.

`replaykit/recorder/page/rendered_text.js` is the same rule in the page: change both together.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

from replaykit.patterns import lazy_pattern
from replaykit.replay.rendered_text.element_states import MENU_PART, PLAIN, SHOWN, ElementStates, Inside
from replaykit.replay.rendered_text.style_palette import (
    ATOM,
    BLOCK,
    CELL,
    GROUP,
    INLINE,
    ROW,
    Style,
    style_of,
)
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, OTHER, SHADOW, TEXT

Item = str | int
"""A text, or a number of line breaks that are requested."""

MARKS = ("\u27e6masked", "\u27e6cut:")
"""Beginnings of the marks of a text that was masked, and of the end of a text that was cut."""

# How a line ends: with nothing to hold a blank, with a collapsible blank, with something solid.
_NOTHING, _BLANK, _SOLID = range(3)
_NO_ITEM = -1

_BLANKS = " \t\n\r"
_RUNS = lazy_pattern(f"[{_BLANKS}]+")
_OPTION_BLANKS = lazy_pattern("[ \t\n\f\r]+")
_TREE = style_of("block|visible|collapse|none")


class Composition:
    """The items of one element, and which of them belong to each element inside of it."""

    def __init__(self, states: ElementStates, top: int) -> None:
        """Compose an element that is shown, or a whole tree by the row of its document or shadow root."""
        self.items: list[Item] = []
        #: Per row of an element that is shown: its first item, and the one after its last.
        self.spans: dict[int, tuple[int, int]] = {}
        #: Items whose text was masked or cut.
        self.marked: list[int] = []
        self._states = states
        self._tree = states.tree
        self._marks = MARKS if "cut" in states.tree.snapshot.head.flags else MARKS[:1]
        self._open = [_Box(_TREE, _Lines(), PLAIN, states.tree.end[top], _Lines())]
        self._compose(top)

    def _compose(self, top: int) -> None:
        tree, boxes = self._tree, self._open
        kinds, names, end = tree.kind, tree.name, tree.end
        row, last = top, end[top]
        if kinds[top] > OTHER:
            row += 1
        else:
            boxes[0].inside = self._states.around(top)
        while row < last:
            while boxes[-1].end <= row:
                self._leave(boxes.pop())
            kind = kinds[row]
            if kind == TEXT:
                if names[row] and boxes[-1].inside.holds_text:
                    self._text(names[row], boxes[-1])
                row += 1
            elif kind <= OTHER:
                row = self._element(row)
            else:
                row = end[row] if kind in (SHADOW, DOCUMENT) else row + 1
        while boxes:
            self._leave(boxes.pop())

    def _element(self, row: int) -> int:
        """Begin an element; return the row to go on with."""
        around, tree = self._open[-1], self._tree
        state = self._states.state_in(row, around.inside)
        if state > MENU_PART:
            return tree.end[row]
        tag = tree.name[row] if tree.kind[row] == HTML else ""
        if tag == "br":
            self._line_break(row, around.lines)
        box = self._box(row, tag, state, around)
        if tag == "option":  # lists give them, visible or not
            self._option(row, box.style)
        self._open.append(box)
        if box.inside.state == SHOWN:
            return row + 1
        self._leave(self._open.pop())
        return box.end

    def _line_break(self, row: int, lines: _Lines) -> None:
        self._end(lines)
        if self._states.style(row).is_visible:
            self.items.append("\n")

    def _box(self, row: int, tag: str, state: int, around: _Box) -> _Box:
        states = self._states
        style, kind = states.style(row), states.kind(row)
        inside = states.inside(row, state, around.inside)
        lines = self._lines(row, around.lines, style, kind)
        box = _Box(style, lines, inside, self._tree.end[row], around.lines)
        box.row, box.kind, box.start = row if state == SHOWN else _NO_ITEM, kind, len(self.items)
        box.breaks = _breaks(tag, style, kind) if style.is_visible else 0
        if box.breaks:
            self.items.append(box.breaks)
        return box

    def _lines(self, row: int, lines: _Lines, style: Style, kind: int) -> _Lines:
        """Return the lines of what is inside, after what the box does to those around it."""
        if kind == INLINE:
            if self._tree.shadow(row) < 0:
                return lines
            lines.solid()
        elif style.leaves:
            pass
        elif kind == ATOM:
            lines.solid()
        else:
            self._end(lines)
            self._part(lines, kind)
        return _Lines(lines.table if kind == GROUP else None)

    def _part(self, lines: _Lines, kind: int) -> None:
        """Part cells by tabs and rows by line breaks, written where the one before ended."""
        if kind == CELL and lines.cell != _NO_ITEM:
            self.items[lines.cell] = "\t"
        if kind == ROW and lines.table.row != _NO_ITEM:
            self.items[lines.table.row] = "\n"
        lines.cell = _NO_ITEM
        if kind != GROUP:
            lines.table.row = _NO_ITEM

    def _option(self, row: int, style: Style) -> None:
        text = self._tree.text_content(row)
        self.items.append(1)
        self._mark(text, style)
        self.items += [_OPTION_BLANKS.sub(" ", text).strip(" "), 1]

    def _leave(self, box: _Box) -> None:
        if box.lines is not box.outer:
            self._end(box.lines)
        if box.breaks:
            self.items.append(box.breaks)
        if box.row >= 0:
            self.spans[box.row] = (box.start, len(self.items))
        if box.kind in (CELL, ROW) and box.style.is_visible and not box.style.leaves:
            if box.kind == CELL:
                box.outer.cell = len(self.items)
            else:
                box.outer.table.row = len(self.items)
            self.items.append("")

    def _end(self, lines: _Lines) -> None:
        """End a line: a collapsible blank at its end vanishes."""
        if lines.ends == _BLANK and lines.item != _NO_ITEM:
            self.items[lines.item] = str(self.items[lines.item])[:-1]
        lines.ends = _NOTHING

    def _text(self, text: str, box: _Box) -> None:
        style, lines = box.style, box.lines
        if style.is_visible:
            self._mark(text, style)
        text = transformed(text, style.transform)
        item = len(self.items) if style.is_visible else _NO_ITEM
        if style.collapse == "collapse":
            text = lines.collapsed(text, item)
        elif style.collapse == "preserve-breaks":
            text = self._broken(text, lines, item)
        else:
            lines.ends = _NOTHING if text[-1] == "\n" else _SOLID
            if text.strip(_BLANKS):
                lines.part()
        if style.is_visible:
            self.items.append(text)

    def _mark(self, text: str, style: Style) -> None:
        is_dotted = "s" in style.letters and text.strip(_BLANKS)
        if is_dotted or ("\u27e6" in text and any(mark in text for mark in self._marks)):
            self.marked.append(len(self.items))

    def _broken(self, text: str, lines: _Lines, item: int) -> str:
        """Collapse a text line by line; blanks around a line break go."""
        pieces: list[str] = []
        for place, line in enumerate(text.split("\n")):
            if place:
                self._break(lines, pieces)
            pieces.append(lines.collapsed(line, item))
        return "".join(pieces)

    def _break(self, lines: _Lines, pieces: list[str]) -> None:
        if not pieces[-1]:
            self._end(lines)
        elif lines.ends == _BLANK:
            pieces[-1] = pieces[-1][:-1]
        lines.ends = _NOTHING
        pieces.append("\n")


class _Lines:
    """One line after the other, in a box that has lines of its own."""

    __slots__ = ("cell", "ends", "item", "row", "table")

    def __init__(self, table: _Lines | None = None) -> None:
        self.ends = _NOTHING
        #: The item that the collapsible blank at the end is in.
        self.item = _NO_ITEM
        #: Where the separator after the last cell, or row, would be.
        self.cell = self.row = _NO_ITEM
        #: Those whose rows follow each other: their own, unless this is a section of a table.
        self.table = table or self

    def part(self) -> None:
        """Note that something stands between cells or rows."""
        self.cell = self.table.row = _NO_ITEM

    def solid(self) -> None:
        """Put something on the line that is no text and takes room."""
        self.ends = _SOLID
        self.part()

    def collapsed(self, text: str, item: int) -> str:
        """Put a text on the line; `item`: where it shows."""
        text = _RUNS.sub(" ", text)
        if self.ends != _SOLID and text[:1] == " ":
            text = text[1:]
        if text:
            self.ends, self.item = _BLANK if text[-1] == " " else _SOLID, item
            if text != " ":
                self.part()
        return text


class _Box:
    """An element whose content is being composed."""

    __slots__ = ("breaks", "end", "inside", "kind", "lines", "outer", "row", "start", "style")

    def __init__(self, style: Style, lines: _Lines, inside: Inside, end: int, outer: _Lines) -> None:
        self.style = style
        self.lines = lines
        self.inside = inside
        self.end = end
        #: The lines around it.
        self.outer = outer
        self.row = _NO_ITEM
        self.kind = BLOCK
        self.start = self.breaks = 0


def _breaks(tag: str, style: Style, kind: int) -> int:
    """Return how many line breaks an element requests around its content."""
    if kind in (CELL, ROW) or style.display == "contents":
        return 0
    return 2 if tag == "p" else int(kind == BLOCK)


def parted(composition: Composition, start: int, end: int) -> str:
    """Join a slice of items with a blank at each border of an element: texts that touch may be apart."""
    borders = {at for span in composition.spans.values() if span[0] < span[1] for at in span}
    items: list[Item] = []
    for at, item in enumerate(composition.items[start:end], start):
        items += [" ", item] if at in borders and isinstance(item, str) and item else [item]
    return joined(items)


def joined(items: list[Item]) -> str:
    """Join items: requests at both ends vanish, several between two texts become the largest."""
    parts: list[str] = []
    breaks = 0
    for item in items:
        if isinstance(item, int):
            breaks = max(breaks, item) if parts else 0
        elif item:
            if breaks:
                parts.append("\n" * breaks)
                breaks = 0
            parts.append(item)
    return "".join(parts)


_BLOCKS = ((0x0000, 0x024F), (0x0370, 0x052F), (0x0531, 0x0587), (0x1E00, 0x1FFF))
# Unicode 16 gave this small letter its capital.
_UNSTABLE = frozenset({0x019B})


def transformed(text: str, transform: str) -> str:
    """Write a text in upper or lower case, letter by letter; any other transform changes nothing."""
    if transform not in ("uppercase", "lowercase"):
        return text
    return text.translate(_table(transform == "uppercase"))


@cache
def _table(is_upper: bool) -> dict[int, str]:
    points = chain.from_iterable(range(first, last + 1) for first, last in _BLOCKS)
    letters = {point: chr(point) for point in points if point not in _UNSTABLE}
    return {point: char.upper() if is_upper else char.lower() for point, char in letters.items()}
