"""Targets below tabs: frames in processes of their own, and workers. Who arms them, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from replaykit.recorder.browser.cdp_frames import PAGES, Target, Via
from replaykit.recorder.browser.cdp_tab import Tab
from replaykit.recorder.browser.command_effects import Carried, Send
from replaykit.recorder.browser.frames_and_workers import arm_target, own
from replaykit.recorder.session.driver_messages import FrameLeft

if TYPE_CHECKING:
    from replaykit.recorder.browser.driver import Driver


class Targets:
    """What one driver has to do about them."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._claims: dict[str, tuple[Tab, Via]] = {}

    def errands(self, tab: Tab) -> Iterator[Carried]:
        """Yield what is to be done about targets and frames that were heard of since this was asked last."""
        for errand in tab.take_errands():
            yield self._arming(tab, errand) if isinstance(errand, Target) else self._owning(tab, errand)

    def miss_unarmed(self) -> None:
        """Say of every target that nobody could arm that it is missing."""
        for tab in self._driver.tabs.values():
            for target in tab.targets.values():
                if not (target.is_armed or tab.is_gone):
                    self._miss(tab, target)

    def part(self, tab: Tab) -> None:
        """Take in that all targets below a tab went with it."""
        for target in tab.targets.values():
            tab.part(target)
        self._driver.tell(tab)

    def unheard(self, params: dict[str, Any]) -> Carried:
        """Say that a shared worker's requests are not seen, if it is one of the recorded pages'."""
        context = params["targetInfo"].get("browserContextId")
        for tab in [tab for tab in self._driver.tabs.values() if tab.actor == "agent" and not tab.is_gone]:
            found = yield Send(tab=tab, method="Target.getTargetInfo")
            if found["targetInfo"].get("browserContextId") == context:
                self._driver.gap("network", "worker.shared")
                return

    def is_claimed(self, tab: Tab, via: Via) -> bool:
        """Whether what a target tells is for this tab to tell: a service worker speaks to all its pages."""
        target = tab.targets.get(via)
        if target is None or target.kind != "service_worker":
            return True
        holder, place = self._claims.setdefault(target.id, (tab, via))
        if holder.is_gone or place not in holder.targets or (holder.actor, tab.actor) == ("probe", "agent"):
            holder = tab
            self._claims[target.id] = (tab, via)
        return holder is tab

    def _owning(self, tab: Tab, frame: str) -> Carried:
        yield from own(tab, frame)
        self._driver.tell(tab)

    def _arming(self, tab: Tab, target: Target) -> Carried:
        yield from arm_target(
            tab, target, self._driver.script, self._driver.clock, has_network=self._driver.has_network
        )
        self._driver.tell(tab)
        if target.is_refused:
            self._miss(tab, target)
            at, source = self._driver.clock.now(), (target.id, 0)
            self._driver.feed(FrameLeft(at=at, page=tab.page, source=source, why="unarmed"))

    def _miss(self, tab: Tab, target: Target) -> None:
        tab.census.late += 1
        for channel in ("actions", "network") if target.kind in PAGES else ("network",):
            self._driver.gap(channel, "target.unarmed", page=tab.page)
