"""Rows of a snapshot's head that hold the words of style sheets: docs/snapshot-format.md, section 5.4.

A row is `[distance, place, text]`. The distance is 0 where an element has a second row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from replaykit.snapshot.snapshot_format import Head, refuse

START, END, BACKWARDS = range(3)
"""Before and after what an element contains; its letters are displayed from the last to the first."""

GENERATED_CUT = "generated_cut"
"""Flag of a snapshot that lacks some of these words."""


class Generated(NamedTuple):
    """Effect of a style sheet on the text of an element."""

    number: int
    """Element number."""
    place: int
    """`START END BACKWARDS`."""
    text: str
    """The words; empty for `BACKWARDS`."""


def generated(head: Head) -> Iterator[Generated]:
    """Yield the rows in ascending order of elements. Raises SnapshotInvalid."""
    number = 0
    for distance, place, text in head.generated or ():
        number += distance
        if distance < 0 or number >= head.elements or place not in (START, END, BACKWARDS):
            refuse("head", f"generated text at place {place} of element {number}, of {head.elements}")
        yield Generated(number, place, text)


def check_generated(head: Head) -> None:
    """Raise SnapshotInvalid where a row of generated text is not what the format allows."""
    deque(generated(head), maxlen=0)
