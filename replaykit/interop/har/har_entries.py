"""Entries of HAR 1.2 and exchanges, both ways: http://www.softwareishard.com/blog/har-12-spec/

Traces of Playwright hold the same entries, a line each.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urljoin

from msgspec import Struct
from msgspec.structs import replace

from replaykit.interop.har.har_bodies import SentBody, body_of, media_type, part, post_of, size, status_of
from replaykit.interop.har.har_sockets import socket_of
from replaykit.interop.imported_run import Run
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Blob, Omitted

RESOURCES = (
    "document", "stylesheet", "script", "image", "font", "media", "xhr", "fetch", "websocket", "eventsource",
    "worker", "ping", "other",
)  # fmt: skip
"""Words for what a request is for."""

_ABOVE = (("blocked", "dns", "connect", "send"), ("wait",), ("receive",))
"""Timings up to the request sent, the response headers, the end of the body. `ssl` is part of `connect`."""


Attach = Callable[[bytes], str]
"""Takes a body, and returns the name of its file."""


class NotAnEntry(Exception):
    """An entry that has neither method nor URL."""


class Base(Struct, frozen=True, kw_only=True):
    """Where times count from."""

    start: datetime | None = None
    """The first moment of the run, UTC."""

    def ms(self, moment: datetime | None) -> int | None:
        """Return ms since the start; None where either is not known."""
        if moment is None or self.start is None:
            return None
        return max(0, round((moment - self.start) / timedelta(milliseconds=1)))


def moment(text: Any) -> datetime | None:
    """Return an ISO 8601 time with a zone, in UTC; None for anything else, such as `{}` in old traces."""
    if not isinstance(text, str) or len(text) > 64:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        # Without a zone, it would be the time of the machine that imports.
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (OverflowError, ValueError):
        return None


def stamp(found: datetime) -> str:
    """Return a time as RFC 3339 in UTC with ms."""
    return found.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def exchange_of(run: Run, entry: Any, id: int, base: Base, *, at: int | None = None) -> Exchange:
    """Return the exchange of an entry, its bodies kept as payloads of the run. Raises NotAnEntry.

    `at`: request start, ms, where the caller knows better than `startedDateTime`.
    """
    request, response = part(entry, "request"), part(entry, "response")
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not isinstance(url, str) or not method.strip() or not url.strip():
        raise NotAnEntry
    method, url = method.strip(), url.strip()
    content = part(response, "content")
    mime = media_type(content.get("mimeType"))
    t = base.ms(moment(entry.get("startedDateTime"))) if at is None else at
    socket = socket_of(run, entry)
    sent = post_of(run, method, request) if socket is None else SentBody(socket.sent)
    return Exchange(
        id=id,
        t=t,
        method=method,
        url=url,
        resource=_resource(entry, is_socket=socket is not None),
        http_version=_text(request.get("httpVersion")),
        remote=_remote(entry),
        request_headers=_headers(request.get("headers")),
        response_headers=_headers(response.get("headers")),
        post=sent.blob,
        post_size=sent.size,
        body=body_of(run, method, response) if socket is None else socket.received,
        status=status_of(response.get("status")),
        status_text=_text(response.get("statusText")) or None,
        mime=mime,
        encoded_size=size(response.get("_transferSize"), response.get("bodySize")),
        decoded_size=size(content.get("size")),
        from_cache=_is_cached(entry, response),
        from_worker=_is_of_worker(entry, response),
        error=_text(response.get("_failureText")) or _text(response.get("_error")),
        messages=0 if socket is None else socket.received_count,
        sent_frames=0 if socket is None else socket.sent_count,
        **_times(entry, t),
    )


def _is_cached(entry: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Whether a cache answered, in the words of each writer: Chrome, Playwright, WebKit, then chrome-har."""
    if entry.get("_fromCache") is not None or response.get("_fromCache") is not None:
        return True
    if response.get("fromDiskCache") is True or entry.get("_fetchType") in ("Memory Cache", "Disk Cache"):
        return True
    return bool(part(part(entry, "cache"), "beforeRequest"))


def _is_of_worker(entry: Mapping[str, Any], response: Mapping[str, Any]) -> bool:
    """Whether a service worker answered, in the words of Chrome and of WebKit."""
    return response.get("_fetchedViaServiceWorker") is True or entry.get("_fetchType") == "Service Worker"


def linked(exchanges: list[Exchange], targets: Mapping[int, str]) -> list[Exchange]:
    """Return the exchanges with redirects joined; `targets`: exchange id to the URL it redirects to."""
    found = list(exchanges)
    # A URL may be asked for often; each request is the target of one redirect at most.
    waiting: dict[str, deque[int]] = {}
    for place, one in enumerate(found):
        waiting.setdefault(one.url, deque()).append(place)
    for place, one in enumerate(found):
        target = _joined(one.url, targets.get(one.id, ""))
        asked = waiting.get(target, deque()) if target else deque()
        while asked and asked[0] <= place:  # no redirect that is still to come leads back to these
            asked.popleft()
        if asked:
            next_place = asked.popleft()
            found[place] = replace(found[place], redirect_to=found[next_place].id)
            found[next_place] = replace(found[next_place], redirect_from=one.id)
    return found


def _joined(url: str, target: str) -> str:
    """Return the URL that a redirect leads to; empty where it leads nowhere."""
    try:
        return urljoin(url, target) if target else ""
    except ValueError:
        return ""


def entry_of(
    exchange: Exchange,
    load: Callable[[str], bytes],
    start: datetime,
    to: str = "",
    attach: Attach | None = None,
) -> dict[str, Any]:
    """Return the entry of an exchange; what is not known is absent, or -1. `to`: where it redirects to."""
    began = start + timedelta(milliseconds=exchange.t or 0)
    times = _timings(exchange)
    entry: dict[str, Any] = {
        "startedDateTime": stamp(began),
        # HAR defines -1 as a phase that does not apply.
        "time": sum(value for value in times.values() if value > 0),
        "request": _request(exchange, load, attach),
        "response": _response(exchange, load, to, attach),
        "cache": {},
        "timings": times,
    }
    if exchange.remote is not None:
        # An IPv6 address has colons of its own.
        address, colon, port = exchange.remote.rpartition(":")
        entry["serverIPAddress"] = address.strip("[]") if colon else exchange.remote
        if colon and port.isdecimal():
            entry["_serverPort"] = int(port)
    if exchange.resource != "other":
        entry["_resourceType"] = exchange.resource
    return entry


def _request(exchange: Exchange, load: Callable[[str], bytes], attach: Attach | None) -> dict[str, Any]:
    request: dict[str, Any] = {
        "method": exchange.method,
        "url": exchange.url,
        "httpVersion": exchange.http_version or "",
        "cookies": [],
        "headers": _named(exchange.request_headers),
        "queryString": [],
        "headersSize": -1,
        "bodySize": _length(exchange.post),
    }
    if isinstance(exchange.post, str):
        data = load(exchange.post)
        kind = next((v for n, v in exchange.request_headers or () if n.lower() == "content-type"), "")
        request["bodySize"] = len(data)
        request["postData"] = {"mimeType": kind, **_content(data, attach)}
    return request


def _response(
    exchange: Exchange, load: Callable[[str], bytes], to: str, attach: Attach | None
) -> dict[str, Any]:
    known = exchange.decoded_size
    content: dict[str, Any] = {
        "size": _length(exchange.body) if known is None else known,
        "mimeType": exchange.mime or "",
    }
    if isinstance(exchange.body, str):
        content |= _content(load(exchange.body), attach)
    response: dict[str, Any] = {
        "status": -1 if exchange.status is None else exchange.status,
        "statusText": exchange.status_text or "",
        "httpVersion": exchange.http_version or "",
        "cookies": [],
        "headers": _named(exchange.response_headers),
        "content": content,
        "redirectURL": to,
        "headersSize": -1,
        "bodySize": -1,
        "_transferSize": -1 if exchange.encoded_size is None else exchange.encoded_size,
    }
    if exchange.error is not None:
        response["_failureText"] = exchange.error
    if exchange.from_cache:
        response["fromDiskCache"] = True
    return response


def _content(data: bytes, attach: Attach | None) -> dict[str, str]:
    if attach is not None:
        return {"_file": attach(data)}
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"text": base64.b64encode(data).decode(), "encoding": "base64"}


def _length(body: Blob | None) -> int:
    """Return the size of a body in bytes: 0 without a body, -1 if unknown."""
    size = body.n if isinstance(body, Omitted) else None
    return 0 if body is None else -1 if size is None else size


def _named(headers: tuple[tuple[str, str], ...] | None) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers or ()]


def _timings(exchange: Exchange) -> dict[str, int]:
    marks = (exchange.t, exchange.sent, exchange.received, exchange.ended)
    names = ("send", "wait", "receive")
    spans = zip(names, marks, marks[1:], strict=False)
    return {name: -1 if a is None or b is None else max(0, b - a) for name, a, b in spans}


def _times(entry: Mapping[str, Any], t: int | None) -> dict[str, Any]:
    timings = part(entry, "timings")
    marks: dict[str, int] = {}
    for mark, names in zip(("sent", "received", "ended"), _ABOVE, strict=True):
        spans = [_number(timings.get(name)) for name in names]
        if t is None or spans[-1] is None:
            break
        # A request over an open connection has no `dns` and no `connect`.
        t += round(sum(span for span in spans if span is not None))
        marks[mark] = t
    return marks


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1e12 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _headers(found: Any) -> tuple[tuple[str, str], ...] | None:
    if not isinstance(found, list) or not found:
        return None  # every request and response has some: they were left out
    pairs = ((one.get("name"), one.get("value")) for one in found if isinstance(one, dict))
    return tuple((name, value) for name, value in pairs if isinstance(name, str) and isinstance(value, str))


def _remote(entry: Mapping[str, Any]) -> str | None:
    address, port = _text(entry.get("serverIPAddress")), size(entry.get("_serverPort"))
    if not address:
        return None
    shown = f"[{address}]" if ":" in address and port is not None else address
    return shown if port is None else f"{shown}:{port}"


def _resource(entry: Mapping[str, Any], *, is_socket: bool) -> str:
    kind = _text(entry.get("_resourceType"))
    if is_socket:
        return "websocket"
    return kind if kind in RESOURCES else "other"
