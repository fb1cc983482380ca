"""Exchanges: requests with their responses, redirects and bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from replaykit.bundle.bundle_format import is_media_type
from replaykit.recorder.browser.witnesses.net_log import Sent
from replaykit.recorder.session.driver_messages import FetchBody, Navigated, Post
from replaykit.recorder.session.outbox import Blob, Flow, Flows, Outbox, StepRef
from replaykit.recorder.session.page_message import ms
from replaykit.recorder.session.request_messages import (
    Failed,
    Finished,
    HandshakeSent,
    Requested,
    Responded,
    WebSocketMessage,
)
from replaykit.recorder.session.websocket_traffic import FRAMES, Side
from replaykit.recorder.session.witnesses import Answered
from replaykit.secrets.known_headers import KnownHeaders
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.scalars import Omitted

BODY_MAX = 2**20
"""Bytes of one request or response body that are kept."""

BODIES_MAX = 64 * 2**20
"""Bytes of all response bodies that are kept."""

TEXTS = ("text/", "application/json", "application/xml", "application/x-www-form-urlencoded")
"""Media types of data that scripts ask for."""

ANSWERS_MAX = 1000
"""Answers of the agent that wait for word of their requests."""

LOADING = frozenset({"document", "xhr", "fetch"})
"""Resources that a screenshot waits for."""

_WITH_LENGTH = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose requests state a length, and be it 0, unless they send a stream."""

_LOOKING = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that change nothing."""

_BYTES, _PLAIN = "application/octet-stream", "text/plain"

# The same words as `_LOOKING` for another reason: these requests carry no body.
_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

# Nothing of these reaches a server.
_LEFT_OUT = ("data:", "blob:", "about:", "chrome:", "chrome-extension:", "devtools:", "chrome-error:")


class Request:
    """One request under way."""

    def __init__(self, exchange: Exchange, message: Requested, ref: StepRef | None) -> None:
        self.exchange = exchange
        self.name = message.request
        self.page = message.page
        self.at = message.at
        self.ref = ref
        self.blobs: list[Blob] = []
        self.is_over = False
        self.is_written = False
        self.is_complete = False
        """Nothing more arrives, except what the request sent."""
        self.is_asked = False
        """Its request body is being fetched."""
        self.sent: int | None = None
        """Bytes of what it sent, as far as they are known."""
        self.is_on_wire = False
        """Its headers are those that went over the wire."""
        self.went, self.came = Side(), Side()
        """Messages of a WebSocket."""


class Network:
    """Collects the exchanges of all tabs; `mode`: `bodies`, `meta` or `off`."""

    def __init__(self, outbox: Outbox, flows: Flows, mode: str = "bodies") -> None:
        self._outbox = outbox
        self._flows = flows
        self._mode = mode
        self._requests: dict[str, Request] = {}
        self._finals: dict[str, str] = {}
        self._count = 0
        self._kept = 0
        self._answered: list[Answered] = []
        self._observed: Counter[tuple[str, str]] = Counter()
        self._headers = KnownHeaders()

    def requested(self, message: Requested, ref: StepRef | None) -> None:
        """Record a request; one that a redirect caused ends the one before."""
        # The driver's own requests never pass through the browser, so its log cannot confirm them.
        if message.initiator != "driver":
            self._observed[message.method, message.url.partition("#")[0]] += 1
        if self._mode == "off" or _is_left_out(message.url) or _is_favicon(message.url, message.resource):
            return
        source = self._requests.get(message.redirect_from or "")
        exchange = self._answered_by_agent(_exchange(message, self._count, source))
        is_of_step = message.actor != "probe" and message.initiator != "driver"
        request = Request(exchange, message, ref if is_of_step else None)
        self._count += 1
        self._post(request, message)
        self._requests[message.request] = request
        # A redirect hop is named `id#n`, but a navigation names the id and means the last hop.
        self._finals[message.request.partition("#")[0]] = message.request
        if source is not None:
            source.exchange = replace(source.exchange, redirect_to=exchange.id)
            if source.is_over:
                self._write(source)

    def _answered_by_agent(self, exchange: Exchange) -> Exchange:
        answered = next((one for one in self._answered if _is_answer(one, exchange)), None)
        if answered is None:
            return exchange
        self._answered.remove(answered)
        return replace(exchange, source="agent")

    def answered(self, message: Answered) -> None:
        """Record that the agent itself answers a request: one that was reported, or is about to be."""
        live = (request for request in reversed(self._requests.values()) if not request.is_over)
        found = next((request for request in live if _is_answer(message, request.exchange)), None)
        if found is None:
            self._answered = [*self._answered, message][-ANSWERS_MAX:]
        else:
            found.exchange = replace(found.exchange, source="agent")

    def asked(self, message: HandshakeSent) -> None:
        """Record the headers with which a WebSocket asked for its connection."""
        request = self._requests.get(message.request)
        if request is not None and not request.is_over:
            request.exchange = replace(request.exchange, request_headers=message.headers)

    def responded(self, message: Responded) -> None:
        """Record a response's head."""
        request = self._requests.get(message.request)
        if request is None or request.is_over:
            return
        if request.exchange.source != "agent":
            self._headers.set_by(message.headers)
        sent, waited = message.sent_at, message.waited_at
        request.is_on_wire |= message.request_headers is not None
        request.exchange = replace(
            request.exchange,
            status=message.status if message.status >= 0 else None,
            status_text=message.status_text or None,
            response_headers=message.headers,
            request_headers=message.request_headers or request.exchange.request_headers,
            mime=message.mime,
            http_version=message.http_version,
            remote=message.remote,
            from_cache=message.from_cache,
            from_worker=message.from_worker,
            sent=request.exchange.sent if sent is None else ms(sent),
            waited=None if waited is None else ms(waited),
            received=ms(message.at),
        )

    def finished(self, message: Finished) -> int | None:
        """Record the end of a response; return the tab that waited for it."""
        request = self._end(message.request, message.at)
        if request is None:
            return None
        request.exchange = replace(
            request.exchange,
            encoded_size=message.encoded_size,
            messages=message.messages,
        )
        if message.body is not None:
            self._keep(request, message.body)
        if message.body is None and self._has_body(request.exchange):
            self._flows.start(self._body(request))
        elif not _is_redirect(request.exchange):
            self._write(request)  # a redirect waits for the request that it leads to
        return request.page

    def framed(self, message: WebSocketMessage) -> None:
        """Record a message of a WebSocket."""
        request = self._requests.get(message.request)
        if request is not None and not request.is_over:
            side = request.went if message.is_sent else request.came
            self._kept += side.take(message.text, message.size, BODIES_MAX - self._kept)

    def failed(self, message: Failed) -> int | None:
        """Record that a request failed; return the tab that waited for it."""
        request = self._end(message.request, message.at)
        if request is None:
            return None
        request.exchange = replace(request.exchange, error=message.error)
        self._write(request)
        return request.page

    def compare(self, sent: Iterable[Sent], since: float, until: float) -> dict[str, int]:
        """Write the requests of the net log that were not recorded, between two times; return counts."""
        # Each recorded request explains one logged request: an address may be asked for twice.
        left, counts = self._observed.copy(), Counter(recorded=0, unrecorded=0, internal=0)
        for one in sent:
            is_known = left[one.method, one.url] > 0
            left[one.method, one.url] -= 1
            kind = "recorded" if is_known else "internal" if one.is_internal else "unrecorded"
            counts[kind] += 1
            if kind == "unrecorded" and since <= one.at <= until and not _is_ignored(one):
                self._write_unrecorded(one)
        return dict(counts)

    def _write_unrecorded(self, sent: Sent) -> None:
        is_empty = sent.method in _WITHOUT_BODY and sent.url.startswith("http")
        exchange = Exchange(
            t=ms(sent.at),
            id=self._count,
            page=sent.page,
            method=sent.method,
            url=sent.url,
            initiator=sent.initiator,
            source="netlog",
            resource="document" if sent.is_document else "other",
            post=None if is_empty else Omitted(why="unreported"),
            body=Omitted(why="unreported"),
        )
        self._count += 1
        # `compare` may run twice, for the driver's log and for the net log: write each request once.
        self._observed[sent.method, sent.url] += 1
        message = Requested(at=sent.at, request=f"log:{exchange.id}", method=sent.method, url=sent.url)
        request = Request(exchange, message, None)
        if sent.post is not None:
            self._keep_post(request, sent.post, sent.post_type)
        self._outbox.write(request.exchange, request.blobs)

    def is_loading(self, page: int, since: float) -> bool:
        """Whether a tab waits for a document or data that it asked for since then."""
        return any(
            request.page == page and request.at >= since and request.exchange.resource in LOADING
            for request in self._requests.values()
            if not request.is_over
        )

    def is_changing(self, page: int) -> bool:
        """Whether a tab waits for the answer to a request that may change something."""
        return any(
            request.page == page and request.exchange.method.upper() not in _LOOKING
            for request in self._requests.values()
            if not request.is_over and request.exchange.actor != "probe"
        )

    def document_of(self, page: int, message: Navigated) -> tuple[int | None, int | None]:
        """Return exchange and status of what a navigation led to: by network id, else by address."""
        name, url = message.request, message.url
        found = self._requests.get(self._finals.get(name or "", ""))
        # An id that is known but has no exchange is not matched by address: that may be an older load.
        if found is None and name is None:
            same = (
                request for request in reversed(self._requests.values()) if _is_document(request, page, url)
            )
            found = next(same, None)
        return (None, None) if found is None else (found.exchange.id, found.exchange.status)

    def finish(self) -> None:
        """Write what is still under way."""
        for request in self._requests.values():
            request.is_over = True
            # No reply comes any more, and an open question would hold the exchange back.
            request.is_asked = False
            self._write(request)

    def _end(self, name: str, at: float) -> Request | None:
        request = self._requests.get(name)
        if request is None or request.is_over:
            return None
        request.is_over = True
        request.exchange = replace(request.exchange, ended=ms(at))
        return request

    def _post(self, request: Request, message: Requested) -> None:
        if message.post is not None:
            self._keep_post(request, message.post)
        elif message.has_post:
            request.is_asked = True
            self._flows.start(self._ask_post(request))

    def _ask_post(self, request: Request) -> Flow:
        # At once: the browser forgets it with the page.
        reply = yield Post(id=0, request=request.name)
        if isinstance(reply.value, bytes):
            self._keep_post(request, reply.value)
        else:
            request.exchange = replace(request.exchange, post=Omitted(why=_why(reply.error)))
        request.is_asked = False
        if request.is_complete:
            self._write(request)

    def _keep_post(self, request: Request, data: bytes, media_type: str = "") -> None:
        request.sent = len(data)
        stated = _media_type(media_type) if media_type else _sent_type(request.exchange)
        # The redactor leaves binary types untouched, so a readable body has to be called a text.
        is_text = stated == _BYTES and len(data) <= BODY_MAX and _is_utf8(data)
        post = self._kept_part(request, _PLAIN if is_text else stated, data)
        request.exchange = replace(request.exchange, post=post)

    def _keep_frames(self, request: Request) -> None:
        if request.exchange.resource == "websocket":
            request.exchange = replace(
                request.exchange,
                post=self._frames(request, request.went),
                body=self._frames(request, request.came, "" if self._mode == "bodies" else "off"),
                sent_frames=request.went.count,
                messages=request.came.count,
            )

    def _frames(self, request: Request, side: Side, why: str = "") -> str | Omitted | None:
        lines = b"" if why else side.lines(self._outbox.redactor)
        if not lines:
            return side.omitted(why)
        return self._blob(request, FRAMES, lines) or side.omitted("withheld")

    def _has_body(self, exchange: Exchange) -> bool:
        # The protocol gives no bodies for redirects, and the other statuses have none.
        is_empty = exchange.status in (None, 204, 301, 302, 303, 304, 307, 308)
        if (
            self._mode != "bodies"
            or exchange.initiator == "driver"
            or exchange.redirect_to is not None
            or is_empty
        ):
            return False
        is_data = exchange.resource in ("xhr", "fetch") and _is_text(exchange.mime or "")
        return exchange.method != "HEAD" and (exchange.resource == "document" or is_data)

    def _body(self, request: Request) -> Flow:
        size = request.exchange.encoded_size or 0
        if self._kept + size > BODIES_MAX:
            request.exchange = replace(request.exchange, body=Omitted(why="cap", n=size))
            self._write(request)
            return
        reply = yield FetchBody(id=0, request=request.name)
        if isinstance(reply.value, bytes):
            self._keep(request, reply.value)
        else:
            request.exchange = replace(request.exchange, body=Omitted(why=_why(reply.error)))
        self._write(request)

    def _keep(self, request: Request, data: bytes) -> None:
        body = self._kept_part(request, _media_type(request.exchange.mime), data)
        request.exchange = replace(request.exchange, body=body, decoded_size=len(data))

    def _kept_part(self, request: Request, media_type: str, data: bytes) -> str | Omitted:
        if len(data) > BODY_MAX or self._kept + len(data) > BODIES_MAX:
            return _omitted("cap", data)
        self._kept += len(data)
        return self._blob(request, media_type, data) or _omitted("withheld", data)

    def _blob(self, request: Request, media_type: str, data: bytes) -> str | None:
        """Return the id of a part that the request keeps; None: a declared secret stays in it."""
        blob = self._outbox.blob(media_type, data)
        # In binary data and in a key of JSON a secret cannot be replaced.
        found = self._outbox.redactor.scan(blob.data)
        if found is not None and found.is_declared:
            return None
        request.blobs.append(blob)
        return blob.id

    def _why_none(self, exchange: Exchange) -> str:
        if self._mode != "bodies":
            return "off"
        return "unread" if exchange.initiator == "driver" else "type"

    def _write(self, request: Request) -> None:
        request.is_complete = True
        if request.is_written or request.is_asked:
            return
        self._keep_frames(request)
        exchange = _posted(request)
        headers = exchange.request_headers
        exchange = replace(exchange, request_headers=None if headers is None else self._headers.sent(headers))
        is_socket = exchange.resource == "websocket"
        if (
            not is_socket
            and exchange.body is None
            and exchange.status is not None
            and exchange.redirect_to is None
        ):
            exchange = replace(exchange, body=Omitted(why=self._why_none(exchange)))
        self._outbox.write(exchange, request.blobs, request.ref)
        request.is_written = True
        request.blobs = []
        # Only id, status and address are asked for later.
        request.exchange = replace(exchange, request_headers=None, response_headers=None)


def _exchange(message: Requested, number: int, source: Request | None) -> Exchange:
    return Exchange(
        t=ms(message.at),
        page=message.page,
        id=number,
        method=message.method,
        url=message.url,
        frame=message.frame,
        actor=message.actor,
        initiator=message.initiator,
        resource=message.resource,
        request_headers=message.headers,
        redirect_from=source.exchange.id if source else None,
        sent=ms(message.at),
    )


def _is_answer(message: Answered, exchange: Exchange) -> bool:
    is_same = exchange.url.partition("#")[0] == message.url.partition("#")[0]
    return is_same and exchange.method == message.method and (exchange.t or 0) <= message.at


def _posted(request: Request) -> Exchange:
    """Return the exchange; its length on the wire shows whether the body is too long, a stream, or a file."""
    exchange = request.exchange
    length = _length(exchange.request_headers or ()) if request.is_on_wire else None
    if exchange.post is None:
        is_stream = request.is_on_wire and length is None and exchange.method in _WITH_LENGTH
        return replace(exchange, post=Omitted(why="stream")) if is_stream else exchange
    if isinstance(exchange.post, Omitted):
        if length == 0:  # a form without fields: the browser says that there is a body, and has none to give
            return replace(exchange, post=None)
        is_long = request.sent is None and length is not None and length > BODY_MAX
        return replace(exchange, post=Omitted(why="cap", n=length)) if is_long else exchange
    is_less = length is not None and request.sent is not None and request.sent < length
    return replace(exchange, post_size=length) if is_less else exchange


def _length(headers: tuple[tuple[str, str], ...]) -> int | None:
    found = next((value for name, value in headers if name.lower() == "content-length"), "")
    # `int` takes quadratic time in the digits, and a header may hold any number of them.
    return int(found) if found.isascii() and found.isdigit() and len(found) < 16 else None


def _omitted(why: str, data: bytes) -> Omitted:
    # No digest: it would confirm a guess at what the data held.
    return Omitted(why=why, n=len(data))


def _why(error: str | None) -> str:
    return {"gone": "evicted", "timeout": "timeout", "dialog_open": "dialog_open"}.get(error or "", "failed")


def _is_document(request: Request, page: int, url: str) -> bool:
    exchange = request.exchange
    plain = url.partition("#")[0]
    return (
        request.page == page
        and exchange.resource == "document"
        and not exchange.frame
        and exchange.url.partition("#")[0] == plain
    )


def _is_redirect(exchange: Exchange) -> bool:
    return exchange.redirect_to is None and exchange.status in (301, 302, 303, 307, 308)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_text(mime: str) -> bool:
    kind = mime.lower()
    return kind.startswith(TEXTS) or kind.partition(";")[0].endswith(("+json", "+xml"))


def _media_type(mime: str | None) -> str:
    kind = (mime or "").partition(";")[0].strip().lower()
    return kind if is_media_type(kind) else _BYTES


def _sent_type(exchange: Exchange) -> str:
    headers = exchange.request_headers or ()
    return _media_type(next((value for name, value in headers if name.lower() == "content-type"), None))


def _is_left_out(url: str) -> bool:
    return url.startswith(_LEFT_OUT)


def _is_favicon(url: str, resource: str | None) -> bool:
    path = url.partition("?")[0]
    return path.endswith("/favicon.ico") and resource in ("other", "image")


def _is_ignored(sent: Sent) -> bool:
    """Whether it is left out even if reported: true for icons, which the browser requests at any time."""
    is_icon = sent.method == "GET" and not sent.is_document and _is_favicon(sent.url, "other")
    return is_icon or _is_left_out(sent.url)
