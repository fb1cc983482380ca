"""The end of a run, in its order: last looks at every page, probes, what is still open, ending, seal."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from replaykit.recorder.browser.witnesses.net_log import Sent
from replaykit.recorder.probes.probe_scheduler import ProbeScheduler
from replaykit.recorder.session.action_tracker import ActionTracker
from replaykit.recorder.session.driver_messages import CloseDocuments, Disarm, End, Pause, ReadLog, Seal
from replaykit.recorder.session.exchanges import Network
from replaykit.recorder.session.observations.snapshot_capture import with_outline, with_shot
from replaykit.recorder.session.observations.snapshot_history import PushedSnapshot
from replaykit.recorder.session.outbox import Asking, Flow
from replaykit.recorder.session.page_events import PageEvents
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.tabs import Tab
from replaykit.recorder.session.witnesses import Logged, Witnessed
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.scalars import INT_MAX, Threw
from replaykit.trajectory.step import Ending

SAVING_MAX_MS = 2_000
"""How long the end waits for a request that may change something."""

SAVING_POLL_MS = 50
"""How often it looks."""

KINDS = frozenset({"answered", "stopped", "max_steps", "timeout", "crashed", "unknown"})
CAUSES = frozenset({"agent", "browser", "recorder", "harness", "person"})
VALIDITIES = frozenset({"valid", "blocked", "site_down", "session_lost", "other"})


class RunEnding:
    """Ends a recording."""

    def __init__(
        self,
        state: SessionState,
        action_tracker: ActionTracker,
        network: Network,
        page_events: PageEvents,
        probing: ProbeScheduler,
        explained: Callable[[Sent], Sent],
    ) -> None:
        self._outbox = state.outbox
        self._tabs = state.tabs
        self._capture = state.capture
        self._action_tracker = action_tracker
        self._steps = state.steps
        self._network = network
        self._page_events = page_events
        self._probes = probing
        self._explained = explained
        self._testimonies: dict[str, Witnessed] = {}
        self.owes: tuple[str, ...] = ()
        """Witnesses that the header promised."""
        self.begun_at = 0.0
        """When the agent got the browser, ms."""

    def witnessed(self, message: Witnessed) -> None:
        """Record the final report of a witness."""
        self._testimonies[message.witness] = message

    def logged(self, message: Logged) -> None:
        """Record the requests that the driver saw."""
        self._network.compare(map(self._explained, message.sent), self.begun_at, message.at)

    def run(self, end: End, gone: list[Tab]) -> Flow:
        """Carry the end out; `gone` are the tabs that went away with the browser."""
        yield from self._settle()
        # No more actions follow: closing messages, last observations, then the recorder's own work.
        yield from self._close_documents()
        active = self._tabs.get(self._tabs.active)
        last: PushedSnapshot | None = None
        for tab in self._tabs.open:
            shown = yield from self._final(tab, end.at)
            last = shown if tab is active else last
        for tab in gone:
            self._final_of_gone(tab)
        if active is not None and active.is_open:
            # After all last looks, because preparing scripts may change the page.
            yield from self._probes.in_place(active, last, end.at)
        for tab in self._tabs.open:
            self._outbox.send(Disarm(page=tab.page))
        yield from self._read_log(max(end.at, self._action_tracker.now))
        yield from self._probes.elsewhere("post", max(end.at, self._action_tracker.now))
        self._finish(end)

    def _close_documents(self) -> Flow:
        """Before the last observations: the agent performs no more actions."""
        if "page" in self.owes:
            reply = yield CloseDocuments(id=0)
            for testimony in reply.value if isinstance(reply.value, list) else ():
                self.witnessed(testimony)

    def _read_log(self, now: float) -> Flow:
        """Before the probes, whose requests are not the agent's."""
        if "netlog" in self.owes:
            reply = yield ReadLog(id=0)
            is_read = isinstance(reply.value, list)
            sent = map(self._explained, reply.value if is_read else ())
            counts = self._network.compare(sent, self.begun_at, now) if is_read else {}
            lacks = () if is_read else (f"netlog.{reply.error or 'failed'}",)
            self.witnessed(Witnessed(at=now, witness="netlog", lacks=lacks, counts=counts))

    def _settle(self) -> Flow:
        """Wait shortly for what pages still save: whether it was done belongs to the run."""
        for _ in range(SAVING_MAX_MS // SAVING_POLL_MS):
            if not any(self._network.is_changing(tab.page) for tab in self._tabs.open):
                return
            yield Pause(id=0, ms=SAVING_POLL_MS)

    def _final(self, tab: Tab, at: float) -> Asking[PushedSnapshot | None]:
        shown = yield from self._capture.ask(tab, "final")
        reads = yield from self._capture.step_reads(tab)
        # A page's clock may lag: a last look never lies before the end.
        at = max(at, shown.at if shown else at)
        shot = yield from self._capture.shoot(tab, shown, at)
        seen, blobs = self._capture.observation("final", tab, shown, at)
        seen, blobs = with_outline(seen, blobs, (yield from self._capture.outline(tab)))
        whole = with_shot(replace(seen, reads=reads), shot)
        self._outbox.write(whole, [*blobs, *([shot.blob] if shot.blob else [])])
        return shown

    def _final_of_gone(self, tab: Tab) -> None:
        """Write the last known state of a page that others closed: its last snapshot or observation."""
        push, look = tab.final_push, tab.last_look
        if push is not None and (look is None or ms(push.at) >= (look.t or 0)):
            seen, blobs = self._capture.observation("final", tab, push, push.at)
            self._outbox.write(seen, blobs)
        elif look is not None:
            self._outbox.write(replace(look, role="final", of=None, from_last=True))
        elif tab.latest is not None:
            seen, blobs = self._capture.observation("final", tab, tab.latest, tab.latest.at)
            self._outbox.write(replace(seen, from_last=True), blobs)

    def _finish(self, end: End) -> None:
        now = max(end.at, self._action_tracker.now)
        self._network.finish()
        self._page_events.finish(now)
        for witness in self.owes:
            self._prove(witness, now)
        thought = self._steps.leftover()
        self._outbox.close(replace(ending_of(end, self._page_events.answer), t=ms(now), thought=thought))
        self._outbox.send(Seal())

    def _prove(self, witness: str, at: float) -> None:
        testimony = self._testimonies.get(witness)
        counts = {
            **(testimony.counts if testimony else {}),
            **(self._page_events.commands if witness == "commands" else {}),
        }
        lacks = testimony.lacks if testimony else ()
        is_closed = testimony is not None and not lacks
        self._outbox.write(
            Proof(t=ms(at), witness=witness, closed=is_closed, lacks=lacks, counts=dict(counts))
        )


def ending_of(end: End, answer: str | None) -> Ending:
    """Return the reported ending; its answer is its own, else the last one reported."""
    code = end.exit_code
    return Ending(
        kind=end.kind if end.kind in KINDS else "unknown",
        cause=end.cause if end.cause in CAUSES else "harness",
        answer=answer if end.answer is None else end.answer,
        exit_code=code if code is not None and abs(code) <= INT_MAX else None,
        error=Threw(name=end.error[0], message=end.error[1]) if end.error else None,
        validity=end.validity if end.validity in VALIDITIES else "other",
    )
