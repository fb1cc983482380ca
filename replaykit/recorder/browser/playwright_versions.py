"""Differences between releases of Playwright: deadlines of CDP calls, events of sessions, a lost process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import version
from inspect import signature
from typing import Any, TypeAlias

from replaykit.errors import DriverTooOld

REPLY_MAX_S = 10.0
"""Longest wait for the first event of a session: Playwright before 1.60 has none, machines are slow."""

ALL = {"discover": True, "filter": [{}]}
"""The browser is itself a target, so a browser without pages also reports something."""


_WRAPPER = "_pw_impl_instance_"
"""Attribute in which Playwright stores its wrapper of a listener; it wraps no listener that has one."""

_FUNNEL, _TAKEN = "send_message_to_server", ("object", "method", "params", "options")
"""The method of a connection that all calls go through, since 1.65, and what it takes."""

Call: TypeAlias = Callable[..., Awaitable[Any]]
"""Calls a method of Playwright's, the first argument, in whichever of its APIs."""


async def send(call: Call, session: Any, method: str, params: dict[str, Any], timeout_ms: float) -> Any:
    """Call a protocol method. Raises what `call` raises, and TimeoutError where the deadline is ours."""
    if _takes_deadline(type(session).send):
        return await call(session.send, method, params, timeout=timeout_ms)
    return await asyncio.wait_for(call(session.send, method, params), timeout_ms / 1000)


def is_direct(session: Any) -> bool:
    """Whether calls of a session can bypass Playwright's API: its connection is known, and runs on this loop.

    The API reads the caller's stack each time, for a log that is not used. The sync API also creates two more
    tasks. Both are two thirds of the cost of a call.
    """
    connection: Any = getattr(session._impl_obj, "_connection", None)
    is_known = connection is not None and _is_known(type(connection).__dict__.get(_FUNNEL))
    return is_known and connection._loop is asyncio.get_running_loop()


def sent(session: Any, method: str, params: dict[str, Any], timeout_ms: float) -> Awaitable[dict[str, Any]]:
    """Call a protocol method by the connection; it has left when this returns. The reply has a `result`."""
    inner = session._impl_obj
    call, options = {"method": method, "params": params}, {"internal": True, "timeout": timeout_ms}
    reply: Awaitable[dict[str, Any]] = inner._connection.send_message_to_server(inner, "send", call, options)
    return reply


# To read a signature takes as long as a call.
@cache
def _is_known(way: Callable[..., Any] | None) -> bool:
    return way is not None and tuple(signature(way).parameters)[1:] == _TAKEN


def unwrapped(handle: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], None]:
    """Return a listener that Playwright calls with an event of a session as it came.

    Otherwise it copies each event, to wrap objects of its own, of which events of the protocol hold none, and
    asks for the listener's signature each time, while the agent waits. A release that does not know the
    attribute goes on doing so.
    """

    def listener(event: dict[str, Any]) -> None:
        handle(event)

    setattr(listener, _WRAPPER, listener)
    return listener


async def wait_for_event(call: Call, session: Any) -> None:
    """Wait for the first event of a session of the browser. Raises DriverTooOld, and what `call` raises."""
    received = asyncio.Event()
    session.on("event", lambda _: received.set())
    await call(session.send, "Target.setDiscoverTargets", ALL)
    try:
        await asyncio.wait_for(received.wait(), REPLY_MAX_S)
    except TimeoutError as error:
        raise DriverTooOld(version=version("playwright")) from error


def has_lost_driver(error: BaseException | None) -> bool:
    """Whether Playwright's process has ended: releases before 1.65 raise a plain Exception then."""
    return type(error) is Exception and "Connection closed while reading" in str(error)


@cache
def _takes_deadline(method: Callable[..., Any]) -> bool:
    return "timeout" in signature(method).parameters
