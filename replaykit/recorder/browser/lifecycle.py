"""The life of a recording in the browser: attach, meet and arm pages, look, wait, settle, let go.

Written once for both of Playwright's APIs; `AsyncDriver` and `SyncDriver` say how their agents wait for it.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from replaykit.recorder.browser.command_effects import CallBrowser, Carried, CommandRefused
from replaykit.recorder.browser.effect_runner import EffectRunner
from replaykit.recorder.browser.frames_and_workers import count_lookups, leave, snapshot
from replaykit.recorder.browser.instrumentation import arm, remember_history
from replaykit.recorder.browser.method_wrapping import Wrapper, browser_of, context_of, holds, require
from replaykit.recorder.browser.playwright_versions import unwrapped, wait_for_event
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.target_registry import FOUND
from replaykit.recorder.browser.timeouts import BEGIN_MAX_S, CLOSING_MAX_S, ENDING_MAX_S, SETTLING_MAX_S
from replaykit.recorder.browser.witnesses.command_log import own_calls
from replaykit.recorder.probes.probe_reading import dismiss

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page

    Target: TypeAlias = Page | BrowserContext | Browser
    """Objects that can be recorded."""

Method: TypeAlias = Callable[..., Any]
"""A method of one of the agent's objects."""

BLANK = "about:blank"

LETTING_GO_S = 0.5
"""Longest wait for a page to let go of the recorder."""


class Lifecycle(EffectRunner):
    """Follows the pages of a browser from the first one to the seal."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.wrapper = Wrapper(self._closing, self._making, self._moving)
        self._adopting: dict[Page, asyncio.Task[None]] = {}
        self._meetings: dict[int, asyncio.Task[None]] = {}
        self._unclear: list[Page] = []

    def attach(self, target: Target) -> Coroutine[Any, Any, None]:
        """Record a page, or all pages of a context or browser, later ones too; ends once it has looked.

        Raises NotAttachable and BrowserNotSupported; its coroutine DriverTooOld, and what Playwright raises.
        """
        require(target, self.api.kinds, self.api.name)
        self.log.open(target)
        return self._attach(target)

    async def _attach(self, target: Target) -> None:
        try:
            with own_calls():
                await self._listen_to(target)
        except CommandRefused as refused:
            raise (refused.__cause__ or refused) from None

    async def _listen_to(self, target: Any) -> None:
        context, browser = context_of(target), browser_of(target)
        if browser is not None:
            self.browser_version = browser.version
            self.is_searching |= not self._holds
            await self._read_flags(browser)
        self.is_attaching = True
        if browser is not None:
            await self._mind(browser)
        await self._meet_all(target, context)
        self.meet_strays()
        self._run_newcomers()
        self.is_attaching = False
        self.wrapper.wrap(context, browser)
        await self.ready()

    async def _meet_all(self, target: Any, context: BrowserContext | None) -> None:
        if context is None:
            self.wrapper.listen(target, "context", lambda entered: self._spawn(self._enter(entered)))
            for one in target.contexts:
                await self._enter(one)
            self.target_registry.is_whole = True
        elif target is context:
            await self._enter(target)
        else:
            self.requests.listen(context)
            self.wrapper.listen(context, "page", self._came)
            await self._adopt(target)

    async def _read_flags(self, browser: Browser) -> None:
        if self._heart is None:
            # Its own session: `wait_for_event` makes it report every target, which the roster must not see.
            session = await self.call(browser.new_browser_cdp_session)
            await wait_for_event(self.call, session)
            with suppress(CommandRefused):
                about = await self._ask(session, CallBrowser(method="SystemInfo.getInfo"))
                self.log.started(about["commandLine"])
            await self.call(session.detach)

    async def _mind(self, browser: Browser) -> None:
        if self._heart is None:
            session = await self.call(browser.new_browser_cdp_session)
            self._heart = session
            self.wrapper.listen(session, "event", unwrapped(self._take_browser_event))
            await self.call(session.send, "Target.setDiscoverTargets", FOUND)
            with suppress(CommandRefused):
                self.census.own_workers.began(await self._carry(count_lookups()))

    def _take_browser_event(self, event: dict[str, Any]) -> None:
        tab = self.browser_event(event)
        self._run_newcomers()
        if tab is not None:
            self._follow_up(tab)

    def _run_newcomers(self) -> None:
        for tab, carried in self.take_newcomers():
            task = self._spawn(self._reach(tab, carried))
            if tab is not None:
                self._meetings[tab.page] = task

    async def _reach(self, tab: CdpTab | None, carried: Carried) -> None:
        await self._carry(carried)
        if tab is not None:
            self._handle_targets(tab)

    # Waiting

    async def ready(self) -> None:
        """Wait until the agent may act."""
        await self._wait(lambda: self.is_ready, BEGIN_MAX_S)

    async def idle(self, seconds: float) -> None:
        """Wait until only timers are pending, at most for the given time."""
        await self._wait(lambda: not self._tasks - {asyncio.current_task()}, seconds)

    async def settle(self) -> None:
        """Wait until what the agent left behind is armed and has reported all, at most a moment."""
        await self._wait(lambda: self.is_settled, SETTLING_MAX_S, is_owed=False)
        for carried in self.listening():
            self._spawn(self._carry(carried))
        current = asyncio.current_task()
        await self._wait(lambda: not self._tasks - {current}, SETTLING_MAX_S, is_owed=False)
        if self.census.own_workers.is_active:
            with suppress(CommandRefused):
                self.census.own_workers.ended(await self._carry(count_lookups()))

    async def finish(self) -> None:
        """Wait until the session has sealed."""
        await self._wait(lambda: self.is_sealed, ENDING_MAX_S)
        self._worker.shutdown(wait=False)
        for task in self._tasks | self._timers:
            task.cancel()
        await self._let_go()

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
            self._adoption(page, is_new=True)

    def _came(self, page: Page) -> None:
        # A tab that a click with a modifier or another button opens has no opener, and is no popup.
        openers = [tab for one, tab in self._pages.items() if one.context is page.context]
        if any(tab.moves.take_asked() for tab in openers):
            self._appeared(page)

    def _adoption(self, page: Page, actor: str = "agent", *, is_new: bool = False) -> asyncio.Task[None]:
        if page not in self._adopting:
            if actor == "agent":
                self.log.expect(page)
            # No one but the recorder calls the methods of a probe.
            self.wrapper.wrap(page if actor == "agent" else None)
            # The browser's own session reports later pages first, and with their URLs.
            tab = None if self._heart is not None else self._link(page, self.new_tab(actor))
            self._adopting[page] = self._spawn(self._adopted(page, actor, tab, is_new=is_new))
        return self._adopting[page]

    @property
    def _is_adopting(self) -> bool:
        return not all(task.done() for task in self._adopting.values())

    async def _adopt(self, page: Page) -> None:
        await self._adoption(page)

    async def _adopted(self, page: Page, actor: str, tab: CdpTab | None, *, is_new: bool) -> None:
        try:
            session = await self.call(page.context.new_cdp_session, page)
            about = (await self.call(session.send, "Target.getTargetInfo"))["targetInfo"]
        except CommandRefused:
            if tab is not None:
                self.lose(tab)
            return
        known = self.known(about)
        # The browser's own session is attached to it: a second session would receive everything twice.
        if known is not None:
            self._link(page, known)
            with suppress(CommandRefused):
                await self.call(session.detach)
            if known.page in self._meetings:
                await self._meetings[known.page]
            return
        tab = tab or self._link(page, self.new_tab(actor))
        # Nothing is under way in a page that is empty, and that no other page has opened.
        tab.is_following |= about["url"] == BLANK and not (is_new or "openerId" in about)
        self.claim(about, tab, is_context=page.context in self._contexts)
        self._run_newcomers()
        self._sessions[tab.page] = session
        await self._arm(page, tab)

    def _link(self, page: Page, tab: CdpTab) -> CdpTab:
        self._pages[page] = tab
        tab.leave_listeners.wake = partial(self._handle_targets, tab)
        self.requests.listen_to(page)
        self.log.link(page, tab)
        page.on("close", lambda _: self._left(tab))
        # A context that is recorded as a whole reports its own popups.
        if page.context not in self._contexts:
            self.wrapper.listen(page, "popup", self._appeared)
        return tab

    async def _arm(self, page: Page, tab: CdpTab) -> None:
        self._sessions[tab.page].on("event", unwrapped(lambda event: self._take_tab_event(tab, event)))
        try:
            armed = await self._carry(arm(tab, self.script, self.clock, has_network=self.has_network))
            opener = await self.call(page.opener)
        except CommandRefused:
            self.lose(tab)
            return
        except Exception:
            self.lose(tab)
            raise
        self.opened(tab, armed, self._pages.get(opener) if opener else None)
        self._handle_targets(tab)

    def _take_tab_event(self, tab: CdpTab, event: dict[str, Any]) -> None:
        self.happened(tab, event)
        self._follow_up(tab)

    def _follow_up(self, tab: CdpTab) -> None:
        self._handle_targets(tab)
        if tab.moves.take_moved():
            self._spawn(self._carry(remember_history(tab)))
        if tab.actor == "probe" and tab.has_dialog:
            self._spawn(self._carry(dismiss(tab)))
        self.start_queued()

    def _handle_targets(self, tab: CdpTab) -> None:
        for carried in self.targets.due_commands(tab):
            self._spawn(self._carry(carried))

    def _left(self, tab: CdpTab) -> None:
        self.gone(tab)
        self.start_queued()

    async def _open_probe(self) -> CdpTab:
        context = next((page.context for page in self._pages if not page.is_closed()), None)
        if context is None:
            raise CommandRefused("gone")
        # Held, so that the browser's own session does not take the probe for a page of the agent.
        with self.holding(), _shareable(context):
            # The plain method: the wrapped one would wait for this very page.
            page = await self.call(getattr(context.new_page, "__wrapped__", context.new_page))
            await self._adoption(page, "probe")
        if page not in self._pages:
            raise CommandRefused("gone")
        return self._pages[page]

    # Around calls of the agent

    @abstractmethod
    def _closing(self, target: Target, close: Method) -> Method:
        """Look at pages before they are closed: the `close` event comes when there is nothing left to see."""

    @abstractmethod
    def _making(self, target: Target, make: Method) -> Method:
        """Arm a new page before its maker has it: used at once, it would run ahead of its arming."""

    @abstractmethod
    def _moving(self, page: Page, move: Method) -> Method:
        """Report a back/forward navigation by the agent, which looks like the page's own back button."""

    async def last_looks(self, target: Target) -> None:
        """Look once more at every page that is about to be closed."""
        await self._guard(self._look_at_all(target))

    async def _look_at_all(self, target: Target) -> None:
        await self._wait(lambda: self.is_ready and not self._is_adopting, CLOSING_MAX_S, is_owed=False)
        for page, tab in list(self._pages.items()):
            if holds(target, page) and tab.actor == "agent" and not tab.is_gone:
                self._spawn(self._look(tab))
        await self.idle(CLOSING_MAX_S)

    def look_last(self, tab: CdpTab, then: Callable[[], None]) -> None:
        """Look once more at a tab that is about to be closed; call `then` when that is done, or refused."""
        self._spawn(self._look(tab)).add_done_callback(lambda _: then())

    async def _look(self, tab: CdpTab) -> None:
        self.looked(tab, await self._carry(snapshot(tab, "final")))
        await self._carry(leave(tab, self.clock))

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Let new pages wait while one of them is made."""
        self.hold()
        try:
            yield
        finally:
            self._let_come()

    def _let_come(self) -> None:
        self.release()
        while self._unclear and not self.is_held:
            self._adoption(self._unclear.pop(0), is_new=True)
        self._run_newcomers()

    async def made(self, new: Any) -> None:
        """Record what the agent has made."""
        await self._guard(self._enter(new) if context_of(new) is new else self._adopt(new))

    # The end

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
        with suppress(CommandRefused, TimeoutError):
            await asyncio.wait_for(self.call(session.detach), LETTING_GO_S)


@contextmanager
def _shareable(context: BrowserContext) -> Iterator[None]:
    """Let the context of a `browser.new_page()` open one more page: Playwright for Python refuses that."""
    inner: Any = context._impl_obj
    owner = getattr(inner, "_owner_page", None)
    if owner is None:
        yield
        return
    inner._owner_page = None
    try:
        yield
    finally:
        inner._owner_page = owner
