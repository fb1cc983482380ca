"""Places on a grid of 1000 by 1000, as Gemini's computer tool gives them, in px of the screenshot.

https://ai.google.dev/gemini-api/docs/computer-use: the functions of Gemini 2.5 and 3 have names of their own;
those of Gemini 3.5 are called as everywhere, and each has an `intent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from replaykit.trajectory import action as actions
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Point
from replaykit.trajectory.step import Event, Step

GRID = 1000
"""Parts of the width and of the height."""

NAMES = frozenset({"click_at", "hover_at", "type_text_at", "scroll_at"})
"""Functions of Gemini 2.5 and 3 with a place that nothing else has."""

_ENDS = frozenset({"destination_x", "destination_y"})

_POINTS = ("point", "to_point")

Size = tuple[int, int]
"""Width and height, px."""


def is_on_grid(name: str, arguments: Any, model: str | None) -> bool:
    """Whether the places of a call are on the grid. `model`: what called it, where that is known."""
    if not isinstance(arguments, dict):
        return False
    plain = name.rpartition(".")[2].lower()
    # Other tools have an `intent` too.
    is_newer = "gemini" in (model or "").lower() and "intent" in arguments
    return plain in NAMES or arguments.keys() >= _ENDS or is_newer


def on_screen(events: list[Event], steps: set[int], size_of: Callable[[Blob | None], Size | None]) -> bool:
    """Put the places of these steps into px, in place; False where a step had no screenshot to measure.

    `size_of`: size of a screenshot, None for anything else. A place out of the grid means that all are px.
    """
    at = [n for n, event in enumerate(events) if isinstance(event, Step) and event.index in steps]
    # No grid has such a place: the agent's tool gave px all along.
    if any(max(point) > GRID for n in at for point in _points(_step(events[n]).action)):
        return True
    sizes = _sizes(events, size_of)
    for n in at:
        step = _step(events[n])
        # The screen rarely changes its size, so the nearest earlier image serves.
        seen = next((size for size in (*sizes[: n + 1][::-1], *sizes[n + 1 :]) if size is not None), None)
        action = _without_places(step.action) if seen is None else _in_pixels(step.action, seen)
        events[n] = replace(step, action=action)
    return any(sizes)


def _step(event: Event) -> Step:
    assert isinstance(event, Step)
    return event


def _sizes(events: list[Event], size_of: Callable[[Blob | None], Size | None]) -> list[Size | None]:
    """Return the size of the screenshot of each event, None where it has none."""
    looks = (one.before if isinstance(one, Step) else one for one in events)
    return [size_of(look.screenshot) if isinstance(look, Observation) else None for look in looks]


def _in_pixels(action: actions.Action, size: Size) -> actions.Action:
    moved: dict[str, Any] = {key: _scaled(point, size) for key, point in _fields(action).items()}
    if action.element is not None and action.element.point is not None:
        moved["element"] = replace(action.element, point=_scaled(action.element.point, size))
    return replace(action, **moved)


def _without_places(action: actions.Action) -> actions.Action:
    """Return an action whose places are not known: what was done stays, where is in the record."""
    element = action.element and replace(action.element, point=None)
    # An element without any field names nothing.
    element = None if element == actions.Element() else element
    match action:
        case actions.MouseDown() | actions.MouseUp():
            return actions.Unknown(name=str(action.__struct_config__.tag))
        case actions.MouseClick():
            return actions.Click(element=element, button=action.button, modifiers=action.modifiers)
        case actions.MouseDblClick():
            return actions.DblClick(element=element, modifiers=action.modifiers)
        case actions.MouseMove():
            return actions.Hover(element=element)
    return replace(action, element=element, **dict.fromkeys(_fields(action)))


def _scaled(point: Point, size: Size) -> Point:
    x, y = (round(part * side / GRID) for part, side in zip(point, size, strict=True))
    return (x, y)


def _fields(action: actions.Action) -> Mapping[str, Any]:
    found = {name: getattr(action, name, None) for name in _POINTS}
    return {name: point for name, point in found.items() if point is not None}


def _points(action: actions.Action) -> list[Point]:
    own = list(_fields(action).values())
    return own + ([action.element.point] if action.element and action.element.point else [])
