"""Pages that the agent made itself: they are no evidence of what the site shows."""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.step import Probe

FORGED = "page.forged"
"""Code of a page, or of an answer, that the agent made itself."""

_SHAPING = ("document", "script", "xhr", "fetch")
"""Resources that decide what a page says; the agent may stand in for images and fonts."""


def is_forged(page: Page, replay: Replay) -> bool:
    """Return whether the agent wrote this page, its document, or what its scripts were answered."""
    if page.seen.source == "agent":
        return True
    return any(_shapes(one, page, replay) for one in replay.memo(_forged))


def _forged(replay: Replay) -> list[Exchange]:
    found = replay.trajectory.of_type(Exchange)
    return [one for one in found if one.source == "agent" and one.resource in _SHAPING]


def _shapes(exchange: Exchange, page: Page, replay: Replay) -> bool:
    """Return whether such an answer went into a page: it is its document, or came while that was shown."""
    # The page of a probe is made of the probe's own requests, the agent's page of the agent's.
    is_elsewhere = isinstance(page.seen, Probe) and not page.seen.in_place
    if is_elsewhere is not (exchange.actor == "probe"):
        return False
    if exchange.resource == "document" and not exchange.frame:
        return _plain(exchange.url) == _plain(page.url)
    if exchange.page != page.tab:
        return False
    began = max((one.t for one in _commits(page, replay) if one.t is not None), default=0)
    # Without times it may have gone into the page, and a doubt counts against the page.
    return exchange.t is None or page.t is None or began <= exchange.t <= page.t


def _commits(page: Page, replay: Replay) -> Iterator[Navigation]:
    """Yield the documents that a tab opened before a page was observed."""
    for one in replay.navigations:
        is_document = one.committed and not one.frame and not one.same_document and one.page == page.tab
        if is_document and (one.t is None or page.t is None or one.t <= page.t):
            yield one


def _plain(url: str | None) -> str:
    return (url or "").partition("#")[0]
