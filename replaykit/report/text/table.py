"""Plain-text tables, and untrusted text made safe for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from operator import add


def table(rows: Sequence[Sequence[str]], indent: str = "") -> list[str]:
    """Align columns, the first row being the head; numbers to the right."""
    columns = [_aligned([safe(cell) for cell in column]) for column in zip(*rows, strict=True)]
    return [(indent + "  ".join(row)).rstrip() for row in zip(*columns, strict=True)]


def _aligned(cells: Sequence[str]) -> list[str]:
    """Pad the cells of a column, the first being its head."""
    widths = list(map(_width, cells))
    widest = max(widths)
    blanks = [" " * (widest - width) for width in widths]
    if all(map(_is_number, cells[1:])):
        return list(map(add, blanks, cells))
    return list(map(add, cells, blanks))


def safe(text: str) -> str:
    """Return the text on one line without anything that a terminal would obey."""
    # Nearly every text: no terminal obeys printable ASCII.
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def short(text: str, limit: int) -> str:
    """Cut to `limit` characters, saying so with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _visible(char: str) -> str:
    if char in "\t\n\r":
        return " "
    # Format characters too: a right-to-left override can make a verdict read backwards.
    return "�" if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _is_number(text: str) -> bool:
    return (not text.strip("0123456789.%-+/()~ ") and any(char.isdigit() for char in text)) or text == "-"
