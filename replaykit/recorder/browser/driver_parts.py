"""Interfaces of a driver for the parts that belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.target_registry import TargetRegistry
from replaykit.recorder.browser.witnesses.command_times import CommandTimes
from replaykit.recorder.browser.witnesses.target_census import Census
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import Input


def nothing(*_: object) -> None:
    """Let a report go that no one waits for."""


class SessionFeed(Protocol):
    """Where a part says what it received, and what was missed."""

    @property
    def clock(self) -> Clock:
        """Time since recording start."""

    @property
    def census(self) -> Census:
        """Counts of pages, frames and workers."""

    def feed(self, item: Input) -> None:
        """Give the session an input."""

    def failed(self, channel: str, error: Exception) -> None:
        """Note a fault of the recorder as a gap; the agent goes on."""

    def gap(self, channel: str, why: str, count: int = 1, page: int | None = None, detail: str = "") -> None:
        """Report that something was missed."""


class TabKeeper(SessionFeed, Protocol):
    """Facts about tabs, and the browser's own session, for the targets below tabs."""

    @property
    def tabs(self) -> Mapping[int, CdpTab]:
        """Tabs by ordinal, probe tabs and closed ones included."""

    @property
    def target_registry(self) -> TargetRegistry:
        """The pages of the browser."""

    @property
    def script(self) -> str:
        """Script for every document."""

    @property
    def has_network(self) -> bool:
        """Whether requests are recorded."""

    @property
    def command_times(self) -> CommandTimes:
        """When the agent asked for input and scripts."""

    @property
    def is_attaching(self) -> bool:
        """Whether targets that already exist are being attached."""

    @property
    def is_searching(self) -> bool:
        """Whether the browser's own session finds what is below frames and workers."""

    @property
    def is_settled(self) -> bool:
        """Whether all tabs and frames that are known of are armed, or cannot be."""

    def report_found(self, tab: CdpTab) -> None:
        """Feed what commands have found out about a tab, and report what they have missed."""

    def join(self, tab: CdpTab, session: str) -> None:
        """Listen to a session below a tab through the browser's own."""

    def part_from(self, tab: CdpTab, session: str) -> None:
        """Stop listening to it."""

    def wired(self, session: str) -> CdpTab | None:
        """Return the tab that a session of the browser's own belongs to."""

    def happened(self, tab: CdpTab, event: dict[str, Any]) -> None:
        """Translate one protocol event and feed what it means."""
