"""What the witnesses beside the pages say at the end: commands, census, requests that the driver heard."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from replaykit.recorder.session.witnesses import Logged, Witnessed

if TYPE_CHECKING:
    from replaykit.recorder.browser.driver import Driver


def has_census(driver: Driver) -> bool:
    """Whether every page, frame and worker of the browser waits for the recorder, or for the driver."""
    return driver.is_proxied or (driver.log.is_whole and driver.log.is_unisolated and driver.has_network)


def acted_at(driver: Driver, page: int) -> float:
    """Return when the agent last asked for input or a script in a tab, ms; infinity: nobody would know."""
    if not (driver.log.is_whole or driver.is_proxied):
        return inf
    return max(driver.acted_at.get(page, -inf), driver.acted_at.get(None, -inf))


def testimonies(driver: Driver) -> Iterator[Logged | Witnessed]:
    """Yield what each of them says of a recording that ends; what they missed is said as gaps."""
    if driver.has_network:
        yield _requests(driver)
    lacks = _missed(driver)
    if driver.log.is_whole or driver.is_proxied:
        yield Witnessed(at=driver.clock.now(), witness="commands", lacks=lacks)
    if has_census(driver):
        census = driver.census
        yield Witnessed(at=driver.clock.now(), witness="census", lacks=census.lacks, counts=census.counts)


def _missed(driver: Driver) -> tuple[str, ...]:
    """Say which pages, contexts or browsers of the agent were not recorded."""
    missed = driver.log.missed()
    for _ in missed:
        for channel in ("actions", "urls", "network"):
            driver.gap(channel, "target.unrecorded")
    return ("target.unrecorded",) if missed else ()


def _requests(driver: Driver) -> Logged:
    if not driver.requests.is_whole:
        driver.gap("network", "flood")
    return Logged(at=driver.clock.now(), sent=tuple(driver.requests.sent(driver.tab_of)))
