"""What differs between releases of Playwright: deadlines of CDP calls, and whether events come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from inspect import signature
from typing import Any, TypeAlias

from replaykit.errors import DriverTooOld

HEARING_MAX_S = 10.0
"""Longest wait for the first event of a session: Playwright before 1.60 has none, machines are slow."""

ALL = {"discover": True, "filter": [{}]}
"""The browser is a target of its own: one without any page tells of something, too."""


Call: TypeAlias = Callable[..., Awaitable[Any]]
"""Calls a method of Playwright's, the first argument, in whichever of its APIs."""


async def send(call: Call, session: Any, method: str, params: dict[str, Any], timeout_ms: float) -> Any:
    """Call a protocol method. Raises what `call` raises, and TimeoutError where the deadline is ours."""
    if _has_deadline(session):
        return await call(session.send, method, params, timeout=timeout_ms)
    return await asyncio.wait_for(call(session.send, method, params), timeout_ms / 1000)


async def hear(call: Call, session: Any) -> None:
    """Wait for the first event of a session of the browser. Raises DriverTooOld, and what `call` raises."""
    heard = asyncio.Event()
    session.on("event", lambda _: heard.set())
    await call(session.send, "Target.setDiscoverTargets", ALL)
    try:
        await asyncio.wait_for(heard.wait(), HEARING_MAX_S)
    except TimeoutError as error:
        raise _too_old() from error


def _too_old() -> DriverTooOld:
    return DriverTooOld(version=version("playwright"))


def _has_deadline(session: Any) -> bool:
    return "timeout" in signature(session.send).parameters
