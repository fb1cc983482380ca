"""Boxes, by the entries of a snapshot's palette of styles."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

# Kinds of boxes.
NONE, INLINE, ATOM, BLOCK, CELL, ROW, GROUP = range(7)


class Style(NamedTuple):
    """One palette entry and what follows from it."""

    display: str
    """Computed `display`."""
    is_visible: bool
    """`visibility` is `visible`."""
    collapse: str
    """Computed `white-space-collapse`."""
    transform: str
    """Computed `text-transform`."""
    letters: str
    """Flags: `c` skips its content, `a` because it is far, `o` opacity 0, `s` shows dots, `f` out of flow."""
    kind: int
    """`NONE INLINE ATOM BLOCK CELL ROW GROUP`, by `display` only."""
    leaves: bool
    """Out of flow: it changes nothing on the lines around it."""
    may_skip: bool
    """It skips its content, unless it turns out to be inline."""
    is_far: bool
    """It does so only while it is far from the screen."""


_LONGEST = 200
"""Characters of an entry that is kept; those of a browser have fifty."""


def palette(entries: Iterable[str]) -> list[Style]:
    """Read a palette: pages share their few entries, so those are kept."""
    return [_kept(entry) if len(entry) <= _LONGEST else style_of(entry) for entry in entries]


def style_of(entry: str) -> Style:
    """Read a palette entry."""
    display, visibility, collapse, transform, letters, *_ = [*entry.split("|"), "", "", "", "", ""]
    # `content-visibility` has no effect where size containment has none (CSS Contain 2, 3.1).
    can_skip = "table" not in display or display == "table-cell"
    return Style(
        display=display,
        is_visible=visibility in ("visible", ""),
        collapse=collapse or "collapse",
        transform=transform,
        letters=letters,
        kind=_kind(display),
        leaves="f" in letters,
        may_skip="c" in letters and can_skip,
        is_far="a" in letters,
    )


def _kind(display: str) -> int:
    if display in _KINDS:
        return _KINDS[display]
    if display.startswith("ruby"):
        return INLINE
    if display.startswith(("inline", "-webkit-inline-", "math")):
        return ATOM
    is_group = display.startswith("table-") and not display.startswith(("table-caption", "table-column"))
    return GROUP if is_group else BLOCK


_KINDS = {
    "": NONE,
    "none": NONE,
    "inline": INLINE,
    "contents": INLINE,
    "inline list-item": INLINE,
    "table-cell": CELL,
    "table-row": ROW,
}

_kept = lru_cache(maxsize=4096)(style_of)
NO_BOX = style_of("none")
