"""Pages and APIs that checks ask for, read before the first action and after the last."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from replaykit.recorder.session.driver_messages import Close, CommandReply, Http, Open, SnapshotPushed
from replaykit.recorder.session.observations.snapshot_capture import SnapshotCapture
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot
from replaykit.recorder.session.outbox import Asking, Outbox
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.tabs import Tab
from replaykit.tasks.checks import ProbeHttp, ProbePage, ProbePlan
from replaykit.trajectory.observation import Prep, Read
from replaykit.trajectory.step import Probe

PROBES_MAX_MS = 120_000
"""Longest time for all probes of one phase, ms."""

IN_PLACE = "last"
"""URL of a probe on the agent's own page."""


class ProbeScheduler:
    """Carries a probe plan out. A failed probe is recorded and stops no other."""

    def __init__(self, outbox: Outbox, capture: SnapshotCapture, plan: ProbePlan) -> None:
        self._outbox = outbox
        self._capture = capture
        self._plan = plan
        self._tab: Tab | None = None
        self._phase = ""
        self._deadline = 0.0
        self._at = 0.0

    def has(self, phase: str) -> bool:
        """Whether anything is asked for in that phase."""
        phases = {page.phase for page in self._plan.pages} | {http.phase for http in self._plan.http}
        return phase in phases

    def in_place(self, tab: Tab, shown: PushedSnapshot | None, at: float) -> Asking[None]:
        """Read the agent's own page: first what only looks, then what prepares it first."""
        self._begin("post", at)
        pages = [page for page in self._plan.pages if page.phase == "post" and page.url == IN_PLACE]
        for page in sorted(pages, key=lambda page: bool(page.prep)):
            yield from self._in_place(page, tab, shown)

    def elsewhere(self, phase: str, at: float) -> Asking[None]:
        """Ask APIs, then open all other pages in one tab of their own."""
        self._begin(phase, at)
        for http in self._plan.http:
            if http.phase == phase:
                yield from self._http(http)
        for page in self._plan.pages:
            if page.phase == phase and page.url != IN_PLACE:
                yield from self._open(page)
        if self._tab is not None:
            reply = yield Close(id=0, page=self._tab.page)
            self._at, self._tab = reply.at, None

    def pushed(self, message: SnapshotPushed) -> None:
        """Handle a frame's snapshot of the page that is open for a probe."""
        if self._tab is not None and self._tab.page == message.page:
            self._capture.take(self._tab, message.push, message.at, self._tab.document, message.source)

    def _begin(self, phase: str, at: float) -> None:
        self._at = max(self._at, at)
        if phase != self._phase:
            self._phase, self._deadline = phase, self._at + PROBES_MAX_MS

    def _in_place(self, page: ProbePage, tab: Tab, shown: PushedSnapshot | None) -> Asking[None]:
        preps = yield from self._capture.prepare(tab, page.prep)
        reads = yield from self._capture.reads(tab, page.reads)
        if page.prep:
            shown = yield from self._capture.ask(tab, "probe")
        probe = Probe(
            t=ms(max(self._at, shown.at if shown else 0)),
            page=tab.page,
            id=page.id,
            phase=page.phase,
            requested=page.url,
            url=tab.url,
            in_place=True,
            status=tab.status,
            reads=_with_preps(reads, preps),
            source="agent" if tab.is_forged(tab.document) else None,
        )
        self._write(probe, tab, shown)

    def _http(self, wanted: ProbeHttp) -> Asking[None]:
        probe = Probe(
            t=ms(self._at),
            id=wanted.id,
            phase=wanted.phase,
            name=wanted.name,
            method=wanted.method,
            path=wanted.url,
        )
        if self._at > self._deadline:
            self._outbox.write(replace(probe, error="timeout"))
            return
        reply = yield Http(id=0, name=wanted.name, method=wanted.method, path=wanted.url)
        self._at = max(self._at, reply.at)
        match reply.value:
            case (int(status), str(mime), bytes(data)) if status >= 0:
                blob = self._outbox.blob(mime, data)
                self._outbox.write(replace(probe, status=status, mime=mime, body=blob.id), [blob])
            case _:
                self._outbox.write(replace(probe, error=reply.error or "failed"))

    def _open(self, page: ProbePage) -> Asking[None]:
        probe = Probe(t=ms(self._at), id=page.id, phase=page.phase, requested=page.url)
        if self._at > self._deadline:
            self._outbox.write(replace(probe, error="timeout"))
            return
        reply = yield Open(id=0, url=page.url)
        self._at = max(self._at, reply.at)
        opened = _opened(reply)
        probe = replace(probe, t=ms(self._at), **_outcome(opened, reply))
        if opened is None or opened.get("error"):
            self._outbox.write(probe)
            return
        yield from self._look(page, probe, opened)

    def _look(self, page: ProbePage, probe: Probe, opened: dict[str, Any]) -> Asking[None]:
        # The probe tab is not part of the run: it gets no ordinal and is not in its list of tabs.
        tab = self._tab = Tab(opened["page"], probe.url or page.url, None)
        probe = replace(probe, source="agent" if self._capture.is_planted else None)
        preps = yield from self._capture.prepare(tab, page.prep)
        reads = yield from self._capture.reads(tab, page.reads)
        shown = yield from self._capture.ask(tab, "probe")
        self._at = max(self._at, shown.at if shown else 0)
        self._write(replace(probe, t=ms(self._at), reads=_with_preps(reads, preps)), tab, shown)

    def _write(self, probe: Probe, tab: Tab, shown: PushedSnapshot | None) -> None:
        if shown is None:
            self._outbox.write(probe)
            return
        frames, blobs = tab.snapshots.frames(shown)
        self._outbox.write(replace(probe, snapshot=shown.blob.id, frames=frames), [shown.blob, *blobs])


def _opened(reply: CommandReply) -> dict[str, Any] | None:
    value = reply.value
    return value if isinstance(value, dict) and isinstance(value.get("page"), int) else None


def _outcome(opened: dict[str, Any] | None, reply: CommandReply) -> dict[str, Any]:
    if opened is None:
        return {"error": reply.error or "failed"}
    status = opened.get("status")
    return {
        "url": opened.get("url"),
        "status": status if isinstance(status, int) and status >= 0 else None,
        "error": opened.get("error"),
        "redirects": tuple(opened.get("redirects") or ()),
        "settled": opened.get("settled"),
    }


def _with_preps(reads: tuple[Read, ...], preps: tuple[Prep, ...]) -> tuple[Read, ...]:
    return tuple(replace(read, prep=preps) for read in reads) if preps else reads
