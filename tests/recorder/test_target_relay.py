from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.target_relay import RECEIVED, SEND, Relay, TargetEvent, TargetReply

SESSIONS = st.lists(st.text(alphabet="ABC", min_size=1, max_size=3), min_size=1, max_size=4).map(tuple)
PARAMS = st.dictionaries(st.text(max_size=4), st.text(max_size=8), max_size=3)


def from_target(via: tuple[str, ...], message: dict[str, Any]) -> dict[str, Any]:
    """Return the message of the page's session about a message of a target."""
    for session in reversed(via):
        params = {"sessionId": session, "message": json.dumps(message)}
        message = {"method": RECEIVED, "params": params}
    return message["params"]


def at_target(params: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the message that reaches a target, and its sessions."""
    via = [params["sessionId"]]
    message = json.loads(params["message"])
    while message["method"] == SEND:
        via.append(message["params"]["sessionId"])
        message = json.loads(message["params"]["message"])
    return tuple(via), message


@given(SESSIONS, PARAMS)
def test_a_request_reaches_its_target_and_its_reply_comes_back(via: tuple[str, ...], params: Any) -> None:
    relay = Relay()
    number, call = relay.ask(via, "Runtime.evaluate", params)
    assert at_target(call) == (via, {"id": number, "method": "Runtime.evaluate", "params": params})
    reply = from_target(via, {"id": number, "result": params})
    assert list(relay.receive(RECEIVED, reply)) == [TargetReply(number=number, result=params)]
    assert list(relay.receive(RECEIVED, reply)) == []


@given(SESSIONS, PARAMS)
def test_an_event_says_which_target_it_is_of(via: tuple[str, ...], params: Any) -> None:
    event = from_target(via, {"method": "Page.frameAttached", "params": params})
    assert list(Relay().receive(RECEIVED, event)) == [
        TargetEvent(via=via, method="Page.frameAttached", params=params)
    ]


def test_an_event_of_the_page_is_its_own() -> None:
    assert list(Relay().receive("Page.x", {"a": 1})) == [
        TargetEvent(via=(), method="Page.x", params={"a": 1})
    ]


def test_a_receipt_on_the_way_is_no_reply_but_a_refusal_is() -> None:
    relay = Relay()
    number, _ = relay.ask(("A", "B"), "Page.enable", {})
    assert list(relay.receive(RECEIVED, from_target(("A",), {"id": number, "result": {}}))) == []
    refusal = from_target(("A",), {"id": number, "error": {"message": "No session"}})
    assert list(relay.receive(RECEIVED, refusal)) == [TargetReply(number=number)]


def test_a_target_that_is_gone_is_not_waited_for() -> None:
    relay = Relay()
    first, _ = relay.ask(("A",), "Page.enable", {})
    below, _ = relay.ask(("A", "B"), "Page.enable", {})
    other, _ = relay.ask(("C",), "Page.enable", {})
    _, *answers = relay.receive("Target.detachedFromTarget", {"sessionId": "A"})
    assert answers == [TargetReply(number=first), TargetReply(number=below)]
    reply = from_target(("C",), {"id": other, "result": {"x": 1}})
    assert list(relay.receive(RECEIVED, reply)) == [TargetReply(number=other, result={"x": 1})]


def test_a_request_that_was_given_up_gets_no_reply() -> None:
    relay = Relay()
    number, _ = relay.ask(("A",), "Page.enable", {})
    relay.forget(number)
    assert list(relay.receive(RECEIVED, from_target(("A",), {"id": number, "result": {}}))) == []


def test_messages_of_a_page_through_the_browser_are_wrapped_once_more() -> None:
    relay = Relay("P")
    number, call = relay.ask((), "Page.enable", {})
    assert call == {
        "sessionId": "P",
        "message": json.dumps({"id": number, "method": "Page.enable", "params": {}}),
    }
    reply = from_target(("P",), {"id": number, "result": {"x": 1}})
    assert list(relay.receive(RECEIVED, reply)) == [TargetReply(number=number, result={"x": 1})]
    event = from_target(("P", "F"), {"method": "Page.frameAttached", "params": {"y": 2}})
    assert list(relay.receive(RECEIVED, event)) == [
        TargetEvent(via=("F",), method="Page.frameAttached", params={"y": 2})
    ]
    below, call = relay.ask(("F",), "Page.enable", {})
    inner = json.loads(call["message"])
    assert (call["sessionId"], inner["method"], inner["params"]["sessionId"]) == ("P", SEND, "F")
    receipt = from_target(("P",), {"id": below, "result": {}})
    assert list(relay.receive(RECEIVED, receipt)) == []
    reply = from_target(("P", "F"), {"id": below, "result": {}})
    assert list(relay.receive(RECEIVED, reply)) == [TargetReply(number=below, result={})]


@given(SESSIONS, PARAMS, st.sampled_from(["", "P"]))
def test_target_that_the_browser_attached_to_is_asked_through_it(
    via: tuple[str, ...], params: Any, wire: str
) -> None:
    relay = Relay(wire)
    relay.joined.add(via[0])
    number, call = relay.ask(via, "Runtime.evaluate", params)
    assert at_target(call) == (via, {"id": number, "method": "Runtime.evaluate", "params": params})
    reply = from_target(via, {"id": number, "result": params})
    assert list(relay.receive(RECEIVED, reply)) == [TargetReply(number=number, result=params)]
    event = from_target(via, {"method": "Page.frameAttached", "params": params})
    assert list(relay.receive(RECEIVED, event)) == [
        TargetEvent(via=via, method="Page.frameAttached", params=params)
    ]


def test_a_target_that_the_browser_has_let_go_is_not_waited_for() -> None:
    relay = Relay("P")
    relay.joined.add("J")
    number, _ = relay.ask(("J",), "Page.enable", {})
    page, _ = relay.ask((), "Page.enable", {})
    _, *answers = relay.receive("Target.detachedFromTarget", {"sessionId": "J"})
    assert answers == [TargetReply(number=number)]
    reply = from_target(("P",), {"id": page, "result": {}})
    assert list(relay.receive(RECEIVED, reply)) == [TargetReply(number=page, result={})]
