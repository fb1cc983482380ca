"""State of one tab, shared by the parts that read its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import NamedTuple, Protocol

from replaykit.recorder.browser.tab.asking_documents import AskingDocuments
from replaykit.recorder.browser.tab.cdp_documents import LiveDocuments
from replaykit.recorder.browser.tab.cdp_frames import FrameTree, Target, Via
from replaykit.recorder.browser.tab.leave_listeners import LeaveListeners
from replaykit.recorder.browser.witnesses.earlier_workers import UPDATES
from replaykit.recorder.browser.witnesses.target_census import LATE, Census
from replaykit.recorder.page.page_script import InjectedNames, PagePush
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import Input
from replaykit.recorder.session.navigation.tab_history import TabHistory


class Missed(NamedTuple):
    """Something in a tab that could not be had."""

    channel: str
    why: str
    number: int = 1
    detail: str = ""


class Requests(Protocol):
    """Interface of the requests of a tab for its navigations."""

    asking: AskingDocuments
    """Which documents still ask for something."""

    def settle(self, request: str) -> Iterator[Input]:
        """Let a response go that still waits for its wire headers."""

    def knows(self, request: str) -> bool:
        """Return whether a request has been seen from its start."""


class Navigations(Protocol):
    """Interface of the navigations of a tab for its requests."""

    @property
    def is_leaving(self) -> bool:
        """Whether another document is on its way into the main frame."""

    def failed(self, frame: str, url: str, error: str, at: float, loader: str) -> Iterator[Input]:
        """Yield the failure of a navigation."""


class TabState:
    """The state of one tab, without the translation of its events."""

    network: Requests
    moves: Navigations

    wire = ""
    """Session through which the browser's own passes on messages; empty = a session of its own."""
    document = 0
    """Ordinal of the main frame's document, from 0."""
    url = ""
    """URL of the main frame."""
    loader = ""
    """Loader id of the main frame's document."""
    ahead = 0.0
    """How far the page's clock is ahead of ours, ms."""
    viewport: tuple[int, int] | None = None
    """As the page last reported, CSS px."""
    has_dialog = False
    """A native dialog is open: the page answers nothing."""
    is_gone = False
    """Closed or crashed."""
    is_existing = False
    """It was there when the recorder came."""
    is_listening = False
    """Its navigations are reported."""
    is_watched = False
    """All that was there when the recorder came is known."""
    busy_at = 0.0
    """When the network last moved, ms since recording start."""
    counted_at = -inf
    """When the last command was over that its frames in other processes were asked after, ms."""
    dpr = 1.0
    """Device pixel ratio."""
    is_searched = False
    """The browser's own session reports what is below its targets."""
    is_following = True
    """Its own session attaches to what is right below it; otherwise the browser's own session does."""
    joining = 0
    """Number of targets below it that were reported, and not attached to so far."""
    is_noting = False
    """Events translated now are translated once more later."""

    def __init__(
        self,
        page: int,
        clock: Clock,
        *,
        actor: str = "agent",
        names: InjectedNames | None = None,
        holds: bool = False,
        is_doubled: bool = False,
        census: Census | None = None,
    ) -> None:
        self.page = page
        """Tab ordinal; probe tabs have a negative one."""
        self.actor = actor
        """`agent probe`."""
        self.on_listening: Callable[[], None] = _nothing
        """Called once the script is in it."""
        self.history = TabHistory()
        """Where it has been."""
        self.seen_at = clock.now()
        """When it was first seen, ms since recording start."""
        self._clock = clock
        self.frames = FrameTree()
        """Its frames."""
        self.names = names or InjectedNames()
        """The recorder's names for what it puts into pages."""
        self.holds = holds
        """Targets below it wait for the recorder before they run."""
        self.is_doubled = is_doubled
        """The driver also reports the requests of targets that wait for it."""
        self.census = census or Census()
        """Counts of what is below all tabs, and of them."""
        self.targets: dict[Via, Target] = {}
        """Frames in processes of their own, and workers."""
        self.predecessors: set[str] = set()
        """Ids of targets that were there when the recorder came."""
        self.unhandled: list[Target | str] = []
        """Targets that no one has armed, frames whose owners no one reported; the driver takes them out."""
        self.documents = LiveDocuments(self._miss, is_armed=self._is_armed)
        """The documents that it shows."""
        self.leave_listeners = LeaveListeners(self.frames)
        """Which of them listen for their end."""
        self.found: list[Input] = []
        """Findings of commands, for the session; the driver takes them out."""
        self.gaps: list[Missed] = []
        """All that could not be had; the driver takes it out."""

    def target(self, target_id: str) -> Target | None:
        """Return the target of an id."""
        return next((one for one in self.targets.values() if one.id == target_id), None)

    def frame(self, frame_id: str | None) -> tuple[int, ...]:
        """Return the ordinals of a frame among its siblings, from the main frame down; empty = main."""
        return self.frames.path(frame_id)

    def take_unhandled(self) -> list[Target | str]:
        """Return targets to arm and frames to report since this was asked last."""
        unhandled, self.unhandled = self.unhandled, []
        return unhandled

    def miss_requests(self, target: Target | None, count: int) -> None:
        """Report that a target made requests before the recorder was attached, or may have."""
        if not (self.is_doubled and target is not None and target.waits):
            self.gaps.append(Missed("network", LATE, count))

    def take_facts(self, push: PagePush, frame: str) -> None:
        """Record facts about the page from a snapshot of a frame: its size, and where frames stand."""
        if frame == self.frames.main:
            self.viewport = push.viewport or self.viewport
        for one in push.frames:
            if one.id:
                self.frames.place(one.id, frame, one.path)

    def visit(self, url: str) -> None:
        """Note that a document is shown in one of its frames."""
        if self.census.workers.visited(url) and self.actor == "agent":
            self.gaps.append(Missed("network", UPDATES))

    def _miss(self, why: str, detail: str) -> None:
        if self.actor == "agent":
            self.gaps.append(Missed("actions", why, detail=detail))

    def _is_armed(self, via: Via) -> bool:
        target = self.targets.get(via)
        return self.is_watched if not via else target is not None and target.is_armed


def _nothing() -> None:
    """No one waits for it."""
