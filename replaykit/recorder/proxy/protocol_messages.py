"""Values of the switchboard: protocol messages, sessions of clients, and facts about targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from replaykit.decoders import decoder
from replaykit.patterns import lazy_pattern
from replaykit.recorder.browser.witnesses.command_kinds import CDP_SCRIPTS, PLANTING, cdp_kind

Message: TypeAlias = dict[str, Any]

Send: TypeAlias = Callable[[int, bytes], None]
"""Carries the bytes of a message to a client, by its number."""

RECORDER = 0
"""Number of the client that is the recorder itself."""

BROWSER = -1
"""Receives what goes to the browser."""


OWN = "replaykit:"
"""How the keys begin that the proxy adds to the parameters of a command."""

ASKED = f"{OWN}asked"
"""Key that the proxy adds to a command: the request that it is about."""

TARGET = f"{OWN}target"
"""Key that the proxy adds to a command: the target of its back/forward navigation."""

WORLD = f"{OWN}world"
"""Key that the proxy adds to a command: where a script runs, `page` or `driver`."""

TRAVELS = "Page.navigateToHistoryEntry"
"""Method that moves back or forward."""

HANDLE = lazy_pattern(r"-?\d+\.(\d+)\.\d+\Z")
"""V8 writes an object id as isolate, world and number; the world tells whose it is."""

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
    """Worlds that were reported to its client."""
    uniques: dict[int, str] = {}
    waits: bool = False
    """Whether its client was informed that the target waits for it."""
    is_arming: bool = False
    """Whether the recorder has sent its script by it."""
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
    """Facts about one target."""

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
    """Return what a message holds, without keys of the proxy's own, which a client could forge."""
    found = {} if raw is UNSET else json.loads(bytes(raw))
    return {key: found[key] for key in found if not key.startswith(OWN)} if isinstance(found, dict) else {}


def is_apart(params: Message, worlds: set[int | str]) -> bool:
    """Whether a script runs in one of these worlds, as far as its command says."""
    found = HANDLE.match(str(params.get("objectId", "")))
    named = (params.get(name) for name in ("contextId", "executionContextId", "uniqueContextId"))
    return any(world in worlds for world in named) or (found is not None and int(found[1]) in worlds)


def is_handed_over(seat: Seat, answer: Message) -> bool:
    """Whether the browser handed the main frame over to a new document when it answered `Page.navigate`."""
    is_main = answer.get("frameId") == seat.target
    return is_main and "loaderId" in answer and not answer.get("errorText")


def with_subject(seat: Seat, place: TargetPlace, method: str, params: Message) -> Message:
    """Return the words of a command with what it is about: a page, a world, a request that waits."""
    if method == TRAVELS or cdp_kind(method) == "input":
        return {**params, TARGET: seat.target}
    if method in CDP_SCRIPTS:
        return {**params, WORLD: "driver" if is_apart(params, place.apart) else "page"}
    if method in PLANTING:
        return {**params, WORLD: "driver" if params.get("worldName") else "page"}
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
