"""Commands as generators: which effects they ask for, and what comes of the answers."""

from __future__ import annotations

import base64
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.bundle.writer import journal_frame
from replaykit.recorder.browser import screenshots
from replaykit.recorder.browser.command_effects import (
    CallMethod,
    CloseProbeTab,
    CommandRefused,
    Effect,
    Job,
    OpenTab,
    Sleep,
    Work,
)
from replaykit.recorder.browser.screenshots import DecodedCaptures
from replaykit.recorder.browser.session_commands import Command, Commands
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.page.page_script import API, WORLD, PagePush
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    Close,
    FetchBody,
    Http,
    Open,
    Pause,
    Post,
    ReadPage,
    Screenshot,
)
from replaykit.recorder.session.outbox import Blob
from replaykit.tasks.checks import ProbeRead
from replaykit.trajectory.observation import Hit, Prep, Read
from replaykit.trajectory.scalars import Threw

Answer = Callable[[Effect], Any]


class Hands:
    """A clock that every sleep turns on."""

    def __init__(self) -> None:
        self.ms = 0.0
        self.clock = Clock(wall=lambda: 1000.0, ticks=lambda: self.ms / 1000)


def tab(hands: Hands | None = None, **options: Any) -> CdpTab:
    made = CdpTab(0, (hands or Hands()).clock, **options)
    made.seat({"frame": {"id": "M", "loaderId": "L0", "url": "http://x.test/"}})
    for number, name in ((1, ""), (2, WORLD)):
        about = {"isDefault": name == "", "frameId": "M"}
        made.note(
            "Runtime.executionContextCreated", {"context": {"id": number, "name": name, "auxData": about}}
        )
    return made


def carry(command: Command, answer: Answer, *tabs: CdpTab, hands: Hands | None = None) -> Job:
    """Carry a command out; `answer` performs the effects."""
    job = Job(Commands({one.page: one for one in tabs}, (hands or Hands()).clock).start(command))
    effect = job.step()
    while effect is not None:
        try:
            result = answer(effect)
        except CommandRefused as refused:
            effect = job.step(refused=refused)
        else:
            effect = job.step(result)
    return job


def says(value: Any) -> Answer:
    """Every evaluation gives this value."""

    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        assert effect.method == "Runtime.evaluate"
        return {"result": {"value": value}}

    return answer


def throws(details: dict[str, Any]) -> Answer:
    return lambda effect: {"result": {}, "exceptionDetails": details}


def refuses(word: str) -> Answer:
    def answer(effect: Effect) -> Any:
        raise CommandRefused(word)

    return answer


def never(effect: Effect) -> Any:
    raise AssertionError(f"asked for {effect}")


PUSH = json.dumps({"k": "push", "seq": 1, "at": 0, "purpose": "final", "snapshot": "{}", "viewport": [8, 6]})


def test_snapshot() -> None:
    one = tab()
    asked: list[CallMethod] = []

    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        asked.append(effect)
        return {"result": {"value": PUSH}}

    job = carry(ReadPage(id=1, page=0, what="snapshot", args=("asked",)), answer, one)
    assert isinstance(job.value, PagePush)
    assert asked[0].params["contextId"] == 2
    assert asked[0].params["expression"] == f'{API}.push("asked")'
    assert one.viewport == (8, 6)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (says("not json"), "failed"),
        (says(None), "failed"),
        (throws({"text": "x"}), "failed"),
        (refuses("timeout"), "timeout"),
        (refuses("gone"), "gone"),
    ],
)
def test_snapshot_that_does_not_come(answer: Answer, error: str) -> None:
    job = carry(ReadPage(id=1, page=0, what="snapshot", args=("rest",)), answer, tab())
    assert (job.value, job.error) == (None, error)


@pytest.mark.parametrize(
    "command", [ReadPage(id=1, page=0, what="snapshot", args=("rest",)), Screenshot(id=1, page=0)]
)
def test_page_behind_a_dialog_is_not_asked(command: Command) -> None:
    one = tab()
    one.has_dialog = True
    assert carry(command, never, one).error == "dialog_open"


@pytest.mark.parametrize(
    "command",
    [ReadPage(id=1, page=0, what="snapshot", args=("rest",)), Screenshot(id=1, page=0), Close(id=1, page=0)],
)
def test_tab_that_is_gone_is_not_asked(command: Command) -> None:
    one = tab()
    one.is_gone = True
    assert carry(command, never, one).error == "gone"
    assert carry(command, never).error == "gone"


def test_document_replaced_while_it_was_asked() -> None:
    one = tab()

    def answer(effect: Effect) -> Any:
        one.note("Runtime.executionContextsCleared", {})
        raise CommandRefused("failed")

    assert carry(ReadPage(id=1, page=0, what="snapshot", args=("rest",)), answer, one).error == "gone"


def test_reads() -> None:
    wanted = (
        ProbeRead(locator="a", script="document.title"),
        ProbeRead(locator="b", selector="#x", property="text"),
        ProbeRead(locator="c", selector="p"),
    )
    answers = iter(
        [
            json.dumps({"kind": "string", "value": "T"}),
            json.dumps({"kind": "number", "special": "nan"}),
            json.dumps([{"number": 4, "attributes": {"id": "x"}}]),
        ]
    )
    asked: list[str] = []

    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        asked.append(effect.params["expression"])
        return {"result": {"value": next(answers)}}

    job = carry(ReadPage(id=1, page=0, what="reads", args=wanted), answer, tab())
    assert job.value == [
        Read(locator="a", kind="string", value="T"),
        Read(locator="b", kind="number", special="nan"),
        Read(locator="c", kind="hits", hits=(Hit(number=4, attributes={"id": "x"}),)),
    ]
    assert asked[0] == f"{API}.classify(() => (\ndocument.title\n))"
    assert asked[1] == f'{API}.property("#x", "text")'
    assert asked[2] == f'{API}.hits("p")'


def test_what_a_page_throws_is_a_value() -> None:
    details = {
        "text": "Uncaught",
        "exception": {"className": "TypeError", "description": "TypeError: no\n  at x"},
    }
    job = carry(ReadPage(id=1, page=0, what="reads", args=(ProbeRead(locator="a"),)), throws(details), tab())
    assert job.value == [Read(locator="a", kind="exception", threw=Threw(name="TypeError", message="no"))]


def test_preparing_scripts_run_in_the_page_s_own_world() -> None:
    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        assert effect.params["contextId"] == 1
        is_bad = effect.params["expression"] == "bad()"
        thrown = {"exceptionDetails": {"text": "x", "exception": {"value": "plain"}}}
        return {"result": {}} | (thrown if is_bad else {})

    job = carry(ReadPage(id=1, page=0, what="prep", args=("good()", "bad()")), answer, tab())
    assert job.value == [
        Prep(source="good()"),
        Prep(source="bad()", threw=Threw(name="Error", message="plain")),
    ]


def png(width: int, height: int, kind: int = 2) -> str:
    """A screenshot as the browser makes them: rows with filter 2."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, kind, 0, 0, 0])
    rows = b"".join(b"\2" + (b"\xff" if row == 0 else b"\0") * 3 * width for row in range(height))
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def camera(image: str, asked: list[CallMethod]) -> Answer:
    def answer(effect: Effect) -> Any:
        if isinstance(effect, Work):
            return effect.run()
        assert isinstance(effect, CallMethod)
        asked.append(effect)
        if effect.method in ("Runtime.evaluate", "Page.getFrameTree"):
            asked.remove(effect)
            return {"result": {"value": True}}
        if effect.method == "Page.getLayoutMetrics":
            return {"cssVisualViewport": {"pageX": 5, "pageY": 7, "clientWidth": 4000, "clientHeight": 4000}}
        return {"data": image}

    return answer


def test_screenshot_is_its_pixels() -> None:
    asked: list[CallMethod] = []
    job = carry(Screenshot(id=1, page=0), camera(png(3, 2), asked), tab())
    image = Blob.of("image/x-portable-pixmap", b"P6\n3 2\n255\n" + b"\xff" * 18)
    assert (replace(job.value[0], frame=b""), *job.value[1:]) == (image, 1.0, 0)
    assert job.value[0].frame == journal_frame(image.id, image.media_type, image.data)
    assert asked[0].params == {"format": "png", "optimizeForSpeed": True}


def test_a_document_that_is_known_to_have_drawn_is_not_asked() -> None:
    def answer(effect: Effect) -> Any:
        assert not isinstance(effect, CallMethod) or effect.method != "Runtime.evaluate"
        return camera(png(3, 2), [])(effect)

    assert carry(Screenshot(id=1, page=0, is_painted=True), answer, tab()).error is None


def test_equal_captures_are_decoded_once_and_different_boxes_are_not_mixed_up() -> None:
    captures = DecodedCaptures()
    first, box = captures.decoded(png(9, 9), (), 1.0), (0, 0, 1, 1)
    assert captures.decoded(png(9, 9), (), 1.0) is first
    assert captures.decoded(png(9, 9), (box,), 1.0).data != first.data
    assert captures.decoded(png(9, 9), (box,), 2.0).id != captures.decoded(png(9, 9), (box,), 1.0).id
    assert captures.decoded(png(9, 9), (), 1.0) is first


def test_screenshots_are_forgotten_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screenshots, "KEPT_MAX", 30)
    captures = DecodedCaptures()
    first = captures.decoded(png(3, 2), (), 1.0)
    captures.decoded(png(2, 3), (), 1.0)
    again = captures.decoded(png(3, 2), (), 1.0)
    assert again == first and again is not first


def test_secrets_are_painted_over_and_what_cannot_be_painted_is_not_kept() -> None:
    box = (0, 0, 1, 1)
    painted = carry(Screenshot(id=1, page=0, paint=(box,)), camera(png(9, 9), []), tab())
    assert painted.value[0].data.count(b"\xff") == (81 - 25) * 3
    other = carry(Screenshot(id=1, page=0, paint=(box,)), camera(png(3, 2, kind=0), []), tab())
    assert other.error == "failed"
    kept = carry(Screenshot(id=1, page=0), camera(png(3, 2, kind=0), []), tab())
    assert kept.value[0].media_type == "image/png"


def test_huge_page_is_taken_smaller() -> None:
    one, asked = tab(), []
    one.viewport = (4000, 4000)
    job = carry(Screenshot(id=1, page=0), camera(png(1, 1), asked), one)
    clip = asked[1].params["clip"]
    assert clip == {"x": 5, "y": 7, "width": 4000, "height": 4000, "scale": job.value[1]}
    assert job.value[1] == pytest.approx((8 / 16) ** 0.5)


def test_capture_that_does_not_come_is_asked_for_twice() -> None:
    waits: list[float] = []

    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        if effect.method == "Runtime.evaluate":
            return {"result": {"value": True}}
        waits.append(effect.timeout_ms)
        raise CommandRefused("timeout")

    assert carry(Screenshot(id=1, page=0), answer, tab()).error == "timeout"
    assert waits == [1500, 3500]


def test_capture_that_is_refused_is_asked_for_once_more() -> None:
    asked: list[CallMethod] = []
    take = camera(png(3, 2), asked)

    def answer(effect: Effect) -> Any:
        if isinstance(effect, CallMethod) and effect.method == "Page.captureScreenshot" and not asked:
            asked.append(effect)
            raise CommandRefused("failed")
        return take(effect)

    assert carry(Screenshot(id=1, page=0), answer, tab()).error is None
    assert [effect.method for effect in asked] == ["Page.captureScreenshot"] * 2


def test_a_document_that_has_drawn_nothing_gives_no_screenshot() -> None:
    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod) and effect.method == "Runtime.evaluate"
        return {"result": {"value": False}}

    assert carry(Screenshot(id=1, page=0), answer, tab()).error == "gone"


def test_a_screenshot_after_which_another_document_is_reported_is_not_kept() -> None:
    one, asked = tab(), []
    take = camera(png(3, 2), asked)

    def answer(effect: Effect) -> Any:
        if isinstance(effect, CallMethod) and effect.method == "Page.getFrameTree":
            one.document += 1
        return take(effect)

    assert carry(Screenshot(id=1, page=0), answer, one).error == "gone"


def test_capture_of_a_page_that_leaves_is_gone() -> None:
    one = tab()
    started = {
        "frameId": "M",
        "url": "http://y.test/",
        "loaderId": "L1",
        "navigationType": "differentDocument",
    }

    def answer(effect: Effect) -> Any:
        list(one.translate("Page.frameStartedNavigating", started))
        raise CommandRefused("failed")

    assert carry(Screenshot(id=1, page=0), answer, one).error == "gone"


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        ({"body": "é", "base64Encoded": False}, "é".encode()),
        ({"body": base64.b64encode(b"\xff\0").decode(), "base64Encoded": True}, b"\xff\0"),
    ],
)
def test_body(reply: dict[str, Any], body: bytes) -> None:
    one = tab()
    request = {"url": "http://x.test/", "method": "GET", "headers": {}}
    sent = {"requestId": "7", "request": request, "wallTime": 1000, "timestamp": 1}
    list(one.translate("Network.requestWillBeSent", sent))

    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        assert effect.params == {"requestId": "7"}
        return reply

    assert carry(FetchBody(id=1, request="7"), answer, one).value == body
    assert carry(FetchBody(id=1, request="7"), refuses("failed"), one).error == "gone"
    assert carry(FetchBody(id=1, request="8"), never, one).error == "gone"


def _asking(reply: dict[str, Any]) -> Job:
    one = tab()
    request = {"url": "http://x.test/", "method": "POST", "headers": {}}
    sent = {"requestId": "7", "request": request, "wallTime": 1000, "timestamp": 1}
    list(one.translate("Network.requestWillBeSent", sent))

    def answer(effect: Effect) -> Any:
        assert isinstance(effect, CallMethod)
        assert (effect.method, effect.params) == ("Network.getRequestPostData", {"requestId": "7"})
        return reply

    return carry(Post(id=1, request="7"), answer, one)


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        ({"postData": "é\ufffd", "base64Encoded": False}, "é\ufffd".encode()),
        ({"postData": base64.b64encode(b"\xff\0").decode(), "base64Encoded": True}, b"\xff\0"),
        ({"postData": "plain"}, b"plain"),
    ],
)
def test_body_of_a_request(reply: dict[str, Any], body: bytes) -> None:
    assert _asking(reply).value == body


def test_a_browser_that_cannot_give_bytes_gives_none() -> None:
    assert _asking({"postData": "\ufffd\0"}).error == "failed"


def test_pause() -> None:
    slept: list[Effect] = []
    carry(Pause(id=1, ms=40), slept.append)
    assert slept == [Sleep(ms=40)]


class Visit:
    """A browser that opens a probe tab whose page is quiet after a while."""

    def __init__(self, *, quiet_after: float = 0, reply: dict[str, Any] | None = None) -> None:
        self.hands = Hands()
        self.hands.ms = 1000
        self.tab = tab(self.hands, actor="probe")
        self.effects: list[Effect] = []
        self._quiet_after = 1000 + quiet_after
        self._reply = {"frameId": "M", "loaderId": "L1"} if reply is None else reply

    def __call__(self, effect: Effect) -> Any:
        self.effects.append(effect)
        if isinstance(effect, OpenTab):
            return self.tab
        if isinstance(effect, Sleep):
            self.hands.ms += effect.ms
        if isinstance(effect, CallMethod) and effect.method == "Page.navigate":
            self.tab.network.documents["L1"] = (200, ("http://x.test/old",))
            return self._reply
        quiet = max(0, self.hands.ms - self._quiet_after)
        return {"result": {"value": json.dumps({"quiet_ms": quiet, "mutations": 0})}}

    def open(self) -> Job:
        return carry(Open(id=1, url="http://x.test/"), self, hands=self.hands)


def test_probe_waits_for_rest() -> None:
    visit = Visit(quiet_after=300)
    value = visit.open().value
    assert value["settled"]
    assert visit.hands.ms >= 1800
    assert (value["status"], value["redirects"], value["error"]) == (200, ["http://x.test/old"], None)


def test_page_that_never_rests_is_read_as_it_is() -> None:
    visit = Visit(quiet_after=1e9)
    assert visit.open().value["settled"] is False
    assert visit.hands.ms == pytest.approx(11_000, abs=100)


def test_failed_probe_closes_its_tab() -> None:
    visit = Visit(reply={"frameId": "M", "errorText": "net::ERR_CONNECTION_REFUSED"})
    value = visit.open().value
    assert (value["error"], value["settled"]) == ("net::ERR_CONNECTION_REFUSED", False)
    assert visit.effects[-1] == CloseProbeTab(tab=visit.tab)


def test_probe_tab_is_used_again() -> None:
    visit = Visit()
    carry(Open(id=1, url="http://x.test/"), visit, visit.tab, hands=visit.hands)
    assert not any(isinstance(effect, OpenTab) for effect in visit.effects)


@pytest.fixture
def api() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/found"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.end_headers()
            self.wfile.write(b'{"a":1}' if found else b"{}")

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def work(effect: Effect) -> Any:
    assert isinstance(effect, Work)
    return effect.run()


def test_api_is_asked_by_a_client_of_its_own(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # never for loopback
    for path, status, body in (("/found", 200, b'{"a":1}'), ("/lost", 404, b"{}")):
        job = carry(Http(id=1, name="n", method="GET", path=api + path), work)
        assert job.value == (status, "application/json", body)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_api_that_cannot_be_asked(url: str) -> None:
    assert carry(Http(id=1, name="n", method="GET", path=url), work).error == "failed"


def test_fault_of_the_recorder_is_kept_for_its_log() -> None:
    def broken(effect: Effect) -> Any:
        return {}  # no result in it: the generator trips over it

    job = carry(ReadPage(id=1, page=0, what="snapshot", args=("rest",)), broken, tab())
    assert job.error == "failed"
    assert isinstance(job.fault, KeyError)
