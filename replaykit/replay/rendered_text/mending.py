"""Rendered text against the shape that the browser gave of it: mended where that says how, else doubted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from replaykit.replay.rendered_text.text_shapes import (
    BLANKS,
    NO_ROW,
    Finding,
    difference,
    shape_of,
    written_as,
)

# White space that collapses.
_COLLAPSIBLE = frozenset(" \t\n\r")

_Blank = tuple[int, str]
"""Place of an item, and what it shows there."""


def compare(
    rows: Sequence[int],
    items: Sequence[str],
    shape: str,
    data: Callable[[int], str],
    parent: Callable[[int], int],
) -> Finding:
    """Compare items of a text, by the rows that they come from, with its shape.

    `data` returns the characters of a text node; of what is no text node, none. `parent`: row of its element.
    """
    if shape_of("".join(items)) == shape:
        return Finding({}, [], [])
    letters = (char for item in items for char in item if char not in BLANKS)
    marks = [mark for mark in shape if mark not in BLANKS]
    written = [written_as(*pair) for pair in zip(letters, marks, strict=False)]
    is_aligned = len(marks) == sum(len(item) - sum(map(item.count, BLANKS)) for item in items)
    if is_aligned and None not in written:
        return _Mending(rows, items, data, parent).run(shape, [char for char in written if char is not None])
    return Finding({}, [difference(rows, items, shape)], [])


class _Mending:
    """Puts the blanks of a shape between letters that fit it, each where a text has one to show."""

    def __init__(
        self,
        rows: Sequence[int],
        items: Sequence[str],
        data: Callable[[int], str],
        parent: Callable[[int], int],
    ) -> None:
        self.rows = rows
        self.items = items
        self.data = data
        self.parent = parent
        self.made: list[list[str]] = [[] for _ in items]
        self.finding = Finding({}, [], [])

    def run(self, shape: str, letters: Iterable[str]) -> Finding:
        """Write all texts anew. `letters`: those of the texts, in the case of the shape."""
        gaps = iter(re.split(f"[^{BLANKS}]", shape))
        last, blanks, written = -1, list[_Blank](), iter(letters)
        for place, item in enumerate(self.items):
            for char in item:
                if char in BLANKS:
                    blanks.append((place, char))
                    continue
                self._fill(last, place, blanks, next(gaps))
                self.made[place].append(next(written))
                last, blanks = place, []
        self._fill(last, len(self.items), blanks, next(gaps))
        self._tell()
        return self.finding

    def _tell(self) -> None:
        for row, item, made in zip(self.rows, self.items, self.made, strict=True):
            text = "".join(made)
            if row < 0 or text == item:
                continue
            # What an option shows is no text of a node.
            if self.data(row):
                self.finding.texts[row] = text
            else:
                self.finding.doubts.append((row, row))

    def _fill(self, before: int, after: int, blanks: list[_Blank], told: str) -> None:
        """Fill the gap between two letters, by the places of their items."""
        shares: list[_Blank] | None = blanks
        if "".join(char for _, char in blanks) != told:
            shares = [(before, told)] if before == after else self._shared(before, after, blanks, told)
        if shares is None:
            has_blanks = " " in told or any(self.rows[place] >= 0 for place, _ in blanks)
            self._doubt(before, after, has_blanks=has_blanks)
        for place, text in blanks if shares is None else shares:
            self.made[place].append(text)

    def _shared(self, before: int, after: int, blanks: list[_Blank], told: str) -> list[_Blank] | None:
        """Return which item shows which blanks; None where the shape does not say."""
        breaks = [blank for blank in blanks if self.rows[blank[0]] < 0]
        written = "".join(char for _, char in breaks)
        if told.strip(" ") != written or not self._collapse(blanks):
            return None
        holders = [place for place in range(max(before, 0), after + 1) if self._holds(place, before, after)]
        first = breaks[0][0] if breaks else len(self.items)
        head = len(told) - len(told.lstrip(" ")) if breaks else len(told)
        tail = len(told) - len(written) - head
        shown = self._showing([place for place in holders if place < first], head)
        if breaks:
            shown += self._showing([place for place in holders if place > breaks[-1][0]], tail)
        return sorted([*((place, " ") for place in shown), *breaks]) if len(shown) == head + tail else None

    def _collapse(self, blanks: list[_Blank]) -> bool:
        """Whether all blanks are such as collapse: no text shows more than one here."""
        shown = Counter(place for place, _ in blanks if self.rows[place] >= 0)
        return all(char == " " and shown[place] == 1 for place, char in blanks if self.rows[place] >= 0)

    def _showing(self, holders: list[int], count: int) -> list[int]:
        """Return which of the items that hold a blank show one; none where they could be others."""
        parents = {self.parent(self.rows[place]) for place in holders}
        # Of texts of one element any may be the one: no question tells them apart.
        return holders[:count] if count in (0, len(holders)) or len(parents) == 1 else []

    def _holds(self, place: int, before: int, after: int) -> bool:
        """Whether an item has a blank at this gap that it could show."""
        if place >= len(self.items) or self.rows[place] < 0:
            return False
        data = self.data(self.rows[place])
        if place == before:
            return data[-1:] in _COLLAPSIBLE
        return data[:1] in _COLLAPSIBLE and (place == after or not data.strip(" \t\n\r"))

    def _doubt(self, before: int, after: int, *, has_blanks: bool) -> None:
        """Doubt two texts and what is between them; line breaks between them are no part of either."""
        is_seam = not has_blanks and before >= 0 and after < len(self.items)
        first = self.rows[before] if before >= 0 else NO_ROW
        last = self.rows[after] if after < len(self.rows) else NO_ROW
        (self.finding.seams if is_seam else self.finding.doubts).append((first, last))
