"""Answer of a bundle to a request: the newest recorded reply that nothing can have changed since."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Literal
from urllib.parse import parse_qsl

from msgspec import Struct

from replaykit.bundle.reader import Bundle
from replaykit.http_replay.freshness import Freshness
from replaykit.http_replay.pushed_state import (
    LOOKED_MAX,
    Holding,
    PushedState,
    Replied,
    canonical,
    holding,
    parsed,
)
from replaykit.http_replay.safe_headers import destination, recorded
from replaykit.http_replay.served_site import Site, choose
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.redaction_marks import MARKS
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Probe

SAFE = ("GET", "HEAD")
"""Methods that are answered with what was recorded of GET."""

PUSHES = ("PUT", "POST")
"""Methods that may send an app's whole state."""

NEAR_MAX = 5
"""Recorded requests that a miss names."""

_COMPARED = 200  # characters of an address, and addresses, that nearness is looked for in
_SHOWN = 300
_FINE = range(200, 300)
_ANSWERED = frozenset({*_FINE, 301, 302, 303, 307, 308, 404, 410}) - {206}

_Key = tuple[str, tuple[tuple[str, str], ...]]


class HttpReply(Struct, frozen=True, kw_only=True):
    """A reply to send."""

    status: int
    """HTTP status."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers, its content type among them."""
    body: bytes = b""
    """Body."""
    to: str | None = None
    """Path and query on the site that a redirect leads to."""


_MARKED = lazy_pattern(f'"[^"]*(?:{"|".join(map(re.escape, MARKS))})'.encode())
"""A text of JSON that holds a mark in the place of a value."""


class Miss(Struct, frozen=True, kw_only=True):
    """A request that the recording does not answer."""

    method: str
    """HTTP method."""
    target: str
    """Path and query, cut at 300 characters."""
    why: str
    """Why there is no answer."""
    near: tuple[str, ...] = ()
    """Recorded requests like it."""

    def __str__(self) -> str:
        near = f"; recorded near it: {', '.join(self.near)}" if self.near else ""
        return f"{self.method} {self.target}: {self.why}{near}"


class _Source(Struct, frozen=True, kw_only=True):
    """One recorded thing that could answer."""

    kind: Literal["probe", "exchange", "pushed"]
    event: Any
    t: int | None
    place: int


class RecordedAnswers:
    """The replies of one bundle for one of its sites."""

    def __init__(self, bundle: Bundle, site: str | None = None, states: Iterable[str] = ()) -> None:
        """Raises UsageError where the site is not one.

        `states`: paths whose last body sent (PUT, POST) is what GET answers; others are found by what was
        sent to them and read from them.
        """
        #: Paths answered with what a POST sent last though no one named them: likely right, no more.
        self.assumed: dict[str, None] = {}
        self.site: Site = choose(bundle.trajectory, site)
        self._bundle = bundle
        self._states = frozenset(states)
        self._fresh = Freshness(bundle.trajectory)
        self._found: dict[tuple[str, _Key], list[_Source]] = {}
        self._held: dict[str, Holding] = {}
        self._addresses: dict[str, None] = {}
        for place, event in enumerate(bundle.trajectory.events):
            self._take(place, event)

    def answer(self, method: str, target: str, body: bytes = b"") -> HttpReply | Miss:
        """Return the reply to a request; `target` is a path with its query."""
        if method in SAFE:
            return self._read(method, target)
        sources = [one for one in self._sources(method, target) if self._sent(one.event, body)]
        for source in reversed(sources):
            reply = self._reply(source)
            if isinstance(reply, HttpReply):
                return reply
        return self._miss(
            method, target, "only requests of the run, with the same body, are answered; nothing is changed"
        )

    def _read(self, method: str, target: str) -> HttpReply | Miss:
        sources = [*self._sources("GET", target), *self._pushed(target)]
        if method == "HEAD":
            # Only HEAD itself may be answered by it: it has no body.
            sources += self._sources("HEAD", target)
        if not sources:
            return self._miss(method, target, "it was not recorded")
        # The newest shows the current content; an older one would contradict it.
        newest = max(sources, key=lambda one: (-1 if one.t is None else one.t, one.place))
        own = newest.event if isinstance(newest.event, Exchange) else None
        path = target.partition("?")[0]
        state = self._state(path, newest)
        fault = self._fresh.fault(newest.t, newest.place, own, lambda one: self._pushes(one, path, state))
        reply = fault or self._reply(newest)
        if newest.kind == "pushed" and isinstance(reply, HttpReply) and self._holding(path) == "likely":
            self.assumed[path] = None
        return reply if isinstance(reply, HttpReply) else self._miss(method, target, reply)

    def _take(self, place: int, event: object) -> None:
        kind: Literal["probe", "exchange"]
        if isinstance(event, Exchange):
            target, kind = self.site.target(event.url), "exchange"
            is_answer = event.status in _ANSWERED
        # Probes from before the run show the state that the agent changed.
        elif isinstance(event, Probe) and event.path is not None and event.phase == "post":
            target, kind = self._probed(event.path), "probe"
            is_answer = event.status in _ANSWERED
        else:
            return
        if target is None or not is_answer:
            return
        method = (event.method or "GET").upper()
        source = _Source(kind=kind, event=event, t=event.t, place=place)
        self._found.setdefault((method, _key(target)), []).append(source)
        # Bounded: a data URL in a query may have megabytes.
        self._addresses[f"{method} {target}"[:_SHOWN]] = None

    def _probed(self, path: str) -> str | None:
        return path if path.startswith("/") else self.site.target(path)

    def _sources(self, method: str, target: str) -> list[_Source]:
        return self._found.get((method, _key(target)), [])

    def _pushed(self, target: str) -> Iterator[_Source]:
        """Yield what was sent to a path that answers GET with it."""
        path = target.partition("?")[0]
        if self._holding(path) == "no":
            return
        for source in self._sent_to(path):
            yield _Source(kind="pushed", event=source.event, t=source.t, place=source.place)

    def _sent_to(self, path: str) -> list[_Source]:
        """Return the successful PUTs and POSTs to a path, in the order of the story."""
        found = [one for method in PUSHES for one in self._sources(method, path)]
        return sorted((one for one in found if one.event.status in _FINE), key=lambda one: one.place)

    def _holding(self, path: str) -> Holding:
        """Return whether a path holds the state: as stated, or by what was sent to it and read from it."""
        if path in self._states:
            return "yes"
        if path not in self._held:
            sent = [one.event for one in self._sent_to(path)][-LOOKED_MAX:]
            got = [one.event for one in self._sources("GET", path) if one.event.status in _FINE][-LOOKED_MAX:]
            self._held[path] = holding(
                [PushedState(exchange=event, sent=self._json(event.post)) for event in sent],
                [Replied(exchange=_exchange(event), body=self._json(event.body)) for event in got],
                self._fresh,
            )
        return self._held[path]

    def _state(self, path: str, source: _Source) -> str | None:
        """Return the state that a source shows, as canonical JSON; None where the path holds no state."""
        if self._holding(path) == "no":
            return None
        return canonical(self._json(source.event.post if source.kind == "pushed" else source.event.body))

    def _pushes(self, exchange: Exchange, path: str, state: str | None) -> bool:
        """Return whether a request sends this state to the path, even if it overlaps or was aborted."""
        if state is None or exchange.method.upper() not in PUSHES or self.site.target(exchange.url) != path:
            return False
        return canonical(self._json(exchange.post)) == state

    def _json(self, blob: Any) -> Any:
        body = self._body(blob)
        return parsed(None if isinstance(body, str) else body)

    def _sent(self, exchange: Any, body: bytes) -> bool:
        if not isinstance(exchange, Exchange):
            return False
        digest = hashlib.sha256(body).hexdigest() if body else None
        post = exchange.post
        # A body that was left out is compared by its digest, if it has one.
        return digest == (post.sha256 or "unknown" if isinstance(post, Omitted) else post)

    def _reply(self, source: _Source) -> HttpReply | str:
        event = source.event
        if source.kind == "pushed":
            body = self._body(event.post)
            headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
            return body if isinstance(body, str) else HttpReply(status=200, headers=headers, body=body)
        # These may go without a body, so none is missing.
        is_bare = event.status in (204, 205) or 300 <= event.status < 400 or event.method == "HEAD"
        body = b"" if is_bare and event.body is None else self._body(event.body)
        if isinstance(body, str):
            return body
        if isinstance(event, Probe):
            return HttpReply(
                status=event.status or 0, headers=(("Content-Type", event.mime or "text/plain"),), body=body
            )
        return self._exchanged(event, body)

    def _exchanged(self, exchange: Exchange, body: bytes) -> HttpReply | str:
        status = exchange.status or 0
        to = destination(exchange, self.site) if 300 <= status < 400 else None
        if 300 <= status < 400 and to is None:
            return "it leads away from the site, where nothing is answered"
        headers = tuple(recorded(exchange, exchange.mime or "application/octet-stream"))
        return HttpReply(status=status, headers=headers, body=body, to=to)

    def _body(self, blob: Any) -> bytes | str:
        """Return a body, or why it is missing."""
        if isinstance(blob, Omitted):
            return f"its body was not kept ({blob.why})"
        if blob is None or blob not in self._bundle:
            return "its body was not recorded"
        body = self._bundle.blob(blob)
        # A masked body is not the one that the server sent: a program would take the mask for the value.
        if _MARKED.search(body):
            return "a value in it was hidden when it was recorded"
        return body

    def _miss(self, method: str, target: str, why: str) -> Miss:
        asked = f"{method} {target}"[:_COMPARED]
        known = [one[:_COMPARED] for one in list(self._addresses)[-_COMPARED:]]
        # Costs the square of the length, for each known address.
        near = get_close_matches(asked, known, NEAR_MAX, 0.5)
        return Miss(
            method=method, target=_shown(target), why=why, near=tuple(map(_shown, dict.fromkeys(near)))
        )


def _exchange(event: Exchange | Probe) -> Exchange | None:
    return event if isinstance(event, Exchange) else None


def _key(target: str) -> _Key:
    """Return path and query, the order of its fields left out."""
    path, _, query = target.partition("#")[0].partition("?")
    # Programs write the fields of a query in an order of their own.
    return path or "/", tuple(sorted(parse_qsl(query, keep_blank_values=True)))


def _shown(text: str) -> str:
    return (
        text[:_SHOWN].encode("ascii", "backslashreplace").decode()
        if text.isprintable()
        else ascii(text[:_SHOWN])
    )
