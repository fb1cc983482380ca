"""Whether a worker that ran before the recorder listened may have opened a socket before.

No driver reports the sockets of a service worker, or any WebTransport, and no list of the worker has them.
But the browser makes the constructor of an interface when a script first asks for it, and keeps it. One that
is not among the functions of the worker was never used.

Own module: it is the only one that looks into the heap of a worker.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from urllib.parse import urlsplit

from replaykit.recorder.browser.command_effects import CallMethod, CommandRefused, Effect, Together
from replaykit.recorder.browser.tab.cdp_frames import Target
from replaykit.recorder.browser.tab.cdp_tab import CdpTab

SOCKETS = ("WebSocket", "WebSocketStream", "WebTransport")
"""Constructors of connections that are no requests."""

_EVERYWHERE = "WebSocket"
"""The one that pages without TLS also have."""

_GROUP = "sockets"

# No builtin that a script of the worker could have replaced.
_HOLDS = """function (root, ...made) {
  const rooted = function () {};
  rooted.prototype = root;
  for (let one = 0; one < made.length; one += 1) {
    if (!(made[one] instanceof rooted)) return true;
    for (let at = 0; at < this.length; at += 1) if (this[at] === made[one]) return true;
  }
  return false;
}"""


def may_have_sockets(tab: CdpTab, target: Target) -> Generator[Effect, Any, bool]:
    """Return whether a worker may have opened a socket until now; true where it does not answer."""
    try:
        return (yield from _has_used(tab, target))
    except (CommandRefused, KeyError):
        return True


def _has_used(tab: CdpTab, target: Target) -> Generator[Effect, Any, bool]:
    # One after the other: the browser runs `evaluate` ahead of calls that came before it.
    some = yield _call(tab, target, "Runtime.evaluate", {"expression": "() => 0", "objectGroup": _GROUP})
    about = yield _call(tab, target, "Runtime.getProperties", _own(some["result"]["objectId"]))
    root = _prototype(about)
    wanted = {"prototypeObjectId": root, "objectGroup": _GROUP}
    # The functions first: to ask for a constructor makes it.
    found = yield _call(tab, target, "Runtime.queryObjects", wanted)
    made = yield Together(sends=tuple(_call(tab, target, "Runtime.evaluate", _of(name)) for name in SOCKETS))
    if not all(_is_plain(one, name, target) for one, name in zip(made, SOCKETS, strict=True)):
        return True
    ids = [root, *(one["result"]["objectId"] for one in made if "exceptionDetails" not in one)]
    holds = yield _call(tab, target, "Runtime.callFunctionOn", _holding(found["objects"]["objectId"], ids))
    yield _call(tab, target, "Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    return bool(holds["result"].get("value") is not False)


def _call(tab: CdpTab, target: Target, method: str, params: dict[str, Any]) -> CallMethod:
    return CallMethod(tab=tab, method=method, params=params, via=target.via)


def _holding(functions: str, ids: list[str]) -> dict[str, Any]:
    arguments = [{"objectId": one} for one in ids]
    return {
        "functionDeclaration": _HOLDS, "objectId": functions, "arguments": arguments, "returnByValue": True,
    }  # fmt: skip


def _own(object_id: str) -> dict[str, Any]:
    return {"objectId": object_id, "ownProperties": True}


def _of(name: str) -> dict[str, Any]:
    # A getter of the worker's own must not bring back what it has hidden.
    return {"expression": name, "throwOnSideEffect": True, "objectGroup": _GROUP}


def _prototype(about: dict[str, Any]) -> str:
    inner = about["internalProperties"]
    return str(next((one["value"]["objectId"] for one in inner if one["name"] == "[[Prototype]]"), ""))


def _is_plain(found: dict[str, Any], name: str, target: Target) -> bool:
    """Whether this is the browser's own constructor, or one that this worker lacks."""
    if "exceptionDetails" in found:
        return name != _EVERYWHERE and _is_without_tls(target.url)
    return bool(found["result"].get("description") == f"function {name}() {{ [native code] }}")


def _is_without_tls(url: str) -> bool:
    place = urlsplit(url.removeprefix("blob:"))
    host = place.hostname or ""
    is_local = host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")
    return place.scheme == "http" and not is_local
