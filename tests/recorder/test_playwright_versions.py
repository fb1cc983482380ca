"""Sessions of other releases of Playwright: without a deadline of their own, and without events."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from playwright._impl._impl_to_api_mapping import ImplToApiMapping

from replaykit.errors import DriverTooOld
from replaykit.recorder.browser import playwright_versions
from replaykit.recorder.browser.playwright_versions import (
    has_lost_driver,
    is_direct,
    send,
    sent,
    unwrapped,
    wait_for_event,
)


class Old:
    """A session of 1.60: its calls take no timeout."""

    def __init__(self, *, is_silent: bool = False) -> None:
        self.listener: Any = None
        self.is_silent = is_silent

    def on(self, name: str, listener: Any) -> None:
        self.listener = listener

    async def send(self, method: str, params: dict[str, Any] | None = None) -> str:
        if self.is_silent and method == "stuck":
            await asyncio.Event().wait()
        if not self.is_silent:
            self.listener({"method": "Target.targetCreated"})
        return method


class New(Old):
    """One of 1.65."""

    async def send(self, method: str, params: Any = None, *, timeout: float) -> Any:  # type: ignore[override]  # noqa: ASYNC109 - the name is Playwright's
        return timeout


async def call(method: Any, *arguments: Any, **options: Any) -> Any:
    return await method(*arguments, **options)


def test_deadlines_are_the_drivers_where_it_has_them() -> None:
    assert asyncio.run(send(call, New(), "a", {}, 7)) == 7


def test_deadlines_are_ours_where_it_has_none() -> None:
    one = Old()
    one.on("event", lambda _: None)
    assert asyncio.run(send(call, one, "a", {}, 1000)) == "a"
    with pytest.raises(TimeoutError):
        asyncio.run(send(call, Old(is_silent=True), "stuck", {}, 1))


class Connection:
    """Connection of a session of 1.65."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def send_message_to_server(self, object: Any, method: str, params: Any, options: Any) -> Any:
        return {"result": (method, params, options["timeout"])}


class Another:
    """Of a release whose calls take something else."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def send_message_to_server(self, message: Any) -> Any:
        raise AssertionError


def _session(connection: Any) -> Any:
    return SimpleNamespace(_impl_obj=SimpleNamespace(_connection=connection))


def test_calls_go_by_the_connection_where_its_way_is_known() -> None:
    async def ask() -> Any:
        session = _session(Connection(asyncio.get_running_loop()))
        return is_direct(session) and await sent(session, "Page.enable", {"a": 1}, 7)

    called = "send", {"method": "Page.enable", "params": {"a": 1}}, 7
    assert asyncio.run(ask()) == {"result": called}


def test_calls_do_not_go_by_a_connection_that_is_not_known_or_on_another_loop() -> None:
    async def ask(other: asyncio.AbstractEventLoop) -> list[bool]:
        connections = [None, Another(asyncio.get_running_loop()), Connection(other)]
        return [is_direct(_session(one)) for one in connections]

    other = asyncio.new_event_loop()
    assert not any(asyncio.run(ask(other)))
    other.close()


def test_calls_go_by_the_connection_of_this_release() -> None:
    connection = pytest.importorskip("playwright._impl.connection")
    assert playwright_versions._is_known(connection.Connection.send_message_to_server)


def test_sessions_whose_events_come() -> None:
    asyncio.run(wait_for_event(call, Old()))


def test_sessions_without_events_are_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playwright_versions, "REPLY_MAX_S", 0.01)
    monkeypatch.setattr(playwright_versions, "version", lambda _: "1.44.0")
    with pytest.raises(DriverTooOld, match=r"playwright 1\.44\.0") as refused:
        asyncio.run(wait_for_event(call, Old(is_silent=True)))
    assert "1.60" in (refused.value.hint or "")


def test_playwright_hands_on_an_event_as_it_came() -> None:
    received: list[Any] = []
    listener = unwrapped(received.append)
    event = {"method": "Page.loadEventFired", "params": {"timestamp": 1.5}}
    ImplToApiMapping().wrap_handler(listener)(event)
    assert received[0] is event


def test_a_lost_process_is_known_by_what_playwright_raises() -> None:
    assert has_lost_driver(Exception("Page.click: Connection closed while reading from the driver"))
    assert not has_lost_driver(ValueError("Connection closed while reading from the driver"))
    assert not has_lost_driver(Exception("another"))
