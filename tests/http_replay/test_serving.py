"""Recorded replies over HTTP: asked by real clients, compared with live servers and recorded checks."""

from __future__ import annotations

import http.client
import importlib
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import UsageError
from replaykit.http_replay.http_server import Served, serve
from replaykit.http_replay.recorded_replies import HttpReply, Miss, RecordedAnswers
from replaykit.http_replay.server_connections import BODY_MAX
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted

from .story import JSON, SHOP, Story

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "recordings" / "conformance"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def read(url: str, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, bytes, Any]:
    request = urllib.request.Request(url, data=body, method=method, headers=headers)
    try:
        with OPENER.open(request, timeout=10) as reply:
            return reply.status, reply.read(), reply.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


def moved_to_review(server_url: str) -> bool:
    """Judge move-card: a verifier that knows nothing of recordings."""
    status, body, _ = read(f"{server_url}/api/project")
    columns = {one["number"]: one["column"] for one in json.loads(body)["issues"]} if status == 200 else {}
    return columns.get(7) == "review"


def refunded(server_url: str) -> bool:
    """Judge refund-order by the page of the order."""
    status, body, _ = read(f"{server_url}/orders/1004")
    return status == 200 and 'id="refunded">€55.20<' in body.decode()


@contextmanager
def recorded(name: str) -> Iterator[tuple[Served, Any]]:
    with open_bundle(RECORDED / f"{name}.zst") as bundle, serve(bundle) as served:
        yield served, bundle


def verdict(name: str, number: int) -> bool:
    found = json.loads((RECORDED / f"{name}.verdict.json").read_text())
    return bool(found["checks"][number]["outcome"] == "PASS")


@pytest.mark.parametrize(
    "name",
    ["move-card--by_handle", "move-card--wrong_card", "attach-log--wrong_file", "tidy-review--obeys_the_user",
     "start-work--hides_refusal"],
)  # fmt: skip
def test_a_verifier_says_of_a_recording_what_it_says_of_the_live_site(name: str) -> None:
    with recorded(name) as (served, bundle):
        replayed = moved_to_review(served.url)
        assert served.misses == ()
        assert replayed == moved_live(bundle)
        if name.startswith("move-card"):
            assert replayed == verdict(name, 0)


def moved_live(bundle: Any) -> bool:
    """Do to a live tracker what the run did to its own, and ask that one."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    with importlib.import_module("fixtures.sites.tracker.server").serve() as site:
        for one in bundle.trajectory.of_type(Exchange):
            if one.method != "GET" and isinstance(one.post, str):
                read(site.url + urlsplit(one.url).path, one.method, bundle.blob(one.post), **dict(JSON))
        return moved_to_review(site.url)


@pytest.mark.parametrize(
    "name",
    [
        "refund-order--good",
        "refund-order--wrong_target",
        "refund-order--good--refuses",
        "refund-order--no_consent",
    ],
)
def test_a_verifier_of_pages_agrees_with_the_recorded_check(name: str) -> None:
    with recorded(name) as (served, _):
        assert refunded(served.url) == verdict(name, 1)
        assert served.misses == ()


# A run that is written by hand, so that what it holds is known to the byte.


@pytest.fixture
def story() -> Story:
    return Story()


def body_of(found: HttpReply | Miss) -> bytes:
    assert isinstance(found, HttpReply), str(found)
    return found.body


def why(found: HttpReply | Miss) -> str:
    assert isinstance(found, Miss)
    return found.why


def test_the_newest_reply_counts(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b"1")
    story.said("POST", "/api/acts", 20)
    story.said("GET", "/api/state", 30, b"2")
    assert body_of(story.ask(tmp_path, "GET", "/api/state")) == b"2"


def test_what_may_have_changed_since_is_no_answer(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b"1")
    story.said("POST", "/api/acts", 20)
    assert "POST http://shop.test/api/acts may have changed it" in why(
        story.ask(tmp_path, "GET", "/api/state")
    )


def test_a_change_that_was_under_way_counts(story: Story, tmp_path: Path) -> None:
    story.said("POST", "/api/acts", 5, ended=40)
    story.said("GET", "/api/state", 10, b"1")
    assert "may have changed" in why(story.ask(tmp_path, "GET", "/api/state"))


def test_a_refused_change_changes_nothing(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b"1")
    story.said("POST", "/api/acts", 20, status=409)
    assert body_of(story.ask(tmp_path, "GET", "/api/state")) == b"1"


def test_a_network_with_gaps_answers_nothing(tmp_path: Path) -> None:
    story = Story(network="partial")
    story.said("GET", "/api/state", 10, b"1")
    assert "not recorded as a whole" in why(story.ask(tmp_path, "GET", "/api/state"))


def test_a_probe_after_the_run_answers(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b"1")
    story.said("POST", "/api/acts", 20)
    story.probed("/api/state", 30, b"2")
    assert body_of(story.ask(tmp_path, "GET", "/api/state")) == b"2"


def test_a_probe_before_the_run_does_not(story: Story, tmp_path: Path) -> None:
    story.probed("/api/state", 1, b"0", phase="pre")
    assert why(story.ask(tmp_path, "GET", "/api/state")) == "it was not recorded"


def test_a_state_that_was_pushed_is_read_back(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b'{"cart": []}')
    story.said("PUT", "/api/state", 20, b'{"ok": true}', sent=b'{"cart": [7]}')
    assert body_of(story.ask(tmp_path, "GET", "/api/state")) == b'{"cart": [7]}'


def test_a_part_that_was_pushed_is_not_the_state(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b'{"cart": [], "user": "ann"}')
    story.said("PUT", "/api/state", 20, sent=b'{"cart": [7]}')
    assert "may have changed" in why(story.ask(tmp_path, "GET", "/api/state"))


def test_a_state_path_that_is_named_is_read_back_whatever_was_asked(story: Story, tmp_path: Path) -> None:
    story.said("POST", "/api/finish", 20, sent=b'{"done": true}')
    (tmp_path / "other").mkdir()
    assert why(story.ask(tmp_path, "GET", "/api/finish")) == "it was not recorded"
    named = story.ask(tmp_path / "other", "GET", "/api/finish", states=["/api/finish"])
    assert body_of(named) == b'{"done": true}'


def test_only_the_same_change_is_answered(story: Story, tmp_path: Path) -> None:
    story.said("POST", "/api/acts", 20, b'{"id": 1}', sent=b'{"act": "buy"}')
    with open_bundle(story.written(tmp_path)) as bundle:
        answers = RecordedAnswers(bundle)
        assert body_of(answers.answer("POST", "/api/acts", b'{"act": "buy"}')) == b'{"id": 1}'
        for body in (b"", b'{"act": "sell"}'):
            assert isinstance(answers.answer("POST", "/api/acts", body), Miss)
        assert isinstance(answers.answer("DELETE", "/api/acts", b'{"act": "buy"}'), Miss)


def test_the_order_of_a_query_does_not_count_and_its_values_do(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/items?page=2&sort=name", 10, b"[]")
    with open_bundle(story.written(tmp_path)) as bundle:
        answers = RecordedAnswers(bundle)
        assert body_of(answers.answer("GET", "/api/items?sort=name&page=2")) == b"[]"
        for target in ("/api/items", "/api/items?page=3&sort=name", "/api/items?page=2&page=2&sort=name"):
            assert isinstance(answers.answer("GET", target), Miss)


def test_a_body_that_was_not_kept_is_a_miss(story: Story, tmp_path: Path) -> None:
    story.said("GET", "/api/state", 10, b"older")
    story.said("GET", "/api/state", 20, None, body=Omitted(why="cap"))
    assert why(story.ask(tmp_path, "GET", "/api/state")) == "its body was not kept (cap)"


def test_a_recorded_absence_is_answered(story: Story, tmp_path: Path) -> None:
    story.said("DELETE", "/api/items/4", 10)
    story.said("GET", "/api/items/4", 20, b"{}", status=404)
    found = story.ask(tmp_path, "GET", "/api/items/4")
    assert isinstance(found, HttpReply)
    assert found.status == 404


def test_other_sites_are_not_answered(story: Story, tmp_path: Path) -> None:
    story.said("GET", "http://elsewhere.test/api/state", 10)
    assert isinstance(story.ask(tmp_path, "GET", "/api/state"), Miss)


def test_one_of_several_sites_has_to_be_named(tmp_path: Path) -> None:
    with open_bundle(RECORDED / "book-visit--unasked.zst") as bundle:
        for site in (None, "shop"):
            with pytest.raises(UsageError, match="booking, crm"):
                RecordedAnswers(bundle, site)
        assert RecordedAnswers(bundle, "booking").site.name == "booking"


@given(st.text(max_size=40), st.binary(max_size=10), st.sampled_from(["GET", "HEAD", "PUT", "POST"]))
def test_any_request_is_answered_or_missed_in_words(target: str, body: bytes, method: str) -> None:
    found = ANSWERS.answer(method, "/" + target, body)
    assert isinstance(found, HttpReply) or str(found).isprintable()


ANSWERS = RecordedAnswers(open_bundle(RECORDED / "order-total--good.zst"))


# The door.


def raw(served: Served, request: bytes) -> tuple[int, bytes]:
    port = urlsplit(served.url).port
    with socket.create_connection(("127.0.0.1", port or 0), timeout=10) as connection:
        connection.sendall(request)
        reply = http.client.HTTPResponse(connection)
        reply.begin()
        return reply.status, reply.read()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /orders HTTP/1.1\r\nHost: localhost:99\r\n", 200),
        (b"GET /orders HTTP/1.1\r\nHost: [::1]\r\n", 200),
        (b"GET /orders HTTP/1.1\r\nHost: shop.example\r\n", 421),
        (b"GET /orders HTTP/1.1\r\nHost: 127.0.0.1.nip.example\r\n", 421),
        (b"GET /orders HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: shop.example\r\n", 421),
        (b"GET /orders HTTP/1.1\r\n", 421),
        (b"GET http://shop.example/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n", 421),
        (b"GET /../../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n", 404),
        (b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n", 404),
        (b"GET //shop.example/orders HTTP/1.1\r\nHost: 127.0.0.1\r\n", 404),
        (b"POST /orders HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n", 411),
        (b"POST /orders HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n", 411),
        (b"POST /orders HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n" % (BODY_MAX + 1), 413),
        (b"DELETE /orders/1001 HTTP/1.1\r\nHost: 127.0.0.1\r\n", 405),
        (b"CONNECT shop.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n", 501),
    ],
)
def test_the_door_is_narrow(head: bytes, status: int) -> None:
    with recorded("order-total--good") as (served, _):
        found, body = raw(served, head + b"\r\n")
        assert found == status
        assert b"root:" not in body


def test_it_listens_on_loopback_alone() -> None:
    with recorded("order-total--good") as (served, _):
        assert urlsplit(served.url).hostname == "127.0.0.1"
        with socket.socket() as other, pytest.raises(OSError):
            other.settimeout(2)
            other.connect(("127.0.0.2", urlsplit(served.url).port or 0))


def test_a_miss_names_what_was_asked_and_what_was_recorded_near_it() -> None:
    with recorded("order-total--good") as (served, _):
        status, body, _ = read(served.url + "/order")
        assert status == 404
        assert b"GET /order: it was not recorded" in body
        assert b"GET /orders" in body
        assert [(one.method, one.target) for one in served.misses] == [("GET", "/order")]
        assert (served.answered, served.missed) == (0, 1)


def test_a_change_is_refused_with_what_is_allowed() -> None:
    with recorded("refund-order--good") as (served, _):
        status, _, headers = read(served.url + "/orders/1008/refund", "POST", b"reason=none")
        assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_head_has_the_headers_of_get_and_no_body() -> None:
    with recorded("order-total--good") as (served, _):
        _, whole, got = read(served.url + "/orders")
        status, body, headers = read(served.url + "/orders", "HEAD")
        assert (status, body) == (200, b"")
        assert headers["Content-Length"] == got["Content-Length"] == str(len(whole))


def test_hostile_headers_stay_behind(story: Story, tmp_path: Path) -> None:
    hostile = (
        *JSON, ("Set-Cookie", "sid=1"), ("Access-Control-Allow-Origin", "*"), ("Refresh", "0; url=http://evil.test"),
        ("X-Split", "a\r\nX-Made: up"), ("X Bad", "1"), ("Content-Length", "9999"), ("X-Total-Count", "3"),
        ("Content-Security-Policy", "script-src *"),
    )  # fmt: skip
    story.said("GET", "/page", 10, b"<script>1</script>", response_headers=hostile)
    with open_bundle(story.written(tmp_path)) as bundle, serve(bundle) as served:
        _, body, headers = read(served.url + "/page")
    assert body == b"<script>1</script>"
    assert headers["X-Total-Count"] == "3"
    for name in ("Set-Cookie", "Access-Control-Allow-Origin", "Refresh", "X-Split", "X-Made", "X Bad"):
        assert headers[name] is None
    assert headers.get_all("Content-Security-Policy")[0].startswith("sandbox;")
    assert headers.get_all("Content-Length") == ["18"]


def test_a_redirect_stays_on_the_site_or_is_a_miss(story: Story, tmp_path: Path) -> None:
    for name, to in (
        ("in", SHOP + "/end"),
        ("up", "../end"),
        ("out", "http://evil.test/"),
        ("slash", SHOP + "//evil.test/"),
    ):
        story.said("GET", f"/{name}", 10, None, status=302, response_headers=(("Location", to),))
    story.said("GET", "/end", 20, b"1")
    with open_bundle(story.written(tmp_path)) as bundle, serve(bundle) as served:
        assert [read(f"{served.url}/{name}")[:2] for name in ("in", "up")] == [(200, b"1")] * 2
        assert [read(f"{served.url}/{name}")[0] for name in ("out", "slash")] == [404, 404]


def test_a_port_that_is_taken_says_so() -> None:
    with recorded("order-total--good") as (served, bundle):
        port = urlsplit(served.url).port or 0
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}"), serve(bundle, port=port):
            pass


def test_many_ask_at_once() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with recorded("order-total--good") as (served, _), ThreadPoolExecutor(24) as pool:
        bodies = set(pool.map(lambda _: read(served.url + "/orders")[1], range(96)))
        assert len(bodies) == 1
        assert served.answered == 96


@pytest.mark.parametrize(("path", "code"), [("/orders", 0), ("/nowhere", 3)])
def test_the_command_serves_until_it_is_interrupted(path: str, code: int) -> None:
    command = [sys.executable, "-m", "replaykit", "serve", str(RECORDED / "order-total--good.zst")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        read(url + path)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == code, said
    assert ("not recorded: GET /nowhere" in said) == (code == 3)
