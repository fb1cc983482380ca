"""Gestures of the keyboard: presses, typed text, scrolls by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.gestures.gesture import (
    CLICK_WAIT,
    TYPING_WAIT,
    FinishedGesture,
    Gesture,
    choice,
    toggle,
)
from replaykit.recorder.session.page_message import (
    MODIFIERS,
    control_of,
    is_command,
    is_plain_key,
    is_same,
    is_select,
    is_toggle,
    key_of,
    modifiers_of,
    number_of,
    text_of,
)
from replaykit.trajectory.action import DATE_TYPES, Element, Fill, Names, Press, Scroll, Type
from replaykit.trajectory.redaction_marks import MASKED

SCROLL_KEYS = frozenset(
    {"PageDown", "PageUp", "Home", "End", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Space", " "}
)
"""Keys that scroll where no field or widget takes them."""

_SPACE = (" ", "Space")
_PRESSED = ("button", "checkbox", "switch")
"""Roles of elements that take Space. A link takes none of these keys."""

_WIDGETS = (
    "cell", "columnheader", "combobox", "grid", "gridcell", "listbox", "menu", "menubar", "menuitem",
    "menuitemcheckbox", "menuitemradio", "option", "radio", "radiogroup", "row", "rowheader", "searchbox",
    "slider", "spinbutton", "tab", "tablist", "textbox", "tree", "treegrid", "treeitem",
)  # fmt: skip
"""Roles of elements that take such keys, and scroll what they chose into view."""

ENTERING = frozenset({"insertText", "insertCompositionText"})
"""Input types of single keys."""

PASTING = frozenset({"insertFromPaste", "insertReplacementText"})
"""Input types that replace text at once, whatever key caused them."""

OffsetOf: TypeAlias = Callable[[PageMessage], tuple[int, int]]
"""Returns how far the element of a scroll message was scrolled before: left, top in CSS px."""


class Keying(Gesture):
    """From a trusted keydown: a press, or text typed into one field, or a scroll by key."""

    def __init__(self, first: PageMessage, offset_of: OffsetOf) -> None:
        super().__init__(first)
        self.is_plain = is_plain_key(first)
        self.is_date = (
            self.is_plain and first.event.element is not None and first.event.element.type in DATE_TYPES
        )
        self.text = (text_of(first, "key") or "") if self.is_date else ""
        self.waiting: str | None = None
        self.after: str | None = None
        self.is_typing = self.is_date
        self.is_keyed = self.is_plain
        self.is_loose = False
        self.set: PageMessage | None = None
        self.offset_of = offset_of
        self.passed_on: PageMessage | None = None
        self.is_spread = False
        self.button: Element | None = None
        self.offset: tuple[int, int] | None = None
        self.moved = (0, 0)

    @property
    def deadline(self) -> float:
        """Wait for the next key of a text, or for what a single key causes."""
        return self.last + (TYPING_WAIT if self.is_typing else CLICK_WAIT)

    def take(self, message: PageMessage) -> bool:
        """Absorb further keys of the text and what keys cause."""
        if message.event.cause == "driver" and not message.event.trusted:
            return False
        takers = {
            "keydown": self._take_key,
            "beforeinput": self._take_intent,
            "input": self._take_input,
            "scroll": self._take_scroll,
            "focusin": self._take_focus,
        }
        taker = takers.get(message.event.name)
        if taker is not None:
            return taker(message)
        if message.event.name == "change":
            return self._take_change(message)
        return message.event.name == "click" and message.event.cause != "driver" and self._take_click(message)

    def _take_click(self, message: PageMessage) -> bool:
        # A click without a pointer: Enter or Space on a button, or the submit button of a form.
        is_submit = message.event.trusted and message.event.cause == "key" and not self.is_own(message)
        if is_submit and text_of(self.first, "key") == "Enter":
            self.button = self.button or message.event.element
        return True

    def _take_key(self, message: PageMessage) -> bool:
        # A single modifier is no press: it is recorded with the keys that it modifies.
        if not message.event.trusted or text_of(message, "key") in MODIFIERS:
            return True
        is_held = message.event.data.get("repeat") is True and key_of(message) == key_of(self.first)
        is_next = self.is_typing and is_plain_key(message) and self._is_here(message)
        # A held Backspace or arrow is one press, while a held letter types.
        if (is_next and message.at - self.last <= TYPING_WAIT) or (is_held and not self.is_plain):
            self.last = message.at
            self.is_keyed = is_next
            self._enter(text_of(message, "key") if self.is_date else None)
            return True
        return False

    def _take_focus(self, message: PageMessage) -> bool:
        # Fields for one character each hand the focus on; if the cause is unknown, nothing is joined.
        self.passed_on = None if message.event.cause in ("driver", "pointer", "unseen") else message
        return True

    def _is_here(self, message: PageMessage) -> bool:
        """Whether this text goes there: into its first field, or where the page has moved the focus."""
        there = self.passed_on
        if there is None or not self.is_typing:
            return self.is_own(message)
        is_there = there.source == message.source and is_same(there.event.element, message.event.element)
        self.is_spread |= is_there and not self.is_own(message)
        return is_there

    def _take_intent(self, message: PageMessage) -> bool:
        kind = text_of(message, "input_type") or ""
        if kind in PASTING:
            return False
        if message.event.cause == "key":
            self.is_keyed = True
        elif not self.is_own(message) or not self._is_entered(message, kind):
            return False
        if self.is_plain and kind in ENTERING:
            self.is_loose, self.is_keyed = not self.is_keyed, False
            # Editors that cancel the event insert the text themselves: no input event follows.
            self._enter(self.waiting)
            self.waiting = text_of(message, "text") or ""
            self.is_typing = True
        self.last = message.at
        return True

    def _is_entered(self, message: PageMessage, kind: str) -> bool:
        """Whether the text may be a key's. Drivers type a character that no key has without one."""
        text = text_of(message, "text") or ""
        if kind not in ENTERING:
            return True
        if not self.is_plain:
            # Of all chords only those with Alt enter characters, on some keyboards.
            return "Alt" in modifiers_of(self.first) and text == text_of(self.first, "key")
        return self.is_keyed or kind != "insertText" or len(text) == 1

    def _take_input(self, message: PageMessage) -> bool:
        kind = text_of(message, "input_type") or ""
        is_own = self.is_own(message)
        if message.event.cause == "driver" or kind in PASTING:
            return False
        if message.event.trusted and not is_own and message.event.cause != "key":
            return False
        if is_command(message) or not (is_own or self._is_here(message)):
            # A page's own edit. If its cause is unknown, it counts as what the key led to.
            self.after = text_of(message, "value") if is_own else self.after
            return message.event.cause == "key" or not message.event.trusted or is_own
        if message.event.trusted and self.is_plain and kind in ENTERING:
            if self.is_loose and self._is_replaced(message):
                self.waiting = None
                return False
            self._enter(text_of(message, "text") or self.waiting)
            self.waiting = None
            self.is_typing = True
            self.last = message.at
        self.after = text_of(message, "value")
        # Numbers, dates and sliders take keys as commands: their input event has no type.
        if is_own and message.event.trusted and not kind and control_of(message) == "text":
            self.set = message
        return True

    def _is_replaced(self, message: PageMessage) -> bool:
        # A key adds its own text to the value: another length means that a script replaced it.
        value, text = text_of(message, "value"), text_of(message, "text") or self.waiting or ""
        return value is not None and self.after is not None and len(value) != len(self.after) + len(text)

    def _take_change(self, message: PageMessage) -> bool:
        control = control_of(message)
        # Arrows go from one radio button to another, which is then the one that changes.
        is_own = self.is_own(message) or (control == "check" and is_toggle(self.element))
        # In a list that a style sheet lays out, the focus is on the option.
        is_own = is_own or (control == "select" and self.element is not None and self.element.tag == "option")
        if control in ("select", "check") and message.event.trusted and is_own:
            self.set = message
        is_file = control == "file" and message.event.trusted
        return (message.event.cause == "key" and not is_file) or control in ("text", "check")

    def _take_scroll(self, message: PageMessage) -> bool:
        # In a field these keys move the caret, in a widget they choose: scrolling is only their effect.
        key = text_of(self.first, "key") or ""
        if key in SCROLL_KEYS and not _takes(key, self.element):
            left, top = self.offset = self.offset or self.offset_of(message)
            self.moved = (number_of(message, "left") - left, number_of(message, "top") - top)
            self.last = message.at
        return True

    def _enter(self, text: str | None) -> None:
        self.text += text or ""

    def results(self) -> list[FinishedGesture]:
        """Return the text, the scroll, or the press and what it chose or set."""
        if self.is_typing:
            return [self.result(self._typed())]
        if self.moved != (0, 0):
            dx, dy = self.moved
            return [self.result(Scroll(element=self.element, dx=dx, dy=dy, by="key"))]
        # A letter that chooses an option writes nothing.
        is_choice = self.set is not None and self.is_plain and is_select(self.element)
        return [*([] if is_choice else [self.result(self._pressed())]), *self._entered()]

    def _pressed(self) -> Press:
        after = self.after if self.set is None else None
        return Press(
            element=self._with_button(),
            key=key_of(self.first),
            modifiers=modifiers_of(self.first),
            value_after=after,
        )

    def _with_button(self) -> Element | None:
        """Return the target, which also has the name of the button that the key pressed for it."""
        if self.element is None or self.button is None:
            return self.element
        names = self.element.names or Names()
        button = self.button.name or self.button.text or self.button.value
        return replace(self.element, names=replace(names, active=names.active or button))

    def _entered(self) -> list[FinishedGesture]:
        """Return what the key made of its field: whoever chooses by keys has chosen."""
        if self.set is None:
            return []
        if self.set.event.name == "input":
            return [self.result(Fill(element=self.element, value=self.after or "", value_after=self.after))]
        if control_of(self.set) == "select":
            return [self.result(choice(self.set))]
        return [toggle(self, self.set, trusted=True)]

    def _typed(self) -> Type:
        value = self.text + (self.waiting or "")
        # Every key of a masked field reads as masked: the count would tell the length.
        if self.element is not None and self.element.masked:
            value = MASKED if self.is_spread else self.after or MASKED
        return Type(element=self.element, value=value, value_after=self.after)


def _takes(key: str, element: Element | None) -> bool:
    """Whether a field or widget takes a key that scrolls elsewhere."""
    if element is None:
        return False
    is_field = element.tag in ("input", "textarea", "select")
    has_mark = "aria-activedescendant" in (element.attributes or {})
    is_pressed = key in _SPACE and (element.tag == "summary" or element.role in _PRESSED)
    return is_field or has_mark or is_pressed or element.role in _WIDGETS
