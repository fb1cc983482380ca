"""Whether the agent or the page caused a back/forward navigation after a gesture, if a report decides it.

A page's own back button looks the same as the agent's navigation. Three reports decide: the driver call of an
agent in this process; within a document, the browser's note to the page whether the request came from
outside; and for another document of the same origin, the user activation, which the browser passes on only if
the page navigated by itself.

Own module: `initiator.py` decides at once from one message; this rule may have to wait for the next document.
"""

from __future__ import annotations

from replaykit.recorder.session.driver_messages import MAIN, HistoryCall, PageMessage, Pause
from replaykit.recorder.session.navigation.initiator import HISTORY
from replaykit.recorder.session.navigation.pending_navigation import PendingNavigation
from replaykit.recorder.session.outbox import Flow, Flows
from replaykit.recorder.session.tabs import Tab, Tabs

WORD_MAX_MS = 500
"""Longest wait for the word of a new document; it is the first that it says."""


class HistoryAttribution:
    """Takes in what pages and drivers report of back/forward navigations."""

    def __init__(self, flows: Flows, tabs: Tabs) -> None:
        self._flows = flows
        self._tabs = tabs
        self._doubts: dict[int, tuple[PendingNavigation, int]] = {}

    def called(self, message: HistoryCall) -> None:
        """Record a call of the agent to its driver."""
        tab = self._tabs.get(message.page)
        if tab is not None:
            tab.is_travelling = not message.is_over

    def receive(self, message: PageMessage, pending: PendingNavigation | None) -> bool:
        """Handle a message of the tab of `pending`; return whether it is about the history only."""
        tab = self._tabs.get(message.page)
        if tab is None or message.source != MAIN:
            return message.event.name in ("arrived", "travelled")
        if message.event.activated and message.document == tab.document:
            tab.activated = message.event.activated
        if message.event.name == "arrived":
            self._arrived(message)
        elif message.event.name == "travelled" and pending is not None:
            _decide(pending, message.event.data.get("asked"), is_known=pending.type in HISTORY)
        return message.event.name in ("arrived", "travelled")

    def wait(self, tab: Tab, pending: PendingNavigation) -> Flow:
        """Wait until the document that `pending` led to says whether it was activated; go on without."""
        if not pending.is_open:
            return
        self.give_up(tab, pending.at)
        self._doubts[tab.page] = (pending, tab.document)
        yield Pause(id=0, ms=WORD_MAX_MS)
        if self._doubts.get(tab.page, (None, 0))[0] is pending:
            del self._doubts[tab.page]
        pending.is_open = False

    def give_up(self, tab: Tab, at: float) -> None:
        """Wait no longer for the document in a tab: another one comes."""
        pending, _ = self._doubts.pop(tab.page, (None, 0))
        if pending is not None:
            self._flows.hurry(pending, at)

    def _arrived(self, message: PageMessage) -> None:
        pending, document = self._doubts.get(message.page, (None, 0))
        if pending is None or document != message.document:
            return
        data = message.event.data
        active = data.get("active")
        is_same = pending.activated != "" and data.get("origin") == pending.activated
        is_known = is_same and isinstance(active, bool)
        _decide(pending, not active, is_known=is_known)
        del self._doubts[message.page]
        self._flows.hurry(pending, message.at)


def _decide(pending: PendingNavigation, is_asked: object, *, is_known: bool) -> None:
    pending.is_asked |= is_known and is_asked is True
    pending.is_own |= is_known and is_asked is False
