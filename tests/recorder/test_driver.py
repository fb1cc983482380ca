"""Common parts of both drivers: no fault of the recorder reaches the agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replaykit.recorder.browser.command_effects import CallBrowser, CallMethod, CommandRefused, Job, Together
from replaykit.recorder.browser.driver import PROBE, Driver
from replaykit.recorder.browser.instrumentation import Armed
from replaykit.recorder.browser.target_registry import FOREIGN_PAGES_MAX, URLS_MAX
from replaykit.recorder.browser.target_relay import RECEIVED, SEND
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    Arm,
    End,
    FrameLeft,
    Input,
    Navigated,
    Output,
    Pause,
    Seal,
    TabClosed,
    TabCrashed,
    TabMissed,
    TabOpened,
    Utterance,
    Write,
)
from replaykit.recorder.session.request_messages import Requested
from replaykit.recorder.session.witnesses import Logged
from replaykit.trajectory.exchange import Gap, Message
from replaykit.trajectory.step import Environment

TREE = {"frame": {"id": "M", "loaderId": "L0", "url": "http://x.test/"}}
HISTORY = {"currentIndex": 0, "entries": [{"url": "http://x.test/", "userTypedURL": "http://x.test/asked"}]}
ANSWERS: dict[str, Any] = {"Page.getFrameTree": {"frameTree": TREE}, "Page.getNavigationHistory": HISTORY}
WORD = Utterance(at=0, kind="say", text="hello")


class Scripted:
    """A session that gives out what a test says."""

    is_ready = True

    def __init__(self) -> None:
        self.received: list[Input] = []
        self.outputs: list[Output] = []
        self.error: Exception | None = None
        self.is_ending = False

    def start(self, at: float) -> list[Output]:
        return [Write(event=Message(t=0, role="agent", kind="say", text="first"))]

    def feed(self, item: Input) -> list[Output]:
        self.received.append(item)
        if self.error is not None:
            raise self.error
        outputs, self.outputs = self.outputs, []
        return outputs


class Bench:
    """A driver without a browser."""

    def __init__(self) -> None:
        self.core = Scripted()
        self.stored: list[Any] = []
        self.environments: list[Environment] = []
        self.disk: Exception | None = None
        clock = Clock(wall=lambda: 1000.0, ticks=lambda: 0.0)
        self.driver = Driver(self._open, self._store, "", clock=clock)

    def _open(self, environment: Environment) -> Scripted:
        self.environments.append(environment)
        return self.core

    def _store(self, write: Write) -> None:
        if self.disk is not None:
            raise self.disk
        self.stored.append(write.event)

    @property
    def gaps(self) -> list[tuple[str, str]]:
        return [(event.channel, event.why) for event in self.stored if isinstance(event, Gap)]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_messages_before_the_header_wait_for_it(bench: Bench) -> None:
    bench.driver.feed(WORD)
    assert bench.core.received == []
    bench.driver.begin(Environment())
    assert bench.core.received == [WORD]
    assert [event.text for event in bench.stored] == ["first"]
    bench.driver.begin(Environment())
    assert len(bench.environments) == 1


def test_outputs_are_stored_or_queued(bench: Bench) -> None:
    bench.driver.begin(Environment())
    message = Message(t=1, role="agent", kind="say", text="second")
    bench.core.outputs = [Pause(id=1, ms=5), Write(event=message), Arm(page=0, document=0), Seal()]
    bench.driver.feed(WORD)
    assert bench.stored[-1] == message
    assert bench.driver.queue == [Pause(id=1, ms=5)]
    assert bench.driver.is_sealed
    bench.driver.feed(WORD)
    assert len(bench.core.received) == 1


def test_session_that_fails_is_a_gap(bench: Bench) -> None:
    bench.driver.begin(Environment())
    bench.core.error = ValueError("no")
    bench.driver.feed(WORD)
    assert bench.gaps == [("actions", "recorder.failed")]
    assert isinstance(bench.driver.fault, ValueError)
    assert not bench.driver.is_busy


def test_full_disk_does_not_reach_the_agent(bench: Bench) -> None:
    bench.disk = OSError("disk full")
    bench.driver.begin(Environment())
    bench.driver.feed(WORD)
    assert bench.driver.fault is bench.disk


def test_end_that_the_session_decided_is_reported_once(bench: Bench) -> None:
    bench.driver.begin(Environment())
    ended: list[str] = []
    bench.driver.on_limit = lambda: ended.append("over")
    bench.driver.feed(WORD)
    bench.core.is_ending = True
    bench.driver.feed(WORD)
    assert ended == []  # it was so before this input
    bench.core.is_ending = False

    def end(item: Input) -> list[Output]:
        bench.core.is_ending = True
        return []

    bench.core.feed = end  # type: ignore[method-assign]  # the scripted session decides now
    bench.driver.feed(WORD)
    bench.driver.feed(WORD)
    assert ended == ["over"]


def test_end_of_the_harness_is_no_limit(bench: Bench) -> None:
    bench.driver.begin(Environment())
    ended: list[str] = []
    bench.driver.on_limit = lambda: ended.append("over")
    bench.driver.feed(End(at=0, kind="stopped"))
    assert ended == []


def test_tab_is_reported_before_what_happened_while_it_was_armed(bench: Bench) -> None:
    tab = bench.driver.new_tab("agent")
    moved = {"frameId": "M", "url": "http://x.test/#a", "navigationType": "fragment"}
    bench.driver.happened(tab, {"method": "Page.navigatedWithinDocument", "params": moved})
    assert not bench.driver.is_ready
    assert bench.core.received == []
    tab.seat(TREE)
    bench.driver.opened(tab, Armed(armed_after_ms=7, user_agent="HeadlessChrome/1"), None)
    assert [type(item).__name__ for item in bench.core.received] == ["TabOpened", "Navigated"]
    (opened, _) = bench.core.received
    assert isinstance(opened, TabOpened)
    assert (opened.page, opened.url, opened.existing, opened.armed_after_ms) == (
        0,
        "http://x.test/",
        False,
        None,
    )
    assert bench.environments[0].headless
    assert bench.driver.is_ready


@pytest.mark.parametrize(("is_attaching", "gaps"), [(False, [("network", "tab.late")]), (True, [])])
def test_what_a_new_tab_asked_for_before_it_was_observed_is_reported(
    bench: Bench, is_attaching: bool, gaps: list[tuple[str, str]]
) -> None:
    bench.driver.is_attaching = is_attaching
    tab = bench.driver.new_tab("agent")
    tab.seat(TREE)
    sent = {
        "requestId": "1",
        "request": {"url": "http://x.test/seen", "method": "GET", "headers": {}},
        "wallTime": 1000,
        "timestamp": 1,
    }
    bench.driver.happened(tab, {"method": "Network.requestWillBeSent", "params": sent})
    urls = ("http://x.test/", "http://x.test/seen", "data:,x")
    bench.driver.opened(tab, Armed(armed_after_ms=0, urls=urls), None)
    assert bench.gaps == gaps


def test_popup_says_how_long_it_ran_unwatched(bench: Bench) -> None:
    opener, popup = bench.driver.new_tab("agent"), bench.driver.new_tab("agent")
    for tab in (opener, popup):
        tab.seat(TREE)
    bench.driver.opened(opener, Armed(armed_after_ms=1), None)
    bench.driver.opened(popup, Armed(armed_after_ms=90), opener)
    opened = bench.core.received[-1]
    assert isinstance(opened, TabOpened)
    assert (opened.page, opened.opener, opened.armed_after_ms) == (1, 0, 90)


def test_probe_tab_is_no_tab_of_the_run_but_its_requests_are_reported(bench: Bench) -> None:
    bench.driver.begin(Environment())
    probe = bench.driver.new_tab("probe")
    assert probe.page == PROBE
    assert bench.driver.new_tab("agent").page == 0
    probe.seat(TREE)
    bench.driver.opened(probe, Armed(armed_after_ms=0), None)
    request = {"url": "http://x.test/", "method": "GET", "headers": {}}
    sent = {"requestId": "1", "request": request, "wallTime": 1000, "timestamp": 1}
    dialog = {"type": "alert", "message": ""}
    bench.driver.happened(probe, {"method": "Network.requestWillBeSent", "params": sent})
    bench.driver.happened(probe, {"method": "Page.javascriptDialogOpening", "params": dialog})
    bench.driver.gone(probe)
    (only,) = bench.core.received
    assert isinstance(only, Requested)
    assert only.actor == "probe"


@pytest.mark.parametrize(("is_crash", "kind"), [(False, TabClosed), (True, TabCrashed)])
def test_tab_goes_once(bench: Bench, is_crash: bool, kind: type) -> None:
    tab = bench.driver.new_tab("agent")
    tab.seat(TREE)
    bench.driver.opened(tab, Armed(armed_after_ms=0), None)
    bench.driver.gone(tab, is_crash=is_crash)
    bench.driver.gone(tab)
    assert [type(item) for item in bench.core.received[1:]] == [kind]
    assert bench.driver.has_crashed == is_crash


def test_tab_that_went_before_it_was_armed_is_a_gap(bench: Bench) -> None:
    bench.driver.begin(Environment())
    tab = bench.driver.new_tab("agent")
    bench.driver.gone(tab)
    bench.driver.lose(tab)
    assert bench.core.received == [TabMissed(at=0, page=0)]
    assert bench.driver.is_ready
    bench.driver.lose(tab)
    assert len(bench.core.received) == 1


def test_nonsense_of_the_protocol_is_a_gap(bench: Bench) -> None:
    tab = bench.driver.new_tab("agent")
    tab.seat(TREE)
    bench.driver.opened(tab, Armed(armed_after_ms=0), None)
    bench.driver.happened(tab, {"method": "Page.javascriptDialogOpening", "params": {}})
    assert bench.gaps == [("actions", "recorder.failed")]


def wrapped(session: str, message: dict[str, Any]) -> dict[str, Any]:
    return {"method": RECEIVED, "params": {"sessionId": session, "message": json.dumps(message)}}


def attached(session: str, kind: str, target: str) -> dict[str, Any]:
    params = {"sessionId": session, "targetInfo": {"type": kind, "targetId": target, "parentFrameId": "M"}}
    return {"method": "Target.attachedToTarget", "params": params}


def opened(bench: Bench, actor: str = "agent") -> Any:
    tab = bench.driver.new_tab(actor)
    tab.seat(TREE)
    bench.driver.opened(tab, Armed(armed_after_ms=0), None)
    return tab


def test_request_to_a_target_is_answered_once(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.happened(tab, attached("S", "iframe", "F"))
    received: list[Any] = []
    call = CallMethod(tab=tab, method="Page.enable", via=("S",))
    first, sent = bench.driver.relayed(call, lambda answer, refused: received.append((answer, refused)))
    assert (sent.method, sent.via, sent.params["sessionId"]) == (SEND, (), "S")
    reply = wrapped("S", {"id": first, "result": {"x": 1}})
    bench.driver.happened(tab, reply)
    bench.driver.happened(tab, reply)
    bench.driver.give_up(tab, first, CommandRefused("timeout"))
    assert received == [({"x": 1}, None)]


def test_request_to_a_target_that_goes_is_refused(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.happened(tab, attached("S", "iframe", "F"))
    words: list[str] = []
    call = CallMethod(tab=tab, method="Page.enable", via=("S",))
    bench.driver.relayed(call, lambda answer, refused: words.append(str(refused)))
    bench.driver.happened(tab, {"method": "Target.detachedFromTarget", "params": {"sessionId": "S"}})
    number, _ = bench.driver.relayed(call, lambda answer, refused: words.append(str(refused)))
    bench.driver.give_up(tab, number, CommandRefused("timeout"))
    assert words == ["failed", "timeout"]


def test_request_to_a_target_of_a_tab_that_goes_is_refused(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.happened(tab, attached("S", "iframe", "F"))
    words: list[str] = []
    call = CallMethod(tab=tab, method="Page.enable", via=("S",))
    bench.driver.relayed(call, lambda answer, refused: words.append(str(refused)))
    bench.driver.gone(tab)
    assert words == ["gone"]


def test_requests_of_a_service_worker_of_two_pages_are_reported_once(bench: Bench) -> None:
    one, other = opened(bench), opened(bench)
    for tab in (one, other):
        bench.driver.happened(tab, attached("W", "service_worker", "SW"))
        tab.meet(tab.targets["W",])
    request = {"url": "http://x.test/a", "method": "GET", "headers": {}}
    sent = {"requestId": "1", "request": request, "wallTime": 1000, "timestamp": 1}
    event = wrapped("W", {"method": "Network.requestWillBeSent", "params": sent})
    for tab in (one, other):
        bench.driver.happened(tab, event)
    assert [item.page for item in bench.core.received if isinstance(item, Requested)] == [0]
    bench.driver.gone(one)
    bench.driver.happened(other, event)
    assert [item.page for item in bench.core.received if isinstance(item, Requested)] == [0, 1]


def test_target_that_cannot_be_armed_is_a_gap_and_its_frame_is_reported(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.happened(tab, attached("S", "iframe", "F"))
    arming, _ = bench.driver.targets.due_commands(tab)
    job = Job(arming)
    effect = job.step()
    while effect is not None:
        effect = job.step(refused=CommandRefused("failed"))
    assert bench.gaps == [("actions", "target.unarmed"), ("network", "target.unarmed")]
    assert bench.core.received[-1] == FrameLeft(at=0, page=0, source=("F", 0), why="unarmed")


def test_target_that_is_still_being_armed_at_the_end_is_a_gap(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.happened(tab, attached("S", "worker", "W"))
    bench.driver.feed(End(at=1, kind="stopped"))
    assert bench.gaps == [("network", "target.unarmed")]


def test_crash_of_a_page_is_reported_only_by_its_own_session(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.happened(tab, attached("S", "iframe", "F"))
    bench.driver.happened(tab, wrapped("S", {"method": "Inspector.targetCrashed", "params": {}}))
    assert not bench.driver.has_crashed
    bench.driver.happened(tab, {"method": "Inspector.targetCrashed"})
    assert bench.driver.has_crashed
    assert isinstance(bench.core.received[-1], TabCrashed)


def target_event(name: str, target: str, url: str = "", **more: Any) -> dict[str, Any]:
    about = {"targetId": target, "type": "page", "url": url, "browserContextId": "C", **more}
    params = {"targetInfo": about} if name in ("targetCreated", "targetInfoChanged") else {"targetId": target}
    return {"method": f"Target.{name}", "params": params}


def reaching(bench: Bench) -> tuple[Any, Job, Any]:
    """The one newcomer: its tab, the job of reaching it, and the first effect of that."""
    ((tab, carried),) = bench.driver.take_newcomers()
    job = Job(carried)
    return tab, job, job.step()


def armed_by(bench: Bench, job: Job, effect: Any) -> None:
    assert (effect.method, effect.params["flatten"]) == ("Target.attachToTarget", False)
    effect = job.step({"sessionId": "P"})
    assert isinstance(effect, Together)
    effect = job.step([ANSWERS.get(one.method, {}) for one in effect.sends])
    while effect is not None:
        effect = job.step(refused=CommandRefused("failed"))


@pytest.fixture
def whole(bench: Bench) -> Bench:
    """A recording of a whole browser."""
    bench.driver.begin(Environment())
    bench.driver.target_registry.is_whole = True
    return bench


@pytest.mark.parametrize(("last", "kind"), [("targetDestroyed", TabClosed), ("targetCrashed", TabCrashed)])
def test_page_that_the_browser_reports_is_reached_through_it(whole: Bench, last: str, kind: type) -> None:
    whole.driver.browser_event(target_event("targetCreated", "T", "about:blank"))
    tab, job, effect = reaching(whole)
    armed_by(whole, job, effect)
    (only,) = whole.core.received
    assert isinstance(only, TabOpened)
    assert (only.page, only.url, only.earlier) == (0, "http://x.test/", ((0.0, "about:blank"),))
    moved = {"frameId": "M", "url": "http://x.test/#a", "navigationType": "fragment"}
    event = wrapped("P", {"method": "Page.navigatedWithinDocument", "params": moved})
    assert whole.driver.browser_event(event) is tab
    assert isinstance(whole.core.received[-1], Navigated)
    call = CallMethod(tab=tab, method="Page.enable")
    _, sent = whole.driver.relayed(call, lambda answer, refused: None)
    assert isinstance(sent, CallBrowser)
    whole.driver.browser_event(target_event(last, "T"))
    assert isinstance(whole.core.received[-1], kind)
    assert whole.driver.has_crashed == (kind is TabCrashed)


def test_page_that_goes_before_it_is_reached_is_reported_with_its_addresses(whole: Bench) -> None:
    whole.driver.browser_event(target_event("targetCreated", "T", "about:blank"))
    _, job, _ = reaching(whole)
    whole.driver.browser_event(target_event("targetInfoChanged", "T", "http://away.test/"))
    whole.driver.browser_event(target_event("targetDestroyed", "T"))
    assert whole.core.received == []
    assert job.step(refused=CommandRefused("failed")) is None
    (missed,) = whole.core.received
    assert isinstance(missed, TabMissed)
    assert [url for _, url in missed.urls] == ["about:blank", "http://away.test/"]
    assert missed.closed_at == 0
    assert whole.driver.is_ready


@pytest.mark.parametrize(("is_crash", "kind"), [(False, TabClosed), (True, TabCrashed)])
def test_page_that_goes_while_it_is_armed_is_opened_and_closed(
    whole: Bench, is_crash: bool, kind: type
) -> None:
    whole.driver.browser_event(target_event("targetCreated", "T", "about:blank"))
    _, job, effect = reaching(whole)
    effect = job.step({"sessionId": "P"})
    assert isinstance(effect, Together)
    effect = job.step([ANSWERS.get(one.method, {}) for one in effect.sends])
    if is_crash:
        whole.driver.browser_event(wrapped("P", {"method": "Inspector.targetCrashed", "params": {}}))
    whole.driver.browser_event(target_event("targetDestroyed", "T"))
    while effect is not None:
        effect = job.step(refused=CommandRefused("gone"))
    assert [type(item) for item in whole.core.received] == [TabOpened, kind]
    assert whole.core.received[0].requested == (("http://x.test/", "http://x.test/asked"),)
    assert whole.driver.has_crashed == is_crash


@pytest.mark.parametrize("last", [target_event("targetDestroyed", "T"), None], ids=["destroyed", "end"])
def test_page_that_cannot_be_reached_is_reported_when_it_goes_or_at_the_end(
    whole: Bench, last: dict[str, Any] | None
) -> None:
    whole.driver.browser_event(target_event("targetCreated", "T", "about:blank"))
    _, job, _ = reaching(whole)
    job.step(refused=CommandRefused("timeout"))
    whole.driver.browser_event(target_event("targetInfoChanged", "T", "http://away.test/"))
    assert whole.core.received == []
    if last is not None:
        whole.driver.browser_event(last)
    whole.driver.feed(End(at=1, kind="stopped"))
    missed = [item for item in whole.core.received if isinstance(item, TabMissed)]
    assert [url for _, url in missed[0].urls] == ["about:blank", "http://away.test/"]
    assert len(missed) == 1


def test_page_that_is_still_being_reached_at_the_end_is_missed_and_never_opened(whole: Bench) -> None:
    whole.driver.browser_event(target_event("targetCreated", "T", "http://away.test/"))
    _, job, effect = reaching(whole)
    assert not whole.driver.is_settled
    whole.driver.feed(End(at=1, kind="stopped"))
    assert [type(item) for item in whole.core.received] == [TabMissed, Logged, End]
    armed_by(whole, job, effect)
    assert len(whole.core.received) == 3


def test_pages_of_other_contexts_are_left_alone(bench: Bench) -> None:
    bench.driver.begin(Environment())
    bench.driver.browser_event(target_event("targetCreated", "T"))
    bench.driver.browser_event(target_event("targetDestroyed", "T"))
    assert bench.driver.take_newcomers() == []


def test_popups_of_a_recorded_page_are_recorded_and_named(bench: Bench) -> None:
    tab = opened(bench)
    bench.driver.claim({"targetId": "T", "browserContextId": "C"}, tab, is_context=False)
    bench.driver.browser_event(target_event("targetCreated", "U", openerId="T"))
    _, job, effect = reaching(bench)
    armed_by(bench, job, effect)
    popup = bench.core.received[-1]
    assert isinstance(popup, TabOpened)
    assert (popup.page, popup.opener) == (1, 0)


def test_pages_that_come_by_another_way_are_not_reached_twice(whole: Bench) -> None:
    whole.driver.hold()
    for target in ("T", "U"):
        whole.driver.browser_event(target_event("targetCreated", target))
    assert whole.driver.take_newcomers() == []
    probe = whole.driver.new_tab("probe")
    whole.driver.claim({"targetId": "T", "browserContextId": "C"}, probe, is_context=True)
    assert whole.driver.known({"targetId": "T"}) is probe
    whole.driver.release()
    ((tab, _),) = whole.driver.take_newcomers()
    assert whole.driver.known({"targetId": "U"}) is tab


@pytest.mark.parametrize("is_whole", [False, True])
def test_popup_of_a_probe_is_none_of_the_run(bench: Bench, is_whole: bool) -> None:
    bench.driver.begin(Environment())
    bench.driver.target_registry.is_whole = is_whole
    probe = bench.driver.new_tab("probe")
    bench.driver.claim({"targetId": "T"}, probe, is_context=False)
    bench.driver.browser_event(target_event("targetCreated", "U", openerId="T"))
    assert bench.driver.take_newcomers() == []


def test_addresses_of_a_page_that_changes_them_without_end_are_bounded(whole: Bench) -> None:
    for number in range(URLS_MAX + 10):
        whole.driver.browser_event(
            target_event(
                "targetCreated" if not number else "targetInfoChanged", "T", f"http://x.test/{number}"
            )
        )
    ((tab, _),) = whole.driver.take_newcomers()
    found = whole.driver.target_registry.of(tab)
    assert found is not None and len(found.urls) == URLS_MAX


def test_unrecorded_contexts_are_bounded(bench: Bench) -> None:
    for number in range(FOREIGN_PAGES_MAX * 2):
        bench.driver.browser_event(target_event("targetCreated", f"T{number}"))
    assert bench.driver.target_registry.get("T0") is None
    assert bench.driver.target_registry.get(f"T{FOREIGN_PAGES_MAX * 2 - 1}") is not None
