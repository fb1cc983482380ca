"""Requests for the first documents of new tabs.

A new tab is known by its address before it asks for its document, since it waits for the recorder; or it asks
before it is known, and then nothing says which tab asked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from replaykit.grading.policies.events.agent_script_times import SLACK_MS
from replaykit.trajectory.exchange import Exchange, Navigation


class PopupDocuments:
    """Such requests of one run, by tab and address."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._by_place: dict[tuple[int | None, str], list[Exchange]] = {}
        for one in sorted(exchanges, key=_at):
            if one.resource == "document" and not one.frame:
                self._by_place.setdefault((one.page, _address(one.url)), []).append(one)

    def of(self, navigation: Navigation) -> Exchange | None:
        """Return the first of its tab that led to what a new tab shows, or that of an unknown tab.

        Of several in unknown tabs it is the last one before, or the first one after: on a busy machine a
        request is reported late.
        """
        if navigation.kind != "popup":
            return None
        address = _address(navigation.url)
        own = self._by_place.get((navigation.page, address))
        if own:
            return own[0]
        strays = self._by_place.get((None, address), [])
        before = bisect_right(strays, (navigation.t or 0) + SLACK_MS, key=_at)
        return strays[max(before - 1, 0)] if strays else None


def _at(exchange: Exchange) -> int:
    return exchange.t or 0


def _address(url: str) -> str:
    return url.partition("#")[0]
