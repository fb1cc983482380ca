"""DOM events as actions: keys and inputs of one field are one text typed, scrolls in a row are one scroll.

An event holds neither its modifiers nor the type of its field, and a script's events look like an agent's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from replaykit.interop.password_masking import takes_password
from replaykit.trajectory.action import (
    Action,
    Click,
    Element,
    Fill,
    KeyboardType,
    Press,
    Scroll,
    SelectOption,
    Unknown,
)
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import INT_MAX

MODIFIERS = ("Control", "Alt", "Meta", "AltGraph")
"""Keys that make a chord of the next one."""

EDITING = ("Backspace", "Delete", "Shift", "CapsLock", "Process", "Unidentified", "Dead")
"""Keys that belong to typing; so do those of one character."""


class EventTarget(Struct, kw_only=True):
    """The element of an event."""

    tagName: str = ""
    id: str = ""
    className: Any = None
    textContent: str | None = None
    xpath: str = ""


class ClawbenchEvent(Struct, kw_only=True):
    """One line of `actions.jsonl`."""

    type: str
    timestamp: float | None = None
    url: str = ""
    title: str | None = None
    target: EventTarget | None = None
    x: float | None = None
    y: float | None = None
    key: str | None = None
    value: str | None = None
    scrollX: float = 0
    scrollY: float = 0

    def place(self) -> tuple[str, str]:
        """Return where it happened: URL and XPath."""
        return self.url, self.target.xpath if self.target else ""


class ClawbenchGesture(Struct, kw_only=True):
    """One gesture of a person or agent, and its events; a page that loads has no action."""

    events: list[ClawbenchEvent]
    raws: list[dict[str, Any]]
    action: Action | None = None

    @property
    def t(self) -> float | None:
        """Time of the first event, ms since 1970."""
        return next((one.timestamp for one in self.events if one.timestamp is not None), None)

    @property
    def times(self) -> list[int]:
        """Times of all events, ms since 1970."""
        return [
            int(one.timestamp) for one in self.events if one.timestamp is not None and one.timestamp < 2**53
        ]

    def add(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        """Add an event that belongs to it."""
        self.events.append(event)
        self.raws.append(raw)


class Gestures:
    """Puts events together, in their order.

    `is_secret`: whether a text is known to be a password; `keeps_secrets`: whether typed passwords stay.
    """

    def __init__(self, is_secret: Callable[[str], bool] = lambda _: False, *, keeps_secrets: bool) -> None:
        self._is_secret = is_secret
        self._keeps_secrets = keeps_secrets
        self._last: dict[tuple[str, str], ClawbenchGesture] = {}
        self._typing: ClawbenchGesture | None = None
        self._found: list[ClawbenchGesture] = []
        self._held: list[tuple[ClawbenchEvent, dict[str, Any]]] = []
        self._scrolled: dict[str, tuple[float, float]] = {}

    def of(self, lines: list[tuple[ClawbenchEvent, dict[str, Any]]]) -> Iterator[ClawbenchGesture]:
        """Yield what was done by the events given."""
        for event, raw in lines:
            handle = _HANDLERS.get(event.type, Gestures._other)
            handle(self, event, raw)
        self._end_typing()
        for event, raw in self._held:
            self._new(event, raw, Press(key=event.key or ""))
        for one in self._found:
            if not self._keeps_secrets and self._types_password(one):
                one.raws = [_masked(raw) for raw in one.raws]
        yield from self._found

    def _types_password(self, one: ClawbenchGesture) -> bool:
        """Whether events hold what was typed, character by character, where it is a password."""
        elements = [_element(event) for event in one.events]
        typed = one.action.value if isinstance(one.action, Fill | KeyboardType) else ""
        return self._is_secret(typed) or any(
            found is not None and takes_password(found) for found in elements
        )

    def _new(self, event: ClawbenchEvent, raw: dict[str, Any], action: Action | None) -> None:
        self._end_typing()
        self._found.append(ClawbenchGesture(events=[event], raws=[raw], action=action))
        self._last[event.place()] = self._found[-1]

    def _end_typing(self) -> None:
        if self._typing is not None:
            self._typing.action = _typed(self._typing.events)
            self._found.append(self._typing)
            self._last[self._typing.events[0].place()] = self._typing
            self._typing = None

    def _input(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        """Take an input: of a list it is a choice, of a box that was clicked a consequence, else typing."""
        if _is_choice(event):
            self._choose(event, raw)
        elif (clicked := self._clicked(event)) is not None:
            clicked.add(event, raw)
        else:
            self._type(event, raw)

    def _clicked(self, event: ClawbenchEvent) -> ClawbenchGesture | None:
        """Return the click that an event follows from: it was on the same element, whose value it left."""
        last = self._found[-1] if self._found and self._typing is None else None
        if last is None or not isinstance(last.action, Click) or last.events[0].place() != event.place():
            return None
        left = last.events[0].value
        return last if left == event.value or (left is None and event.type == "change") else None

    def _choose(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        last = self._found[-1] if self._found and self._typing is None else None
        values = () if event.value is None else (event.value,)
        action = SelectOption(element=_element(event), values=values)
        if last is not None and last.action == action and last.events[0].type != event.type:
            last.add(event, raw)
        else:
            self._new(event, raw, action)

    def _type(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        if self._typing is None or self._typing.events[0].place() != event.place():
            self._end_typing()
            self._typing = ClawbenchGesture(events=[], raws=[])
        self._typing.add(event, raw)

    def _join(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        """Add a consequence to what was done last."""
        last = self._typing or (self._found[-1] if self._found else None)
        if last is None or (last.action is None and last is not self._typing):
            self._other(event, raw)
        else:
            last.add(event, raw)

    def _keydown(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        key = event.key or ""
        if key in MODIFIERS:
            self._held.append((event, raw))
        elif self._held:
            self._chord(event, raw)
        elif len(key) == 1 or key in EDITING:
            self._type(event, raw)
        else:
            self._new(event, raw, Press(key=key, element=_element(event)))

    def _chord(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        held, self._held = self._held, []
        keys = dict.fromkeys(one.key or "" for one, _ in held)
        self._new(event, raw, Press(key="+".join([*keys, event.key or ""]), element=_element(event)))
        self._found[-1].events[:0] = [one for one, _ in held]
        self._found[-1].raws[:0] = [one for _, one in held]

    def _keyup(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        if event.key in MODIFIERS and self._held:
            (pressed, first), *self._held = self._held
            self._new(pressed, first, Press(key=pressed.key or ""))
        self._join(event, raw)

    def _change(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        """Take a change: it repeats what was chosen, clicked or typed, or what a script filled in."""
        last = self._last.get(event.place()) if self._typing is None else None
        if _is_choice(event):
            self._choose(event, raw)
        elif (clicked := self._clicked(event)) is not None:
            clicked.add(event, raw)
        elif last is not None and isinstance(last.action, Fill) and last.action.value == event.value:
            last.add(event, raw)
        else:
            self._type(event, raw)

    def _click(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        point = None if event.x is None or event.y is None else (_px(event.x), _px(event.y))
        self._new(event, raw, Click(element=_element(event), point=point))

    def _scroll(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        x, y = self._scrolled.get(event.url, (0.0, 0.0))
        self._scrolled[event.url] = (event.scrollX, event.scrollY)
        dx, dy = _px(event.scrollX - x), _px(event.scrollY - y)
        last = self._found[-1] if self._found and self._typing is None else None
        if last is not None and isinstance(last.action, Scroll) and last.events[0].url == event.url:
            last.add(event, raw)
            last.action = Scroll(dx=_px(last.action.dx + dx), dy=_px(last.action.dy + dy))
        else:
            self._new(event, raw, Scroll(dx=dx, dy=dy))

    def _load(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        self._new(event, raw, None)

    def _other(self, event: ClawbenchEvent, raw: dict[str, Any]) -> None:
        self._new(event, raw, Unknown(name=event.type[:64] or "event", raw=event.value or ""))


_HANDLERS = {
    "keydown": Gestures._keydown,
    "keyup": Gestures._keyup,
    "input": Gestures._input,
    "change": Gestures._change,
    "click": Gestures._click,
    "scroll": Gestures._scroll,
    "submit": Gestures._join,
    "pageLoad": Gestures._load,
}


def _is_choice(event: ClawbenchEvent) -> bool:
    return event.target is not None and event.target.tagName.upper() == "SELECT"


def _masked(raw: dict[str, Any]) -> dict[str, Any]:
    """Return an event without what it reveals of a password: its character, and the part typed so far."""
    is_typed = len(str(raw.get("key") or "")) == 1
    key = {"key": MASKED} if is_typed else {}
    return {**raw, **key, **({"value": MASKED} if raw.get("value") else {})}


def _typed(events: list[ClawbenchEvent]) -> Action:
    """Return what was typed: the field's last value, else the keys."""
    values = [event.value for event in events if event.value is not None]
    element = _element(events[-1])
    if values and element is not None:
        return Fill(element=element, value=values[-1])
    keys = [event.key for event in events if event.type == "keydown" and event.key and len(event.key) == 1]
    return KeyboardType(element=element, value="".join(keys))


def _element(event: ClawbenchEvent) -> Element | None:
    target = event.target
    if target is None or not (target.tagName or target.xpath):
        return None
    named = {"id": target.id, "class": target.className}
    attributes = {key: value[:1024] for key, value in named.items() if isinstance(value, str) and value}
    return Element(
        tag=target.tagName.lower() or None,
        text=target.textContent or None,
        xpath=target.xpath or None,
        attributes=attributes or None,
    )


def _px(value: float) -> int:
    return round(max(-INT_MAX, min(INT_MAX, value)))
