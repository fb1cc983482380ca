"""Requests sent through another session, and who waits for their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from replaykit.recorder.browser.command_effects import CallBrowser, CallMethod, CommandRefused
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.target_relay import SEND, Relay, TargetEvent, TargetReply

Then: TypeAlias = Callable[[Any, CommandRefused | None], None]
"""Callback for a reply, or for the reason why it is missing."""


class Relaying:
    """The relays of all tabs."""

    def __init__(self) -> None:
        self._relays: dict[int, Relay] = {}
        self._answers: dict[tuple[int, int], Then] = {}
        self._wired: dict[str, CdpTab] = {}

    def wire(self, tab: CdpTab, session: str) -> None:
        """Note through which session the browser's own passes on what a tab says."""
        tab.wire, self._wired[session] = session, tab

    def join(self, tab: CdpTab, session: str) -> None:
        """Note through which session the browser's own passes on what a target below a tab says."""
        self._relay(tab).joined.add(session)
        self._wired[session] = tab

    def part_from(self, tab: CdpTab, session: str) -> None:
        """Forget the session of a target below a tab."""
        self._relay(tab).joined.discard(session)
        self._wired.pop(session, None)

    def wired(self, session: str) -> CdpTab | None:
        """Return the tab, itself or a target below it, that reports through a browser session."""
        return self._wired.get(session)

    def relayed(self, effect: CallMethod, then: Then) -> tuple[int, CallMethod | CallBrowser]:
        """Return a request to a target: its number, and the call that carries it; `then` takes the reply."""
        tab = effect.tab
        number, params = self._relay(tab).ask(effect.via, effect.method, effect.params)
        self._answers[tab.page, number] = then
        if tab.wire or (effect.via and effect.via[0] in self._wired):
            return number, CallBrowser(method=SEND, params=params, timeout_ms=effect.timeout_ms)
        return number, CallMethod(tab=tab, method=SEND, params=params, timeout_ms=effect.timeout_ms)

    def give_up(self, tab: CdpTab, number: int, refused: CommandRefused) -> None:
        """Wait for a reply no longer."""
        self._relay(tab).forget(number)
        then = self._answers.pop((tab.page, number), None)
        if then is not None:
            then(None, refused)

    def give_up_all(self, tab: CdpTab) -> None:
        """Wait no longer for anything from a tab that is gone."""
        for page, number in list(self._answers):
            if page == tab.page:
                self.give_up(tab, number, CommandRefused("gone"))

    def unwrap(self, tab: CdpTab, event: dict[str, Any]) -> Iterator[TargetEvent]:
        """Yield what an event of a tab reports, and hand replies to those who wait for them."""
        for message in self._relay(tab).receive(event["method"], event.get("params") or {}):
            if isinstance(message, TargetEvent):
                yield message
            else:
                self._answered(tab, message)

    def _answered(self, tab: CdpTab, reply: TargetReply) -> None:
        then = self._answers.pop((tab.page, reply.number), None)
        if then is not None:
            then(reply.result, CommandRefused("failed") if reply.result is None else None)

    def _relay(self, tab: CdpTab) -> Relay:
        return self._relays.setdefault(tab.page, Relay(tab.wire))
