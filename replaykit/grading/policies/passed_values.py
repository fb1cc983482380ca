"""Values that keys only passed through: who steps a number from 5 to 7 has not asked for 6.

Own module: it looks at what follows an entry, as text_deletions looks at what went before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from replaykit.grading.policies.events.event import Event, is_moving
from replaykit.grading.policies.events.scope_window import Held
from replaykit.trajectory.action import Element

_SCALES = ("slider", "spinbutton")
_NUMBERS = ("number", "range")


def passed_values(actions: Sequence[Held]) -> frozenset[int]:
    """Return the places of entries in numbers and sliders from which the next key moved on."""
    done = [held for held in actions if held.event.kind == "action"]
    return frozenset(_passed(done))


def _passed(done: list[Held]) -> Iterator[int]:
    """Yield the places of keys, and of what they entered, before the next key on the same scale."""
    moved: list[Held] = []
    for held, following in pairwise(done):
        is_entered = len(moved) == 1 and held.event.tag == "fill" and _is_at(moved[-1], held)
        moved = [*moved, held] if is_entered else [held] if _moves(held.event) else []
        if moved and _moves(following.event) and _is_at(held, following):
            yield from (one.place for one in moved)


def _is_at(one: Held, other: Held) -> bool:
    """Whether two actions are on one element."""
    places = {held.event.element.css if held.event.element is not None else None for held in (one, other)}
    return len(places) == 1 and None not in places


def _moves(event: Event) -> bool:
    """Whether a key moves in a scale."""
    element = event.element or Element()
    is_scale = element.role in _SCALES or (element.tag == "input" and element.type in _NUMBERS)
    return is_scale and is_moving(event.action)
