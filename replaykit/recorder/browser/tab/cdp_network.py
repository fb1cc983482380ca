"""A tab's requests, as the protocol's Network domain reports them.

A redirect hop is a request of its own: the network id, `#` and the number of the hop. The headers that went
over the wire come in events of their own, before or after the plain ones; a response waits for them until the
request ends or its document commits.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias
from urllib.parse import urljoin, urlsplit

from msgspec.structs import replace

from replaykit.recorder.browser.tab.asking_documents import AskingDocuments
from replaykit.recorder.browser.tab.cdp_frames import Target, Via
from replaykit.recorder.browser.tab.tab_state import Missed, TabState
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import Input
from replaykit.recorder.session.request_messages import (
    Failed,
    Finished,
    HandshakeSent,
    Requested,
    Responded,
    WebSocketMessage,
)
from replaykit.recorder.session.websocket_traffic import TEXT

Params: TypeAlias = dict[str, Any]
Headers: TypeAlias = tuple[tuple[str, str], ...]

STATUSES_MAX = 1000
"""Documents whose status is remembered, per tab."""

OWNED_MAX = 20_000
"""Requests whose body can still be asked for, per tab."""

ENDPOINTS_MAX = 1000
"""Groups of endpoints for reports that are remembered, per tab."""

_RESOURCES = {
    "Document": "document",
    "Stylesheet": "stylesheet",
    "Script": "script",
    "Image": "image",
    "Font": "font",
    "Media": "media",
    "XHR": "xhr",
    "Fetch": "fetch",
    "WebSocket": "websocket",
    "EventSource": "eventsource",
    "Ping": "ping",
}
_INITIATORS = {"parser": "parser", "script": "script", "preload": "preload"}


class _Hop:
    """One request in flight."""

    def __init__(self, name: str, params: Params) -> None:
        self.name = name
        self.frame: str | None = params.get("frameId")
        self.url: str = params["request"]["url"]
        # Only a document's own request has the id of its loader.
        self.is_document = params.get("type") == "Document" and params["requestId"] == params.get("loaderId")
        # Made by the browser, whose ids have no number of a process before a dot.
        self.is_worker = params.get("type") == "Script" and "." not in params["requestId"]
        self.params = params if self.is_worker else {}
        self.wire: Headers | None = None
        self.wire_response: Headers | None = None
        self.wire_status: int | None = None
        self.is_answered = False
        """The page was given a response."""
        self.response: Responded | None = None
        """Waits for the wire headers."""
        self.end: Finished | Failed | None = None
        """Waits for the response."""
        self.messages = 0


class TabNetwork:
    """Requests of one tab, by network id."""

    def __init__(self, tab: TabState, clock: Clock) -> None:
        self._tab = tab
        self._clock = clock
        self._hops: dict[str, list[_Hop]] = {}
        self._early: dict[str, list[tuple[str, Params]]] = {}
        self._owned: dict[str, Via] = {}
        self._endpoints: set[tuple[str, str]] = set()
        self._urls: dict[Via, set[str]] = {(): set()}
        self._teller: Via = ()
        self._monotonic = 0.0
        self.asking = AskingDocuments(tab.frames)
        self.documents: dict[str, tuple[int | None, tuple[str, ...]]] = {}
        """Loader id to status and the URLs of its redirects, for the latest documents."""

    def translate(self, method: str, params: Params, via: Via = ()) -> Iterator[Input]:
        """Yield the session's messages for an event of the Network domain; `via`: the target that reports it.

        A frame's document is requested by one process and may be given to another, which reports the rest.
        """
        handle = _HANDLERS.get(method)
        if handle is not None:
            self._teller = via
            # First: the handler may forget the request.
            self._note_answer(method, params)
            self.asking.take(method, params)
            yield from handle(self, params)

    def knows(self, request: str) -> bool:
        """Whether this request has been seen from its start."""
        return request in self._hops or request in self.documents

    def owner(self, request: str) -> Via | None:
        """Return the target that can be asked for the body of that request; None = not of this tab."""
        return self._owned.get(request)

    def settle(self, request: str) -> Iterator[Input]:
        """Let a response go that still waits for its wire headers."""
        for hop in self._hops.get(request, ()):
            yield from self._respond(hop, is_over=True)

    def meet(self, target: Target) -> None:
        """Note what a new target asks for, until it is known what it asked for before."""
        self._urls[target.via] = set()

    def late(self, via: Via, urls: Iterable[str], *, least: int = 0) -> int:
        """Return how many requests preceded the recorder; `urls`: all that a target knows of."""
        received = self._urls.pop(via, set())
        # An empty window that its opener has made has no address, and has asked for nothing.
        late = sum(bool(url) and not url.startswith(_LOCAL) for url in set(urls) - received)
        return max(late, least - len(received))

    def complete(self, loader: str, via: Via) -> Iterator[Input]:
        """End the request of a loaded document, if its process has not reported the end."""
        hops = self._hops.get(loader, [])
        if hops and hops[-1].end is None:
            del self._hops[loader]
            self._teller = via
            self._own(hops[-1])
            hops[-1].end = Finished(at=self._clock.arrived(), request=hops[-1].name)
            for hop in hops:
                yield from self._respond(hop, is_over=True)

    def _at(self, seconds: float) -> float:
        return max(0.0, seconds * 1000 + self._monotonic)

    def _note_answer(self, method: str, params: Params) -> None:
        """Note who answers for a request; nothing else is known of one that began before the recorder."""
        name, via = params.get("requestId", ""), self._teller
        if method in _ANSWERS and name in self._hops:
            self._own(self._hops[name][-1])
        elif via and method in _ENDS and name not in self._owned:
            # It knows nothing of it as long as it goes on, so it is not among what `late` counts.
            self._owned[name] = via
            self._tab.miss_requests(self._tab.targets.get(via), 1)

    def _holder(self) -> str | None:
        target = self._tab.targets.get(self._teller)
        return target.frame or None if target else None

    def _requested(self, params: Params) -> Iterator[Input]:
        at = self._clock.of_epoch(params["wallTime"] * 1000)
        self._clock.witnessed(at)
        # All other events have monotonic times only, which this pair of times converts.
        self._monotonic = at - params["timestamp"] * 1000
        hops = self._hops.setdefault(params["requestId"], [])
        before = hops[-1] if hops else None
        if before is not None and "redirectResponse" in params:
            yield from self._redirected(before, params)
        number = len(hops)
        hop = _Hop(f"{params['requestId']}#{number}" if number else params["requestId"], params)
        hops.append(hop)
        hop.frame = hop.frame or self._holder()
        if self._teller in self._urls:
            self._urls[self._teller].add(hop.url)
        self._own(hop)
        yield self._request(hop, params, at, before)
        for method, extra in self._early.pop(params["requestId"], ()):
            yield from self.translate(method, extra, self._teller)

    def _own(self, hop: _Hop) -> None:
        self._owned[hop.name] = self._teller
        if len(self._owned) > OWNED_MAX:
            del self._owned[next(iter(self._owned))]

    def _redirected(self, hop: _Hop, params: Params) -> Iterator[Input]:
        has_extra = params.get("redirectHasExtraInfo", False)
        response, seconds = params["redirectResponse"], params["timestamp"]
        size = int(response.get("encodedDataLength", 0))
        hop.end = Finished(at=self._at(seconds), request=hop.name, encoded_size=size)
        yield from self._take_response(hop, response, seconds, has_extra=has_extra)

    def _request(self, hop: _Hop, params: Params, at: float, before: _Hop | None) -> Requested:
        request = params["request"]
        is_probe = self._tab.actor == "probe"
        return Requested(
            at=at,
            request=hop.name,
            page=None if is_probe else self._tab.page,
            frame=self._tab.frame(hop.frame),
            actor=self._tab.actor,
            method=request["method"],
            url=request["url"] + request.get("urlFragment", ""),
            headers=_pairs(request["headers"]),
            post=_posted(request),
            has_post=request.get("hasPostData", False),
            resource=_RESOURCES.get(params.get("type", ""), "other"),
            initiator=_initiator(params.get("initiator", {})),
            redirect_from=before.name if before and "redirectResponse" in params else None,
        )

    def _request_extra(self, params: Params) -> Iterator[Input]:
        yield from self._redirected_worker(params)
        hop = self._first(params, "Network.requestWillBeSentExtraInfo", lambda hop: hop.wire is None)
        if hop is not None:
            hop.wire = _pairs(params["headers"])
            yield from self._respond(hop)

    def _response_extra(self, params: Params) -> Iterator[Input]:
        hop = self._first(params, "Network.responseReceivedExtraInfo", lambda hop: hop.wire_response is None)
        if hop is not None:
            hop.wire_response = _pairs(params["headers"])
            hop.wire_status = params.get("statusCode")
            if hop.is_worker and hop.wire_status is not None:
                hop.is_answered = True
                hop.response = Responded(at=self._clock.arrived(), request=hop.name, status=hop.wire_status)
            yield from self._respond(hop)

    def _redirected_worker(self, params: Params) -> Iterator[Input]:
        """Report the hop to which the script of a worker was redirected.

        Of such a script the protocol reports the start, and the headers of all hops as they go over the wire.
        """
        hops = self._hops.get(params["requestId"], [])
        url = _location(hops[-1]) if hops and hops[-1].is_worker else None
        if url is not None:
            before = hops[-1].params
            timestamp = params.get("connectTiming", {}).get("requestTime", before["timestamp"])
            yield from self._requested(
                {
                    **before,
                    "request": {**before["request"], "url": url},
                    "redirectResponse": {"status": hops[-1].wire_status, "headers": {}},
                    "timestamp": timestamp,
                    "wallTime": before["wallTime"] + timestamp - before["timestamp"],
                }
            )

    def _first(self, params: Params, method: str, lacks: Callable[[_Hop], bool]) -> _Hop | None:
        # Extra events of one id come in the order of its hops.
        found = next((hop for hop in self._hops.get(params["requestId"], ()) if lacks(hop)), None)
        if found is None:
            self._early.setdefault(params["requestId"], []).append((method, params))
            while len(self._early) > STATUSES_MAX:
                del self._early[next(iter(self._early))]
        return found

    def _responded(self, params: Params) -> Iterator[Input]:
        hops = self._hops.get(params["requestId"])
        if hops:
            has_extra = params.get("hasExtraInfo", False)
            yield from self._take_response(
                hops[-1], params["response"], params["timestamp"], has_extra=has_extra
            )

    def _take_response(
        self, hop: _Hop, response: Params, seconds: float, *, has_extra: bool
    ) -> Iterator[Input]:
        timing = response.get("timing") or {}
        started = timing.get("requestTime", 0.0)
        hop.is_answered = True
        hop.response = Responded(
            at=self._at(seconds),
            request=hop.name,
            status=response["status"],
            status_text=response.get("statusText", ""),
            headers=_pairs(response["headers"]),
            mime=response.get("mimeType") or None,
            http_version=response.get("protocol"),
            remote=_remote(response),
            from_cache=response.get("fromDiskCache", False) or response.get("fromPrefetchCache", False),
            from_worker=response.get("fromServiceWorker", False),
            # `requestTime` is in seconds; the parts of `timing` are ms after it.
            sent_at=self._at(started + timing["sendStart"] / 1000) if timing else None,
            waited_at=self._at(started + timing["sendEnd"] / 1000) if timing else None,
        )
        self._remember(hop, response["status"])
        yield from self._respond(hop, is_over=not has_extra)

    def _respond(self, hop: _Hop, *, is_over: bool = False) -> Iterator[Input]:
        is_complete = hop.wire is not None and hop.wire_response is not None
        if hop.response is not None and (is_complete or is_over):
            # The status stays: a 304 over the wire is the 200 that the page was given.
            headers = hop.wire_response or hop.response.headers
            yield replace(hop.response, request_headers=hop.wire, headers=headers)
            hop.response = None
        if hop.end is not None and hop.response is None:
            yield hop.end
            hop.end = None

    def _remember(self, hop: _Hop, status: int) -> None:
        if hop.is_document:
            loader = hop.name.partition("#")[0]
            chain = tuple(one.url for one in self._hops[loader][:-1])
            self.documents[loader] = (status, chain)
            while len(self.documents) > STATUSES_MAX:
                del self.documents[next(iter(self.documents))]

    def _finished(self, params: Params) -> Iterator[Input]:
        hops = self._hops.pop(params["requestId"], [])
        for hop in hops[-1:]:
            size = params.get("encodedDataLength")
            hop.end = Finished(
                at=self._at(params["timestamp"]),
                request=hop.name,
                encoded_size=None if size is None else int(size),
                messages=hop.messages,
            )
        for hop in hops:
            yield from self._respond(hop, is_over=True)

    def _failed(self, params: Params) -> Iterator[Input]:
        hops = self._hops.pop(params["requestId"], [])
        at, error = self._at(params["timestamp"]), params.get("blockedReason") or params["errorText"]
        for hop in hops[-1:]:
            hop.end = Failed(at=at, request=hop.name, error=error)
            # The answer of another origin may be kept from the page (CORS, ORB); its status is known.
            if hop.wire_status is not None and not hop.is_answered:
                hop.response = Responded(at=at, request=hop.name, status=hop.wire_status)
        for hop in hops:
            yield from self._respond(hop, is_over=True)
        if hops and hops[-1].is_document and hops[-1].frame is not None:
            yield from self._tab.moves.failed(hops[-1].frame, hops[-1].url, error, at, hops[0].name)

    # WebSockets and event streams

    def _socket_created(self, params: Params) -> Iterator[Input]:
        return self._connected(params["requestId"], params, "GET", "websocket")

    def _connected(self, name: str, params: Params, method: str, resource: str) -> Iterator[Input]:
        hop = _Hop(name, {**params, "request": {"url": params["url"]}})
        self._hops[name] = [hop]
        yield Requested(
            at=self._clock.arrived(),
            request=hop.name,
            page=None if self._tab.actor == "probe" else self._tab.page,
            actor=self._tab.actor,
            method=method,
            url=params["url"],
            # The browser does not report what is sent over a WebTransport.
            has_post=resource == "webtransport",
            resource=resource,
            initiator=_initiator(params.get("initiator") or {}),
        )

    def _socket_asked(self, params: Params) -> Iterator[Input]:
        headers = _pairs(params["request"]["headers"])
        yield HandshakeSent(at=self._at(params["timestamp"]), request=params["requestId"], headers=headers)

    def _socket_opened(self, params: Params) -> Iterator[Input]:
        response = params["response"]
        wire = response.get("requestHeaders")
        yield Responded(
            at=self._at(params["timestamp"]),
            request=params["requestId"],
            status=response["status"],
            status_text=response.get("statusText", ""),
            headers=_pairs(response["headers"]),
            request_headers=_pairs(wire) if wire else None,
        )

    def _transport_created(self, params: Params) -> Iterator[Input]:
        return self._connected(params["transportId"], params, "CONNECT", "webtransport")

    def _transport_opened(self, params: Params) -> Iterator[Input]:
        yield Responded(at=self._at(params["timestamp"]), request=params["transportId"], status=200)

    def _transport_closed(self, params: Params) -> Iterator[Input]:
        return self._finished({**params, "requestId": params["transportId"]})

    def _message_received(self, params: Params) -> Iterator[Input]:
        for hop in self._hops.get(params["requestId"], ())[-1:]:
            hop.messages += 1
        return iter(())

    def _endpoints_changed(self, params: Params) -> Iterator[Input]:
        for one in params["endpoints"][: ENDPOINTS_MAX - len(self._endpoints)]:
            self._endpoints.add((params["origin"], one["groupName"]))
        return iter(())

    def _report_updated(self, params: Params) -> Iterator[Input]:
        # The browser sends it by itself, and reports no request. It also tries one without an endpoint.
        report, place = params["report"], urlsplit(params["report"]["initiatorUrl"])
        is_sent = (f"{place.scheme}://{place.netloc}", report["destination"]) in self._endpoints
        if report["status"] == ("Pending" if is_sent else "Success"):
            self._tab.gaps.append(Missed("network", "report.unseen"))
        return iter(())

    def _frame_received(self, params: Params) -> Iterator[Input]:
        return self._framed(params, is_sent=False)

    def _frame_sent(self, params: Params) -> Iterator[Input]:
        return self._framed(params, is_sent=True)

    def _framed(self, params: Params, *, is_sent: bool) -> Iterator[Input]:
        name, frame = params["requestId"], params.get("response", {})
        if name in self._hops:
            text, size = _payload(frame)
            at = self._at(params["timestamp"])
            yield WebSocketMessage(at=at, request=name, is_sent=is_sent, text=text, size=size)
        elif is_sent and name not in self._owned:
            # Its socket was opened before the recorder was attached.
            self._owned[name] = self._teller
            self._tab.gaps.append(Missed("network", "socket.late"))


def _pairs(headers: dict[str, str]) -> Headers:
    # Repeated headers come as one value with line breaks between.
    return tuple((name, value) for name, text in headers.items() for value in text.split("\n"))


def _payload(frame: Params) -> tuple[str | None, int]:
    """Return the text of a frame, None where it has none, and its size in bytes."""
    data: str = frame.get("payloadData", "")
    if frame.get("opcode") == TEXT:
        return data, len(data.encode("utf-8", "replace"))
    # Binary payloads come as base64: four letters hold three bytes.
    return None, len(data) * 3 // 4 - data[-2:].count("=")


def _posted(request: Params) -> bytes | None:
    entries = request.get("postDataEntries")
    # `postData` is a text: bytes that are not UTF-8 survive only in the entries.
    if entries and all("bytes" in entry for entry in entries):
        return b"".join(base64.b64decode(entry["bytes"]) for entry in entries)
    text: str | None = request.get("postData")
    return None if text is None else text.encode("utf-8", "surrogatepass")


def _location(hop: _Hop) -> str | None:
    """Return the address to which the answer on the wire leads, None where it is no redirect."""
    headers = dict(reversed(hop.wire_response or ()))
    found = next((value for name, value in headers.items() if name.lower() == "location"), None)
    return urljoin(hop.url, found) if found and hop.wire_status in _REDIRECTS else None


def _remote(response: Params) -> str | None:
    address = response.get("remoteIPAddress")
    return f"{address}:{response.get('remotePort', 0)}" if address else None


_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_LOCAL = ("data:", "blob:", "about:", "chrome")

_ANSWERS = frozenset({"Network.responseReceived", "Network.loadingFinished"})
_ENDS = _ANSWERS | {"Network.loadingFailed"}

_HANDLERS: dict[str, Callable[[TabNetwork, Params], Iterator[Input]]] = {
    "Network.requestWillBeSent": TabNetwork._requested,
    "Network.requestWillBeSentExtraInfo": TabNetwork._request_extra,
    "Network.responseReceived": TabNetwork._responded,
    "Network.responseReceivedExtraInfo": TabNetwork._response_extra,
    "Network.loadingFinished": TabNetwork._finished,
    "Network.loadingFailed": TabNetwork._failed,
    "Network.webSocketCreated": TabNetwork._socket_created,
    "Network.webSocketWillSendHandshakeRequest": TabNetwork._socket_asked,
    "Network.webSocketHandshakeResponseReceived": TabNetwork._socket_opened,
    "Network.webSocketFrameReceived": TabNetwork._frame_received,
    "Network.webSocketFrameSent": TabNetwork._frame_sent,
    "Network.webSocketClosed": TabNetwork._finished,
    "Network.eventSourceMessageReceived": TabNetwork._message_received,
    "Network.reportingApiEndpointsChangedForOrigin": TabNetwork._endpoints_changed,
    "Network.reportingApiReportUpdated": TabNetwork._report_updated,
    "Network.webTransportCreated": TabNetwork._transport_created,
    "Network.webTransportConnectionEstablished": TabNetwork._transport_opened,
    "Network.webTransportClosed": TabNetwork._transport_closed,
}


_EVALUATORS = ("__playwright", "pptr:")
"""How the addresses of scripts begin that drivers put around those of an agent."""


def _initiator(about: Params) -> str:
    """Return the word for what made a request.

    `evaluated`: a script of an agent called one of the page; `agent`: a script of an agent called none.
    """
    frames = [frame["url"] for frame in about.get("stack", {}).get("callFrames", ())]
    # The outermost call comes last; what a command evaluates has no address.
    if frames and (not frames[-1] or frames[-1].startswith(_EVALUATORS)):
        return "evaluated" if any(url.startswith("http") for url in frames) else "agent"
    return _INITIATORS.get(about.get("type", ""), "other")
