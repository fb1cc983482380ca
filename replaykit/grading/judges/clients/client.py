"""Interface of a transport: it carries one request to a model and returns a reply or a failure, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure

Images: TypeAlias = Mapping[str, bytes]
"""Blob id to the bytes that are sent: PNG for own captures, else the screenshot as it is."""


class ClientAnswer(Struct, frozen=True, kw_only=True):
    """Answer of a transport to a request."""

    reply: ModelReply | ReplyFailure
    """The reply, or why it is missing."""
    provenance: dict[str, Any] = {}
    """When and how it was obtained; never credentials."""


class SentRequest(Struct, frozen=True, kw_only=True):
    """A request with the bytes of its screenshots."""

    request: ModelRequest
    """The request."""
    images: dict[str, bytes] = {}
    """Blob id to bytes."""


class Client(Protocol):
    """Sends requests to a model. It never raises for errors of the server: a failure is a reply."""

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Send a request once and return the reply; retries are up to the transport."""


class BatchClient(Client, Protocol):
    """A client that can also hand in many requests at once, cheaper and slower."""

    def ask_many(self, sent: Sequence[SentRequest]) -> list[ClientAnswer]:
        """Hand in a batch, wait for its end, return as many answers in the same order."""


class CallableClient:
    """A client made from a function of a request and its images; it returns a text, a reply or a failure."""

    def __init__(self, answer: Callable[[ModelRequest, Images], str | ModelReply | ReplyFailure]) -> None:
        self._answer = answer

    def ask(self, request: ModelRequest, images: Images) -> ClientAnswer:
        """Call the function; a text becomes a complete reply of the requested model."""
        answer = self._answer(request, images)
        if isinstance(answer, str):
            answer = ModelReply(text=answer, stop_reason="end_turn", model=request.model, origin="live")
        return ClientAnswer(reply=answer)
