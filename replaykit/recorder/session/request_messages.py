"""The browser's reports of requests and sockets."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class OfRequest(Struct, frozen=True, kw_only=True):
    """Something that happens to a request: when, and which by its network id."""

    at: float
    request: str


class Requested(OfRequest, frozen=True, kw_only=True):
    """A request starts. A redirect hop is a request of its own: network id + `#` + hop number."""

    page: int | None = None
    frame: tuple[int, ...] = ()
    actor: str = "agent"
    """`agent probe`."""
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    post: bytes | None = None
    has_post: bool = False
    """There is a body, even where `post` is absent."""
    resource: str = "other"
    """Words of `Exchange.resource`."""
    initiator: str | None = None
    redirect_from: str | None = None


class HandshakeSent(OfRequest, frozen=True, kw_only=True):
    """A WebSocket asked for its connection; the answer may never come."""

    headers: tuple[tuple[str, str], ...]


class Responded(OfRequest, frozen=True, kw_only=True):
    """Response headers arrived."""

    status: int
    status_text: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    mime: str | None = None
    http_version: str | None = None
    remote: str | None = None
    from_cache: bool = False
    from_worker: bool = False
    request_headers: tuple[tuple[str, str], ...] | None = None
    """Request headers as they went over the wire (referer, cookies); absent = those of `Requested` stand."""
    sent_at: float | None = None
    """Request sent."""
    waited_at: float | None = None
    """First byte awaited."""


class Finished(OfRequest, frozen=True, kw_only=True):
    """The body is complete."""

    encoded_size: int | None = None
    messages: int = 0
    """Messages of an event stream; those of a WebSocket are reported one by one."""
    body: bytes | None = None
    """The body, where it need not be asked for."""


class WebSocketMessage(OfRequest, frozen=True, kw_only=True):
    """A message went over a WebSocket."""

    is_sent: bool
    """By the page; else it was received."""
    text: str | None = None
    """None = it was no text."""
    size: int
    """Bytes."""


class Failed(OfRequest, frozen=True, kw_only=True):
    """The request failed."""

    error: str


RequestMessage: TypeAlias = Requested | HandshakeSent | Responded | Finished | WebSocketMessage | Failed
"""Any of these."""
