"""A bundle's recorded replies on loopback, for programs that judge a run by asking its server."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from replaykit.bundle.reader import Bundle
from replaykit.http_replay.loopback import HOST, LoopbackHandler, listen
from replaykit.http_replay.recorded_replies import SAFE, HttpReply, Miss, RecordedAnswers
from replaykit.http_replay.safe_headers import OWN

MISSES_MAX = 1000
"""Misses that are kept; the rest are counted."""


class Served:
    """A running server. Its counts may be read from any thread."""

    def __init__(self, answers: RecordedAnswers) -> None:
        self._answers = answers
        self._lock = threading.Lock()
        self._misses: list[Miss] = []
        #: Requests answered as recorded, and those that were not.
        self.answered, self.missed = 0, 0
        #: Where it listens.
        self.port = 0

    @property
    def url(self) -> str:
        """`http://127.0.0.1:port`, with the path that the site's root has."""
        return f"http://{HOST}:{self.port}{self._answers.site.root}"

    @property
    def misses(self) -> tuple[Miss, ...]:
        """Requests that the recording does not answer, at most 1,000. If there are any, no verdict counts."""
        with self._lock:
            return tuple(self._misses)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Paths that were answered with the body of the last POST without being named: weak evidence."""
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
    """Serve the recorded replies of a bundle over HTTP on 127.0.0.1 until the block ends.

    `port`: 0 = a free port. `site`: name or origin, if the run has several sites. `states`: paths for which
    GET returns the JSON last sent by PUT or POST, in addition to those that the run shows to be such paths.
    It changes nothing and contacts no other server. The bundle must stay open, and only the server may read
    it meanwhile. Raises UsageError.

    Example:
        with replaykit.open_bundle("run.zst") as bundle, replaykit.serve(bundle) as server:
            print(server.url)
    """
    served = Served(RecordedAnswers(bundle, site, states))
    with listen(lambda head, body: _Handler(served, head, body).response, port) as served.port:
        yield served


class _Handler(LoopbackHandler):
    own_headers = OWN

    def __init__(self, served: Served, head: bytes, body: bytes) -> None:
        self.served = served
        super().__init__(head, body)

    def respond(self, body: bytes) -> None:
        found = self.served.answer(self.command, self.path, body)
        if isinstance(found, Miss):
            self._refuse(found)
        else:
            to = (("Location", f"http://{HOST}:{self.served.port}{found.to}"),) if found.to else ()
            self.send(found.status, (*found.headers, *to), found.body)

    def _refuse(self, miss: Miss) -> None:
        near = "".join(f"\n  {one}" for one in miss.near)
        words = f"{miss.method} {miss.target}: {miss.why}." + (f"\nRecorded near it:{near}" if near else "")
        if miss.method in SAFE:
            self.reply(404, words)
        else:
            self.reply(405, words, (("Allow", ", ".join(SAFE)),))
