"""Shapes of rendered texts, as the browser gave them.

A shape is a text without its letters: blanks stand as they are, for capitals stands `^`, for all else `.`.
It says where words begin and end and how they are capitalised, which is what depends on more than a snapshot
holds: on what is generated, and on what stood there before.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

NO_ROW = -1
"""In the place of a row: of no text, but a line break or tab between texts."""

BLANKS = " \t\n"
"""What stands in a shape as it is."""

_PARTS = re.compile(f"[{BLANKS}]+|[^{BLANKS}]+")


class _Marks(dict[int, str]):
    def __missing__(self, code: int) -> str:
        mark = "^" if unicodedata.category(chr(code)) in ("Lu", "Lt") else "."
        self[code] = chr(code) if chr(code) in BLANKS else mark
        return self[code]


_MARKS = _Marks()


def shape_of(text: str) -> str:
    """Return the shape of a text."""
    return text.translate(_MARKS)


class Finding(NamedTuple):
    """How texts differ from their shape; empty where they do not."""

    texts: dict[int, str]
    """What texts are, by row."""
    doubts: list[tuple[int, int]]
    """First and last row of what cannot be told; `NO_ROW` where it goes on to an end."""
    seams: list[tuple[int, int]]
    """Rows of texts between which the line breaks cannot be told."""


def written_as(char: str, mark: str) -> str | None:
    """Return a letter as its mark says; None where it cannot be, or could be in two ways."""
    if char.translate(_MARKS) == mark:
        return char
    others = {char.upper(), char.title()} if mark == "^" else {char.lower()}
    other = others.pop()
    return other if not others and len(other) == 1 and other.translate(_MARKS) == mark else None


def difference(rows: Sequence[int], items: Sequence[str], shape: str) -> tuple[int, int]:
    """Return the first and last row of what differs, and of what shares a line with it."""
    own, told = _PARTS.findall(shape_of("".join(items))), _PARTS.findall(shape)
    least = min(len(own), len(told))
    before = next((at for at in range(least) if own[at] != told[at]), least)
    after = next((at for at in range(least - before) if own[-1 - at] != told[-1 - at]), least - before)
    start, end = sum(map(len, own[:before])), sum(map(len, own[: len(own) - after]))
    is_apart = start < end and _ends_line(own[before - 1 : before])
    first = start if is_apart else start - 1
    last = end - 1 if start < end and _ends_line(own[len(own) - after :]) else end
    ends = [*accumulate(map(len, items))]
    low, high = bisect_right(ends, first), bisect_right(ends, last)
    return (
        NO_ROW if first < 0 or not before else next((row for row in rows[low::-1] if row >= 0), NO_ROW),
        NO_ROW if not after else next((row for row in rows[high:] if row >= 0), NO_ROW),
    )


def _ends_line(parts: list[str]) -> bool:
    return bool(parts) and not {"\n", "\t"}.isdisjoint(parts[0])
