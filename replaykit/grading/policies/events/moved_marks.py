"""Marked entries of lists after the keys that moved there: such a key chooses no other entry.

In some lists the choice follows the mark, in others it does not: the page does not say which.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from replaykit.grading.policies.events.event import MOVING, Event, is_printable
from replaykit.trajectory.action import Element, Press

_LISTS = ("listbox", "option")
MARK = "mark"
"""Key of what is known of an event: the names of the entry that is marked after it."""


def with_marks(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events; a key that moves in a list knows which entry is marked then, by the next key."""
    found = tuple(events)
    for first, second in pairwise(event for event in found if event.kind == "action"):
        if _moves(first) and isinstance(second.action, Press) and second.step == (first.step or 0) + 1:
            names = _marked(first.element or Element(), second)
            if names:
                first.known[MARK] = names
    return found


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
