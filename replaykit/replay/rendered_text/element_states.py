"""Which elements of a page are shown, skipped or have no box: what the style column and a few tags say."""

from __future__ import annotations

from typing import NamedTuple

from replaykit.replay.dom_tree import Tree, words
from replaykit.replay.form_values import integer
from replaykit.replay.rendered_text.style_palette import ATOM, BLOCK, INLINE, NO_BOX, NONE, Style, palette
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, OTHER, SVG

# States of an element. MENU_PART: an option or group of a drop-down list, which shows for the list only.
SHOWN, MENU_PART, SKIPPED, UNBOXED = range(4)

# Elements that a browser draws itself: what they contain is never laid out.
_DRAWN = words(
    "audio canvas embed frame iframe img input meter noscript object option progress template textarea video"
)
# One thing on a line even where their style says inline.
_ATOMS = words(
    "audio button canvas embed fieldset frame iframe img input meter object option progress select textarea "
    "video"
)
_LISTS = words("select optgroup")
_MENU_PARTS = words("option optgroup")
_SPECIAL = _DRAWN | _LISTS | {"details"}
_SVG_BLOCKS = words("text foreignObject")
_SVG_TEXTS = words("text tspan textPath foreignObject")


class Inside(NamedTuple):
    """Effect of an element on its direct content."""

    state: int = SHOWN
    """`SHOWN`; or `SKIPPED`, `UNBOXED`: so is everything inside."""
    holds_text: bool = True
    """Whether texts show."""
    is_folded: bool = False
    """It is closed details: only its summary shows."""
    summary: int = -1
    """Row of that summary; -1 without one."""
    is_list: bool = False
    """Only options and groups of options show."""
    is_menu: bool = False
    """They are those of a drop-down list."""


PLAIN = Inside()
_TEXTLESS = Inside(holds_text=False)
_SKIPPED = Inside(state=SKIPPED)
_UNBOXED = Inside(state=UNBOXED)


class ElementStates:
    """States and kinds of the elements of one page, by row."""

    def __init__(self, tree: Tree, *, skips_far: bool = True) -> None:
        """Read the styles of a page; without `skips_far` as if all of it were near the screen."""
        self.tree = tree
        styles = palette(tree.snapshot.head.styles)
        if not skips_far:
            styles = [style._replace(may_skip=style.may_skip and not style.is_far) for style in styles]
        self._palette = [*styles, NO_BOX]
        self._inside: dict[int, Inside] = {}

    def style(self, row: int) -> Style:
        """Return the style of an element."""
        # -1 (hidden by an ancestor) is the last entry, which has no box.
        return self._palette[self.tree.snapshot.style[self.tree.number[row]]]

    def kind(self, row: int) -> int:
        """Return the kind of box that an element makes."""
        tree, style = self.tree, self.style(row)
        if style.kind == NONE:
            return NONE
        if tree.kind[row] == SVG and tree.kind[tree.parent[row]] == SVG:
            return BLOCK if tree.name[row] in _SVG_BLOCKS else INLINE
        if style.kind != INLINE or style.display == "contents":
            return style.kind
        is_atom = tree.name[row] in _ATOMS if tree.kind[row] == HTML else _is_drawing(tree, row)
        return ATOM if is_atom else INLINE

    def state(self, row: int) -> int:
        """Return the state of an element."""
        return self.state_in(row, self.around(row))

    def around(self, row: int) -> Inside:
        """Return what a node is directly inside of."""
        path, above, parent = [], self.tree.parent[row], self.tree.parent
        while above not in self._inside and self.tree.kind[above] != DOCUMENT:
            path.append(above)
            above = parent[above]
        inside = self._inside.get(above, PLAIN)
        for above in reversed(path):
            inside = self._inside[above] = self._below(above, inside)
        return inside

    def _below(self, row: int, around: Inside) -> Inside:
        if self.tree.kind[row] > OTHER:  # a shadow root
            return PLAIN if around.state == SHOWN else around
        return self.inside(row, self.state_in(row, around), around)

    def state_in(self, row: int, around: Inside) -> int:
        """Return the state of an element; `around`: what it is directly inside of."""
        tree, style = self.tree, self.style(row)
        is_never = tree.name[row] == "noscript" and tree.kind[row] == HTML
        if around.state != SHOWN:
            is_gone = around.state == UNBOXED and style.display == "contents" and not is_never
            return SKIPPED if is_gone else around.state
        if around.is_folded and row != around.summary:
            return SKIPPED
        if style.kind == NONE or is_never or (around.is_list and not tree.is_html(row, *_MENU_PARTS)):
            return UNBOXED
        return MENU_PART if around.is_menu else SHOWN

    def inside(self, row: int, state: int, around: Inside) -> Inside:
        """Return what an element of that state means for what is inside of it."""
        if around.state != SHOWN:
            return around
        if state >= SKIPPED:
            return _SKIPPED if state == SKIPPED else _UNBOXED
        tree, tag = self.tree, self.tree.name[row]
        if self.style(row).may_skip and self.kind(row) != INLINE:
            return _SKIPPED
        if tree.kind[row] == HTML:
            return self._inside_html(row, tag, around) if tag in _SPECIAL else PLAIN
        if tree.kind[row] != SVG:
            return PLAIN
        return PLAIN if tag in _SVG_TEXTS or (tag == "a" and around.holds_text) else _TEXTLESS

    def _inside_html(self, row: int, tag: str, around: Inside) -> Inside:
        if tag in _DRAWN:
            return _UNBOXED
        if tag in _LISTS:
            is_menu = around.is_menu if tag == "optgroup" else self._is_menu(row)
            return Inside(holds_text=False, is_list=True, is_menu=is_menu)
        if self._plain(row, "open") is not None:
            return PLAIN
        tree = self.tree
        summary = next((child for child in tree.elements(row) if tree.is_html(child, "summary")), -1)
        return Inside(holds_text=False, is_folded=True, summary=summary)

    def _is_menu(self, row: int) -> bool:
        size = integer(self._plain(row, "size") or "")
        return size <= 1 if self._plain(row, "multiple") is None else size == 1

    def _plain(self, row: int, name: str) -> str | None:
        """Return the value of an attribute of that very name, without a namespace."""
        pairs = self.tree.snapshot.attributes.get(row, [])
        return next((pairs[at + 1] for at in range(0, len(pairs), 2) if pairs[at] == name), None)


def _is_drawing(tree: Tree, row: int) -> bool:
    return tree.kind[row] == SVG and tree.name[row] == "svg"
