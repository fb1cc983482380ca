"""Common parts of all gestures: an action in the making, from its first event to the last that belongs to it.

Each kind absorbs the events that are its own (`take`), says when it can wait no longer (`deadline`) and what
it turned out to be (`results`). Times are ms since recording start, on the page's clock.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.page.page_script import PageNode
from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.page_message import is_same, texts_of
from replaykit.trajectory.action import Action, Check, Element, SelectOption, Uncheck, Via

CLICK_WAIT = 500.0
"""A click follows its pointerup, a second click the first, within these ms."""

TOGGLE_WAIT = 5000.0
"""Handlers of a page may take so long between the click on a checkbox and its change, ms."""

TYPING_WAIT = 1000.0
"""Longest pause between two keys of one text, ms."""

HOLD_WAIT = 10_000.0
"""A button may be held down, a drag or a composition be on its way, for these ms."""


class FinishedGesture(Struct, frozen=True, kw_only=True):
    """One action, complete except for its place in a snapshot."""

    action: Action
    """The action; `element.node` is not filled yet."""
    first: PageMessage
    """Its first event."""
    at: float
    """Start, ms."""
    end: float
    """Last event of it, ms."""
    node: PageNode | None = None
    """Where the element is in a push."""
    to: PageMessage | None = None
    """The event on the drop target."""


class Gesture:
    """An action in the making."""

    tentative = False
    """It counts only if no other action follows."""

    def __init__(self, first: PageMessage) -> None:
        self.first = first
        self.last = first.at
        self.since = first.at
        self.parted: list[PageMessage] = []
        """Messages that it took and that turned out to be another gesture's, once it is over."""
        self.over = False
        self.is_gone = False
        """Whether the page took the target away in the task of an event of the pointer."""

    @property
    def element(self) -> Element | None:
        """The control of its first event."""
        return self.first.event.element

    @property
    def deadline(self) -> float:
        """When it is over without another event, ms."""
        return self.last + CLICK_WAIT

    def take(self, message: PageMessage) -> bool:
        """Absorb an event if it belongs here."""
        raise AssertionError(message)

    def results(self) -> list[FinishedGesture]:
        """Return what it turned out to be."""
        raise AssertionError(self)

    def rest(self, at: float) -> None:
        """Note that the page has handled its events: it waits for more from then on only."""
        self.last = max(self.last, at)

    def is_own(self, message: PageMessage) -> bool:
        """Whether an event is on this gesture's control."""
        return self.first.source == message.source and is_same(self.element, message.event.element)

    def result(
        self, action: Action, first: PageMessage | None = None, end: float | None = None
    ) -> FinishedGesture:
        """Wrap an action that began with `first`."""
        start = first or self.first
        at = self.since if start is self.first else start.at
        until = max(at, self.last if end is None else end)
        return FinishedGesture(action=action, first=start, at=at, end=until, node=start.event.node)


class OneEvent(Gesture):
    """One whose first event says all: over at once."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.over = True

    def take(self, message: PageMessage) -> bool:
        """Absorb nothing."""
        return False


def toggle(gesture: Gesture, change: PageMessage, *, trusted: bool) -> FinishedGesture:
    """Return what a change on a checkbox reports; where a label was hit, it stands in `via`."""
    element, node = gesture.element, gesture.first.event.node
    if not is_same(element, change.event.element):
        element, node = behind(gesture.first, change)
    is_set = change.event.data.get("checked") is not False
    kind: type[Check] | type[Uncheck] = Check if is_set else Uncheck
    action = kind(element=element, trusted=trusted)
    return replace(gesture.result(action, end=change.at), node=node)


def behind(hit: PageMessage, control: PageMessage) -> tuple[Element | None, PageNode | None]:
    """Return a control, and where it stands in the snapshot, that was reached through what was hit."""
    label, element = hit.event.element, control.event.element
    via = Via(tag=label.tag, css=label.css) if label else None
    return (replace(element, via=via) if element else None), control.event.node


def choice(change: PageMessage) -> SelectOption:
    """Return what a change on a select reports."""
    return SelectOption(
        element=change.event.element,
        values=texts_of(change, "values") or texts_of(change, "value"),
        labels=texts_of(change, "labels"),
        trusted=change.event.trusted,
    )
