"""Arming a tab: binding and script go in, clocks are compared, the history is read."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from msgspec import Struct

from replaykit.recorder.capture import BINDING, WORLD
from replaykit.recorder.cdp import Tab
from replaykit.recorder.clock import Clock, offset
from replaykit.recorder.effects import Effect, Refused, Send, evaluate

POST_MAX = 1 << 20
"""Bytes of a request body that the browser reports."""

BUFFER_MAX = 64 << 20
"""Bytes of response bodies that the browser keeps for us."""

CLOCK_SAMPLES = 5
"""Round trips by which a page's clock is compared with ours."""


FOLLOWING = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False}
"""How targets below are asked for: `relay` says why they are not given sessions of their own."""


class Armed(Struct, frozen=True, kw_only=True):
    """What arming a tab has found out."""

    armed_after_ms: int
    """Age of its document when the script came in, ms."""
    is_touched: bool = True
    """Somebody may have acted in it before."""
    user_agent: str = ""
    """User-agent text."""
    dpr: float = 1.0
    """Device pixel ratio."""
    language: str = ""
    """Browser locale."""
    timezone: str = ""
    """Browser time zone."""


def arm(tab: Tab, script: str, clock: Clock, *, has_network: bool) -> Generator[Effect, Any, Armed]:
    """Put binding and script into a tab, now and for every later document, and compare clocks."""
    yield Send(tab=tab, method="Runtime.enable")
    binding = {"name": BINDING, "executionContextName": WORLD}
    yield Send(tab=tab, method="Runtime.addBinding", params=binding)
    yield Send(tab=tab, method="Page.enable")
    source = {"source": script, "worldName": WORLD, "runImmediately": True}
    yield Send(tab=tab, method="Page.addScriptToEvaluateOnNewDocument", params=source)
    if has_network:
        limits = {"maxPostDataSize": POST_MAX, "maxTotalBufferSize": BUFFER_MAX}
        yield Send(tab=tab, method="Network.enable", params=limits)
    tab.seat((yield Send(tab=tab, method="Page.getFrameTree"))["frameTree"])
    # Frames in processes of their own and workers come as targets of this session; nothing is held up for us.
    yield Send(tab=tab, method="Target.setAutoAttach", params=FOLLOWING)
    try:
        armed = yield from _compare_clocks(tab, clock)
        yield from remember_history(tab)
    except Refused:  # it navigates away just now, or has a dialog open: armed all the same
        return Armed(armed_after_ms=0)
    return armed


def remember_history(tab: Tab) -> Generator[Effect, Any, None]:
    """Read the navigation history, unless the tab goes on while it is read."""
    moves = tab.history.moves
    history = yield Send(tab=tab, method="Page.getNavigationHistory")
    if moves == tab.history.moves and not tab.is_leaving:
        tab.history.read([entry["url"] for entry in history["entries"]], history["currentIndex"])


def _compare_clocks(tab: Tab, clock: Clock) -> Generator[Effect, Any, Armed]:
    source = (
        "[performance.timeOrigin + performance.now(), performance.now(), navigator.userAgent,"
        " devicePixelRatio, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,"
        " innerWidth, innerHeight,"
        " ['pointerdown', 'keydown', 'beforeinput'].some((name) => performance.eventCounts?.get(name) > 0)]"
    )
    samples, is_touched = [], None
    for _ in range(CLOCK_SAMPLES):
        asked = clock.started + clock.now()
        about = yield from evaluate(tab, source)
        samples.append((asked, float(about[0]), clock.started + clock.now()))
        # Of what came later the script has told.
        is_touched = bool(about[8]) if is_touched is None else is_touched
    tab.ahead, tab.dpr, tab.viewport = offset(samples), float(about[3]), (int(about[6]), int(about[7]))
    return Armed(
        armed_after_ms=int(about[1]),
        is_touched=is_touched is not False,
        user_agent=str(about[2]),
        dpr=tab.dpr,
        language=str(about[4]),
        timezone=str(about[5]),
    )
