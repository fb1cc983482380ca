"""Final reports of the witnesses outside pages: commands, census, requests that the driver saw."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, Protocol

from replaykit.recorder.browser.driver_parts import SessionFeed
from replaykit.recorder.browser.witnesses.command_log import DriverLog
from replaykit.recorder.browser.witnesses.command_times import CommandTimes, Whereabouts
from replaykit.recorder.browser.witnesses.driver_requests import DriverRequests
from replaykit.recorder.browser.witnesses.earlier_workers import UPDATES
from replaykit.recorder.session.witnesses import Logged, Witnessed


class Reporter(SessionFeed, Protocol):
    """The driver whose witnesses report."""

    @property
    def log(self) -> DriverLog:
        """Commands of the agent."""

    @property
    def requests(self) -> DriverRequests:
        """Requests that the driver's own events report."""

    @property
    def command_times(self) -> CommandTimes:
        """When the agent asked for input and scripts."""

    @property
    def is_proxied(self) -> bool:
        """Whether all that the agent asks of the browser comes through a proxy of the recorder."""

    @property
    def has_network(self) -> bool:
        """Whether requests are recorded."""

    def tab_of(self, page: Any) -> int | None:
        """Return the tab of a page; None: it is not listened in, STRANGER: it is not recorded."""


def has_census(driver: Reporter) -> bool:
    """Whether every page, frame and worker of the browser waits for the recorder, or for the driver."""
    return driver.is_proxied or (driver.log.is_whole and driver.log.is_unisolated and driver.has_network)


def may_have_acted(driver: Reporter, page: int, document: Whereabouts, until: float = inf) -> bool:
    """Whether the agent may have done something in a document of a tab, before a time, ms."""
    is_logged = driver.log.is_whole or driver.is_proxied
    return not is_logged or driver.command_times.has_reached(page, document, until)


def testimonies(driver: Reporter) -> Iterator[Logged | Witnessed]:
    """Yield the report of each witness at the end of a recording; what they missed becomes gaps."""
    if driver.has_network:
        if driver.census.own_workers.may_be_updated:
            driver.gap("network", UPDATES)
        yield _requests(driver)
    lacks = _missed(driver)
    if driver.log.is_whole or driver.is_proxied:
        yield Witnessed(at=driver.clock.now(), witness="commands", lacks=lacks)
    if has_census(driver):
        census = driver.census
        yield Witnessed(at=driver.clock.now(), witness="census", lacks=census.lacks, counts=census.counts)


def _missed(driver: Reporter) -> tuple[str, ...]:
    """Say which pages, contexts or browsers of the agent were not recorded."""
    missed = driver.log.missed()
    for _ in missed:
        for channel in ("actions", "urls", "network"):
            driver.gap(channel, "target.unrecorded")
    return ("target.unrecorded",) if missed else ()


def _requests(driver: Reporter) -> Logged:
    if not driver.requests.is_whole:
        driver.gap("network", "flood")
    return Logged(at=driver.clock.now(), sent=tuple(driver.requests.sent(driver.tab_of)))
