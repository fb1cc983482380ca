"""The tabs of a run as the session knows them, and the snapshots that their pages pushed."""

from __future__ import annotations

from math import inf

from replaykit.recorder.session.driver_messages import MAIN, Source
from replaykit.recorder.session.gestures.recogniser import Recogniser
from replaykit.recorder.session.observations.changed_without_event import FieldChanges
from replaykit.recorder.session.observations.frame_origins import FrameOrigins
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot, SnapshotHistory
from replaykit.recorder.session.outbox import StepRef
from replaykit.trajectory.observation import Observation, TabView

TOUCH_MS = 1000.0
"""A page does within these ms what a gesture caused."""

SKEW_MS = 25.0
"""Clocks of pages, browser and harness agree to about this."""

SHOTS_LATE_MAX = 3
"""After so many screenshots in a row that did not come in time a tab is asked for no more."""


class Tab:
    """One tab."""

    title: str | None = None
    """As the page last reported."""
    status: int | None = None
    """HTTP status of the main document."""
    document = 0
    """Ordinal of the main document."""
    authored: int | None = None
    """Ordinal of the document that the agent wrote itself."""
    forged_after = inf
    """Ordinal after which the agent has a hand in every document: a script of its own, or answers."""
    commits = 0
    """Navigations that arrived."""
    is_open = True
    """Neither closed nor crashed."""
    is_linked = False
    """A link opened it: until it has a document, it takes no input."""
    opening: StepRef | None = None
    """The action that opened it."""
    activated = ""
    """Origin of its document, where a gesture has activated it."""
    left_by = ""
    """Which event its document reported last of its end: `beforeunload pagehide`."""
    is_travelling = False
    """The agent has asked its driver to go back or forward, and it has not begun to."""
    arrived_at = -inf
    """When its document came, ms."""
    touched_at = -inf
    """Last action seen on the page, ms."""
    ahead: float | None = None
    """Page time, epoch ms, less the recording's, ms."""
    reported_at = -inf
    """Last message of the page, ms."""
    gesture_at = -inf
    """When a pointer or a key began the last action, ms."""
    shots_late = 0
    """Screenshots in a row that did not come in time."""
    last_look: Observation | None = None
    """Latest observation of what an action led to."""
    final_push: PushedSnapshot | None = None
    """The last snapshot, which the driver took before the tab was closed."""

    def __init__(self, page: int, url: str, opener: int | None) -> None:
        self.page = page
        """Ordinal."""
        self.opener = opener
        """Ordinal of the opener."""
        self.opened_url = url
        """First URL."""
        self.url = url
        """URL of the main frame."""
        self.recogniser = Recogniser()
        """Its actions."""
        self.snapshots = SnapshotHistory()
        """Snapshots of its documents."""
        self.frame_origins = FrameOrigins(self.snapshots)
        self.changes = FieldChanges()
        """Fields that changed without an event, until an observation reports them."""

    def note_report(self, at: float, page_time: float, source: Source) -> None:
        """Note when the page reported something, on both clocks; other frames may have another clock."""
        self.reported_at = at
        if source == MAIN:
            self.ahead = page_time - at

    def was_touched(self, at: float, *, here: bool = False) -> bool:
        """Whether a gesture or action in the tab (`here`: on its document) lies at most a second before."""
        touched = max(self.touched_at, self.recogniser.trusted_at)
        return -SKEW_MS <= at - touched <= TOUCH_MS and not (here and touched < self.arrived_at)

    def is_forged(self, document: int) -> bool:
        """Whether a document is the agent's own, or one that it has a hand in."""
        return document == self.authored or document > self.forged_after

    @property
    def is_new_popup(self) -> bool:
        """Whether a page opened it, and no document has come."""
        return self.opener is not None and self.commits == 0

    @property
    def latest(self) -> PushedSnapshot | None:
        """The latest snapshot of the main frame's present document."""
        return self.snapshots.latest(self.document)

    def can_paint(self, shown: PushedSnapshot) -> bool:
        """Whether a screenshot's secrets can be found in it; only those of the main frame can."""
        frames = self.snapshots.all_in(shown)
        return shown.paint is not None and all(one is not None and one.paint == () for one in frames)


class Tabs:
    """All tabs, in order of opening."""

    active: int | None = None
    """The tab acted on last."""
    is_forged = False
    """The agent has a hand in the documents of tabs to come."""
    is_planted = False
    """So it has in those of the recorder's own tabs, where it looks at pages for checks."""

    def __init__(self) -> None:
        self._tabs: dict[int, Tab] = {}

    def add(self, page: int, url: str, opener: int | None) -> Tab:
        """Add a new tab; one that is known stays as it is."""
        tab = self._tabs.setdefault(page, Tab(page, url, opener))
        tab.forged_after = -1 if self.is_forged else tab.forged_after
        if self.active is None:
            self.active = page
        return tab

    def get(self, page: int | None) -> Tab | None:
        """Return a tab, None for a tab no one reported."""
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
