"""Documents of one tab: each that the browser shows has to be opened by our script, and closed when it goes.

A document begins with `Page.frameNavigated`, or with a world of its page in a frame that was empty. It is
over when our world in it is gone, when another takes its place, or when its frame is removed. One that has
not closed is judged once it is known which document took its place, and since when.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeAlias

from msgspec import Struct

from replaykit.recorder.browser.tab.cdp_frames import Via
from replaykit.recorder.browser.witnesses.command_times import Whereabouts
from replaykit.recorder.page.page_script import PageClose, PageOpen

Place: TypeAlias = tuple[Via, int]
"""Target and number of a world in it."""

Spot: TypeAlias = tuple[Via, str]
"""Target and id of a frame in it."""

OWN = frozenset({"main", "frame"})
"""Roles of documents whose own script listens in them."""


class LiveDocument(Struct, kw_only=True, eq=False):
    """One document."""

    place: Place | None = None
    """Our world in it, once it has reported."""
    role: str = ""
    """As `PageOpen` says; empty = not opened yet."""
    is_closed: bool = False
    """Its last message was a closing message."""
    is_over: bool = False
    """It was asked for its closing message, and sent it: later events are no actions of the agent."""
    begun_at: float = -inf
    """When it was first seen, ms."""
    sure_at: float = -inf
    """Until when all is known that was done in it, ms."""
    windows: int = 0
    received: int = 0
    missed: int = 0
    """As the last closing says."""

    def whereabouts(self, spot: Spot) -> Whereabouts:
        """Return what decides which commands have reached it."""
        frame = "" if self.role == "main" else spot[1]
        return Whereabouts(frame=frame, begun_at=self.begun_at, sure_at=self.sure_at, is_apart=bool(spot[0]))


class LiveDocuments:
    """Opens and closes the documents of one tab, in the order in which the browser reports them.

    `miss` is given the code of each gap, and more about it. `is_armed` says whether our script is in all
    documents of a target.
    """

    def __init__(self, miss: Callable[[str, str], None], *, is_armed: Callable[[Via], bool]) -> None:
        self.may_have_acted: Callable[[Whereabouts, float], bool] = _unknown
        """Whether the agent may have acted in a document since all was known of it, before a time."""
        self.arrival: Callable[[str], float | None] = _unstated
        """Returns from when on no command reached what was there before a document, by its loader, ms."""
        self._miss = miss
        self._is_armed = is_armed
        self._shown: dict[Spot, LiveDocument] = {}
        self._left: dict[Spot, list[LiveDocument]] = {}
        self._spots: dict[Place, Spot] = {}
        self.counts = {"documents": 0, "closed": 0, "windows": 0, "counted": 0, "received": 0}
        """Documents opened, and those that are over; windows, and input events counted and seen in them."""

    def begun(self, via: Via, frame: str, at: float) -> None:
        """Record that there is a document in a frame."""
        self._shown.setdefault((via, frame), LiveDocument(begun_at=at, sure_at=at))

    def committed(self, via: Via, frame: str, at: float, loader: str = "", *, is_top: bool = False) -> None:
        """Record that a frame has another document; `is_top`: all other frames of the target went with it.

        If our world still exists, so does the window with its ledger. Then an empty document was filled, or a
        document came out of the browser's cache and its script reported before this event.
        """
        spot, arrival = (via, frame), self.arrival(loader)
        until = inf if arrival is None else arrival
        for left in [one for one in self._left if one == spot or (is_top and one[0] == via)]:
            self._judge_left(left, until)
        now = self._shown.get(spot)
        if now is None or not now.role:
            self._end(spot, until)
            self.begun(via, frame, at if arrival is None else arrival)

    def opened(self, place: Place, frame: str, message: PageOpen, at: float) -> None:
        """Handle the opening message of a document."""
        spot = (place[0], frame)
        document = self._shown.setdefault(spot, LiveDocument(begun_at=at))
        if not document.role:
            self.counts["documents"] += 1
        document.place, document.role, document.sure_at, document.is_closed = place, message.role, at, False
        self._spots[place] = spot
        if message.role == "none":
            self._miss("document.unopened", "none")

    def reported(self, place: Place) -> None:
        """Record that a document reports something: no closing before that is its last."""
        document = self._document_at(place)
        if document is not None:
            document.is_closed = document.is_over

    def closed(self, place: Place, message: PageClose, at: float) -> None:
        """Handle a closing message."""
        document = self._document_at(place)
        if document is not None:
            # One that only counts says nothing of what is still to come.
            document.is_closed, document.sure_at = message.leaving, at
            document.windows, document.received, document.missed = (
                message.windows,
                message.received,
                message.missed,
            )

    def counted(self, place: Place, at: float) -> None:
        """Record that a document has sent its counts when it was asked for them at a time, ms."""
        document = self._document_at(place)
        if document is not None:
            document.sure_at = max(document.sure_at, at)

    def left(self, place: Place) -> None:
        """Record that a world of ours is gone."""
        spot = self._spots.get(place)
        if spot is None or spot not in self._shown:
            return
        document = self._take(spot)
        if not self._is_sure(spot, document, inf):
            self._left.setdefault(spot, []).append(document)

    def detached(self, via: Via, frame: str) -> None:
        """Record that a frame is gone from a target."""
        self._end((via, frame))

    def gone(self, via: Via) -> None:
        """Record that a target, and all below it, is gone."""
        for spot in self._below(via):
            self._end(spot)

    def crashed(self, via: Via) -> None:
        """Record that a target and all targets below it crashed.

        Last messages of their documents are lost.
        """
        for spot in self._below(via):
            self._judge_left(spot, inf)
            if spot in self._shown:
                self._miss("document.crashed", _described(self._take(spot)))

    @property
    def is_opening(self) -> bool:
        """Whether there is a document that has sent no message yet."""
        return any(not document.role and self._is_armed(spot[0]) for spot, document in self._shown.items())

    def open(self) -> list[Place]:
        """Return worlds whose documents are to be asked for their closing message."""
        own = [one for one in self._shown.values() if one.role in OWN and not one.is_over]
        return [one.place for one in own if one.place is not None]

    def answered(self, place: Place) -> None:
        """Record that a document has sent its closing message."""
        document = self._document_at(place)
        if document is not None:
            document.is_over = True

    def finish(self) -> None:
        """End the recording: documents that have not closed by now never will."""
        for spot in self._below(()):
            self._end(spot)

    def _below(self, via: Via) -> list[Spot]:
        return [spot for spot in {**self._shown, **self._left} if spot[0][: len(via)] == via]

    def _document_at(self, place: Place) -> LiveDocument | None:
        spot = self._spots.get(place)
        document = self._shown.get(spot) if spot is not None else None
        return document if document is not None and document.place == place else None

    def _end(self, spot: Spot, until: float = inf) -> None:
        self._judge_left(spot, until)
        if spot in self._shown:
            self._judge(spot, self._take(spot), until)

    def _judge_left(self, spot: Spot, until: float) -> None:
        for document in self._left.pop(spot, ()):
            self._judge(spot, document, until)

    def _judge(self, spot: Spot, document: LiveDocument, until: float) -> None:
        if self._is_sure(spot, document, until):
            return
        if document.role in OWN:
            self._miss("document.unclosed", _described(document))
        elif document.role == "" and self._is_armed(spot[0]):
            self._miss("document.unopened", _described(document))

    def _take(self, spot: Spot) -> LiveDocument:
        document = self._shown.pop(spot)
        if document.place is not None:
            self._spots.pop(document.place, None)
        self.counts["closed"] += bool(document.role)
        self.counts["windows"] += document.windows
        self.counts["received"] += document.received
        self.counts["counted"] += document.received + document.missed
        return document

    def _is_sure(self, spot: Spot, document: LiveDocument, until: float) -> bool:
        # A document without a body sends no closing, one that is left at once no opening: no one acted in it.
        if document.is_closed:
            return True
        return not self.may_have_acted(document.whereabouts(spot), until)


def _described(document: LiveDocument) -> str:
    return f"{document.role or 'not opened'}, known until {document.sure_at:.0f} ms"


def _unknown(document: Whereabouts, until: float) -> bool:
    return True


def _unstated(loader: str) -> float | None:
    return None
