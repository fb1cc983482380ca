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
        #: The character before the next text, which `capitalize` looks at.
        self.last = " "
        self._last_row = -1
        self._broke = False

    def add(self, row: int, text: str, collapse: str) -> None:
        """Add a text by its `white-space-collapse`."""
        if collapse == "collapse":
            self.texts[row] = self._collapsed(row, text)
        elif collapse == "preserve-breaks":
            self._add_lines(row, text)
        else:
            self.texts[row] = text
            self.ends_with = NOTHING if text.endswith("\n") else SOLID
        self.last = text[-1:] or self.last

    def atom(self) -> None:
        """Add something that is no text and takes room: a picture, a control, an inline block."""
        self.ends_with, self.last = SOLID, " "

    def end(self) -> None:
        """End the line: a collapsible space before it vanishes, and so do those after it."""
        if self.ends_with == SPACE:
            self._drop_space()
        self.ends_with, self.last = NOTHING, " "

    def _drop_space(self) -> None:
        self.texts[self._last_row] = self.texts[self._last_row][:-1]

    def _collapsed(self, row: int, text: str) -> str:
        if _ZERO_WIDTH in text or self.last == _ZERO_WIDTH:
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
        if text.startswith(_ZERO_WIDTH) and self.ends_with == SPACE and self._broke:
            self._drop_space()
            self.ends_with = SOLID
        start = len(text) - len(text.lstrip(COLLAPSIBLE))
        if self.ends_with == SOLID and self.last == _ZERO_WIDTH and "\n" in text[:start]:
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
