"""The tabs of a run as the session knows them, and the snapshots that their pages pushed."""

from __future__ import annotations

from collections import deque
from math import inf

from msgspec import Struct

from replaykit.recorder.actions import Recogniser
from replaykit.recorder.capture import PageNode, PagePush
from replaykit.recorder.ledger import Blob, StepRef
from replaykit.trajectory.action import Node
from replaykit.trajectory.observation import Frame, Observation, TabView
from replaykit.trajectory.scalars import Box

PUSHES_MAX = 16
"""Snapshots kept per tab: an act refers to the latest ones only."""

TOUCH_MS = 1000.0
"""A page does within these ms what a gesture caused."""

SKEW_MS = 25.0
"""Clocks of pages, browser and harness agree to about this."""

SHOTS_FAILED_MAX = 3
"""After so many failures in a row a tab gives no more screenshots."""


class Shown(Struct, frozen=True, kw_only=True):
    """A snapshot that a page pushed."""

    at: float
    """When, ms."""
    document: int
    """Document ordinal within the tab."""
    frame: tuple[int, ...] = ()
    """Frame ordinals; empty = main frame."""
    push: PagePush
    """The message; its text is not needed any more."""
    blob: Blob
    """The snapshot without secrets."""
    paint: tuple[Box, ...] | None = ()
    """Boxes to black out in a picture of it; None: what is to be hidden cannot be found."""
    views: tuple[TabView, ...] = ()
    """The open tabs then."""
    status: int | None = None
    """HTTP status of its document."""


class Tab:
    """One tab."""

    def __init__(self, page: int, url: str, opener: int | None) -> None:
        self.page = page
        """Ordinal."""
        self.opener = opener
        """Ordinal of the opener."""
        self.opened_url = url
        """First URL."""
        self.url = url
        """URL of the main frame."""
        self.title: str | None = None
        """As the page last said."""
        self.status: int | None = None
        """HTTP status of the main document."""
        self.document = 0
        """Ordinal of the main document."""
        self.commits = 0
        """Navigations that arrived."""
        self.is_open = True
        """Neither closed nor crashed."""
        self.opening: StepRef | None = None
        """The act that opened it."""
        self.recogniser = Recogniser()
        """Its acts."""
        self.arrived_at = -inf
        """When its document came, ms."""
        self.touched_at = -inf
        """Last act seen on the page, ms."""
        self.ahead: float | None = None
        """Page time, epoch ms, less the recording's, ms."""
        self.spoke_at = -inf
        """Last message of the page, ms."""
        self.shots_failed = 0
        """Failed screenshots in a row."""
        self.last_look: Observation | None = None
        """Latest observation of what an act led to."""
        self.last_words: Shown | None = None
        """A last look that the driver took before the tab was closed."""
        self._shown: deque[Shown] = deque(maxlen=PUSHES_MAX)

    def show(self, shown: Shown) -> None:
        """Take in a snapshot."""
        self._shown.append(shown)

    def hear(self, at: float, page_time: float) -> None:
        """Note when the page said something, on both clocks."""
        self.spoke_at = at
        self.ahead = page_time - at

    def was_touched(self, at: float, *, here: bool = False) -> bool:
        """Whether a gesture or an act in the tab (`here`: on its document) lies at most a second before."""
        touched = max(self.touched_at, self.recogniser.trusted_at)
        return -SKEW_MS <= at - touched <= TOUCH_MS and not (here and touched < self.arrived_at)

    @property
    def latest(self) -> Shown | None:
        """The latest snapshot of the main frame's present document."""
        return next((one for one in reversed(self._shown) if self._is_main(one)), None)

    def before(self, document: int, frame: tuple[int, ...], seq: int, at: float) -> Shown | None:
        """Return the main frame's latest snapshot at or before a message of that document."""
        own = (one for one in reversed(self._shown) if not one.frame and one.document == document)
        # A frame of another process counts its own messages: only time compares.
        return next((one for one in own if (one.at <= at if frame else one.push.seq <= seq)), None)

    def node(
        self, place: PageNode | None, document: int, frame: tuple[int, ...]
    ) -> tuple[Node, Shown] | None:
        """Return where a page's node is, by snapshot; None if that snapshot is not there."""
        if place is None:
            return None
        wanted = (document, frame, place.push)
        found = [one for one in self._shown if (one.document, one.frame, one.push.seq) == wanted]
        return (Node(snapshot=found[-1].blob.id, number=place.number), found[-1]) if found else None

    def can_paint(self, shown: Shown) -> bool:
        """Whether a picture's secrets can be found in it; in frames of other processes they cannot."""
        frames = [one for one in self._shown if one.frame and one.document == shown.document]
        return shown.paint is not None and all(one.paint == () for one in frames)

    def frames(self, main: Shown) -> tuple[tuple[Frame, ...], list[Blob]]:
        """Return the frames that the main frame cannot read, and their snapshots."""
        pushed = {one.frame: one for one in self._shown if one.frame and one.document == main.document}
        blobs = [pushed[frame.path].blob for frame in main.push.frames if frame.path in pushed]
        frames = (
            Frame(snapshot=pushed[frame.path].blob.id, url=pushed[frame.path].push.url)
            if frame.path in pushed
            else Frame(url=frame.url or None, why="unreadable")
            for frame in main.push.frames
        )
        return tuple(frames), blobs

    def _is_main(self, shown: Shown) -> bool:
        return not shown.frame and shown.document == self.document


class Tabs:
    """All tabs, in order of opening."""

    def __init__(self) -> None:
        self._tabs: dict[int, Tab] = {}
        self.active: int | None = None
        """The tab acted on last."""

    def add(self, page: int, url: str, opener: int | None) -> Tab:
        """Take in a new tab; one that is known stays as it is."""
        tab = self._tabs.setdefault(page, Tab(page, url, opener))
        if self.active is None:
            self.active = page
        return tab

    def get(self, page: int | None) -> Tab | None:
        """Return a tab, None for a tab nobody told of."""
        return None if page is None else self._tabs.get(page)

    @property
    def all(self) -> list[Tab]:
        """Every tab, closed ones included."""
        return [self._tabs[page] for page in sorted(self._tabs)]

    @property
    def open(self) -> list[Tab]:
        """Tabs that can be asked."""
        return [tab for tab in self.all if tab.is_open]

    def close(self, tab: Tab) -> None:
        """Take a tab out; if it was the active one, its opener or the last one takes its place."""
        tab.is_open = False
        left = [one.page for one in self.open]
        if self.active == tab.page and left:
            self.active = tab.opener if tab.opener in left else left[-1]

    def views(self) -> tuple[TabView, ...]:
        """Return all open tabs as events show them."""
        return tuple(
            TabView(page=tab.page, url=tab.url, title=tab.title, active=tab.page == self.active)
            for tab in self.open
        )
