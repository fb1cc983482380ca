"""Codes that are entered one character a box: what the boxes hold together is what was entered.

Own module: it joins entries of several fields; typed_parts joins those of one.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from replaykit.grading.policies.events.event import Event, types_text
from replaykit.trajectory.action import Click, DblClick, Focus, MouseClick, Press, Tap

_GOING = (Click, DblClick, Focus, MouseClick, Tap)

BOX_MAX = 64
"""Width of a field without a name that may be for one character, px."""

WHOLE = "whole"
"""Key of what is known of an event: the text that it is a part of, in boxes beside it or lines around it."""


def with_codes(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events; an entry into a box knows the whole code, and the last one also enters it."""
    found = list(events)
    for run in _runs([place for place, event in enumerate(found) if event.kind == "action"], found):
        code = "".join(_character(found[place]) for place in run)
        found[run[-1]] = replace(found[run[-1]], values=((_character(found[run[-1]]), code),))
        for place in run:
            found[place].known[WHOLE] = code
    return tuple(found)


def whole_of(event: Event) -> tuple[str, ...]:
    """Return the code or the lines that an entry is a part of, if it is only a part."""
    return (event.known[WHOLE],) if WHOLE in event.known else ()


def _runs(places: list[int], events: list[Event]) -> Iterable[list[int]]:
    """Yield the places of entries into one box after another; clicks on boxes and Tab may come between."""
    run: list[int] = []
    for place in places:
        if run and _is_next(events[run[-1]], events[place]):
            run.append(place)
        elif not (_is_box(events[place]) and _is_aside(events[place])):
            yield from [run] if len(run) > 1 else []
            run = [place] if _character(events[place]) else []
    yield from [run] if len(run) > 1 else []


def _is_next(first: Event, second: Event) -> bool:
    """Whether an entry goes into another box than the one before."""
    one, other = first.element, second.element
    if not _character(second) or one is None or other is None or one.css == other.css:
        return False
    is_beside = (one.css or "").rpartition(" > ")[0] == (other.css or "").rpartition(" > ")[0]
    return is_beside or all((part.attributes or {}).get("maxlength") == "1" for part in (one, other))


def _character(event: Event) -> str:
    """Return the one character that an entry put into a box for one; empty for anything else."""
    texts = [text for option in event.values for text in option] if _is_box(event) else []
    return texts[0] if len(texts) == 1 and len(texts[0]) == 1 else ""


def _is_box(event: Event) -> bool:
    """Whether a field is for one character: it says so, or is small and has no name of its own."""
    element = event.element
    if element is None or element.tag != "input":
        return False
    width = element.box[2] if element.box is not None else BOX_MAX + 1
    is_small = width <= BOX_MAX and not element.name and types_text(element)
    return (element.attributes or {}).get("maxlength") == "1" or is_small


def _is_aside(event: Event) -> bool:
    """Whether an event only goes to a box."""
    return event.action.key == "Tab" if isinstance(event.action, Press) else isinstance(event.action, _GOING)
