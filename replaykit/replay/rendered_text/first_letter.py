"""The letter that `::first-letter` styles: the first in a block (CSS Pseudo-Elements 4, 2.2)."""

from __future__ import annotations

import unicodedata

from replaykit.replay.dom_tree import SPACES
from replaykit.replay.rendered_text.boxes import Boxes
from replaykit.replay.rendered_text.text_transform import transformed
from replaykit.snapshot.snapshot_format import TEXT

_CASES = {"u": "uppercase", "l": "lowercase", "n": "none"}

INITIALS = frozenset(_CASES)
"""Letters of a style that say how the first letter is written."""

_BESIDE = ("Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Zs")
"""Categories of what stands around the letter and belongs to it."""


def initial_text(boxes: Boxes, row: int) -> int:
    """Return the text of a block that its first letter is in, -1 where none is."""
    tree, waiting = boxes.tree, [*boxes.flat_children(row)][::-1]
    while waiting:
        node = waiting.pop()
        if tree.kind[node] == TEXT and (shown := _first_part(boxes, node)):
            return node if _place(shown) >= 0 else -1
        if tree.is_element(node) and boxes.has_box(node) and not _is_passed(boxes, node):
            if _ends_search(boxes, node):
                return -1
            # The first line of a block that comes first is the first line of all.
            kept = [] if boxes.is_block(node) else waiting
            waiting = kept + [*boxes.flat_children(node)][::-1]
    return -1


def _first_part(boxes: Boxes, row: int) -> str:
    """Return a text without blanks at its start, or the line break that ends its first line there."""
    text = boxes.tree.name[row]
    shown = text.lstrip(SPACES)
    is_kept = boxes.style(boxes.flat_parent(row)).collapse not in ("collapse", "preserve-spaces")
    return "\n" if is_kept and "\n" in text[: len(text) - len(shown)] else shown


def _is_passed(boxes: Boxes, row: int) -> bool:
    style = boxes.style(row)
    return "f" in style.letters or (style.gives_items and "table" not in style.display)


def _ends_search(boxes: Boxes, row: int) -> bool:
    is_flow = boxes.is_block(row) or boxes.is_inline(row)
    return not is_flow or "table" in boxes.style(row).display or boxes.tree.is_html(row, "br", "q")


def with_initial(data: str, transform: str, letters: str, before: str, language: str) -> str:
    """Apply a `text-transform` to a text whose first letter has one of its own, by the letters of a style."""
    place = max(_place(data), 0)
    end = place + 1
    while end < len(data) and unicodedata.category(data[end]) in ("Mn", "Mc", "Me"):
        end += 1
    case = next(_CASES[letter] for letter in letters if letter in _CASES)
    parts = (
        (data[:place], transform, before),
        (data[place:end], case, " "),
        (data[end:], transform, data[place]),
    )
    return "".join(transformed(part, each, last, language) for part, each, last in parts)


def _place(data: str) -> int:
    """Return where the first letter stands, after blanks and punctuation; -1 where none does."""
    for place, character in enumerate(data):
        if character not in SPACES and unicodedata.category(character) not in _BESIDE:
            return place
    return -1
