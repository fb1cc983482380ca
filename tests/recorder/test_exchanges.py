"""Exchanges: what is kept of requests, responses, redirects and bodies."""

from __future__ import annotations

import pytest

from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.exchanges import BODY_MAX
from replaykit.recorder.session.session import SessionOptions
from replaykit.trajectory.action import Element
from replaykit.trajectory.exchange import Exchange, Navigation
from replaykit.trajectory.scalars import Omitted

BUTTON = Element(tag="button", css="#pay", attributes={"id": "pay"})
URL = "http://shop.test/api"


def load(
    driver, name: str = "1", at: float = 100, *, mime: str = "text/html", status: int = 200, **more
) -> Exchange | None:
    request = {"page": 0, "method": "GET", "url": URL, "resource": "document", **more}
    driver.feed(requests.Requested(at=at, request=name, **request))
    driver.feed(
        requests.Responded(
            at=at + 10, request=name, status=status, mime=mime, sent_at=at + 1, waited_at=at + 2
        )
    )
    driver.feed(requests.Finished(at=at + 20, request=name, encoded_size=11))
    return next(reversed(driver.of(Exchange)), None)


def test_a_document_with_its_times_and_body(driver) -> None:
    exchange = load(driver)
    assert (exchange.id, exchange.method, exchange.url, exchange.status) == (0, "GET", URL, 200)
    assert (exchange.t, exchange.sent, exchange.waited, exchange.received, exchange.ended) == (
        100,
        101,
        102,
        110,
        120,
    )
    assert (exchange.encoded_size, exchange.decoded_size) == (11, 11)
    assert driver.blobs[exchange.body] == b"<p>body</p>"


@pytest.mark.parametrize(
    ("resource", "mime", "is_kept"),
    [
        ("document", "application/pdf", True),
        ("xhr", "application/json", True),
        ("fetch", "text/plain; charset=utf-8", True),
        ("fetch", "application/problem+json", True),
        ("xhr", "image/png", False),
        ("script", "text/javascript", False),
        ("image", "image/png", False),
    ],
)
def test_which_bodies_are_kept(driver, resource: str, mime: str, is_kept: bool) -> None:
    body = load(driver, resource=resource, mime=mime).body
    assert isinstance(body, str) if is_kept else body == Omitted(why="type")


@pytest.mark.parametrize("status", [204, 304])
def test_what_has_no_body_is_not_asked(driver, status: int) -> None:
    load(driver, status=status)
    assert driver.commands(m.FetchBody) == []


@pytest.mark.parametrize(
    ("error", "why"),
    [("gone", "evicted"), ("timeout", "timeout"), ("dialog_open", "dialog_open"), ("x", "failed")],
)
def test_a_body_that_is_not_there_says_why(driver, error: str, why: str) -> None:
    driver.errors["FetchBody"] = error
    assert load(driver).body == Omitted(why=why)


def test_a_long_body_is_left_out_and_measured(driver) -> None:
    driver.replies["FetchBody"] = b"x" * (BODY_MAX + 1)
    assert load(driver).body == Omitted(why="cap", n=BODY_MAX + 1)


def test_all_bodies_together_are_bounded(driver, monkeypatch) -> None:
    monkeypatch.setattr("replaykit.recorder.session.exchanges.BODIES_MAX", 20)
    assert isinstance(load(driver).body, str)
    assert load(driver, "2").body == Omitted(why="cap", n=11)


def test_posts_are_kept_without_secrets(driver) -> None:
    headers = (("Content-Type", "application/x-www-form-urlencoded"), ("Cookie", "a=1"))
    exchange = load(driver, method="POST", post=b"user=ann&password=x", headers=headers)
    assert driver.blobs[exchange.post].decode() == "user=ann&password=⟦masked⟧"
    assert exchange.request_headers == (headers[0], ("Cookie", "⟦header⟧"))


def test_a_post_that_was_not_reported_is_asked_for(driver) -> None:
    driver.replies["Post"] = b'{"a":1}'
    assert driver.blobs[load(driver, method="POST", has_post=True).post] == b'{"a":1}'


def test_an_exchange_waits_for_what_it_sent(driver) -> None:
    driver.hold = True
    assert load(driver, method="POST", has_post=True, resource="script") is None
    driver.replies["Post"] = b"later"
    driver.answer_held()
    (exchange,) = driver.of(Exchange)
    assert driver.blobs[exchange.post] == b"later"


@pytest.mark.parametrize(("error", "why"), [("gone", "evicted"), ("timeout", "timeout"), ("x", "failed")])
def test_a_post_without_a_source_records_why(driver, error: str, why: str) -> None:
    driver.errors["Post"] = error
    assert load(driver, method="POST", has_post=True).post == Omitted(why=why)


def sent(driver, method: str = "POST", length: int | None = None, **more) -> Exchange:
    headers = () if length is None else (("Content-Length", str(length)),)
    asked = {"request": "1", "page": 0, "method": method, "url": URL, **more}
    driver.feed(requests.Requested(at=1, **asked))
    driver.feed(requests.Responded(at=2, request="1", status=200, request_headers=headers))
    driver.feed(requests.Finished(at=3, request="1"))
    return driver.of(Exchange)[-1]


def test_the_length_on_the_wire_shows_what_a_post_lacks(driver) -> None:
    assert (
        sent(driver, length=10, post=b"0123").post_size,
        sent(driver, length=4, post=b"0123").post_size,
    ) == (
        10,
        None,
    )


def test_a_post_too_long_to_be_asked_for_is_measured(driver) -> None:
    driver.errors["Post"] = "gone"
    assert sent(driver, length=BODY_MAX + 1, has_post=True).post == Omitted(why="cap", n=BODY_MAX + 1)
    assert sent(driver, length=9, has_post=True).post == Omitted(why="evicted")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_post_without_a_length_is_a_stream(driver, method: str) -> None:
    assert sent(driver, method).post == Omitted(why="stream")
    assert sent(driver, method, length=0).post is None
    assert sent(driver, "GET").post is None


def test_a_post_of_no_stated_kind_is_redacted_as_text(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"pin": "hush-hush"})).open()
    driver.replies["Post"] = b"it is hush-hush"
    assert driver.blobs[load(driver, method="POST", has_post=True).post] == "it is ⟦secret:pin⟧".encode()


def test_bytes_that_hold_a_secret_are_withheld(new_driver) -> None:
    driver = new_driver(SessionOptions(secrets={"pin": "hush-hush"})).open()
    driver.replies["Post"] = b"\xff hush-hush"
    assert load(driver, method="POST", has_post=True).post == Omitted(why="withheld", n=11)


def test_redirects_are_exchanges_of_their_own(driver) -> None:
    where = {"page": 0, "method": "GET", "resource": "document"}
    driver.feed(
        requests.Requested(at=1, request="9", url=URL, **where),
        requests.Responded(at=2, request="9", status=302),
    )
    driver.feed(requests.Finished(at=2, request="9"))
    assert driver.of(Exchange) == []
    driver.feed(requests.Requested(at=3, request="9#1", url=f"{URL}/b", redirect_from="9", **where))
    driver.feed(requests.Responded(at=4, request="9#1", status=200), requests.Finished(at=5, request="9#1"))
    first, second = driver.of(Exchange)
    assert (first.id, first.redirect_to, first.status, first.body) == (0, 1, 302, None)
    assert (second.id, second.redirect_from, second.status) == (1, 0, 200)
    driver.navigate(f"{URL}/b", 10, request="9")  # the last hop made the document
    assert [(n.exchange, n.status) for n in driver.of(Navigation)] == [(1, 200)]


def test_a_failed_request(driver) -> None:
    driver.feed(requests.Requested(at=1, request="9", page=0, method="GET", url=URL))
    driver.feed(
        requests.Failed(at=2, request="9", error="net::ERR_FAILED"), requests.Finished(at=3, request="9")
    )
    (exchange,) = driver.of(Exchange)
    assert (exchange.error, exchange.status, exchange.ended) == ("net::ERR_FAILED", None, 2)


def test_requests_belong_to_the_action_before(driver) -> None:
    driver.click(BUTTON, 1000)
    load(driver, at=1050)
    assert driver.of(Exchange) == []  # the action has no index yet
    driver.wait(1000)
    assert [e.step for e in driver.of(Exchange)] == [0]


def test_probes_belong_to_no_action(driver) -> None:
    driver.click(BUTTON, 1000).wait(1000)
    exchange = load(driver, at=3000, actor="probe", page=None)
    assert (exchange.actor, exchange.step, exchange.page) == ("probe", None, None)


@pytest.mark.parametrize(
    "url",
    ["data:text/plain,x", "blob:http://x/1", "chrome-extension://a/b.js", "http://shop.test/favicon.ico"],
)
def test_what_is_left_out(driver, url: str) -> None:
    driver.feed(requests.Requested(at=1, request="9", page=0, method="GET", url=url)).end()
    assert driver.of(Exchange) == []


def test_what_never_ends_is_written_at_the_end(driver) -> None:
    driver.feed(requests.Requested(at=1, request="9", page=0, method="GET", url=URL, resource="eventsource"))
    driver.feed(requests.Responded(at=2, request="9", status=200, mime="text/event-stream")).end()
    (exchange,) = driver.of(Exchange)
    assert (exchange.status, exchange.ended, exchange.resource) == (200, None, "eventsource")


@pytest.mark.parametrize(("mode", "count"), [("meta", 1), ("off", 0)])
def test_modes(new_driver, mode: str, count: int) -> None:
    driver = new_driver(SessionOptions(network=mode)).open()
    driver.feed(requests.Requested(at=1, request="9", page=0, method="GET", url=URL, resource="document"))
    driver.feed(requests.Responded(at=2, request="9", status=200), requests.Finished(at=3, request="9"))
    exchanges = driver.of(Exchange)
    assert [e.body for e in exchanges] == [Omitted(why="off")] * count
    assert driver.commands(m.FetchBody) == []


def test_a_response_with_a_secret_in_a_key_is_withheld(new_driver) -> None:
    for body, is_kept in ((b'{"hunter22": 1}', False), (b'{"a": "hunter22"}', True), (b'{"a": 1}', True)):
        driver = new_driver(SessionOptions(secrets={"PW": "hunter22"})).open()
        driver.replies["FetchBody"] = body
        found = load(driver, resource="fetch", mime="application/json")
        assert found is not None
        assert (found.body == Omitted(why="withheld", n=len(body))) is not is_kept
        assert b"hunter22" not in b"".join(driver.blobs.values())
