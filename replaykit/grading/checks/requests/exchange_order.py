"""Which exchange was the last that succeeded, where some ended unseen or ran side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from replaykit.patterns import lazy_pattern
from replaykit.tasks.state_checks import ExchangeChoice
from replaykit.trajectory.exchange import Exchange


class CandidateExchange(NamedTuple):
    """An exchange that a check may be about."""

    place: int
    """Its place among those that were given."""
    doubt: str | None
    """Code of what is missing to know that it is meant; None: it is."""


_CODE = lazy_pattern(r"\A(net::ERR_|NS_|(csp|inspector|mixed-content|origin|subresource-filter)\Z)")
"""An error by its code, or why a browser sent nothing; other browsers and proxies give a sentence."""

_CUT = lazy_pattern(
    r"ABORTED|_RESET|CONNECTION_CLOSED|EMPTY_RESPONSE|ERR_TIMED_OUT|NET_TIMEOUT|NET_INTERRUPT|NETWORK_CHANGED"
    r"|NETWORK_IO_SUSPENDED|ERR_HTTP2|ERR_QUIC|INCOMPLETE_CHUNKED|CONTENT_LENGTH|INVALID_HTTP_RESPONSE"
    r"|ERR_FAILED|BLOCKED_BY_ORB|BLOCKED_BY_RESPONSE"
)
"""Errors of a request that the server may have received."""


def is_unanswered(exchange: Exchange) -> bool:
    """Return whether it is unknown how a request ended: it was under way at the end, or broken off."""
    if exchange.status is not None:
        return False
    # A server may carry out what was broken off; other codes mean that it was not reached.
    error = exchange.error
    return error is None or _CODE.search(error) is None or _CUT.search(error) is not None


def is_redirected(exchange: Exchange) -> bool:
    """Return whether a request that may change something led elsewhere: to its result, or to a login."""
    return exchange.status in _REDIRECTS and exchange.method.upper() not in ("GET", "HEAD")


_REDIRECTS = frozenset({300, 301, 302, 303, 305, 306, 307, 308})


def _doubt(exchange: Exchange, choice: ExchangeChoice) -> str | None:
    """Return the code of why it is unknown that an exchange succeeded, where only such ones count."""
    if not choice.ok or exchange.source == "netlog":
        return None
    if is_unanswered(exchange):
        return f"unanswered:{exchange.id}"
    return f"redirected:{exchange.id}" if is_redirected(exchange) else None


def candidates(exchanges: Sequence[Exchange], choice: ExchangeChoice) -> list[CandidateExchange]:
    """Return what may be the first, the last or any of the exchanges chosen, in their order."""
    found = [CandidateExchange(place, _doubt(one, choice)) for place, one in enumerate(exchanges)]
    known = [one for one in found if one.doubt is None]
    if choice.which == "first":
        return found[: known[0].place + 1] if known else found
    if choice.which == "last" and known:
        return [*_beside(known[-1].place, found, exchanges, choice), *found[known[-1].place :]]
    return found


def _beside(
    last: int, found: Sequence[CandidateExchange], exchanges: Sequence[Exchange], choice: ExchangeChoice
) -> list[CandidateExchange]:
    """Return what began before the last one, and may have been carried out after it."""
    # A reply shows the state at its time. The order in which the server took overlapping requests is unknown.
    beside = [one for one in found[:last] if choice.part == "request" or one.doubt is not None]
    return [
        CandidateExchange(one.place, one.doubt or f"unordered:{exchanges[one.place].id}")
        for one in beside
        if _outlasts(exchanges[one.place], exchanges[last])
    ]


def _outlasts(earlier: Exchange, later: Exchange) -> bool:
    over = earlier.received if earlier.received is not None else earlier.ended
    if over is None or later.t is None:
        return earlier.status is None and earlier.error is None
    return over > later.t
