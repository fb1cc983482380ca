"""Gestures of the pointer: clicks, checks, drags, wheels."""

from __future__ import annotations

from math import dist

from msgspec.structs import replace

from replaykit.recorder.page.page_script import PageNode
from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.gestures.gesture import (
    CLICK_WAIT,
    HOLD_WAIT,
    TOGGLE_WAIT,
    FinishedGesture,
    Gesture,
    behind,
    choice,
    toggle,
)
from replaykit.recorder.session.page_message import (
    button_of,
    control_of,
    is_button,
    is_command,
    is_label,
    is_of_click,
    is_same,
    is_select,
    is_stray,
    is_toggle,
    is_upload,
    modifiers_of,
    number_of,
    point_of,
    text_of,
)
from replaykit.trajectory.action import Click, DblClick, DragAndDrop, Element, Fill, MouseClick, Scroll

DRAG_MIN = 10.0
"""A pointer that moved less than this is still, CSS px."""

SAME_SPOT = 5.0
"""Clicks that are no further apart may be one double click, CSS px."""

SCROLL_WAIT = 200.0
"""A scroll is over when nothing moved for these ms."""

BUTTONS = frozenset({"button", "a"})
"""Tags of controls that stand for no other."""

STRAY_WAIT = 300.0
"""Scrolling of unknown cause is an action only if none follows for these ms: drivers scroll, then click."""


class Pointing(Gesture):
    """From a trusted pointerdown: click, double click, check, drag, or a button other than the first."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.up: PageMessage | None = None
        self.again: PageMessage | None = None
        self._latest, self._rested = [first], first.at
        self.chosen: PageMessage | None = None
        self.clicks: list[PageMessage] = [first] if first.event.name == "click" else []
        self.hit = self.element
        self.passed_on: PageMessage | None = None
        self.toggled: PageMessage | None = None
        self.dropped: PageMessage | None = None
        self.is_double = False
        self.is_drag = first.event.name == "dragstart"
        if is_stray(first):
            self.up, self.is_drag, self.over = first, True, True
        self.slid: str | None = None

    @property
    def deadline(self) -> float:
        """Wait for the click, then for a second one."""
        if self.is_drag or (self.up is None and not self.clicks):
            return self.last + HOLD_WAIT
        is_toggling = bool(self.clicks) and self.toggled is None and self.passed_on is None
        is_toggling = is_toggling and (is_toggle(self.hit) or is_label(self.hit))
        return self.last + (TOGGLE_WAIT if is_toggling else CLICK_WAIT)

    @property
    def waits_for_click(self) -> bool:
        """Whether no click was reported yet; where time stood still, not even the release of the button."""
        return not self.clicks and not self.is_drag

    def take(self, message: PageMessage) -> bool:
        """Absorb what a pointer causes on its control."""
        if message.event.cause == "driver":
            return False
        takers = {
            "pointerup": self._take_up,
            "click": self._take_click,
            "auxclick": self._take_other_button,
            "contextmenu": self._take_other_button,
            "dblclick": self._take_double,
            "pointerdown": self._take_down,
            "dragstart": self._take_drag,
            "drop": self._take_drop,
            "input": self._take_input,
            "change": self._take_change,
        }
        taker = takers.get(message.event.name)
        if taker is None:
            return message.event.name == "scroll"
        return taker(message)

    def _take_up(self, message: PageMessage) -> bool:
        if is_stray(message):
            return False
        self.up = self.up or message
        self._latest.append(message)
        self.last = message.at
        return True

    def _take_click(self, message: PageMessage) -> bool:
        if not message.event.trusted:
            return False
        # The browser counts from 1 again: this press is no part of a double click.
        if self.again is not None and number_of(message, "detail") == 1:
            self._part(message)
            return True
        # The click that a label passes on to its control has no pointer of its own: not a second one.
        if self.clicks and is_label(self.hit) and is_button(message.event.element):
            self.passed_on = message
            self.last = message.at
            return True
        if not self.clicks or (self.again is not None and len(self.clicks) == 1):
            self.clicks.append(message)
            self.last = message.at
        self.hit = message.event.element if len(self.clicks) == 1 else self.hit
        # If the first click replaced the element, only the click count shows a double click, not an event.
        self.is_double |= len(self.clicks) > 1 and number_of(message, "detail") > 1
        return True

    def _part(self, click: PageMessage) -> None:
        """End with the press before the latest one, which begins a gesture of its own."""
        self.again = None if self._latest[0] is self.again else self.again
        self.parted, self.last, self.over = [*self._latest, click], self._rested, True

    def _take_other_button(self, message: PageMessage) -> bool:
        if message.event.trusted and button_of(self.first) != "left" and not self.clicks:
            self.clicks.append(message)
            self.last = message.at
        return True

    def _take_double(self, message: PageMessage) -> bool:
        self.is_double |= message.event.trusted and len(self.clicks) > 1
        self.last = message.at
        return True

    def _take_down(self, message: PageMessage) -> bool:
        # A third click selects a paragraph and belongs to the double click.
        is_next = (len(self.clicks) == 1 and self.again is None) or self.is_double
        is_next = is_next and message.event.trusted and self._is_on_spot(message) and not self._is_drag()
        if is_next and message.at - self.last <= CLICK_WAIT:
            self.again = self.again or message
            self._latest, self._rested = [message], self.last
            self.last = message.at
            return True
        return False

    def _is_on_spot(self, message: PageMessage) -> bool:
        """Whether a pointer comes down with the same button where it did first, whatever is there by now."""
        if button_of(message) != "left" or button_of(self.first) != "left":
            return False
        here, there = self._point, point_of(message)
        if here is None or there is None or message.event.task is None:
            return self.is_own(message)
        return self.first.source == message.source and dist(here, there) <= SAME_SPOT

    def _take_drag(self, message: PageMessage) -> bool:
        if not message.event.trusted and self.up is not None:
            return False
        # Pages that implement dragging by pointer may dispatch their own events for it.
        self.is_drag = True
        self.last = message.at
        return True

    def _take_drop(self, message: PageMessage) -> bool:
        if not self.is_drag:
            return message.event.trusted
        self.dropped = message
        self.last = message.at
        self.over = True
        return True

    def _take_input(self, message: PageMessage) -> bool:
        element = message.event.element
        # The change event that follows tells more: what is chosen or set.
        if is_toggle(element) or is_select(element) or is_upload(element):
            return True
        if is_command(message) or not (message.event.trusted and self.is_own(message)):
            return message.event.cause in ("pointer", "page") or not message.event.trusted
        if message.event.cause == "" and message.event.task is not None:
            return False
        self.slid = text_of(message, "value")
        self.last = message.at
        return True

    def _take_change(self, message: PageMessage) -> bool:
        control = control_of(message)
        if control == "file" and message.event.trusted:
            return False
        if control == "check" and self.clicks:
            if is_of_click(message) and self._is_toggled(message):
                self.toggled = message
                self.last = message.at
                self.over = message.event.task is None
            return True
        if control == "select" and message.event.trusted and message.event.cause == "pointer":
            self.chosen, self.last = message, message.at
            return True
        return control == "text" or message.event.cause == "pointer"

    def _is_toggled(self, message: PageMessage) -> bool:
        """Whether it is what the click was for: a button that sets boxes by script is a button."""
        if is_same(self.hit, message.event.element):
            return True
        is_stand_in = self.element is None or self.element.tag not in BUTTONS
        return is_stand_in and not is_toggle(self.hit)

    def results(self) -> list[FinishedGesture]:
        """Return a drag, another button's click, a check, a double click or one or two clicks."""
        if self._is_drag():
            return [self._drag()]
        if button_of(self.first) != "left":
            return [self.result(self._mouse_click())]
        if self.is_double:
            return [self._double()]
        if self.toggled is not None:
            return [toggle(self, self.toggled, trusted=True)]
        if self.chosen is not None:
            return [
                replace(self.result(choice(self.chosen), end=self.chosen.at), node=self.chosen.event.node)
            ]
        return self._slide() or self._clicks()

    def _double(self) -> FinishedGesture:
        element, node = self._clicked(self.first)
        action = DblClick(element=element, point=self._point, modifiers=self._modifiers)
        return replace(self.result(action), node=node)

    @property
    def _point(self) -> tuple[int, int] | None:
        return point_of(self.first)

    @property
    def _modifiers(self) -> tuple[str, ...]:
        return modifiers_of(self.first)

    def _is_drag(self) -> bool:
        if self.is_drag:
            return True
        if self.up is None:
            return False
        if self.up.event.data.get("dragged") is True:
            # Moving the thumb of a slider is a fill, no drag and drop.
            return self.slid is None and self.toggled is None
        if self.is_own(self.up):
            return False
        start, stop = self._point, point_of(self.up)
        is_moved = start is not None and stop is not None and dist(start, stop) >= DRAG_MIN
        # A pointer released elsewhere gives a click on the common ancestor: no click on what was pressed.
        return is_moved and not any(self.is_own(click) for click in self.clicks)

    def _drag(self) -> FinishedGesture:
        end = self.dropped or (None if self.first.event.name == "dragstart" else self.up)
        action = DragAndDrop(
            element=self.element if end is not self.first else None,
            to=end.event.element if end else None,
            point=self._point if end is not self.first else None,
            to_point=point_of(end) if end else None,
            completed=end is not None,
            modifiers=self._modifiers,
        )
        return replace(self.result(action), to=end)

    def _mouse_click(self) -> MouseClick:
        return MouseClick(
            element=self.element,
            point=self._point or (0, 0),
            button=button_of(self.first),
            completed=bool(self.clicks),
            modifiers=self._modifiers,
        )

    def _clicks(self) -> list[FinishedGesture]:
        starts = [self.first] if self.again is None else [self.first, self.again]
        return [self._click(start, number) for number, start in enumerate(starts)]

    def _click(self, start: PageMessage, number: int) -> FinishedGesture:
        done = self.clicks[number] if number < len(self.clicks) else None
        element, node = self._clicked(start)
        action = Click(
            element=element,
            point=point_of(start),
            completed=done is not None or self._is_taken_away,
            modifiers=modifiers_of(start),
        )
        return replace(self.result(action, start, done.at if done else None), node=node)

    @property
    def _is_taken_away(self) -> bool:
        """Whether a page handled press and release itself: the target is gone, so no click is sent."""
        return self.is_gone and self.up is not None and not self.clicks and self.is_own(self.up)

    def _clicked(self, start: PageMessage) -> tuple[Element | None, PageNode | None]:
        if self.passed_on is None:
            return start.event.element, start.event.node
        return behind(start, self.passed_on)

    def _slide(self) -> list[FinishedGesture]:
        if self.slid is None:
            return []
        return [self.result(Fill(element=self.element, value=self.slid, value_after=self.slid))]


class Scrolling(Gesture):
    """From a wheel, or from scrolling that no one seems to have asked for."""

    def __init__(self, first: PageMessage, offset: tuple[int, int]) -> None:
        super().__init__(first)
        self.is_wheel = first.event.name == "wheel"
        self.tentative = not self.is_wheel
        self.offset = offset
        self.moved = (0, 0)
        self._move(first)

    @property
    def deadline(self) -> float:
        """Wait until nothing moves."""
        return self.last + (SCROLL_WAIT if self.is_wheel else STRAY_WAIT)

    def take(self, message: PageMessage) -> bool:
        """Absorb more of the same."""
        if message.event.name == "scroll":
            self.last = message.at
            if not self.is_wheel and self.is_own(message):
                self._move(message)
            return True
        if message.event.name != "wheel" or not self.is_wheel:
            return False
        self.last = message.at
        self._move(message)
        return True

    def _move(self, message: PageMessage) -> None:
        if self.is_wheel:
            dx, dy = self.moved
            self.moved = (dx + number_of(message, "dx"), dy + number_of(message, "dy"))
        else:
            left, top = self.offset
            self.moved = (number_of(message, "left") - left, number_of(message, "top") - top)

    def results(self) -> list[FinishedGesture]:
        """Return the whole distance."""
        dx, dy = self.moved
        if not self.is_wheel and self.moved == (0, 0):
            return []
        by = "wheel" if self.is_wheel else "unknown"
        return [self.result(Scroll(element=self.element, dx=dx, dy=dy, by=by))]
