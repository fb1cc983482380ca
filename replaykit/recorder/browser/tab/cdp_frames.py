"""The frames of one tab, whatever process they live in: who holds whom, and where each stands on the page."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any, TypeAlias

from msgspec import Struct

from replaykit.recorder.session.driver_messages import MAIN, Source

Via: TypeAlias = tuple[str, ...]
"""Sessions to a target below a tab, outermost first; empty = the tab's own."""

DEPTH_MAX = 6
"""Targets below each other that are followed: each level escapes what it passes on once more."""

TARGETS_MAX = 128
"""Targets below one tab that are followed."""

SECOND_MS = 1000.0
MESSAGES_MAX = 500
"""Messages of all frames in a second."""

UNITS_MAX = 64 << 20
"""Characters of all frames in a second."""

PAGES = frozenset({"iframe"})
"""Kinds of targets that hold documents."""

DOUBLED = frozenset({"worker", "service_worker"})
"""Workers whose requests the driver also reports."""

WORKERS = DOUBLED | {"worklet"}
"""Kinds of targets that hold no frame, but make requests."""


class Target(Struct, kw_only=True, eq=False):
    """A frame in a process of its own, or a worker."""

    via: Via
    """Its session."""
    kind: str
    """As the protocol says."""
    id: str
    """Target id; of a frame also its frame id."""
    url: str = ""
    """Address when it was seen."""
    frame: str = ""
    """Of a worker: the frame that holds it."""
    ahead: float | None = None
    """How far its clock is ahead of ours, ms; None = not compared yet."""
    loader: str = ""
    """Of a frame: loader id of its document."""
    above: str = ""
    """Target id of what holds it; empty = the browser does not say."""
    is_existing: bool = False
    """It was there when the recorder came."""
    is_known: bool = False
    """Its frames are known."""
    held: list[tuple[str, dict[str, Any]]] = []
    """Events that wait until they are."""
    is_armed: bool = False
    """The script is in it, or whatever its kind asks for."""
    is_refused: bool = False
    """It could not be reached."""
    is_held: bool = False
    """It waits for the recorder before it runs."""
    waits: bool = False
    """It waits for every client that asks for it, the driver among them."""
    is_socketless: bool = False
    """Of a worker: it had opened no socket before the recorder listened."""
    met_at: float = 0.0
    """When it was seen, ms since recording start."""


class TargetFacts(Struct, frozen=True, kw_only=True):
    """A target's report about itself."""

    urls: list[str] = []
    """URLs that it has requested so far."""
    is_loaded: bool = False
    """Of a frame: its document is all there."""
    unlisted: int = 0
    """Of a frame that ran at once: resources beyond those, such as a response that is never read."""


class Flood:
    """Limit of what all frames of a tab but the main one report together; each script also has its own."""

    def __init__(self) -> None:
        self.dropped = 0
        """Messages dropped in the second before; whoever says so sets it back."""
        self._since = -inf
        self._messages = 0
        self._units = 0
        self._over = 0

    def admits(self, units: int, at: float) -> bool:
        """Whether a message of that many characters may pass at `at`, ms."""
        if at - self._since >= SECOND_MS:
            self.dropped += self._over
            self._since, self._messages, self._units, self._over = at, 0, 0, 0
        self._messages += 1
        self._units += units
        is_over = self._messages > MESSAGES_MAX or self._units > UNITS_MAX
        self._over += is_over
        return not is_over


class FrameTree:
    """A tree of frames, by the browser's ids."""

    def __init__(self) -> None:
        self.main = ""
        """The main frame."""
        self._parents: dict[str, str | None] = {}
        self._places: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._documents: dict[str, int] = {}
        self.reporters: dict[str, int] = {}
        """Frames whose own script has reported, each with the ordinal of that document."""
        self.owned: set[str] = set()
        """Frames whose owner element knows which frame it holds."""

    def begin(self, main: str) -> None:
        """Forget all but a main frame: its document was replaced."""
        self.main = main
        self._parents = {main: None}
        self._places.clear()
        self._documents.clear()
        self.reporters.clear()
        self.owned.clear()

    def attach(self, frame: str, parent: str | None) -> None:
        """Add a frame; one that is known keeps its place among its siblings."""
        self._parents.setdefault(frame, parent)

    def detach(self, frame: str) -> list[str]:
        """Take out a frame with all below it; returns those whose script had reported."""
        gone = list(self._below(frame))
        reported = [one for one in gone if one in self.reporters]
        for one in gone:
            for known in (self._parents, self._places, self._documents, self.reporters):
                known.pop(one, None)
            self.owned.discard(one)
        return reported

    def knows(self, frame: str) -> bool:
        """Whether the frame is on the page."""
        return frame in self._parents

    def parent(self, frame: str) -> str | None:
        """Return the frame around it."""
        return self._parents.get(frame)

    def reporter(self, frame: str) -> str:
        """Return the frame whose script reports for a frame: its own, or the outermost that can read it."""
        at = frame
        while at != self.main and at not in self.reporters and self._parents.get(at):
            at = self._parents[at] or ""
        return at

    def renew(self, frame: str) -> int:
        """Note that a frame shows another document; returns its ordinal."""
        self._documents[frame] = self._documents.get(frame, -1) + 1
        return self._documents[frame]

    def source(self, frame: str, document: int) -> Source:
        """Return the source of a message, as messages name it."""
        return MAIN if frame == self.main else (frame, document)

    def place(self, frame: str, pusher: str, path: tuple[int, ...]) -> None:
        """Note where a frame stands: ordinals from the document that says so."""
        if frame in self._parents and frame != pusher:
            self._places[frame] = (pusher, path)

    def path(self, frame: str | None) -> tuple[int, ...]:
        """Return the ordinals of a frame from the main frame down; empty = main, or unknown."""
        found: tuple[int, ...] = ()
        at = frame
        # Bounded: what documents say of places could form a circle.
        for _ in range(len(self._parents)):
            if at is None or self._parents.get(at) is None:
                return found
            pusher, own = self._places.get(at) or (self._parents[at], (self._slot(at),))
            at, found = pusher, (*own, *found)
        return found

    def _slot(self, frame: str) -> int:
        """Return the place among the siblings: those whose place no document reported fill up the rest."""
        siblings = [one for one, above in self._parents.items() if above == self._parents[frame]]
        taken = {self._places[one][1][-1] for one in siblings if one in self._places}
        others = [one for one in siblings if one not in self._places]
        free = (slot for slot in range(len(siblings) + len(taken)) if slot not in taken)
        return dict(zip(others, free, strict=False))[frame]

    def _below(self, frame: str) -> Iterator[str]:
        children: dict[str | None, list[str]] = {}
        for child, above in self._parents.items():
            children.setdefault(above, []).append(child)
        waiting = [frame]
        while waiting:
            yield (at := waiting.pop())
            waiting += children.pop(at, ())


def target_of(via: Via, params: dict[str, Any]) -> Target:
    """Return the target of a `Target.attachedToTarget`."""
    about = params["targetInfo"]
    return Target(
        via=(*via, params["sessionId"]),
        kind=about["type"],
        id=about["targetId"],
        url=about.get("url", ""),
        frame=about.get("parentFrameId", ""),
        above=about.get("parentId", ""),
        is_held=params.get("waitingForDebugger", False),
        # A frame that runs already has an address.
        waits=about["type"] in DOUBLED or (about["type"] in PAGES and about.get("url") == ""),
    )
