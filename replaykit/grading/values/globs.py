"""Wildcards in addresses: `*` for any part of a segment or label, `**` for any number of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

STAR = "zz0star0zz"
"""Text in the place of `*` while an address is read. Parsers of URLs keep it, and an escaped `*` stays one.

"""

Segment: TypeAlias = str | tuple[str, ...]
"""A segment as it is, or the texts between its `*`."""

_ANY_NUMBER = ("", "", "")


def hidden(text: str) -> str:
    """Return the text with its wildcards as a parser of URLs may see them."""
    return text.replace("*", STAR)


def segment(text: str) -> Segment:
    """Read a segment, label or value whose wildcards were hidden."""
    return tuple(text.split(STAR)) if STAR in text else text


def meets(wanted: Segment, found: str) -> bool:
    """Return whether a segment, label or value is what is wanted."""
    if isinstance(wanted, str):
        return wanted == found
    first, *middle, last = wanted
    if len(found) < len(first) + len(last) or not (found.startswith(first) and found.endswith(last)):
        return False
    at, end = len(first), len(found) - len(last)
    for part in middle:
        at = found.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    # The first place of each part will do, since nothing between two parts is fixed.
    return True


def starts(wanted: Sequence[Segment], found: Sequence[str]) -> bool:
    """Return whether the segments begin with those that are wanted."""
    return bool(_ends(wanted, found, {0}))


def whole(wanted: Sequence[Segment], found: Sequence[str]) -> bool:
    """Return whether the segments are those that are wanted, all of them."""
    return len(found) in _ends(wanted, found, {0})


def occurs(wanted: Sequence[Segment], found: Sequence[str]) -> bool:
    """Return whether the wanted segments are in the others, one after the other."""
    return bool(_ends(wanted, found, set(range(len(found) + 1))))


def _ends(wanted: Sequence[Segment], found: Sequence[str], places: set[int]) -> set[int]:
    """Return where a run of wanted segments can end that begins at one of these places."""
    for one in wanted:
        if one == _ANY_NUMBER:
            places = set(range(min(places), len(found) + 1)) if places else places
        else:
            places = {at + 1 for at in places if at < len(found) and meets(one, found[at])}
    return places
