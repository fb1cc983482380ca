"""Ways by which others than the logged client command a browser: ports, servers, extensions, pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replaykit.decoders import decode_as_python

UNLOGGED = "commands.unlogged"
"""Why no action is denied: the browser may have followed commands that were not logged."""

UNLOGGED_IN = ("actions", "network", "targets", "snapshots", "form_state")
"""Channels that such commands may change, or leave without a witness."""

_PORT, _PIPE = "--remote-debugging-port", "--remote-debugging-pipe"
_NO_EXTENSIONS = "--disable-extensions"
_EXCEPT = "--disable-extensions-except="

_OPENING = frozenset(
    {"Target.exposeDevToolsProtocol", "Target.openDevTools", "Extensions.loadUnpacked"}
    | {"Browser.startServer", "Browser.newContextForReuse", "BrowserType.connectToWorker"}
)
"""Commands that let a page, an extension, a window of tools or another client command the browser."""

_NESTED = "Target.sendMessageToTarget"
_NESTED_MAX = 8


def has_other_clients(flags: Iterable[str]) -> bool:
    """Whether a browser that was started like this may have another client than the one on its pipe."""
    given = tuple(flags)
    if _PIPE not in given or any(flag.startswith(_PORT) for flag in given):
        return True
    # An extension runs scripts in pages, and may use the protocol, without a command of the driver.
    has_exceptions = any(flag.startswith(_EXCEPT) and flag != _EXCEPT for flag in given)
    return _NO_EXTENSIONS not in given or has_exceptions


def opens_browser(name: str) -> bool:
    """Whether a command lets others command the browser from then on."""
    return name in _OPENING


def unwrapped(name: str, params: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the command that is wrapped in the message of another; old clients reach targets like that."""
    for _ in range(_NESTED_MAX):
        if name != _NESTED:
            break
        name, params = _inner(params.get("message"))
    return name, params


def _inner(message: object) -> tuple[str, Mapping[str, Any]]:
    try:
        inner = decode_as_python(str(message))
    except (ValueError, RecursionError):
        inner = None
    # The browser may still understand a message that cannot be read here.
    if not isinstance(inner, dict):
        return _NESTED, {}
    params = inner.get("params")
    return str(inner.get("method", "")), params if isinstance(params, dict) else {}
