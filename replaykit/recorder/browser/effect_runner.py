"""Carries out what the session and the lifecycle ask for: every command is a task beside the agent.

Written once for both of Playwright's APIs. They differ in how a method is called, which is `_call_method`.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from replaykit.recorder.browser.command_effects import (
    COMMAND_MAX_MS,
    CallBrowser,
    CallMethod,
    Carried,
    CloseProbeTab,
    CommandRefused,
    Effect,
    Job,
    OpenTab,
    Outline,
    Sleep,
    Together,
    Work,
)
from replaykit.recorder.browser.driver import Driver, log
from replaykit.recorder.browser.playwright_versions import has_lost_driver, is_direct, send, sent
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.witnesses.command_log import own_calls
from replaykit.recorder.session.driver_messages import Pause

if TYPE_CHECKING:
    # The sync API has the same names. Nothing is imported from either: a run needs only one of them.
    from playwright.async_api import CDPSession, Page


class PlaywrightApi(Struct, frozen=True, kw_only=True):
    """Parts of Playwright's APIs that differ between sync and async."""

    name: str
    """`sync` or `async`."""
    kinds: tuple[type, ...]
    """Classes that can be recorded: its Page, BrowserContext, Browser."""
    error: type[Exception]
    late: type[Exception]
    """Its TimeoutError."""


class EffectRunner(Driver, ABC):
    """Performs effects on the loop that Playwright runs on."""

    api: ClassVar[PlaywrightApi]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, is_sync=self.api.name == "sync", **options)
        self._sessions: dict[int, CDPSession] = {}
        self._heart: CDPSession | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.Task[None]] = set()
        self._jobs: dict[Job, Callable[[Job], None]] = {}
        self._worker = ThreadPoolExecutor(1, "replaykit")

    @abstractmethod
    async def _call_method(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a method of Playwright's; raises what it raises."""

    @abstractmethod
    async def _open_probe(self) -> CdpTab:
        """Open and arm a probe tab in the agent's context."""

    async def call(self, method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call a method of Playwright's. Raises CommandRefused."""
        return await self._refusing(lambda: self._call_method(method, *arguments, **options))

    async def _refusing(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await ask()
        except (self.api.late, TimeoutError) as error:
            raise CommandRefused("timeout") from error
        except self.api.error as error:
            raise CommandRefused("failed") from error
        except Exception as error:
            if has_lost_driver(error):
                raise CommandRefused("gone") from error
            raise

    # Tasks

    def pump(self) -> None:
        """Start what the session has asked for."""
        self.start_queued()

    def start_queued(self) -> None:
        """Start what the session has asked for; here the loop runs."""
        while self.queue:
            command = self.queue.pop(0)
            # A timer is nothing to wait for.
            among = self._timers if isinstance(command, Pause) else self._tasks
            # Noted now: if the loop ends before its task begins, the command is refused and not forgotten.
            job = self._begun(self.commands.start(command), partial(self.replied, command))
            self._spawn(self._go_on(job), among)

    def _spawn(
        self, work: Coroutine[Any, Any, Any], among: set[asyncio.Task[None]] | None = None
    ) -> asyncio.Task[None]:
        tasks = self._tasks if among is None else among
        task = asyncio.ensure_future(self._guard(work))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        # A task that is cancelled before it begins never awaits its work, which Python would warn of.
        task.add_done_callback(lambda _: work.close())
        return task

    async def _guard(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            with own_calls():
                await work
        except CommandRefused:
            pass  # the page went away meanwhile; the session says what that leaves out
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)
        self.start_queued()

    async def _wait(self, until: Callable[[], bool], seconds: float, *, is_owed: bool = True) -> None:
        self.start_queued()
        deadline = self.clock.now() + seconds * 1000
        while not until():
            left = (deadline - self.clock.now()) / 1000
            if left <= 0:
                if is_owed:
                    self.gap("snapshots", "timeout", len(self._tasks))
                return
            waiting = (self._tasks | self._timers) - {asyncio.current_task()}
            if not waiting:
                return  # nothing can change any more
            await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            self.start_queued()

    # Commands

    async def _carry(self, carried: Carried) -> Any:
        job = await self._go_on(self._begun(carried, _ignore))
        if job.fault is not None:
            raise job.fault
        if job.error is not None:
            raise CommandRefused(job.error)
        return job.value

    def _begun(self, carried: Carried, then: Callable[[Job], None]) -> Job:
        job = Job(carried)
        job.step()
        self._jobs[job] = then
        return job

    async def _go_on(self, job: Job) -> Job:
        while job.effect is not None:
            why = None
            try:
                answer = await self._perform(job.effect)
            except CommandRefused as refused:
                answer, why = None, refused
            if job not in self._jobs:
                return job  # the loop had ended, and it was carried out on another
            job.step(answer, why)
        self._jobs.pop(job, _ignore)(job)
        return job

    async def _perform(self, effect: Effect) -> Any:
        match effect:
            case CallMethod():
                is_relayed = bool(effect.via or effect.tab.wire)
                return await (self._ask_target(effect) if is_relayed else self._send(effect))
            case CallBrowser():
                return await self._ask(self._heart, effect)
            case Together():
                return await self._send_all(effect.sends)
            case Sleep():
                return await asyncio.sleep(effect.ms / 1000)
            case Work():
                return await asyncio.get_running_loop().run_in_executor(self._worker, effect.run)
            case OpenTab():
                return await self._open_probe()
            case CloseProbeTab():
                return await self._close_probe(effect.tab)
            case Outline():
                return await self._outline(effect.tab)

    async def _send(self, effect: CallMethod) -> Any:
        if effect.tab.is_gone:
            raise CommandRefused("gone")
        try:
            return await self._ask(self._sessions.get(effect.tab.page), effect)
        except CommandRefused as refused:
            raise CommandRefused("gone" if effect.tab.is_gone else str(refused)) from refused

    async def _send_all(self, sends: tuple[CallMethod, ...]) -> list[Any]:
        tab = sends[0].tab
        session, is_relayed = self._sessions.get(tab.page), tab.wire or any(send.via for send in sends)
        if session is None or is_relayed or tab.is_gone or not is_direct(session):
            return await asyncio.gather(*(_leniently(self._perform(send), send) for send in sends))
        # A task for each would hold up the driver's next message by several turns of the loop.
        asked = [self._sent(session, send) for send in sends]
        try:
            replies = await self._refusing(lambda: asyncio.gather(*asked))
        except CommandRefused as refused:
            raise CommandRefused("gone" if tab.is_gone else str(refused)) from refused
        return [reply and reply["result"] for reply in replies]

    def _sent(self, session: CDPSession, send: CallMethod) -> Awaitable[Any]:
        reply = sent(session, send.method, send.params, send.timeout_ms)
        return _leniently(self._refusing(lambda: reply), send) if send.is_optional else reply

    async def _ask(self, session: CDPSession | None, effect: CallMethod | CallBrowser) -> Any:
        if session is None:
            raise CommandRefused("gone")
        asked = session, effect.method, effect.params, effect.timeout_ms
        try:
            if is_direct(session):
                return (await self._refusing(lambda: sent(*asked)))["result"]
            return await send(self.call, *asked)
        except TimeoutError as error:
            raise CommandRefused("timeout") from error
        except CommandRefused as refused:
            log.debug("%s was refused: %s", effect.method, refused.__cause__)
            raise

    async def _ask_target(self, effect: CallMethod) -> Any:
        if effect.tab.is_gone:
            raise CommandRefused("gone")
        waiting: asyncio.Future[tuple[Any, CommandRefused | None]] = (
            asyncio.get_running_loop().create_future()
        )

        def then(answer: Any, refused: CommandRefused | None) -> None:
            if not waiting.done():
                waiting.set_result((answer, refused))

        number, call = self.relayed(effect, then)
        try:
            await self._perform(call)
            answer, refused = await asyncio.wait_for(waiting, effect.timeout_ms / 1000)
        except TimeoutError as error:
            raise CommandRefused("timeout") from error
        finally:
            self.give_up(effect.tab, number, CommandRefused("gone"))
        if refused is not None:
            raise refused
        return answer

    async def _outline(self, tab: CdpTab) -> str:
        page = self._page_of(tab)
        if page is None:
            raise CommandRefused("failed")  # Playwright does not know it
        return str(await self.call(page.locator("body").aria_snapshot, timeout=COMMAND_MAX_MS))

    async def _close_probe(self, tab: CdpTab) -> None:
        page = self._page_of(tab)
        if page is not None and not page.is_closed():
            await self.call(page.close)

    def _page_of(self, tab: CdpTab) -> Page | None:
        return next((page for page, one in self._pages.items() if one is tab), None)


def _ignore(job: Job) -> None:
    """Let a job end: whoever has asked for it waits for it."""


async def _leniently(work: Awaitable[Any], send: CallMethod) -> Any:
    try:
        return await work
    except CommandRefused:
        if not send.is_optional:
            raise
        return None
