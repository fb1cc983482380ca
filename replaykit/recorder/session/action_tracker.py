"""From gestures to steps: when an action begins, what it was done on, what the tabs were right after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.page.page_script import PageNode
from replaykit.recorder.session.declared_steps import DeclaredAction
from replaykit.recorder.session.driver_messages import MAIN, PageMessage, Pause, ReadPage, Source
from replaykit.recorder.session.gestures.recogniser import Acted, Begun, Notice
from replaykit.recorder.session.observations.observation_scheduler import ObservationScheduler
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot
from replaykit.recorder.session.outbox import Blob, Flow, StepRef
from replaykit.recorder.session.page_message import is_root, number_of
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.tabs import Tab
from replaykit.recorder.session.uploaded_files import Uploads
from replaykit.trajectory.action import Action, DragAndDrop, Element, FocusTab, MouseClick
from replaykit.trajectory.observation import Stale, TabView
from replaykit.trajectory.scalars import Box, Point

GRACE_MS = 250
"""Messages of a page may be so late: a time of the page is over that much later, ms."""

LEAVING = frozenset({"beforeunload", "pagehide"})
"""A page that a page closes says the first only; one that a driver closes, the other."""

_R = TypeVar("_R", bound=Struct)


class ActionTracker:
    """Turns what gestures report into actions, and actions into steps."""

    def __init__(self, state: SessionState, observations: ObservationScheduler, uploads: Uploads) -> None:
        self._flows = state.flows
        self._tabs = state.tabs
        self._steps = state.steps
        self._capture = state.capture
        self._observations = observations
        self._uploads = uploads
        self._refs: dict[tuple[int, int], StepRef] = {}
        self._latest: dict[int, int] = {}
        # URL and tabs at a gesture's last event: when it is recognised, the page may already show another.
        self._scenes: dict[int, tuple[int, str, tuple[TabView, ...]]] = {}
        self._rings_at = inf
        self.now = 0.0
        """Latest time seen, ms."""
        self.steps_max: int | None = None
        """Steps allowed."""
        self.on_limit: Callable[[float], None] = lambda at: None
        """Called when an action would be one too many."""
        self.on_begin: Callable[[float], None] = lambda at: None
        """Called when any action begins."""

    def message(self, message: PageMessage) -> None:
        """Handle a DOM event."""
        tab = self._tabs.get(message.page)
        if tab is None:
            return
        tab.note_report(message.at, message.event.at, message.source)
        if message.source == MAIN and message.event.name in LEAVING:
            tab.left_by = message.event.name
        # Clicks in frames are placed on the page by these offsets (`FrameOrigins.origin`).
        if message.event.name == "scroll" and is_root(message.event.element):
            offset = (number_of(message, "left"), number_of(message, "top"))
            tab.frame_origins.scrolled(message.source, message.at, offset)
        self._notify(tab, tab.recogniser.feed(message))
        latest = tab.recogniser.latest
        if latest is not None and latest[1] == message.at:
            self._scenes[tab.page] = (latest[0], tab.url, self._tabs.views())
        self._set_timer()

    def pass_time(self, page: int, at: float) -> None:
        """Note that a page's own time is `at`: what waited for something until then is over."""
        tab = self._tabs.get(page)
        if tab is not None:
            self._notify(tab, tab.recogniser.expire(at))

    def settle(self, tab: Tab) -> None:
        """End what is going on in a tab."""
        self._notify(tab, tab.recogniser.flush())

    def settle_all(self, until: float | None = None) -> None:
        """End what is going on in every tab, or only what began before `until`."""
        for tab in self._tabs.all:
            since = tab.recogniser.since
            if until is None or (since is not None and since <= until):
                self.settle(tab)

    def begin(
        self,
        tab: Tab,
        at: float,
        *,
        is_gesture: bool = True,
        is_opening: bool = False,
        source: Source = MAIN,
    ) -> StepRef | None:
        """Note that an action begins on a tab; unfinished ones end. None = the limit of actions is reached.

        `is_gesture=False`: the browser performs the action, not a pointer or a key on the page.
        """
        for other in self._tabs.all:
            since = other.recogniser.since
            # An action that is reported late ends nothing that began after it.
            if other is not tab and since is not None and since <= at:
                # Expire first: `interrupt` drops stray scrolling, also scrolling whose time was already over.
                self._notify(other, other.recogniser.expire(at))
                self._notify(other, other.recogniser.interrupt())
        # Before the limit is tested: it turns the tabs that closed before into steps.
        self.on_begin(at)
        previous = self._steps.previous
        if self._is_too_many(at, is_gesture=is_gesture):
            self.on_limit(at)
            return None
        # An opened or closed tab says by itself which tab is meant: no focus step.
        if not is_opening and tab.page != self._tabs.active:
            self._focus(tab, at)
        self._tabs.active = tab.page
        ref = self._steps.begin(at, tab.page, is_gesture=is_gesture)
        ref.source = source
        if is_gesture:
            tab.gesture_at = at
        if previous is not None:
            # An action in another document does not affect this one either.
            self._observations.overtaken(tab, previous, at, asks=not is_gesture or source != previous.source)
        return ref

    def begin_late(self, tab: Tab, at: float, left: PushedSnapshot | None) -> StepRef | None:
        """Note that the browser began an action, which is known only now; `left`: what the page showed then.

        None also where another action has begun meanwhile: the order would be wrong.
        """
        previous = self._steps.current
        if previous is not None and previous.at > at:
            return None
        if previous is not None:
            self._observations.passed(tab, previous, left)
        return self.begin(tab, at, is_gesture=False)

    def done(self, action: DeclaredAction, tab: Tab) -> None:
        """Record the end of an action."""
        self._steps.done(action)
        self._observations.watch(tab, action.ref)

    def _is_too_many(self, at: float, *, is_gesture: bool) -> bool:
        # Resolve first: a window that is over declares nothing more.
        self._steps.leave_behind(at, is_gesture=is_gesture)
        return self.is_full and not self._steps.is_declared(at, is_gesture=is_gesture)

    @property
    def is_full(self) -> bool:
        """Whether all steps that are allowed are taken."""
        return self.steps_max is not None and self._steps.promised >= self.steps_max

    def _focus(self, tab: Tab, at: float) -> None:
        ref = self._steps.begin(at, tab.page)
        ref.looks = 1  # nothing is to be seen of it: the action that shows it follows at once
        self._tabs.active = tab.page
        action = FocusTab(to_page=tab.page)
        views = self._tabs.views()
        self._steps.done(
            DeclaredAction(ref=ref, page=tab.page, action=action, at=at, end=at, url=tab.url, tabs=views)
        )

    def _notify(self, tab: Tab, notices: Iterable[Notice]) -> None:
        for notice in notices:
            if isinstance(notice, Begun):
                self._begun(tab, notice)
            else:
                self._acted(tab, notice)

    def _begun(self, tab: Tab, notice: Begun) -> None:
        # Pages scroll by themselves, and drivers before a click: scrolling is an action only if the harness
        # declared it.
        if notice.is_stray and not self._steps.is_declared(notice.at, is_gesture=True):
            return
        ref = self.begin(tab, notice.at, source=notice.source)
        if ref is not None:
            tab.touched_at = max(tab.touched_at, notice.at)
            self._refs[tab.page, notice.serial] = ref
            if tab.snapshots.has_frames:
                self._flows.start(_note_in_other_frames(tab, notice.source), counts=False)

    def _acted(self, tab: Tab, acted: Acted) -> None:
        ref = self._ref(tab, acted)
        if ref is None:
            return
        done = self._done_on(tab, acted, ref)
        # The page forgets files soon, and a step that is written can take nothing in.
        if any(acted.keys):
            self._flows.start(self._uploading(done, acted))
            self._observations.watch(tab, done.ref)
        else:
            self.done(done, tab)

    def _done_on(self, tab: Tab, acted: Acted, ref: StepRef) -> DeclaredAction:
        shown = tab.snapshots.before(acted.document, acted.source, acted.seq, acted.at)
        own = tab.snapshots.of_frame(acted.document, acted.source, acted.seq)
        before, blobs = self._capture.before(tab, shown, acted.at, own)
        if before is not None and acted.lag is not None:
            before = replace(before, stale=_older(before.stale, acted.lag))
        action, more = _placed(tab, acted)
        url, views = self._scene(tab, acted.serial)
        return DeclaredAction(
            ref=ref,
            page=tab.page,
            action=action,
            at=acted.at,
            end=acted.end,
            seq=acted.seq,
            before=before,
            blobs=(*blobs, *more),
            url=url,
            tabs=views,
        )

    def _uploading(self, done: DeclaredAction, acted: Acted) -> Flow:
        self._steps.done((yield from self._uploads.read(done, acted.source, acted.keys)))

    def _ref(self, tab: Tab, acted: Acted) -> StepRef | None:
        ref = self._refs.pop((tab.page, acted.serial), None)
        # A gesture may turn out to be two actions: two clicks too slow for a double one.
        if ref is None and self._latest.get(tab.page) == acted.serial:
            ref = self._steps.begin(acted.at, tab.page)
        if ref is not None:
            self._latest[tab.page] = acted.serial
        return ref

    def _scene(self, tab: Tab, serial: int) -> tuple[str, tuple[TabView, ...]]:
        found = self._scenes.get(tab.page)
        if found is not None and found[0] == serial:
            return found[1], found[2]
        return tab.url, self._tabs.views()

    def _set_timer(self) -> None:
        deadlines = [tab.recogniser.deadline for tab in self._tabs.all]
        nearest = min((deadline for deadline in deadlines if deadline is not None), default=inf)
        if nearest + GRACE_MS < self._rings_at:
            self._rings_at = nearest + GRACE_MS
            self._flows.start(self._timing(self._rings_at), counts=False)

    def _timing(self, rings_at: float) -> Flow:
        reply = yield Pause(id=0, ms=max(1, round(rings_at - self.now)))
        # A later call may have set a nearer timer, which resets this itself.
        if self._rings_at == rings_at:
            self._rings_at = inf
        for tab in self._tabs.all:
            self._notify(tab, tab.recogniser.expire(reply.at - GRACE_MS))
        self._set_timer()


def _older(known: Stale | None, lag: Stale) -> Stale:
    """Return how far a snapshot lies behind, of what two clocks say of it."""
    if known is None:
        return lag
    return Stale(ms=max(known.ms, lag.ms), mutations=max(known.mutations, lag.mutations))


def _note_in_other_frames(tab: Tab, source: Source) -> Flow:
    """Let other frames look at what the action leads to there."""
    yield ReadPage(id=0, page=tab.page, what="note_action", args=(source[0],))


def _placed(tab: Tab, acted: Acted) -> tuple[Action, list[Blob]]:
    """Return the action with its elements' places in snapshots, and those snapshots."""
    whence = _Whence(tab, acted.document, acted.frame, acted.source, acted.at)
    action, blobs = whence.moved(acted.action, "point"), list[Blob]()
    if action.element is not None:
        element, more = whence.place(action.element, acted.node)
        action, blobs = replace(action, element=element), more
    if isinstance(action, DragAndDrop) and action.to is not None and acted.to is not None:
        there = acted.to
        whence = _Whence(tab, there.document, there.frame, there.source, there.at)
        target, more = whence.place(action.to, there.event.node)
        action, blobs = replace(whence.moved(action, "to_point"), to=target), [*blobs, *more]
    return action, blobs


class _Whence:
    """The document that reported an action. In a frame it counts frames and pixels from itself."""

    def __init__(self, tab: Tab, document: int, frame: tuple[int, ...], source: Source, at: float) -> None:
        self._snapshots = tab.snapshots
        self._document = document
        self._frame = frame
        self._source = source
        self._url = tab.snapshots.url(source)
        self._origin = tab.frame_origins.origin(source, document, at)

    def place(self, element: Element, node: PageNode | None) -> tuple[Element, list[Blob]]:
        """Return an element with its place in a snapshot, and that snapshot."""
        element = replace(
            self.moved(element, "point"),
            frame=(*self._frame, *element.frame),
            frame_url=element.frame_url or self._url,
            box=self._box(element.box),
        )
        found = self._snapshots.node(node, self._document, self._source)
        if found is None:
            return replace(element, node=None), []
        return replace(element, node=found[0]), [found[1].blob]

    def moved(self, record: _R, name: str) -> _R:
        """Return a record with one of its points in px of the main frame's viewport, as far as is known."""
        point: Point | None = getattr(record, name, None)
        if point is None or self._source == MAIN:
            return record
        is_known = self._origin is not None
        there = (point[0] + self._origin[0], point[1] + self._origin[1]) if self._origin else None
        # A mouse action has a point, known or not.
        return replace(record, **{name: there}) if is_known or not isinstance(record, MouseClick) else record

    def _box(self, box: Box | None) -> Box | None:
        # A box in the pixels of its own frame would mark a wrong place on the page.
        if self._source == MAIN or box is None:
            return box
        if self._origin is None:
            return None
        return (box[0] + self._origin[0], box[1] + self._origin[1], box[2], box[3])
