"""Rows of a snapshot's head that say where the browser's text of an element differs from the composed one.

A row is `[distance, at, length, text, ...]`: edits of the composed text, in UTF-16 units. The rules are in
docs/snapshot-format.md, section 5.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from replaykit.snapshot.snapshot_format import Head, refuse

Edits = tuple[int | str | None, ...]
"""`at, length, text` again and again."""

UNKNOWN: Edits = ()
"""The text of the element is unknown."""

SPENT: Edits = (None,)
"""The texts of the element and of all inside of it are unknown."""

_ASTRAL = "\U00010000"


def text_rows(head: Head) -> dict[int, Edits]:
    """Return the edits per element number, in ascending order. Raises SnapshotInvalid."""
    rows: dict[int, Edits] = {}
    number = -1
    for row in head.texts or ():
        number = _next(number, row[0] if row else None, head)
        edits = row[1:]
        rows[number] = tuple(edits)
        if edits and edits != [None] and not _are_edits(edits):
            refuse("head", f"the text row of element {number} holds no edits")
    return rows


def unseen(head: Head) -> Iterator[range]:
    """Yield the element numbers that the browser does not show, as ranges. Raises SnapshotInvalid."""
    pairs = head.unseen or []
    last = -1
    if len(pairs) % 2:
        refuse("head", "unseen elements come in pairs")
    for at in range(0, len(pairs), 2):
        first, count = _next(last, pairs[at], head), pairs[at + 1]
        last = first + count - 1
        if count < 1 or last >= head.elements:
            refuse("head", f"{count} unseen elements from {first} on, of {head.elements}")
        yield range(first, last + 1)


def check_rows(head: Head) -> None:
    """Raise SnapshotInvalid where rows of texts, or unseen elements, are not what the format allows."""
    text_rows(head)
    deque(unseen(head), maxlen=0)


def _next(number: int, distance: object, head: Head) -> int:
    """Return the number that stands at a distance; the first one counts from 0."""
    least = 0 if number < 0 else 1
    if not isinstance(distance, int) or distance < least or max(number, 0) + distance >= head.elements:
        refuse("head", f"element {max(number, 0)} is followed at a distance of {distance!r}")
    return max(number, 0) + distance


def _are_edits(edits: Sequence[int | str | None]) -> bool:
    return len(edits) % 3 == 0 and all(
        isinstance(at, int) and at >= 0 and isinstance(length, int) and length >= 0 and isinstance(text, str)
        for at, length, text in _triples(edits)
    )


def _triples(edits: Sequence[int | str | None]) -> Iterator[tuple[int | str | None, ...]]:
    return zip(edits[::3], edits[1::3], edits[2::3], strict=True)


def edited(text: str, edits: Edits) -> str:
    """Apply the edits of a row to a text.

    Raises SnapshotInvalid where they go beyond its end, or cut a letter in two.
    """
    if _is_narrow(text) and all(_is_narrow(str(new)) for new in edits[2::3]):
        return "".join(_pieces(text, edits, 1))
    # One letter for each byte of UTF-16: places of edits count its units.
    units = text.encode("utf-16-le", "surrogatepass").decode("latin-1")
    joined = "".join(_pieces(units, edits, 2))
    try:
        return joined.encode("latin-1").decode("utf-16-le")
    except UnicodeDecodeError:
        refuse("head", "a text row cuts a letter in two")


def _is_narrow(text: str) -> bool:
    """Whether each letter is one UTF-16 unit."""
    return text.isascii() or max(text) < _ASTRAL


def _pieces(text: str, edits: Edits, width: int) -> Iterator[str]:
    end = 0
    for at, length, new in _triples(edits):
        start = end + int(at or 0) * width
        yield text[end:start]
        end = start + int(length or 0) * width
        if end > len(text):
            refuse("head", "a text row edits beyond the end of the text")
        yield str(new) if width == 1 else str(new).encode("utf-16-le", "surrogatepass").decode("latin-1")
    yield text[end:]
