"""Evidence that a task's checks ask for: pages opened in a tab of their own, values read, APIs asked."""

from __future__ import annotations

import ipaddress
import json
import urllib.error
import urllib.request
from collections.abc import Generator
from typing import Any
from urllib.parse import urlsplit

from replaykit.decoders import convert, decode, decode_as_python
from replaykit.recorder.browser.command_effects import (
    CallMethod,
    Carried,
    CloseProbeTab,
    CommandRefused,
    Effect,
    OpenTab,
    Sleep,
    evaluate,
    evaluate_raw,
)
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.clock import Clock
from replaykit.tasks.checks import ProbeRead
from replaykit.trajectory.observation import Hit, Prep, Read
from replaykit.trajectory.scalars import Threw

OPEN_MAX_MS = 10_000
"""A page that is not at rest after this time is read as it is, and its read is marked."""

QUIET_MS = 500
"""At rest: no mutation and no network for so long."""

POLL_MS = 50
"""Between two questions whether the page is at rest."""

READ_MAX_MS = 2000
"""One read or preparing script."""

BODY_MAX = 1 << 20
"""Bytes of an API reply that are kept."""


def open_page(tab: CdpTab | None, url: str, clock: Clock) -> Carried:
    """Navigate the probe tab (a new one on first use) and wait until it is at rest.

    Returns {page, url, status, error, redirects, settled}.
    """
    if tab is None:
        tab = yield OpenTab()
    deadline = clock.now() + OPEN_MAX_MS
    try:
        reply = yield CallMethod(tab=tab, method="Page.navigate", params={"url": url}, timeout_ms=OPEN_MAX_MS)
    except CommandRefused:
        yield CloseProbeTab(tab=tab)
        raise
    error = reply.get("errorText")
    is_settled = False if error else (yield from _settle(tab, clock, deadline))
    if error:
        # No one will look at it, and no one would close it.
        yield CloseProbeTab(tab=tab)
    status, redirects = tab.network.documents.get(reply.get("loaderId") or tab.loader, (None, ()))
    return {
        "page": tab.page,
        "url": tab.url,
        "status": status,
        "error": error,
        "redirects": list(redirects),
        "settled": is_settled,
    }


def dismiss(tab: CdpTab) -> Generator[Effect, Any, None]:
    """Dismiss the dialog of a probe tab: no one else will."""
    yield CallMethod(tab=tab, method="Page.handleJavaScriptDialog", params={"accept": False})


def reads(tab: CdpTab, wanted: tuple[ProbeRead, ...]) -> Generator[Effect, Any, list[Read]]:
    """Read values from a page, in the script's world; what a page throws is a value too."""
    values = []
    for one in wanted:
        value = yield from _one_read(tab, one)
        values.append(value)
    return values


def prepare(tab: CdpTab, sources: tuple[str, ...]) -> Generator[Effect, Any, list[Prep]]:
    """Run a check's preparing scripts in the page's own world, one after the other."""
    done = []
    for source in sources:
        result = yield from evaluate_raw(tab, source, "", READ_MAX_MS)
        details = result.get("exceptionDetails")
        done.append(Prep(source=source, threw=_threw(details) if details else None))
    return done


def request(method: str, url: str) -> tuple[int, str, bytes]:
    """Ask an API with a client of its own; returns status, media type, body. Raises `CommandRefused`."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise CommandRefused("failed")
    ask = urllib.request.Request(url, method=method, headers={"Accept": "application/json, */*"})
    try:
        with _opener(url).open(ask, timeout=OPEN_MAX_MS / 1000) as reply:
            return reply.status, reply.headers.get_content_type(), reply.read(BODY_MAX)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers.get_content_type(), error.read(BODY_MAX)
    except TimeoutError as error:
        raise CommandRefused("timeout") from error
    except OSError as error:
        raise CommandRefused("failed") from error


def _opener(url: str) -> urllib.request.OpenerDirector:
    # A proxy from the environment must never see loopback.
    host = urlsplit(url).hostname or ""
    try:
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = False
    return urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if is_local else []))


def _settle(tab: CdpTab, clock: Clock, deadline: float) -> Generator[Effect, Any, bool]:
    while clock.now() < deadline:
        if (yield from _is_quiet(tab, clock)):
            return True
        yield Sleep(ms=POLL_MS)
    return False


def _is_quiet(tab: CdpTab, clock: Clock) -> Generator[Effect, Any, bool]:
    if clock.now() - tab.busy_at < QUIET_MS:
        return False
    try:
        text = yield from evaluate(tab, f"document.readyState === 'complete' ? {tab.names.api}.quiet() : ''")
    except CommandRefused:
        return False  # between two documents there is no one to ask
    return bool(text) and decode_as_python(text)["quiet_ms"] >= QUIET_MS


def _one_read(tab: CdpTab, wanted: ProbeRead) -> Generator[Effect, Any, Read]:
    if wanted.selector is not None and wanted.property is None:
        return (yield from _hits(tab, wanted.locator, wanted.selector))
    if wanted.selector is not None:
        call = f"{tab.names.api}.property({json.dumps(wanted.selector)}, {json.dumps(wanted.property)})"
    else:
        call = f"{tab.names.api}.classify(() => (\n{wanted.script or wanted.locator}\n))"
    result = yield from evaluate_raw(tab, call, None, READ_MAX_MS)
    if "exceptionDetails" in result:
        return Read(locator=wanted.locator, kind="exception", threw=_threw(result["exceptionDetails"]))
    return _decode_read(wanted.locator, result["result"].get("value"))


def _decode_read(locator: str, text: object) -> Read:
    if not isinstance(text, str):
        raise CommandRefused("failed")
    try:
        return convert({"locator": locator, **decode_as_python(text)}, Read)
    except RecursionError as error:
        raise CommandRefused("failed") from error


def _hits(tab: CdpTab, locator: str, selector: str) -> Generator[Effect, Any, Read]:
    result = yield from evaluate_raw(tab, f"{tab.names.api}.hits({json.dumps(selector)})", None, READ_MAX_MS)
    if "exceptionDetails" in result:
        return Read(locator=locator, kind="exception", threw=_threw(result["exceptionDetails"]))
    hits = decode(result["result"]["value"], tuple[Hit, ...])
    return Read(locator=locator, kind="hits", hits=hits)


def _threw(details: dict[str, Any]) -> Threw:
    thrown = details.get("exception", {})
    name = thrown.get("className") or "Error"
    text = str(thrown.get("description") or thrown.get("value") or details["text"]).splitlines()
    return Threw(name=name, message=text[0].removeprefix(f"{name}: ") if text else "")
