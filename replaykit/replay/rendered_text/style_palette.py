"""What the entries of a snapshot's palette of styles say about boxes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from replaykit.replay.dom_tree import words

# Displays that give every child a box of its own: blanks between those are nothing.
_ITEMS = words(
    "flex inline-flex grid inline-grid table inline-table table-row table-row-group table-header-group "
    "table-footer-group table-column-group table-column"
)


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
    """Flags: `c` skips its content, `o` opacity 0, `s` dots, `f` out of flow, `b` `a` `g` generated."""
    is_boxless: bool
    """No box, and none below."""
    is_inline: bool
    """Part of the lines around it."""
    is_atom: bool
    """One thing on the lines around it, with lines of its own."""
    is_piece: bool
    """A piece of a table."""
    is_column: bool
    """A column of a table, or a group of them."""
    is_ruby: bool
    """A ruby, or a part of one."""
    gives_items: bool
    """Its children are boxes of their own."""
    skips: bool
    """What it holds is skipped."""
    is_plain_block: bool
    """A box on lines of its own, and no flag says more."""


_LONGEST = 200
"""Characters of an entry that is kept; those of a browser have fifty."""


def palette(entries: Iterable[str]) -> list[Style]:
    """Read a palette: pages share their few entries, so those are kept."""
    return [_kept(entry) if len(entry) <= _LONGEST else style_of(entry) for entry in entries]


def style_of(entry: str) -> Style:
    """Read a palette entry."""
    display, visibility, collapse, transform, letters, *_ = [*entry.split("|"), "", "", "", "", ""]
    is_atom = display.startswith(("inline-", "inline flow-root", "-webkit-inline", "inline math", "math"))
    is_inline = not is_atom and display.startswith(("inline", "ruby", "contents"))
    is_boxless = display in ("none", "")
    is_piece = display.startswith("table-")
    # `content-visibility` has no effect where size containment has none (CSS Contain 2, 3.1).
    contained = (not is_inline and "table" not in display) or display == "table-cell"
    return Style(
        display=display,
        is_visible=visibility in ("visible", ""),
        collapse=collapse or "collapse",
        transform="" if transform == "none" else transform,
        letters=letters,
        is_boxless=is_boxless,
        is_inline=is_inline,
        is_atom=is_atom,
        is_piece=is_piece,
        is_column=display.startswith("table-column"),
        is_ruby=display.startswith("ruby"),
        gives_items=display in _ITEMS,
        skips="c" in letters and contained,
        is_plain_block=not (is_inline or is_atom or is_boxless or letters),
    )


_kept = lru_cache(maxsize=4096)(style_of)
NO_BOX = style_of("none")
