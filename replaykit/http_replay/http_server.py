"""A bundle's recorded replies on loopback, for programs that judge a run by asking its server."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from typing import Any

from replaykit.bundle.reader import Bundle
from replaykit.errors import UsageError
from replaykit.http_replay.reception import BODY_MAX, HEAD_MAX, Reception
from replaykit.http_replay.recorded_answers import SAFE, HttpReply, Miss, RecordedAnswers
from replaykit.http_replay.safe_headers import OWN

HOST = "127.0.0.1"
"""The only address that is listened on."""

MISSES_MAX = 1000
"""Misses that are kept; the rest are counted."""

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


class Served:
    """A server that is up. Its counts may be read from any thread."""

    def __init__(self, answers: RecordedAnswers, port: int) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._misses: list[Miss] = []
        #: Requests answered as recorded, and those that were not.
        self.answered, self.missed = 0, 0
        #: Where it listens.
        self.port = port
        #: `http://127.0.0.1:port`, with the path that the site's root has.
        self.url = f"http://{HOST}:{port}{answers.site.root}"

    @property
    def misses(self) -> tuple[Miss, ...]:
        """Requests that the recording does not answer, the first 1,000: with any, no verdict counts."""
        with self._lock:
            return tuple(self._misses)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Paths that were answered with what a POST sent last, unasked: weak evidence."""
        with self._lock:
            return tuple(self._answers.assumed)

    def answer(self, method: str, target: str, body: bytes) -> HttpReply | Miss:
        """Return the reply to a request and count it."""
        with self._lock:  # a bundle is not for several threads
            found = self._answers.answer(method, target, body)
            if isinstance(found, HttpReply):
                self.answered += 1
            else:
                self.missed += 1
                self._misses += [found] if len(self._misses) < MISSES_MAX else []
            return found


@contextmanager
def serve(
    bundle: Bundle, *, port: int = 0, site: str | None = None, states: Iterable[str] = ()
) -> Iterator[Served]:
    """Answer HTTP requests with a bundle's recorded replies, on 127.0.0.1, until the block ends.

    `port`: 0 = a free one. `site`: name or origin, where the run has several. `states`: paths whose last JSON
    sent (PUT, POST) is what GET answers, beside those that the run shows to be such. Nothing is ever changed
    or asked for elsewhere. The bundle must stay open, and be read by nobody else meanwhile.
    Raises UsageError.
    """
    answers = RecordedAnswers(bundle, site, states)
    try:
        # Bound here, so that a taken port fails in the caller's thread.
        listening = socket.create_server((HOST, port), backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(what=f"cannot listen on {HOST}:{port}: {reason}; port 0 takes a free one") from None
    served = Served(answers, listening.getsockname()[1])
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()
    thread = threading.Thread(target=_listen, args=(loop, ended, listening, served), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        # An event of asyncio may only be set in its own thread.
        loop.call_soon_threadsafe(ended.set)
        thread.join()


def _listen(
    loop: asyncio.AbstractEventLoop, ended: asyncio.Event, listening: socket.socket, served: Served
) -> None:
    """Answer until the event is set; connections that are still open are closed."""

    async def listen() -> None:
        reception = Reception(lambda head, body: _Handler(served, head, body).response)
        server = await asyncio.start_server(reception.receive, sock=listening, limit=HEAD_MAX)
        await ended.wait()
        server.close()
        reception.close()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(listen())


class _Handler(BaseHTTPRequestHandler):
    # HTTP/1.0: one request a connection, so that none is held open.

    def __init__(self, served: Served, head: bytes, body: bytes) -> None:
        """Answer a request that was read as a whole."""
        self.served = served
        self.client_address = (HOST, 0)
        self._sent = BytesIO()
        self.rfile, self.wfile = BytesIO(head + body), self._sent
        self.handle_one_request()

    @property
    def response(self) -> bytes:
        """What is sent."""
        return self._sent.getvalue()

    def version_string(self) -> str:
        return "replaykit"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the misses are kept."""

    def _reply(self) -> None:
        hosts = self.headers.get_all("Host") or []
        # Against DNS rebinding: a web page could name this server by a host of its own.
        if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0].strip()) or not self.path.startswith("/"):
            self._say(421, "Only loopback is served here: the Host header must say 127.0.0.1 or localhost.")
            return
        body = self._body()
        if body is None:
            return
        found = self.served.answer(self.command, self.path, body)
        if isinstance(found, Miss):
            self._refuse(found)
        else:
            to = (("Location", self._base() + found.to),) if found.to else ()
            self._send(found.status, (*found.headers, *to), found.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _reply

    def _base(self) -> str:
        return f"http://{HOST}:{self.served.port}"

    def _body(self) -> bytes | None:
        """Read the request's body; None: refused."""
        said = (self.headers.get("Content-Length") or "0").strip()
        if self.headers.get("Transfer-Encoding") or not said.isascii() or not said.isdigit():
            self._say(411, "A body needs a Content-Length.")
            return None
        # Python refuses to parse very long numbers, with an error.
        if len(said) > 10 or int(said) > BODY_MAX:
            self._say(413, f"A body may have {BODY_MAX} bytes.")
            return None
        return self.rfile.read(int(said))

    def _refuse(self, miss: Miss) -> None:
        near = "".join(f"\n  {one}" for one in miss.near)
        words = f"{miss.method} {miss.target}: {miss.why}." + (f"\nRecorded near it:{near}" if near else "")
        if miss.method in SAFE:
            self._say(404, words)
        else:
            self._say(405, words, (("Allow", ", ".join(SAFE)),))

    def _say(self, status: int, words: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        kind = ("Content-Type", "text/plain; charset=utf-8")
        self._send(status, (kind, *headers), f"replaykit: {words}\n".encode())

    def _send(self, status: int, headers: tuple[tuple[str, str], ...], body: bytes) -> None:
        self.send_response(status)
        for name, value in (*headers, *OWN, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
