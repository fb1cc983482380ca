"""A small HTTP server on 127.0.0.1: it listens in a thread of its own and answers one request at a time."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Any

from replaykit.errors import UsageError
from replaykit.http_replay.server_connections import BODY_MAX, HEAD_MAX, Reception
from replaykit.open_connections import OpenConnections
from replaykit.patterns import lazy_pattern

HOST = "127.0.0.1"
"""The only address that is listened on."""

_LOOPBACK = lazy_pattern(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


@contextmanager
def listen(reply: Callable[[bytes, bytes], bytes], port: int = 0) -> Iterator[int]:
    """Answer HTTP requests on 127.0.0.1 until the block ends; yields the port.

    `reply`: gets head and body of a request and returns the whole response. It is called in one thread, one
    request after the other. `port`: 0 = a free one. Raises UsageError.
    """
    try:
        # Bound here, so that a taken port fails in the caller's thread.
        listening = socket.create_server((HOST, port), backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(what=f"cannot listen on {HOST}:{port}: {reason}; port 0 takes a free one") from None
    bound = listening.getsockname()[1]
    # Of this kind on every system, so that it can stop accepting before the server is closed.
    loop = asyncio.SelectorEventLoop()
    ended = asyncio.Event()
    thread = threading.Thread(target=_answer, args=(loop, ended, listening, reply), daemon=True)
    thread.start()
    try:
        yield bound
    finally:
        # An event of asyncio may only be set in its own thread.
        loop.call_soon_threadsafe(ended.set)
        thread.join()


def _answer(
    loop: asyncio.AbstractEventLoop,
    ended: asyncio.Event,
    listening: socket.socket,
    reply: Callable[[bytes, bytes], bytes],
) -> None:
    """Answer until the event is set; connections that are still open are closed."""

    async def answering() -> None:
        connections = OpenConnections(Reception(reply).serve)
        server = await asyncio.start_server(connections.accept, sock=listening, limit=HEAD_MAX)
        await ended.wait()
        await connections.end(server)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(answering())


class LoopbackHandler(BaseHTTPRequestHandler, ABC):
    """Answers one request that was read as a whole, from this machine only."""

    # HTTP/1.0: one request a connection, so that none is held open.

    body_max = BODY_MAX
    """Bytes of a request's body."""
    own_headers: tuple[tuple[str, str], ...] = ()
    """Sent with every reply."""

    def __init__(self, head: bytes, body: bytes) -> None:
        """Answer the request; the reply is in `response`."""
        self.client_address = (HOST, 0)
        self._sent = BytesIO()
        self.rfile, self.wfile = BytesIO(head + body), self._sent
        self.handle_one_request()

    @property
    def response(self) -> bytes:
        """Bytes to send."""
        return self._sent.getvalue()

    @abstractmethod
    def respond(self, body: bytes) -> None:
        """Answer a request whose host and body are accepted, by `send` or `reply`."""

    def reply(self, status: int, words: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """Send a line of text."""
        kind = ("Content-Type", "text/plain; charset=utf-8")
        self.send(status, (kind, *headers), f"replaykit: {words}\n".encode("utf-8", "replace"))

    def send(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> None:
        """Send a reply."""
        self.send_response(status)
        for name, value in (*headers, *self.own_headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """Return the value of the header `Server`."""
        return "replaykit"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing on stderr."""

    def _receive(self) -> None:
        hosts = self.headers.get_all("Host") or []
        # Against DNS rebinding: a web page could name this server by a host of its own.
        if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0].strip()) or not self.path.startswith("/"):
            self.reply(421, "Only loopback is served here: the Host header must be 127.0.0.1 or localhost.")
            return
        body = self._body()
        if body is not None:
            self.respond(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _receive

    def _body(self) -> bytes | None:
        """Read the request's body; None: refused."""
        length = (self.headers.get("Content-Length") or "0").strip()
        if self.headers.get("Transfer-Encoding") or not length.isascii() or not length.isdigit():
            self.reply(411, "A body needs a Content-Length.")
            return None
        # Python refuses to parse very long numbers, with an error.
        if len(length) > 10 or int(length) > self.body_max:
            self.reply(413, f"A body may have {self.body_max} bytes.")
            return None
        return self.rfile.read(int(length))
