"""Messages to and from targets below a page, inside of messages of the page's own session.

Playwright offers sessions only for pages, and late. Targets that a page's session attaches to by itself (out-
of-process frames, workers) communicate through that session. Requests go out in `Target.sendMessageToTarget`;
events and replies come in `Target.receivedMessageFromTarget`. For targets below targets, one such message
contains another. A page that the browser reported communicates through the browser's session in the same way.
Pure: no driver, no clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from replaykit.recorder.browser.tab.cdp_frames import Via

Message: TypeAlias = dict[str, Any]
"""One protocol message."""

SEND = "Target.sendMessageToTarget"
RECEIVED = "Target.receivedMessageFromTarget"


class TargetEvent(Struct, frozen=True, kw_only=True):
    """An event of a target."""

    via: Via
    """Its session; empty = that of the page itself."""
    method: str
    params: Message


class TargetReply(Struct, frozen=True, kw_only=True):
    """The reply to a request, or the end of waiting for it."""

    number: int
    """Of the request."""
    result: Message | None = None
    """None: it was refused, or the target is gone."""


class Relay:
    """Wraps requests for one page's targets, and unwraps what they say.

    `wire`: the session through which the browser forwards messages of the page; empty = the page's own.
    """

    def __init__(self, wire: str = "") -> None:
        self._root: Via = (wire,) if wire else ()
        self.joined: set[str] = set()
        """Sessions of targets of the page that the browser's own session has attached to by itself."""
        self._waiting: dict[int, Via] = {}
        self._next = 1

    def ask(self, via: Via, method: str, params: Message) -> tuple[int, Message]:
        """Return the number of a request, and the parameters of SEND on the session that carries it."""
        number, self._next = self._next, self._next + 1
        self._waiting[number] = via
        message: Message = {"id": number, "method": method, "params": params}
        whole = via if via and via[0] in self.joined else (*self._root, *via)
        for session in reversed(whole[1:]):
            message = {"id": number, "method": SEND, "params": _enveloped(session, message)}
        return number, _enveloped(whole[0], message)

    def forget(self, number: int) -> None:
        """Wait for a reply no longer."""
        self._waiting.pop(number, None)

    def receive(self, method: str, params: Message) -> Iterator[TargetEvent | TargetReply]:
        """Yield what an event of the session that carries all this reports, and whose reply it is."""
        if params.get("sessionId") in self._root:
            yield from self._unwrap(params, ())
        else:
            yield from self._receive(method, params, ())

    def _receive(self, method: str, params: Message, via: Via) -> Iterator[TargetEvent | TargetReply]:
        if method == RECEIVED:
            yield from self._unwrap(params, (*via, params["sessionId"]))
            return
        yield TargetEvent(via=via, method=method, params=params)
        if method == "Target.detachedFromTarget":
            yield from self._lose((*via, params["sessionId"]))

    def _unwrap(self, params: Message, via: Via) -> Iterator[TargetEvent | TargetReply]:
        message = json.loads(params["message"])
        number = message.get("id")
        if number is None:
            yield from self._receive(message["method"], message.get("params") or {}, via)
        elif self._waiting.get(number) == via or (number in self._waiting and "error" in message):
            # A refusal on the way also ends the wait; a mere receipt does not.
            del self._waiting[number]
            yield TargetReply(
                number=number, result=None if "error" in message else message.get("result") or {}
            )

    def _lose(self, via: Via) -> Iterator[TargetReply]:
        for number in [number for number, at in self._waiting.items() if at[: len(via)] == via]:
            del self._waiting[number]
            yield TargetReply(number=number)


def _enveloped(session: str, message: Message) -> Message:
    return {"sessionId": session, "message": json.dumps(message)}
