"""Frames that their page cannot read: documents of their own beside the one that holds them.

A query on a page ends at its frames, as it does in a browser; whoever wants to look inside asks the frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from replaykit.errors import Unsupported
from replaykit.replay.composed_tree import is_small
from replaykit.replay.page_cache import Doms
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Probe

if TYPE_CHECKING:
    from replaykit.replay.dom import Dom, Node

DEPTH_MAX = 32
"""Frames in frames that are looked into; recorders write fewer."""


class DocumentView:
    """A page or a frame as it was observed: what holds a document, and frames."""

    def __init__(self, seen: Frame | Observation | Probe, doms: Doms) -> None:
        self.seen = seen
        self._doms = doms

    @property
    def snapshot_id(self) -> str | None:
        """Blob of its snapshot; None where none was taken or kept."""
        found = self.seen.snapshot
        return None if isinstance(found, Omitted) else found

    @property
    def dom(self) -> Dom | None:
        """Its document, parsed on first use; None where there is no snapshot.

        Raises SnapshotInvalid for a snapshot that contradicts its format, BundleError for damaged contents.
        """
        found = self.snapshot_id
        return self._doms.get(found) if found is not None and found in self._doms else None


class FrameView(DocumentView):
    """One frame as it was observed."""

    seen: Frame

    def __init__(self, seen: Frame, ordinal: int, outer: DocumentView, doms: Doms, depth: int = 0) -> None:
        super().__init__(seen, doms)
        #: Place in the observation: the state key `frame` of its owner element.
        self.ordinal = ordinal
        #: The page or frame that holds it.
        self.outer = outer
        self._depth = depth

    def __repr__(self) -> str:
        return f"<FrameView {self.ordinal} {self.url}>"

    @property
    def url(self) -> str | None:
        """Its URL; where nothing is known of its document, what its owner element asked for."""
        return self.seen.url

    @property
    def why(self) -> str | None:
        """Why there is no snapshot."""
        return self.seen.why

    @property
    def owner(self) -> Node | None:
        """The element that holds it."""
        dom = self.outer.dom
        if dom is None:
            return None
        states = dom.snapshot.state.items()
        row = next((row for row, state in states if state.frame == self.ordinal), None)
        return None if row is None else dom.node(dom.snapshot.number[row])

    @cached_property
    def frames(self) -> tuple[FrameView, ...]:
        """Frames inside of it that its document cannot read."""
        return views(self.seen.frames, self, self._doms, self._depth + 1)


def views(
    frames: tuple[Frame, ...], outer: DocumentView, doms: Doms, depth: int = 0
) -> tuple[FrameView, ...]:
    """Return the frames of a page or frame, by ordinal."""
    if depth > DEPTH_MAX:
        return ()
    return tuple(FrameView(frame, ordinal, outer, doms, depth) for ordinal, frame in enumerate(frames))


def shown(frames: tuple[FrameView, ...]) -> Iterator[FrameView]:
    """Yield the frames, and those inside of them, whose elements show; one without a known element does."""
    for frame in frames:
        owner = frame.owner
        if owner is None or _is_visible(owner):
            yield frame
            yield from shown(frame.frames)


def _is_visible(owner: Node) -> bool:
    try:
        return owner.visible and not is_small(owner.box)
    except Unsupported:  # without styles no one knows
        return True


def find(frames: tuple[FrameView, ...], snapshot_id: str) -> FrameView | None:
    """Return the frame that a snapshot shows, nested frames included; None if no frame has it."""
    waiting = list(frames)
    while waiting:
        view = waiting.pop(0)
        if view.snapshot_id == snapshot_id:
            return view
        waiting += view.frames
    return None
