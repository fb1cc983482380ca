"""Documents that may send requests while they are left, when no one receives them any more.

Once a navigation has another document, the protocol's session belongs to that one. No client of the browser
gets what listeners of `pagehide`, `unload` and `visibilitychange` of the old one send then (decision 107).
As long as the document is there, it can be asked whether it has such listeners. Most documents say by
themselves that they have none (decision 110): these are not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf

from replaykit.recorder.browser.tab.cdp_documents import Place, Spot
from replaykit.recorder.browser.tab.cdp_frames import FrameTree, Via
from replaykit.recorder.page.page_script import ENDINGS

PARTING_MS = 1000.0
"""The frames of a tab that closes go so long before it at most, if they are in processes of their own."""

LEAVING = "requests.leaving"
"""Gap of the network: a document that listens for its end was left."""


class LeaveListeners:
    """Which documents of one tab listen for their end, as far as somebody has looked."""

    def __init__(self, frames: FrameTree) -> None:
        self.is_looking = False
        """Documents are asked just now: what happens meanwhile is asked about afterwards, at one go."""
        self.handles: dict[Place, tuple[str, str]] = {}
        """World of a page to the protocol's ids of its window and document."""
        self.is_on = True
        """Requests are recorded."""
        self.denials: set[Place] = set()
        """Our worlds in documents that last reported that nothing listens for their end."""
        self.wake: Callable[[], None] = _nothing
        """Looks at once, where something is due."""
        self._frames = frames
        self._listening: set[Spot] = set()
        self._doubted: set[Spot] = set()
        self._due: set[Via] = set()
        self._removed = (-inf, 0)

    def ask(self) -> None:
        """Look now: the script of the agent may have added a listener."""
        self.happened(())
        self.wake()

    def happened(self, via: Via) -> None:
        """Note that something happened in a document: it, and those below, may have added a listener."""
        self._due.add(via)

    def take_due(self) -> frozenset[Via]:
        """Return where to look, once, and not while somebody looks."""
        if self.is_looking:
            return frozenset()
        due, self._due = frozenset(self._due), set()
        return due

    def is_listening(self, spot: Spot) -> bool:
        """Whether a document was found to listen: it need not be asked again."""
        return spot in self._listening

    def doubt(self, spot: Spot) -> None:
        """Note that a document can deny no more that it listens: until it is asked, it may."""
        if self.is_on:
            self._doubted.add(spot)

    def looked(self, spot: Spot, events: set[str]) -> None:
        """Record the events that a document listens for at its window and at itself."""
        self._listening.discard(spot)
        self._doubted.discard(spot)
        if self.is_on and events & set(ENDINGS):
            self._listening.add(spot)

    def left(self, via: Via, frame: str) -> int:
        """Return how many documents may have listened for it, in a frame and below, and forget them."""
        return len(self._forget(via, frame))

    def removed(self, via: Via, frame: str, at: float, unasked: Iterable[Spot] = ()) -> None:
        """Note that a frame goes: what it sends then arrives, unless its whole tab closes.

        `unasked`: documents of the tab that were not asked so far.
        """
        gone = self._forget(via, frame)
        gone |= {spot for spot in unasked if self.is_on and spot[0][: len(via)] == via}
        since, count = self._removed
        if apart := sum(spot[0] != () for spot in gone):
            self._removed = (at, apart + (count if at - since <= PARTING_MS else 0))

    def _forget(self, via: Via, frame: str) -> set[Spot]:
        may_listen = self._listening | self._doubted
        gone = {spot for spot in may_listen if spot[0][: len(via)] == via and self._is_in(spot[1], frame)}
        self._listening -= gone
        self._doubted -= gone
        return gone

    def ended(self, unasked: Iterable[Spot], at: float = -inf) -> int:
        """Return how many documents of a tab that closes may listen for it; `unasked`: not asked so far."""
        may_listen = self._listening | self._doubted | set(unasked if self.is_on else ())
        self._listening, self._doubted = set(), set()
        since, count = self._removed
        return len(may_listen) + (count if at - since <= PARTING_MS else 0)

    def _is_in(self, frame: str | None, around: str) -> bool:
        while frame is not None and frame != around:
            frame = self._frames.parent(frame)
        return frame is not None


def _nothing() -> None:
    """No one looks."""
