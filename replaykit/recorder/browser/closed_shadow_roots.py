"""Closed shadow roots: no script of a page reaches them, so the browser is asked for them, at the end."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import msgspec

from replaykit.decoders import convert
from replaykit.recorder.browser.command_effects import CommandRefused, Effect, ask, evaluate
from replaykit.recorder.browser.tab.cdp_tab import CdpTab

ELEMENTS_MAX = 5000
"""Of a larger page the browser is not asked: it takes seconds."""

ROOTS_MAX = 200
"""Closed roots of one page."""

COUNT_MAX_MS = 500
"""A page that has not counted its elements after this time is stuck."""

ANSWER_MAX_MS = 2000
"""The browser's answer about a whole page."""

_REVEAL = """function () {
  let view = globalThis;
  while (view.API === undefined && view !== view.parent) view = view.parent;
  view.API.reveal(this);
}"""


def reveal(tab: CdpTab) -> Generator[Effect, Any, int]:
    """Show the page's script its closed shadow roots; returns how many it could not be shown."""
    try:
        about = yield from evaluate(tab, f"{tab.names.api}.sealed()", timeout_ms=COUNT_MAX_MS)
        elements, suspects = convert(about, tuple[int, int])
        return suspects if elements > ELEMENTS_MAX else (yield from _revealed(tab))
    except (CommandRefused, msgspec.ValidationError):
        return 0  # what cannot be asked for this gives no snapshot either


def _revealed(tab: CdpTab) -> Generator[Effect, Any, int]:
    """Show the script every closed root; returns how many it could not be shown."""
    wanted = {"depth": -1, "pierce": True}
    tree = yield from ask(tab, "DOM.getDocument", wanted, ANSWER_MAX_MS)
    try:
        roots = list(_closed(tree["root"], tab.frames.main))
        hidden = max(0, len(roots) - ROOTS_MAX)
        for node, frame in roots[:ROOTS_MAX]:
            try:
                yield from _show(tab, node, frame)
            except CommandRefused:
                hidden += 1
        return hidden
    finally:
        # Otherwise the browser goes on telling of every node that changes.
        yield from ask(tab, "DOM.disable", {}, ANSWER_MAX_MS)


def _closed(root: dict[str, Any], main: str) -> Iterator[tuple[int, str]]:
    """Yield closed shadow roots, outermost first, each with the frame that it is in."""
    waiting = [(root, main)]
    while waiting:
        node, frame = waiting.pop()
        if node.get("shadowRootType") == "closed":
            yield node["backendNodeId"], frame
        inner = node.get("contentDocument")
        if inner is not None:
            waiting.append((inner, node.get("frameId", frame)))
        waiting += [(child, frame) for key in ("children", "shadowRoots") for child in node.get(key, ())]


def _show(tab: CdpTab, node: int, frame: str) -> Generator[Effect, Any, None]:
    place = tab.worlds.place(None, frame)
    if place is None:
        raise CommandRefused("gone")
    wanted = {"backendNodeId": node, "executionContextId": place[1]}
    found = yield from ask(tab, "DOM.resolveNode", wanted, ANSWER_MAX_MS, place[0])
    holder = {"objectId": found["object"]["objectId"]}
    call = {"functionDeclaration": _REVEAL.replace("API", tab.names.api), "returnByValue": True, **holder}
    reply = yield from ask(tab, "Runtime.callFunctionOn", call, ANSWER_MAX_MS, place[0])
    yield from ask(tab, "Runtime.releaseObject", holder, ANSWER_MAX_MS, place[0])
    if "exceptionDetails" in reply:
        raise CommandRefused("failed")
