"""Snapshots of the documents of one tab: the main frame, and every frame that reports for itself.

An action ends some time after it began, and its page may have changed meanwhile. So the visible page is
looked up by time. Frames are found by the browser's ids, which a page's snapshot gives to the elements that
hold them; places among siblings would change with every frame that comes or goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import inf
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.page.page_script import PageFrame, PageNode, PagePush
from replaykit.recorder.session.driver_messages import MAIN, Source
from replaykit.recorder.session.outbox import Blob
from replaykit.trajectory.action import NodeRef
from replaykit.trajectory.observation import Frame, TabView
from replaykit.trajectory.scalars import Box

PUSHES_MAX = 16
"""Snapshots kept of a main frame: an action refers to the latest ones only."""

FRAME_PUSHES_MAX = 6
"""Snapshots kept of any other frame."""

# Bounds memory: a page can make frames without end.
FRAMES_MAX = 64
"""Documents in frames whose snapshots are kept; the longest silent goes first."""

FRAMES_LISTED_MAX = 256
"""Frames of one observation, those in frames included."""

DEPTH_MAX = 8
"""Frames in frames of one observation."""


_V = TypeVar("_V")


class PushedSnapshot(Struct, frozen=True, kw_only=True):
    """A snapshot that a page pushed."""

    at: float
    """When, ms."""
    document: int
    """Document ordinal within the tab."""
    source: Source = MAIN
    """Who pushed it."""
    push: PagePush
    """The message; its text is not needed any more."""
    blob: Blob
    """The snapshot without secrets."""
    paint: tuple[Box, ...] | None = ()
    """Boxes to black out in a screenshot of it; None: what is to be hidden cannot be found."""
    views: tuple[TabView, ...] = ()
    """The open tabs then."""
    status: int | None = None
    """HTTP status of its document."""
    sheets: tuple[Blob | None, ...] = ()
    """Its style sheets in the order of the head, as far as the page reported them."""


class SnapshotHistory:
    """Snapshots of one tab."""

    def __init__(self) -> None:
        self._main: deque[PushedSnapshot] = deque(maxlen=PUSHES_MAX)
        self._frames: dict[Source, deque[PushedSnapshot]] = {}
        self._left: dict[Source, tuple[float, str]] = {}

    @property
    def has_frames(self) -> bool:
        """Whether any frame has ever reported for itself."""
        return bool(self._frames)

    def add(self, shown: PushedSnapshot) -> None:
        """Add a snapshot."""
        if shown.source == MAIN:
            self._main.append(shown)
            return
        # Taken out and put back, so that the longest silent frame comes first in the dict.
        pushed = self._frames.pop(shown.source, None) or deque(maxlen=FRAME_PUSHES_MAX)
        self._frames[shown.source] = pushed
        pushed.append(shown)
        while len(self._frames) > FRAMES_MAX:
            del self._frames[next(iter(self._frames))]

    def leave(self, source: Source, at: float, why: str) -> None:
        """Note that a frame's document is no more, or was never watched."""
        remember(self._left, source, (at, why))

    def own(self, source: Source, node: PageNode, frame: str) -> None:
        """Note whose frame an element of a snapshot holds."""
        pushed = self._main if source == MAIN else self._frames.get(source, deque())
        for place, shown in enumerate(pushed):
            if shown.push.seq == node.push:
                pushed[place] = replace(shown, push=_owned(shown.push, node.number, frame))

    def latest(self, document: int) -> PushedSnapshot | None:
        """Return the latest snapshot of that document in the main frame."""
        return next((one for one in reversed(self._main) if one.document == document), None)

    def at(self, document: int, at: float) -> PushedSnapshot | None:
        """Return the latest snapshot of that document in the main frame until then."""
        return next((one for one in reversed(self._main) if one.document == document and one.at <= at), None)

    def before(self, document: int, source: Source, seq: int, at: float) -> PushedSnapshot | None:
        """Return the main frame's latest snapshot at or before a message of that document."""
        own = (one for one in reversed(self._main) if one.document == document)
        # Another document counts its own messages: only time compares.
        return next((one for one in own if (one.push.seq <= seq if source == MAIN else one.at <= at)), None)

    def of_frame(self, document: int, source: Source, seq: int) -> PushedSnapshot | None:
        """Return a frame's latest snapshot at or before its message."""
        pushed = (one for one in reversed(self._frames.get(source, ())) if one.document == document)
        return next((one for one in pushed if one.push.seq <= seq), None)

    def node(
        self, place: PageNode | None, document: int, source: Source
    ) -> tuple[NodeRef, PushedSnapshot] | None:
        """Return where a page's node is, by snapshot; None if that snapshot is not there."""
        if place is None:
            return None
        pushed = self._main if source == MAIN else self._frames.get(source, ())
        found = [one for one in pushed if (one.document, one.push.seq) == (document, place.push)]
        return (NodeRef(snapshot=found[-1].blob.id, number=place.number), found[-1]) if found else None

    def current(self, shown: PushedSnapshot) -> PushedSnapshot:
        """Return a snapshot with all that is known of it by now."""
        pushed = self._main if shown.source == MAIN else self._frames.get(shown.source, ())
        same = (one for one in pushed if (one.document, one.push.seq) == (shown.document, shown.push.seq))
        return next(same, shown)

    def frames(self, main: PushedSnapshot, until: float = inf) -> tuple[tuple[Frame, ...], list[Blob]]:
        """Return the frames that a page cannot read, as they were then, and their snapshots."""
        tree = _FrameTree(self, main.document, until)
        return tree.frames(self.current(main), 0), tree.blobs

    def all_in(self, main: PushedSnapshot) -> Iterator[PushedSnapshot | None]:
        """Yield what every frame on a page showed last; None: unknown."""
        waiting = [(entry, 0) for entry in self.current(main).push.frames[:FRAMES_LISTED_MAX]]
        # The list grows while it is read: frames below frames join at its end.
        for entry, depth in waiting:
            shown = self.seen(entry.id, main.document, inf)
            yield shown
            if shown is not None and depth < DEPTH_MAX and len(waiting) < FRAMES_LISTED_MAX:
                waiting += [(inner, depth + 1) for inner in shown.push.frames]

    def seen(self, frame: str, document: int, until: float) -> PushedSnapshot | None:
        """Return what a frame showed then; None: unknown."""
        last: PushedSnapshot | None = None
        for source, pushed in self._frames.items():
            left_at = self._left[source][0] if source in self._left else None
            if source[0] == frame and frame and (left_at is None or left_at > until):
                ours = [one for one in pushed if one.document == document and one.at <= until]
                # A frame's later document counts, even where the earlier one reported last.
                is_later = bool(ours) and (last is None or source[1] > last.source[1])
                last = ours[-1] if is_later else last
        return last

    def why_not(self, frame: str) -> str:
        """Return why nothing is known of a frame."""
        if not frame:
            return "unmatched"
        reasons = [why for source, (_, why) in self._left.items() if source[0] == frame and why != "left"]
        return reasons[-1] if reasons else "unseen"

    def url(self, source: Source) -> str | None:
        """Return the URL of a frame's document, as it last reported it; None for the main frame."""
        pushed = self._frames.get(source)
        return pushed[-1].push.url if pushed else None


def _owned(push: PagePush, number: int, frame: str) -> PagePush:
    entries = (replace(one, id=frame) if one.number == number else one for one in push.frames)
    return replace(push, frames=tuple(entries))


class _FrameTree:
    """One observation's frames in the making."""

    def __init__(self, snapshots: SnapshotHistory, document: int, until: float) -> None:
        self.blobs: list[Blob] = []
        self._snapshots = snapshots
        self._document = document
        self._until = until
        self._left = FRAMES_LISTED_MAX

    def frames(self, outer: PushedSnapshot, depth: int) -> tuple[Frame, ...]:
        entries = outer.push.frames[: self._left]
        self._left -= len(entries)
        return tuple(self._frame(entry, depth) for entry in entries)

    def _frame(self, entry: PageFrame, depth: int) -> Frame:
        shown = self._snapshots.seen(entry.id, self._document, self._until)
        if shown is None:
            return Frame(url=entry.url or None, why=self._snapshots.why_not(entry.id))
        self.blobs.append(shown.blob)
        inner = self.frames(shown, depth + 1) if depth < DEPTH_MAX else ()
        return Frame(snapshot=shown.blob.id, url=shown.push.url, frames=inner)


def remember(known: dict[Source, _V], source: Source, value: _V) -> None:
    """Keep what is known of a document; of too many, the one that was noted first goes."""
    known[source] = value
    while len(known) > 4 * FRAMES_MAX:
        del known[next(iter(known))]
