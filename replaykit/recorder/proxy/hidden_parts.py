"""Browser parts that agents may not reach: the recorder's worlds, their objects and scripts, and its tabs."""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec import UNSET, Raw, UnsetType

from replaykit.patterns import lazy_pattern
from replaykit.recorder.page.page_script import InjectedNames
from replaykit.recorder.proxy.protocol_messages import (
    HANDLE,
    RECORDER,
    Message,
    Seat,
    TargetPlace,
    plain,
    strings,
)

NO_CONTEXT = "Cannot find context with specified id"
NO_SESSION = "Session with given id not found."
NO_OBJECT = "Could not find object with given id"
NO_SCRIPT = "No script for id: "

UNKNOWN = frozenset({"Target.exposeDevToolsProtocol", "Browser.crash", "Browser.crashGpuProcess"})
"""Commands that lead around the recorder, or end it: answered as if the browser did not know them."""

_OBJECT = lazy_pattern(rb'"objectId"\s*:\s*"-?\d+\.(\d+)\.')


class Secrecy:
    """Knows what of all targets is the recorder's."""

    def __init__(self, names: InjectedNames, places: dict[str, TargetPlace]) -> None:
        self.names = names
        self._places = places

    def refusal(self, seat: Seat, method: str, params: Message) -> tuple[int, str] | None:
        """Return why an agent's command does not go on, in the browser's own words; None = it does."""
        if method in UNKNOWN:
            return -32601, f"'{method}' wasn't found"
        place = self._places.get(seat.target) or TargetPlace()
        for name in ("contextId", "executionContextId"):
            if isinstance(params.get(name), int) and not self._is_reported(place, params[name]):
                return -32000, NO_CONTEXT
        unique = params.get("uniqueContextId")
        if unique is not None and not any(unique in one.uniques.values() for one in place.seats):
            return -32000, "uniqueContextId not found"
        for name, value in strings(params):
            found = HANDLE.match(value) if name == "objectId" else None
            if found and int(found[1]) in place.hidden:
                return -32000, NO_OBJECT
            if name == "scriptId" and value in place.scripts:
                return -32000, NO_SCRIPT + value
            if name == "targetId" and value in self._places and self._places[value].due < 0:
                return -32602, "No target with given id found"
        return None

    def hides(self, seat: Seat, method: str, params: Raw | UnsetType) -> bool:
        """Whether an event is about the recorder, and its client an agent."""
        test = _EVENTS.get(method) if seat.client != RECORDER else None
        return test is not None and test(self, seat, plain(params))

    def _is_own_call(self, seat: Seat, params: Message) -> bool:
        return bool(params["name"] == self.names.binding)

    def _is_own_console(self, seat: Seat, params: Message) -> bool:
        place = self._places.get(seat.target)
        return place is not None and params.get("executionContextId") in place.hidden

    def _is_own_target(self, seat: Seat, params: Message) -> bool:
        target = params.get("targetId") or params.get("targetInfo", {}).get("targetId", "")
        return target in self._places and self._places[target].due < 0

    def _is_reported(self, place: TargetPlace, context: int) -> bool:
        known = any(context in one.contexts for one in place.seats if one.client != RECORDER)
        return known and context not in place.hidden

    def renamed(self, params: Message) -> Message | None:
        """Return parameters that do not name the recorder's world; None where they did not."""
        given = [
            name for name in ("worldName", "executionContextName") if params.get(name) == self.names.world
        ]
        return {**params, **{name: f"{params[name]} " for name in given}} if given else None

    @staticmethod
    def holds_hidden(raw: Raw | UnsetType, place: TargetPlace) -> bool:
        """Whether there is an object of the recorder's worlds in it."""
        if raw is UNSET:
            return False
        return any(int(found) in place.hidden for found in _OBJECT.findall(bytes(raw)))

    @staticmethod
    def without_listeners(raw: Raw, place: TargetPlace) -> Raw:
        """Return a list of listeners without the recorder's."""

        def is_ours(one: Message) -> bool:
            has_object = Secrecy.holds_hidden(Raw(json.dumps(one).encode()), place)
            return has_object or one.get("scriptId") in place.scripts

        result = plain(raw)
        kept = [one for one in result.get("listeners", ()) if not is_ours(one)]
        return Raw(json.dumps({**result, "listeners": kept}).encode())


_EVENTS: dict[str, Callable[[Secrecy, Seat, Message], bool]] = {
    "Target.targetCreated": Secrecy._is_own_target,
    "Target.targetInfoChanged": Secrecy._is_own_target,
    "Target.targetDestroyed": Secrecy._is_own_target,
    "Runtime.bindingCalled": Secrecy._is_own_call,
    "Runtime.consoleAPICalled": Secrecy._is_own_console,
}
