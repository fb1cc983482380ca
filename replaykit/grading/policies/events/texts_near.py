"""Texts that may name a field without a name of its own: all of its page but what names other controls.

A field shows no image that could be its name, so a person reads a text beside it as that. A text that stands
in a button only, or nowhere, is the name of no field.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import Event, types_text
from replaykit.grading.policies.events.recorded_targets import page_around, target_of
from replaykit.grading.policies.events.text_conditions import Reading, TextTests
from replaykit.grading.policies.events.widgets_around import is_part_of_slider
from replaykit.replay.dom import Dom, Node
from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import TEXT

TEXTS_MAX = 3000
"""Texts of a page that are read; of a page with more, any may name a field."""

CHARS_MAX = 2**20
"""Characters of them, likewise: texts that are inside of each other are read several times."""

_ROLES = frozenset(
    {"checkbox", "combobox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox"}
)
_NAMED = (
    "a[href], button, option, [role=button], [role=link], [role=menuitem], [role=option], [role=tab], "
    "script, style, template, title"
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
    if texts is None:
        return None
    # A box may be inside of the control that names it, such as a row that is a button.
    outer = target.closest(_NAMED) if target is not None else None
    texts = ([*texts[0], outer.text_content], texts[1]) if outer is not None else texts
    listed = (*texts, page.unlisted_texts)
    return TextsNear(*(tuple(Reading(text, event.step) for text in some) for some in listed))


def _is_field(event: Event) -> bool:
    element = event.element
    if element is None:
        return False
    is_box = element.tag == "input" and element.type in ("checkbox", "radio", "range")
    return types_text(element) or is_box or element.role in _ROLES or is_part_of_slider(event)


def _apart(dom: Dom) -> _Texts | None:
    """Return the texts of no control, and those of controls; None of a page with too many."""
    known = dom.tree.memo(_known)
    if not known:
        owned = list(_outermost(dom.pierce_all(_NAMED)))
        inside = {row for one in owned for row in range(one.row, dom.tree.end[one.row])}
        loose = _bounded(text for text in _loose(dom, inside) if text.strip())
        known.append(None if loose is None else (loose, [one.text_content for one in owned]))
    return known[0]


_Texts = tuple[list[str], list[str]]


def _known(tree: Tree) -> list[_Texts | None]:
    """The texts of a page, filled when they are asked for."""
    return []


def _outermost(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the elements that are inside of no other, in the order of the page."""
    end = 0
    for node in sorted(nodes, key=lambda one: one.row):
        if node.row >= end:
            end = node.dom.tree.end[node.row]
            yield node


def _bounded(texts: Iterable[str]) -> list[str] | None:
    """Return each text once; None where they are too many, or too long."""
    found, left = dict[str, None](), CHARS_MAX
    for text in texts:
        left -= len(text)
        found[text] = None
        if left < 0 or len(found) > TEXTS_MAX:
            return None
    return list(found)


def _loose(dom: Dom, owned: AbstractSet[int]) -> Iterator[str]:
    tree = dom.tree
    texts = [row for row, kind in enumerate(tree.kind) if kind == TEXT and row not in owned]
    yield from (tree.name[row] for row in texts)
    for holder, scope in {tree.parent[row]: tree.scope[row] for row in texts}.items():
        inside = texts[bisect_left(texts, holder) : bisect_left(texts, tree.end[holder])]
        yield "".join(tree.name[row] for row in inside if tree.scope[row] == scope)
    for node in dom.pierce_all(", ".join(f"[{name}]" for name in _NAMING)):
        if node.row not in owned:
            yield from (node.attribute(name) or "" for name in _NAMING)
