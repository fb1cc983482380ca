"""A recorded page as a sketch: texts and controls at their recorded places, in HTML that can do nothing.

Snapshots hold no style sheets, so colours and fonts are ours; places, texts and form state are the page's.
Nothing of the page's own markup is written: tags and attributes come from this module, numbers are integers,
texts are escaped. No address, script, style, id or class of the page gets through.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

from msgspec import Struct

from replaykit.replay.dom_tree import words
from replaykit.report.html.escaping import text as escaped
from replaykit.report.html.form_controls import CONTROLS, control
from replaykit.snapshot.snapshot_format import HTML, OTHER, SVG, TEXT, Snapshot

PLACED_MAX = 8_000
"""Elements of one sketch; what follows is left out, and the sketch notes it."""

TEXT_MAX = 400_000
"""Characters of one sketch."""

SIDE_MAX = 20_000
"""CSS px that a page is drawn wide or high."""

Spot = tuple[str, int]
"""Snapshot blob and element number."""

Box = tuple[int, int, int, int]
"""x, y, width, height in CSS px of the whole page."""

_SEEN = words("a b strong em i u s code kbd h1 h2 h3 h4 h5 h6 th td li label p pre summary legend")
"""Tags that look different in a sketch."""

_FRAMED = words("table tr dialog form nav header footer main section article aside fieldset ul ol")
"""Tags whose boxes are drawn, faintly."""


LETTER = 0.5
"""Mean width of a letter, of its font size."""

_BOLD = 0.56
"""The same of bold ones, and of those that must not be cut."""

LINE = 1.35
"""Height of a line, of its font size."""

_LEAST, _MOST = 8, 15

_HEADINGS = {"h1": 30, "h2": 22, "h3": 18}

_PADDED = ("td", "th", "button", "input", "select", "textarea")


class FramePage(Struct, frozen=True, kw_only=True):
    """The page in a frame that its outer page cannot read."""

    id: str
    """Its snapshot blob."""
    snapshot: Snapshot
    """Its snapshot."""
    frames: Mapping[int, FramePage] = {}
    """Frames in it, by ordinal."""


class Sketch(Struct, frozen=True, kw_only=True):
    """A drawn page."""

    html: str
    """Body of the sandboxed document."""
    width: int
    """CSS px."""
    height: int
    """CSS px."""
    boxes: dict[Spot, Box]
    """Places of the elements asked for, on this drawing."""
    is_placed: bool = True
    """False: no boxes were recorded, elements follow each other."""
    is_cut: bool = False
    """It had more than a sketch takes."""


class Styles:
    """Recorded styles of elements."""

    def __init__(self, shot: Snapshot) -> None:
        self._of = shot.style
        self._number = shot.number
        # The last is that of elements in a hidden subtree: their index is -1.
        self._entries = [*(entry.split("|", 2) for entry in shot.head.styles), ["none"]]

    def display(self, row: int) -> str:
        """Return the recorded `display`; `none` where nothing shows, `block` where unknown."""
        return self._entries[self._of[self._number[row]]][0] if self._of else "block"

    def is_hidden(self, row: int) -> bool:
        """Whether an element is invisible while what is in it may show."""
        entry = self._entries[self._of[self._number[row]]] if self._of else ()
        return len(entry) > 1 and entry[1] != "visible"


def sketch(page: FramePage, wanted: Iterable[Spot] = ()) -> Sketch:
    """Draw a page by its recorded boxes. `wanted`: elements whose places the caller asks for."""
    drawing = _Drawing(frozenset(wanted))
    drawing.add(page, 0, 0)
    return drawing.finish()


class _Drawing:
    def __init__(self, wanted: frozenset[Spot]) -> None:
        self.parts: list[str] = []
        self.boxes: dict[Spot, Box] = {}
        self.right = self.bottom = 0
        self.placed = self.letters = 0
        self._wanted = wanted

    @property
    def is_full(self) -> bool:
        return self.placed >= PLACED_MAX or self.letters >= TEXT_MAX

    def add(self, page: FramePage, x: int, y: int) -> None:
        _Pen(self, page, x, y).draw()

    def put(self, kind: str, box: Box, content: str, style: str = "") -> None:
        x, y, width, height = box
        place = f"left:{x}px;top:{y}px;width:{width}px;height:{height}px{style}"
        self.parts.append(f'<p class="{kind}" style="{place}">{content}</p>')
        self.placed += 1
        self.letters += len(content)
        self.right, self.bottom = max(self.right, x + width), max(self.bottom, y + height)

    def see(self, spot: Spot, box: Box) -> None:
        if spot in self._wanted:
            self.boxes[spot] = box

    def finish(self) -> Sketch:
        return Sketch(
            html="".join(self.parts),
            width=min(SIDE_MAX, self.right),
            height=min(SIDE_MAX, self.bottom),
            boxes=self.boxes,
            is_cut=self.is_full,
        )


class _Pen:
    """Draws one document, moved to where its frame stands."""

    def __init__(self, drawing: _Drawing, page: FramePage, x: int, y: int) -> None:
        self.drawing = drawing
        self.page = page
        self.shot = page.snapshot
        self.styles = Styles(page.snapshot)
        self.x, self.y = x, y
        # Rows that a text around them holds in its flow: they are not drawn once more.
        self.flowing: set[int] = set()

    def draw(self) -> None:
        row, shot = 1, self.shot
        while row < len(shot.kind) and not self.drawing.is_full:
            if shot.kind[row] <= OTHER:
                row = self._element(row)
            else:
                row += 1

    def _element(self, row: int) -> int:
        """Draw one element; return the row to go on with."""
        shot, box = self.shot, self._box(row)
        tag, seen = shot.name[row], self.styles.display(row)
        if seen == "none" or (shot.kind[row] == HTML and tag in ("script", "style", "template", "noscript")):
            return shot.end[row]
        self.drawing.see((self.page.id, shot.number[row]), box)
        if row in self.flowing or not box[2] or not box[3] or self.styles.is_hidden(row):
            return row + 1
        if shot.kind[row] == SVG:
            self.drawing.put("graphic", box, "")
            return shot.end[row]
        if tag in CONTROLS and shot.kind[row] == HTML:
            return self._control(row, tag, box)
        self._plain(row, tag, box)
        return row + 1

    def _control(self, row: int, tag: str, box: Box) -> int:
        kind, content = control(self.shot, row)
        self.drawing.put(f"control {kind}", box, escaped(content), font(content, box, tag))
        inner = self._frame(row)
        if inner is not None:
            self.drawing.add(inner, box[0], box[1])
        # A frame that its page can read holds rows of this snapshot; all else of a control is in its text.
        return row + 1 if tag in ("iframe", "frame") else self.shot.end[row]

    def _plain(self, row: int, tag: str, box: Box) -> None:
        flow = self._flow(row) if self._has_text(row) else None
        kind = f"t-{tag}" if tag in _SEEN else "f" if tag in _FRAMED else ""
        state = self.shot.state.get(row)
        if state is not None and state.modal:
            kind = "modal"
        if flow is not None:
            plain, content = flow
            lines = self._lines(row, box)
            if lines != box and kind in ("f", "modal"):
                self.drawing.put(kind, box, "")
                kind = "t"
            self.drawing.put(kind or "t", lines, content, font(plain, lines, tag))
        elif kind:
            self.drawing.put(kind, box, "")

    def _frame(self, row: int) -> FramePage | None:
        state = self.shot.state.get(row)
        return None if state is None or state.frame is None else self.page.frames.get(state.frame)

    def _box(self, row: int) -> Box:
        at = 4 * self.shot.number[row]
        x, y, width, height = self.shot.box[at : at + 4]
        box = x + self.x, y + self.y, width, height
        if min(box) >= -SIDE_MAX and max(box) <= SIDE_MAX:
            return box
        return _side(box[0]), _side(box[1]), _side(width), _side(height)

    def _has_text(self, row: int) -> bool:
        """Whether an element has a text of its own that is not blank."""
        kind, name, end = self.shot.kind, self.shot.name, self.shot.end
        at, last = row + 1, end[row]
        while at < last:
            if kind[at] == TEXT and name[at] and not name[at].isspace():
                return True
            at = end[at]
        return False

    def _lines(self, row: int, box: Box) -> Box:
        """Return where the lines of an element are: above the first block in it, or below the last one."""
        shot, (x, y, width, height) = self.shot, box
        texts, blocks = [], []
        at = row + 1
        while at < shot.end[row]:
            if shot.kind[at] == TEXT and not shot.name[at].isspace():
                texts.append(at)
            elif shot.kind[at] == HTML and self._is_block(at):
                blocks.append(at)
            at = shot.end[at]
        if not blocks or not texts:
            return box
        top, bottom = y, y + height
        if texts[-1] < blocks[0]:
            bottom = self._box(blocks[0])[1]
        elif texts[0] > blocks[-1]:
            top = self._box(blocks[-1])[1] + self._box(blocks[-1])[3]
        # A block that floats or is placed elsewhere does not place the lines.
        return (x, top, width, bottom - top) if y <= top < bottom <= y + height else box

    def _is_block(self, row: int) -> bool:
        seen = self.styles.display(row)
        return seen != "none" and not seen.startswith("inline") and bool(self._box(row)[3])

    def _flow(self, row: int) -> tuple[str, str]:
        """Return what stands in the lines of an element, plain with a line feed a line, and as HTML."""
        shot = self.shot
        plain: list[str] = []
        parts: list[str] = []
        open_ends: list[int] = []
        is_preserved = shot.name[row] == "pre"
        at = row + 1
        while at < shot.end[row] and len(plain) < 4_000:
            while open_ends and open_ends[-1] <= at:
                open_ends.pop()
                parts.append("</i>")
            if shot.kind[at] == TEXT:
                plain.append(shot.name[at] if is_preserved else shot.name[at].replace("\n", " "))
                parts.append(escaped(shot.name[at]))
                at += 1
            elif shot.kind[at] > OTHER:
                at = shot.end[at]
            elif self._is_inline(at):
                parts.append("<br>" if shot.name[at] == "br" else f'<i class="{_look(shot.name[at])}">')
                self.flowing.add(at)
                if shot.name[at] == "br":
                    plain.append("\n")
                else:
                    open_ends.append(shot.end[at])
                at += 1
            else:
                parts.append(self._room(at))
                at = shot.end[at]
        return "".join(plain), "".join(parts) + "</i>" * len(open_ends)

    def _is_inline(self, row: int) -> bool:
        shot = self.shot
        is_control = shot.name[row] in CONTROLS
        seen = self.styles.display(row)
        return shot.kind[row] == HTML and not is_control and seen in ("inline", "contents")

    def _room(self, row: int) -> str:
        # An inline element that is drawn separately keeps its place in the line.
        if not self.styles.display(row).startswith("inline"):
            return ""
        return f'<i class="room" style="width:{self._box(row)[2]}px"></i>'


def _look(tag: str) -> str:
    return f"t-{tag}" if tag in _SEEN else "t"


def _side(pixels: int) -> int:
    return max(-SIDE_MAX, min(SIDE_MAX, pixels))


def font(words: str, box: tuple[int, int, int, int], tag: str) -> str:
    """Return the style that fits words into a box: as large as their lines allow, else as its area does.

    Lines of `words` are those of the page: what stands before a line feed never goes on behind it.
    """
    width, height = box[2], box[3]
    lines = [" ".join(line.split()) for line in words.strip("\n").split("\n")]
    letters = max(map(len, lines))
    if not letters or not width or not height:
        return ""
    most = _HEADINGS.get(tag, _MOST)
    wide = _BOLD if tag in _HEADINGS or tag in ("button", "th") else LETTER
    line = height // len(lines)
    one_line = min(most, line / 1.15, width / (wide * letters))
    if one_line >= min(_LEAST + 2, line / LINE):
        size = max(_LEAST, round(one_line))
        return f";font-size:{size}px;line-height:{line}px{_padding(letters, size, width, tag)}"
    area = width * height / (sum(map(len, lines)) * LETTER * LINE)
    size = max(_LEAST, min(most, int(sqrt(area))))
    return f";font-size:{size}px;line-height:{round(size * LINE)}px;white-space:pre-wrap"


def _padding(letters: int, size: int, width: int, tag: str) -> str:
    spare = int((width - letters * size * LETTER) / 2)
    room = max(0, min(8, spare)) if tag in _PADDED else 0
    return f";text-indent:{room}px" if room else ""
