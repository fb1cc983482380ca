"""Gestures on fields without a key: fills, choices, and what agents do by script."""

from __future__ import annotations

from replaykit.recorder.events import (
    control_of,
    files_of,
    is_of_click,
    is_toggle,
    point_of,
    text_of,
    texts_of,
)
from replaykit.recorder.gestures import CLICK_WAIT, TOGGLE_WAIT, TYPING_WAIT, Deed, Gesture, toggle
from replaykit.recorder.messages import PageMessage
from replaykit.trajectory.action import Click, Fill, SelectOption, UploadFile

SCRIPT_WAIT = 50.0
"""The events that one call of a script makes follow each other within these ms."""


class Filling(Gesture):
    """From a trusted beforeinput or input without a key: a field's text replaced at once."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.text: str | None = None
        self.value: str | None = None
        self.is_composing = False
        self._note(first)

    @property
    def deadline(self) -> float:
        """Wait for more of a composition, for a slider to come to rest, or for the input event."""
        is_slow = self.is_composing or self.value is not None
        return self.last + (TYPING_WAIT if is_slow else CLICK_WAIT)

    def take(self, message: PageMessage) -> bool:
        """Absorb input on the same field, and the change that tells of it."""
        if message.event.name == "scroll":
            return True
        if message.event.name not in ("beforeinput", "input", "change") or not self.is_own(message):
            return False
        if message.event.name == "change":
            self.over = control_of(message) == "text"
            return self.over
        self._note(message)
        return True

    def _note(self, message: PageMessage) -> None:
        kind = text_of(message, "input_type") or ""
        self.last = message.at
        self.is_composing = kind == "insertCompositionText"
        if message.event.name == "beforeinput":
            self.text = text_of(message, "text")
            return
        self.value = text_of(message, "value")
        # Without an input type it is a picker or a slider: more may follow until its change.
        self.over = bool(kind) and not self.is_composing

    def deeds(self) -> list[Deed]:
        """Return the fill with the field's value afterwards."""
        value = self.value if self.value is not None else self.text or ""
        return [self.deed(Fill(element=self.element, value=value, value_after=self.value))]


class Scripting(Gesture):
    """From an untrusted click, input or change: an act that an agent did by script."""

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
        if not self.is_own(message) or message.event.trusted:
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

    def deeds(self) -> list[Deed]:
        """Return a click, a check or a fill, marked as made by a script."""
        if self.toggled is not None:
            return [toggle(self, self.toggled, trusted=False)]
        if self.is_click:
            return [self.deed(Click(element=self.element, point=point_of(self.first), trusted=False))]
        fill = Fill(element=self.element, value=self.value or "", value_after=self.value, trusted=False)
        return [self.deed(fill)]


class Choosing(Gesture):
    """From a change on a select, a file input, or a checkbox that nobody clicked: over at once."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.over = True

    def take(self, message: PageMessage) -> bool:
        """Absorb nothing: the one event says all."""
        return False

    def deeds(self) -> list[Deed]:
        """Return what was chosen."""
        trusted = self.first.event.trusted
        match control_of(self.first):
            case "file":
                upload = UploadFile(element=self.element, files=files_of(self.first), trusted=trusted)
                return [self.deed(upload)]
            case "check":
                return [toggle(self, self.first, trusted=trusted)]
        values = texts_of(self.first, "values") or texts_of(self.first, "value")
        chosen = SelectOption(
            element=self.element, values=values, labels=texts_of(self.first, "labels"), trusted=trusted
        )
        return [self.deed(chosen)]
