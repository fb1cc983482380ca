"""White space on lines: texts of one inline formatting context, collapsed as they arrive.

Rules: CSS Text 3, 4.1, as Chromium lays lines out. A space is kept or dropped by what stands before it on the
line, whatever elements lie between, so all texts of a context go through one `Lines`.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping

# How a line ends so far: with nothing to hold a space, with a collapsible space, with something solid.
NOTHING, SPACE, SOLID = range(3)

COLLAPSIBLE = " \t\n\r"
_RUNS = re.compile(f"[{COLLAPSIBLE}]+")
_ZERO_WIDTH = "\u200b"


class Lines:
    """One inline formatting context; `texts` receives the rendered text per text row."""

    def __init__(self, texts: MutableMapping[int, str]) -> None:
        self.texts = texts
        self.ends_with = NOTHING
        #: The character before the next text.
        self.last = " "
        self._last_row = -1
        self._broke = False
        self._may_wrap = False

    def add(self, row: int, text: str, collapse: str) -> None:
        """Add a text by its `white-space-collapse`."""
        if collapse == "collapse":
            self.texts[row] = self._collapsed(row, text)
        elif collapse == "preserve-breaks":
            self._add_lines(row, text)
        else:
            self.texts[row] = text
            self.ends_with = NOTHING if text.endswith("\n") else SOLID
        self.last = self.texts[row][-1:] or self.last
        self._may_wrap = False

    def atom(self) -> None:
        """Add something that is no text and takes room: a picture, a control, an inline block."""
        self.ends_with, self.last = SOLID, " "

    def blank(self) -> None:
        """Add text of no element that ends in a collapsible space."""
        self.ends_with, self.last, self._last_row, self._broke = SPACE, " ", -1, False

    def opportunity(self) -> None:
        """Add a place where the line may break: blanks collapse across it, line breaks beside it vanish."""
        self._may_wrap = True

    def turn(self) -> None:
        """Begin or end a piece with a direction of its own: what stands beside it is not beside its text."""
        self.last, self._may_wrap = "", False

    def end(self, *, keeps_blank: bool = False) -> None:
        """End the line: a collapsible space before it vanishes, and so do those after it."""
        if self.ends_with == SPACE and not keeps_blank:
            self._drop_space()
        self.ends_with, self.last = NOTHING, " "

    def _drop_space(self) -> None:
        if self._last_row >= 0:
            self.texts[self._last_row] = self.texts[self._last_row][:-1]

    def _collapsed(self, row: int, text: str) -> str:
        if _ZERO_WIDTH in text or self.last == _ZERO_WIDTH or self._may_wrap:
            text = self._without_breaks(text)
        broke = "\n" in text[len(text.rstrip(COLLAPSIBLE)) :]
        text = _RUNS.sub(" ", text)
        if self.ends_with != SOLID and text.startswith(" "):
            text = text[1:]
        if text:
            self.ends_with, self._broke = (SPACE, broke) if text.endswith(" ") else (SOLID, False)
            self._last_row = row
        return text

    def _without_breaks(self, text: str) -> str:
        """Drop line breaks beside a zero-width space (CSS Text 3, 4.1.3)."""
        start = len(text) - len(text.lstrip(COLLAPSIBLE))
        is_broken = self._broke or "\n" in text[:start]
        if text.startswith(_ZERO_WIDTH, start) and self.ends_with == SPACE and is_broken:
            self._drop_space()
            self.ends_with = SOLID
            text, start = text[start:], 0
        follows = self.last == _ZERO_WIDTH or self._may_wrap
        if self.ends_with == SOLID and follows and "\n" in text[:start]:
            text = text[start:]
        return _RUNS.sub(_kept_break, text)

    def _add_lines(self, row: int, text: str) -> None:
        pieces: list[str] = []
        for place, line in enumerate(text.split("\n")):
            if place:
                self._break(row, pieces)
            pieces.append(self._collapsed(row, line))
        self.texts[row] = "".join(pieces)

    def _break(self, row: int, pieces: list[str]) -> None:
        if self.ends_with == SPACE and self._last_row == row:
            pieces[-1] = pieces[-1][:-1]
            self.ends_with = NOTHING
        self.end()
        pieces.append("\n")


def _kept_break(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    beside = text[start - 1 : start] == _ZERO_WIDTH or text[end : end + 1] == _ZERO_WIDTH
    return "" if beside and "\n" in match[0] else match[0]
