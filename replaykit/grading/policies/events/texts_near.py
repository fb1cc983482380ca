"""Texts that may name a field without a name of its own: all of its page but what names other controls.

A field shows no image that could be its name, so a person reads a text beside it as that. A text that stands
in a button only, or nowhere, is the name of no field.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import Event, types_text
from replaykit.grading.policies.events.recorded_targets import page_around, target_of
from replaykit.grading.policies.events.text_conditions import Reading, TextTests
from replaykit.grading.policies.events.widgets_around import is_part_of_slider
from replaykit.replay.dom import Dom
from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import TEXT

TEXTS_MAX = 3000
"""Texts of a page that are read; of a page with more, any may name a field."""

_ROLES = frozenset(
    {"checkbox", "combobox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox"}
)
_NAMED = (
    "a[href], button, option, [role=button], [role=link], [role=menuitem], [role=option], [role=tab], "
    "script, style, title"
)
"""Elements whose text names no other element."""

_NAMING = ("alt", "aria-label", "title")


class TextsNear(NamedTuple):
    """Texts of a page, apart by whose name they may be."""

    loose: tuple[Reading, ...]
    """Texts of no control, of which one may name the field."""
    owned: tuple[Reading, ...]
    """Names of other controls."""
    unlisted: tuple[Reading, ...]
    """Texts of style sheets, and those of the page in other spellings: whose they are is not known."""

    def may_name(self, names: TextTests) -> bool:
        """Whether a field without a name may be called so."""
        if names.truth(self.loose).holds is not False:
            return True
        return names.truth(self.unlisted).holds is not False and names.truth(self.owned).holds is False


def texts_near(event: Event) -> TextsNear | None:
    """Return the texts of which one may name the target; None where it is no field, or not all are known."""
    page = page_around(event)
    if page is None or page.unread or not _is_field(event):
        return None
    target = target_of(event)
    try:
        texts = _apart(target.dom) if target is not None else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return None
    if texts is None or len(texts[0]) > TEXTS_MAX:
        return None
    listed = (*texts, page.unlisted_texts)
    return TextsNear(*(tuple(Reading(text, event.step) for text in some) for some in listed))


def _is_field(event: Event) -> bool:
    element = event.element
    if element is None:
        return False
    is_box = element.tag == "input" and element.type in ("checkbox", "radio", "range")
    return types_text(element) or is_box or element.role in _ROLES or is_part_of_slider(event)


def _apart(dom: Dom) -> tuple[list[str], list[str]]:
    """Return the texts of no control, and those of controls."""
    known = dom.tree.memo(_known)
    if not known:
        named = dom.pierce_all(_NAMED)
        inside = {row for one in named for row in range(one.row, dom.tree.end[one.row])}
        loose = dict.fromkeys(text for text in _loose(dom, inside) if text.strip())
        known.append((list(loose), [one.text_content for one in named]))
    return known[0]


def _known(tree: Tree) -> list[tuple[list[str], list[str]]]:
    """The texts of a page, filled when they are asked for."""
    return []


def _loose(dom: Dom, owned: AbstractSet[int]) -> Iterator[str]:
    tree = dom.tree
    for row, kind in enumerate(tree.kind):
        if kind == TEXT and row not in owned:
            inside = (one for one in tree.descendants(tree.parent[row]) if tree.kind[one] == TEXT)
            yield tree.name[row]
            yield "".join(tree.name[one] for one in inside if one not in owned)
    for node in dom.pierce_all(", ".join(f"[{name}]" for name in _NAMING)):
        if node.row not in owned:
            yield from (node.attribute(name) or "" for name in _NAMING)
