"""When the agent asked for something, and from when on what it asks for reaches a new document."""

from __future__ import annotations

from bisect import bisect_left
from math import inf

from replaykit.recorder.session.driver_messages import Input
from replaykit.recorder.session.witnesses import Commanded, ScriptAsked


class CommandTimes:
    """Times of one recording, ms since its start; those of commands come in order."""

    def __init__(self) -> None:
        self._asked: dict[int | None, list[float]] = {}
        self._arrivals: dict[str, float] = {}

    def note_command(self, item: Input) -> None:
        """Note when input or a script was requested, by tab.

        Through a proxy, a script in the page's own world may reach other tabs as well.
        """
        if isinstance(item, ScriptAsked):
            within = item.within if item.is_apart else None
        elif isinstance(item, Commanded) and item.kind == "input":
            within = item.within
        else:
            return
        self._asked.setdefault(within if item.page is None else item.page, []).append(item.at)

    def asked_between(self, page: int, since: float, until: float = inf) -> bool:
        """Whether input or a script was asked for in a tab from one moment on, before another."""
        return any(_holds(self._asked.get(one, []), since, until) for one in (page, None))

    def arrived(self, loader: str, at: float) -> None:
        """Note that commands from now on cannot reach what was there before a document."""
        self._arrivals.setdefault(loader, at)

    def arrival(self, loader: str) -> float | None:
        """Return from when on commands cannot reach what was there before a document; None = unknown."""
        return self._arrivals.get(loader)


def _holds(times: list[float], since: float, until: float) -> bool:
    place = bisect_left(times, since)
    return place < len(times) and times[place] < until
