"""Texts that a field holds after a key that deletes.

Own module: they are no entries, and a later entry into the field replaces them.
"""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.grading.policies.events.event import ENTER, Event, has_lines
from replaykit.grading.policies.events.scope_window import Held
from replaykit.grading.policies.events.typed_parts import is_aside, same_target
from replaykit.trajectory.action import Press


def left_by_keys(actions: Iterable[Held]) -> list[Held]:
    """Return the keys after which a field holds a part of its text that no later entry changed at once.

    Editors of many lines are left out: who deletes a word there enters no value.
    """
    found: list[Held] = []
    first: Held | None = None
    last: Held | None = None
    for held in actions:
        if last is not None and _leaves(last.event, held.event):
            continue
        is_edit = _edits(held.event)
        is_more = is_edit and last is not None and same_target(last.event, held.event)
        if last is not None and not is_more:
            found += _left(first, last)
        first = first if is_more else held
        last = held if is_edit else None
    return found + (_left(first, last) if last is not None else [])


def _left(first: Held | None, last: Held) -> list[Held]:
    before = None if first is None else first.event.held_before
    is_new = all(one.raw.strip() and one.raw != before for one in last.event.held)
    return [last] if not last.event.values and is_new else []


def _leaves(last: Event, event: Event) -> bool:
    """Whether an action changes nothing in the field, nor sends it."""
    action = event.action
    is_key = isinstance(action, Press) and action.key.rpartition("+")[2] not in (*ENTER, "Tab", "Escape")
    return is_aside(event) or (is_key and same_target(last, event) and not _edits(event))


def _edits(event: Event) -> bool:
    before, after = event.held_before, [one.raw for one in event.held]
    return event.element is not None and not has_lines(event.element) and bool(after) and after != [before]
