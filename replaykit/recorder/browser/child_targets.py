"""Targets below tabs (out-of-process frames, workers): which session instruments them, and their tab.

The session of a page that is still empty attaches to the targets directly below the page. The browser's own
session finds all others. Asking for them (`Target.setAutoAttach`) would take waiting frames away from other
clients, such as the agent's driver, and such a frame would never load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from msgspec import Struct

from replaykit.recorder.browser.command_effects import CallBrowser, CallMethod, Carried, CommandRefused
from replaykit.recorder.browser.driver_parts import TabKeeper
from replaykit.recorder.browser.frames_and_workers import arm_target, count_in, look_up, own
from replaykit.recorder.browser.listener_queries import look
from replaykit.recorder.browser.tab.cdp_frames import PAGES, WORKERS, Target, Via
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.driver_messages import FrameLeft

CHILDREN_MAX = 10_000
"""Targets of the whole browser, other than pages, that are not attached to, or not yet."""


class Child(Struct, frozen=True, kw_only=True):
    """A target below a page, a frame or a worker, which the browser's own session has reported."""

    about: dict[str, Any]
    """As the protocol reports (`Target.TargetInfo`)."""
    at: float
    """When, ms since recording start."""
    is_early: bool
    """It was reported while the recorder came."""

    @property
    def id(self) -> str:
        """Target id."""
        return str(self.about["targetId"])

    @property
    def above(self) -> str:
        """Id of the target above it, or of the browser context where pages share it."""
        return str(self.about.get("parentId") or self.about.get("browserContextId"))


class Targets:
    """Targets of one driver."""

    def __init__(self, driver: TabKeeper) -> None:
        self._driver = driver
        self._claims: dict[str, tuple[CdpTab, Via]] = {}
        self._children: dict[str, Child] = {}
        self._joins: dict[str, tuple[CdpTab, Child]] = {}

    def due_commands(self, tab: CdpTab) -> Iterator[Carried]:
        """Yield what is to be done about targets and frames that were seen since this was asked last."""
        for item in tab.take_unhandled():
            yield self._arming(tab, item) if isinstance(item, Target) else self._owning(tab, item)
        due = tab.leave_listeners.take_due()
        looking = look(tab, due) if due and self._driver.has_network else None
        if looking is not None:
            yield looking
        if (counting := self._counting(tab)) is not None:
            yield counting
        if tab.census.own_workers.is_due and tab.census.workers.is_own(tab.url):
            tab.census.own_workers.asked()
            yield look_up(tab)
        for child in self._found_below(tab):
            tab.joining += 1
            yield self._joining(tab, self._children.pop(child.id))

    def _counting(self, tab: CdpTab) -> Carried | None:
        """Return the question to frames in other processes, if a command is over since they were asked."""
        settled_at = self._driver.command_times.settled_at(tab.page)
        if tab.actor != "agent" or not tab.counted_at < settled_at < inf:
            return None
        tab.counted_at = settled_at
        places = [place for place in tab.documents.open() if place[0]]
        return count_in(tab, self._driver.clock, places) if places else None

    def browser_event(self, event: dict[str, Any]) -> CdpTab | None:
        """Handle a report of the browser's own session about targets; return the tab that they are below."""
        handle = _HANDLERS.get(event["method"])
        # Where targets wait for the recorder, nothing below them is under way: their sessions ask for it.
        return handle(self, event) if handle is not None and self._driver.is_searching else None

    def miss_unarmed(self) -> None:
        """Report a gap for every target that could not be instrumented."""
        for tab in self._driver.tabs.values():
            for target in tab.targets.values():
                if not (target.is_armed or tab.is_gone):
                    self._miss(tab, target)

    def part(self, tab: CdpTab) -> None:
        """Forget all targets below a tab that is gone."""
        for target in tab.targets.values():
            tab.part(target)
        self._driver.report_found(tab)

    def report_shared_worker(self, params: dict[str, Any]) -> Carried:
        """Report that a shared worker's requests are not seen, if it is one of the recorded pages'."""
        context = params["targetInfo"].get("browserContextId")
        for tab in [tab for tab in self._driver.tabs.values() if tab.actor == "agent" and not tab.is_gone]:
            found = yield CallMethod(tab=tab, method="Target.getTargetInfo")
            if found["targetInfo"].get("browserContextId") == context:
                self._driver.gap("network", "worker.shared")
                return

    def is_claimed(self, tab: CdpTab, via: Via) -> bool:
        """Whether a target's reports belong to this tab: a service worker reports to all its pages."""
        target = tab.targets.get(via)
        if target is None or target.kind != "service_worker":
            return True
        holder, place = self._claims.setdefault(target.id, (tab, via))
        if holder.is_gone or place not in holder.targets or (holder.actor, tab.actor) == ("probe", "agent"):
            holder = tab
            self._claims[target.id] = (tab, via)
        return holder is tab

    def _created(self, event: dict[str, Any]) -> CdpTab | None:
        about = event["params"]["targetInfo"]
        page = self._driver.target_registry.get(about.get("parentId", ""))
        is_followed = page is not None and page.tab is not None and page.tab.is_following
        if about["type"] not in PAGES | WORKERS or is_followed:
            return None
        if len(self._children) >= CHILDREN_MAX:
            self._driver.census.cut += 1
            return None
        clock, is_early = self._driver.clock, self._driver.is_attaching
        child = self._children[about["targetId"]] = Child(about=about, at=clock.now(), is_early=is_early)
        return next((tab for tab in self._driver.tabs.values() if child.above in self._ids(tab)), None)

    def _found_below(self, tab: CdpTab) -> list[Child]:
        if not self._children:
            return []
        ids = self._ids(tab)
        return [child for child in self._children.values() if child.above in ids]

    def _ids(self, tab: CdpTab) -> set[str]:
        """Return the ids of what the browser's own session has to find the targets below of."""
        ids = {target.id for target in tab.targets.values()}
        page = None if tab.is_following or tab.is_gone else self._driver.target_registry.of(tab)
        return ids if page is None else ids | {page.id, page.context}

    def _destroyed(self, event: dict[str, Any]) -> None:
        # While a tab is armed, the target above may be still to come: it says then what this one leaves out.
        if self._driver.is_settled:
            self._children.pop(event["params"]["targetId"], None)

    def _attached(self, event: dict[str, Any]) -> CdpTab | None:
        tab, child = self._joins.pop(event["params"]["targetInfo"]["targetId"], (None, None))
        if tab is not None and child is not None:
            tab.joining -= 1
            self._driver.join(tab, event["params"]["sessionId"])
            # As it was first: one that has an address at once waits for no one.
            self._driver.happened(tab, {**event, "params": {**event["params"], "targetInfo": child.about}})
        return tab

    def _detached(self, event: dict[str, Any]) -> CdpTab | None:
        session = event["params"]["sessionId"]
        tab = self._driver.wired(session)
        if tab is None or (session,) not in tab.targets:
            return None  # it is the page's own
        self._driver.happened(tab, event)
        self._driver.part_from(tab, session)
        return tab

    def _joining(self, tab: CdpTab, child: Child) -> Carried:
        above, wanted = tab.target(child.above), {"targetId": child.id, "flatten": False}
        is_existing, met_at = (
            (tab.is_existing, tab.seen_at) if above is None else (above.is_existing, above.met_at)
        )
        if is_existing and (child.is_early or child.at <= met_at):
            tab.predecessors.add(child.id)
        self._joins[child.id] = (tab, child)
        try:
            yield CallBrowser(method="Target.attachToTarget", params=wanted)
        except CommandRefused:
            tab.joining -= self._joins.pop(child.id, None) is not None
            tab.miss(child.about, child.at)
            self._driver.report_found(tab)

    def _owning(self, tab: CdpTab, frame: str) -> Carried:
        yield from own(tab, frame)
        self._driver.report_found(tab)

    def _arming(self, tab: CdpTab, target: Target) -> Carried:
        yield from arm_target(
            tab, target, self._driver.script, self._driver.clock, has_network=self._driver.has_network
        )
        self._driver.report_found(tab)
        if target.is_refused:
            self._miss(tab, target)
            at, source = self._driver.clock.now(), (target.id, 0)
            self._driver.feed(FrameLeft(at=at, page=tab.page, source=source, why="unarmed"))

    def _miss(self, tab: CdpTab, target: Target) -> None:
        tab.census.late += 1
        for channel in ("actions", "network") if target.kind in PAGES else ("network",):
            self._driver.gap(channel, "target.unarmed", page=tab.page)


_HANDLERS: dict[str, Callable[[Targets, dict[str, Any]], CdpTab | None]] = {
    "Target.targetCreated": Targets._created,
    "Target.targetDestroyed": Targets._destroyed,
    "Target.attachedToTarget": Targets._attached,
    "Target.detachedFromTarget": Targets._detached,
}
