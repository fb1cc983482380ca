"""Requests of a tab: hops, wire headers, bodies, sockets."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import Input
from replaykit.recorder.session.request_messages import (
    Failed,
    Finished,
    HandshakeSent,
    Requested,
    Responded,
    WebSocketMessage,
)

EPOCH = 1_000.0
URL = "http://shop.test/a"


def tab(actor: str = "agent") -> CdpTab:
    made = CdpTab(0, Clock(wall=lambda: EPOCH, ticks=lambda: 0.0), actor=actor)
    made.seat({"frame": {"id": "M", "loaderId": "L0", "url": "about:blank"}})
    return made


def receive(tab: CdpTab, *events: tuple[str, dict[str, Any]]) -> list[Input]:
    return [item for method, params in events for item in tab.translate(f"Network.{method}", params)]


def sent(url: str = URL, at: float = 0.0, **more: Any) -> tuple[str, dict[str, Any]]:
    request = {"url": url, "method": "GET", "headers": {"Accept": "*/*"}, **more.pop("request", {})}
    params = {"requestId": "1", "loaderId": "L0", "frameId": "M", "type": "Fetch", "request": request}
    return "requestWillBeSent", {**params, "wallTime": EPOCH + at, "timestamp": 50 + at, **more}


def response(**more: Any) -> dict[str, Any]:
    headers = {"Content-Type": "text/html"}
    return {"status": 200, "statusText": "OK", "headers": headers, "mimeType": "text/html", **more}


def answered(at: float = 0.01, *, has_extra: bool = False, **more: Any) -> tuple[str, dict[str, Any]]:
    params = {"requestId": "1", "timestamp": 50 + at, "response": response(**more), "hasExtraInfo": has_extra}
    return "responseReceived", params


def over(at: float = 0.02, size: int = 9) -> tuple[str, dict[str, Any]]:
    return "loadingFinished", {"requestId": "1", "timestamp": 50 + at, "encodedDataLength": size}


ABORTED = (
    "loadingFailed",
    {"requestId": "1", "timestamp": 50.1, "errorText": "net::ERR_ABORTED", "blockedReason": ""},
)
WIRE = ("requestWillBeSentExtraInfo", {"requestId": "1", "headers": {"Cookie": "a=1"}})
WIRE_BACK = (
    "responseReceivedExtraInfo",
    {"requestId": "1", "headers": {"Set-Cookie": "b=2\nc=3"}, "statusCode": 200},
)


def test_request_from_start_to_end() -> None:
    requested, responded, finished = receive(tab(), sent(), answered(), over())
    assert requested == Requested(
        at=0,
        request="1",
        page=0,
        method="GET",
        url=URL,
        headers=(("Accept", "*/*"),),
        resource="fetch",
        initiator="other",
    )
    assert isinstance(responded, Responded)
    assert (round(responded.at), responded.status, responded.mime) == (10, 200, "text/html")
    assert isinstance(finished, Finished)
    assert (round(finished.at), finished.encoded_size) == (20, 9)


@pytest.mark.parametrize(
    "order",
    [
        (sent(), WIRE, WIRE_BACK, answered(has_extra=True), over()),
        (sent(), answered(has_extra=True), WIRE, WIRE_BACK, over()),
        (sent(), answered(has_extra=True), WIRE_BACK, WIRE, over()),
        (WIRE, WIRE_BACK, sent(), answered(has_extra=True), over()),
    ],
)
def test_wire_headers_come_before_or_after(order: tuple[Any, ...]) -> None:
    found = receive(tab(), *order)
    assert [type(item) for item in found] == [Requested, Responded, Finished]
    assert isinstance(found[1], Responded)
    assert found[1].request_headers == (("Cookie", "a=1"),)
    assert found[1].headers == (("Set-Cookie", "b=2"), ("Set-Cookie", "c=3"))


def test_response_does_not_wait_for_ever() -> None:
    found = receive(tab(), sent(), answered(has_extra=True), over())
    assert isinstance(found[1], Responded)
    assert found[1].headers == (("Content-Type", "text/html"),)
    assert found[1].request_headers is None


def test_response_of_a_document_is_reported_before_its_commit() -> None:
    one = tab()
    receive(one, sent(requestId="L1", loaderId="L1", type="Document"))
    receive(
        one,
        (
            "responseReceived",
            {"requestId": "L1", "timestamp": 51, "response": response(), "hasExtraInfo": True},
        ),
    )
    found = list(one.translate("Page.frameNavigated", {"frame": {"id": "M", "loaderId": "L1", "url": URL}}))
    assert isinstance(found[0], Responded)
    assert found[1].request == "L1"  # type: ignore[union-attr]
    assert one.network.documents["L1"] == (200, ())


def test_every_redirect_is_a_request_of_its_own() -> None:
    moved = response(status=302, headers={"Location": "/b"}, encodedDataLength=77)
    found = receive(
        tab(), sent(), sent("http://shop.test/b", 0.005, redirectResponse=moved), answered(), over()
    )
    assert [(type(item), item.request) for item in found if hasattr(item, "request")] == [
        (Requested, "1"),
        (Responded, "1"),
        (Finished, "1"),
        (Requested, "1#1"),
        (Responded, "1#1"),
        (Finished, "1#1"),
    ]
    assert isinstance(found[1], Responded)
    assert isinstance(found[3], Requested)
    assert (found[1].status, found[3].redirect_from) == (302, "1")


def test_hops_get_their_own_wire_headers() -> None:
    moved = response(status=302, headers={})
    second_wire = ("requestWillBeSentExtraInfo", {"requestId": "1", "headers": {"Cookie": "second"}})
    found = receive(
        tab(),
        sent(),
        sent("http://shop.test/b", redirectResponse=moved, redirectHasExtraInfo=True),
        WIRE,
        WIRE_BACK,
        answered(has_extra=True),
        second_wire,
        WIRE_BACK,
        over(),
    )
    wires = {item.request: item.request_headers for item in found if isinstance(item, Responded)}
    assert wires == {"1": (("Cookie", "a=1"),), "1#1": (("Cookie", "second"),)}


def of_worker(event: tuple[str, dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    method, params = event
    return method, {**params, "requestId": "F0D4B1"}


def moved(location: str, status: int = 302) -> tuple[str, dict[str, Any]]:
    params = {"requestId": "F0D4B1", "headers": {"Location": location}, "statusCode": status}
    return "responseReceivedExtraInfo", params


SCRIPT = of_worker(sent(type="Script"))


@pytest.mark.parametrize("is_early", [False, True], ids=["after the start", "before the start"])
def test_redirects_of_a_worker_s_script_are_those_on_the_wire(is_early: bool) -> None:
    wire, back = of_worker(WIRE), of_worker(WIRE_BACK)
    headers = [wire, moved("/b?c"), wire, moved("//else.test/d", 308), wire, back]
    found = receive(tab(), *([*headers, SCRIPT] if is_early else [SCRIPT, *headers]))
    requests = [item for item in found if isinstance(item, Requested)]
    assert [(one.url, one.request, one.redirect_from) for one in requests] == [
        (URL, "F0D4B1", None),
        ("http://shop.test/b?c", "F0D4B1#1", "F0D4B1"),
        ("http://else.test/d", "F0D4B1#2", "F0D4B1#1"),
    ]
    statuses = {item.request: item.status for item in found if isinstance(item, Responded)}
    assert statuses == {"F0D4B1": 302, "F0D4B1#1": 308, "F0D4B1#2": 200}


@pytest.mark.parametrize("answer", [of_worker(WIRE_BACK), moved("", 302), moved("/b", 304), moved("/b", 200)])
def test_an_answer_that_leads_nowhere_is_no_redirect_of_a_script(answer: tuple[str, dict[str, Any]]) -> None:
    found = receive(tab(), SCRIPT, of_worker(WIRE), answer, of_worker(WIRE))
    assert [item.url for item in found if isinstance(item, Requested)] == [URL]


def test_redirects_of_other_scripts_are_those_that_are_reported() -> None:
    events = [sent(type="Script"), WIRE, moved("/b"), WIRE]
    of_page = [(method, {**params, "requestId": "7.1"}) for method, params in events]
    assert [item.url for item in receive(tab(), *of_page) if isinstance(item, Requested)] == [URL]


def test_failure() -> None:
    _, last = receive(tab(), sent(), ABORTED)
    assert isinstance(last, Failed)
    assert last.error == "net::ERR_ABORTED"


def test_a_response_that_the_page_was_not_given_has_its_status() -> None:
    _, responded, failed = receive(tab(), sent(), WIRE, WIRE_BACK, ABORTED)
    assert isinstance(responded, Responded) and isinstance(failed, Failed)
    assert (responded.status, responded.headers) == (200, (("Set-Cookie", "b=2"), ("Set-Cookie", "c=3")))


def test_a_response_is_reported_once() -> None:
    found = receive(tab(), sent(), answered(has_extra=True), WIRE, WIRE_BACK, ABORTED)
    assert [type(one) for one in found] == [Requested, Responded, Failed]


@pytest.mark.parametrize(
    ("request_", "post"),
    [
        ({"postDataEntries": [{"bytes": base64.b64encode(b"\xff\0").decode()}], "postData": "?"}, b"\xff\0"),
        ({"postData": "a=1"}, b"a=1"),
        ({}, None),
    ],
)
def test_request_body(request_: dict[str, Any], post: bytes | None) -> None:
    (requested,) = receive(tab(), sent(request={**request_, "hasPostData": True}))
    assert isinstance(requested, Requested)
    assert (requested.post, requested.has_post) == (post, True)


def test_timing_is_ms_since_start() -> None:
    timing = {"requestTime": 50.001, "sendStart": 1.0, "sendEnd": 2.0}
    found = receive(tab(), sent(), answered(timing=timing))
    assert isinstance(found[1], Responded)
    assert (round(found[1].sent_at or 0, 3), round(found[1].waited_at or 0, 3)) == (2, 3)


def test_requests_of_a_probe_say_so_and_have_no_page() -> None:
    (requested,) = receive(tab("probe"), sent())
    assert isinstance(requested, Requested)
    assert (requested.actor, requested.page) == ("probe", None)


def frame(payload: str, opcode: int = 1) -> dict[str, Any]:
    return {"requestId": "1", "timestamp": 50.2, "response": {"opcode": opcode, "payloadData": payload}}


OPENED = ("webSocketCreated", {"requestId": "1", "url": "ws://shop.test/"})


def test_messages_of_a_socket_are_reported() -> None:
    found = receive(
        tab(),
        OPENED,
        (
            "webSocketHandshakeResponseReceived",
            {"requestId": "1", "timestamp": 50.1, "response": response(status=101)},
        ),
        ("webSocketFrameReceived", frame("héllo")),
        ("webSocketFrameSent", frame(base64.b64encode(b"1234").decode(), 2)),
        ("webSocketClosed", {"requestId": "1", "timestamp": 50.3}),
    )
    assert [type(item) for item in found] == [
        Requested,
        Responded,
        WebSocketMessage,
        WebSocketMessage,
        Finished,
    ]
    messages = [(one.is_sent, one.text, one.size) for one in found if isinstance(one, WebSocketMessage)]
    assert messages == [(False, "héllo", 6), (True, None, 4)]


def test_handshake_of_a_socket_is_reported_also_without_an_answer() -> None:
    asked = {"headers": {"Sec-WebSocket-Protocol": "badge, chat"}}
    _, sent = receive(
        tab(),
        OPENED,
        ("webSocketWillSendHandshakeRequest", {"requestId": "1", "timestamp": 50.1, "request": asked}),
    )
    assert isinstance(sent, HandshakeSent)
    assert (sent.request, sent.headers) == ("1", (("Sec-WebSocket-Protocol", "badge, chat"),))


def test_a_web_transport_is_a_request_whose_content_is_unknown() -> None:
    asked, answered, over = receive(
        tab(),
        ("webTransportCreated", {"transportId": "1", "url": "https://shop.test/t", "timestamp": 50.0}),
        ("webTransportConnectionEstablished", {"transportId": "1", "timestamp": 50.1}),
        ("webTransportClosed", {"transportId": "1", "timestamp": 50.3}),
    )
    assert isinstance(asked, Requested)
    assert (asked.method, asked.url, asked.has_post) == ("CONNECT", "https://shop.test/t", True)
    assert (isinstance(answered, Responded), isinstance(over, Finished)) == (True, True)


def test_what_goes_over_a_socket_opened_unseen_is_a_gap() -> None:
    late = tab()
    assert receive(late, ("webSocketFrameSent", frame("x")), ("webSocketFrameSent", frame("y"))) == []
    assert [gap[:3] for gap in late.gaps] == [("network", "socket.late", 1)]


def test_body_belongs_to_the_tab_that_asked_for_it() -> None:
    one, other = tab(), tab()
    receive(one, sent())
    assert one.network.owner("1") == ()
    assert other.network.owner("1") is None


def test_response_to_nothing_is_nothing() -> None:
    assert receive(tab(), answered(), over(), WIRE) == []


FRAME = {"sessionId": "S", "targetInfo": {"type": "iframe", "targetId": "F", "parentFrameId": "M"}}
WORKER = {"sessionId": "W", "targetInfo": {"type": "worker", "targetId": "T", "parentFrameId": "F"}}


def below(page: CdpTab, *events: tuple[str, dict[str, Any]], via: tuple[str, ...] = ("S",)) -> list[Input]:
    return [item for method, params in events for item in page.translate(f"Network.{method}", params, via)]


def with_targets() -> CdpTab:
    page = tab()
    for params in (FRAME, WORKER):
        list(page.translate("Target.attachedToTarget", params))
    for target in page.targets.values():
        page.meet(target)
    return page


def test_document_that_is_given_to_another_process_is_one_request() -> None:
    page = with_targets()
    document = {"requestId": "L9", "loaderId": "L9", "frameId": "F", "type": "Document"}
    found = receive(page, sent(**document), ("responseReceived", {**answered()[1], "requestId": "L9"}))
    found += below(page, ("loadingFinished", {**over()[1], "requestId": "L9"}))
    assert [type(item) for item in found] == [Requested, Responded, Finished]
    assert isinstance(found[0], Requested)
    assert found[0].frame == (0,)
    # Whoever reported the end has the body.
    assert page.network.owner("L9") == ("S",)


def test_document_without_a_reported_end_ends_when_it_is_there() -> None:
    page = with_targets()
    receive(page, sent(requestId="L9", loaderId="L9", frameId="F", type="Document"))
    page.targets["S",].loader = "L9"
    found = list(page.translate("Page.domContentEventFired", {"timestamp": 1}, ("S",)))
    assert [type(item) for item in found] == [Finished]
    assert list(page.translate("Page.domContentEventFired", {"timestamp": 1}, ("S",))) == []


def test_requests_of_a_target_wait_until_its_frames_are_known() -> None:
    page = tab()
    list(page.translate("Target.attachedToTarget", FRAME))
    assert below(page, sent(frameId="DEEP")) == []
    page.frames.attach("DEEP", "F")
    page.meet(page.targets["S",])
    (requested,) = page.found
    assert isinstance(requested, Requested)
    assert requested.frame == (0, 0)


def test_request_of_a_worker_is_of_the_frame_that_holds_it() -> None:
    page = with_targets()
    (requested,) = below(page, sent(frameId=None), via=("W",))
    assert isinstance(requested, Requested)
    assert requested.frame == (0,)
    assert page.network.owner("1") == ("W",)


def test_what_began_before_anybody_listened_is_a_gap() -> None:
    page = with_targets()
    below(page, sent("http://a.test/seen"), answered(), over())
    assert [gap[:3] for gap in page.gaps] == []
    for end in (answered(), over(), ABORTED):
        page.gaps.clear()
        unknown = {**end[1], "requestId": f"unknown {end[0]}"}
        below(page, (end[0], unknown))
        below(page, (over()[0], unknown))
        assert [gap[:3] for gap in page.gaps] == [("network", "target.late", 1)]
    late = page.network.late(("S",), ["http://a.test/seen", "http://a.test/lost", "data:,x"])
    assert late == 1


@pytest.mark.parametrize(
    ("group", "statuses", "gaps"),
    [
        ("d", ["Queued", "Pending", "Success"], 1),
        ("d", ["Queued", "Pending", "Queued", "Pending"], 2),
        # It has no endpoint, and the browser tries it in vain.
        ("other", ["Queued", "Pending", "Queued", "Pending"], 0),
        # Its endpoint was there before the recorder.
        ("other", ["Pending", "Success"], 1),
    ],
)
def test_report_that_the_browser_sends_by_itself_is_a_gap(group: str, statuses: list[str], gaps: int) -> None:
    page = tab()
    endpoints = [{"url": "https://evil.test/collect", "groupName": "d"}]
    receive(
        page, ("reportingApiEndpointsChangedForOrigin", {"origin": "https://a.test", "endpoints": endpoints})
    )
    for status in statuses:
        report = {"initiatorUrl": "https://a.test/x?y", "destination": group, "status": status}
        receive(page, ("reportingApiReportUpdated", {"report": report}))
    assert [gap[:2] for gap in page.gaps] == [("network", "report.unseen")] * gaps
