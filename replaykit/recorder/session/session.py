"""The sans-io core of the recorder: messages in, records and commands out; no clock, file, thread or driver.

Drivers translate callbacks into inputs and carry outputs out; they decide nothing. Every command gets exactly
one `CommandReply`; one that failed is a gap in the recording, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.browser.witnesses.agent_made_documents import forge
from replaykit.recorder.probes.probe_scheduler import ProbeScheduler
from replaykit.recorder.session import driver_messages, request_messages, witnesses
from replaykit.recorder.session.action_tracker import ActionTracker
from replaykit.recorder.session.agent_scripts import DISPATCHED, AgentScripts, is_script_event
from replaykit.recorder.session.driver_messages import Begin, End, Input, Output, Pause, Utterance
from replaykit.recorder.session.exchanges import Network
from replaykit.recorder.session.gestures.form_submissions import Submissions
from replaykit.recorder.session.harness_steps import HarnessSteps
from replaykit.recorder.session.navigation.navigations import NavigationTracker
from replaykit.recorder.session.observations.observation_scheduler import ObservationScheduler
from replaykit.recorder.session.observations.snapshot_capture import SnapshotCapture
from replaykit.recorder.session.outbox import Flow, Flows, Outbox, StepRef
from replaykit.recorder.session.page_events import DownloadRequests, PageEvents
from replaykit.recorder.session.run_ending import RunEnding
from replaykit.recorder.session.session_state import SessionState
from replaykit.recorder.session.steps import StepRecorder
from replaykit.recorder.session.tab_lifecycle import TabLifecycle
from replaykit.recorder.session.tabs import SKEW_MS, Tab, Tabs
from replaykit.recorder.session.uploaded_files import Uploads
from replaykit.secrets.redactor import Redactor
from replaykit.secrets.secret_patterns import sent_names
from replaykit.tasks.checks import ProbePlan
from replaykit.trajectory.step import Header

REST_MAX_MS = 1500
"""The last action gets so long to have its effect before the run is over."""

REST_POLL_MS = 50
"""How often it is looked whether it has had it."""


AGENT_UTTERANCES = frozenset({"say", "ask", "answer"})
"""Words of the agent to the user: what its page shows then is looked at."""


class SessionOptions(Struct, frozen=True, kw_only=True):
    """Options of a recording."""

    has_screenshots: bool = True
    """Whether screenshots are taken."""
    has_outlines: bool = False
    """Whether accessibility trees are taken of pages at rest."""
    network: str = "bodies"
    """`bodies meta off`."""
    has_pre_probes: bool = True
    """Whether the probes of the plan also run before the first action."""
    max_steps: int | None = None
    """Steps allowed: the action after the last one ends the run."""
    is_begun: bool = True
    """False: the agent gets the browser with `Begin`; what happens before is no step."""
    in_process: bool = False
    """The agent calls the driver that feeds this session: what it asks for is seen."""
    secrets: dict[str, str] = {}
    """Declared secrets, id to value."""
    mask: tuple[str, ...] = ()
    """CSS selectors of what pages hide, and screenshots too."""
    plain: tuple[str, ...] = ()
    """Test data that the task names anyway."""
    sought: tuple[str, ...] = ()
    """Those of them that a rule looks for."""
    keep_headers: tuple[str, ...] = ()
    """Names of headers that are kept though they look secret."""
    main_world: bool = False
    """The page script shares the page's own world: a page could forge messages."""
    replies: str = "absent"
    """Channel `replies`: `recorded absent auto_approve`."""

    def redactor(self) -> Redactor:
        """Return what takes the secrets out of this recording."""
        return Redactor(
            self.secrets,
            plain=self.plain,
            keep_headers=self.keep_headers,
            sought=self.sought,
            hides_keys=True,
        )


class Session:
    """One recording. Feed it inputs in order of arrival, carry out what it returns."""

    _is_ending = False
    _is_leaving = False
    _is_started = False
    _has_looked = False

    def __init__(self, options: SessionOptions, header: Header, plan: ProbePlan | None = None) -> None:
        self._options = options
        self._header = header
        self._plan = plan or ProbePlan()
        self._is_begun = options.is_begun
        self._channels = channels(options, self._plan) | header.channels
        state = _state(options, self._plan)
        self._outbox, self._flows = state.outbox, state.flows
        self._tabs, self._steps = state.tabs, state.steps
        self._add_reports(state)
        self._add_actions(state)
        self._add_tabs(state)
        self._add_ending(state)
        self._handlers = self._table()

    def _add_reports(self, state: SessionState) -> None:
        self._network = Network(state.outbox, state.flows, self._options.network)
        self._downloading = DownloadRequests()
        self._page_events = PageEvents(state.outbox)
        self._submissions = Submissions(state.tabs)
        self._scripts = AgentScripts()
        self._scripts.is_whole = "commands" in self._header.witnesses

    def _add_actions(self, state: SessionState) -> None:
        self._observations = ObservationScheduler(state, is_loading=self._network.is_loading)
        tracker = ActionTracker(state, self._observations, Uploads(state.outbox))
        self._action_tracker = tracker
        tracker.steps_max = self._options.max_steps
        tracker.on_limit = self._reach_limit
        self._navigations = NavigationTracker(state, tracker, document_of=self._network.document_of)
        self._navigations.is_begun = self._is_begun
        self._navigations.has_network = self._options.network != "off"
        self._navigations.receives_agent_calls = self._options.in_process

    def _add_tabs(self, state: SessionState) -> None:
        tracker, navigations = self._action_tracker, self._navigations
        recorded = {channel for channel, kept in self._channels.items() if kept != "absent"}
        self._tab_lifecycle = tabs = TabLifecycle(state, tracker, navigations, channels=recorded)
        tabs.is_logged = "commands" in self._header.witnesses
        tracker.on_begin = tabs.confirm
        self._harness_steps = HarnessSteps(
            state, self._observations, tracker, navigations, on_enter=tabs.confirm
        )

    def _add_ending(self, state: SessionState) -> None:
        self._probes = ProbeScheduler(state.outbox, state.capture, self._plan)
        self._run_ending = RunEnding(
            state,
            self._action_tracker,
            self._network,
            self._page_events,
            self._probes,
            self._submissions.explained,
        )

    @property
    def is_over(self) -> bool:
        """Whether the last output has been given out."""
        return self._outbox.is_closed

    @property
    def is_ending(self) -> bool:
        """Whether the run is over, for whatever reason: the agent has to stop."""
        return self._is_leaving or self._is_ending

    @property
    def is_ready(self) -> bool:
        """Whether the agent may act: all observations due before it are done."""
        return self._is_started and self._flows.is_idle

    def start(self, at: float) -> list[Output]:
        """Begin the recording: the header first, then what has to be looked at before the agent begins."""
        self._is_started = True
        self._action_tracker.now = max(self._action_tracker.now, at)
        secrets = tuple(sorted(self._options.secrets))
        self._run_ending.owes = self._header.witnesses
        self._outbox.write(replace(self._header, channels=self._channels, secrets=secrets))
        if self._options.has_pre_probes and self._probes.has("pre"):
            self._flows.start(self._pre_probes(at))
        return self._outbox.drain()

    def feed(self, message: Input, /) -> list[Output]:
        """Take an input in; return what is to be stored and done."""
        if self.is_over:
            return []
        # A page may send any time: NaN would break every comparison that follows.
        if not isfinite(message.at):
            message = replace(message, at=self._action_tracker.now)
        self._action_tracker.now = max(self._action_tracker.now, message.at)
        handler = self._handlers.get(type(message))
        if handler is not None:
            handler(message)
        return self._outbox.drain()

    def _table(self) -> dict[type, Callable[[Any], object]]:
        return {
            driver_messages.PageMessage: self._page_message,
            driver_messages.SnapshotPushed: self._pushed,
            driver_messages.FrameLeft: self._observations.left,
            driver_messages.FrameOwned: self._observations.owned,
            driver_messages.TabOpened: self._tab_opened,
            driver_messages.TabMissed: self._running(self._tab_missed),
            driver_messages.TabClosed: self._tab_closed,
            driver_messages.TabCrashed: self._running(self._tab_lifecycle.crashed),
            driver_messages.Navigated: self._running(self._navigations.navigated),
            driver_messages.HistoryCall: self._running(self._navigations.travel),
            driver_messages.DialogOpened: lambda m: self._page_events.dialog_opened(m, self._ref(m.at)),
            driver_messages.DialogClosed: self._page_events.dialog_closed,
            driver_messages.ConsoleLine: lambda m: self._page_events.console(m, self._ref(m.at)),
            driver_messages.DownloadChanged: self._downloaded,
            request_messages.Requested: self._requested,
            request_messages.HandshakeSent: self._network.asked,
            request_messages.Responded: self._network.responded,
            request_messages.Finished: lambda m: self._loaded(self._network.finished(m), m.at),
            request_messages.WebSocketMessage: self._network.framed,
            request_messages.Failed: lambda m: self._loaded(self._network.failed(m), m.at),
            driver_messages.CommandReply: self._flows.reply,
            witnesses.Commanded: self._commanded,
            witnesses.ScriptAsked: self._scripts.asked,
            witnesses.ScriptEnded: self._scripts.ended,
            witnesses.Answered: self._network.answered,
            witnesses.Logged: self._run_ending.logged,
            witnesses.Witnessed: self._run_ending.witnessed,
            Begin: self._begin,
            driver_messages.StepEnter: self._running(self._harness_steps.enter),
            driver_messages.StepExit: self._running(self._harness_steps.exit),
            driver_messages.Speaking: lambda m: self._look_while_speaking(),
            Utterance: self._utterance,
            End: self._end,
        }

    def _running(self, handler: Callable[[Any], object]) -> Callable[[Any], object]:
        return lambda message: None if self._is_ending else handler(message)

    def _ref(self, at: float) -> StepRef | None:
        is_running = self._is_begun and not self._is_ending
        return self._steps.ref_at(at, SKEW_MS) if is_running else None

    def _requested(self, message: request_messages.Requested) -> None:
        is_running = self._is_begun and not self.is_ending
        if is_running or message.initiator != "driver":
            self._downloading.asked(message)
            self._network.requested(self._submissions.attributed(message), self._ref(message.at))

    def _downloaded(self, message: driver_messages.DownloadChanged) -> None:
        ref = self._ref(message.at)
        self._page_events.download(message, ref)
        asked = self._downloading.of(message)
        if asked is not None:
            self._network.requested(asked, ref)

    def _commanded(self, message: witnesses.Commanded) -> None:
        if not self._is_begun or self.is_ending:
            return
        self._page_events.commanded(message)
        self._tab_lifecycle.commanded(message)
        tab = self._tabs.get(message.page) if message.page is not None else None
        if message.forges and not message.refused:
            forge(message, tab, self._tabs)

    def _pushed(self, message: driver_messages.SnapshotPushed) -> None:
        # A tab that the session does not know is the recorder's own.
        tab = self._tabs.get(message.page)
        if tab is None:
            self._probes.pushed(message)
            return
        is_running = self._is_begun and not self._is_ending
        if is_running:
            # First: scrolling that has ended becomes a step, and this observation belongs to it.
            self._action_tracker.pass_time(message.page, message.at)
        self._observations.pushed(message, self._shown_by(tab, message) if is_running else None)

    def _shown_by(self, tab: Tab, message: driver_messages.SnapshotPushed) -> StepRef | None:
        """Return the action whose effect a snapshot shows: a page that is left shows its last gesture."""
        at = tab.touched_at if message.push.purpose == "left" else message.at
        return self._steps.ref_at(at)

    def _pre_probes(self, at: float) -> Flow:
        yield from self._probes.elsewhere("pre", at)

    def _page_message(self, message: driver_messages.PageMessage) -> None:
        element = message.event.element
        if element is not None and element.masked and element.tag in ("input", "textarea", "select"):
            # The value of this field leaves the page only where the page itself sends it.
            named = element.attributes or {}
            self._outbox.redactor.hide_fields(sent_names(named.get("name"), named.get("id")))
        if not self._is_begun or self._is_ending:
            return
        tab = self._tabs.get(message.page)
        self._downloading.clicked(element, tab.url if tab is not None else "")
        if not (self._submissions.receive(message) or self._navigations.receive(message)):
            self._dom_event(self._scripts.attributed(message))

    def _dom_event(self, message: driver_messages.PageMessage) -> None:
        if is_script_event(message):
            self._page_events.script_event(message, self._ref(message.at))
        if message.event.trusted or message.event.name not in DISPATCHED:
            self._action_tracker.message(message)

    def _tab_opened(self, message: driver_messages.TabOpened) -> None:
        if self._is_ending:
            return
        tab = self._tab_lifecycle.opened(message, is_begun=self._is_begun)
        if self._is_begun:
            self._flows.when_idle(lambda: self._first_look(tab, message.at))

    def _tab_missed(self, message: driver_messages.TabMissed) -> None:
        self._tab_lifecycle.missed(message, is_begun=self._is_begun)

    def _tab_closed(self, message: driver_messages.TabClosed) -> None:
        tab = self._tabs.get(message.page)
        if not self._is_ending:
            self._tab_lifecycle.closed(message)
        elif tab is not None:
            tab.is_open = False

    def _begin(self, message: Begin) -> None:
        if self._is_begun or self._is_ending:
            return
        self._is_begun = self._navigations.is_begun = True
        self._run_ending.begun_at = message.at
        for tab in self._tabs.open:
            self._flows.start(self._first_look(tab, message.at))

    def _first_look(self, tab: Tab, at: float) -> Flow:
        # An action came first, and its own look shows the page.
        if tab.is_open and self._steps.current is None and not self._is_ending:
            yield from self._observations.start(tab, at)

    def _utterance(self, message: Utterance) -> None:
        if message.kind == "thought":
            self._steps.think(message)
            return
        if message.kind in AGENT_UTTERANCES and self._has_looked:
            # The message was due when the page was observed, and the agent waited for that.
            message = replace(message, at=max(message.at, self._observations.message_observed_at))
        ref = self._steps.ref_at(message.at, SKEW_MS)
        self._page_events.write_utterance(message, self._steps.index_of(ref) if ref else None)
        if message.kind in AGENT_UTTERANCES and not self._has_looked:
            self._look_while_speaking()
        self._has_looked = False

    def _look_while_speaking(self) -> None:
        self._has_looked = True
        tab = self._tabs.get(self._tabs.active)
        if tab is not None and tab.is_open and self._is_begun and not self.is_ending:
            self._flows.start(self._observations.speaking(tab, self._steps.previous))

    def _loaded(self, page: int | None, at: float) -> None:
        if page is not None:
            self._observations.loaded(page, at)

    def _reach_limit(self, at: float) -> None:
        self._finish(End(at=at, kind="max_steps", cause="harness"))

    def _end(self, message: End) -> None:
        if not self._is_leaving:
            self._is_leaving = True
            self._flows.start(self._leave(message), counts=False)

    def _leave(self, message: End) -> Flow:
        """Let the last action have its effect: where it leads still belongs to the run."""
        for _ in range(REST_MAX_MS // REST_POLL_MS):
            if self._is_at_rest(message.at):
                break
            yield Pause(id=0, ms=REST_POLL_MS)
        self._finish(message)

    def _is_at_rest(self, at: float) -> bool:
        if any(tab.is_travelling for tab in self._tabs.open):
            return False
        ref = self._steps.current
        tab = self._tabs.get(ref.page) if ref is not None and ref.page is not None else None
        if ref is None or tab is None or not tab.is_open or at - ref.at > REST_MAX_MS:
            return True
        seen = tab.latest
        # A page that is quiet when it is asked, as at an answer, has no further rest to show.
        is_rest = seen is not None and (seen.push.purpose == "rest" or seen.push.settled)
        if seen is None or not is_rest or seen.document != tab.document:
            return False
        return seen.at > ref.at and not self._network.is_loading(tab.page, ref.at)

    def _finish(self, message: End) -> None:
        if self._is_ending:
            return
        self._is_ending = True
        if not self._is_started:
            return
        now = self._action_tracker.now
        # Declared actions end first, then gestures, then the navigations that these began.
        self._steps.exit(driver_messages.StepExit(at=message.at, error=message.error))
        self._action_tracker.settle_all()
        self._navigations.settle(now)
        # Last: only with every action known can the cause of a tab's closing be decided.
        gone = self._tab_lifecycle.conclude()
        for one in self._downloading.redirected() if self._options.network != "off" else ():
            self._outbox.gap("network", "download.redirected", one.at, page=one.page)
        self._observations.hurry(now)
        self._flows.when_idle(lambda: self._conclude(message, gone))

    def _conclude(self, message: End, gone: list[Tab]) -> Flow:
        self._navigations.finish()
        self._steps.finish()
        return self._run_ending.run(message, gone)


def _state(options: SessionOptions, plan: ProbePlan) -> SessionState:
    outbox, tabs = Outbox(options.redactor()), Tabs()
    capture = SnapshotCapture(
        outbox,
        tabs,
        has_shots=options.has_screenshots,
        paints=bool(options.secrets or options.mask),
        has_outlines=options.has_outlines,
        step_reads=plan.step_reads,
    )
    return SessionState(
        outbox=outbox, flows=Flows(outbox), tabs=tabs, steps=StepRecorder(outbox), capture=capture
    )


def channels(options: SessionOptions, plan: ProbePlan) -> dict[str, str]:
    """Return the state of every channel that these options lead to."""
    has_plan = bool(plan.pages or plan.http or plan.step_reads)
    return {
        "actions": "partial" if options.main_world else "recorded",
        "targets": "recorded",
        "thoughts": "recorded",
        "urls": "recorded",
        "snapshots": "recorded",
        "form_state": "recorded",
        "screenshots": "recorded" if options.has_screenshots else "absent",
        "a11y": "recorded" if options.has_outlines else "absent",
        "network": "absent" if options.network == "off" else "recorded",
        "messages": "recorded",
        "replies": options.replies,
        "dialogs": "recorded",
        "console": "recorded",
        "probes": "recorded" if has_plan else "absent",
    }
