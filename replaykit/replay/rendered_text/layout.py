"""Which nodes of a page are rendered, and the text that each text node shows.

A browser lays out lines per block container and reads `innerText` from those lines, so white space at the
edge of an inline element depends on its neighbours. A layout walks a document in the flat tree (slots
filled), without any geometry; `rendered.py` then reads elements from it. A box with lines of its own changes
nothing around it, so it waits until somebody asks for a node inside: one field is read without the page.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from replaykit.replay.dom_tree import SPACES, Tree, words
from replaykit.replay.rendered_text.boxes import ATOMS, HOLLOW, PAGE, SPECIAL, Boxes
from replaykit.replay.rendered_text.first_letter import INITIALS, initial_text, with_initial
from replaykit.replay.rendered_text.preceding_letter import Preceding
from replaykit.replay.rendered_text.style_palette import NO_BOX, Style
from replaykit.replay.rendered_text.text_shapes import Finding
from replaykit.replay.rendered_text.text_transform import transformed
from replaykit.replay.rendered_text.white_space import NOTHING, Lines
from replaykit.replay.slot_assignment import slotted
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, MATHML, OTHER, SVG, TEXT

# Elements that drop their children from the flat tree, so that no ancestor's state reaches these.
_UNSLOTTED = words("audio img input meter progress textarea video")
# Inline elements that have a direction of their own without saying so.
_TURNED = words("bdi bdo output")
# Blanks that a letter is written beside.
_BLANKS = frozenset(" \t\n\r")
# White space that is kept, line breaks included.
_KEPT = ("preserve", "break-spaces")


class Layout(Boxes):
    """What one document shows, as far as it was asked for with `reach` and `fill`."""

    def __init__(self, tree: Tree, document: int, *, is_shown: bool = True) -> None:
        """Begin with a document; `is_shown`: the frame that holds it has a box."""
        super().__init__(tree)
        #: Elements with a box (or `display: contents`) whose ancestors have one too.
        self.boxed: set[int] = set()
        #: Nodes that are skipped, inside closed details or hidden content; elements that skip what they hold.
        self.locked: set[int] = set()
        #: Of these, elements that are shown themselves.
        self.skipping: set[int] = set()
        #: Nodes that are skipped only as long as they are far away.
        self.dormant: set[int] = set()
        #: Rendered text per text node.
        self.texts: dict[int, str] = {}
        #: Texts that take part in lines but are not visible.
        self.unseen: set[int] = set()
        #: Visible texts of which the browser showed dots.
        self.secret: set[int] = set()
        #: Blocks whose first line has letters of its own.
        self.wavering: list[int] = []
        #: Shapes of texts, by row of their element.
        self.shapes = _shapes(tree, document)
        #: What came of it where a text was held against its shape.
        self.heard: dict[int, Finding] = {}
        #: Texts that were held against one, and what they are where the two differed.
        self.vouched: set[int] = set()
        self.mended: dict[int, str] = {}
        #: Letters of the style of a block, by the text that its first letter is in.
        self._initials: dict[int, str] = {}
        self._summaries: dict[int, int] = {}
        #: Nodes around which everything is laid out.
        self._reached = {document}
        #: Boxes with lines of their own whose content was not laid out yet, and their rows in order.
        self._waiting: dict[int, _Open] = {}
        #: Of these, boxes that are not opened yet: the one around them waits in their place.
        self._passed: set[int] = set()
        self._rows_waiting: list[int] = []
        if is_shown:
            self._start(document)

    @cached_property
    def _preceding(self) -> Preceding:
        # It holds the layout in turn: most pages need none, and are gone with the last who asks them.
        return Preceding(self)

    def reach(self, row: int) -> None:
        """Lay out everything around a node, so that its own box and texts beside it are known."""
        path, parent = [], self.tree.parent
        while row not in self._reached:
            path.append(row)
            row = parent[row]
        for below in reversed(path):
            self._open(parent[below])
        self._reached.update(path)

    def fill(self, row: int) -> None:
        """Lay out a node and all below it."""
        self.reach(row)
        rows = self._rows_waiting
        low, high = bisect_left(rows, row), bisect_left(rows, self.tree.end[row])
        inside, rows[low:high] = rows[low:high], []
        for box in inside:
            self._walk(self._taken(box), defers=False)

    def reach_children(self, row: int) -> None:
        """Lay out the child nodes of a node that was reached."""
        self._open(row)

    def is_apart(self, row: int) -> bool:
        """Whether an element has lines of its own, inside of boxes that nothing after it changes.

        Not so the rows of a table's section: the last one ends its line if another section follows.
        """
        self.reach(row)
        above = self.tree.parent[row]
        while self.tree.kind[above] == HTML and self.tree.name[above] not in SPECIAL:
            above = self.tree.parent[above]
        return row in self._waiting and above == 0 and not self.style(row).display.endswith("-group")

    def reads_empty(self, row: int) -> bool:
        """Whether an element that has no box, or is skipped, reads as "": others read as `textContent`."""
        if row in self.locked:
            return True
        style = self.style(row)
        if style.display == "contents" and row not in self.boxed:
            return not self.tree.is_html(row, "noscript")
        if style is NO_BOX:
            return False
        above = (row, *self.tree.ancestors(row))
        return any(self._is_unread(other) for other in above)

    def _is_unread(self, row: int) -> bool:
        return row in self.locked or self._is_folded(row) or (row in self.boxed and self.style(row).skips)

    def _start(self, document: int) -> None:
        page = _Open(Lines(self.texts), PAGE)
        page.rows = self.tree.children(document)
        self._waiting[document] = page
        self._rows_waiting.append(document)
        self._open(document)

    def _open(self, row: int) -> None:
        """Lay out the lines of a box that waits; boxes inside wait in its place."""
        if row not in self._waiting:
            return
        place = bisect_left(self._rows_waiting, row)
        self._rows_waiting[place : place + 1] = sorted(self._walk(self._taken(row), defers=True))

    def _taken(self, row: int) -> _Open:
        box = self._waiting.pop(row)
        return self._opened(row, self.style(row), box, False) if row in self._passed else box

    def _walk(self, box: _Open, *, defers: bool) -> list[int]:
        """Lay out a box; return the rows of those inside that wait now."""
        tree, stack, waiting = self.tree, [box], []
        while stack:
            top = stack[-1]
            row = next(top.rows, None)
            if row is None:
                stack.pop().leave()
            elif tree.kind[row] == TEXT:
                self._text(row, top)
            elif tree.kind[row] > OTHER:
                continue
            elif defers and self._passes(row, top):
                waiting.append(row)
            else:
                below = self._element(row, top)
                if below is not None and defers and below.ends_lines and self._is_plain(row):
                    self._waiting[row] = below
                    waiting.append(row)
                elif below is not None:
                    stack.append(below)
        return waiting

    def _passes(self, row: int, top: _Open) -> bool:
        """Whether a block could be passed unopened; long tables and lists are mostly such.

        What opening does to the lines around is done here; once they are complete, it does nothing again.
        """
        style, tree = self.style(row), self.tree
        if not style.is_plain_block or top.is_locked or top.is_folded or (style.is_piece and top.is_inline):
            return False
        if tree.kind[row] != HTML or tree.name[row] in SPECIAL or not self._is_plain(row):
            return False
        self.boxed.add(row)
        top.is_after_piece = style.is_piece
        top.lines.end()
        self._waiting[row] = top
        self._passed.add(row)
        return True

    def _is_plain(self, row: int) -> bool:
        # Slots of a shadow tree show nodes that stand elsewhere: such a tree is laid out as a whole.
        return self.tree.kind[self.tree.scope[row]] == DOCUMENT and row + 1 < self.tree.end[row]

    def _text(self, row: int, top: _Open) -> None:
        text, style = self.tree.name[row], top.style
        if not text or not top.holds_text:
            return
        if not text.strip(SPACES) and self._vanishes(row, text, top):
            return
        top.is_after_piece = False
        if top.is_ruby and style.collapse != "collapse":
            text = text.replace("\n", " ")
        if row in self._initials:
            letters, before = self._initials[row], self._before(row, style)
            text = with_initial(text, style.transform, letters, before, top.language)
        elif style.transform:
            text = transformed(text, style.transform, self._before(row, style), top.language)
        top.lines.add(row, text, style.collapse)
        if not style.is_visible or top.is_locked or (top.is_folded and self._is_folded(row)):
            self.unseen.add(row)
        elif "s" in style.letters:
            self.secret.add(row)

    def _vanishes(self, row: int, text: str, top: _Open) -> bool:
        """Whether a text of blanks has no box: between items, unless a text goes on, and beside pieces."""
        if top.gives_items and top.lines.ends_with == NOTHING:
            return True
        if top.style.collapse in (*_KEPT, "preserve-breaks"):
            return False
        # A form feed collapses with nothing: only a box less makes it vanish.
        return top.is_after_piece or ("\f" in text and not self._preceding.holds(row))

    def _before(self, row: int, style: Style) -> str:
        return self._preceding.character(row) if "capitalize" in style.transform else ""

    def _element(self, row: int, top: _Open) -> _Open | None:
        style, tag = self.style(row), self.tree.name[row]
        is_html = self.tree.kind[row] == HTML
        is_skipped = top.is_locked or (top.is_folded and self._is_folded(row))
        is_locked = is_skipped or style.skips or ("c" in style.letters and self.is_replaced(row, style))
        if is_locked and row not in self.locked:
            self._lock(row)
        if is_locked and not is_skipped:
            self.skipping.add(row)
        if is_locked:
            self._doze(row, style, is_skipped)
        if style.is_boxless or self.is_boxless(row, tag, is_html):
            return None
        self.boxed.add(row)
        top.is_after_piece = style.is_piece
        if is_html and tag in ("br", "wbr"):
            if tag == "br":
                top.lines.end(keeps_blank=style.collapse in _KEPT)
            else:
                top.lines.opportunity()
            return None
        below = self._opened(row, style, top, is_html and tag in SPECIAL)
        below.is_locked = is_locked
        return below

    def _doze(self, row: int, style: Style, is_skipped: bool) -> None:
        """Note what is skipped only because it is far away: scrolled to, it shows."""
        if self._is_folded(row):
            self.dormant.difference_update(range(row, self.tree.end[row]))
        elif "v" in style.letters and not is_skipped:
            self.dormant.update(range(row + 1, self.tree.end[row]))
        elif style.skips and "v" not in style.letters:
            self.dormant.difference_update(range(row + 1, self.tree.end[row]))

    # Beside a blank a letter says what is generated; elsewhere a quote has its marks.

    def _begins_with_blank(self, row: int) -> bool:
        first = next(self.tree.children(row), -1)
        return first >= 0 and self.tree.kind[first] == TEXT and self.tree.name[first][:1] in _BLANKS

    def _ends_in_blank(self, row: int) -> bool:
        last = max(self.tree.children(row), default=-1)
        return last >= 0 and self.tree.kind[last] == TEXT and self.tree.name[last][-1:] in _BLANKS

    def _opened(self, row: int, style: Style, top: _Open, is_special: bool) -> _Open:
        tree = self.tree
        below = _Open(self._lines(row, style, top), style)
        below.ends_lines = below.lines is not top.lines
        language = tree.language(row) if row in tree.snapshot.attributes else None
        below.language = top.language if language is None else language
        contents = style.display == "contents"
        below.gives_items = top.gives_items if contents else style.gives_items
        below.is_inline = top.is_inline if contents else style.is_inline
        below.is_ruby = style.is_ruby or (top.is_ruby and below.is_inline)
        if tree.kind[row] != HTML:
            below.holds_text = _foreign_text(tree, row, style, top.holds_text)
        if is_special:
            below.is_folded = tree.is_html(row, "details") and not tree.has(row, "open")
            below.is_quoted = tree.is_html(row, "q") and not self._ends_in_blank(row)
        if style.is_inline and (tree.name[row] in _TURNED or tree.has(row, "dir")):
            below.is_turned = True
            below.lines.turn()
        self._begin_lines(row, style, below, is_special)
        below.rows = self.rows(row, style, is_special)
        if style.letters:
            self._note_letters(row, style.letters)
        return below

    def _begin_lines(self, row: int, style: Style, below: _Open, is_special: bool) -> None:
        """Put on the lines what stands before the content of a box."""
        if "e" in style.letters:
            below.lines.end()
        if (
            "b" in style.letters
            or (is_special and self.tree.is_html(row, "q") and not self._begins_with_blank(row))
            or (style.is_inline and self.is_sealed(row))
        ):
            below.lines.atom()
        elif "g" in style.letters or style.display == "inline list-item":
            below.lines.blank()

    def _note_letters(self, row: int, letters: str) -> None:
        """Note what a block says of its first letter and its first line."""
        if not INITIALS.isdisjoint(letters):
            self._initials.setdefault(initial_text(self, row), letters)
        if "k" in letters:
            self.wavering.append(row)

    def _lines(self, row: int, style: Style, top: _Open) -> Lines:
        """Return the lines that the content belongs to, after what the box does to the outer ones."""
        # Among the items of a flex box or grid, text on either side of it is an item of its own.
        if "f" in style.letters and (not top.gives_items or "table" in top.style.display):
            return Lines(self.texts)
        # A piece of a table inside an inline element gets an inline table around it.
        in_inline_table = style.is_piece and top.is_inline
        tag = self.tree.name[row] if style.is_inline and self.tree.kind[row] == HTML else ""
        if (self.is_block(row) and not in_inline_table) or tag in HOLLOW:
            top.lines.end()
            return Lines(self.texts)
        is_atom = tag in ATOMS and style.display != "contents"
        if in_inline_table or style.is_atom or is_atom or self.is_replaced(row, style):
            top.lines.atom()
            return Lines(self.texts)
        return top.lines

    def _is_folded(self, row: int) -> bool:
        """Whether closed details hide the node: all of their children but the first summary."""
        tree, above = self.tree, self.tree.parent[row]
        if not tree.is_html(above, "details") or tree.has(above, "open"):
            return False
        if above not in self._summaries:
            summaries = (child for child in tree.elements(above) if tree.is_html(child, "summary"))
            self._summaries[above] = next(summaries, -1)
        return row != self._summaries[above]

    def _lock(self, row: int) -> None:
        """Skip all below, whether it would have a box or not; what a control never shows is not below it."""
        tree, last = self.tree, self.tree.end[row]
        apart: set[int] = set()
        while row < last:
            if row in apart or tree.kind[row] == DOCUMENT:
                row = tree.end[row]
                continue
            self.locked.add(row)
            if tree.shadow(row) >= 0:
                apart.update(set(tree.children(row)) - slotted(tree, row).keys())
            row = tree.end[row] if tree.is_html(row, *_UNSLOTTED, "template") else row + 1


class _Open:
    """An element whose children are being laid out."""

    __slots__ = (
        "ends_lines", "gives_items", "holds_text", "is_after_piece", "is_folded", "is_inline", "is_locked",
        "is_quoted", "is_ruby", "is_turned", "language", "lines", "rows", "style",
    )  # fmt: skip

    def __init__(self, lines: Lines, style: Style) -> None:
        self.lines = lines
        self.style = style
        self.rows: Iterator[int] = iter(())
        self.language = ""
        #: Whether the lines are its own and end with it.
        self.ends_lines = True
        self.is_locked = False
        #: Whether these are closed details.
        self.is_folded = False
        #: Whether the browser puts quotation marks around the content.
        self.is_quoted = False
        self.holds_text = True
        #: Whether every child is a box of its own, so that blanks between them are nothing.
        self.gives_items = False
        #: Whether it is an inline box, part of lines that began outside.
        self.is_inline = False
        #: Whether it is a ruby or part of one: no line breaks are kept in there.
        self.is_ruby = False
        #: Whether it has a direction of its own.
        self.is_turned = False
        #: Whether its last box so far is a piece of a table.
        self.is_after_piece = False

    def leave(self) -> None:
        if self.is_turned:
            self.lines.turn()
        if self.is_quoted or "a" in self.style.letters:
            self.lines.atom()
        if self.ends_lines or "y" in self.style.letters:
            self.lines.end()


def _shapes(tree: Tree, document: int) -> dict[int, str]:
    """Return the shapes of texts that a document holds, by row of their element, in order."""
    nodes, told = tree.snapshot.nodes, tree.snapshot.head.shapes or ()
    rows = {nodes[number]: shape for number, shape in told if number < len(nodes)}  # a page may be cut off
    return {row: rows[row] for row in sorted(rows) if tree.document(row) == document}


def _foreign_text(tree: Tree, row: int, style: Style, above: bool) -> bool:
    """Whether an SVG or MathML element shows texts directly inside of it."""
    tag = tree.name[row]
    if tree.kind[row] == MATHML:
        return "math" not in style.display or tag in ("mi", "mn", "mo", "ms", "mtext")
    if tree.kind[row] != SVG:
        return True
    # In SVG only text elements show text; a link shows it where its parent does.
    return tag in ("text", "tspan", "textPath", "foreignObject") or (tag == "a" and above)
