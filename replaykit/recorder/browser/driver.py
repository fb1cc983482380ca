"""Common parts of both drivers: tabs, session, sink. A driver carries out commands and decides nothing.

Errors here must not reach the agent: they are logged, and the recording gets a gap.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from replaykit.recorder.browser.child_targets import Targets
from replaykit.recorder.browser.command_effects import CallBrowser, Carried, CommandRefused, Job
from replaykit.recorder.browser.driver_parts import nothing
from replaykit.recorder.browser.frames_and_workers import flush
from replaykit.recorder.browser.instrumentation import Armed, arm, environment
from replaykit.recorder.browser.pending_relays import Relaying
from replaykit.recorder.browser.session_commands import Command, Commands
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.tab.leave_listeners import LEAVING
from replaykit.recorder.browser.target_registry import FoundPage, TargetRegistry
from replaykit.recorder.browser.target_relay import RECEIVED, TargetEvent
from replaykit.recorder.browser.witnesses.command_log import DriverLog
from replaykit.recorder.browser.witnesses.command_times import CommandTimes
from replaykit.recorder.browser.witnesses.driver_requests import FOREIGN_PAGE, DriverRequests
from replaykit.recorder.browser.witnesses.target_census import Census
from replaykit.recorder.browser.witnesses.witness_reports import may_have_acted, testimonies
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    MAIN,
    Arm,
    CommandReply,
    Core,
    Disarm,
    End,
    Input,
    Output,
    Seal,
    SnapshotPushed,
    TabClosed,
    TabCrashed,
    TabMissed,
    TabOpened,
    Write,
)
from replaykit.recorder.session.request_messages import RequestMessage
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.step import Environment

log = logging.getLogger("replaykit.recorder")

PROBE = -1
"""Ordinals of probe tabs go down from here: they are no tabs of the run."""

CRASHED = "Inspector.targetCrashed"
"""Of a tab's own session; Playwright's event of that name also comes when only a frame has crashed."""


class Driver(Relaying):
    """Feeds the session, stores what it writes, and queues what it asks for."""

    is_sealed = False
    """The session has ended."""
    fault: Exception | None = None
    """The first thing that went wrong in the recorder itself."""
    is_attaching = False
    is_searching = False
    """The browser's own session finds what is below pages, frames and workers."""
    is_busy = False
    """An input is being taken in."""
    has_crashed = False
    """A tab of the agent has crashed."""
    is_proxied = False
    """All that the agent asks of the browser comes through a proxy of the recorder."""
    browser_version: str | None = None
    _core: Core | None = None
    _holders = 0

    def __init__(
        self,
        opening: Callable[[Environment], Core],
        store: Callable[[Write], None],
        script: str,
        *,
        clock: Clock | None = None,
        has_network: bool = True,
        is_sync: bool = False,
        names: InjectedNames | None = None,
        holds: bool = False,
    ) -> None:
        super().__init__()
        self.log = DriverLog(self, is_sync=is_sync)
        """The agent's calls of its driver."""
        self.clock = clock or Clock()
        """The recording's clock."""
        self.tabs: dict[int, CdpTab] = {}
        """Tabs by ordinal, probe tabs and closed ones included."""
        self.script = script
        self.names = names or InjectedNames()
        """Names that the script uses for the objects that it needs."""
        self.has_network = has_network
        self.commands = Commands(self.tabs, self.clock)
        self.requests = DriverRequests(self.clock, is_on=has_network)
        """Requests that the driver's own events report."""
        self.queue: list[Command] = []
        self.on_limit: Callable[[], None] = nothing
        """Called when the session has ended the run: the agent has to stop."""
        self.on_armed: Callable[[str], None] = nothing
        """Called with the target id of a page that the recorder listens in now."""
        self.target_registry = TargetRegistry(self.clock)
        """The pages of the browser."""
        self._opening = opening
        self._store = store
        self._early: list[Input] = []
        self._pages: dict[Any, CdpTab] = {}
        self._contexts: set[Any] = set()
        self.command_times = CommandTimes()
        """When the agent asked for input and scripts."""
        self._backlog: dict[int, list[TargetEvent]] = {}
        self._lost: list[CdpTab] = []
        self._leaving: dict[int, TabClosed | TabCrashed] = {}
        self._newcomers: list[tuple[CdpTab | None, Carried]] = []
        self._holds = holds
        self.census = Census()
        """Counts of pages, frames and workers."""
        self.targets = Targets(self)
        """Frames in processes of their own, and workers, of all tabs."""

    def pump(self) -> None:
        """Start what the session has asked for."""

    # The session

    @property
    def has_begun(self) -> bool:
        """Whether the header is written."""
        return self._core is not None

    @property
    def is_ready(self) -> bool:
        """Whether the agent may act: every tab is instrumented, and all observations due are done."""
        return not self._backlog and (self._core is None or self._core.is_ready)

    @property
    def is_settled(self) -> bool:
        """Whether all tabs and frames that are known of are armed, or cannot be."""
        targets = (one for tab in self.tabs.values() if not tab.is_gone for one in tab.targets.values())
        return not self._backlog and all(target.is_armed for target in targets)

    def listening(self) -> list[Carried]:
        """Return one flush for each tab.

        After them, all messages that pages have sent so far have arrived.
        """
        tabs = [tab for page, tab in self.tabs.items() if page not in self._backlog]
        return [flush(tab) for tab in tabs if tab.actor == "agent" and not tab.is_gone]

    def begin(self, environment: Environment) -> None:
        """Start the session, now that the header can be written, and catch up."""
        if self._core is None:
            self._core = self._opening(environment)
            self._put(self._core.start(self.clock.now()))
            early, self._early = self._early, []
            for item in early:
                self.feed(item)

    def feed(self, item: Input) -> None:
        """Give the session an input; what it writes is stored at once, what it asks for is queued."""
        self.command_times.note(item)
        if self._core is None:
            self._early.append(item)
        if self._core is None or self.is_sealed:
            return
        if isinstance(item, End):
            self.targets.miss_unarmed()
            self._miss_tabs()
            for testimony in testimonies(self):
                self._put(self._core.feed(testimony))
        was_ending, self.is_busy = self._core.is_ending, True
        try:
            self._put(self._core.feed(item))
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)
        finally:
            self.is_busy = False
        if self._core.is_ending and not was_ending and not isinstance(item, End):
            self.on_limit()

    def failed(self, channel: str, error: Exception) -> None:
        """Note a fault of the recorder as a gap; the agent goes on."""
        log.exception("the recorder failed", exc_info=error)
        self.fault = self.fault or error
        self.gap(channel, "recorder.failed")

    def gap(self, channel: str, why: str, count: int = 1, page: int | None = None, detail: str = "") -> None:
        """Report that something was missed."""
        self.commands.watching.take(channel, why)
        at, more = int(self.clock.now()), detail or None
        event = Gap(t=at, page=page, channel=channel, why=why, count=count, detail=more)
        if self._core is not None and not self.is_sealed:
            self._write(Write(event=event))

    def replied(self, command: Command, job: Job) -> None:
        """Report to the session what came of a command."""
        if job.fault is not None:
            self.failed("actions", job.fault)
        for tab in self.tabs.values():
            self.report_found(tab)
        self.feed(CommandReply(at=self.clock.now(), id=command.id, value=job.value, error=job.error))

    def _put(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            match output:
                case Write():
                    self._write(output)
                case Seal():
                    self.is_sealed = True
                case Arm() | Disarm():
                    pass  # every tab is instrumented before the session learns of it, until it is closed
                case _:
                    self.queue.append(output)

    def _write(self, write: Write) -> None:
        try:
            self._store(write)
        except Exception as error:
            log.exception("the recording cannot be written", exc_info=error)
            self.fault = self.fault or error

    # Tabs

    def new_tab(self, actor: str) -> CdpTab:
        """Give a tab its ordinal; its events wait until it is armed."""
        taken = [page for page in self.tabs if (page < 0) == (actor == "probe")]
        page = PROBE - len(taken) if actor == "probe" else len(taken)
        census = self.census if actor == "agent" else None
        tab = self.tabs[page] = CdpTab(
            page, self.clock, actor=actor, names=self.names, holds=self._holds, census=census
        )
        tab.is_doubled = self.requests.is_whole_source
        tab.is_searched = self.is_searching
        tab.is_following = not self.is_searching
        tab.leave_listeners.is_on = self.has_network
        tab.on_listening = lambda: self._armed(tab)
        tab.documents.may_have_acted = partial(may_have_acted, self, page)
        tab.documents.arrival = self.command_times.arrival
        tab.is_existing = self.is_attaching
        self._backlog[page] = []
        return tab

    def _armed(self, tab: CdpTab) -> None:
        found = self.target_registry.of(tab)
        if found is not None:
            self.on_armed(found.id)

    def opened(self, tab: CdpTab, armed: Armed, opener: CdpTab | None) -> None:
        """Report an armed tab to the session, then all that happened in it meanwhile."""
        if tab.page not in self._backlog:
            return  # no one waits for it any more
        self.begin(environment(tab, armed, self.browser_version))
        tab.census.met()
        backlog = self._backlog.pop(tab.page)
        if tab.actor == "agent":
            self.feed(self._tab_opened(tab, armed, opener))
        for event in backlog:
            self._receive(tab, event)
        tab.is_watched = True
        if tab.page in self._leaving:
            self._end(tab, self._leaving.pop(tab.page))
        is_held = self.is_proxied or self.target_registry.is_held(tab, opener)
        late = tab.network.late((), armed.urls, least=int(not is_held))
        is_reported = is_held and self.requests.is_listening and (self.log.is_whole or self.is_proxied)
        if late and self.has_network and not (tab.is_existing or is_reported):
            self.gap("network", "tab.late", late, tab.page)

    def _tab_opened(self, tab: CdpTab, armed: Armed, opener: CdpTab | None) -> TabOpened:
        found, is_existing = self.target_registry.of(tab), tab.is_existing
        return TabOpened(
            at=tab.seen_at,
            page=tab.page,
            url=tab.url,
            opener=opener.page if opener and opener.actor == "agent" else None,
            armed_after_ms=armed.armed_after_ms if opener and not is_existing else None,
            existing=is_existing,
            earlier=() if found is None or is_existing else tuple(found.urls),
            requested=tab.history.requested,
            is_linked=found is not None and found.is_linked,
        )

    def happened(self, tab: CdpTab, event: dict[str, Any]) -> None:
        """Translate one protocol event and feed what it means."""
        try:
            for target_event in self.unwrap(tab, event):
                self._receive(tab, target_event)
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)

    def _receive(self, tab: CdpTab, event: TargetEvent) -> None:
        waiting = self._backlog.get(tab.page)
        if event.method == CRASHED and not event.via:
            tab.documents.crashed(())
            self.report_found(tab)
            self.gone(tab, is_crash=True)
        elif waiting is None:
            self._try_translate(tab, event)
        else:
            waiting.append(event)
            if not event.via:
                tab.note(event.method, event.params)

    def _try_translate(self, tab: CdpTab, event: TargetEvent) -> None:
        try:
            self._translate(tab, event)
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)

    def _translate(self, tab: CdpTab, event: TargetEvent) -> None:
        if event.via and not self.targets.is_claimed(tab, event.via):
            return
        self.report_found(tab)
        for item in tab.translate(event.method, event.params, event.via):
            self._report(tab, item)
        self.report_found(tab)

    def report_found(self, tab: CdpTab) -> None:
        """Feed what commands have found out about a tab, and report what they have missed."""
        found, tab.found = tab.found, []
        for item in found:
            self._report(tab, item)
        while tab.gaps:
            channel, why, count, detail = tab.gaps.pop(0)
            self.gap(channel, why, count, tab.page, detail)

    def _report(self, tab: CdpTab, item: Input) -> None:
        # Events in a probe tab are no actions of the agent; its requests are marked as probes.
        is_frame = isinstance(item, SnapshotPushed) and item.source != MAIN
        if tab.actor == "agent" or is_frame or isinstance(item, RequestMessage):
            self.feed(item)

    # Tabs that the browser reports

    def browser_event(self, event: dict[str, Any]) -> CdpTab | None:
        """Handle an event of the browser's own session; return the tab that it comes from, if any."""
        method, params = event["method"], event.get("params") or {}
        if method == RECEIVED:
            if (tab := self.wired(params["sessionId"])) is not None:
                self.happened(tab, event)
            return tab
        if (below := self.targets.browser_event(event)) is not None:
            return below
        if method == "Target.targetCreated" and params["targetInfo"]["type"] == "shared_worker":
            self._newcomers.append((None, self.targets.report_shared_worker(params)))
        found = self.target_registry.receive(method, params)
        if found is not None and self.target_registry.is_ours(found):
            if method in ("Target.targetDestroyed", "Target.targetCrashed"):
                self._vanished(found, is_crash=method == "Target.targetCrashed")
            elif found.tab is None and not self._holders:
                self._meet(found)
        return None

    def take_newcomers(self) -> list[tuple[CdpTab | None, Carried]]:
        """Return tabs that the browser has reported since this was asked last, and how each is reached."""
        newcomers, self._newcomers = self._newcomers, []
        return newcomers

    @property
    def is_held(self) -> bool:
        """Whether new pages wait."""
        return self._holders > 0

    def hold(self) -> None:
        """Let new pages wait: one of them comes by another way."""
        self._holders += 1

    def release(self) -> None:
        """Reach the pages that waited and did not come by another way."""
        self._holders -= 1
        self.meet_strays()

    def meet_strays(self) -> None:
        """Reach the pages that are to be recorded, and that no one has reached so far."""
        for found in [] if self._holders else self.target_registry.strays():
            self._meet(found)

    def known(self, about: dict[str, Any]) -> CdpTab | None:
        """Return the tab of a target (`Target.TargetInfo`), if the browser has reported it before."""
        found = self.target_registry.get(about["targetId"])
        return found.tab if found else None

    def claim(self, about: dict[str, Any], tab: CdpTab, *, is_context: bool) -> None:
        """Note whose target this is; `is_context`: all pages of its context are recorded."""
        self.target_registry.claim(about, tab)
        if is_context:
            self.target_registry.enter(about.get("browserContextId", ""))
            if not self.is_attaching:
                self.meet_strays()

    def _meet(self, found: FoundPage) -> None:
        tab = found.tab = self.new_tab("agent")
        tab.seen_at = found.at
        self._newcomers.append((tab, self._meeting(tab, found)))

    def _meeting(self, tab: CdpTab, found: FoundPage) -> Carried:
        try:
            wanted = {"targetId": found.id, "flatten": False}
            session = (yield CallBrowser(method="Target.attachToTarget", params=wanted))["sessionId"]
            self.wire(tab, session)
            armed = yield from arm(tab, self.script, self.clock, has_network=self.has_network)
        except CommandRefused:
            self.lose(tab)
            return
        except Exception:
            self.lose(tab)
            raise
        opener = self.target_registry.get(found.opener)
        self.opened(tab, armed, opener.tab if opener else None)

    def _vanished(self, found: FoundPage, *, is_crash: bool) -> None:
        if found.tab in self._lost:
            self._lost.remove(found.tab)
            self._miss_tab(found.tab)
        elif found.tab is not None:
            self.gone(found.tab, is_crash=is_crash)

    def lose(self, tab: CdpTab) -> None:
        """Give up a tab that went away, or could not be reached, before it was armed."""
        if self._backlog.pop(tab.page, None) is None:
            return
        tab.is_gone = True
        found = self.target_registry.of(tab)
        if found is None or found.closed_at is not None:
            self._miss_tab(tab)
        else:
            self._lost.append(tab)  # the browser may still tell where it goes

    def _miss_tab(self, tab: CdpTab) -> None:
        if tab.actor == "probe":
            self.gap("probes", "attach.failed")
            return
        found = self.target_registry.of(tab) or FoundPage(id="", at=tab.seen_at)
        opener = self.target_registry.get(found.opener)
        tab.census.missed(is_empty=found.is_empty)
        self.feed(
            TabMissed(
                at=tab.seen_at,
                page=tab.page,
                opener=opener.tab.page if opener and opener.tab else None,
                urls=tuple(found.urls),
                closed_at=found.closed_at,
                existing=tab.is_existing,
                is_empty=found.is_empty,
            )
        )

    def _miss_tabs(self) -> None:
        for page in list(self._backlog):
            self.lose(self.tabs[page])
        lost, self._lost = self._lost, []
        for tab in lost:
            self._miss_tab(tab)

    def tab_of(self, page: Any) -> int | None:
        """Return the tab of a page; None: it is not listened in, STRANGER: it is not recorded."""
        tab = self._pages.get(page)
        if tab is not None:
            return tab.page
        return FOREIGN_PAGE if self.requests.was_there(page) else None

    # The ends of tabs

    def looked(self, tab: CdpTab, push: Any) -> None:
        """Feed a last look that the driver took on its own, before its page is closed."""
        at = self.clock.of_epoch(push.at - tab.ahead)
        self.feed(SnapshotPushed(at=at, page=tab.page, document=tab.document, push=push))

    def gone(self, tab: CdpTab, *, is_crash: bool = False) -> None:
        """Report to the session that a tab is no more."""
        if tab.actor == "agent" and not tab.is_gone:
            kind = TabCrashed if is_crash else TabClosed
            leaving = kind(at=self.clock.now(), page=tab.page)
            self.has_crashed |= is_crash
            if tab.page in self._backlog:
                self._leaving[tab.page] = leaving  # no event has reported it yet
            else:
                self._end(tab, leaving)
        if not tab.is_gone:
            self.targets.part(tab)
        tab.is_gone = True
        self.give_up_all(tab)

    def _end(self, tab: CdpTab, leaving: TabClosed | TabCrashed) -> None:
        # The session ends before its documents do, and reports no request of their last listeners.
        count = tab.leave_listeners.ended(tab.worlds.unasked(), leaving.at)
        if count and isinstance(leaving, TabClosed):
            self.gap("network", LEAVING, count, tab.page)
        self.feed(leaving)
        tab.documents.gone(())  # what is asked for from now on reaches none of them
