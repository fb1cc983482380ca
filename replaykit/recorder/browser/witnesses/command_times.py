"""When the agent's commands ran, which documents they reached, and from when on they reach a new document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from math import inf

from msgspec import Struct

from replaykit.recorder.browser.witnesses.command_kinds import cdp_kind
from replaykit.recorder.session.driver_messages import Input, PageMessage
from replaykit.recorder.session.witnesses import Commanded, ScriptAsked, ScriptEnded, Strokes

SLACK_MS = 100.0
"""Clocks of pages and of the recorder may differ so much."""

LATE_MS = 1000.0
"""A document receives input so much later at most, where its command is not waited for."""


class Whereabouts(Struct, frozen=True, kw_only=True):
    """Facts about a document that commands may have reached."""

    frame: str = ""
    """Id of its frame; empty = it is the outermost one, and speaks for itself."""
    begun_at: float = -inf
    """When it was first seen, ms."""
    sure_at: float = -inf
    """Until when all is known that was done in it, ms."""
    is_apart: bool = False
    """It is in another process than the outermost one."""


class CommandSpan(Struct, kw_only=True, eq=False):
    """When one command may have had an effect in a document."""

    begin: float
    strokes: Strokes | None
    home: int | None = None
    """Tab in whose outermost process it runs, and makes no input; None = it may reach all of a tab."""
    end: float = inf
    late_ms: float = SLACK_MS
    """How long after its end one of its strokes may be received."""
    received: list[tuple[str, float]] = []
    """Frames that have received its strokes, empty being the main one, and when."""
    is_unclear: bool = False
    """They may be those of another command."""

    @property
    def is_known(self) -> bool:
        """Whether it is known who has received all its strokes."""
        return self.strokes is not None and not self.is_unclear and len(self.received) == self.strokes.count

    def reaches(self, page: int, document: Whereabouts, until: float) -> bool:
        """Whether it may have done something in a document since all was known of it, before a time."""
        if not (self.begin < until and document.sure_at <= self.end):
            return False
        if self.home == page and document.is_apart:
            return False
        was_there = (one == document.frame and document.begun_at <= at for one, at in self.received)
        return not self.is_known or any(was_there)

    def makes(self, event: str, at: float) -> bool:
        """Whether an event may be one of its strokes."""
        is_such = self.strokes is not None and self.strokes.event == event
        return is_such and self.begin - SLACK_MS <= at <= self.end + self.late_ms


class CommandTimes:
    """Times of one recording, ms since its start; those of commands come in order."""

    def __init__(self) -> None:
        self._open: dict[int | None, dict[int, CommandSpan]] = {}
        self._ended: dict[int | None, list[CommandSpan]] = {}
        self._pages: dict[int, int | None] = {}
        self._settled: dict[int | None, float] = {}
        self._arrivals: dict[str, float] = {}

    def note(self, item: Input) -> None:
        """Note when input or a script was requested, by tab, when it was over, and who received it.

        Through a proxy, a script in the page's own world may reach other tabs as well.
        """
        if isinstance(item, ScriptAsked):
            self._begin(item)
        elif isinstance(item, ScriptEnded):
            self._end(item)
        elif isinstance(item, Commanded) and item.kind == "input" and cdp_kind(item.name) is not None:
            page = item.within if item.page is None else item.page
            # Who asked the browser itself does not wait for an answer.
            one = CommandSpan(begin=item.at, end=item.at, late_ms=LATE_MS, strokes=item.strokes)
            self._ended.setdefault(page, []).append(one)
        elif isinstance(item, PageMessage) and item.event.trusted:
            self._receive(item)

    def has_reached(self, page: int, document: Whereabouts, until: float = inf) -> bool:
        """Whether a command may have done something in a document of a tab, before a time."""
        return any(one.reaches(page, document, until) for one in self._since(page, document.sure_at))

    def settled_at(self, page: int) -> float:
        """Return when the last script or input in a tab was over; infinite while one is under way."""
        if any(self._open.get(one) for one in (page, None)):
            return inf
        return max(self._settled.get(one, -inf) for one in (page, None))

    def arrived(self, loader: str, at: float) -> None:
        """Note that commands from now on cannot reach what was there before a document."""
        self._arrivals.setdefault(loader, at)

    def arrival(self, loader: str) -> float | None:
        """Return from when on commands cannot reach what was there before a document; None = unknown."""
        return self._arrivals.get(loader)

    def _begin(self, item: ScriptAsked) -> None:
        page = (item.within if item.is_apart else None) if item.page is None else item.page
        self._pages[item.number] = page
        home = (item.within if item.page is None else item.page) if item.is_outermost else None
        self._open.setdefault(page, {})[item.number] = CommandSpan(
            begin=item.at, strokes=item.strokes, home=home
        )

    def _end(self, item: ScriptEnded) -> None:
        page = self._pages.pop(item.number, None)
        one = self._open.get(page, {}).pop(item.number, None)
        if one is not None:
            one.end = self._settled[page] = item.at
            self._ended.setdefault(page, []).append(one)

    def _receive(self, item: PageMessage) -> None:
        found = [
            one for one in self._since(item.page, item.at - LATE_MS) if one.makes(item.event.name, item.at)
        ]
        waiting = [one for one in found if not one.is_known] or found
        for one in waiting:
            # Nothing says whose it is, or there is one more than was asked for.
            one.is_unclear |= len(waiting) > 1 or one.is_known
            one.received.append((item.source[0], item.at))

    def _since(self, page: int, at: float) -> Iterator[CommandSpan]:
        """Yield the commands that were not over at a time."""
        for one in (page, None):
            yield from self._open.get(one, {}).values()
            ended = self._ended.get(one, [])
            yield from ended[bisect_left(ended, at, key=lambda span: span.end) :]
