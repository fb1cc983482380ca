"""A bundle's recorded replies on loopback, for programs that judge a run by asking its server."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any

from replaykit.bundle.reader import Bundle
from replaykit.errors import UsageError
from replaykit.serving.answers import SAFE, Answers, Miss, Reply
from replaykit.serving.headers import OWN

HOST = "127.0.0.1"
"""The only address that is listened on."""

BODY_MAX = 8 * 2**20
"""Bytes of a request's body."""

MISSES_MAX = 1000
"""Misses that are kept; the rest are counted."""

CONNECTIONS_MAX = 16
"""Connections at a time; the rest wait."""

SILENCE_MAX = 10.0
"""Seconds that a connection may say nothing."""

_LOOPBACK = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


class Served:
    """A server that is up. Its counts may be read from any thread."""

    def __init__(self, answers: Answers, port: int) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._misses: list[Miss] = []
        #: Requests answered as recorded, and those that were not.
        self.answered, self.missed = 0, 0
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

    def answer(self, method: str, target: str, body: bytes) -> Reply | Miss:
        """Return the reply to a request and count it."""
        with self._lock:  # a bundle is not for several threads
            found = self._answers.answer(method, target, body)
            if isinstance(found, Reply):
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
    answers = Answers(bundle, site, states)
    try:
        server = _Server((HOST, port), _Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(what=f"cannot listen on {HOST}:{port}: {reason}; port 0 takes a free one") from None
    server.served = Served(answers, server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingMixIn, TCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    served: Served

    def __init__(self, *arguments: Any) -> None:
        self._room = threading.BoundedSemaphore(CONNECTIONS_MAX)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(timeout=SILENCE_MAX):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    # HTTP/1.0: one request a connection, so that none is held open.
    server: _Server
    timeout = SILENCE_MAX

    def version_string(self) -> str:
        return "replaykit"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the misses are kept."""

    def _reply(self) -> None:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not _LOOPBACK.fullmatch(hosts[0].strip()) or not self.path.startswith("/"):
            self._say(421, "Only loopback is served here: the Host header must say 127.0.0.1 or localhost.")
            return
        body = self._body()
        if body is None:
            return
        found = self.server.served.answer(self.command, self.path, body)
        if isinstance(found, Miss):
            self._refuse(found)
        else:
            to = (("Location", self._base() + found.to),) if found.to else ()
            self._send(found.status, (*found.headers, *to), found.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _reply

    def _base(self) -> str:
        return f"http://{HOST}:{self.server.server_address[1]}"

    def _body(self) -> bytes | None:
        """Read the request's body; None: refused."""
        said = (self.headers.get("Content-Length") or "0").strip()
        if self.headers.get("Transfer-Encoding") or not said.isascii() or not said.isdigit():
            self._say(411, "A body needs a Content-Length.")
            return None
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
