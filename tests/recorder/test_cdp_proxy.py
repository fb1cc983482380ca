"""The end of the proxy between a browser and its clients; what is between is tested with a browser."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from replaykit.recorder.proxy.cdp_proxy import Proxy
from replaykit.recorder.proxy.protocol_messages import RECORDER

KEY = "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="


@contextmanager
def browser_pipe() -> Iterator[tuple[int, int]]:
    """Yield the pipe of a browser that reports its version, and nothing else."""
    (from_browser, write_end), (read_end, to_browser) = os.pipe(), os.pipe()

    def answer() -> None:
        held = b""
        with os.fdopen(read_end, "rb", 0) as commands, os.fdopen(write_end, "wb", 0) as replies:
            while chunk := commands.read(1 << 16):
                *asked, held = (held + chunk).split(b"\0")
                for one in map(msgspec.json.decode, asked):
                    if one["method"] == "Browser.getVersion":
                        replies.write(msgspec.json.encode({"id": one["id"], "result": {}}) + b"\0")

    browser = threading.Thread(target=answer)
    browser.start()
    yield from_browser, to_browser
    browser.join()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    with browser_pipe() as ends:
        yield ends


async def flooded(proxy: Proxy) -> int:
    """Send more than a connection takes; return how many bytes wait."""
    proxy._send(RECORDER, bytes(64 << 20))
    return proxy._clients[RECORDER].transport.get_write_buffer_size()


def test_a_client_that_does_not_read_keeps_no_connection_open(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda fault: left.append(fault.exc_value))
    with Proxy(pipe) as proxy:
        host, _, path = proxy.own_endpoint.removeprefix("ws://").partition("/")
        client = socket.create_connection((host.partition(":")[0], int(host.partition(":")[2])), timeout=60)
        client.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n{KEY}\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 101"
        waiting = asyncio.run_coroutine_threadsafe(flooded(proxy), proxy._loop).result(60)
    assert waiting > 0
    client.close()
    del proxy
    gc.collect()
    assert left == []


def test_a_proxy_whose_browser_is_gone_takes_what_it_is_asked() -> None:
    (from_browser, write_end), (read_end, to_browser) = os.pipe(), os.pipe()
    is_known = threading.Event()

    def answer() -> None:
        with os.fdopen(read_end, "rb", 0) as commands, os.fdopen(write_end, "wb", 0) as replies:
            asked = msgspec.json.decode(commands.read(1 << 16).partition(b"\0")[0])
            replies.write(msgspec.json.encode({"id": asked["id"], "result": {}}) + b"\0")
            is_known.wait(60)

    browser = threading.Thread(target=answer)
    browser.start()
    with Proxy((from_browser, to_browser)) as proxy:
        is_known.set()
        proxy._thread.join(60)
        assert proxy._loop.is_closed()
        proxy.armed("T")
        proxy.dismiss()
    browser.join()


def test_connections_that_come_at_the_end_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda fault: left.append(fault.exc_value))
    for _ in range(50):
        with browser_pipe() as ends, Proxy(ends) as proxy:
            clients = [socket.create_connection(("127.0.0.1", proxy._port)) for _ in range(3)]
        for client in clients:
            client.close()
        del proxy
        gc.collect()
    assert left == []
