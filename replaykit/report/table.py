"""Plain-text tables, and text of strangers made safe for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], indent: str = "") -> list[str]:
    """Align columns, the first row being the head; numbers to the right."""
    cells = [[safe(cell) for cell in row] for row in rows]
    widths = [max(_width(row[n]) for row in cells) for n in range(len(cells[0]))]
    right = [all(_is_number(row[n]) for row in cells[1:]) for n in range(len(widths))]
    lines = []
    for row in cells:
        parts = [
            _pad(text, width, to_right) for text, width, to_right in zip(row, widths, right, strict=True)
        ]
        lines.append((indent + "  ".join(parts)).rstrip())
    return lines


def safe(text: str) -> str:
    """Return the text on one line without anything that a terminal would obey."""
    # Nearly every text: what is printable ASCII is obeyed by none.
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


def _pad(text: str, width: int, to_right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if to_right else text + blanks


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _is_number(text: str) -> bool:
    return (not text.strip("0123456789.%-+/() ") and any(char.isdigit() for char in text)) or text == "-"
