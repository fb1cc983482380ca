"""Where the viewport of a frame begins in that of the main frame, also after either has scrolled.

Own module: it is arithmetic of boxes and scroll positions; a tab only asks for the result.
"""

from __future__ import annotations

from collections import deque

from replaykit.recorder.session.driver_messages import MAIN, Source
from replaykit.recorder.session.observations.snapshot_history import (
    FRAME_PUSHES_MAX,
    FRAMES_LISTED_MAX,
    PushedSnapshot,
    SnapshotHistory,
    remember,
)
from replaykit.trajectory.scalars import Point


class FrameOrigins:
    """The offsets of the frames of one tab: their places in snapshots, less what is scrolled."""

    def __init__(self, snapshots: SnapshotHistory) -> None:
        self._snapshots = snapshots
        self._scrolls: dict[Source, deque[tuple[float, Point]]] = {}

    def scrolled(self, source: Source, at: float, offset: Point) -> None:
        """Note how far a document is scrolled, CSS px."""
        moves = self._scrolls.pop(source, None) or deque(maxlen=FRAME_PUSHES_MAX)
        remember(self._scrolls, source, moves)
        moves.append((at, offset))

    def origin(self, source: Source, document: int, at: float) -> Point | None:
        """Return where a frame's viewport begins in that of the main frame, CSS px; None: unknown."""
        if source == MAIN:
            return (0, 0)
        main = self._snapshots.at(document, at)
        waiting: list[tuple[PushedSnapshot, Point]] = [(main, (0, 0))] if main is not None else []
        for shown, (left, top) in waiting:
            x, y = self._scrolled_by(shown.source, at)
            for entry in shown.push.frames:
                # Origins count from the top of the document, which may have scrolled since the snapshot.
                place = (left + entry.origin[0] - x, top + entry.origin[1] - y)
                if entry.id == source[0]:
                    return place
                inner = self._snapshots.seen(entry.id, document, at)
                if inner is not None and len(waiting) < FRAMES_LISTED_MAX:
                    waiting.append((inner, place))
        return None

    def _scrolled_by(self, source: Source, at: float) -> Point:
        moves = [offset for moved, offset in self._scrolls.get(source, ()) if moved <= at]
        return moves[-1] if moves else (0, 0)
