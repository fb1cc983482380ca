"""A recorded page without boxes: its texts and controls one after the other, in HTML that can do nothing."""

from __future__ import annotations

from replaykit.replay.dom_tree import words
from replaykit.report.html.escaping import text as escaped
from replaykit.report.html.form_controls import CONTROLS, control
from replaykit.report.html.page_sketch import PLACED_MAX, TEXT_MAX, Sketch, Styles
from replaykit.snapshot.snapshot_format import HTML, OTHER, TEXT, Snapshot

WIDTH, HEIGHT = 960, 720
"""Size in CSS px for such a page, which has no recorded one."""

DEPTH_MAX = 100
"""Elements in elements that are written; deeper ones go without tags, their texts do not."""

KEPT = words(
    "h1 h2 h3 h4 h5 h6 p ul ol li dl dt dd table thead tbody tfoot tr td th caption pre blockquote"
    " b strong em i u s code kbd small sub sup"
)
"""Tags that are written as they are."""

_UNSEEN = ("script", "style", "template", "noscript", "head", "title")


def outline(shot: Snapshot) -> Sketch:
    """Write a page as a plain document."""
    return _Outline(shot).write()


class _Outline:
    def __init__(self, shot: Snapshot) -> None:
        self.shot = shot
        self.styles = Styles(shot)
        self.parts: list[str] = []
        # Row after each open element, and the tag that ends it.
        self.open_ends: list[tuple[int, str]] = []

    def write(self) -> Sketch:
        row, written, letters = 1, 0, 0
        while row < len(self.shot.kind) and written < PLACED_MAX and letters < TEXT_MAX:
            while self.open_ends and self.open_ends[-1][0] <= row:
                self.parts.append(f"</{self.open_ends.pop()[1]}>")
            before = len(self.parts)
            row = self._node(row)
            written += len(self.parts) > before
            letters += sum(map(len, self.parts[before:]))
        self.parts += [f"</{tag}>" for _, tag in reversed(self.open_ends)]
        return Sketch(
            html=f'<article>{"".join(self.parts)}</article>', width=WIDTH, height=HEIGHT, boxes={},
            is_placed=False, is_cut=row < len(self.shot.kind),
        )  # fmt: skip

    def _node(self, row: int) -> int:
        """Write one node; return the row to go on with."""
        shot, kind, tag = self.shot, self.shot.kind[row], self.shot.name[row]
        if kind == TEXT:
            self.parts.append(escaped(tag))
        if kind > OTHER:
            return row + 1
        unseen = self.styles.display(row) == "none" or self.styles.is_hidden(row)
        if unseen or (kind == HTML and tag in _UNSEEN):
            return shot.end[row]
        if kind == HTML and tag in CONTROLS:
            look, label = control(shot, row)
            self.parts.append(f'<span class="control {look}">{escaped(label)}</span>')
            return shot.end[row]
        self._element(row, tag)
        return row + 1

    def _element(self, row: int, tag: str) -> None:
        if tag == "br":
            self.parts.append("<br>")
        elif len(self.open_ends) < DEPTH_MAX:
            own = self._own(row, tag)
            self.parts.append(f"<{own}>")
            self.open_ends.append((self.shot.end[row], own))

    def _own(self, row: int, tag: str) -> str:
        """Return the tag that an element is written with."""
        if self.shot.kind[row] == HTML and tag in KEPT:
            return tag
        return "span" if self.styles.display(row).startswith(("inline", "contents")) else "div"
