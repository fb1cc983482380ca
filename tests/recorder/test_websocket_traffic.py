"""Messages of WebSockets: what is kept of them, up to which bound, and what is said of the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.session import request_messages as requests
from replaykit.recorder.session.websocket_traffic import SOCKET_MAX, Side
from replaykit.secrets.redactor import Redactor
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted

URL = "ws://shop.test/live"


def opened(driver, *texts: str | None, received: tuple[str, ...] = ()) -> None:
    driver.feed(requests.Requested(at=100, request="1", page=0, method="GET", url=URL, resource="websocket"))
    driver.feed(requests.Responded(at=110, request="1", status=101))
    for is_sent, all_of in ((True, texts), (False, received)):
        for text in all_of:
            size = 3 if text is None else len(text.encode())
            driver.feed(requests.WebSocketMessage(at=120, request="1", is_sent=is_sent, text=text, size=size))


def over(driver) -> Exchange:
    driver.feed(requests.Finished(at=130, request="1"))
    (found,) = driver.of(Exchange)
    return found


def messages(driver, blob: str | Omitted | None) -> list[str]:
    assert isinstance(blob, str)
    return [json.loads(line)["data"] for line in driver.blobs[blob].splitlines()]


def test_texts_are_the_two_bodies_of_the_exchange(driver) -> None:
    opened(driver, "one", "two", received=("three",))
    found = over(driver)
    assert (found.sent_frames, found.messages) == (2, 1)
    assert messages(driver, found.post) == ["one", "two"]
    assert messages(driver, found.body) == ["three"]
    assert driver.blobs[found.post].splitlines()[0] == b'{"opcode":1,"data":"one"}'


def test_a_socket_that_is_open_at_the_end_is_kept(driver) -> None:
    opened(driver, "one")
    driver.end()
    (found,) = driver.of(Exchange)
    assert (found.sent_frames, found.ended, messages(driver, found.post)) == (1, None, ["one"])


def test_a_silent_socket_has_no_bodies(driver) -> None:
    opened(driver)
    found = over(driver)
    assert (found.post, found.body, found.sent_frames) == (None, None, 0)


def test_bytes_are_counted(driver) -> None:
    opened(driver, None, None)
    found = over(driver)
    assert (found.post, found.sent_frames) == (Omitted(why="type", n=6), 2)


def test_passwords_within_messages_are_masked(driver) -> None:
    opened(driver, '{"user":"ann","password":"hunter2x"}', '42["login",{"password":"hunter2x"}]')
    text = "".join(messages(driver, over(driver).post))
    assert "ann" in text
    assert "hunter2x" not in text


@pytest.mark.parametrize("spare", [0, 1])
def test_texts_are_kept_up_to_a_bound(spare: int) -> None:
    side = Side()
    first = "x" * (SOCKET_MAX - 3)
    assert side.take(first, len(first), 10 * SOCKET_MAX) == len(first) + 1
    took = side.take("y" * (1 + spare), 1 + spare, 10 * SOCKET_MAX)
    assert took == (0 if spare else 2)
    assert side.why == ("cap" if spare else "")
    assert side.take("", 0, 10 * SOCKET_MAX) == 0
    assert side.count == 3


@given(st.lists(st.none() | st.text(max_size=40), max_size=30), st.integers(0, 200))
def test_every_message_is_counted_and_the_room_holds(texts: list[str | None], room: int) -> None:
    side, left = Side(), room
    for text in texts:
        left -= side.take(text, 3 if text is None else len(text.encode("utf-8", "replace")), left)
    kept = side.lines(Redactor()).splitlines()
    assert left >= 0
    assert side.count == len(texts)
    assert (len(kept) == len(texts)) == (side.why == "")
