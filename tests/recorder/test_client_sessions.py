"""Who receives what when a recorder and agents share one browser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.page_holding import FORGET_MAX, HOLD_S, LOOK_S
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.proxy.client_sessions import Switchboard
from replaykit.recorder.proxy.handovers import COMMIT_S
from replaykit.recorder.proxy.hidden_parts import NO_CONTEXT, NO_OBJECT, NO_SESSION
from replaykit.recorder.proxy.protocol_messages import ASKED, BROWSER, OWN, RECORDER, TARGET, WORLD

AGENT = 1
OTHER = 2


class Line:
    """A switchboard whose browser is played by the test."""

    def __init__(self) -> None:
        self.sent: dict[int, list[dict[str, Any]]] = {}
        self.now = 0.0
        self.observed: list[str] = []
        self.observed_params: list[dict[str, Any]] = []
        self.scripts: list[tuple[int, bool | None, str]] = []
        self.late: list[str] = []
        self.arrived: list[str] = []
        self.parted: list[int] = []
        self.board = Switchboard(
            lambda client, data: self.sent.setdefault(client, []).append(json.loads(data)),
            InjectedNames("w0rld", "b1nd"),
            before=self.observe,
            late=self.late.append,
            scripted=lambda *script: self.scripts.append(script),
            arrived=self.arrived.append,
            clock=lambda: self.now,
        )
        self.board.on_close = self.parted.append
        for client, session in ((RECORDER, "R"), (AGENT, "A"), (OTHER, "O")):
            self.board.join(client)
            self.answer({"sessionId": session})

    def observe(self, method: str, params: dict[str, Any]) -> None:
        self.observed.append(method)
        self.observed_params.append(params)

    def take(self, client: int) -> list[dict[str, Any]]:
        return self.sent.pop(client, [])

    def answer(self, result: dict[str, Any]) -> None:
        """Answer the last question that the browser was asked."""
        self.browser(id=self.sent[BROWSER][-1]["id"], result=result)
        self.sent.pop(BROWSER)

    def browser(self, **message: Any) -> None:
        self.board.from_browser(json.dumps(message).encode())

    def event(self, session: str, method: str, **params: Any) -> None:
        self.browser(sessionId=session, method=method, params=params)

    def say(self, client: int, method: str, id: int = 7, session: str | None = None, **params: Any) -> None:
        message = {"id": id, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self.board.from_client(client, json.dumps(message).encode())

    def attach(
        self,
        root: str,
        session: str,
        target: str = "T",
        *,
        waits: bool = False,
        kind: str = "page",
        **more: Any,
    ) -> None:
        about = {"targetId": target, "type": kind, "url": "", **more}
        self.event(
            root, "Target.attachedToTarget", sessionId=session, targetInfo=about, waitingForDebugger=waits
        )

    def context(self, session: str, id: int, name: str = "") -> None:
        made = {"id": id, "name": name, "uniqueId": f"u{id}", "auxData": {"isDefault": not name}}
        self.event(session, "Runtime.executionContextCreated", context=made)

    def refused(self, client: int = AGENT) -> str | None:
        (found,) = self.take(client)
        return found.get("error", {}).get("message")  # type: ignore[no-any-return]


@pytest.fixture
def line() -> Line:
    found = Line()
    found.attach("R", "R1")
    found.attach("A", "A1")
    found.take(RECORDER), found.take(AGENT)
    return found


def test_numbers_and_sessions_are_translated(line: Line) -> None:
    line.say(AGENT, "Page.enable", id=5, session="A1")
    line.say(OTHER, "Browser.getVersion", id=5)
    first, second = line.take(BROWSER)
    assert (first["sessionId"], second["sessionId"]) == ("A1", "O")
    assert first["id"] != second["id"]
    line.browser(id=second["id"], result={"product": "C"})
    line.browser(id=first["id"], result={}, sessionId="A1")
    assert line.take(OTHER) == [{"id": 5, "result": {"product": "C"}}]
    assert line.take(AGENT) == [{"id": 5, "result": {}, "sessionId": "A1"}]


@pytest.mark.parametrize("session", ["R1", "R", "O", "guess"])
def test_session_of_another_is_not_found(line: Line, session: str) -> None:
    line.say(AGENT, "Runtime.evaluate", session=session)
    assert line.refused() == NO_SESSION
    line.say(AGENT, "Target.detachFromTarget", sessionId=session)
    assert line.refused() == "No session with given id"
    assert line.take(BROWSER) == []


def test_a_navigation_is_sent_once_the_last_one_is_shown(line: Line) -> None:
    line.say(AGENT, "Page.navigate", session="A1", url="http://a.test/1")
    line.answer({"frameId": "T", "loaderId": "L1"})
    line.say(AGENT, "Page.navigate", session="A1", url="http://a.test/2")
    line.say(AGENT, "Page.enable", session="A1")
    assert line.take(BROWSER) == []
    assert line.observed == ["Page.navigate"]
    line.event("R1", "Page.frameNavigated", frame={"id": "T", "loaderId": "L1"})
    assert [one["method"] for one in line.take(BROWSER)] == ["Page.navigate", "Page.enable"]
    assert line.observed == ["Page.navigate", "Page.navigate", "Page.enable"]


def test_a_navigation_of_a_document_that_never_comes_is_sent_late(line: Line) -> None:
    line.say(AGENT, "Page.navigate", session="A1", url="http://a.test/1")
    line.answer({"frameId": "T", "loaderId": "L1"})
    line.say(AGENT, "Page.reload", session="A1")
    line.now += COMMIT_S
    line.board.overdue()
    assert [one["method"] for one in line.take(BROWSER)] == ["Page.reload"]


def test_what_waits_goes_with_its_session(line: Line) -> None:
    line.say(AGENT, "Page.navigate", session="A1", url="http://a.test/1")
    line.answer({"frameId": "T", "loaderId": "L1"})
    line.say(AGENT, "Page.reload", session="A1")
    line.board.leave(AGENT)
    line.take(BROWSER)
    line.event("R1", "Page.frameNavigated", frame={"id": "T", "loaderId": "L1"})
    assert line.take(BROWSER) == []


def test_worlds_of_the_recorder_are_not_reported_and_not_found(line: Line) -> None:
    for session in ("R1", "A1"):
        line.context(session, 3)
        line.context(session, 4, "w0rld")
    assert [one["params"]["context"]["id"] for one in line.take(AGENT)] == [3]
    assert len(line.take(RECORDER)) == 2
    for params in ({"contextId": 4}, {"contextId": 99}, {"uniqueContextId": "u4"}):
        line.say(AGENT, "Runtime.evaluate", session="A1", **params)
        assert line.refused() in (NO_CONTEXT, "uniqueContextId not found")
    assert line.take(BROWSER) == []
    line.say(AGENT, "Runtime.evaluate", session="A1", contextId=3)
    assert len(line.take(BROWSER)) == 1
    line.event("A1", "Runtime.executionContextDestroyed", executionContextId=4)
    assert line.take(AGENT) == []


@given(st.integers(-(2**31), 2**31))
def test_no_number_that_was_not_reported_is_a_world(number: int) -> None:
    line = Line()
    line.attach("A", "A1")
    line.context("A1", 3)
    line.take(AGENT)
    line.say(AGENT, "Runtime.callFunctionOn", session="A1", executionContextId=number)
    assert (line.take(AGENT) == []) is (number == 3)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("Runtime.callFunctionOn", {"objectId": "12.4.1"}),
        ("Runtime.callFunctionOn", {"arguments": [{"objectId": "-8.4.19"}]}),
        ("Debugger.getScriptSource", {"scriptId": "77"}),
        ("Debugger.setBreakpoint", {"location": {"scriptId": "77"}}),
    ],
)
def test_objects_and_scripts_of_its_worlds_are_refused(
    line: Line, method: str, params: dict[str, Any]
) -> None:
    line.context("R1", 4, "w0rld")
    line.event("A1", "Debugger.scriptParsed", scriptId="77", executionContextId=4)
    assert line.take(AGENT) == []
    line.say(AGENT, method, session="A1", **params)
    assert line.refused()
    assert line.take(BROWSER) == []


def test_answer_that_holds_an_object_of_the_recorder_is_refused(line: Line) -> None:
    line.context("R1", 4, "w0rld")
    line.say(AGENT, "HeapProfiler.getObjectByHeapObjectId", session="A1", objectId="9")
    line.answer({"result": {"type": "function", "objectId": "1.4.2"}})
    assert line.refused() == NO_OBJECT
    line.event("A1", "Runtime.consoleAPICalled", executionContextId=4, args=[])
    line.event("A1", "Runtime.bindingCalled", name="b1nd", payload="x", executionContextId=4)
    assert line.take(AGENT) == []


def test_pause_in_a_script_of_the_recorder_goes_on(line: Line) -> None:
    line.context("R1", 4, "w0rld")
    line.event("A1", "Debugger.scriptParsed", scriptId="77", executionContextId=4)
    line.event("A1", "Debugger.paused", callFrames=[{"location": {"scriptId": "77"}}])
    (resume,) = line.take(BROWSER)
    assert (resume["method"], resume["sessionId"]) == ("Debugger.resume", "A1")
    line.event("A1", "Debugger.resumed")
    assert line.take(AGENT) == []
    line.event("A1", "Debugger.paused", callFrames=[{"location": {"scriptId": "78"}}])
    line.event("A1", "Debugger.resumed")
    assert len(line.take(AGENT)) == 2


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("Page.createIsolatedWorld", "worldName"),
        ("Page.addScriptToEvaluateOnNewDocument", "worldName"),
        ("Runtime.addBinding", "executionContextName"),
    ],
)
def test_name_of_its_world_leads_elsewhere(line: Line, method: str, name: str) -> None:
    line.say(AGENT, method, session="A1", **{name: "w0rld"})
    (asked,) = line.take(BROWSER)
    assert asked["params"][name] != "w0rld"


@pytest.mark.parametrize("method", ["Runtime.addBinding", "Runtime.removeBinding"])
def test_its_binding_is_left_alone(line: Line, method: str) -> None:
    line.say(AGENT, method, session="A1", name="b1nd")
    assert (line.take(AGENT), line.take(BROWSER)) == ([{"id": 7, "result": {}, "sessionId": "A1"}], [])


@pytest.mark.parametrize("method", ["Target.exposeDevToolsProtocol", "Browser.crash"])
def test_ways_around_are_not_known(line: Line, method: str) -> None:
    line.say(AGENT, method, targetId="T")
    assert line.refused() == f"'{method}' wasn't found"
    assert line.board.counts["refused"] == 1


def test_browser_stays_when_an_agent_closes_it(line: Line) -> None:
    line.say(AGENT, "Browser.close")
    assert (line.take(AGENT), line.take(BROWSER), line.parted) == ([{"id": 7, "result": {}}], [], [AGENT])


def test_new_page_waits_for_the_recorder_and_comes_in_order(line: Line) -> None:
    line.board.is_holding = True
    line.say(AGENT, "Target.createTarget", id=9, url="about:blank")
    number = line.take(BROWSER)[-1]["id"]
    line.attach("R", "R2", "N", waits=True)
    line.attach("A", "A2", "N", waits=True)
    line.context("A2", 1)
    line.browser(id=number, result={"targetId": "N"})
    line.say(RECORDER, "Runtime.runIfWaitingForDebugger", session="R2")
    assert (line.take(AGENT), line.take(BROWSER)) == ([], [])
    line.board.armed("N")
    assert [one.get("method", one.get("id")) for one in line.take(AGENT)] == [
        "Target.attachedToTarget",
        "Runtime.executionContextCreated",
        9,
    ]
    assert line.take(BROWSER) == []  # the first resume would start it: the agent's comes first
    line.say(AGENT, "Runtime.runIfWaitingForDebugger", session="A2")
    assert [one["sessionId"] for one in line.take(BROWSER)] == ["A2", "R2"]


def test_page_is_let_go_when_an_agent_leaves_it_waiting(line: Line) -> None:
    line.board.is_holding = True
    line.attach("R", "R2", "N", waits=True)
    line.attach("A", "A2", "N", waits=True)
    line.say(RECORDER, "Runtime.runIfWaitingForDebugger", session="R2")
    line.board.armed("N")
    line.board.leave(AGENT)
    assert "R2" in [one.get("sessionId") for one in line.take(BROWSER)]


def test_page_is_held_for_a_limited_time_and_that_is_reported(line: Line) -> None:
    line.board.is_holding = True
    line.attach("A", "A2", "N")
    line.now = HOLD_S - 0.1
    line.board.overdue()
    assert (line.take(AGENT), line.late) == ([], [])
    line.now = HOLD_S
    line.board.overdue()
    assert (len(line.take(AGENT)), line.late) == (1, ["N"])
    line.board.overdue()
    assert line.board.counts["targets_late"] == 1


FOLLOW = {"method": "Target.setAutoAttach", "session": "A1", "autoAttach": True}


@pytest.mark.parametrize("end", ["arrived", "removed", "late"])
def test_frames_that_wait_for_the_recorder_are_not_taken_from_it(line: Line, end: str) -> None:
    line.attach("R1", "R2", "F", waits=True, kind="iframe")
    line.say(AGENT, **FOLLOW)
    assert line.take(BROWSER) == []
    if end == "arrived":
        line.event("R2", "Page.frameNavigated", frame={"id": "F", "loaderId": "L"})
    elif end == "removed":
        line.event("R1", "Target.detachedFromTarget", sessionId="R2")
        line.say(AGENT, **FOLLOW)
    line.now = HOLD_S * (end != "arrived")
    line.board.overdue()
    assert {one["method"] for one in line.take(BROWSER)} == {"Target.setAutoAttach"}


@pytest.mark.parametrize("place", [("R", "page", True), ("R1", "iframe", False), ("A1", "iframe", True)])
def test_who_asks_while_no_frame_below_waits_for_the_recorder_is_not_kept(
    line: Line, place: tuple[str, str, bool]
) -> None:
    around, kind, waits = place
    line.attach(around, "R2", "F", waits=waits, kind=kind)
    line.say(AGENT, **FOLLOW)
    assert [one["method"] for one in line.take(BROWSER)] == ["Target.setAutoAttach"]


ARMING = (
    ("Page.addScriptToEvaluateOnNewDocument", {"worldName": "w0rld", "source": "1"}),
    ("Target.setAutoAttach", {"autoAttach": True}),
)
"""The calls that arm a page, as far as they matter here."""


def arm(line: Line, calls: Any, session: str = "R3") -> None:
    """Let the recorder send what arms a page, by a session inside of its own."""
    for number, (method, params) in enumerate(calls):
        inner = json.dumps({"id": number, "method": method, "params": params})
        line.say(RECORDER, "Target.sendMessageToTarget", session="R", sessionId=session, message=inner)


@pytest.mark.parametrize(
    ("calls", "more", "is_free"),
    [
        (ARMING, {"openerId": "T", "canAccessOpener": False}, True),
        (ARMING[:1], {"openerId": "T", "canAccessOpener": False}, False),
        (ARMING[1:], {"openerId": "T", "canAccessOpener": False}, False),
        (
            ((ARMING[0][0], {"worldName": "other"}), ARMING[1]),
            {"openerId": "T", "canAccessOpener": False},
            False,
        ),
        (ARMING, {"openerId": "T", "canAccessOpener": True}, False),
        (ARMING, {"openerId": "T"}, False),
        (ARMING, {"canAccessOpener": False}, False),
    ],
)
def test_a_page_that_answers_nothing_before_its_document_is_not_waited_for(
    calls: Any, more: dict[str, Any], is_free: bool, line: Line
) -> None:
    """Its process begins with the document; what was sent to it before comes first."""
    line.board.is_holding = True
    line.attach("R", "R2", "N", waits=True, **more)
    line.attach("R", "R3", "N")
    line.attach("A", "A2", "N", waits=True, **more)
    line.take(RECORDER)
    line.say(RECORDER, "Runtime.runIfWaitingForDebugger", session="R2")
    arm(line, calls)
    assert [one["method"] for one in line.take(AGENT)] == ["Target.attachedToTarget"] * is_free
    line.take(BROWSER)
    line.say(AGENT, "Runtime.runIfWaitingForDebugger", session="A2")
    assert [one["sessionId"] for one in line.take(BROWSER)] == ["A2", "R2"][: 1 + is_free]
    line.now = HOLD_S
    line.board.overdue()
    assert line.late == ["N"] * (not is_free)


def test_messages_of_the_recorder_to_no_page_that_waits_are_its_own(line: Line) -> None:
    line.board.is_holding = True
    line.attach("R", "R2", "N", openerId="T", canAccessOpener=False)
    arm(line, ARMING, session="R1")
    arm(line, ARMING, session="no such")
    line.now = HOLD_S
    line.board.overdue()
    assert line.late == ["N"]


@pytest.mark.parametrize("end", ["looked", "late", "left", "dismissed"])
def test_a_page_is_closed_once_the_recorder_has_looked_at_it(line: Line, end: str) -> None:
    asked: list[str] = []
    line.board.on_parting = asked.append
    line.board.is_holding = True
    line.board.armed("T")
    line.say(AGENT, "Target.closeTarget", targetId="T")
    assert (asked, line.take(BROWSER)) == (["T"], [])
    if end == "left":
        line.board.leave(AGENT)
        line.take(BROWSER)
    if end == "dismissed":
        line.board.let_go()
    if end in ("looked", "left"):
        line.board.looked("T")
    else:
        line.now = LOOK_S
        line.board.overdue()
    (closing,) = line.take(BROWSER)
    assert (closing["method"], closing["params"]) == ("Target.closeTarget", {"targetId": "T"})
    line.board.looked("T")
    assert line.take(BROWSER) == []


def test_a_page_that_the_recorder_does_not_watch_is_closed_at_once(line: Line) -> None:
    line.board.on_parting = pytest.fail
    line.say(AGENT, "Target.closeTarget", targetId="T")
    line.board.is_holding = True
    line.say(AGENT, "Target.closeTarget", targetId="unknown")
    assert [one["method"] for one in line.take(BROWSER)] == ["Target.closeTarget"] * 2


def test_address_of_a_new_page_comes_when_the_recorder_listens(line: Line) -> None:
    line.board.is_holding = True
    line.say(AGENT, "Target.createTarget", url="http://a.test/")
    (asked,) = line.take(BROWSER)
    assert asked["params"]["url"] == "about:blank"
    line.attach("R", "R2", "N", waits=True)
    line.browser(id=asked["id"], result={"targetId": "N"})
    assert line.take(BROWSER) == []
    line.board.armed("N")
    line.browser(id=line.take(BROWSER)[-1]["id"], result={"sessionId": "X"})
    enabled, went = line.take(BROWSER)
    assert enabled["method"] == "Page.enable"
    assert (went["method"], went["params"]["url"], went["sessionId"]) == (
        "Page.navigate",
        "http://a.test/",
        "X",
    )
    arrived(line, ["about:blank"])
    assert line.take(BROWSER) == []
    for _ in range(3):  # it may not forget yet
        arrived(line, ["about:blank", "http://a.test/"])
        assert [one["method"] for one in line.take(BROWSER)] == ["Page.resetNavigationHistory"]
        line.board.overdue()
        answer_last(line, history(["about:blank", "http://a.test/"]))
        assert [one["method"] for one in line.take(BROWSER)] == ["Page.resetNavigationHistory"]
    arrived(line, ["http://a.test/"])
    assert [one["method"] for one in line.take(BROWSER)] == ["Target.detachFromTarget"]
    line.event("X", "Page.loadEventFired", timestamp=2)
    line.board.overdue()
    assert line.take(BROWSER) == []


def test_history_of_a_page_that_went_on_is_its_own(line: Line) -> None:
    line.say(AGENT, "Target.createTarget", url="http://a.test/")
    answer_last(line, {"targetId": "N"})
    answer_last(line, {"sessionId": "X"})
    line.take(BROWSER)
    arrived(line, ["about:blank", "http://a.test/", "http://a.test/next"])
    assert [one["method"] for one in line.take(BROWSER)] == ["Target.detachFromTarget"]


def test_page_that_keeps_its_empty_page_is_left_alone_in_the_end(line: Line) -> None:
    line.say(AGENT, "Target.createTarget", url="http://a.test/")
    answer_last(line, {"targetId": "N"})
    answer_last(line, {"sessionId": "X"})
    line.take(BROWSER)
    for _ in range(FORGET_MAX + 1):
        arrived(line, ["about:blank", "http://a.test/"])
        (asked,) = line.take(BROWSER)
    assert asked["method"] == "Target.detachFromTarget"


def history(urls: list[str]) -> dict[str, Any]:
    return {"entries": [{"url": url} for url in urls], "currentIndex": len(urls) - 1}


def arrived(line: Line, urls: list[str]) -> None:
    """Let the page of session X arrive, with this history."""
    line.event("X", "Page.frameNavigated", frame={"id": "N"})
    answer_last(line, history(urls))


def answer_last(line: Line, result: dict[str, Any]) -> None:
    """Answer the last question, and keep what comes of that."""
    line.browser(id=line.take(BROWSER)[-1]["id"], result=result)


def test_messages_inside_of_messages_are_watched_as_well(line: Line) -> None:
    line.say(AGENT, "Target.attachToTarget", targetId="T", flatten=False)
    (asked,) = line.take(BROWSER)
    assert asked["params"]["flatten"] is True
    line.attach("A", "A9")
    line.context("R1", 4, "w0rld")
    line.context("A9", 4, "w0rld")
    line.context("A9", 3)
    received = line.take(AGENT)
    assert [one["method"] for one in received] == [
        "Target.attachedToTarget",
        "Target.receivedMessageFromTarget",
    ]
    inner = json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {"contextId": 4}})
    line.say(AGENT, "Target.sendMessageToTarget", id=2, sessionId="A9", message=inner)
    receipt, around = line.take(AGENT)
    assert receipt == {"id": 2, "result": {}}
    assert json.loads(around["params"]["message"])["error"]["message"] == NO_CONTEXT


def test_tabs_of_the_recorder_are_not_listed(line: Line) -> None:
    line.board.hide("P")
    line.say(AGENT, "Target.getTargets")
    line.answer({"targetInfos": [{"targetId": "T"}, {"targetId": "P"}]})
    assert line.take(AGENT) == [{"id": 7, "result": {"targetInfos": [{"targetId": "T"}]}}]
    line.event("A", "Target.targetCreated", targetInfo={"targetId": "P"})
    line.attach("A", "A5", "P")
    assert line.take(AGENT) == []
    line.take(BROWSER)
    line.say(AGENT, "Target.attachToTarget", targetId="P", flatten=True)
    assert line.refused() == "No target with given id found"


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"nonsense", b"[" * 100_000, b'{"id":1}', b'{"method":"A"}', b"\xff"]
)
def test_what_is_no_message_is_answered(line: Line, data: bytes) -> None:
    line.board.from_client(AGENT, data)
    (found,) = line.take(AGENT)
    assert found["error"]["code"] in (-32700, -32600)


def test_messages_are_received_before_a_command_goes_on(line: Line) -> None:
    line.say(AGENT, "Input.dispatchMouseEvent", session="A1", type="mousePressed")
    line.say(RECORDER, "Page.enable", session="R1")
    assert line.observed == ["Input.dispatchMouseEvent"]


def test_a_history_navigation_is_observed_with_its_page(line: Line) -> None:
    line.say(AGENT, "Page.navigateToHistoryEntry", session="A1", entryId=3)
    assert [one for one in line.observed_params if TARGET in one] == [{"entryId": 3, TARGET: "T"}]
    assert TARGET not in json.dumps(line.take(BROWSER))


@pytest.mark.parametrize("key", [ASKED, TARGET, WORLD])
@pytest.mark.parametrize("method", ["Fetch.fulfillRequest", "Input.dispatchMouseEvent", "Runtime.evaluate"])
def test_a_client_forges_none_of_the_keys_that_the_proxy_adds(line: Line, key: str, method: str) -> None:
    line.say(AGENT, method, session="A1", **{key: {"forged": 1}, "requestId": "none"})
    own = {"Runtime.evaluate": ["page"], "Input.dispatchMouseEvent": ["T"]}
    found = [value for one in line.observed_params for name, value in one.items() if name.startswith(OWN)]
    assert found == own.get(method, [])


# Scripts of agents


@pytest.mark.parametrize(
    ("params", "is_apart"),
    [
        ({}, False),
        ({"contextId": 4}, False),
        ({"contextId": 5}, True),
        ({"executionContextId": 5}, True),
        ({"uniqueContextId": "u5"}, True),
        ({"objectId": "-123.5.9"}, True),
        ({"objectId": "-123.4.9"}, False),
    ],
)
def test_a_script_is_reported_with_the_world_it_runs_in(line: Line, params: Any, is_apart: bool) -> None:
    for session in ("R1", "A1"):
        line.context(session, 4)
        line.context(session, 5, "theirs")
    line.say(AGENT, "Runtime.callFunctionOn", session="A1", **params)
    ((number, reported, target),) = line.scripts
    assert (reported, target) == (is_apart, "T")
    line.answer({})
    assert line.scripts == [(number, is_apart, "T"), (number, None, "")]


def test_a_script_of_one_who_left_ends_as_well(line: Line) -> None:
    line.say(AGENT, "Runtime.evaluate", session="A1")
    (asked,) = line.take(BROWSER)
    line.board.leave(AGENT)
    line.take(BROWSER)
    line.browser(id=asked["id"], result={})
    assert [is_apart for _, is_apart, _ in line.scripts] == [False, None]


MOVED = {"frameId": "T", "loaderId": "L1"}


@pytest.mark.parametrize(
    ("result", "arrived"),
    [
        (MOVED, ["L1"]),
        ({**MOVED, "frameId": "F"}, []),
        ({**MOVED, "errorText": "net::ERR_ABORTED"}, []),
        ({"frameId": "T"}, []),
    ],
)
def test_an_answer_hands_the_main_frame_over(line: Line, result: Any, arrived: list[str]) -> None:
    line.say(AGENT, "Page.navigate", session="A1", url="http://h.test/")
    assert line.arrived == []
    line.answer(result)
    assert line.arrived == arrived


@pytest.mark.parametrize("session", ["R1", "A1"])
def test_a_document_that_is_reported_has_arrived(line: Line, session: str) -> None:
    line.event(session, "Page.frameNavigated", frame={"id": "F", "loaderId": "L2"})
    assert line.arrived == ["L2"]


def test_scripts_of_the_recorder_are_none(line: Line) -> None:
    line.say(RECORDER, "Runtime.evaluate", session="R1")
    line.answer({})
    assert line.scripts == []
