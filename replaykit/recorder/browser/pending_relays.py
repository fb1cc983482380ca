"""Requests that go through another session, and who waits for what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from replaykit.recorder.browser.cdp_tab import Tab
from replaykit.recorder.browser.command_effects import Refused, Send, Tell
from replaykit.recorder.browser.target_relay import SEND, Answered, Heard, Relay

Then: TypeAlias = Callable[[Any, Refused | None], None]
"""What takes a reply, or why there is none."""


class Relaying:
    """The relays of all tabs."""

    def __init__(self) -> None:
        self._relays: dict[int, Relay] = {}
        self._answers: dict[tuple[int, int], Then] = {}
        self._wired: dict[str, Tab] = {}

    def wire(self, tab: Tab, session: str) -> None:
        """Note through which session the browser's own passes on what a tab says."""
        tab.wire, self._wired[session] = session, tab

    def join(self, tab: Tab, session: str) -> None:
        """Note through which session the browser's own passes on what a target below a tab says."""
        self._relay(tab).joined.add(session)
        self._wired[session] = tab

    def part_from(self, tab: Tab, session: str) -> None:
        """Forget the session of a target below a tab."""
        self._relay(tab).joined.discard(session)
        self._wired.pop(session, None)

    def wired(self, session: str) -> Tab | None:
        """Return the tab that speaks, itself or a target below it, through a session of the browser's own."""
        return self._wired.get(session)

    def relayed(self, effect: Send, then: Then) -> tuple[int, Send | Tell]:
        """Return a request to a target: its number, and the call that carries it; `then` takes the reply."""
        tab = effect.tab
        number, params = self._relay(tab).ask(effect.via, effect.method, effect.params)
        self._answers[tab.page, number] = then
        if tab.wire or (effect.via and effect.via[0] in self._wired):
            return number, Tell(method=SEND, params=params, timeout_ms=effect.timeout_ms)
        return number, Send(tab=tab, method=SEND, params=params, timeout_ms=effect.timeout_ms)

    def give_up(self, tab: Tab, number: int, refused: Refused) -> None:
        """Wait for a reply no longer."""
        self._relay(tab).forget(number)
        then = self._answers.pop((tab.page, number), None)
        if then is not None:
            then(None, refused)

    def give_up_all(self, tab: Tab) -> None:
        """Wait no longer for anything from a tab that is gone."""
        for page, number in list(self._answers):
            if page == tab.page:
                self.give_up(tab, number, Refused("gone"))

    def unwrap(self, tab: Tab, event: dict[str, Any]) -> Iterator[Heard]:
        """Yield what an event of a tab tells, and hand replies to those who wait for them."""
        for said in self._relay(tab).hear(event["method"], event.get("params") or {}):
            if isinstance(said, Heard):
                yield said
            else:
                self._answered(tab, said)

    def _answered(self, tab: Tab, said: Answered) -> None:
        then = self._answers.pop((tab.page, said.number), None)
        if then is not None:
            then(said.result, Refused("failed") if said.result is None else None)

    def _relay(self, tab: Tab) -> Relay:
        return self._relays.setdefault(tab.page, Relay(tab.wire))
