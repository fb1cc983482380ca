"""A browser that a command's agent drives through the proxy, and what the recorder learns from that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from replaykit.browser import Browser
from replaykit.errors import RecorderError
from replaykit.recorder.agent_events_file import AgentEvents
from replaykit.recorder.browser.witnesses.agent_made_documents import forges
from replaykit.recorder.browser.witnesses.command_kinds import (
    ALTERED,
    BLIND,
    BLINDED,
    alters,
    blinds,
    cdp_kind,
    strokes_of,
)
from replaykit.recorder.browser.witnesses.command_log import shown
from replaykit.recorder.browser.witnesses.other_clients import UNLOGGED, UNLOGGED_IN, opens_browser
from replaykit.recorder.live_run import LiveRun
from replaykit.recorder.proxy.cdp_proxy import Proxy
from replaykit.recorder.proxy.protocol_messages import ASKED, TARGET, TRAVELS, WORLD, Message
from replaykit.recorder.session.witnesses import Answered, Commanded, ScriptAsked, ScriptEnded


class Proxied:
    """The proxy of one browser; use it in a `with` block."""

    def __init__(self, running: Browser) -> None:
        if running.pipe is None:
            raise RecorderError(what="the browser has no pipe")
        self._running = running
        self.net_log = running.net_log
        """The browser's log of all its requests."""
        self.notice = running.notice
        """A note for the user about the start of the browser."""
        self._proxy = Proxy(
            running.pipe,
            before=self._before,
            refused=partial(self._note, refused=True),
            late=lambda target: self._call_soon(self._late),
            scripted=self._scripted,
            arrived=self._arrived,
            parting=self._parting,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._agent_events: AgentEvents | None = None
        self._run: LiveRun | None = None

    @property
    def endpoint(self) -> str:
        """HTTP address for the agent."""
        return self._proxy.endpoint

    @property
    def own_endpoint(self) -> str:
        """WebSocket address for the recorder."""
        return self._proxy.own_endpoint

    def __enter__(self) -> Proxied:
        try:
            self._proxy.__enter__()
        except RecorderError as error:
            raise self._running.fault(str(error)) from error
        return self

    def __exit__(self, *error: object) -> None:
        self._proxy.__exit__(*error)

    def follow(self, run: LiveRun) -> None:
        """Learn from a recording, before it is attached, in which pages it listens."""
        self._run, self._loop = run, asyncio.get_running_loop()
        run.is_proxied = True
        self._proxy.call(run.names)
        run.on_armed(self._proxy.armed)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Hold new pages until the recorder listens in them, in the block; after it no agent comes in."""
        self._proxy.hold()
        try:
            yield
        finally:
            self._proxy.dismiss()

    def take_events(self, agent_events: AgentEvents) -> None:
        """Receive all events so far before a command of the agent goes on."""
        self._agent_events = agent_events

    # In the proxy's thread

    def _before(self, method: str, params: Message) -> None:
        self._listen()
        self._note(method, params)

    def _note(self, method: str, params: Message, *, refused: bool = False) -> None:
        kind, run = cdp_kind(method), self._run
        if kind is None or run is None:
            return
        at = run.clock.now()
        asked = params.get(ASKED)
        # A request that is known ties the answer to one document, not to all (decision 49).
        made = "" if asked else forges(method, params)
        command = Commanded(
            at=at,
            origin="proxy",
            kind=kind,
            name=method,
            world=params.get(WORLD),
            refused=refused,
            forges=made,
            strokes=strokes_of(method, params),
            **shown(params),
        )
        self._call_soon(lambda: run.commanded(command, params.get(TARGET)))
        if asked and forges(method, params):
            answer = Answered(at=at, url=asked["url"], method=asked["method"])
            self._call_soon(lambda: run.commanded(answer))
        if not refused:
            self._note_effects(run, method, params, at)

    def _note_effects(self, run: LiveRun, method: str, params: Message, at: float) -> None:
        if alters(method, params):
            self._call_soon(lambda: run.missed(ALTERED, ("network",)))
        if method == TRAVELS:
            self._call_soon(lambda: run.travelled(at, params[TARGET]))
        if blinds(method, params):
            self._call_soon(lambda: run.missed(BLIND, BLINDED))
        if opens_browser(method):
            self._call_soon(lambda: run.missed(UNLOGGED, UNLOGGED_IN))

    def _scripted(self, number: int, is_apart: bool | None, target: str) -> None:
        run = self._run
        if run is None:
            return
        at = run.clock.now()
        message = (
            ScriptEnded(at=at, number=number)
            if is_apart is None
            else ScriptAsked(at=at, number=number, is_apart=is_apart)
        )
        self._call_soon(lambda: run.scripted(message, target))

    def _arrived(self, loader: str) -> None:
        run = self._run
        if run is not None:
            at = run.clock.now()
            self._call_soon(lambda: run.arrived(loader, at))

    def _parting(self, target: str) -> None:
        run, looked = self._run, partial(self._proxy.looked, target)
        if run is None:
            looked()
        else:
            self._call_soon(lambda: run.look_last(target, looked))

    def _listen(self) -> None:
        agent_events = self._agent_events
        if agent_events is not None and agent_events.listen():
            self._call_soon(agent_events.receive)

    def _call_soon(self, call: Callable[[], Any]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    # In the recorder's

    def _late(self) -> None:
        if self._run is not None:
            self._run.missed("target.late", ("actions", "network"))
