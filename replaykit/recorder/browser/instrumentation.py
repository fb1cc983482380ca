"""Arming a tab: binding and script go in, clocks are compared, the history is read."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import Any

from msgspec import Struct

from replaykit.recorder.browser.command_effects import CallMethod, CommandRefused, Effect, Together, evaluate
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.page.page_script import witness_script
from replaykit.recorder.session.clock import Clock, offset
from replaykit.trajectory.step import Environment

POST_MAX = 1 << 20
"""Bytes of a request body that the browser reports."""

BUFFER_MAX = 64 << 20
"""Bytes of response bodies that the browser keeps for us."""

HISTORY = "Page.getNavigationHistory"

REPORTS: tuple[str, dict[str, Any]] = ("Network.enableReportingApi", {"enable": True})
"""Asks for news of reports, such as those of a content security policy, which are no requests of a page."""

WORKERS: tuple[str, dict[str, Any]] = ("ServiceWorker.enable", {})
"""Asks for the service workers of all sites that the browser's profile has."""

OPTIONAL = frozenset({HISTORY, REPORTS[0], WORKERS[0]})
"""Calls that may be refused."""

CLOCK_SAMPLES = 5
"""Round trips at most by which a page's clock is compared with ours."""

QUICK_MS = 4.0
"""A round trip so quick is exact enough: no other is needed."""


def following(tab: CdpTab) -> dict[str, Any]:
    """Return how targets below are asked for: `relay` says why they are not given sessions of their own."""
    return {"autoAttach": True, "waitForDebuggerOnStart": tab.holds, "flatten": False}


class Armed(Struct, frozen=True, kw_only=True):
    """Facts found while a tab was instrumented."""

    armed_after_ms: int
    """Age of its document when the script came in, ms."""
    user_agent: str = ""
    """User-agent text."""
    dpr: float = 1.0
    """Device pixel ratio."""
    language: str = ""
    """Browser locale."""
    timezone: str = ""
    """Browser time zone."""
    urls: tuple[str, ...] = ()
    """URLs that its document has requested so far, itself included."""


def arm(tab: CdpTab, script: str, clock: Clock, *, has_network: bool) -> Generator[Effect, Any, Armed]:
    """Put binding and script into a tab, now and for every later document, and compare clocks."""
    answers = yield Together(sends=_first_calls(tab, script, has_network=has_network))
    tab.is_listening = True
    tab.on_listening()
    tree, history = answers[-3:-1] if tab.is_following else answers[-2:]
    tab.seat(tree["frameTree"])
    if history is not None:  # while the page's process changes, the browser has none
        tab.history.read(entries_of(history), history["currentIndex"])
    armed = Armed(armed_after_ms=0)
    # A document that goes just now, or has a dialog open, answers nothing.
    with suppress(CommandRefused):
        armed = yield from _compare_clocks(tab, clock)
    # The browser answers before the page: what the page shows may have come in between.
    if not tab.history.shows(tab.url):
        with suppress(CommandRefused):
            yield from remember_history(tab)
    return armed


def environment(tab: CdpTab, armed: Armed, browser_version: str | None) -> Environment:
    """Return what a header says of the browser, by its first tab."""
    agent = armed.user_agent
    return Environment(
        driver="playwright",
        browser="chromium",
        browser_version=browser_version,
        user_agent=agent or None,
        headless="HeadlessChrome" in agent,
        locale=armed.language or None,
        timezone=armed.timezone or None,
        viewport=tab.viewport,
        dpr=armed.dpr,
    )


def _first_calls(tab: CdpTab, script: str, *, has_network: bool) -> tuple[CallMethod, ...]:
    # All at once: the opener may already act in the new tab.
    source = {"source": script, "worldName": tab.names.world, "runImmediately": True}
    # Before the script, which asks it at once. Of a document that is there it would know too little.
    witness = {"source": witness_script(tab.names.question), "includeCommandLineAPI": True}
    limits = {"maxPostDataSize": POST_MAX, "maxTotalBufferSize": BUFFER_MAX}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Runtime.enable", {}),
        ("Runtime.addBinding", {"name": tab.names.binding, "executionContextName": tab.names.world}),
        ("Page.enable", {}),
        # Where targets wait, the net log has the last requests of documents, and an agent could detect the
        # listener.
        *([] if tab.holds else [("Page.addScriptToEvaluateOnNewDocument", witness)]),
        ("Page.addScriptToEvaluateOnNewDocument", source),
        *([("Network.enable", limits), REPORTS, WORKERS] if has_network else []),
        ("Page.getFrameTree", {}),
        (HISTORY, {}),
        # Frames in processes of their own and workers come as targets. Where a frame waits for its first
        # document, this call would take it away from the agent's driver, and it would never load.
        *([("Target.setAutoAttach", following(tab))] if tab.is_following else []),
    ]
    return tuple(
        CallMethod(tab=tab, method=method, params=params, is_optional=method in OPTIONAL)
        for method, params in calls
    )


def remember_history(tab: CdpTab) -> Generator[Effect, Any, None]:
    """Read the navigation history, unless the tab goes on while it is read."""
    moves = tab.history.moves
    history = yield CallMethod(tab=tab, method=HISTORY)
    if moves == tab.history.moves and not tab.moves.is_leaving:
        tab.history.read(entries_of(history), history["currentIndex"])


def entries_of(history: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the entries of `Page.getNavigationHistory`: address, and the one that was first asked for."""
    return [(entry["url"], entry.get("userTypedURL") or entry["url"]) for entry in history["entries"]]


def _compare_clocks(tab: CdpTab, clock: Clock) -> Generator[Effect, Any, Armed]:
    source = (
        "[performance.timeOrigin + performance.now(), performance.now(), navigator.userAgent,"
        " devicePixelRatio, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone,"
        " innerWidth, innerHeight,"
        " ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))"
        ".map((entry) => entry.name)]"
    )
    samples, urls = [], None
    for _ in range(CLOCK_SAMPLES):
        asked = clock.started + clock.now()
        about = yield from evaluate(tab, source)
        samples.append((asked, float(about[0]), clock.started + clock.now()))
        # Only the first answer counts: from then on its requests are reported.
        urls = tuple(str(url).partition("#")[0] for url in about[8]) if urls is None else urls
        if samples[-1][2] - asked <= QUICK_MS:
            break
    tab.ahead, tab.dpr, tab.viewport = offset(samples), float(about[3]), (int(about[6]), int(about[7]))
    return Armed(
        armed_after_ms=int(about[1]),
        user_agent=str(about[2]),
        dpr=tab.dpr,
        language=str(about[4]),
        timezone=str(about[5]),
        urls=urls or (),
    )
