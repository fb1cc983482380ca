"""WebSockets in a real browser: what a page says over them is in the bundle, whether they are closed or not."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.recorder.proxy import websocket_frames
from replaykit.recorder.recorder import Recorder
from replaykit.recorder.session.websocket_traffic import SOCKET_MAX
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.live

TALK = """([url, texts, stays]) => new Promise((done) => {
    const line = window[url] = new WebSocket(url); let received = 0
    line.onopen = () => texts.forEach((text) => line.send(text))
    line.onmessage = () => { if (++received == texts.length && (stays || line.close() === 0)) done() }
    line.onclose = () => done() })"""
BYTES = """(url) => new Promise((done) => { const line = new WebSocket(url); line.onclose = done
    line.onopen = () => line.send(new Uint8Array([1, 2, 3])); line.onmessage = () => line.close() })"""


@pytest.fixture
def echo() -> Iterator[str]:
    """The address of a server that answers every message with its first eight bytes in capitals."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=_serve, args=(listening,), daemon=True)
        serving.start()
        yield f"ws://127.0.0.1:{listening.getsockname()[1]}/"
        listening.shutdown(socket.SHUT_RDWR)
        serving.join(10)


def _serve(listening: socket.socket) -> None:
    while True:
        try:
            line, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_talk, args=(line,), daemon=True).start()


def _talk(line: socket.socket) -> None:
    frames, head = websocket_frames.WebSocketReader(), b""
    with line:
        while b"\r\n\r\n" not in head:
            head += line.recv(4096)
        lines = head.decode().lower().split("\r\n"), head.decode().split("\r\n")
        key = next(
            two.partition(": ")[2]
            for one, two in zip(*lines, strict=True)
            if one.startswith("sec-websocket-key")
        )
        line.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {websocket_frames.accept(key)}\r\n\r\n".encode()
        )
        while data := line.recv(65536):
            for one in frames.feed(data):
                if one.kind == websocket_frames.CLOSE:
                    line.sendall(websocket_frames.frame(one.data, websocket_frames.CLOSE))
                    return
                line.sendall(websocket_frames.frame(one.data[:8].upper(), one.kind))


def test_messages(context: BrowserContext, site: Site, echo: str, tmp_path: Path) -> None:
    site.add("/favicon.ico", "", "image/x-icon")
    page = context.new_page()
    page.goto(site.add("/", "<!doctype html><title>Chat</title>"))
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.evaluate(TALK, [f"{echo}closed", ["size L", '{"password":"hunter2x"}'], False])
        page.evaluate(TALK, [f"{echo}open", ["colour red"], True])
        page.evaluate(TALK, [f"{echo}long", ["first", "x" * SOCKET_MAX], False])
        page.evaluate(BYTES, f"{echo}bytes")
    with open_bundle(tmp_path / "run.zst") as bundle:
        found = {one.url.rpartition("/")[2]: one for one in bundle.trajectory.of_type(Exchange)}
        closed = messages(bundle, found["closed"].post)
        assert closed[0] == "size L"
        assert "hunter2x" not in closed[1]
        assert messages(bundle, found["closed"].body)[0] == "SIZE L"
        assert messages(bundle, found["open"].post) == ["colour red"]
        assert messages(bundle, found["long"].post) == ["first"]
    assert {name: (one.sent_frames, one.messages) for name, one in found.items()} == {
        "closed": (2, 2),
        "open": (1, 1),
        "long": (2, 2),
        "bytes": (1, 1),
    }
    assert (found["open"].ended, found["closed"].ended is None) == (None, False)
    assert found["bytes"].post == Omitted(why="type", n=3)


REFUSED = """([url, protocol]) => new Promise((done) => {
    const line = new WebSocket(url, [protocol]); line.onopen = line.onerror = () => done() })"""


def test_what_a_socket_asks_for_is_kept_although_it_is_refused(
    context: BrowserContext, site: Site, echo: str, tmp_path: Path
) -> None:
    page = context.new_page()
    page.goto(site.add("/", "<!doctype html><title>Chat</title>"))
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.evaluate(REFUSED, [f"{echo}refused", "QX-7781-BADGE"])
    with open_bundle(tmp_path / "run.zst") as bundle:
        (asked,) = (one for one in bundle.trajectory.of_type(Exchange) if one.url.endswith("refused"))
    assert ("Sec-WebSocket-Protocol", "QX-7781-BADGE") in (asked.request_headers or ())


def messages(bundle: Bundle, blob: str | Omitted | None) -> list[str]:
    assert isinstance(blob, str)
    return [json.loads(line)["data"] for line in bundle.blob(blob).splitlines()]
