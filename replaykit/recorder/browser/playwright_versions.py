"""What differs between releases of Playwright: deadlines of CDP calls, and whether events come."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from inspect import signature
from time import monotonic
from typing import Any

from replaykit.errors import DriverTooOld

HEARING_MAX_S = 10.0
"""Longest wait for the first event of a session: Playwright before 1.60 has none, machines are slow."""

ALL = {"discover": True, "filter": [{}]}
"""The browser is a target of its own: one without any page tells of something, too."""


def send(session: Any, method: str, params: dict[str, Any], timeout_ms: float) -> Any:
    """Call a sync session. Raises Playwright's TimeoutError, or Python's own."""
    if _has_deadline(session):
        return session.send(method, params, timeout=timeout_ms)
    return session._sync(asyncio.wait_for(session._impl_obj.send(method, params), timeout_ms / 1000))


async def send_async(session: Any, method: str, params: dict[str, Any], timeout_ms: float) -> Any:
    """Call an async session. Raises Playwright's TimeoutError, or Python's own."""
    if _has_deadline(session):
        return await session.send(method, params, timeout=timeout_ms)
    return await asyncio.wait_for(session.send(method, params), timeout_ms / 1000)


def hear(session: Any) -> None:
    """Wait for the first event of a sync session of the browser. Raises DriverTooOld."""
    heard: list[Any] = []

    def take(event: Any) -> None:
        heard.append(event)

    session.on("event", take)
    session.send("Target.setDiscoverTargets", ALL)
    deadline = monotonic() + HEARING_MAX_S
    while not heard and monotonic() < deadline:
        session.send("Browser.getVersion")  # events come in during calls
    if not heard:
        raise _too_old()


async def hear_async(session: Any) -> None:
    """Wait for the first event of an async session of the browser. Raises DriverTooOld."""
    heard = asyncio.Event()
    session.on("event", lambda _: heard.set())
    await session.send("Target.setDiscoverTargets", ALL)
    try:
        await asyncio.wait_for(heard.wait(), HEARING_MAX_S)
    except TimeoutError as error:
        raise _too_old() from error


def _too_old() -> DriverTooOld:
    return DriverTooOld(version=version("playwright"))


def _has_deadline(session: Any) -> bool:
    return "timeout" in signature(session.send).parameters
