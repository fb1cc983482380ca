"""Lists of plain elements that a key closes: what was open shows which entry it may have taken.

The marked entry has a class, and no role or attribute for it. The focus stays where it was.
Own module: it asks what a person saw on the whole page, and no element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import takewhile

from replaykit.grading.policies.events.event import ENTER, SPACE, has_lines, types_text
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.policies.events.plain_widgets.found_again import found_again
from replaykit.grading.policies.events.plain_widgets.page_change import (
    NAME_MAX,
    PART_MIN,
    ROWS_MAX,
    PageChange,
    around,
    lines_in,
    shown_texts,
    size_of,
    texts_in,
    vanished,
)
from replaykit.grading.policies.events.widgets_around import PAGES, widgets_of
from replaykit.replay.dom import Node
from replaykit.replay.run_state import Page
from replaykit.snapshot.snapshot_format import TEXT
from replaykit.trajectory.action import ActionBase, Element, Names, NodeRef, Press, SelectOption

TEXTS_MAX = 1000
"""Entries of a list that a key may have taken; of a longer one, any name may be meant."""


_CONTROLS = "button, a[href], label, summary, [role=button], [role=link], [role=heading], h1, h2, h3"
"""Elements whose texts are not entries of a list that another element operates."""

_PARTS_MAX = 20
"""New texts of a widget that are searched for parts that the page offered."""


def pressed_entries(
    key: Press, element: Element, change: PageChange, earlier: Page | None
) -> Iterator[ActionBase]:
    """Yield the press of an entry of a list that opened in the gestures before, and that a key closed.

    The field of a palette of commands may go with its list, and so do buttons of a dialog that a key sent.
    """
    is_known = element.names is not None and bool(element.names.active)
    is_palette = element.tag == "input" and key.key in ENTER
    is_pressing = key.key in (*ENTER, *SPACE) and not types_text(element)
    is_pressing &= field_at(change.after.dom, element.css) is not None
    if is_known or earlier is None or not (is_pressing or is_palette):
        return
    taken = [text for text in vanished(change) if text not in shown_texts(earlier)]
    own = _texts_of_controls(change.before) if taken and is_palette else set()
    taken = [text for text in taken if text not in own]
    if taken:
        names = Names(active="\n".join(taken)) if len(taken) <= TEXTS_MAX else None
        entry = Element(tag=element.tag, css=element.css, node=element.node, names=names)
        yield Press(key=key.key, element=entry)


def _texts_of_controls(page: Page) -> set[str]:
    """Return the texts of controls: who presses those has the focus on them."""
    dom = page.dom
    controls = dom.pierce_all(_CONTROLS) if dom is not None else []
    return {text for one in controls for text in (*texts_in(one), *lines_in(one))}


def taken_entries(
    key: Press, element: Element, used: Iterable[Element], change: PageChange
) -> Iterator[ActionBase]:
    """Yield the choice of an entry that a field takes with Enter or Tab, and that a widget shows only then.

    The widget is around the field, or was used before: a list may have its search field elsewhere.
    """
    if key.key not in (*ENTER, "Tab") or not types_text(element):
        return
    places = found_again(element.css, change)
    # A search field makes a tag of any text.
    tag = element.value if _is_emptied_search(element, places[1]) else None
    yield from _taken(element, element, tag, change, *widgets_around(*places))
    for one in used if key.key in ENTER else ():
        yield from _taken(one, element, tag, change, *map(_sized, found_again(one.css, change)))


def _taken(
    named: Element,
    field: Element,
    tag: str | None,
    change: PageChange,
    before: Node | None,
    after: Node | None,
) -> Iterator[ActionBase]:
    """Yield the choice of each text that a widget shows only afterwards, if the page offered it."""
    if before is None or after is None:
        return
    # The widget takes the entry, and not the field: it may be one for searches, in which any text may be.
    place = NodeRef(snapshot=change.before.snapshot_id or "", number=before.number)
    widget = Element(tag=before.tag, name=named.name, names=named.names, node=place)
    offered, seen = shown_texts(change.before), shown_texts(change.after)
    added = Counter(_placed(after)) - Counter(_placed(before))
    shown = dict.fromkeys(text for _, text in added if text in seen)
    for at, text in enumerate(shown):
        is_searched = text not in offered and at < _PARTS_MAX
        is_part = is_searched and any(len(one) >= PART_MIN and one in text for one in offered)
        if text == tag or ((text in offered or is_part) and not _is_held(text, field)):
            yield SelectOption(element=widget, values=(text,))


def _is_emptied_search(element: Element, after: Node | None) -> bool:
    """Whether a search field is empty after a key: it takes tags, which no one searches for."""
    is_search = element.role == "searchbox" or element.type == "search"
    return is_search and after is not None and after.value == ""


def _is_held(text: str, field: Element) -> bool:
    """Whether a field held a text before; where Enter begins a line, it may have been a part of it."""
    return text in (field.value or field.text or "") if has_lines(field) else text == field.value


def _sized(node: Node | None) -> Node | None:
    """Return an element if it is small enough to show one choice."""
    is_widget = node is not None and node.tag not in PAGES and size_of(node) <= ROWS_MAX
    return node if is_widget else None


def widgets_around(before: Node | None, after: Node | None) -> tuple[Node | None, Node | None]:
    """Return the largest element around a field that holds no other control, and the same one afterwards.

    A tag that was taken brings a button of its own.
    """
    sized = [one for one in widgets_of(before) if size_of(one) <= ROWS_MAX] if before is not None else []
    if not sized or after is None:
        return None, None
    *_, same = around(after, len(sized))
    return sized[-1], _sized(same)


def _placed(widget: Node) -> Iterator[tuple[str, str]]:
    """Yield the texts in an element with the tags around each: a text may move from the list to its field."""
    tree = widget.dom.tree
    for row in range(widget.row, tree.end[widget.row]):
        text = tree.name[row].strip() if tree.kind[row] == TEXT else ""
        if 0 < len(text) <= NAME_MAX:
            inside = takewhile(lambda up: up != widget.row, tree.ancestors(row))
            yield " ".join(tree.name[up] for up in inside), text
