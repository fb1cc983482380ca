"""Page messages of one tab -> actions: what truly happened, whoever drove the browser.

Trusted DOM events are the witness. An event by script counts only where nothing trusted happened on the page
shortly before: agents also click by script, and pages react to what agents do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeAlias

from msgspec import Struct

from replaykit.recorder.page.page_script import PageNode
from replaykit.recorder.session.driver_messages import MAIN, PageMessage, Source
from replaykit.recorder.session.gestures.drag import Dragging, Dropping
from replaykit.recorder.session.gestures.gesture import CLICK_WAIT, FinishedGesture, Gesture
from replaykit.recorder.session.gestures.keyboard import PASTING, Keying
from replaykit.recorder.session.gestures.pointer import Pointing, Scrolling
from replaykit.recorder.session.gestures.text_input import Choosing, Filling, Scripting
from replaykit.recorder.session.page_message import (
    MODIFIERS,
    control_of,
    is_caused,
    is_command,
    is_control,
    is_of_click,
    is_page_own,
    is_reaction,
    is_select,
    is_stray,
    is_toggle,
    is_upload,
    keys_of,
    lag_of,
    number_of,
    text_of,
)
from replaykit.trajectory.action import Action, UploadFile
from replaykit.trajectory.observation import Stale

REACTION_MAX = 1000.0
"""Time after a trusted event, ms: what a page does by itself within it is its reaction, no action."""

BUSY_MAX = 60_000.0
"""Time in ms after which a page will not report any more that it has handled an event."""

FOLLOWERS = frozenset({"click", "beforeinput", "input", "change"})
"""Events that a key or a pointer may cause."""

WITNESSES = frozenset(
    {"pointerdown", "pointerup", "click", "dblclick", "auxclick", "contextmenu"}
    | {"keydown", "beforeinput", "dragstart", "drop", "wheel"}
)
"""Events whose `trusted` proves a user agent; input and change are trusted after `el.click()` too."""


class Begun(Struct, frozen=True, kw_only=True):
    """An action begins; `Acted` of the same serial follows."""

    serial: int
    """Which gesture of this tab."""
    at: float
    """Start, ms."""
    source: Source = MAIN
    """Where it is done."""
    is_stray: bool = False
    """Nothing shows that anybody did it."""


class Acted(Struct, frozen=True, kw_only=True):
    """An action is over."""

    serial: int
    """Which gesture of this tab; a gesture may turn out to be two actions."""
    action: Action
    """The action; `element.node` is not filled yet."""
    at: float
    """Start, ms."""
    end: float
    """Last event of it, ms."""
    document: int
    """Document ordinal within the tab."""
    frame: tuple[int, ...] = ()
    """Frame ordinals; empty = main frame."""
    source: Source = MAIN
    """Who reported it."""
    seq: int
    """The page's own counter at its first event."""
    node: PageNode | None = None
    """Where the element is in a push."""
    to: PageMessage | None = None
    """The event on the drop target."""
    keys: tuple[int | None, ...] = ()
    """Numbers of the files that were given to the page."""
    lag: Stale | None = None
    """How far the page had gone since its latest snapshot from inside of an event; None = not at all."""


Notice: TypeAlias = Begun | Acted


class Recogniser:
    """Turns one tab's messages into actions, in order; at most one gesture is open at a time."""

    def __init__(self) -> None:
        self._open: Gesture | None = None
        self._unclicked: Pointing | None = None
        self._serial = -1
        self._key_at = -inf
        self._is_late_click = False
        self._busy: tuple[Source, float] | None = None
        self._offsets: dict[tuple[object, ...], tuple[int, int]] = {}
        self.trusted_at = -inf
        """Last trusted event that proves a user agent, ms."""

    @property
    def deadline(self) -> float | None:
        """When `expire` has something to do; None = nothing is open."""
        if self._open is None:
            return None
        return self._open.deadline if self._busy is None else self._busy[1] + BUSY_MAX

    @property
    def since(self) -> float | None:
        """Start of the open gesture, ms."""
        return self._open.since if self._open else None

    @property
    def latest(self) -> tuple[int, float] | None:
        """Serial of the open gesture and time of the last event that is its own, ms."""
        return (self._serial, self._open.last) if self._open else None

    def feed(self, message: PageMessage) -> list[Notice]:
        """Take a message in; return the actions that it begins or ends."""
        if message.event.name == "idle":
            return self.rest(message.source, message.at, is_gone=message.event.data.get("gone") is True)
        # Changes by a click belong to it, however long the page takes for them.
        notices = [] if is_of_click(message) else self.expire(message.at)
        if message.event.task is not None:
            self._busy = (message.source, message.at)
        is_taken = self._open is not None and self._open.take(message)
        if not is_taken and not self._is_left_over(message):
            notices += self._start(message)
        # Last: whether the event starts a gesture depends on what came before it.
        self._remember(message)
        if self._open is not None and self._open.over:
            parted = self._open.parted
            notices += self.flush()
            for one in parted:
                notices += self.feed(one)
        return notices

    def expire(self, now: float) -> list[Notice]:
        """End the open gesture if its time is over at `now`, ms; a page that is busy has not reported all."""
        if self._busy is not None and now <= self._busy[1] + BUSY_MAX:
            return []
        return self.flush() if self._open is not None and now > self._open.deadline else []

    def rest(self, source: Source, at: float, *, is_gone: bool = False) -> list[Notice]:
        """Record that a document has handled all that it reported, or is gone; `is_gone`: its target is."""
        if self._busy is not None and self._busy[0] == source:
            self._busy = None
        gesture = self._open
        if gesture is None or gesture.first.source != source:
            return []
        gesture.rest(at)
        gesture.is_gone |= is_gone
        return self.flush() if gesture.over else []

    def flush(self) -> list[Notice]:
        """End the open gesture."""
        gesture, self._open = self._open, None
        if gesture is None:
            return []
        self._unclicked = gesture if isinstance(gesture, Pointing) and gesture.waits_for_click else None
        actions: list[Notice] = [self._acted(gesture, result) for result in gesture.results()]
        # Stray scrolling begins only now, since until here another action could cancel it.
        return [self._begun(gesture), *actions] if gesture.tentative and actions else actions

    def interrupt(self) -> list[Notice]:
        """End the open gesture since another action begins elsewhere: stray scrolling was its preparation."""
        if self._open is not None and self._open.tentative:
            self._open = None
        return self.flush()

    def renew(self) -> None:
        """Forget scroll positions: another document is shown."""
        self._offsets.clear()
        self._busy = None

    def _is_left_over(self, message: PageMessage) -> bool:
        """Whether it belongs to a finished gesture: one ended by an action in another tab, or a slow one."""
        gesture, event = self._unclicked, message.event
        if self._is_late_click and event.name == "change" and is_of_click(message):
            return False
        if event.name in FOLLOWERS and is_caused(message):
            return text_of(message, "input_type") not in PASTING  # no key event shows pasted text
        if gesture is None or event.name != "click" or not event.trusted:
            return False
        return gesture.is_own(message) and message.at - gesture.last <= CLICK_WAIT

    def _start(self, message: PageMessage) -> list[Notice]:
        starter = _STARTERS.get(message.event.name)
        gesture = starter(self, message) if starter else None
        if gesture is None:
            return []
        cleared = self._absorb_clear(gesture)
        notices = [] if cleared else self.interrupt()
        self._open = gesture
        self._serial += not cleared
        begun = [] if cleared or gesture.tentative else [self._begun(gesture)]
        return [*notices, *begun]

    def _absorb_clear(self, gesture: Gesture) -> bool:
        # Some agents empty a field by script before they type into it: one action.
        cleared = self._open
        if not (isinstance(gesture, Keying) and isinstance(cleared, Scripting)):
            return False
        if not cleared.is_clear_of(gesture.first):
            return False
        gesture.since = cleared.since
        return True

    def _begun(self, gesture: Gesture) -> Begun:
        return Begun(
            serial=self._serial,
            at=gesture.since,
            source=gesture.first.source,
            is_stray=gesture.tentative,
        )

    def _acted(self, gesture: Gesture, result: FinishedGesture) -> Acted:
        return Acted(
            serial=self._serial,
            action=result.action,
            at=result.at,
            end=result.end,
            document=gesture.first.document,
            frame=gesture.first.frame,
            source=gesture.first.source,
            seq=result.first.event.seq,
            node=result.node,
            to=result.to,
            keys=keys_of(gesture.first) if isinstance(result.action, UploadFile) else (),
            lag=lag_of(result.first),
        )

    def _remember(self, message: PageMessage) -> None:
        event = message.event
        if event.trusted and event.name in WITNESSES:
            self.trusted_at = max(self.trusted_at, message.at)
        if event.trusted and event.name == "keydown":
            self._key_at = message.at
        if event.trusted and event.name in ("keydown", "pointerdown"):
            self._is_late_click = False
        if event.name == "scroll":
            self._offsets[_place(message)] = (number_of(message, "left"), number_of(message, "top"))

    def _is_quiet(self, message: PageMessage) -> bool:
        """Whether nothing that a user did can have led to it."""
        if message.event.cause == "driver":
            return True
        is_far = message.at - self.trusted_at >= REACTION_MAX
        return is_far and message.event.cause in ("", "unseen") and not is_reaction(message)

    def _offset(self, message: PageMessage) -> tuple[int, int]:
        return self._offsets.get(_place(message), (0, 0))

    def _start_pointer(self, message: PageMessage) -> Gesture | None:
        return Pointing(message) if message.event.trusted else None

    def _start_release(self, message: PageMessage) -> Gesture | None:
        return Pointing(message) if is_stray(message) else None

    def _start_drag(self, message: PageMessage) -> Gesture | None:
        # No page dispatches drag events without a pointer itself, so a script does it.
        return Pointing(message) if message.event.trusted else Dragging(message)

    def _start_drop(self, message: PageMessage) -> Gesture | None:
        return Dropping(message)

    def _start_click(self, message: PageMessage) -> Gesture | None:
        if message.event.trusted:
            # The late click of a key belongs to its press, which is over. It may still set a box.
            self._is_late_click = message.at - self._key_at < REACTION_MAX
            return None if self._is_late_click else Pointing(message)
        return self._start_script(message)

    def _start_key(self, message: PageMessage) -> Gesture | None:
        # "Process" and the like: an input method composes, the text comes with its own events.
        if not message.event.trusted or text_of(message, "key") in (*MODIFIERS, "Process", "Dead"):
            return None
        return Keying(message, self._offset)

    def _start_intent(self, message: PageMessage) -> Gesture | None:
        return Filling(message) if message.event.trusted else None

    def _start_input(self, message: PageMessage) -> Gesture | None:
        element = message.event.element
        if is_select(element) or is_upload(element) or is_toggle(element):
            return None
        is_input = message.event.trusted and not is_command(message)
        return Filling(message) if is_input else self._start_script(message)

    def _start_change(self, message: PageMessage) -> Gesture | None:
        # Pages set their own fields, and say so with the event that a driver sends.
        if is_page_own(message):
            return None
        control = control_of(message)
        if control in ("select", "file"):
            return Choosing(message)
        if control == "check":
            is_action = message.event.trusted or self._is_quiet(message)
            is_taken = is_of_click(message) and not self._is_late_click
            return Choosing(message) if is_action and not is_taken else None
        return None if message.event.trusted else self._start_script(message)

    def _start_script(self, message: PageMessage) -> Gesture | None:
        is_known = message.event.cause == "driver"
        is_action = is_known or (self._is_quiet(message) and is_control(message.event.element))
        return Scripting(message) if is_action else None

    def _start_wheel(self, message: PageMessage) -> Gesture | None:
        return Scrolling(message, self._offset(message)) if message.event.trusted else None

    def _start_scroll(self, message: PageMessage) -> Gesture | None:
        return Scrolling(message, self._offset(message)) if self._is_quiet(message) else None


def _place(message: PageMessage) -> tuple[object, ...]:
    element = message.event.element
    return (
        message.document,
        message.source,
        element.frame if element else (),
        element.css if element else None,
    )


_STARTERS: dict[str, Callable[[Recogniser, PageMessage], Gesture | None]] = {
    "pointerdown": Recogniser._start_pointer,
    "pointerup": Recogniser._start_release,
    "dragstart": Recogniser._start_drag,
    "drop": Recogniser._start_drop,
    "click": Recogniser._start_click,
    "keydown": Recogniser._start_key,
    "beforeinput": Recogniser._start_intent,
    "input": Recogniser._start_input,
    "change": Recogniser._start_change,
    "wheel": Recogniser._start_wheel,
    "scroll": Recogniser._start_scroll,
}
