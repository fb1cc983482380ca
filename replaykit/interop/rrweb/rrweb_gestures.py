"""Who caused a click or an input of an rrweb stream: a gesture, or something that no gesture shows.

rrweb also reports clicks that scripts dispatch and values that scripts set. A press comes before a real
click, and the focus before what is typed. A stream that records neither says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MOUSE, INPUT, TOUCH = 2, 5, 6
"""Sources of increments that matter here."""

DOWN, CLICK, FOCUS, BLUR, TOUCH_START = 1, 2, 5, 6, 7
"""Kinds of mouse interactions that matter here."""

IMPLIED_MS = 1000
"""A press explains what its element, or one that it stands for, changes within this time."""


class RrwebGestures:
    """The presses and the focus of one page. `presses`, `focus`: whether the stream records them at all."""

    def __init__(self, *, presses: bool, focus: bool) -> None:
        self._has_presses, self._has_focus = presses, focus
        self._focused: set[Any] = set()
        #: Whether an element that is known by another id now may have the focus.
        self._is_focus_unknown = False
        self._is_pressed = False
        self._pressed_at: int | None = None

    def see(self, kind: Any, id: Any, t: int) -> None:
        """Take a mouse interaction that is no click."""
        if kind in (DOWN, TOUCH_START):
            self._is_pressed, self._pressed_at = True, t
        elif kind == FOCUS:
            self._focused.add(id)
            self._is_focus_unknown = False
        elif kind == BLUR:
            self._focused.discard(id)

    def leave(self) -> None:
        """Report another document, in which nothing has the focus yet."""
        self._focused.clear()
        self._is_focus_unknown = self._is_pressed = False

    def renumber(self) -> None:
        """Report a full snapshot: a checkpoint gives all elements other ids, and moves no focus."""
        self._is_focus_unknown = self._is_focus_unknown or bool(self._focused)
        self._focused.clear()

    def is_click(self) -> bool:
        """Whether a click now is the end of a press; a press ends in one click."""
        is_due = self._is_pressed or not self._has_presses
        self._is_pressed = False
        return is_due

    def is_entry(self, data: dict[str, Any], t: int) -> bool:
        """Whether an input now may be an entry: in a field with the focus, or after a press."""
        if data.get("userTriggered") is False:
            return False
        is_near = self._pressed_at is not None and t - self._pressed_at <= IMPLIED_MS
        is_open = not self._has_focus or self._is_focus_unknown
        return is_open or is_near or data.get("id") in self._focused


def recorded_kinds(events: Iterable[dict[str, Any]]) -> tuple[bool, bool]:
    """Return whether a stream records presses, and whether it records the focus."""
    kinds = {one["data"].get("type") for one in events if _is_mouse(one) and _is_scalar(one["data"])}
    return bool(kinds & {DOWN, TOUCH_START}), FOCUS in kinds


def _is_mouse(event: dict[str, Any]) -> bool:
    data = event["data"]
    return event["type"] == 3 and isinstance(data, dict) and data.get("source") == MOUSE


def _is_scalar(data: dict[str, Any]) -> bool:
    return isinstance(data.get("type"), int)
