"""Marked entries of lists at keys: the choice of a key that moved there, or of one that had two.

In some lists the choice follows the mark, in others it does not: the page does not say which.

Some libraries move `aria-selected` with the mark, and the field names another entry once a text has sorted
the list (cmdk). In others, the entry with `aria-selected` was chosen before, and the field shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from msgspec.structs import replace

from replaykit.errors import ReplaykitError
from replaykit.grading.policies.events.event import ENTER, MOVING, Event, is_printable
from replaykit.grading.policies.events.last_gesture import field_at
from replaykit.grading.values.normal_form import fold
from replaykit.replay.dom import Dom, Node
from replaykit.trajectory.action import Element, Names, Press

_TAKING = (*ENTER, "Tab")
_LISTS = ("listbox", "option")
_LISTBOX = "[role=listbox]"
_BOTH = 2
"""Pages on which a list is found: before a key and after it."""

MARK = "mark"
"""Key of what is known of an event: the names of the entry that is marked after it."""


def with_marks(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events; a key that moves in a list knows which entry is marked then, by the next key."""
    found = tuple(_with_doubts(events))
    for first, second in pairwise(event for event in found if event.kind == "action"):
        if _moves(first) and isinstance(second.action, Press) and second.step == (first.step or 0) + 1:
            names = _marked(first.element or Element(), second)
            if names:
                first.known[MARK] = names
    _learn_last(found)
    return found


def _learn_last(events: Iterable[Event]) -> None:
    """Let the last key that moves in a list know the entries that are marked until the next action."""
    last: Event | None = None
    for event in events:
        if event.kind == "action":
            last = event if MARK not in event.known and _moves(event) else None
        elif event.kind == "page" and last is not None and event.tab == last.tab:
            names = _moved_to(last, event)
            if names:
                last.known[MARK] = (*last.known.get(MARK, ()), *names)


def _moved_to(key: Event, seen: Event) -> tuple[str, ...]:
    """Return the names of the entries of a list that have a mark after a key; none if it did not move."""
    element = key.element or Element()
    try:
        places = [field_at(one.dom, element.css) for one in (key.page, seen.page) if one is not None]
        lists = [one.closest(_LISTBOX) for one in places if one is not None]
        marked = [_entries(one) for one in lists if one is not None]
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return ()
    was, now = marked if len(marked) == _BOTH else ({}, {})
    is_new = bool(now.keys() - was.keys()) and all(now.values())
    return tuple(name for names in now.values() for name in names) if is_new else ()


def _entries(around: Node) -> dict[int, list[str]]:
    """Return the entries of a list that have a mark of any kind, by place, and what they are called."""
    active = around.attribute("aria-activedescendant")
    own = [one for one in around.dom.pierce_all("[role=option]") if _is_in(one, around)]
    return {
        at: _called(one)
        for at, one in enumerate(own)
        if one.attribute("aria-selected") == "true"
        or one.attribute("tabindex") == "0"
        or (active and one.attribute("id") == active)
    }


def _moves(event: Event) -> bool:
    action, element = event.action, event.element
    if not isinstance(action, Press) or element is None or element.role not in _LISTS:
        return False
    return action.key in MOVING or is_printable(action.key)


def _marked(before: Element, after: Event) -> tuple[str, ...]:
    """Return the names of the entry that has the mark or the focus in a list, or none."""
    now = after.element or Element()
    if now.css == before.css and now.role == "listbox":
        return tuple(((now.names.active if now.names is not None else None) or "").splitlines())
    is_entry = now.role == "option" and now.css != before.css
    is_same = before.role == "listbox" or _may_be_beside(before.css or "", now.css or "")
    return tuple(name.raw for name in after.names) if is_entry and is_same else ()


def _may_be_beside(*paths: str) -> bool:
    """Whether the elements around two entries may be the same: a path that is an id does not say it."""
    around = {path.rpartition(" > ")[0] for path in paths} - {""}
    return len(around) < len(paths)


def _called(entry: Node) -> list[str]:
    """Return what an entry is called or worth; empty where another element names it."""
    found = (entry.text_content, *map(entry.attribute, ("aria-label", "title", "value", "data-value")))
    return [] if entry.attribute("aria-labelledby") else [one.strip() for one in found if one and one.strip()]


# Two marks


def _with_doubts(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events; a key that takes one of two entries takes neither for certain."""
    for event in events:
        key = event.action if isinstance(event.action, Press) else None
        names = _doubted(event, key) if key is not None else ()
        if key is None or not names:
            yield event
            continue
        doubted = replace(event, action=_naming(key, None))
        doubted.known[MARK] = names
        yield doubted
        for name in names:
            code = f"choice@{event.step or 0}"
            yield replace(
                event, kind="maybe", action=_naming(key, name), hides=frozenset({"action"}), code=code
            )


def _naming(key: Press, active: str | None) -> Press:
    """Return a key on an element that marks another entry, or none."""
    element = key.element or Element()
    names = replace(element.names or Names(), active=active)
    return replace(key, element=replace(element, names=names))


def _doubted(event: Event, action: Press) -> tuple[str, ...]:
    """Return the names of both entries that a key may have taken; empty where there is no doubt."""
    element = action.element or Element()
    active = element.names.active if element.names is not None else None
    id = (element.attributes or {}).get("aria-activedescendant")
    is_taking = event.kind == "action" and action.key in _TAKING
    if not is_taking or not active or not id or isinstance(event.dom, tuple):
        return ()
    try:
        other = _other_mark(event.dom, id, element.value or element.text or "")
    except ReplaykitError:  # faults of the page are reported by the rule that has to read it
        return ()
    return (active, other) if other else ()


def _other_mark(dom: Dom, id: str, held: str) -> str | None:
    """Return the name of the entry that has the mark in place of the named one, unless the field shows it."""
    options = dom.pierce_all("[role=option]")
    named = next((one for one in options if one.attribute("id") == id), None)
    around = named.closest("[role=listbox]") if named is not None else None
    if named is None or around is None or named.attribute("aria-selected") != "false":
        return None
    if around.attribute("aria-multiselectable") == "true":
        return None
    marked = [one for one in options if one.attribute("aria-selected") == "true" and _is_in(one, around)]
    name = marked[0].text_content.strip() if len(marked) == 1 else ""
    return name if name and fold(name) not in fold(held) else None


def _is_in(part: Node, around: Node) -> bool:
    return around.row < part.row < around.dom.tree.end[around.row]
