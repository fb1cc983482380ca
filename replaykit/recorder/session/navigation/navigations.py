"""Navigations of main frames: events, and steps where the agent asked for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from replaykit.recorder.session.action_tracker import ActionTracker
from replaykit.recorder.session.declared_steps import DeclaredAction
from replaykit.recorder.session.driver_messages import (
    Arm,
    HistoryCall,
    Navigated,
    PageMessage,
    ReadPage,
    TabOpened,
)
from replaykit.recorder.session.navigation.history_attribution import HistoryAttribution
from replaykit.recorder.session.navigation.initiator import Origin, Sign, origin
from replaykit.recorder.session.navigation.pending_navigation import PendingNavigation
from replaykit.recorder.session.navigation.requested_addresses import (
    RequestedAddresses,
    elsewhere,
    is_remote,
    requested_of,
)
from replaykit.recorder.session.outbox import Flow, StepRef
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.tabs import SKEW_MS, Tab
from replaykit.trajectory.action import Action, GoBack, GoForward, Goto, Reload, Unknown
from replaykit.trajectory.exchange import Navigation
from replaykit.trajectory.scalars import Threw

Document: TypeAlias = tuple[int | None, int | None]
"""The exchange of a document, and its HTTP status, as far as they are known."""

REPLACED_MAX = 100
"""Navigations kept that others have replaced."""


class NavigationTracker:
    """Follows the main frames of all tabs."""

    def __init__(
        self,
        state: SessionState,
        action_tracker: ActionTracker,
        *,
        document_of: Callable[[int, Navigated], Document],
    ) -> None:
        self._outbox = state.outbox
        self._flows = state.flows
        self._tabs = state.tabs
        self._steps = state.steps
        self._capture = state.capture
        self._action_tracker = action_tracker
        self._document_of = document_of
        self._travelling = HistoryAttribution(state.flows, state.tabs)
        self._pending: dict[int, PendingNavigation] = {}
        self._replaced: dict[str, PendingNavigation] = {}
        """Loader id to a navigation that another has replaced, and whose failure may still come."""
        self._requests = RequestedAddresses(self._write)
        self.has_network = True
        """The network is recorded: it reports navigations that never arrive."""
        self.is_begun = True
        """The agent has the browser; before that navigations are the recorder's."""
        self.receives_agent_calls = False
        """The agent calls the driver that reports here."""

    def navigated(self, message: Navigated) -> None:
        """Record a stage of a navigation."""
        tab = self._tabs.get(message.page)
        handler = _STAGES.get(message.stage)
        if tab is not None and handler is not None and not message.frame:
            handler(self, tab, message)

    def travel(self, message: HistoryCall) -> None:
        """Record that the agent asks its driver to go back or forward."""
        self._travelling.called(message)

    def receive(self, message: PageMessage) -> bool:
        """Handle a message of a page; return whether it is about navigations only."""
        return self._travelling.receive(message, self._pending.get(message.page))

    def settle(self, until: float) -> None:
        """Count the agent's navigations begun before `until` as done, though they have not arrived."""
        for page, pending in list(self._pending.items()):
            tab = self._tabs.get(page)
            if tab is not None and pending.at <= until:
                self._leave(tab, pending, until, None)

    def finish(self) -> None:
        """Report the addresses that led nowhere, and the tabs that may have asked for one unseen."""
        self._requests.finish()
        # A new tab may ask before the recorder listens in it; a reply without a page leaves it empty.
        empty = [] if self.has_network else [tab for tab in self._tabs.all if tab.is_new_popup]
        for tab in empty:
            self._outbox.gap("urls", "redirect.unseen", self._action_tracker.now, page=tab.page)

    def opened(self, tab: Tab, message: TabOpened, ref: StepRef | None, *, is_touched: bool) -> None:
        """Report the document that a new tab already shows."""
        if tab.url in ("", "about:blank"):
            return
        if tab.opener is not None:
            found = origin(Sign(is_popup=True, is_touched=is_touched))
        else:
            found = Origin(kind="goto", cause="agent")
        event = Navigation(
            t=ms(message.at),
            page=tab.page,
            url=tab.url,
            kind=found.kind,
            cause=found.cause,
            requested=None if message.existing else self._first(tab, message.requested, tab.url, message.at),
        )
        self._write(event, ref)
        tab.commits = 1

    def _first(self, tab: Tab, entries: Sequence[tuple[str, str]], url: str, at: float) -> str | None:
        """Return what was first asked for, if that is another address; say so where no one knows."""
        requested = requested_of(entries, url)
        if requested is None and is_remote(url):
            self._outbox.gap("urls", "redirect.unseen", at, page=tab.page)
        return elsewhere(requested, url)

    def _write(self, event: Navigation, ref: StepRef | None) -> None:
        self._requests.arrived(event)
        self._outbox.write(event, ref=ref)

    def glimpsed(self, tab: Tab, at: float, url: str) -> None:
        """Report an address from before the recorder was attached; whether the page arrived is unknown."""
        if url and url not in ("about:blank", tab.url):
            self._write(Navigation(t=ms(at), page=tab.page, url=url, kind="unknown", ambiguous=True), None)

    def _requested(self, tab: Tab, message: Navigated) -> None:
        self._renew(tab, message)

    def _started(self, tab: Tab, message: Navigated) -> None:
        pending = self._pending.get(tab.page)
        if pending is None or pending.type is not None or pending.url != message.url:
            pending = self._renew(tab, message)
        pending.type, pending.loader = message.navigation_type or "", message.loader
        self._begin(tab, pending, message)

    def _elsewhere(self, tab: Tab, message: Navigated) -> None:
        """Keep an address that a page opens a tab for: its tab may go before it shows anything."""
        if self.is_begun and not self._requests.ask(*self._unarrived(tab, message, kind="popup")):
            self._outbox.gap("urls", "flood", message.at, page=tab.page)

    def _unarrived(
        self, tab: Tab, message: Navigated, *, kind: str, after: StepRef | None = None
    ) -> tuple[Navigation, StepRef | None]:
        is_touched = tab.was_touched(message.at)
        event = Navigation(
            t=ms(message.at),
            page=tab.page,
            url=message.url,
            kind=kind,
            cause="step" if is_touched else "script",
            committed=False,
        )
        return event, (after or self._steps.ref_at(message.at, SKEW_MS)) if is_touched else None

    def _renew(self, tab: Tab, message: Navigated) -> PendingNavigation:
        old = self._pending.get(tab.page)
        if old is not None:
            # Another navigation took its place.
            self._leave(tab, old, message.at, Threw(name="net::ERR_ABORTED"))
            self._replace(old)
        pending = PendingNavigation(message, tab, self._toucher(tab))
        self._pending[tab.page] = pending
        return pending

    def _replace(self, old: PendingNavigation) -> None:
        if old.loader is not None and self.has_network:
            self._replaced[old.loader] = old
            for loader in [*self._replaced][:-REPLACED_MAX]:
                del self._replaced[loader]

    def _toucher(self, tab: Tab) -> Tab | None:
        return self._tabs.get(tab.opener) if tab.is_new_popup else tab

    def _begin(self, tab: Tab, pending: PendingNavigation, message: Navigated) -> None:
        """Begin the agent's action, if this navigation is one."""
        pending.take_call(tab, message)
        found = self._origin(tab, pending, message)
        if found.is_ambiguous and not pending.is_late:
            self._doubt(tab, pending)
        if pending.ref is not None or found.cause != "agent" or not self.is_begun:
            return
        if tab.opening is not None and tab.commits == 0 and pending.url == tab.opened_url:
            pending.ref, pending.is_done = tab.opening, True  # it belongs to the opening of the tab
            return
        self._action_tracker.settle(tab)
        pending.action = _action(found, pending.url)
        if pending.is_late:
            pending.ref = self._action_tracker.begin_late(tab, pending.at, pending.left)
        else:
            pending.before, pending.blobs = self._capture.before(tab, tab.latest, pending.at)
            pending.ref = self._action_tracker.begin(tab, pending.at, is_gesture=False)
        pending.is_done = pending.ref is None

    def _doubt(self, tab: Tab, pending: PendingNavigation) -> None:
        """Keep what the page shows: whose move it is will be known when it has gone."""
        pending.is_late, pending.left = True, tab.latest
        pending.after = self._steps.ref_at(pending.at, SKEW_MS)
        pending.before, pending.blobs = self._capture.before(tab, tab.latest, pending.at)

    def _origin(
        self, tab: Tab, pending: PendingNavigation, message: Navigated, direction: str | None = None
    ) -> Origin:
        is_popup = tab.is_new_popup
        return origin(pending.sign(message, is_popup=is_popup, direction=direction or message.direction))

    def _committed(self, tab: Tab, message: Navigated) -> None:
        pending = self._pending.pop(tab.page, None)
        if pending is None:
            if message.url == "about:blank" and message.navigation_type is None:
                return self._arrive(tab, message)  # the empty document that every tab begins with
            pending = self._renew(tab, message)
            self._pending.pop(tab.page, None)
        pending.type = pending.type or message.navigation_type
        self._finish(tab, pending, message)
        return None

    def _within(self, tab: Tab, message: Navigated) -> None:
        pending = self._pending.get(tab.page)
        # Another document may be on its way while this one changes its address.
        is_own = pending is not None and pending.type in ("sameDocument", "historySameDocument")
        if pending is None or not is_own:
            pending = PendingNavigation(message, tab, self._toucher(tab))
        else:
            del self._pending[tab.page]
        self._finish(tab, pending, message)

    def _failed(self, tab: Tab, message: Navigated) -> None:
        pending = self._replaced.pop(message.loader or "", None) or self._pending.pop(tab.page, None)
        if pending is None:
            pending = PendingNavigation(message, tab, self._toucher(tab))
            pending.type = message.navigation_type
        self._finish(tab, pending, message)

    def _finish(self, tab: Tab, pending: PendingNavigation, message: Navigated) -> None:
        # Readers sort by time, and the clock guesses when a message of a backlog came.
        message = replace(message, at=max(message.at, tab.arrived_at))
        is_attributable = bool(pending.activated) or self.receives_agent_calls
        pending.is_open &= is_attributable and message.stage == "committed" and not message.is_kept
        # Its call would have arrived; one through the protocol is reported by the page left, or not known.
        is_unasked = pending.is_in_history and not (pending.is_asked or pending.activated)
        pending.is_own |= self.receives_agent_calls and is_unasked
        # Once more: a commit may be the first to say what kind of navigation this is.
        self._begin(tab, pending, message)
        found = self._origin(tab, pending, message)
        if message.stage == "committed":
            # Before the tab moves on: gestures refer to the document that it leaves.
            self._action_tracker.settle(tab)
        document = exchange, status = self._document_of(tab.page, message)
        self._arrive(tab, message, status)
        # A move that never arrived left the history as it was.
        is_page_like = (found.is_ambiguous or pending.is_own) and message.stage != "failed"
        if is_page_like or (found.kind == "unknown" and found.cause == "agent"):
            self._flows.start(self._asking(tab, pending, message, document), token=pending)
        elif exchange is None and _is_unseen(pending, message):
            self._flows.start(self._asking_first(tab, pending, message, found, document))
        else:
            self._report(tab, pending, message, found, document)

    def _asking(self, tab: Tab, pending: PendingNavigation, message: Navigated, document: Document) -> Flow:
        if message.stage == "committed" and self._origin(tab, pending, message).is_ambiguous:
            yield from self._travelling.wait(tab, pending)
            self._begin(tab, pending, message)
        found = self._origin(tab, pending, message)
        if found.kind == "unknown":
            reply = yield ReadPage(id=0, page=tab.page, what="history")
            direction = reply.value if isinstance(reply.value, str) else None
            found = self._origin(tab, pending, message, direction)
        self._report(tab, pending, message, found, document)

    def _asking_first(
        self, tab: Tab, pending: PendingNavigation, message: Navigated, found: Origin, document: Document
    ) -> Flow:
        """Ask what a document was first asked for of which no one saw the start."""
        reply = yield ReadPage(id=0, page=tab.page, what="requested")
        entries = reply.value if isinstance(reply.value, list) else []
        requested = self._first(tab, entries, message.url, message.at)
        self._report(tab, pending, message, found, document, requested)

    def _arrive(self, tab: Tab, message: Navigated, status: int | None = None) -> None:
        """Let the tab show the document."""
        if message.stage == "failed":
            return
        tab.url = message.url
        if message.stage == "committed":
            tab.document, tab.status, tab.title = message.document, status, None
            tab.arrived_at, tab.activated, tab.left_by = message.at, "", ""
            self._travelling.give_up(tab, message.at)
            tab.commits += message.url != "about:blank"
            tab.recogniser.renew()
            self._outbox.send(Arm(page=tab.page, document=message.document))

    def _report(
        self,
        tab: Tab,
        pending: PendingNavigation,
        message: Navigated,
        found: Origin,
        document: Document,
        requested: str | None = None,
    ) -> None:
        ref, (exchange, status) = pending.ref, document
        if ref is not None:
            self._report_action(tab, pending, _action(found, pending.url), message.at, _error(message))
        elif found.cause == "step":
            ref = pending.after or self._steps.ref_at(pending.at, SKEW_MS)
        event = Navigation(
            t=ms(message.at),
            page=tab.page,
            url=message.url,
            kind=found.kind,
            cause=found.cause if self.is_begun else "unknown",
            committed=message.stage != "failed",
            error=message.error,
            same_document=message.stage == "within",
            ambiguous=found.is_ambiguous,
            exchange=exchange,
            status=status,
            requested=requested or pending.requested(found, message.url),
        )
        self._write(event, ref)

    def _leave(self, tab: Tab, pending: PendingNavigation, at: float, error: Threw | None) -> None:
        """Count a navigation that has not arrived as done; no document will show whose it was."""
        if pending.is_late:
            pending.is_open = False
            self._begin(tab, pending, pending.message)
        self._report_action(tab, pending, pending.action, at, error)
        found = self._origin(tab, pending, pending.message)
        if pending.is_loading and found.cause != "agent" and self.is_begun and not self.has_network:
            self._write(*self._unarrived(tab, pending.message, kind=found.kind, after=pending.after))

    def _report_action(
        self, tab: Tab, pending: PendingNavigation, action: Action, at: float, error: Threw | None
    ) -> None:
        if pending.ref is None or pending.is_done:
            return
        pending.is_done = True
        done = DeclaredAction(
            ref=pending.ref,
            page=tab.page,
            action=action,
            at=pending.at,
            end=at,
            before=pending.before,
            blobs=tuple(pending.blobs),
            url=tab.url,
            tabs=self._tabs.views(),
            error=error,
        )
        self._action_tracker.done(done, tab)


_STAGES: dict[str, Callable[[NavigationTracker, Tab, Navigated], None]] = {
    "requested": NavigationTracker._requested,
    "started": NavigationTracker._started,
    "committed": NavigationTracker._committed,
    "within": NavigationTracker._within,
    "failed": NavigationTracker._failed,
    "elsewhere": NavigationTracker._elsewhere,
}


def _action(found: Origin, url: str) -> Action:
    match found.kind:
        case "back":
            return GoBack()
        case "forward":
            return GoForward()
        case "reload":
            return Reload()
        case "goto":
            return Goto(url=url)
    return Unknown(name="history")


def _is_unseen(pending: PendingNavigation, message: Navigated) -> bool:
    """Whether a document came whose start no one saw, so that redirects may have led to it."""
    is_new = message.stage == "committed" and not message.is_kept
    return is_new and not pending.is_loading and is_remote(message.url)


def _error(message: Navigated) -> Threw | None:
    return Threw(name=message.error or "failed") if message.stage == "failed" else None
