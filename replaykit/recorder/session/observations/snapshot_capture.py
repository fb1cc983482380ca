"""Appearance of a page: snapshots, screenshots and reads asked of it, and the observations they make."""

from __future__ import annotations

from math import inf

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.bundle_format import PIXMAP
from replaykit.recorder.page.page_script import PagePush
from replaykit.recorder.session.driver_messages import MAIN, CommandReply, ReadPage, Screenshot, Source
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot
from replaykit.recorder.session.outbox import HURRIED, Asking, Blob, Outbox
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.tabs import SHOTS_LATE_MAX, Tab, Tabs
from replaykit.secrets.snapshot_secrets import hidden_boxes
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.tasks.checks import ProbeRead
from replaykit.trajectory.observation import Observation, Prep, Read, Stale
from replaykit.trajectory.scalars import Id, Omitted

TRIES = 3
"""A screenshot that may show a secret is taken until the page stood still around it."""

CSS = "text/css"
"""Media type of a style sheet."""

YAML = "text/yaml"
"""Media type of an accessibility tree."""

SHEETED = frozenset({"final"})
"""Observations that name style sheets: of others it is a matter of time whether those were read before."""

GESTURE_MS = 1000
"""An older snapshot is not that of the action's own gesture."""

_OMISSIONS = ("timeout", "dialog_open", "failed")


class CapturedScreenshot(Struct, frozen=True, kw_only=True):
    """A screenshot, or why it was not taken."""

    image: Id | Omitted | None = None
    """Blob id."""
    blob: Blob | None = None
    """The screenshot itself."""
    at: float | None = None
    """When it was taken, ms."""
    scale: float = 1.0
    """Of a screenshot taken smaller."""


EVICTED = CapturedScreenshot(image=Omitted(why="evicted"))
"""No screenshot: it might show what came after the snapshot."""


class SnapshotCapture:
    """Asks tabs what they show. What they do not give is a gap, never an error."""

    def __init__(
        self,
        outbox: Outbox,
        tabs: Tabs,
        *,
        has_shots: bool = True,
        paints: bool = False,
        has_outlines: bool = False,
        step_reads: tuple[ProbeRead, ...] = (),
    ) -> None:
        self.has_shots = has_shots
        """Whether screenshots are taken at all."""
        self._paints = paints
        self._has_outlines = has_outlines
        self._outbox = outbox
        self._tabs = tabs
        self._step_reads = step_reads

    def take(
        self, tab: Tab, push: PagePush, at: float, document: int, source: Source = MAIN
    ) -> PushedSnapshot:
        """Keep a snapshot of a tab, without secrets."""
        clean = self._outbox.redactor.text
        # Texts of pages may hold lone surrogates, which UTF-8 cannot encode.
        blob = self._outbox.blob(MEDIA_TYPE, push.snapshot.encode("utf-8", "replace"))
        facts = replace(push, snapshot="", sheets=None, url=clean(push.url), title=clean(push.title))
        # A late snapshot of the document before must not rename the tab.
        is_present = document == tab.document
        if is_present and source == MAIN:
            tab.url, tab.title = facts.url or tab.url, facts.title
        shown = PushedSnapshot(
            at=at,
            document=document,
            source=source,
            push=facts,
            blob=blob,
            paint=hidden_boxes(blob.data) if self._paints else (),
            views=self._tabs.views(),
            status=tab.status if is_present else None,
            sheets=self._sheets(push.sheets or ()),
        )
        tab.snapshots.add(shown)
        tab.frame_origins.scrolled(shown.source, shown.at, shown.push.scroll)
        tab.changes.take(shown)
        return shown

    def _sheets(self, listed: tuple[str | int | None, ...]) -> tuple[Blob | None, ...]:
        found: list[Blob | None] = []
        for one in listed:
            if isinstance(one, str):
                found.append(self._outbox.blob(CSS, one.encode("utf-8", "replace")))
            else:
                found.append(found[one] if one is not None and one < len(found) else None)
        return tuple(found)

    def ask(self, tab: Tab, purpose: str, *, is_owed: bool = True) -> Asking[PushedSnapshot | None]:
        """Ask a page for a snapshot; `is_owed`: it is a gap where it gives none."""
        document = tab.document
        reply = yield ReadPage(id=0, page=tab.page, what="snapshot", args=(purpose,))
        if not isinstance(reply.value, PagePush):
            if is_owed:
                self._outbox.gap("snapshots", reply.error or "failed", reply.at, page=tab.page)
            return None
        if tab.document != document:
            return None  # another document came meanwhile: whose snapshot it is remains unknown
        if reply.value.hidden:
            hidden = reply.value.hidden
            self._outbox.gap("snapshots", "shadow.closed", reply.at, page=tab.page, count=hidden)
        # The page's clock may run ahead, but nothing was taken after it arrived.
        at = reply.at if tab.ahead is None else min(reply.value.at - tab.ahead, reply.at)
        return self.take(tab, reply.value, at, document)

    def shoot(self, tab: Tab, shown: PushedSnapshot | None, at: float) -> Asking[CapturedScreenshot]:
        """Take a screenshot; with secrets at stake only one of a page that stood still.

        None is kept where a gesture began `at` that time or later: it may show what the gesture led to.
        """
        if not self.has_shots or tab.shots_late >= SHOTS_LATE_MAX:
            return CapturedScreenshot()
        if tab.gesture_at >= at:
            return EVICTED
        shot = yield from (self._shoot_still if self._paints else self._shoot_once)(tab, shown)
        return EVICTED if shot.blob is not None and tab.gesture_at >= at else shot

    def outline(self, tab: Tab) -> Asking[Blob | None]:
        """Read the accessibility tree, if it is wanted."""
        if not self._has_outlines:
            return None
        document = tab.document
        reply = yield ReadPage(id=0, page=tab.page, what="a11y")
        if isinstance(reply.value, str) and tab.document == document:
            return self._outbox.blob(YAML, reply.value.encode("utf-8", "replace"))
        # A page that is gone owes no tree, and a hurried one had no time to give it.
        if reply.error not in (None, "gone", HURRIED):
            self._outbox.gap("a11y", reply.error or "failed", reply.at, page=tab.page)
        return None

    def reads(self, tab: Tab, wanted: tuple[ProbeRead, ...]) -> Asking[tuple[Read, ...]]:
        """Read values from a live page."""
        if not wanted:
            return ()
        reply = yield ReadPage(id=0, page=tab.page, what="reads", args=wanted)
        if not isinstance(reply.value, (list, tuple)):
            if reply.error != HURRIED:
                self._outbox.gap("probes", reply.error or "failed", reply.at, page=tab.page)
            return ()
        return tuple(read for read in reply.value if isinstance(read, Read))

    @property
    def is_planted(self) -> bool:
        """Whether the agent has a hand in the documents of the recorder's own tabs."""
        return self._tabs.is_planted

    def step_reads(self, tab: Tab) -> Asking[tuple[Read, ...]]:
        """Read what checks want to see with every observation of the agent's own page."""
        return (yield from self.reads(tab, self._step_reads if tab.page == self._tabs.active else ()))

    def prepare(self, tab: Tab, sources: tuple[str, ...]) -> Asking[tuple[Prep, ...]]:
        """Run preparing scripts in a page."""
        if not sources:
            return ()
        reply = yield ReadPage(id=0, page=tab.page, what="prep", args=sources)
        if not isinstance(reply.value, (list, tuple)):
            self._outbox.gap("probes", reply.error or "failed", reply.at, page=tab.page)
            return ()
        return tuple(prep for prep in reply.value if isinstance(prep, Prep))

    def before(
        self, tab: Tab, shown: PushedSnapshot | None, at: float, own: PushedSnapshot | None = None
    ) -> tuple[Observation | None, list[Blob]]:
        """Return the observation of the page that an action was done on; `own`: of the frame acted in."""
        if shown is None:
            return None, []
        seen, blobs = self.observation("before", tab, shown, shown.at, until=at)
        acted = own or shown
        if acted.push.purpose == "before" and at - acted.at <= GESTURE_MS:
            stale = acted.push.stale
        else:
            lag = acted.push.stale or Stale()
            stale = replace(lag, ms=lag.ms + ms(at - acted.at))
        return replace(seen, settled=None, stale=stale), blobs

    def observation(
        self, role: str, tab: Tab, shown: PushedSnapshot | None, at: float, until: float = inf
    ) -> tuple[Observation, list[Blob]]:
        """Return what a snapshot shows, with the blobs that it refers to; its frames as they were `until`."""
        seen = Observation(
            t=ms(at), page=tab.page, role=role, url=tab.url, title=tab.title, status=tab.status,
            source="agent" if tab.is_forged(shown.document if shown else tab.document) else None,
        )  # fmt: skip
        if shown is None:
            return replace(seen, tabs=self._tabs.views()), []
        frames, blobs = tab.snapshots.frames(shown, until)
        push, sheets = shown.push, shown.sheets if role in SHEETED else ()
        whole = replace(
            seen,
            seq=push.seq,
            url=push.url or tab.url,
            title=push.title,
            tabs=shown.views,
            viewport=push.viewport,
            pointer=push.pointer,
            snapshot=shown.blob.id,
            frames=frames,
            status=shown.status,
            settled=push.settled,
            stale=push.stale,
            repaired=push.repaired,
            changed_without_event=tab.changes.until(shown, at),
            sheets=tuple(sheet.id if sheet else None for sheet in sheets),
        )
        return whole, [shown.blob, *blobs, *(sheet for sheet in sheets if sheet)]

    def _shoot_still(self, tab: Tab, shown: PushedSnapshot | None) -> Asking[CapturedScreenshot]:
        for _ in range(TRIES):
            if shown is not None and not tab.can_paint(shown):
                break
            frames = _frames(tab, shown)
            shot = yield from self._shoot_once(tab, shown)
            if shot.blob is None:
                return shot
            again = yield from self.ask(tab, "asked", is_owed=False)
            is_still = shown is not None and again is not None and shown.blob.id == again.blob.id
            is_still = is_still and frames == _frames(tab, again)
            if is_still and shot.blob.media_type == PIXMAP:
                return shot
            shown = again
        return CapturedScreenshot(image=Omitted(why="withheld"))

    def _shoot_once(self, tab: Tab, shown: PushedSnapshot | None) -> Asking[CapturedScreenshot]:
        document = tab.document if shown is None else shown.document
        if tab.document != document:
            return EVICTED
        paint = (shown.paint if shown else None) or ()
        is_painted = shown is not None and shown.push.painted
        reply = yield Screenshot(id=0, page=tab.page, paint=paint, is_painted=is_painted)
        shot = shot_of(reply)
        if tab.document != document:
            return EVICTED  # it may show the next page
        if shot.blob is not None:
            tab.shots_late = 0
        elif reply.error == "gone":
            return CapturedScreenshot()  # its document was replaced: there is nothing to take a screenshot of
        elif reply.error != "dialog_open":
            tab.shots_late += reply.error == "timeout"
            self._outbox.gap("screenshots", reply.error or "failed", reply.at, page=tab.page)
        return shot


def _frames(tab: Tab, shown: PushedSnapshot | None) -> list[str | None]:
    found = tab.snapshots.all_in(shown) if shown is not None else ()
    return [one.blob.id if one is not None else None for one in found]


def shot_of(reply: CommandReply) -> CapturedScreenshot:
    """Return the screenshot of a reply: (screenshot, scale, ms)."""
    match reply.value:
        case (Blob() as blob, float() | int() as scale, float() | int() as at):
            kept = float(scale) if 0 < scale <= 1 else 1.0
            return CapturedScreenshot(image=blob.id, blob=blob, at=at, scale=kept)
    why = reply.error if reply.error in _OMISSIONS else "failed"
    return CapturedScreenshot(image=Omitted(why=why or "failed"))


def with_shot(seen: Observation, shot: CapturedScreenshot) -> Observation:
    """Return an observation with its screenshot."""
    at = None if shot.at is None else ms(shot.at)
    return replace(seen, screenshot=shot.image, shot_t=at, shot_scale=shot.scale)


def with_outline(seen: Observation, blobs: list[Blob], tree: Blob | None) -> tuple[Observation, list[Blob]]:
    """Return an observation with its accessibility tree, and the blobs that it refers to."""
    return (seen, blobs) if tree is None else (replace(seen, a11y=tree.id), [*blobs, tree])
