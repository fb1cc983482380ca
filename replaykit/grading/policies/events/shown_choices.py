"""Choices that only the page afterwards shows: lists without roles, and boxes that a row sets.

A list that a page built of plain elements declares nothing. That an entry of it was chosen shows where an
element that was used before takes the name of the entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import ENTER, SPACE, is_printable, types_text
from replaykit.grading.policies.events.last_gesture import field_at, is_in
from replaykit.grading.policies.events.widgets_around import ENTRIES, LEVELS_MAX, PAGES
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Node
from replaykit.replay.run_state import Page
from replaykit.snapshot.snapshot_format import TEXT
from replaykit.tasks.policy_rules import GROUPS
from replaykit.trajectory.action import (
    ActionBase,
    Check,
    Element,
    Press,
    SelectOption,
    Uncheck,
    tag_of,
)

BEFORE_MAX = 4
"""Gestures before the last one whose targets may show what it chose."""

ROWS_MAX = 200
"""Nodes of an element that may show one choice."""

NAME_MAX = 200
"""Characters of the name of an entry."""

PART_MIN = 3
"""Characters of a part of a name that are enough to know it by."""


class PageChange(NamedTuple):
    """A page before a gesture and after it."""

    before: Page
    after: Page


def shown_choices(gestures: Sequence[ActionBase], change: PageChange) -> Iterator[ActionBase]:
    """Yield the choices that the last of these gestures made, by what the page shows after it."""
    last, element = gestures[-1], gestures[-1].element
    roles = (*ENTRIES, "combobox") if isinstance(last, Press) else ENTRIES
    if element is None or element.role not in roles or element.tag in PAGES or not _may_choose(last):
        return
    try:
        yield from _boxes(element, change)
        yield from _named(gestures, element, change)
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return


def _may_choose(action: ActionBase) -> bool:
    if not isinstance(action, Press):
        return tag_of(action) in GROUPS["@activate"] and getattr(action, "button", "left") == "left"
    is_key = action.key in (*ENTER, *SPACE) or action.key.startswith("Arrow") or is_printable(action.key)
    return is_key and not types_text(action.element)


# Texts


def _named(gestures: Sequence[ActionBase], element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what an element took over of the target, or shows of the key that was pressed on it."""
    if isinstance(gestures[-1], Press):
        for text in _new_texts(element.css, change):
            yield _selection(element, text)
    names = {fold(name) for name in (element.text, element.name) if name and len(name) <= NAME_MAX} - {""}
    for shown in _used_before(gestures, element) if names else ():
        for text in _new_texts(shown.css, change):
            yield from (_selection(shown, text, name) for name in names if _is_called(fold(text), name))


def _selection(element: Element, text: str, *names: str) -> ActionBase:
    return SelectOption(element=element, values=(text,), labels=names)


def _used_before(gestures: Sequence[ActionBase], element: Element) -> Iterable[Element]:
    """Return the targets of the gestures before the last one that are apart from its own."""
    earlier = [one.element for one in gestures[-1 - BEFORE_MAX : -1] if one.element is not None]
    return {one.css: one for one in reversed(earlier) if _is_apart(one.css, element.css)}.values()


def _is_apart(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and not is_in(one, other) and not is_in(other, one)


def _is_called(text: str, name: str) -> bool:
    return name in text or (len(text) >= PART_MIN and text in name)


def _new_texts(css: str | None, change: PageChange) -> list[str]:
    """Return the texts that an element shows now and did not show before, or more often."""
    before, after = field_at(change.before.dom, css), field_at(change.after.dom, css)
    if before is None or after is None or max(map(_size, (before, after))) > ROWS_MAX:
        return []
    return list(Counter(_texts(after)) - Counter(_texts(before)))


def _size(node: Node) -> int:
    return node.dom.tree.end[node.row] - node.row


def _texts(node: Node) -> Iterator[str]:
    """Yield the texts in an element and in its shadow trees."""
    tree = node.dom.tree
    for row in range(node.row, tree.end[node.row]):
        text = tree.name[row].strip() if tree.kind[row] == TEXT else ""
        if text and tree.name[tree.parent[row]] not in ("script", "style"):
            yield text


# Boxes


def _boxes(element: Element, change: PageChange) -> Iterator[ActionBase]:
    """Yield what a row did with the box in it that a page built."""
    if element.tag is not None and "-" in element.tag:
        was_marked, is_marked = (_is_marked(field_at(one.dom, element.css)) for one in change)
        if was_marked != is_marked:
            yield Check(element=element) if is_marked else Uncheck(element=element)
    if change.before.lacks((b"aria-checked",)) or change.after.lacks((b"aria-checked",)):
        return
    before, after = (_states(field_at(one.dom, element.css)) for one in change)
    if len(before) == len(after):
        for (_, was), (role, now) in zip(before, after, strict=True):
            if was != now and now == "true":
                yield Check(element=element)
            elif was != now and role in ("checkbox", "switch"):
                yield Uncheck(element=element)


def _is_marked(host: Node | None) -> bool:
    """Whether a custom element shows as checked; its script may keep the state where no attribute is."""
    if host is None or _size(host) > ROWS_MAX:
        return False
    nodes = (Node(host.dom, row) for row in range(host.row, host.dom.tree.end[host.row]))
    marks = ((one.attribute("checked"), one.attribute("class")) for one in nodes if one.is_element)
    return any(checked is not None or "checked" in (names or "").split() for checked, names in marks)


def _states(part: Node | None) -> list[tuple[str, str]]:
    """Return role and state of the boxes in the smallest element around a part that has any."""
    if part is None:
        return []
    tree = part.dom.tree
    for row in (part.row, *islice(tree.ancestors(part.row), LEVELS_MAX)):
        if tree.name[row] in PAGES or tree.end[row] - row > ROWS_MAX:
            break
        nodes = (Node(part.dom, inside) for inside in range(row, tree.end[row]) if tree.is_element(inside))
        states = [(one.attribute("role") or "", one.attribute("aria-checked")) for one in nodes]
        if found := [(role, state) for role, state in states if state is not None]:
            return found
    return []
