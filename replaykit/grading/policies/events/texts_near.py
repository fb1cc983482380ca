"""Texts that may name a field without a name of its own: all of its page but what names other controls.

A field shows no picture that could be its name, so a person takes a text beside it for that. A text that stands in a
button only, or nowhere, is the name of no field.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import Event, types_text
from replaykit.grading.policies.events.recorded_targets import page_around, target_of
from replaykit.grading.policies.events.text_conditions import Reading
from replaykit.grading.policies.events.widgets_around import is_part_of_slider
from replaykit.replay.dom import Dom
from replaykit.replay.dom_tree import Tree
from replaykit.snapshot.snapshot_format import TEXT

TEXTS_MAX = 3000
"""Texts of a page that are read; of a page with more, any may name a field."""

_ROLES = frozenset({"checkbox", "combobox", "radio", "searchbox", "slider", "spinbutton", "switch", "textbox"})
_NAMED = (
    "a[href], button, option, [role=button], [role=link], [role=menuitem], [role=option], [role=tab], "
    "script, style, title"
)
"""Elements whose text is theirs alone."""

_NAMING = ("alt", "aria-label", "title")


def texts_near(event: Event) -> tuple[Reading, ...] | None:
    """Return the texts of which one may name the target; None where it is no field, or they are not all known."""
    page = page_around(event)
    if page is None or page.unread or not _is_field(event):
        return None
    target = target_of(event)
    try:
        texts = _loose(target.dom) if target is not None else None
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return None
    if texts is None or len(texts) > TEXTS_MAX:
        return None
    return tuple(Reading(text, event.step) for text in (*texts, *page.unlisted_texts))


def _is_field(event: Event) -> bool:
    element = event.element
    is_own = element is not None and (types_text(element) or element.role in _ROLES)
    return is_own or is_part_of_slider(event)


def _loose(dom: Dom) -> list[str]:
    known = dom.tree.memo(_known)
    if "texts" not in known:
        known["texts"] = list(dict.fromkeys(text for text in _texts(dom) if text.strip()))
    return known["texts"]


def _known(tree: Tree) -> dict[str, list[str]]:
    """The texts of a page, filled when they are asked for."""
    return {}


def _texts(dom: Dom) -> Iterator[str]:
    tree = dom.tree
    owned = {inside for one in dom.pierce_all(_NAMED) for inside in range(one.row, tree.end[one.row])}
    for row, kind in enumerate(tree.kind):
        if kind == TEXT and row not in owned:
            around = tree.parent[row]
            yield tree.name[row]
            yield "".join(tree.name[one] for one in tree.descendants(around) if tree.kind[one] == TEXT and one not in owned)
    for one in dom.pierce_all(", ".join(f"[{name}]" for name in _NAMING)):
        if one.row not in owned:
            yield from (one.attribute(name) or "" for name in _NAMING)
