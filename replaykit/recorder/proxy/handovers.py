"""Navigations wait while the browser replaces one document of a tab by another.

A navigation that begins between the answer to `Page.navigate` and the commit of its document is forgotten by
Chromium, and never answered, if one of the two documents listens for `beforeunload`; the recorder's script
does.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from replaykit.recorder.proxy.protocol_messages import TRAVELS, Message, Seat, Wire

COMMIT_S = 2.0
"""Longest wait for the commit of a document."""

HELD_MAX = 20_000
"""Commands that wait for one document; those beyond go on at once."""

LEAVING = frozenset({"Page.navigate", "Page.reload", "Page.close", TRAVELS})
"""Methods that end the document of a tab."""

Held = list[tuple[Seat, Wire]]
"""Commands, each with the session that sent it."""


class _Handover(Struct):
    loader: str
    due: float
    held: Held = []


class Handovers:
    """Tabs by the document that the browser is about to show in them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._shown: dict[str, str] = {}
        """Target to the loader of its latest document."""
        self._begun: dict[str, _Handover] = {}

    def begin(self, target: str, loader: str) -> None:
        """Record that the browser has answered the command that asked for a document."""
        if self._shown.get(target) == loader:
            return
        # A document that another takes the place of is never shown.
        held = self._take(target) if target in self._begun else []
        self._begun[target] = _Handover(loader, self._clock() + COMMIT_S, held)

    def end(self, target: str, frame: Message) -> Held:
        """Record that a frame shows a document; return the commands that waited for it, in order."""
        if frame["id"] != target:
            return []
        loader = self._shown[target] = frame["loaderId"]
        found = self._begun.get(target)
        return self._take(target) if found is not None and found.loader == loader else []

    def holds(self, seat: Seat, wire: Wire) -> bool:
        """Whether a command has to wait. Then it is kept, and its session's next ones behind it."""
        found = self._begun.get(seat.target)
        if found is None or len(found.held) >= HELD_MAX:
            return False
        if wire.method not in LEAVING and not any(one is seat for one, _ in found.held):
            return False
        found.held.append((seat, wire))
        return True

    def overdue(self) -> Held:
        """Return the commands that have waited for too long."""
        now = self._clock()
        late = [target for target, one in self._begun.items() if one.due <= now]
        return [one for target in late for one in self._take(target)]

    def _take(self, target: str) -> Held:
        return self._begun.pop(target).held
