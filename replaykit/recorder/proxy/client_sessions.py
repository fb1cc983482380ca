"""Many clients on one browser: each has a session of its own, and none sees the recorder's.

The recorder is the first client and is trusted. Others get the browser's messages without those about the
recorder: its worlds, the scripts in them, its bindings, its sessions and its tabs. A new page is held back
from them until the recorder listens in it. Pure: messages in, messages out; whoever calls brings the clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
from msgspec import UNSET, Raw

from replaykit.recorder.browser.page_holding import Holding
from replaykit.recorder.browser.witnesses.command_kinds import CDP_SCRIPTS
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.proxy.handovers import Handovers, Held
from replaykit.recorder.proxy.hidden_parts import NO_OBJECT, NO_SESSION, Secrecy
from replaykit.recorder.proxy.protocol_messages import (
    BROWSER,
    RECORDER,
    Message,
    PendingRequest,
    Seat,
    Send,
    Wire,
    fault,
    is_apart,
    is_handed_over,
    plain,
    wires,
    with_subject,
)

WAITING_MAX = 50_000
"""Requests of one client that wait for their answer."""

PAUSED_MAX = 10_000
"""Requests of one session that wait for its client and can be recognised by their URL."""


class Switchboard(Holding):
    """Routes messages between one browser and its clients.

    `send(client, data)` carries a message out; BROWSER is the browser. `before(method, params)` is called
    before an agent's command goes on, `refused` where one does not.
    `late(target)` is called where a page could not be held long enough. `scripted(number, is_apart, target)`
    is called before a script of an agent runs, apart or in the page's own world, and after it, with None.
    `arrived(loader)` is called once no command can reach what was there before a document.
    """

    def __init__(
        self,
        send: Send,
        names: InjectedNames,
        *,
        before: Callable[[str, Message], None] = lambda method, params: None,
        refused: Callable[[str, Message], None] = lambda method, params: None,
        late: Callable[[str], None] = lambda target: None,
        scripted: Callable[[int, bool | None, str], None] = lambda number, is_apart, target: None,
        arrived: Callable[[str], None] = lambda loader: None,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> None:
        super().__init__(clock, late, names)
        self._send = send
        self._before = before
        self._refused = refused
        self._scripted = scripted
        self._has_arrived = arrived
        self._next = 0
        self._asked: dict[int, PendingRequest] = {}
        self._waiting: dict[int, int] = {}
        self._early: dict[int, list[bytes]] = {}
        self._secrecy = Secrecy(names, self._places)
        self._handovers = Handovers(clock)
        self.on_close: Callable[[int], None] = lambda client: None

    def call(self, names: InjectedNames) -> None:
        """Record the recorder's names for what it puts into pages."""
        self._names = self._secrecy.names = names

    def join(self, client: int, target: str | None = None) -> None:
        """Add a client, with a session of the browser, or of one target."""
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
        """Ask the browser something on no one's behalf; `then` takes the result, or `{"error": ...}`."""

        def answered(wire: Wire) -> None:
            then(plain(wire.result) if wire.error is UNSET else {"error": plain(wire.error)})

        self._own(method, params, then=answered)

    # From clients

    def from_client(self, client: int, data: bytes) -> None:
        """Handle bytes of a client."""
        if client in self._early:
            self._early[client].append(data)
            return
        root = self._roots.get(client)
        if root is None:
            return
        try:
            wire = wires.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._to_client(root, fault(None, -32700, "JSON: message is not valid"))
            return
        if wire.id is UNSET or wire.method is UNSET:
            words = "Message must have integer 'id' and string 'method'"
            self._to_client(root, fault(wire.id, -32600, words))
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
            self._recorder_command(seat, wire)
            return
        if self._handovers.holds(seat, wire):
            return
        self.counts["commands"] += 1
        params = plain(wire.params)
        words = self._secrecy.refusal(seat, wire.method, params)
        if words is not None:
            self.counts["refused"] += 1
            self._refused(wire.method, params)
            self._to_client(seat, fault(wire.id, *words))
            return
        self._before(wire.method, with_subject(seat, self._place(seat.target), wire.method, params))
        special = _COMMANDS.get(wire.method)
        if special is not None:
            special(self, seat, wire, params)
        else:
            self._forward(seat, wire, self._secrecy.renamed(params))

    def overdue(self) -> None:
        """Let go of pages and of commands that were held long enough."""
        super().overdue()
        self._command_each(self._handovers.overdue())

    def _command_each(self, held: Held) -> None:
        for seat, wire in held:
            if self._seats.get(seat.id) is seat:
                self._command(seat, wire)

    def _recorder_command(self, seat: Seat, wire: Wire) -> None:
        place = self._places.get(seat.target)
        if wire.method == "Runtime.runIfWaitingForDebugger" and place is not None and self.is_holding:
            place.resumes.append(msgspec.structs.replace(wire, sessionId=seat.id))
            self._resume(place)
            return
        if wire.method in _PLANNED:
            seat.nests = False
        self._forward(seat, wire, None)
        if wire.method == "Target.sendMessageToTarget" and self._unstarted:
            self._arm(plain(wire.params))

    def _forward(self, seat: Seat, wire: Wire, params: Message | None) -> None:
        assert wire.id is not UNSET and wire.method is not UNSET
        number = self._number(PendingRequest(seat.client, wire.id, seat, wire.method, params))
        if wire.method in CDP_SCRIPTS and seat.client != RECORDER:
            self._scripted(number, is_apart(plain(wire.params), self._place(seat.target).apart), seat.target)
        raw = wire.params if params is None else Raw(json.dumps(params).encode())
        out = Wire(id=number, method=wire.method, params=raw, sessionId=seat.id)
        self._send(BROWSER, msgspec.json.encode(out))

    def _number(self, ask: PendingRequest) -> int:
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
        number = self._number(PendingRequest(BROWSER, 0, None, method, then=then))
        message = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        self._send(BROWSER, json.dumps(message).encode())

    # Commands that need care

    def _attach(self, seat: Seat, wire: Wire, params: Message) -> None:
        seat.nests = not params.get("flatten")
        self._forward(seat, wire, {**params, "flatten": True})

    def _auto_attach(self, seat: Seat, wire: Wire, params: Message) -> None:
        seat.nests = bool(params.get("autoAttach")) and not params.get("flatten")
        self._follow(seat, wire, {**params, "flatten": True})

    def _send_nested(self, seat: Seat, wire: Wire, params: Message) -> None:
        below = self._seats.get(str(params.get("sessionId")))
        if below is None or below.client != seat.client or not below.is_nested:
            self._to_client(seat, fault(wire.id, -32602, "No session with given id"))
            return
        try:
            inner = wires.decode(str(params.get("message", "")))
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
        number = self._number(PendingRequest(seat.client, wire.id, seat, "Target.createTarget", {"url": url}))
        blank = Raw(json.dumps({**params, "url": "about:blank"}).encode())
        out = Wire(id=number, method="Target.createTarget", params=blank, sessionId=seat.id)
        self._send(BROWSER, msgspec.json.encode(out))

    def _resume_own(self, seat: Seat, wire: Wire, params: Message) -> None:
        seat.waits = False
        self._forward(seat, wire, None)
        self._resume(self._place(seat.target))

    def _close(self, seat: Seat, wire: Wire, params: Message) -> None:
        # The recorder has to look at the pages once more: the browser goes when the command has ended.
        self._to_client(seat, Wire(id=wire.id, result=Raw(b"{}")))
        self.on_close(seat.client)

    def _bind(self, seat: Seat, wire: Wire, params: Message) -> None:
        if params.get("name") == self._names.binding:
            self._to_client(seat, Wire(id=wire.id, result=Raw(b"{}")))
        else:
            self._forward(seat, wire, self._secrecy.renamed(params))

    # From the browser

    def from_browser(self, data: bytes) -> None:
        """Handle bytes of the browser."""
        wire = wires.decode(data)
        if wire.id is not UNSET:
            self._answered(wire)
        elif wire.sessionId is not UNSET:
            seat = self._seats.get(wire.sessionId)
            if seat is not None:
                self._event(seat, wire)
            elif wire.sessionId in self._arriving:
                self._arrived(wire.sessionId, wire)

    def _answered(self, wire: Wire) -> None:
        assert wire.id is not UNSET
        ask = self._asked.pop(wire.id, None)
        if ask is None:
            return
        self._waiting[ask.client] = self._waiting.get(ask.client, 1) - 1
        if ask.method in CDP_SCRIPTS and ask.client != RECORDER:
            self._scripted(wire.id, None, "")
        if ask.then is not None:
            ask.then(wire)
        if ask.client == BROWSER or ask.seat is None:
            return
        out = Wire(id=ask.id, result=wire.result, error=wire.error)
        if ask.client != RECORDER:
            self._agent_answer(ask, out)
        else:
            self._to_client(ask.seat, out)

    def _agent_answer(self, ask: PendingRequest, out: Wire) -> None:
        seat = ask.seat
        assert seat is not None
        result = {} if out.result is UNSET else plain(out.result) if ask.method in _READ else {}
        if ask.method == "Page.createIsolatedWorld" and "executionContextId" in result:
            seat.contexts.add(result["executionContextId"])
        if ask.method == "Page.navigate" and is_handed_over(seat, result):
            self._has_arrived(result["loaderId"])
            self._handovers.begin(seat.target, result["loaderId"])
        if ask.method == "Target.getTargets":
            infos = [one for one in result.get("targetInfos", ()) if not self.is_ours(one["targetId"])]
            out.result = Raw(json.dumps({"targetInfos": infos}).encode())
        place = self._places.get(seat.target)
        if ask.method == "DOMDebugger.getEventListeners" and place is not None and out.result is not UNSET:
            out.result = self._secrecy.without_listeners(out.result, place)
        if place is not None and place.hidden and self._secrecy.holds_hidden(out.result, place):
            out = fault(ask.id, -32000, NO_OBJECT)
        if ask.method == "Target.createTarget" and "targetId" in result:
            self._created(ask, seat, out, result["targetId"])
            return
        self._to_client(seat, out)

    def _created(self, ask: PendingRequest, seat: Seat, out: Wire, target: str) -> None:
        place = self._place(target)
        if ask.params:
            place.url = ask.params["url"]
        if self._is_held(place):
            place.held.append((seat, out))
            return
        self._to_client(seat, out)
        self._go(target, place)

    def _event(self, seat: Seat, wire: Wire) -> None:
        assert wire.method is not UNSET
        special, params = _EVENTS.get(wire.method), wire.params
        if self._secrecy.hides(seat, wire.method, params):
            return
        if special is None or special(self, seat, plain(params)):
            self._to_seat(seat, Wire(method=wire.method, params=wire.params))

    def _attached(self, seat: Seat, params: Message) -> bool:
        about = params["targetInfo"]
        target, is_agent = about["targetId"], seat.client != RECORDER
        below = Seat(params["sessionId"], seat.client, target, seat, is_nested=seat.nests)
        below.waits = is_agent and bool(params.get("waitingForDebugger"))
        place = self._place(target)
        self._sit(below)
        self._waits(below, params)
        if self.is_ours(target) and is_agent:
            self._own("Target.detachFromTarget", {"sessionId": below.id}, seat.id)
            self._forget(below)
            return False
        if about["type"] == "page":
            self._met(about)
        if is_agent and self._is_held(place):
            held = Wire(method="Target.attachedToTarget", params=Raw(json.dumps(params).encode()))
            place.held.append((seat, held))
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
        if not context.get("auxData", {}).get("isDefault", True):
            place.apart |= {context["id"], context.get("uniqueId", "")}
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
        seat.contexts, seat.uniques = set(), {}
        return True

    def _script(self, seat: Seat, params: Message) -> bool:
        place = self._place(seat.target)
        if params.get("executionContextId") not in place.hidden:
            return True
        place.scripts.add(params["scriptId"])
        return seat.client == RECORDER

    def _navigated(self, seat: Seat, params: Message) -> bool:
        self._has_arrived(params["frame"]["loaderId"])
        self._command_each(self._handovers.end(seat.target, params["frame"]))
        self._arrived_below(seat.target)
        return True

    def _request(self, seat: Seat, params: Message) -> bool:
        asked = params["request"]
        if len(seat.paused) < PAUSED_MAX:
            seat.paused[params["requestId"]] = {"url": asked["url"], "method": asked["method"]}
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

    # To clients

    def _to_seat(self, seat: Seat, wire: Wire) -> None:
        """Send an event, unless it has to wait with the page it is about."""
        place = self._places.get(seat.target) if seat.client != RECORDER else None
        if place is not None and self._is_held(place):
            place.held.append((seat, wire))
        elif place is None or not (place.hidden and self._secrecy.holds_hidden(wire.params, place)):
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


_PLANNED = frozenset({"Target.attachToTarget", "Target.setAutoAttach"})
_READ = frozenset(["Page.createIsolatedWorld", "Page.navigate", "Target.getTargets", "Target.createTarget"])

_COMMANDS: dict[str, Callable[[Switchboard, Seat, Wire, Message], None]] = {
    "Target.attachToTarget": Switchboard._attach,
    "Target.setAutoAttach": Switchboard._auto_attach,
    "Target.sendMessageToTarget": Switchboard._send_nested,
    "Target.detachFromTarget": Switchboard._detach,
    "Target.createTarget": Switchboard._create,
    "Target.closeTarget": Switchboard.part,
    "Runtime.runIfWaitingForDebugger": Switchboard._resume_own,
    "Runtime.addBinding": Switchboard._bind,
    "Runtime.removeBinding": Switchboard._bind,
    "Browser.close": Switchboard._close,
}

_EVENTS: dict[str, Callable[[Switchboard, Seat, Message], bool]] = {
    "Target.attachedToTarget": Switchboard._attached,
    "Target.detachedFromTarget": Switchboard._detached,
    "Runtime.executionContextCreated": Switchboard._context,
    "Runtime.executionContextDestroyed": Switchboard._context_gone,
    "Runtime.executionContextsCleared": Switchboard._contexts_gone,
    "Debugger.scriptParsed": Switchboard._script,
    "Page.frameNavigated": Switchboard._navigated,
    "Fetch.requestPaused": Switchboard._request,
    "Debugger.paused": Switchboard._paused,
    "Debugger.resumed": Switchboard._resumed,
}
