"""When observations are taken: once the page is idle, at once when the next action begins, or on request."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.session.driver_messages import (
    MAIN,
    FrameLeft,
    FrameOwned,
    Pause,
    ReadPage,
    SnapshotPushed,
)
from replaykit.recorder.session.observations.snapshot_capture import (
    CapturedScreenshot,
    with_outline,
    with_shot,
)
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot
from replaykit.recorder.session.outbox import Blob, Flow, StepRef
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.tabs import Tab
from replaykit.trajectory.observation import Observation

SHOT_DELAY_MS = 1000
"""A screenshot waits so long for documents and data that the action asked for."""

SILENCE_MS = 3000
"""A page that pushed nothing so long after an action is asked."""


# A frame that never rests must not fill the recording.
LOOKS_MAX = 4
"""Observations of what one action led to, as far as frames in the page cause them."""


class PendingObservation(Struct, kw_only=True, eq=False):
    """A page that is at rest, before its observation is complete."""

    tab: Tab
    """The page."""
    ref: StepRef
    """The action that led to it."""
    shown: PushedSnapshot
    """Its snapshot."""
    at: float
    """When it was at rest, ms."""
    seen: Observation
    """The observation so far."""
    blobs: list[Blob]
    """Payloads that it refers to."""
    asks_frames: bool = False
    """Snapshots of other frames may be older than the page around them."""
    is_superseded: bool = False
    """A later look takes the screenshot."""


class ObservationScheduler:
    """Turns pushes into observations, and takes their screenshots at the right moments."""

    def __init__(self, state: SessionState, *, is_loading: Callable[[int, float], bool]) -> None:
        self._outbox = state.outbox
        self._flows = state.flows
        self._tabs = state.tabs
        self._capture = state.capture
        self._is_loading = is_loading
        self._waiting: list[PendingObservation] = []
        self.message_observed_at = -inf
        """When a page was observed last because of a message, ms."""

    def pushed(self, message: SnapshotPushed, ref: StepRef | None) -> None:
        """Handle a snapshot; at rest it shows what the action `ref` led to."""
        tab = self._tabs.get(message.page)
        if tab is None:
            return
        shown = self._capture.take(tab, message.push, message.at, message.document, message.source)
        tab.note_report(message.at, message.push.at, message.source)
        if message.push.purpose == "final" and message.source == MAIN:
            tab.final_push = shown
        if message.push.purpose == "left" and message.source == MAIN and ref is not None:
            self._leaving(tab, shown, ref)
        if message.push.purpose != "rest" or ref is None:
            return
        if message.source == MAIN:
            self._look(tab, shown, ref, message.at)
        elif tab.latest is not None and _shows(tab.latest, ref):
            # The page around the frame stays as it was last seen.
            self._look(tab, tab.latest, ref, message.at)

    def left(self, message: FrameLeft) -> None:
        """Record that a frame's document is no more."""
        tab = self._tabs.get(message.page)
        if tab is not None:
            tab.snapshots.leave(message.source, message.at, message.why)

    def owned(self, message: FrameOwned) -> None:
        """Record which element holds a frame."""
        tab = self._tabs.get(message.page)
        if tab is not None:
            tab.snapshots.own(message.source, message.node, message.id)

    def hurry(self, at: float) -> None:
        """Take the screenshots that still wait: something new begins."""
        for look in list(self._waiting):
            self._release(look, at)

    def loaded(self, page: int, at: float) -> None:
        """Take the screenshots that waited for data, now that it is there."""
        for look in list(self._waiting):
            if look.tab.page == page and not self._is_loading(page, look.ref.at):
                self._release(look, at)

    def overtaken(self, tab: Tab, ref: StepRef, at: float, *, asks: bool = False) -> None:
        """Observe the result of the action `ref`: the next one began on `tab` before the page was at rest.

        `asks`: the page may be asked for a snapshot, because the new action does not change it for a while.
        """
        self.hurry(at)
        if ref.looks == 0 and tab.is_open:
            ref.looks += 1
            self._flows.start(self._overtaken(tab, ref, at, asks=asks))

    def passed(self, tab: Tab, ref: StepRef, left: PushedSnapshot | None) -> None:
        """Show what the action `ref` led to, since the page has gone elsewhere; `left`: what it showed last.

        No screenshot can be had of it any more.
        """
        for look in self._waiting:
            look.is_superseded |= look.tab is tab
        if ref.looks > 0:
            return
        ref.looks += 1
        self._write_last(tab, ref, left)

    def _leaving(self, tab: Tab, shown: PushedSnapshot, ref: StepRef) -> None:
        """Show what the last gesture on a page led to, as the page is left."""
        # A look that arrives behind the next document would be taken for what came of it.
        if shown.at > ref.at and shown.document == tab.document:
            ref.looks += 1
            self._write_last(tab, ref, shown)

    def _write_last(self, tab: Tab, ref: StepRef, shown: PushedSnapshot | None) -> None:
        if shown is not None and shown.at > ref.at:
            seen, blobs = self._capture.observation("after", tab, shown, shown.at)
            self._write(tab, replace(seen, settled=False), blobs, CapturedScreenshot(), ref)

    def watch(self, tab: Tab, ref: StepRef) -> None:
        """Ask the page for itself if it stays silent after an action."""
        self._flows.start(self._watched(tab, ref), counts=False)

    def start(self, tab: Tab, at: float) -> Flow:
        """Observe a page before the first action."""
        shown = yield from self._capture.ask(tab, "asked")
        seen, blobs = self._capture.observation("start", tab, shown, shown.at if shown else at)
        reads = yield from self._capture.step_reads(tab)
        shot = yield from self._capture.shoot(tab, shown, shown.at if shown else at)
        self._write(tab, replace(seen, reads=reads), blobs, shot, None)

    def speaking(self, tab: Tab, ref: StepRef | None) -> Flow:
        """Observe a page at a message: it is known then whether the page was shown before it."""
        shown = yield from self._capture.ask(tab, "asked", is_owed=False)
        if shown is None:
            return
        self.message_observed_at = shown.at
        seen, blobs = self._capture.observation("after" if ref else "start", tab, shown, shown.at)
        last = tab.last_look
        # Nothing changed: another screenshot would only keep the agent waiting.
        is_same = last is not None and (last.snapshot, last.frames) == (seen.snapshot, seen.frames)
        if last is not None and is_same and isinstance(last.screenshot, str):
            shot = CapturedScreenshot(image=last.screenshot, at=last.shot_t, scale=last.shot_scale)
        else:
            shot = yield from self._capture.shoot(tab, shown, shown.at)
        self._write(tab, seen, blobs, shot, ref)

    def _look(self, tab: Tab, shown: PushedSnapshot, ref: StepRef, at: float) -> None:
        # Of two looks at one page the later one is closer to rest: it takes the screenshot.
        for older in [look for look in self._waiting if look.tab is tab]:
            older.is_superseded = True
            self._release(older, at)
        ref.looks += 1
        seen, blobs = self._capture.observation("after", tab, shown, at)
        asks = tab.snapshots.has_frames and shown.at == at
        look = PendingObservation(
            tab=tab, ref=ref, shown=shown, at=at, seen=seen, blobs=blobs, asks_frames=asks
        )
        self._waiting.append(look)
        self._flows.start(self._rested(look), token=look)

    def _release(self, look: PendingObservation, at: float) -> None:
        self._waiting.remove(look)
        self._flows.hurry(look, at)

    def _rested(self, look: PendingObservation) -> Flow:
        tab = look.tab
        if look.asks_frames:
            at = look.shown.at
            yield ReadPage(id=0, page=tab.page, what="frames")
            look.seen, look.blobs = self._capture.observation("after", tab, look.shown, at)
        reads = yield from self._capture.step_reads(tab)
        is_early = self._capture.has_shots and self._is_loading(tab.page, look.ref.at)
        # `hurry` may have released the look while this flow waited above.
        if is_early and look in self._waiting:
            yield Pause(id=0, ms=SHOT_DELAY_MS)
        if look in self._waiting:
            self._waiting.remove(look)
        shot = CapturedScreenshot()
        if not look.is_superseded:
            shot = yield from self._capture.shoot(tab, look.shown, look.at)
        tree = None if look.is_superseded else (yield from self._capture.outline(tab))
        seen, blobs = with_outline(replace(look.seen, reads=reads), look.blobs, tree)
        self._write(tab, seen, blobs, shot, look.ref)

    def _overtaken(self, tab: Tab, ref: StepRef, at: float, *, asks: bool) -> Flow:
        # At the very time of the action itself it was serialized before any handler ran.
        shown, until = tab.latest if tab.latest and tab.latest.at > ref.at else None, inf
        if asks and (shown is None or ref.source == MAIN):
            shown = (yield from self._capture.ask(tab, "left", is_owed=False)) or shown
        elif asks:
            yield ReadPage(id=0, page=tab.page, what="frames")
        elif ref.source != MAIN:
            # The next action in that frame has shown it; the page around it is as it was last seen.
            shown, until = tab.latest, at
        if shown is None and ref.looks > 1:
            return  # it was seen on its way out
        seen, blobs = self._capture.observation("after", tab, shown, shown.at if shown else at, until)
        shot = yield from self._capture.shoot(tab, shown, at)
        self._write(tab, replace(seen, settled=False), blobs, shot, ref)

    def _watched(self, tab: Tab, ref: StepRef) -> Flow:
        reply = yield Pause(id=0, ms=SILENCE_MS)
        if ref.looks == 0 and tab.is_open and not self._outbox.is_closed:
            ref.looks += 1
            self._flows.start(self._asked(tab, ref, reply.at))

    def _asked(self, tab: Tab, ref: StepRef, at: float) -> Flow:
        shown = yield from self._capture.ask(tab, "asked")
        seen, blobs = self._capture.observation("after", tab, shown, shown.at if shown else at)
        reads = yield from self._capture.step_reads(tab)
        shot = yield from self._capture.shoot(tab, shown, at)
        seen, blobs = with_outline(replace(seen, reads=reads), blobs, (yield from self._capture.outline(tab)))
        self._write(tab, seen, blobs, shot, ref)

    def _write(
        self, tab: Tab, seen: Observation, blobs: list[Blob], shot: CapturedScreenshot, ref: StepRef | None
    ) -> None:
        whole = with_shot(seen, shot)
        if seen.role == "after":
            tab.last_look = whole
        self._outbox.write(whole, [*blobs, *([shot.blob] if shot.blob else [])], ref)


def _shows(shown: PushedSnapshot, ref: StepRef) -> bool:
    """Whether a page, as it was last seen, can show what an action led to in one of its frames."""
    return ref.looks < LOOKS_MAX and (ref.source != MAIN or shown.at > ref.at)
