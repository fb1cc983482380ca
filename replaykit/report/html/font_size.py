"""How large the letters of a sketch are: fonts are not recorded, boxes are."""

from __future__ import annotations

from math import sqrt

LETTER = 0.5
"""Mean width of a letter, of its font size."""

_BOLD = 0.56
"""The same of bold ones, and of those that must not be cut."""

LINE = 1.35
"""Height of a line, of its font size."""

_LEAST, _MOST = 8, 15
_HEADINGS = {"h1": 30, "h2": 22, "h3": 18}
_PADDED = ("td", "th", "button", "input", "select", "textarea")


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
