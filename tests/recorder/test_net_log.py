"""The browser's log of its network: what is read of it, however it comes."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.witnesses.net_log import NetLog, Sent
from replaykit.recorder.session.request_messages import Finished, Requested
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted

BUY = "http://shop.test/buy"


def head(start: int = 2, offset: int = 1000) -> str:
    return (
        json.dumps(
            {
                "constants": {
                    "logEventTypes": {"OTHER": 1, "URL_REQUEST_START_JOB": start},
                    "timeTickOffset": offset,
                }
            }
        )[:-1]
        + ","
    )


def line(
    url: str = BUY, method: str = "GET", *, source: int = 7, time: int = 5, type: int = 2, **more: str
) -> str:
    params = {"url": url, "method": method, "request_type": "other", "initiator": "http://shop.test", **more}
    event = {
        "params": params,
        "phase": 1,
        "source": {"id": source, "type": 1},
        "time": str(time),
        "type": type,
    }
    return json.dumps(event, separators=(",", ":")) + ","


def log(path: Path, *lines: str) -> NetLog:
    path.write_text("\n".join([head(), '"events": [', *lines, ""]))
    one = NetLog(path)
    one.read()
    return one


def test_starts_of_requests(tmp_path: Path) -> None:
    one = log(
        tmp_path / "log",
        line(f"{BUY}#part", "POST"),
        line(type=1),
        '{"phase":2,"source":{"id":7,"type":1},"time":"6","type":2},',
        line("http://shop.test/", source=8, request_type="main frame", initiator="not an origin"),
        line("http://vendor.test/", source=9, initiator="not an origin"),
    )
    assert one.sent == [
        Sent(at=1005.0, method="POST", url=BUY),
        Sent(at=1005.0, method="GET", url="http://shop.test/", is_document=True),
        Sent(at=1005.0, method="GET", url="http://vendor.test/", is_internal=True),
    ]
    assert one.is_readable


def test_a_request_that_is_tried_again_is_one_and_a_redirect_two(tmp_path: Path) -> None:
    one = log(tmp_path / "log", line(), line(), line(f"{BUY}/done"), line(source=8))
    assert [sent.url for sent in one.sent] == [BUY, f"{BUY}/done", BUY]


@given(st.lists(st.integers(1, 400), max_size=8))
def test_a_log_is_read_as_it_grows(cuts: list[int]) -> None:
    data = "\n".join([head(), '"events": [', *(line(f"{BUY}/{n}", source=n) for n in range(5)), ""]).encode()
    with TemporaryDirectory() as folder:
        path = Path(folder, "log")
        one = NetLog(path)
        for cut in [*sorted(cuts), len(data)]:
            path.write_bytes(data[:cut])
            one.read()
    assert [sent.url for sent in one.sent] == [f"{BUY}/{n}" for n in range(5)]


@pytest.mark.parametrize(
    "first", ["", "[]", '{"constants":{}', '{"constants":{"logEventTypes":{"A":1}},', "\0"]
)
def test_a_log_of_another_kind_proves_nothing(tmp_path: Path, first: str) -> None:
    (tmp_path / "log").write_text(f"{first}\n{line()}\n")
    one = NetLog(tmp_path / "log")
    assert one.read() == []
    assert not one.is_readable


def test_no_log(tmp_path: Path) -> None:
    assert NetLog(tmp_path / "none").read() == []


@given(st.binary(max_size=200))
def test_any_line_is_survived(garbage: bytes) -> None:
    one = NetLog(Path("none"))
    one._take(head().encode())
    one._take(garbage + b'"type":2}')
    assert one.is_readable


def test_long_lines_are_passed(tmp_path: Path) -> None:
    assert log(tmp_path / "log", line("http://x.test/" + "a" * 2**20), line()).sent == [
        Sent(at=1005.0, method="GET", url=BUY)
    ]


# In the session


def compared(new_driver: Any, sent: list[Sent] | None, **requests: Any) -> Any:
    driver = new_driver()
    driver.session._run_ending.owes = ("netlog",)
    driver.replies["ReadLog"] = sent
    driver.open()
    for name, message in requests.items():
        driver.feed(
            Requested(request=name, page=0, **message),
            Finished(at=message["at"] + 1, request=name),
        )
    driver.wait(100).end()
    return driver


def logged_only(driver: Any) -> list[Exchange]:
    return [one for one in driver.of(Exchange) if one.source == "netlog"]


def test_a_request_found_only_in_the_net_log_is_an_exchange(new_driver: Any) -> None:
    sent = [
        Sent(at=20, method=method, url=BUY, is_document=method == "GET") for method in ("GET", "POST", "POST")
    ]
    driver = compared(new_driver, sent, a={"at": 19, "method": "POST", "url": f"{BUY}#x"})
    get, post = logged_only(driver)
    assert (get.method, get.resource, get.post, get.page, get.t) == ("GET", "document", None, None, 20)
    assert (post.method, post.resource, post.post) == ("POST", "other", Omitted(why="unreported"))
    (proof,) = driver.of(Proof)
    assert (proof.closed, proof.counts) == (True, {"recorded": 1, "unrecorded": 2, "internal": 0})


def test_what_went_over_a_socket_of_the_net_log_is_not_known(new_driver: Any) -> None:
    sent = [Sent(at=20, method="GET", url="wss://shop.test/live")]
    (socket,) = logged_only(compared(new_driver, sent))
    assert (socket.url, socket.post) == ("wss://shop.test/live", Omitted(why="unreported"))


def test_what_the_browser_and_others_ask_for_is_no_request_of_the_run(new_driver: Any) -> None:
    sent = [
        Sent(at=20, method="POST", url="http://vendor.test/", is_internal=True),
        Sent(at=-5, method="GET", url=BUY),
        Sent(at=1e9, method="GET", url=BUY),
        Sent(at=20, method="GET", url="data:,x"),
    ]
    assert logged_only(compared(new_driver, sent)) == []


def test_icons_that_the_browser_itself_asks_for_are_left_out(
    new_driver: Any,
) -> None:
    icon = "http://shop.test/favicon.ico"
    assert logged_only(compared(new_driver, [Sent(at=20, method="GET", url=icon)])) == []
    logged = [Sent(at=20, method="POST", url=icon), Sent(at=21, method="GET", url=icon, is_document=True)]
    assert len(logged_only(compared(new_driver, logged))) == 2


def test_a_log_that_could_not_be_read_proves_nothing(new_driver: Any) -> None:
    driver = compared(new_driver, None)
    (proof,) = driver.of(Proof)
    assert (proof.closed, proof.lacks) == (False, ("netlog.failed",))
    assert logged_only(driver) == []


def test_requests_of_the_agents_own_client_are_not_in_it(new_driver: Any) -> None:
    asked = {"at": 19, "method": "GET", "url": BUY, "initiator": "driver"}
    assert len(logged_only(compared(new_driver, [Sent(at=20, method="GET", url=BUY)], a=asked))) == 1
