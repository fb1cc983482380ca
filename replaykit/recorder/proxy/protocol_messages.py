"""What the switchboard handles: protocol messages, sessions of clients, and what is known of targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from replaykit.decoders import decoder

Message: TypeAlias = dict[str, Any]

RECORDER = 0
"""Number of the client that is the recorder itself."""

BROWSER = -1
"""Receives what goes to the browser."""


ASKED = "replaykit:asked"
"""Among the words of a command: the request that it is about."""

TARGET = "replaykit:target"
"""Among the words of a command: the target that it moves in the history."""

TRAVELS = "Page.navigateToHistoryEntry"
"""Method that moves back or forward."""

_LETTING_GO = frozenset({"Fetch.fulfillRequest", "Fetch.continueRequest", "Fetch.failRequest"})


class Wire(Struct, omit_defaults=True):
    """One protocol message; what is inside stays as it came."""

    id: int | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    sessionId: str | UnsetType = UNSET


# Without the limit of `decode`: a client may ask a browser for a whole page, one element inside of the other.
wires = decoder(Wire)


class Seat(Struct, eq=False):
    """One session of a client."""

    id: str
    client: int
    target: str = ""
    parent: Seat | None = None
    is_nested: bool = False
    """Its messages travel inside of those of its parent."""
    nests: bool = False
    """Sessions below it do."""
    contexts: set[int] = msgspec.field(default_factory=set)
    """Worlds that its client was told of."""
    uniques: dict[int, str] = {}
    waits: bool = False
    """The client was told that the target waits for it."""
    skips_resumed: bool = False
    paused: dict[str, Message] = msgspec.field(default_factory=dict)
    """Requests that wait for its client, by the name that it was given for them."""


class PendingRequest(Struct):
    """A request that waits for its answer."""

    client: int
    id: int
    seat: Seat | None
    method: str
    params: Message | None = None
    then: Callable[[Wire], None] | None = None


class TargetPlace(Struct):
    """What is known of one target."""

    is_armed: bool = False
    due: float = 0.0
    hidden: set[int] = msgspec.field(default_factory=set)
    """Worlds of the recorder in it."""
    apart: set[int | str] = msgspec.field(default_factory=set)
    """Worlds in it that are not a page's own, by number and by unique name."""
    unique: set[str] = msgspec.field(default_factory=set)
    scripts: set[str] = msgspec.field(default_factory=set)
    held: list[tuple[Seat, Wire]] = []
    resumes: list[Wire] = []
    seats: list[Seat] = []
    url: str = ""
    """Where it goes once the recorder listens."""


def plain(raw: Raw | UnsetType) -> Message:
    """Return what a message holds; empty where there is nothing."""
    found = {} if raw is UNSET else json.loads(bytes(raw))
    return found if isinstance(found, dict) else {}


def with_subject(seat: Seat, method: str, params: Message) -> Message:
    """Return the words of a command with what it is about: a request that waits, or a page that moves."""
    if method == TRAVELS:
        return {**params, TARGET: seat.target}
    if method not in _LETTING_GO:
        return params
    asked = seat.paused.pop(str(params.get("requestId")), None)
    return params if asked is None else {**params, ASKED: asked}


def fault(id: int | UnsetType | None, code: int, words: str, session: str | UnsetType = UNSET) -> Wire:
    """Return a refusal, as the browser words it."""
    error = Raw(json.dumps({"code": code, "message": words}).encode())
    return Wire(id=UNSET if id is None else id, error=error, sessionId=session)


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Yield every text below, with the name of its field."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        name, one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.items()
        elif isinstance(one, list):
            waiting += [(name, item) for item in one]
        elif isinstance(one, str):
            yield name, one
