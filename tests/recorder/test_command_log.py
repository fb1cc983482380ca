"""The log of the agent's commands: which, of whom, and what it keeps of them."""

from __future__ import annotations

import asyncio
import json
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.witnesses.command_kinds import DRIVER_KINDS, blinds, cdp_kind
from replaykit.recorder.browser.witnesses.command_log import FUNNELS, DriverLog, own_calls
from replaykit.recorder.browser.witnesses.selector_engines import runs_own_engine
from replaykit.recorder.browser.witnesses.target_census import Census
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.witnesses import Answered, Commanded, ScriptAsked, ScriptEnded, Witnessed
from replaykit.trajectory.command import Command
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Exchange, Gap
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Header

BASE = "http://shop.test/"
NESTED = "Target.sendMessageToTarget"
ALONE = "chrome --remote-debugging-pipe --disable-extensions"


class ReceivingDriver:
    """A driver that only receives."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.census = Census()
        self.received: list[Any] = []
        self.gaps: list[tuple[str, str]] = []

    def feed(self, item: Any) -> None:
        self.received.append(item)

    def gap(self, channel: str, why: str) -> None:
        self.gaps.append((channel, why))

    def failed(self, channel: str, error: Exception) -> None:
        raise error


class Thing:
    """One of Playwright's objects."""

    def __init__(self, kind: str, parent: Thing | None = None, connection: Any = None, **more: Any) -> None:
        self._type = kind
        self._parent = parent
        self._connection = connection or (parent._connection if parent else None)
        self._impl_obj = self
        self.context = parent
        vars(self).update(more)


def connection(name: str, *, is_remote: bool = False) -> Any:
    class Connection:
        def __init__(self) -> None:
            self.sent: list[str] = []
            self.replies: list[asyncio.Future[Any]] = []

        def is_remote(self) -> bool:
            return is_remote

    def send(self: Any, object: Any, method: str, params: Any, options: Any = None) -> Any:
        self.sent.append(method)
        return self.replies.pop(0) if self.replies else None

    setattr(Connection, name, send)
    return Connection()


class Scene:
    """A page of a context, and a log that listens."""

    def __init__(self, name: str = FUNNELS[0], *, is_sync: bool = True, is_remote: bool = False) -> None:
        self.connection = connection(name, is_remote=is_remote)
        self.name = name
        self.context = Thing("BrowserContext", connection=self.connection, _options={"baseURL": BASE})
        self.page = Thing("Page", self.context)
        self.frame = Thing("Frame", self.context, _page=self.page)
        self.driver = ReceivingDriver()
        self.log = DriverLog(self.driver, is_sync=is_sync)  # type: ignore[arg-type]  # a double of the part that it calls
        self.log.open(self.page)
        self.log.expect(self.page)

    def send(self, object: Thing, method: str, /, **params: Any) -> Any:
        return getattr(self.connection, self.name)(object, method, params, {})

    def commands(self) -> list[Commanded]:
        return [one for one in self.driver.received if isinstance(one, Commanded)]


@pytest.mark.parametrize(
    ("params", "gaps"),
    [
        ({}, []),
        ({"headers": [{"name": "a", "value": "b"}]}, []),
        ({"url": BASE + "other"}, [("network", "request.altered")]),
        ({"method": "POST"}, [("network", "request.altered")]),
        ({"postData": "eA=="}, [("network", "request.altered")]),
    ],
)
def test_a_request_that_goes_on_as_another_is_a_gap(params: Any, gaps: list[tuple[str, str]]) -> None:
    scene = Scene()
    request = Thing("Request", scene.context, url=BASE, method="GET")
    scene.send(Thing("Route", scene.context, request=request), "continue", **params)
    assert scene.driver.gaps == gaps


def test_an_answer_is_to_the_request_as_the_page_asked_for_it() -> None:
    scene = Scene()
    asked = {"url": BASE, "method": "GET"}
    request = Thing("Request", scene.context, url=BASE + "other", method="POST", _initializer=asked)
    scene.send(Thing("Route", scene.context, request=request), "continue", url=BASE + "other")
    found = [(one.url, one.method) for one in scene.driver.received if isinstance(one, Answered)]
    assert found == [(BASE, "GET")]


@pytest.mark.parametrize("name", FUNNELS)
def test_what_goes_through_the_funnel_is_observed_and_sent(name: str) -> None:
    scene = Scene(name)
    scene.send(scene.frame, "click", selector="#b")
    scene.send(scene.frame, "textContent", selector="#b")
    with own_calls():
        scene.send(scene.frame, "click", selector="#c")
    assert scene.connection.sent == ["click", "textContent", "click"]
    assert [(one.kind, one.name, one.selector) for one in scene.commands()] == [
        ("input", "Frame.click", "#b")
    ]
    scene.log.close()
    scene.send(scene.frame, "click", selector="#d")
    assert len(scene.commands()) == 1
    assert name not in vars(scene.connection)


def test_a_driver_without_a_known_funnel_is_not_listened_to() -> None:
    scene = Scene("post")
    assert not scene.log.is_whole
    scene.log.close()


@pytest.mark.parametrize(
    ("line", "is_whole"),
    [
        (f"{ALONE} --headless", True),
        (f"{ALONE} --load-extension --disable-extensions-except=", True),
        (f"{ALONE} --disable-extensions-except=/a --load-extension=/a", False),
        ("chrome --remote-debugging-pipe", False),
        ("chrome --remote-debugging-port=0", False),
        (f"{ALONE} --remote-debugging-port=9222", False),
        ("", False),
    ],
)
def test_only_a_browser_without_other_clients_is_observed_whole(line: str, is_whole: bool) -> None:
    scene = Scene()
    scene.log.started(line)
    assert scene.log.is_whole is is_whole
    assert scene.driver.census.touched_at == (-inf if is_whole else inf)


@pytest.mark.parametrize(
    ("kind", "method", "params", "is_far"),
    [
        ("frame", "click", {"selector": "#b"}, False),
        ("frame", "fill", {"selector": "#b", "value": "x"}, False),
        ("frame", "evaluateExpression", {"expression": "1"}, False),
        ("frame", "goto", {"url": BASE}, False),
        ("frame", "click", {"selector": "#f >> internal:control=enter-frame >> #b"}, True),
        ("inner", "click", {"selector": "#b"}, True),
        ("page", "mouseClick", {"x": 1, "y": 2}, True),
        ("page", "keyboardPress", {"key": "Enter"}, True),
        ("handle", "click", {}, True),
    ],
)
def test_what_may_reach_any_frame_is_noted(
    kind: str, method: str, params: dict[str, Any], is_far: bool
) -> None:
    scene = Scene()
    scene.log.started(ALONE)
    inner = Thing("Frame", scene.context, _page=scene.page, _parent_frame=scene.frame)
    handle = Thing("ElementHandle", scene.frame)
    objects = {"frame": scene.frame, "inner": inner, "page": scene.page, "handle": handle}
    scene.send(objects[kind], method, **params)
    assert (scene.driver.census.touched_at > -inf) is is_far


@given(st.text(min_size=1))
def test_typed_text_and_single_keys_are_left_out(text: str) -> None:
    scene = Scene()
    scene.send(scene.frame, "fill", selector="#p", value=text)
    scene.send(scene.page, "keyboardPress", key=text[0])
    scene.send(scene.page, "keyboardPress", key=f"Shift+{text[0]}")
    filled, *pressed = scene.commands()
    assert filled.size == len(text)
    assert [one.key for one in pressed] == [None, None]


def test_an_unrecorded_page_is_missed_once_it_is_used() -> None:
    scene = Scene()
    other = Thing("Page", scene.context)
    scene.send(other, "close")
    assert scene.log.missed() == []
    scene.send(other, "mouseMove", x=1, y=2)
    assert [what for _, what in scene.log.missed()] == ["page"]
    scene.log.expect(other)
    assert scene.log.missed() == []


def test_cdp_commands_have_their_own_names() -> None:
    scene = Scene()
    session = Thing("CDPSession", scene.context)
    scene.send(
        session, "send", method="Input.dispatchMouseEvent", params={"x": 3, "y": 4.6, "type": "mousePressed"}
    )
    scene.send(session, "send", method="DOM.getDocument", params={})
    (one,) = scene.commands()
    assert (one.kind, one.name, one.point) == ("input", "Input.dispatchMouseEvent", (3, 4))


def nested(method: str, params: Any = None, depth: int = 1) -> dict[str, Any]:
    """Return the parameters of a command that sends another one to a session below."""
    sent = {"id": 1, "method": method, "params": params or {}}
    for _ in range(depth - 1):
        sent = {"id": 1, "method": NESTED, "params": {"message": json.dumps(sent)}}
    return {"sessionId": "S", "message": json.dumps(sent)}


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (nested("Runtime.evaluate", {"expression": "b.onclick()"}), [("script", "Runtime.evaluate", 11)]),
        (nested("Input.insertText", {"text": "EVIL"}, depth=3), [("input", "Input.insertText", 4)]),
        (nested("Page.navigate", {"url": BASE}, depth=12), [("script", NESTED, None)]),
        (nested("DOM.getDocument"), []),
        ({"message": "{"}, [("script", NESTED, None)]),
        ({"message": "[]"}, [("script", NESTED, None)]),
        ({"message": '{"method": "Runtime.evaluate", "params": 3}'}, [("script", "Runtime.evaluate", None)]),
    ],
)
def test_a_command_in_the_message_of_another_is_the_one_that_counts(params: Any, expected: Any) -> None:
    scene = Scene()
    session = Thing("CDPSession", scene.page, _page=scene.page)
    scene.send(session, "send", method=NESTED, params=params)
    assert [(one.kind, one.name, one.size) for one in scene.commands()] == expected
    # Which page it reaches, and when it ends, is unknown.
    assert {one.page for one in scene.commands()} <= {None}
    assert scripts(scene) == []


@pytest.mark.parametrize(
    ("kind", "method", "params"),
    [
        ("CDPSession", "send", {"method": "Target.exposeDevToolsProtocol", "params": {"targetId": "T"}}),
        ("CDPSession", "send", {"method": NESTED, "params": nested("Extensions.loadUnpacked")}),
        ("Browser", "startServer", {"title": "x"}),
    ],
)
def test_what_lets_others_command_the_browser_is_a_gap(kind: str, method: str, params: Any) -> None:
    scene = Scene()
    scene.send(Thing(kind, scene.context), method, **params)
    assert ("actions", "commands.unlogged") in scene.driver.gaps


def test_a_server_has_other_clients() -> None:
    scene = Scene(is_remote=True)
    scene.log.started(ALONE)
    assert not scene.log.is_whole


@pytest.mark.parametrize(
    ("selector", "is_own"),
    [
        ("#b", False), ("a[href=x]", False), ("//a[@x=1]", False), ('"a=b"', False), ("text=a=b", False),
        ("internal:role=button[name=\"a=b\"i]", False), ("_react=Box >> nth=0", False), ("press=#b", True),
        ("#a >> *press=#b", True), ("text=it's >> press=it's", True), ("", False), (3, False),
        ('div >> internal:has="press=#b"', True), ('div >> internal:has="css=#b"', False),
        (r'a >> internal:or="b >> internal:has=\"press=#b\""', True),
        (r'a >> internal:or="internal:has=\"internal:and=\\\"press=#b\\\"\""', True),
    ],
)  # fmt: skip
def test_selectors_of_engines_that_the_agent_registered(selector: Any, is_own: bool) -> None:
    assert runs_own_engine(selector) is is_own
    scene = Scene()
    scene.send(scene.frame, "queryCount", selector=selector)
    expected = [("script", "Frame.queryCount", "page")] if is_own else []
    assert [(one.kind, one.name, one.world) for one in scene.commands()] == expected
    assert len(scripts(scene)) == 2 * is_own


def scripts(scene: Scene) -> list[Any]:
    return [one for one in scene.driver.received if isinstance(one, ScriptAsked | ScriptEnded)]


@pytest.mark.parametrize("is_failed", [False, True])
def test_a_script_lasts_until_its_command_is_answered(is_failed: bool) -> None:
    scene = Scene()

    async def run() -> None:
        future = asyncio.get_running_loop().create_future()
        scene.connection.replies.append(future)
        scene.send(scene.frame, "evaluateExpression", expression="b.click()")
        (begun,) = scripts(scene)
        assert (begun.number, begun.is_apart) == (1, False)
        if is_failed:
            future.set_exception(ValueError("gone"))
        else:
            future.set_result({})
        await asyncio.sleep(0)

    asyncio.run(run())
    assert [(type(one), one.number) for one in scripts(scene)] == [(ScriptAsked, 1), (ScriptEnded, 1)]


def test_scripts_are_reported_by_where_they_run() -> None:
    scene = Scene()
    for method in ("selectOption", "dispatchEvent", "goto", "waitForFunction"):
        scene.send(scene.frame, method, selector="#b")
    session = Thing("CDPSession", scene.context)
    for method in ("Runtime.callFunctionOn", "DOM.getDocument"):
        scene.send(session, "send", method=method, params={})
    begun = [one for one in scripts(scene) if isinstance(one, ScriptAsked)]
    assert [(one.number, one.is_apart) for one in begun] == [(1, True), (2, False), (3, False)]
    # Where nothing will report an answer, none is waited for.
    assert [one.number for one in scripts(scene) if isinstance(one, ScriptEnded)] == [1, 2, 3]


def asked(scene: Scene, reply: Any, **params: Any) -> list[Any]:
    async def ask() -> None:
        future = asyncio.get_running_loop().create_future()
        scene.connection.replies.append(future)
        scene.send(Thing("APIRequestContext", scene.context), "fetch", **params)
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result({"response": reply})
        await asyncio.sleep(0)

    asyncio.run(ask())
    return [one for one in scene.driver.received if not isinstance(one, Commanded)]


def test_a_request_of_the_driver() -> None:
    reply = {
        "fetchUid": "u",
        "url": f"{BASE}buy?a=1",
        "status": 201,
        "headers": [{"name": "X", "value": "y"}],
    }
    request, response = asked(
        Scene(), reply, url="/buy", method="post", params=[{"name": "a", "value": 1}], jsonData='{"b":2}'
    )
    assert (request.method, request.url, request.post, request.initiator) == (
        "POST",
        f"{BASE}buy?a=1",
        b'{"b":2}',
        "driver",
    )
    assert request.headers == (("content-type", "application/json"),)
    assert (response.request, response.status, response.headers) == (request.request, 201, (("X", "y"),))


def test_where_a_redirect_led_is_a_request_of_its_own() -> None:
    scene = Scene()
    reply = {"fetchUid": "u", "url": f"{BASE}b", "status": 200, "headers": []}
    first, end, second, response = asked(scene, reply, url=f"{BASE}a", method="POST", postData="YQ==")
    assert (first.url, first.post, end.request) == (f"{BASE}a", b"a", first.request)
    assert (second.url, second.method, second.redirect_from, response.request) == (
        f"{BASE}b",
        "GET",
        first.request,
        second.request,
    )
    assert scene.driver.gaps == [("network", "redirect.unseen")]


def test_a_request_that_fails() -> None:
    _, failed = asked(Scene(), OSError("connect ECONNREFUSED\nCall log"), url=BASE)
    assert isinstance(failed, requests.Failed)
    assert failed.error == "connect ECONNREFUSED"


@pytest.mark.parametrize(
    ("method", "kind"),
    [
        ("Input.insertText", "input"), ("Fetch.fulfillRequest", "network"), ("Page.navigate", "navigate"),
        ("Page.navigateToHistoryEntry", "navigate"), ("Runtime.callFunctionOn", "script"),
        ("Target.createTarget", "target"), ("Network.loadNetworkResource", "request"),
        ("Network.setCookies", "state"), ("Emulation.setScriptExecutionDisabled", "state"),
        ("Network.getResponseBody", None), ("DOM.querySelector", None), ("Page.captureScreenshot", None),
    ],
)  # fmt: skip
def test_kinds_of_cdp(method: str, kind: str | None) -> None:
    assert cdp_kind(method) == kind


@pytest.mark.parametrize(
    ("name", "params", "is_blind"),
    [
        ("Emulation.setScriptExecutionDisabled", {"value": True}, True),
        ("Emulation.setScriptExecutionDisabled", {"value": False}, False),
        ("Browser.newContext", {"javaScriptEnabled": False}, True),
        ("Browser.newContext", {}, False),
        ("Emulation.setDeviceMetricsOverride", {"value": True}, False),
    ],
)
def test_commands_that_turn_scripts_off(name: str, params: dict[str, Any], is_blind: bool) -> None:
    assert blinds(name, params) is is_blind


def test_kinds_of_the_driver_are_known() -> None:
    assert set(DRIVER_KINDS.values()) == {
        "input",
        "target",
        "request",
        "script",
        "network",
        "state",
        "navigate",
    }


# In the session


def promised(new_driver: Any) -> Any:
    driver = new_driver()
    driver.session._run_ending.owes = Header(channels={}, witnesses=("commands",)).witnesses
    return driver.open()


def test_commands_are_written_and_counted(new_driver: Any) -> None:
    driver = promised(new_driver)
    driver.feed(Commanded(at=5, page=0, kind="input", name="Frame.click", selector="#b"))
    driver.feed(Witnessed(at=6, witness="commands")).end()
    assert driver.of(Command) == [
        Command(t=5, page=0, origin="driver", kind="input", name="Frame.click", selector="#b")
    ]
    (proof,) = driver.of(Proof)
    assert (proof.closed, proof.lacks, proof.counts) == (True, (), {"input": 1})


@pytest.mark.parametrize("said", [(), (Witnessed(at=6, witness="commands", lacks=("target.unrecorded",)),)])
def test_a_witness_that_is_silent_or_lacks_something_proves_nothing(new_driver: Any, said: Any) -> None:
    driver = promised(new_driver).feed(*said).end()
    (proof,) = driver.of(Proof)
    assert not proof.closed


def test_commands_of_before_and_after_the_run_are_not_the_agents(driver: Any) -> None:
    driver.end().feed(Commanded(at=driver.now, kind="input", name="Frame.click"))
    assert driver.of(Command) == []


def test_an_answer_of_the_agent_before_and_after_report_of_the_request(driver: Any) -> None:
    about = {"page": 0, "method": "GET", "resource": "script"}
    driver.feed(
        requests.Requested(at=1, request="a", url=f"{BASE}a", **about),
        Answered(at=2, url=f"{BASE}a", method="GET"),
    )
    driver.feed(
        Answered(at=4, url=f"{BASE}b", method="GET"),
        requests.Requested(at=3, request="b", url=f"{BASE}b", **about),
    )
    driver.feed(
        Answered(at=4, url=f"{BASE}c", method="GET"),
        requests.Requested(at=9, request="c", url=f"{BASE}c", **about),
    )
    for name in "abc":
        driver.feed(requests.Finished(at=10, request=name))
    assert [one.source for one in driver.of(Exchange)] == ["agent", "agent", None]


def test_a_document_that_the_agent_wrote_lasts_until_the_next(driver: Any) -> None:
    driver.feed(Commanded(at=1, page=0, kind="navigate", name="Frame.setContent", forges="document"))
    driver.click(at=100).push("rest", "own", at=200)
    driver.navigate(f"{BASE}b", 2000)
    driver.push("rest", "theirs", at=2100)
    driver.wait(3000).end()
    assert [one.source for one in driver.of(Observation) if one.role == "after"][:1] == ["agent"]
    assert driver.looks("final")[-1].source is None
    assert not [gap for gap in driver.of(Gap) if gap.channel == "actions"]
