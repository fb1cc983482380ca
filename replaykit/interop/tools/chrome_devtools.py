"""Tools of Chrome DevTools' MCP server that no other tool is named like.

Upstream: https://github.com/ChromeDevTools/chrome-devtools-mcp, release 1.11.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from replaykit.trajectory import action as actions

Arguments = Mapping[str, Any]

READING = (
    "list_pages", "take_snapshot", "list_network_requests", "get_network_request", "list_console_messages",
    "get_console_message", "resize_page", "get_tab_id",
)  # fmt: skip
"""Tools that leave the page as it is."""

_MOVES: dict[Any, Callable[[], actions.Action]] = {
    "back": actions.GoBack,
    "forward": actions.GoForward,
    "reload": actions.Reload,
}


def _navigate(args: Arguments) -> actions.Action:
    # A script that is given is run on the next document.
    if args.get("initScript"):
        raise ValueError
    kind = args.get("type") or "url"
    return actions.Goto(url=str(args["url"])) if kind == "url" else _MOVES[kind]()


def _open(args: Arguments) -> actions.Action:
    return actions.NewTab(url=str(args["url"]))


def _select(args: Arguments) -> actions.Action:
    # An id is the place of no tab; releases to 0.9 gave that.
    place = args.get("pageIdx")
    return actions.FocusTab(tab=place if type(place) is int and place >= 0 else None)


MAKERS: dict[str, Callable[[Arguments], actions.Action | None]] = {
    "navigate_page": _navigate,
    "new_page": _open,
    "select_page": _select,
    "close_page": lambda _: actions.CloseTab(),
}
"""Name of a tool to its action."""
