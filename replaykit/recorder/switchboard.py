"""Many clients on one browser: each has a session of its own, and none sees the recorder's.

The recorder is the first client and is believed. Others get what the browser says but for what is the
recorder's: its worlds, what runs in them, its bindings, its sessions and its tabs. A new page is held back
from them until the recorder listens in it. Pure: messages in, messages out; whoever calls brings the clock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from replaykit.decoders import decode

Message: TypeAlias = dict[str, Any]

RECORDER = 0
"""Number of the client that is the recorder itself."""

BROWSER = -1
"""Receives what goes to the browser."""

HOLD_S = 2.0
"""A new page is held back for so long at most."""

HELD_MAX = 20_000
"""Messages of one page that are held back."""

WAITING_MAX = 50_000
"""Requests of one client that wait for their answer."""

NO_CONTEXT = "Cannot find context with specified id"
NO_SESSION = "Session with given id not found."
NO_OBJECT = "Could not find object with given id"
NO_SCRIPT = "No script for id: "

UNKNOWN = frozenset({"Target.exposeDevToolsProtocol", "Browser.crash", "Browser.crashGpuProcess"})
"""Commands that lead around the recorder, or end it: answered as if the browser did not know them."""

_OBJECT = re.compile(rb'"objectId"\s*:\s*"-?\d+\.(\d+)\.')
_HANDLE = re.compile(r"-?\d+\.(\d+)\.\d+\Z")


class Wire(Struct, omit_defaults=True):
    """One protocol message; what is inside stays as it came."""

    id: int | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    sessionId: str | UnsetType = UNSET


class Names(Struct, frozen=True):
    """What the recorder calls what it puts into pages."""

    world: str
    binding: str


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


class Ask(Struct):
    """A request that waits for its answer."""

    client: int
    id: int
    seat: Seat | None
    method: str
    params: Message | None = None
    then: Callable[[Wire], None] | None = None


class Place(Struct):
    """What is known of one target."""

    is_armed: bool = False
    due: float = 0.0
    hidden: set[int] = msgspec.field(default_factory=set)
    """Worlds of the recorder in it."""
    unique: set[str] = msgspec.field(default_factory=set)
    scripts: set[str] = msgspec.field(default_factory=set)
    held: list[tuple[Seat, Wire]] = []
    resumes: list[Wire] = []
    seats: list[Seat] = []
    url: str = ""
    """Where it goes once the recorder listens."""


Send: TypeAlias = Callable[[int, bytes], None]


class Switchboard:
    """Routes messages between one browser and its clients.

    `send(client, data)` carries a message out; BROWSER is the browser. `before(method, params)` is called
    before an agent's command goes on, `refused` where one does not.
    `late(target)` is called where a page could not be held long enough.
    """

    def __init__(
        self,
        send: Send,
        names: Names,
        *,
        before: Callable[[str, Message], None] = lambda method, params: None,
        refused: Callable[[str, Message], None] = lambda method, params: None,
        late: Callable[[str], None] = lambda target: None,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._send = send
        self._names = names
        self._before = before
        self._refused = refused
        self._late = late
        self._clock = clock
        self._next = 0
        self._asked: dict[int, Ask] = {}
        self._waiting: dict[int, int] = {}
        self._roots: dict[int, Seat] = {}
        self._early: dict[int, list[bytes]] = {}
        self._seats: dict[str, Seat] = {}
        self._places: dict[str, Place] = {}
        self.is_holding = False
        """Whether new pages are held: from when the agent may connect."""
        self.on_close: Callable[[int], None] = lambda client: None
        self.counts = {"targets": 0, "targets_late": 0, "commands": 0, "refused": 0}

    # Clients

    def join(self, client: int, target: str | None = None) -> None:
        """Take in a client, with a session of the browser, or of one target."""
        self._early[client] = []
        method, params = "Target.attachToBrowserTarget", {}
        if target is not None:
            method, params = "Target.attachToTarget", {"targetId": target, "flatten": True}
        self._own(method, params, then=lambda answer: self._joined(client, target or "", answer))

    def leave(self, client: int) -> None:
        """Let a client go, with all of its sessions."""
        self._early.pop(client, None)
        root = self._roots.pop(client, None)
        for number in [number for number, ask in self._asked.items() if ask.client == client]:
            self._asked[number].client = BROWSER
        self._waiting.pop(client, None)
        if root is not None:
            self._own("Target.detachFromTarget", {"sessionId": root.id})
            self._forget(root)

    def _joined(self, client: int, target: str, answer: Wire) -> None:
        early = self._early.pop(client, None)
        result = plain(answer.result)
        if early is None:
            return
        if "sessionId" not in result:
            self.on_close(client)
            return
        self._roots[client] = self._sit(Seat(result["sessionId"], client, target))
        for data in early:
            self.from_client(client, data)

    def _sit(self, seat: Seat) -> Seat:
        self._seats[seat.id] = seat
        if seat.target:
            self._place(seat.target).seats.append(seat)
        return seat

    def _place(self, target: str) -> Place:
        return self._places.setdefault(target, Place())

    def _forget(self, seat: Seat) -> None:
        for below in [one for one in self._seats.values() if one.parent is seat]:
            self._forget(below)
        self._seats.pop(seat.id, None)
        place = self._places.get(seat.target)
        if place is not None and seat in place.seats:
            place.seats.remove(seat)
            seat.waits = False
            self._resume(place)

    def ask(self, method: str, params: Message, then: Callable[[Message], object]) -> None:
        """Ask the browser something on nobody's behalf; `then` takes the result, or `{"error": ...}`."""

        def answered(wire: Wire) -> None:
            then(plain(wire.result) if wire.error is UNSET else {"error": plain(wire.error)})

        self._own(method, params, then=answered)

    def go(self, target: str, url: str) -> None:
        """Let a new page go somewhere, once the recorder listens in it."""
        place = self._place(target)
        place.url = url
        if not self._is_held(place):
            self._go(target, place)

    # From clients

    def from_client(self, client: int, data: bytes) -> None:
        """Take in what a client says."""
        if client in self._early:
            self._early[client].append(data)
            return
        root = self._roots.get(client)
        if root is None:
            return
        try:
            wire = decode(data, Wire)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._to_client(root, fault(None, -32700, "JSON: message is not valid"))
            return
        if wire.id is UNSET or wire.method is UNSET:
            self._to_client(
                root, fault(wire.id, -32600, "Message must have integer 'id' and string 'method'")
            )
            return
        seat = root if wire.sessionId is UNSET else self._seats.get(wire.sessionId)
        if seat is None or seat.client != client:
            self._to_client(root, fault(wire.id, -32001, NO_SESSION, wire.sessionId))
            return
        self._command(seat, wire)

    def _command(self, seat: Seat, wire: Wire) -> None:
        assert wire.method is not UNSET
        if self._waiting.get(seat.client, 0) >= WAITING_MAX:
            self.on_close(seat.client)
            return
        if seat.client == RECORDER:
            self._recorder_says(seat, wire)
            return
        self.counts["commands"] += 1
        params = plain(wire.params)
        words = self._refusal(seat, wire.method, params)
        if words is not None:
            self.counts["refused"] += 1
            self._refused(wire.method, params)
            self._to_client(seat, fault(wire.id, *words))
            return
        self._before(wire.method, params)
        special = _COMMANDS.get(wire.method)
        if special is not None:
            special(self, seat, wire, params)
        else:
            self._forward(seat, wire, self._renamed(params))

    def _recorder_says(self, seat: Seat, wire: Wire) -> None:
        place = self._places.get(seat.target)
        if wire.method == "Runtime.runIfWaitingForDebugger" and place is not None and self.is_holding:
            place.resumes.append(msgspec.structs.replace(wire, sessionId=seat.id))
            self._resume(place)
            return
        params = plain(wire.params) if wire.method in _PLANNED else None
        if params is not None:
            seat.nests = False
        self._forward(seat, wire, None)

    def _forward(self, seat: Seat, wire: Wire, params: Message | None, method: str | None = None) -> None:
        assert wire.id is not UNSET and wire.method is not UNSET
        number = self._number(Ask(seat.client, wire.id, seat, wire.method, params))
        out = Wire(id=number, method=method or wire.method, params=wire.params, sessionId=seat.id)
        if params is not None:
            out.params = Raw(json.dumps(params).encode())
        self._send(BROWSER, msgspec.json.encode(out))

    def _number(self, ask: Ask) -> int:
        self._next += 1
        self._asked[self._next] = ask
        self._waiting[ask.client] = self._waiting.get(ask.client, 0) + 1
        return self._next

    def _own(
        self,
        method: str,
        params: Message,
        session: str | None = None,
        then: Callable[[Wire], None] | None = None,
    ) -> None:
        number = self._number(Ask(BROWSER, 0, None, method, then=then))
        message = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self._send(BROWSER, json.dumps(message).encode())

    # What is refused

    def _refusal(self, seat: Seat, method: str, params: Message) -> tuple[int, str] | None:
        if method in UNKNOWN:
            return -32601, f"'{method}' wasn't found"
        place = self._places.get(seat.target) or Place()
        for name in ("contextId", "executionContextId"):
            if isinstance(params.get(name), int) and not self._is_told(place, params[name]):
                return -32000, NO_CONTEXT
        unique = params.get("uniqueContextId")
        if unique is not None and not any(unique in one.uniques.values() for one in place.seats):
            return -32000, "uniqueContextId not found"
        for name, value in strings(params):
            found = _HANDLE.match(value) if name == "objectId" else None
            if found and int(found[1]) in place.hidden:
                return -32000, NO_OBJECT
            if name == "scriptId" and value in place.scripts:
                return -32000, NO_SCRIPT + value
            if name == "targetId" and value in self._places and self._places[value].due < 0:
                return -32602, "No target with given id found"
        return None

    def _is_told(self, place: Place, context: int) -> bool:
        known = any(context in one.contexts for one in place.seats if one.client != RECORDER)
        return known and context not in place.hidden

    def _renamed(self, params: Message) -> Message | None:
        """Return parameters that do not name the recorder's world; None where they did not."""
        given = [
            name for name in ("worldName", "executionContextName") if params.get(name) == self._names.world
        ]
        return {**params, **{name: f"{params[name]} " for name in given}} if given else None

    # Commands that need care

    def _attach(self, seat: Seat, wire: Wire, params: Message) -> None:
        seat.nests = not params.get("flatten")
        self._forward(seat, wire, {**params, "flatten": True})

    def _auto_attach(self, seat: Seat, wire: Wire, params: Message) -> None:
        seat.nests = bool(params.get("autoAttach")) and not params.get("flatten")
        self._forward(seat, wire, {**params, "flatten": True})

    def _send_nested(self, seat: Seat, wire: Wire, params: Message) -> None:
        below = self._seats.get(str(params.get("sessionId")))
        if below is None or below.client != seat.client or not below.is_nested:
            self._to_client(seat, fault(wire.id, -32602, "No session with given id"))
            return
        try:
            inner = decode(str(params.get("message", "")), Wire)
        except (msgspec.DecodeError, RecursionError):
            inner = Wire()
        self._to_client(seat, Wire(id=wire.id, result=Raw(b"{}")))
        if inner.id is not UNSET and inner.method is not UNSET:
            self._command(below, inner)

    def _detach(self, seat: Seat, wire: Wire, params: Message) -> None:
        below = self._seats.get(str(params.get("sessionId")))
        if "sessionId" in params and (below is None or below.client != seat.client):
            self._to_client(seat, fault(wire.id, -32602, "No session with given id"))
            return
        self._forward(seat, wire, None)

    def _create(self, seat: Seat, wire: Wire, params: Message) -> None:
        url = params.get("url")
        if not isinstance(url, str) or url in ("", "about:blank"):
            self._forward(seat, wire, None)
            return
        assert wire.id is not UNSET
        number = self._number(Ask(seat.client, wire.id, seat, "Target.createTarget", {"url": url}))
        blank = Raw(json.dumps({**params, "url": "about:blank"}).encode())
        out = Wire(id=number, method="Target.createTarget", params=blank, sessionId=seat.id)
        self._send(BROWSER, msgspec.json.encode(out))

    def _resume_own(self, seat: Seat, wire: Wire, params: Message) -> None:
        seat.waits = False
        self._forward(seat, wire, None)
        if seat.target in self._places:
            self._resume(self._places[seat.target])

    def _close(self, seat: Seat, wire: Wire, params: Message) -> None:
        # The recorder has to look at the pages once more: the browser goes when the command has ended.
        self._to_client(seat, Wire(id=wire.id, result=Raw(b"{}")))
        self.on_close(seat.client)

    def _bind(self, seat: Seat, wire: Wire, params: Message) -> None:
        if params.get("name") == self._names.binding:
            self._to_client(seat, Wire(id=wire.id, result=Raw(b"{}")))
        else:
            self._forward(seat, wire, self._renamed(params))

    # From the browser

    def from_browser(self, data: bytes) -> None:
        """Take in what the browser says."""
        wire = decode(data, Wire)
        if wire.id is not UNSET:
            self._answered(wire)
        elif wire.sessionId is not UNSET:
            seat = self._seats.get(wire.sessionId)
            if seat is not None:
                self._event(seat, wire)

    def _answered(self, wire: Wire) -> None:
        assert wire.id is not UNSET
        ask = self._asked.pop(wire.id, None)
        if ask is None:
            return
        self._waiting[ask.client] = self._waiting.get(ask.client, 1) - 1
        if ask.then is not None:
            ask.then(wire)
        if ask.client == BROWSER or ask.seat is None:
            return
        out = Wire(id=ask.id, result=wire.result, error=wire.error)
        if ask.client != RECORDER:
            self._agent_answer(ask, out)
        else:
            self._to_client(ask.seat, out)

    def _agent_answer(self, ask: Ask, out: Wire) -> None:
        seat = ask.seat
        assert seat is not None
        result = {} if out.result is UNSET else plain(out.result) if ask.method in _ANSWERS else {}
        if ask.method == "Page.createIsolatedWorld" and "executionContextId" in result:
            seat.contexts.add(result["executionContextId"])
        if ask.method == "Target.getTargets":
            infos = [one for one in result.get("targetInfos", ()) if not self.is_ours(one["targetId"])]
            out.result = Raw(json.dumps({"targetInfos": infos}).encode())
        place = self._places.get(seat.target)
        if place is not None and place.hidden and self._holds_hidden(out.result, place):
            out = fault(ask.id, -32000, NO_OBJECT)
        if ask.method == "DOMDebugger.getEventListeners" and place is not None and out.result is not UNSET:
            out.result = self._without_ours(out.result, place)
        if ask.method == "Target.createTarget" and "targetId" in result:
            self._created(ask, seat, out, result["targetId"])
            return
        self._to_client(seat, out)

    def _created(self, ask: Ask, seat: Seat, out: Wire, target: str) -> None:
        place = self._place(target)
        if ask.params:
            place.url = ask.params["url"]
        if self._is_held(place):
            place.held.append((seat, out))
            return
        self._to_client(seat, out)
        self._go(target, place)

    def _holds_hidden(self, raw: Raw | UnsetType, place: Place) -> bool:
        if raw is UNSET:
            return False
        return any(int(found) in place.hidden for found in _OBJECT.findall(bytes(raw)))

    def _without_ours(self, raw: Raw, place: Place) -> Raw:
        result = plain(raw)
        kept = [one for one in result.get("listeners", ()) if one.get("scriptId") not in place.scripts]
        return Raw(json.dumps({**result, "listeners": kept}).encode())

    def _event(self, seat: Seat, wire: Wire) -> None:
        assert wire.method is not UNSET
        special = _EVENTS.get(wire.method)
        if special is None or special(self, seat, plain(wire.params)):
            self._to_seat(seat, Wire(method=wire.method, params=wire.params))

    def _attached(self, seat: Seat, params: Message) -> bool:
        about = params["targetInfo"]
        target, is_agent = about["targetId"], seat.client != RECORDER
        below = Seat(params["sessionId"], seat.client, target, seat, is_nested=seat.nests)
        below.waits = is_agent and bool(params.get("waitingForDebugger"))
        place = self._place(target)
        self._sit(below)
        if self.is_ours(target) and is_agent:
            self._own("Target.detachFromTarget", {"sessionId": below.id}, seat.id)
            self._forget(below)
            return False
        if about["type"] == "page" and self.is_holding and not (place.is_armed or place.due):
            self.counts["targets"] += 1
            place.due = self._clock() + HOLD_S
        if is_agent and self._is_held(place):
            place.held.append(
                (seat, Wire(method="Target.attachedToTarget", params=Raw(json.dumps(params).encode())))
            )
            return False
        return True

    def _detached(self, seat: Seat, params: Message) -> bool:
        below = self._seats.get(params["sessionId"])
        if below is not None:
            self._forget(below)
        return below is not None or seat.client == RECORDER

    def _context(self, seat: Seat, params: Message) -> bool:
        context = params["context"]
        place = self._place(seat.target)
        if context["name"] == self._names.world and not context.get("auxData", {}).get("isDefault"):
            place.hidden.add(context["id"])
            place.unique.add(context.get("uniqueId", ""))
            return seat.client == RECORDER
        place.hidden.discard(context["id"])
        if seat.client != RECORDER:
            seat.contexts.add(context["id"])
            seat.uniques = {**seat.uniques, context["id"]: context.get("uniqueId", "")}
        return True

    def _context_gone(self, seat: Seat, params: Message) -> bool:
        number = params["executionContextId"]
        seat.contexts.discard(number)
        seat.uniques = {one: name for one, name in seat.uniques.items() if one != number}
        return seat.client == RECORDER or number not in self._place(seat.target).hidden

    def _contexts_gone(self, seat: Seat, params: Message) -> bool:
        seat.contexts.clear()
        seat.uniques = {}
        return True

    def _bound(self, seat: Seat, params: Message) -> bool:
        return seat.client == RECORDER or params["name"] != self._names.binding

    def _script(self, seat: Seat, params: Message) -> bool:
        place = self._place(seat.target)
        if params.get("executionContextId") in place.hidden:
            place.scripts.add(params["scriptId"])
            return seat.client == RECORDER
        return True

    def _paused(self, seat: Seat, params: Message) -> bool:
        scripts = self._place(seat.target).scripts
        frames = params.get("callFrames", ())
        if seat.client == RECORDER or not any(one["location"]["scriptId"] in scripts for one in frames):
            return True
        seat.skips_resumed = True
        self._own("Debugger.resume", {}, seat.id)
        return False

    def _resumed(self, seat: Seat, params: Message) -> bool:
        skips, seat.skips_resumed = seat.skips_resumed, False
        return not skips

    def _console(self, seat: Seat, params: Message) -> bool:
        return (
            seat.client == RECORDER or params.get("executionContextId") not in self._place(seat.target).hidden
        )

    def _target_told(self, seat: Seat, params: Message) -> bool:
        target = params.get("targetId") or params.get("targetInfo", {}).get("targetId", "")
        return seat.client == RECORDER or not self.is_ours(target)

    def is_ours(self, target: str) -> bool:
        """Whether a target is one of the recorder's own."""
        place = self._places.get(target)
        return place is not None and place.due < 0

    # Pages that are held back

    def hide(self, target: str) -> None:
        """Keep a target of the recorder's own from all others."""
        self._place(target).due = -1.0
        self._place(target).is_armed = True

    def armed(self, target: str) -> None:
        """Let go of a page, now that the recorder listens in it."""
        place = self._place(target)
        if not place.is_armed:
            place.is_armed = True
            self._release(target, place)

    def let_go(self) -> None:
        """Hold nothing back any more."""
        self.is_holding = False
        for target, place in list(self._places.items()):
            for seat in place.seats:
                seat.waits = False
            self._release(target, place)

    def overdue(self) -> None:
        """Let go of pages that were held long enough."""
        now = self._clock()
        for target, place in list(self._places.items()):
            if not place.is_armed and 0 < place.due <= now:
                place.is_armed = True
                self.counts["targets_late"] += 1
                self._late(target)
                self._release(target, place)

    def _is_held(self, place: Place) -> bool:
        return self.is_holding and not place.is_armed and place.due > 0 and len(place.held) < HELD_MAX

    def _release(self, target: str, place: Place) -> None:
        held, place.held = place.held, []
        for seat, wire in held:
            if seat.client in self._roots:
                self._to_client(seat, wire)
        self._resume(place)
        self._go(target, place)

    def _resume(self, place: Place) -> None:
        # The first resume starts a page with an opener: whoever else waits comes before the recorder.
        if (place.is_armed or not self.is_holding or not place.due) and not any(
            one.waits for one in place.seats
        ):
            resumes, place.resumes = place.resumes, []
            for wire in resumes:
                seat = self._seats.get(str(wire.sessionId))
                if seat is not None:
                    self._forward(seat, wire, None)

    def _go(self, target: str, place: Place) -> None:
        url, place.url = place.url, ""
        if url:
            wanted = {"targetId": target, "flatten": True}
            self._own("Target.attachToTarget", wanted, then=lambda answer: self._navigate(url, answer))

    def _navigate(self, url: str, answer: Wire) -> None:
        session = plain(answer.result).get("sessionId")
        if session is None:
            return

        def done(_: Wire) -> None:
            self._own("Page.resetNavigationHistory", {}, session)
            self._own("Target.detachFromTarget", {"sessionId": session})

        self._own("Page.navigate", {"url": url}, session, done)

    # To clients

    def _to_seat(self, seat: Seat, wire: Wire) -> None:
        """Send an event, unless it has to wait with the page it is about."""
        place = self._places.get(seat.target)
        if seat.client != RECORDER and place is not None and self._is_held(place):
            place.held.append((seat, wire))
            return
        if (
            seat.client != RECORDER
            and place is not None
            and place.hidden
            and self._holds_hidden(wire.params, place)
        ):
            return
        self._to_client(seat, wire)

    def _to_client(self, seat: Seat, wire: Wire) -> None:
        if seat.is_nested and seat.parent is not None:
            message = msgspec.json.encode(msgspec.structs.replace(wire, sessionId=UNSET)).decode()
            params = {"sessionId": seat.id, "message": message, "targetId": seat.target}
            around = Wire(method="Target.receivedMessageFromTarget", params=Raw(json.dumps(params).encode()))
            self._to_client(seat.parent, around)
            return
        if wire.sessionId is UNSET and seat.parent is not None:
            wire = msgspec.structs.replace(wire, sessionId=seat.id)
        self._send(seat.client, msgspec.json.encode(wire))


def plain(raw: Raw | UnsetType) -> Message:
    """Return what a message holds; empty where there is nothing."""
    found = {} if raw is UNSET else json.loads(bytes(raw))
    return found if isinstance(found, dict) else {}


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


_PLANNED = frozenset({"Target.attachToTarget", "Target.setAutoAttach"})

_ANSWERS = frozenset({"Page.createIsolatedWorld", "Target.getTargets", "Target.createTarget"})

_COMMANDS: dict[str, Callable[[Switchboard, Seat, Wire, Message], None]] = {
    "Target.attachToTarget": Switchboard._attach,
    "Target.setAutoAttach": Switchboard._auto_attach,
    "Target.sendMessageToTarget": Switchboard._send_nested,
    "Target.detachFromTarget": Switchboard._detach,
    "Target.createTarget": Switchboard._create,
    "Runtime.runIfWaitingForDebugger": Switchboard._resume_own,
    "Runtime.addBinding": Switchboard._bind,
    "Runtime.removeBinding": Switchboard._bind,
    "Browser.close": Switchboard._close,
}

_EVENTS: dict[str, Callable[[Switchboard, Seat, Message], bool]] = {
    "Target.attachedToTarget": Switchboard._attached,
    "Target.detachedFromTarget": Switchboard._detached,
    "Target.targetCreated": Switchboard._target_told,
    "Target.targetInfoChanged": Switchboard._target_told,
    "Target.targetDestroyed": Switchboard._target_told,
    "Runtime.executionContextCreated": Switchboard._context,
    "Runtime.executionContextDestroyed": Switchboard._context_gone,
    "Runtime.executionContextsCleared": Switchboard._contexts_gone,
    "Runtime.bindingCalled": Switchboard._bound,
    "Runtime.consoleAPICalled": Switchboard._console,
    "Debugger.scriptParsed": Switchboard._script,
    "Debugger.paused": Switchboard._paused,
    "Debugger.resumed": Switchboard._resumed,
}
