"""What the browser tells of requests and of sockets."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct


class Requested(Struct, frozen=True, kw_only=True):
    """A request starts. A redirect hop is a request of its own: network id + `#` + hop number."""

    at: float
    request: str
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


class HandshakeSent(Struct, frozen=True, kw_only=True):
    """A WebSocket asked for its connection; the answer may never come."""

    at: float
    request: str
    headers: tuple[tuple[str, str], ...]


class Responded(Struct, frozen=True, kw_only=True):
    """Response headers arrived."""

    at: float
    request: str
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


class Finished(Struct, frozen=True, kw_only=True):
    """The body is complete."""

    at: float
    request: str
    encoded_size: int | None = None
    messages: int = 0
    """Messages of an event stream; those of a WebSocket are told one by one."""
    body: bytes | None = None
    """The body, where it need not be asked for."""


class WebSocketMessage(Struct, frozen=True, kw_only=True):
    """A message went over a WebSocket."""

    at: float
    request: str
    is_sent: bool
    """By the page; else it was received."""
    text: str | None = None
    """None = it was no text."""
    size: int
    """Bytes."""


class Failed(Struct, frozen=True, kw_only=True):
    """The request failed."""

    at: float
    request: str
    error: str


RequestMessage: TypeAlias = Requested | HandshakeSent | Responded | Finished | WebSocketMessage | Failed
"""Any of these."""
