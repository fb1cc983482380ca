"""The driver for `playwright.async_api`: every command is a task beside the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import wraps
from typing import Any, TypeAlias

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page
from playwright.async_api import TimeoutError as LateError

from replaykit.recorder.browser.command_effects import (
    COMMAND_MAX_MS,
    CallMethod,
    Carried,
    CloseProbeTab,
    CommandRefused,
    Effect,
    Job,
    OpenTab,
    Outline,
    Sleep,
    Tell,
    Together,
    Work,
)
from replaykit.recorder.browser.driver import Driver, log
from replaykit.recorder.browser.frames_and_workers import snapshot
from replaykit.recorder.browser.instrumentation import arm, remember_history
from replaykit.recorder.browser.method_wrapping import Wrapper, context_of, holds, moving_in_history, require
from replaykit.recorder.browser.playwright_versions import hear_async, send_async
from replaykit.recorder.browser.session_commands import Command
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.target_registry import FOUND
from replaykit.recorder.browser.waits import BEGIN_MAX_S, CLOSING_MAX_S, ENDING_MAX_S, SETTLING_MAX_S
from replaykit.recorder.browser.witnesses.command_log import own_calls
from replaykit.recorder.probes.probe_reading import dismiss
from replaykit.recorder.session.driver_messages import Pause

Target: TypeAlias = Page | BrowserContext | Browser
"""What can be recorded."""

LETTING_GO_S = 0.5
"""Longest wait for a page to let go of the recorder."""


class AsyncDriver(Driver):
    """Pumps an async connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._adopting: dict[Page, asyncio.Task[None]] = {}
        self._sessions: dict[int, CDPSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.Task[None]] = set()
        self._worker = ThreadPoolExecutor(1, "replaykit")
        self._heart: CDPSession | None = None
        self._meetings: dict[int, asyncio.Task[None]] = {}
        self._unclear: list[Page] = []
        self.wrapper = Wrapper(self._before, self._after, self._around)

    async def attach(self, target: Target) -> None:
        """Record a page, or all pages of a context or browser, later ones too; returns once it has looked.

        Raises NotAttachable, DriverTooOld.
        """
        require(target, (Page, BrowserContext, Browser), "async")
        self.log.open(target)
        with own_calls():
            await self._attach(target)

    async def _attach(self, target: Target) -> None:
        context = context_of(target)
        browser = target if isinstance(target, Browser) else context.browser if context else None
        self.browser_version = browser.version if browser else None
        self.is_searching |= browser is not None and not self._holds
        await self._read_flags(browser)
        self.is_attaching = True
        if isinstance(target, Page):
            self.requests.listen(target.context)
            await self._adopt(target)
        elif isinstance(target, BrowserContext):
            await self._enter(target)
        elif browser is not None:
            self.wrapper.listen(browser, "context", lambda entered: self._spawn(self._enter(entered)))
            for one in browser.contexts:
                await self._enter(one)
            self.roster.is_whole = True
        await self._mind(browser)
        self.is_attaching = False
        self.wrapper.wrap(context, browser)
        await self.ready()

    async def _read_flags(self, browser: Browser | None) -> None:
        if browser is not None and self._heart is None:
            # A session of its own: `hear_async` makes it tell of every target, which the roster must not see.
            session = await browser.new_browser_cdp_session()
            await hear_async(session)
            with suppress(CommandRefused):
                self.log.started(
                    (await self._call(session, Tell(method="SystemInfo.getInfo")))["commandLine"]
                )
            await session.detach()

    async def _mind(self, browser: Browser | None) -> None:
        if browser is not None and self._heart is None:
            self._heart = await browser.new_browser_cdp_session()
            self._heart.on("event", self._told)
            await self._heart.send("Target.setDiscoverTargets", FOUND)

    def _told(self, event: dict[str, Any]) -> None:
        tab = self.browser_said(event)
        self._run_newcomers()
        if tab is not None:
            self._heed_tab(tab)

    def _run_newcomers(self) -> None:
        for tab, carried in self.take_newcomers():
            task = self._spawn(self._reach(tab, carried))
            if tab is not None:
                self._meetings[tab.page] = task

    async def _reach(self, tab: CdpTab | None, carried: Carried) -> None:
        await self._carry(carried)
        if tab is not None:
            self._run_errands(tab)

    async def last_looks(self, target: Target) -> None:
        """Look once more at every page that is about to be closed."""
        await self._wait(lambda: self.is_ready and not self._is_adopting, CLOSING_MAX_S, is_owed=False)
        for page, tab in list(self._pages.items()):
            if holds(target, page) and tab.actor == "agent" and not tab.is_gone:
                self._spawn(self._look(tab))
        await self.idle(CLOSING_MAX_S)

    async def idle(self, seconds: float) -> None:
        """Wait until nothing is under way but timers, at most so long."""
        await self._wait(lambda: not self._tasks - {asyncio.current_task()}, seconds)

    async def ready(self) -> None:
        """Wait until the agent may act."""
        await self._wait(lambda: self.is_ready, BEGIN_MAX_S)

    async def settle(self) -> None:
        """Wait until what the agent left behind is armed and has told all, at most a moment."""
        await self._wait(lambda: self.is_settled, SETTLING_MAX_S, is_owed=False)
        for carried in self.listening():
            self._spawn(self._carry(carried))
        current = asyncio.current_task()
        await self._wait(lambda: not self._tasks - {current}, SETTLING_MAX_S, is_owed=False)

    async def finish(self) -> None:
        """Wait until the session has sealed."""
        await self._wait(lambda: self.is_sealed, ENDING_MAX_S)
        self._worker.shutdown(wait=False)
        for task in self._tasks | self._timers:
            task.cancel()
        await self._let_go()

    async def _wait(self, until: Callable[[], bool], seconds: float, *, is_owed: bool = True) -> None:
        self.pump()
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
            self.pump()

    def pump(self) -> None:
        """Start what the session has asked for."""
        while self.queue:
            command = self.queue.pop(0)
            # A timer is nothing to wait for.
            among = self._timers if isinstance(command, Pause) else self._tasks
            self._spawn(self._carry_out(command), among)

    def _spawn(
        self, work: Coroutine[Any, Any, Any], among: set[asyncio.Task[None]] | None = None
    ) -> asyncio.Task[None]:
        tasks = self._tasks if among is None else among
        task = asyncio.ensure_future(self._guard(work))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def _guard(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            with own_calls():
                await work
        except (CommandRefused, Error):
            pass  # the page went away meanwhile; the session says what that leaves out
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)
        self.pump()

    # Pages

    async def _enter(self, context: BrowserContext) -> None:
        if context in self._contexts:
            return
        self._contexts.add(context)
        self.requests.listen(context)
        context.on("page", self._appeared)
        self.wrapper.wrap(context)
        # After the listener is in place: a page that comes meanwhile is met twice, but never missed.
        for page in context.pages:
            await self._adopt(page)

    def _appeared(self, page: Page) -> None:
        if self.is_held:
            self._unclear.append(page)
        else:
            self._adoption(page)

    def _adoption(self, page: Page, actor: str = "agent") -> asyncio.Task[None]:
        if page not in self._adopting:
            if actor == "agent":
                self.log.expect(page)
            # Nobody but the recorder calls the methods of a probe.
            self.wrapper.wrap(page if actor == "agent" else None)
            # The browser's own session tells of later pages first, and with their addresses.
            tab = None if self._heart is not None else self._link(page, self.new_tab(actor))
            self._adopting[page] = self._spawn(self._adopted(page, actor, tab))
        return self._adopting[page]

    @property
    def _is_adopting(self) -> bool:
        return not all(task.done() for task in self._adopting.values())

    async def _adopt(self, page: Page) -> None:
        await self._adoption(page)

    async def _adopted(self, page: Page, actor: str, tab: CdpTab | None) -> None:
        try:
            session = await page.context.new_cdp_session(page)
            about = (await session.send("Target.getTargetInfo"))["targetInfo"]
        except Error:
            if tab is not None:
                self.lose(tab)
            return
        known = self.known(about)
        # The browser's own session has met it: a second session would hear everything twice.
        if known is not None:
            self._link(page, known)
            with suppress(Error):
                await session.detach()
            if known.page in self._meetings:
                await self._meetings[known.page]
            return
        tab = tab or self._link(page, self.new_tab(actor))
        self.claim(about, tab, is_context=page.context in self._contexts)
        self._run_newcomers()
        self._sessions[tab.page] = session
        await self._arm(page, tab)

    def _link(self, page: Page, tab: CdpTab) -> CdpTab:
        self._pages[page] = tab
        self.requests.listen_to(page)
        self.log.link(page, tab)
        page.on("close", lambda _: self._left(tab))
        # A context that is recorded as a whole tells of its popups itself.
        if page.context not in self._contexts:
            self.wrapper.listen(page, "popup", self._appeared)
        return tab

    async def _arm(self, page: Page, tab: CdpTab) -> None:
        self._sessions[tab.page].on("event", lambda event: self._heard(tab, event))
        try:
            armed = await self._carry(arm(tab, self.script, self.clock, has_network=self.has_network))
            opener = await page.opener()
        except (CommandRefused, Error):
            self.lose(tab)
            return
        except Exception:
            self.lose(tab)
            raise
        self.opened(tab, armed, self._pages.get(opener) if opener else None)
        self._run_errands(tab)

    def _heard(self, tab: CdpTab, event: dict[str, Any]) -> None:
        self.happened(tab, event)
        self._heed_tab(tab)

    def _heed_tab(self, tab: CdpTab) -> None:
        self._run_errands(tab)
        if tab.moves.take_moved():
            self._spawn(self._carry(remember_history(tab)))
        if tab.actor == "probe" and tab.has_dialog:
            self._spawn(self._carry(dismiss(tab)))
        self.pump()

    def _run_errands(self, tab: CdpTab) -> None:
        for carried in self.targets.errands(tab):
            self._spawn(self._carry(carried))

    def _left(self, tab: CdpTab) -> None:
        self.gone(tab)
        self.pump()

    async def _look(self, tab: CdpTab) -> None:
        self.looked(tab, await self._carry(snapshot(tab, "final")))

    # The agent's own objects

    def _before(self, target: Target, close: _Method) -> _Method:
        # The `close` event comes when there is nothing left to look at.
        @wraps(close)
        async def closing(*arguments: Any, **options: Any) -> Any:
            await self._guard(self.last_looks(target))
            return await close(*arguments, **options)

        return closing

    def _after(self, target: Target, make: _Method) -> _Method:
        # A new page that the agent uses at once would run ahead of its arming.
        @wraps(make)
        async def making(*arguments: Any, **options: Any) -> Any:
            self.hold()
            try:
                made = await make(*arguments, **options)
                if isinstance(made, BrowserContext) and isinstance(target, Browser):
                    await self._guard(self._enter(made))
                elif isinstance(made, Page):
                    await self._guard(self._adopt(made))
            finally:
                self._let_come()
            return made

        return making

    def _around(self, page: Page, move: _Method) -> _Method:
        # The page's own back button looks the same to the browser.
        @wraps(move)
        async def moving(*arguments: Any, **options: Any) -> Any:
            with moving_in_history(self, self._pages.get(page)):
                return await move(*arguments, **options)

        return moving

    def _let_come(self) -> None:
        self.release()
        while self._unclear and not self.is_held:
            self._adoption(self._unclear.pop(0))
        self._run_newcomers()

    async def _let_go(self) -> None:
        self.log.close()
        with own_calls():
            self.requests.close()
            await self._detach_all()

    async def _detach_all(self) -> None:
        self.wrapper.undo()
        for context in self._contexts:
            context.remove_listener("page", self._appeared)
        for page, session in self._sessions.items():
            # A page that is stuck, or behind a dialog, would hold everything up.
            if not self.tabs[page].is_gone and not self.tabs[page].has_dialog:
                await self._detach(session)
        if self._heart is not None:
            await self._detach(self._heart)

    async def _detach(self, session: CDPSession) -> None:
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(session.detach(), LETTING_GO_S)

    # Commands

    async def _carry_out(self, command: Command) -> None:
        job = await self._run(self.commands.start(command))
        self.replied(command, job)

    async def _carry(self, carried: Carried) -> Any:
        job = await self._run(carried)
        if job.fault is not None:
            raise job.fault
        if job.error is not None:
            raise CommandRefused(job.error)
        return job.value

    async def _run(self, carried: Carried) -> Job:
        job = Job(carried)
        effect = job.step()
        while effect is not None:
            try:
                answer = await self._perform(effect)
            except CommandRefused as refused:
                effect = job.step(refused=refused)
            else:
                effect = job.step(answer)
        return job

    async def _perform(self, effect: Effect) -> Any:
        match effect:
            case CallMethod():
                is_relayed = bool(effect.via or effect.tab.wire)
                return await (self._ask_target(effect) if is_relayed else self._send(effect))
            case Tell():
                return await self._call(self._heart, effect)
            case Together():
                return await asyncio.gather(*(self._perform(send) for send in effect.sends))
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
            return await self._call(self._sessions.get(effect.tab.page), effect)
        except CommandRefused as refused:
            raise CommandRefused("gone" if effect.tab.is_gone else str(refused)) from refused

    async def _call(self, session: CDPSession | None, effect: CallMethod | Tell) -> Any:
        if session is None:
            raise CommandRefused("gone")
        try:
            return await send_async(session, effect.method, effect.params, effect.timeout_ms)
        except (LateError, TimeoutError) as error:
            raise CommandRefused("timeout") from error
        except Error as error:
            log.debug("%s was refused: %s", effect.method, error)
            raise CommandRefused("failed") from error

    async def _outline(self, tab: CdpTab) -> str:
        page = next((page for page, one in self._pages.items() if one is tab), None)
        if page is None:
            raise CommandRefused("failed")  # Playwright does not know it
        try:
            return str(await page.locator("body").aria_snapshot(timeout=COMMAND_MAX_MS))
        except LateError as error:
            raise CommandRefused("timeout") from error
        except Error as error:
            raise CommandRefused("failed") from error

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

    async def _open_probe(self) -> CdpTab:
        context = next((page.context for page in self._pages if not page.is_closed()), None)
        if context is None:
            raise CommandRefused("gone")
        # Held, so that the browser's own session does not take the probe for a page of the agent.
        self.hold()
        try:
            # The plain method: the wrapped one would wait for this very page.
            make = getattr(context.new_page, "__wrapped__", context.new_page)
            page: Page = await make()
            await self._adoption(page, "probe")
        except Error as error:
            raise CommandRefused("failed") from error
        finally:
            self._let_come()
        if page not in self._pages:
            raise CommandRefused("gone")
        return self._pages[page]

    async def _close_probe(self, tab: CdpTab) -> None:
        for page, one in self._pages.items():
            if one is tab and not page.is_closed():
                await page.close()


_Method: TypeAlias = Callable[..., Awaitable[Any]]
