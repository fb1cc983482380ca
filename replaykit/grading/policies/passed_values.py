"""Values that keys only passed through: who steps a number from 5 to 7 has not asked for 6.

Own module: it looks at what follows an entry, as text_deletions looks at what went before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from replaykit.grading.policies.events.event import Event, is_moving, is_printable
from replaykit.grading.policies.events.plain_widgets.confirmed_choices import confirmed
from replaykit.grading.policies.events.scope_window import Held
from replaykit.grading.policies.events.widgets_around import is_shut
from replaykit.trajectory.action import Element, Fill, Press

_SCALES = ("slider", "spinbutton")
_NUMBERS = ("number", "range")


def passed_values(actions: Sequence[Held]) -> frozenset[int]:
    """Return the places of entries in numbers and sliders from which the next key or button moved on."""
    done = [place for place, held in enumerate(actions) if held.event.kind == "action"]
    passed = set(_passed([actions[place] for place in done]))
    for place, following in pairwise(done):
        if actions[place].place in passed:
            passed.update(one.place for one in actions[place:following] if isinstance(one.event.action, Fill))
    return frozenset(passed)


def _passed(done: list[Held]) -> Iterator[int]:
    """Yield the places of steps, and of what they entered, before the next step on the same scale."""
    moved: list[Held] = []
    for held, following in pairwise(done):
        scale = _scale(held.event)
        is_entered = (
            len(moved) == 1 and held.event.tag == "fill" and _css(held.event) == _scale(moved[0].event)
        )
        moved = [*moved, held] if is_entered else [held] if scale is not None else []
        if moved and _scale(moved[0].event) == _scale(following.event):
            yield from (one.place for one in moved)


def _scale(event: Event) -> str | None:
    """Return the path of the scale that a key moved in, or that a button has stepped.

    Buttons of a scale that is no field are beside each other. Who clicks a track enters a value at once.
    """
    if _moves(event):
        return _css(event)
    numbers = [_css(one) or "" for one in confirmed(event) if isinstance(one.action, Fill)]
    if not numbers or _is_part_of_slider(event, numbers[0]):
        return None
    return numbers[0] if numbers[0] != _css(event) else numbers[0].rpartition(" > ")[0]


def _is_part_of_slider(event: Event, number: str) -> bool:
    return number == _css(event) and event.role != "button"


def _css(event: Event) -> str | None:
    return event.element.css if event.element is not None else None


def _moves(event: Event) -> bool:
    """Whether a key moves in a scale, or in a list that is closed."""
    element = event.element or Element()
    if is_shut(element):
        return isinstance(event.action, Press) and (is_moving(event.action) or is_printable(event.action.key))
    is_scale = element.role in _SCALES or (element.tag == "input" and element.type in _NUMBERS)
    return is_scale and is_moving(event.action)
