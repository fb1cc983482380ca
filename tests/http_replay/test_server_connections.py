"""Clients that are slow, silent or too many: nobody else waits for them, and memory stays bounded."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.http_replay import server_connections
from replaykit.http_replay.http_server import Served, serve

BUNDLE = Path(__file__).resolve().parents[2] / "recordings/conformance/move-card--by_handle.zst"
HEAD = b"GET /api/project HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def served() -> Iterator[Served]:
    with open_bundle(BUNDLE) as bundle, serve(bundle) as one:
        yield one


def connect(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.port), timeout=10)


@contextmanager
def silent(served: Served, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        found = [stack.enter_context(connect(served)) for _ in range(count)]
        for one in found:
            one.sendall(said)
        yield found


def is_closed(one: socket.socket) -> bool:
    """Whether the server closes it; with bytes that it has not read, the system resets the connection."""
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


def status(served: Served) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    try:
        connection.request("GET", "/api/project")
        reply = connection.getresponse()
        assert len(reply.read()) == int(reply.headers["content-length"])
        return reply.status
    finally:
        connection.close()


@pytest.mark.parametrize(
    "said", [b"", b"GET /api/pro", HEAD, b"POST /x HTTP/1.1\r\nContent-Length: 100\r\n\r\nab"]
)
def test_three_hundred_idle_connections_delay_no_other(served: Served, said: bytes) -> None:
    with silent(served, 300, said):
        assert [status(served) for _ in range(5)] == [200] * 5
    assert served.answered == 5


def test_the_connection_that_has_been_silent_longest_makes_room(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_connections, "CONNECTIONS_MAX", 3)
    with silent(served, 4, HEAD) as found:
        assert is_closed(found[0])
        found[-1].sendall(b"\r\n")
        assert found[-1].recv(15) == b"HTTP/1.0 200 OK"


def test_who_drips_is_cut_off(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connections, "SILENCE_MAX", 0.3)
    with connect(served) as slow:
        ended = threading.Event()

        def drip() -> None:
            while not ended.wait(0.02):
                try:
                    slow.sendall(b"X-A: b\r\n")
                except OSError:
                    return

        slow.sendall(HEAD)
        dripping = threading.Thread(target=drip, daemon=True)
        dripping.start()
        with suppress(ConnectionError):
            assert slow.recv(1) == b""
        ended.set()
        dripping.join()
    assert served.answered == 0


def test_a_head_has_a_most(served: Served) -> None:
    with connect(served) as one, suppress(ConnectionError):
        one.sendall(HEAD + (b"X-A: " + b"b" * 1000 + b"\r\n") * 1000)
        assert one.recv(1) == b""
    assert (status(served), served.answered) == (200, 1)


def test_bodies_under_way_have_a_most(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connections, "WAITING_MAX", 150)
    half = b"POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nab"
    with silent(served, 1, half), connect(served) as second:
        second.sendall(half)
        assert is_closed(second)


def test_one_byte_at_a_time_is_a_request_too(served: Served) -> None:
    with connect(served) as one:
        for byte in HEAD + b"\r\n":
            one.sendall(bytes([byte]))
        assert one.recv(15) == b"HTTP/1.0 200 OK"


def test_replies_without_a_reader_make_room_for_others(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_connections, "WAITING_MAX", 1000)
    with silent(served, 20, HEAD + b"\r\n"):
        for _ in range(1000):
            if served.answered == 20:
                break
            threading.Event().wait(0.01)
        assert served.answered == 20
        assert status(served) == 200


def test_connections_end_with_the_server() -> None:
    with open_bundle(BUNDLE) as bundle, ExitStack() as stack:
        with serve(bundle) as served:
            one = stack.enter_context(connect(served))
            assert status(served) == 200
        assert one.recv(1) == b""
