"""Tabs that open, close and crash: events, and steps where the agent did it."""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from msgspec import Struct

from replaykit.recorder.session.action_tracker import ActionTracker
from replaykit.recorder.session.declared_steps import DeclaredAction
from replaykit.recorder.session.driver_messages import Arm, Pause, TabClosed, TabCrashed, TabMissed, TabOpened
from replaykit.recorder.session.navigation.navigations import NavigationTracker
from replaykit.recorder.session.outbox import Flow, StepRef
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.tabs import SKEW_MS, Tab
from replaykit.recorder.session.witnesses import Commanded
from replaykit.trajectory import exchange
from replaykit.trajectory.action import CloseTab, NewTab

PAGE_CHANNELS = (
    "actions", "targets", "urls", "snapshots", "form_state", "screenshots", "a11y", "network", "dialogs",
    "console",
)  # fmt: skip
"""Channels that a page writes to: a tab that was never listened in may have had something for each."""

SHOWN_CHANNELS = ("snapshots", "form_state", "screenshots")
"""Channels of what a page showed."""

CLOSING_MS = 500
"""When a browser goes away its tabs close one by one, all within this time."""

ASKED_MS = 10_000
"""A tab that the agent closes is gone at most so long after."""

_ONE = frozenset({"Page.close", "Target.closeTarget"})
_MANY = frozenset({"Browser.close", "BrowserContext.close", "Target.disposeBrowserContext"})


class Closed(Struct, frozen=True, kw_only=True):
    """A tab that closed for a reason that is not known yet."""

    tab: Tab
    """Which."""
    at: float
    """When, ms."""


class TabLifecycle:
    """Follows the tabs of the agent's browser."""

    def __init__(
        self,
        state: SessionState,
        action_tracker: ActionTracker,
        navigating: NavigationTracker,
        *,
        channels: Collection[str],
    ) -> None:
        self._outbox = state.outbox
        self._flows = state.flows
        self._tabs = state.tabs
        self._steps = state.steps
        self._capture = state.capture
        self._action_tracker = action_tracker
        self._navigations = navigating
        self._channels = [channel for channel in PAGE_CHANNELS if channel in channels]
        self._closed: list[Closed] = []
        self._asked: list[Commanded] = []
        self._unasked: list[Closed] = []
        self._gone_at = -inf
        self.is_logged = False
        """All commands of the agent are known, also those that close a tab."""

    def commanded(self, message: Commanded) -> None:
        """Record a command of the agent: a tab that it closes has not crashed."""
        if message.name in _ONE | _MANY and not message.refused:
            self._asked.append(message)

    def opened(self, message: TabOpened, *, is_begun: bool) -> Tab:
        """Add a tab. One without opener, after the first, is the agent's action."""
        is_first = not self._tabs.all
        self.confirm(message.at)
        tab = self._tabs.add(message.page, message.url, message.opener)
        tab.is_linked = message.is_linked
        self._outbox.send(Arm(page=tab.page, document=tab.document))
        opener = self._tabs.get(message.opener)
        is_touched = opener is not None and opener.was_touched(message.at)
        is_action = opener is None and not (is_first or message.existing) and is_begun
        ref = self._steps.ref_at(message.at, SKEW_MS) if is_touched else None
        if is_action:
            ref = tab.opening = self._new_tab(tab, message.at)
        self._write_opened(message, "agent" if is_action else "page" if opener is not None else "unknown")
        for at, url in message.earlier:
            self._navigations.glimpsed(tab, at, url)
        if is_action or opener is not None:
            self._navigations.opened(tab, message, ref, is_touched=is_touched)
        return tab

    def _write_opened(self, message: TabOpened, cause: str) -> None:
        self._outbox.write(
            exchange.TabChange(
                t=ms(message.at),
                page=message.page,
                state="opened",
                opener=message.opener,
                cause=cause,
                url=message.url,
                armed_after_ms=message.armed_after_ms,
            )
        )

    def missed(self, message: TabMissed, *, is_begun: bool) -> None:
        """Record a tab that was never observed: at best its address is known, all else is missing."""
        opening = TabOpened(
            at=message.at,
            page=message.page,
            url="about:blank",
            opener=message.opener,
            existing=message.existing,
            earlier=message.urls,
            is_linked=message.is_empty,
        )
        tab = self.opened(opening, is_begun=is_begun)
        tab.url = message.urls[-1][1] if message.urls else tab.url
        for channel in () if message.is_empty else self._channels:
            self._outbox.gap(channel, "attach.failed", message.at, page=tab.page)
        # It may still be there, but it can be asked for nothing.
        if message.closed_at is None:
            tab.is_open = False
        else:
            self.closed(TabClosed(at=message.closed_at, page=tab.page), was_received=False)

    def closed(self, message: TabClosed, *, was_received: bool = True) -> None:
        """Record that a tab is gone. Whether an action, the page or the end did it shows later."""
        tab = self._tabs.get(message.page)
        if tab is None or not tab.is_open:
            return None
        self._action_tracker.settle(tab)
        self._tabs.close(tab)
        if was_received:
            self._miss_final_page(tab, message.at)
        self._gone_at = message.at
        was_asked = self._was_asked(tab, message.at)
        if not (was_asked or _has_reported_end(tab)):
            self._unasked.append(Closed(tab=tab, at=message.at))
        # The browser closes the tab of a link to a download; no one else does without a command.
        is_download = tab.is_linked and tab.is_new_popup and self.is_logged and not was_asked
        if is_download or _is_own(tab, message.at, was_received=was_received):
            return self._write(tab, message.at, "page")
        self._closed.append(Closed(tab=tab, at=message.at))
        # In a declared step the agent is at work: this is no browser that goes away.
        if self._steps.window is not None:
            return self.confirm(message.at)
        self._flows.start(self._waiting(), counts=False)
        return None

    def crashed(self, message: TabCrashed) -> None:
        """Record that a tab crashed."""
        tab = self._tabs.get(message.page)
        if tab is None or not tab.is_open:
            return
        self._action_tracker.settle(tab)
        self._tabs.close(tab)
        self._outbox.write(
            exchange.TabChange(t=ms(message.at), page=tab.page, state="crashed", cause="page", url=tab.url)
        )
        self._miss_rest(Closed(tab=tab, at=message.at), "crashed")

    def _was_asked(self, tab: Tab, at: float) -> bool:
        """Whether a command of the agent closed a tab; one for a single tab explains no other."""
        self._asked = [one for one in self._asked if at - one.at <= ASKED_MS]
        likely = [one for one in self._asked if one.page in (None, tab.page)]
        if likely and likely[0].name in _ONE:
            self._asked.remove(likely[0])
        return bool(likely)

    def _miss_browser(self) -> None:
        """Report that the last tabs went away by themselves; one that went before may have closed itself."""
        for one in self._unasked:
            if one.at >= self._gone_at - CLOSING_MS:
                self._miss_rest(one, "browser.gone")

    def _miss_rest(self, one: Closed, why: str) -> None:
        """Report a gap: a tab closed by itself, so its last events are unknown."""
        for channel in self._channels:
            self._outbox.gap(channel, why, one.at, page=one.tab.page)

    def _miss_final_page(self, tab: Tab, at: float) -> None:
        """Report that no one saw what a tab showed last."""
        # An empty page shows nothing that could be missed.
        if tab.latest is None and tab.final_push is None and tab.url not in ("", "about:blank"):
            for channel in SHOWN_CHANNELS:
                if channel in self._channels:
                    self._outbox.gap(channel, "closed.unseen", at, page=tab.page)

    def confirm(self, at: float) -> None:
        """Count the tabs closed until then as the agent's actions: the run went on after them."""
        closed = [one for one in self._closed if one.at <= at]
        self._closed = [one for one in self._closed if one.at > at]
        for one in closed:
            self._close_tab(one)
            self._write(one.tab, one.at, "agent")

    def conclude(self) -> list[Tab]:
        """Decide about the tabs that closed last; return those that went away with the browser."""
        # A tab is left, so the browser did not go away: the agent closed the others.
        if self._tabs.open:
            self.confirm(inf)
        else:
            self._miss_browser()
        closed, self._closed = self._closed, []
        for one in closed:
            self._write(one.tab, one.at, "unknown")
        return [one.tab for one in closed]

    def _waiting(self) -> Flow:
        reply = yield Pause(id=0, ms=CLOSING_MS)
        if self._tabs.open:
            self.confirm(reply.at)

    def _new_tab(self, tab: Tab, at: float) -> StepRef | None:
        ref = self._action_tracker.begin(tab, at, is_gesture=False, is_opening=True)
        if ref is None:
            return None
        is_blank = tab.opened_url in ("", "about:blank")
        action = NewTab(url=None if is_blank else tab.opened_url)
        done = DeclaredAction(
            ref=ref,
            page=tab.page,
            action=action,
            at=at,
            end=at,
            url=tab.url,
            tabs=self._tabs.views(),
        )
        self._action_tracker.done(done, tab)
        return ref

    def _close_tab(self, one: Closed) -> None:
        ref = self._action_tracker.begin(one.tab, one.at, is_gesture=False, is_opening=True)
        if ref is None:
            return
        ref.looks = 1  # there is nothing left to look at
        before, blobs = self._capture.before(one.tab, one.tab.latest, one.at)
        # `begin` made the closed tab the active one.
        self._tabs.close(one.tab)
        active = self._tabs.get(self._tabs.active)
        action = DeclaredAction(
            ref=ref,
            page=one.tab.page,
            action=CloseTab(),
            at=one.at,
            end=one.at,
            before=before,
            blobs=tuple(blobs),
            url=active.url if active else None,
            tabs=self._tabs.views(),
        )
        self._action_tracker.done(action, one.tab)

    def _write(self, tab: Tab, at: float, cause: str) -> None:
        event = exchange.TabChange(t=ms(at), page=tab.page, state="closed", cause=cause, url=tab.url)
        self._outbox.write(event)


def _has_reported_end(tab: Tab) -> bool:
    """Whether a tab's document reported its end, or had its last look; an empty one has none."""
    is_empty = tab.url in ("", "about:blank")
    return (
        is_empty
        or bool(tab.left_by)
        or (tab.final_push is not None and tab.final_push.document == tab.document)
    )


def _is_own(tab: Tab, at: float, *, was_received: bool) -> bool:
    """Whether a tab was closed by a page (`window.close()`), as far as can be seen.

    Of a document that reported no end: by a gesture on it just before, or by a popup's document before its
    first message.
    """
    if tab.left_by:
        return tab.left_by == "beforeunload"
    is_young = was_received and tab.opener is not None and tab.commits > 1 and tab.latest is None
    return is_young or tab.was_touched(at, here=True)
