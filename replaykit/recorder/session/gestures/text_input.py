"""Gestures on fields without a key: fills, choices, and what agents do by script."""

from __future__ import annotations

from msgspec.structs import replace

from replaykit.patterns import lazy_pattern
from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.gestures.gesture import (
    CLICK_WAIT,
    HOLD_WAIT,
    TOGGLE_WAIT,
    TYPING_WAIT,
    FinishedGesture,
    Gesture,
    OneEvent,
    choice,
    toggle,
)
from replaykit.recorder.session.page_message import (
    control_of,
    files_of,
    is_command,
    is_of_click,
    is_toggle,
    point_of,
    text_of,
)
from replaykit.trajectory.action import Click, Fill, UploadFile

SCRIPT_WAIT = 50.0
"""The events that one call of a script makes follow each other within these ms."""


_CUT = lazy_pattern(r"⟦cut:\d+⟧")


def is_partial(value: str | None) -> bool:
    """Whether it is unknown what a field holds: editors that draw their text elsewhere."""
    return value is None or _CUT.fullmatch(value) is not None


class Filling(Gesture):
    """From a trusted beforeinput or input without a key: a field's text replaced at once."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.text: str | None = None
        self.value: str | None = None
        self.is_composing = False
        self.is_edit = False
        self._note(first)

    @property
    def deadline(self) -> float:
        """Wait for more of a composition, for the end of a slider's movement, or for the input event."""
        if self.is_composing and self.first.event.task is not None:
            return self.last + HOLD_WAIT  # its end is reported
        is_slow = self.is_composing or self.value is not None
        return self.last + (TYPING_WAIT if is_slow else CLICK_WAIT)

    def take(self, message: PageMessage) -> bool:
        """Absorb input on the same field, and the change that reports it."""
        if message.event.name == "scroll":
            return True
        if message.event.name == "compositionend" and self.is_own(message):
            self.is_composing, self.last = False, message.at
            return True
        if message.event.name not in ("beforeinput", "input", "change") or not self.is_own(message):
            return False
        if self._is_another(message):
            return False
        if message.event.name == "change":
            is_text = control_of(message) == "text" and message.event.cause != "driver"
            self.over = self.over or is_text
            return is_text
        self._note(message)
        return True

    def _is_another(self, message: PageMessage) -> bool:
        """Whether a text comes after one: what a single one makes, a line each, comes in one task."""
        name, task = message.event.name, message.event.task
        if message.event.cause == "driver" or (
            name == "beforeinput" and self.is_edit and not self.is_composing
        ):
            return True
        is_single = self.is_edit and not self.is_composing and task is not None
        return name == "input" and is_single and task != self.first.event.task

    def rest(self, at: float) -> None:
        """Note that the page has handled the text: all its lines are in."""
        super().rest(at)
        self.over = self.is_edit and not self.is_composing

    def _note(self, message: PageMessage) -> None:
        kind = text_of(message, "input_type") or ""
        self.last = message.at
        self.is_edit = bool(kind)
        self.is_composing = kind == "insertCompositionText"
        if message.event.name == "beforeinput":
            self.text, self.value = text_of(message, "text"), text_of(message, "value")
            return
        self.value = text_of(message, "value")
        if is_partial(self.value):
            self.text = text_of(message, "text") or self.text
        # Without an input type it is a picker or a slider: more may follow until its change.
        self.over = self.is_edit and not self.is_composing and message.event.task is None

    def results(self) -> list[FinishedGesture]:
        """Return the fill: with the text that was put into the field, else with the field's value."""
        text = self.text or ""
        filled = Fill(element=self.element, value=text, value_after=self.value)
        # Paragraphs read with more line breaks than were entered.
        is_whole = is_partial(self.value) or (self.value or "").split() == text.split()
        is_known = is_whole or filled.is_put_in
        return [self.result(filled if is_known else replace(filled, value=self.value or ""))]


class Scripting(Gesture):
    """From an untrusted click, input or change: an action that an agent did by script."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.toggled: PageMessage | None = None
        self.value = text_of(first, "value")
        self.is_click = first.event.name == "click"

    @property
    def deadline(self) -> float:
        """Wait for the change that goes with it."""
        return self.last + (TOGGLE_WAIT if self.is_click and is_toggle(self.element) else SCRIPT_WAIT)

    def take(self, message: PageMessage) -> bool:
        """Absorb the events that the same script call makes on the same control."""
        if message.event.name == "scroll":
            return True
        if message.event.name not in ("input", "change"):
            return False
        if self.is_click:
            return self._take_toggle(message)
        is_input = message.event.trusted and not is_command(message)
        if not self.is_own(message) or is_input:
            return False
        value = text_of(message, "value")
        self.value = self.value if value is None else value
        self.last = message.at
        return True

    def _take_toggle(self, message: PageMessage) -> bool:
        # Input and change of a click by script are trusted.
        is_ours = message.event.name == "input" or is_of_click(message)
        if control_of(message) != "check" or not is_ours:
            return False
        if message.event.name == "change":
            self.toggled = message
            self.over = True
        self.last = message.at
        return True

    def is_clear_of(self, message: PageMessage) -> bool:
        """Whether it emptied the field that a key is now typed into."""
        is_near = message.at - self.last <= TYPING_WAIT
        return not self.is_click and not self.value and is_near and self.is_own(message)

    def results(self) -> list[FinishedGesture]:
        """Return a click, a check or a fill, marked as made by a script, and by whose if that is open."""
        found = self._made()
        is_of_agent = self.first.event.cause == "driver"
        return [found if is_of_agent else replace(found, action=replace(found.action, by="unknown"))]

    def _made(self) -> FinishedGesture:
        if self.toggled is not None:
            return toggle(self, self.toggled, trusted=False)
        if self.is_click:
            return self.result(Click(element=self.element, point=point_of(self.first), trusted=False))
        fill = Fill(element=self.element, value=self.value or "", value_after=self.value, trusted=False)
        return self.result(fill)


class Choosing(OneEvent):
    """From a change on a select, a file input, or a checkbox that no one clicked."""

    def results(self) -> list[FinishedGesture]:
        """Return what was chosen."""
        trusted = self.first.event.trusted
        match control_of(self.first):
            case "file":
                upload = UploadFile(element=self.element, files=files_of(self.first), trusted=trusted)
                return [self.result(upload)]
            case "check":
                return [toggle(self, self.first, trusted=trusted)]
        return [self.result(choice(self.first))]
