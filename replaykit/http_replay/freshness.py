"""Whether something may have changed since a reply was recorded, so that it does not show the end."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from replaykit.replay.player import mutates
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.step import Trajectory

# Kinds of resources that pages load and that no action changes.
_FIXED = frozenset({"script", "stylesheet", "font"})


class PossibleChange(Struct, frozen=True, kw_only=True):
    """A request that may have changed something."""

    exchange: Exchange
    """The request."""
    place: int
    """Its place in the story."""


class Freshness:
    """The changes of a run, in order."""

    def __init__(self, run: Trajectory) -> None:
        self._is_whole = run.channel("network") == "recorded"
        self._changes = [
            PossibleChange(exchange=event, place=place)
            for place, event in enumerate(run.events)
            if isinstance(event, Exchange) and mutates(event)
        ]

    def fault(
        self,
        t: int | None,
        place: int,
        own: Exchange | None = None,
        leaves_it: Callable[[Exchange], bool] = lambda _: False,
    ) -> str | None:
        """Return why a reply at a time (ms), or a position, may be out of date; None if it is current.

        `own`: the exchange itself, which may be a change; the redirect that led to it does not count as a
        later one.
        `leaves_it`: whether a change keeps the content, such as one that sends the same again.
        """
        if own is not None and own.resource in _FIXED and not mutates(own):
            return None
        # An unseen request may have changed anything.
        if not self._is_whole:
            return "the network was not recorded as a whole, so what changed since is unknown"
        # A cached reply shows the server as it was at some earlier time.
        if own is not None and own.from_cache:
            return "it came out of the browser's cache, however old"
        changes = (one for one in reversed(self._changes) if _is_later(one, t, place, own))
        later = next((one for one in changes if not leaves_it(one.exchange)), None)
        if later is None:
            return None
        return f"{later.exchange.method} {later.exchange.url} may have changed it since"

    def is_only_change(self, change: Exchange, reply: Exchange) -> bool:
        """Return whether a change was over before a reply was asked for, with no other change around them."""
        if change.ended is None or reply.t is None or reply.ended is None or change.ended > reply.t:
            return False
        others = (one.exchange for one in self._changes if one.exchange is not change)
        return self._is_whole and not any(_touches(one, change.t, reply.ended) for one in others)


def _touches(exchange: Exchange, since: int | None, until: int) -> bool:
    """Return whether a request may have been under way between two times (ms)."""
    begun = exchange.t if exchange.t is not None else 0
    # A WebSocket may send changes as long as it is open.
    over = exchange.ended if not exchange.sent_frames else None
    return begun <= until and (over is None or since is None or over >= since)


def _is_later(change: PossibleChange, t: int | None, place: int, own: Exchange | None) -> bool:
    exchange = change.exchange
    # A POST that redirects shows its own effect.
    if own is not None and (exchange is own or exchange.redirect_to == own.id):
        return False
    if exchange.sent_frames and exchange.ended is None:
        return True
    times = (exchange.ended, exchange.received, exchange.t)
    over = next((time for time in times if time is not None), None)
    if over is None or t is None:
        return change.place > place
    # A request that no one saw answered may reach the server later.
    return over >= t or (exchange.status is None and exchange.error is None)
