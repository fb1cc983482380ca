"""The driver for `playwright.sync_api`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import Any, TypeAlias

from playwright.sync_api import Browser, BrowserContext, CDPSession, Error, Page
from playwright.sync_api import TimeoutError as LateError

from replaykit.recorder.browser.command_effects import (
    COMMAND_MAX_MS,
    CallMethod,
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
from replaykit.recorder.browser.driver import log
from replaykit.recorder.browser.frames_and_workers import snapshot
from replaykit.recorder.browser.greenlets import Greenlets
from replaykit.recorder.browser.instrumentation import arm, remember_history
from replaykit.recorder.browser.method_wrapping import Wrapper, context_of, holds, moving_in_history, require
from replaykit.recorder.browser.playwright_versions import hear, send
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.target_registry import FOUND
from replaykit.recorder.browser.waits import BEGIN_MAX_S, CLOSING_MAX_S, ENDING_MAX_S, SETTLING_MAX_S
from replaykit.recorder.browser.witnesses.command_log import own_calls
from replaykit.recorder.probes.probe_reading import dismiss

Target: TypeAlias = Page | BrowserContext | Browser
"""What can be recorded."""

LETTING_GO_MS = 500
"""Longest wait for a page to let go of the recorder."""

TURN_S = 0.005
"""Between two turns of waiting; each turn lets the browser's events in."""


class SyncDriver(Greenlets):
    """Pumps a sync connection."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, is_sync=True, **options)
        self._sessions: dict[int, CDPSession] = {}
        self._heart: CDPSession | None = None
        self._minds = False
        self._adopting: set[Page] = set()
        self._unclear: list[Page] = []
        self.wrapper = Wrapper(self._before, self._after, self._around)

    def attach(self, target: Target) -> None:
        """Record a page, or all pages of a context or browser, later ones too; returns once it has looked.

        Raises NotAttachable.
        """
        require(target, (Page, BrowserContext, Browser), "sync")
        self.log.open(target)
        with own_calls():
            self._attach(target)

    def _attach(self, target: Target) -> None:
        context = context_of(target)
        browser = target if isinstance(target, Browser) else context.browser if context else None
        self.loop = asyncio.get_running_loop()  # Playwright's, between two of its calls too
        if browser is not None:
            self.browser_version = browser.version
            self.is_searching = not self._holds
            self._heart = self._heart or self._listen(browser)
        self.is_attaching = True
        if isinstance(target, Page):
            self.requests.listen(target.context)
            self._adopt(target)
        elif isinstance(target, BrowserContext):
            self._enter(target)
        elif browser is not None:
            self.wrapper.listen(browser, "context", self._enter)
            for one in browser.contexts:
                self._enter(one)
            self.roster.is_whole = True
        self._mind()
        self.is_attaching = False
        self.wrapper.wrap(context, browser)
        self.ready()

    def _listen(self, browser: Browser) -> CDPSession:
        """Ask a session what the browser is, and whether its events come; raises DriverTooOld."""
        # Not the session that is kept: `hear` makes this one tell of every target.
        session = browser.new_browser_cdp_session()
        hear(session)
        with suppress(CommandRefused):
            self.log.started(self._call(session, Tell(method="SystemInfo.getInfo"))["commandLine"])
        session.detach()
        return browser.new_browser_cdp_session()

    def _mind(self) -> None:
        if self._heart is not None and not self._minds:
            self._minds = True
            self.wrapper.listen(self._heart, "event", self._told)
            self._heart.send("Target.setDiscoverTargets", FOUND)

    def _told(self, event: dict[str, Any]) -> None:
        tab = self.browser_said(event)
        self._run_newcomers()
        if tab is not None:
            self._heed_tab(tab)

    def _run_newcomers(self) -> None:
        for tab, carried in self.take_newcomers():
            self.spawn(carried, partial(self._reached, tab))

    def _reached(self, tab: CdpTab | None, job: Job) -> None:
        if job.fault is not None:
            self.failed("actions", job.fault)
        elif tab is not None:
            self._run_errands(tab)

    def last_looks(self, target: Target) -> None:
        """Look once more at every page that is about to be closed."""
        self._wait(lambda: self.is_ready and not self._adopting, CLOSING_MAX_S, is_owed=False)
        for page, tab in list(self._pages.items()):
            if holds(target, page) and tab.actor == "agent" and not tab.is_gone:
                self.spawn(snapshot(tab, "final"), partial(self._looked, tab))
        self.idle(CLOSING_MAX_S)

    def idle(self, seconds: float) -> None:
        """Let events in until nothing is under way but timers, at most so long."""
        self._wait(lambda: not self.under_way, seconds)

    def ready(self) -> None:
        """Let events in until the agent may act."""
        self._wait(lambda: self.is_ready, BEGIN_MAX_S)

    def settle(self) -> None:
        """Wait until what the agent left behind is armed and has told all, at most a moment."""
        self._wait(lambda: self.is_settled, SETTLING_MAX_S, is_owed=False)
        for carried in self.listening():
            self.spawn(carried, _ignore)
        self._wait(lambda: not self.under_way, SETTLING_MAX_S, is_owed=False)

    def finish(self) -> None:
        """Let events in until the session has sealed."""
        self._wait(lambda: self.is_sealed, ENDING_MAX_S)
        self.worker.shutdown(wait=False)
        self._let_go()

    def _wait(self, until: Callable[[], bool], seconds: float, *, is_owed: bool = True) -> None:
        self.pump()
        deadline = self.clock.now() + seconds * 1000
        while not until():
            if self.clock.now() > deadline:
                if is_owed:
                    self.gap("snapshots", "timeout", self.under_way)
                return
            if not (self.under_way or self.timers or self.queue):
                return  # nothing can change any more
            if self.has_lost:
                self.go_on_alone()
            self.turn()
            self.pump()

    def turn(self) -> None:
        """Let events in, by a call that asks the browser itself: no page can hold it up."""
        with (
            own_calls(),
            suppress(Error, TimeoutError),
        ):  # of a browser that is gone the last events may be on their way
            if self._heart is not None:
                send(self._heart, "Browser.getVersion", {}, 1000)
        time.sleep(TURN_S)

    # Pages

    def _enter(self, context: BrowserContext) -> None:
        if context in self._contexts:
            return
        self._contexts.add(context)
        self.requests.listen(context)
        context.on("page", self._appeared)
        self.wrapper.wrap(context)
        # After the listener is in place: a page that comes meanwhile is met twice, but never missed.
        for page in context.pages:
            self._adopt(page)

    def _appeared(self, page: Page) -> None:
        if self.is_held:
            self._unclear.append(page)
        else:
            self._adopt(page)

    def _adopt(self, page: Page, actor: str = "agent") -> None:
        if page in self._pages or page in self._adopting or page.is_closed():
            return
        self._adopting.add(page)
        if actor == "agent":
            self.log.expect(page)
        self.wrapper.wrap(page if actor == "agent" else None)
        # The browser's own session tells of later pages first, and with their addresses.
        tab = None if self._minds else self._link(page, self.new_tab(actor))
        self.under_way += 1
        try:
            with own_calls():
                self._meet_page(page, actor, tab)
        except (CommandRefused, Error):
            pass  # what is known of it is told below
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)
        finally:
            self.under_way -= 1
            self._adopting.discard(page)
            if tab is not None:
                self.lose(tab)  # if it is not armed
        self.pump()

    def _meet_page(self, page: Page, actor: str, tab: CdpTab | None) -> None:
        session = page.context.new_cdp_session(page)
        about = session.send("Target.getTargetInfo")["targetInfo"]
        known = self.known(about)
        # The browser's own session has met it: a second session would hear everything twice.
        if known is not None:
            self._link(page, known)
            session.detach()
            return
        tab = tab or self._link(page, self.new_tab(actor))
        self.claim(about, tab, is_context=page.context in self._contexts)
        self._run_newcomers()
        self._sessions[tab.page] = session
        self._arm(page, tab)

    def _link(self, page: Page, tab: CdpTab) -> CdpTab:
        self._pages[page] = tab
        self.requests.listen_to(page)
        self.log.link(page, tab)
        page.on("close", lambda _: self._left(tab))
        # A context that is recorded as a whole tells of its popups itself.
        if page.context not in self._contexts:
            self.wrapper.listen(page, "popup", self._appeared)
        return tab

    def _arm(self, page: Page, tab: CdpTab) -> None:
        self._sessions[tab.page].on("event", lambda event: self._heard(tab, event))
        try:
            armed = self.run(arm(tab, self.script, self.clock, has_network=self.has_network))
            opener = page.opener()
            self.opened(tab, armed, self._pages.get(opener) if opener else None)
        finally:
            self.lose(tab)  # if it is not armed
        self._run_errands(tab)

    def _heard(self, tab: CdpTab, event: dict[str, Any]) -> None:
        self.happened(tab, event)
        self._heed_tab(tab)

    def _heed_tab(self, tab: CdpTab) -> None:
        self._run_errands(tab)
        if tab.moves.take_moved():
            self.spawn(remember_history(tab), _ignore)
        if tab.actor == "probe" and tab.has_dialog:
            self.spawn(dismiss(tab), _ignore)
        self.pump()

    def _run_errands(self, tab: CdpTab) -> None:
        for carried in self.targets.errands(tab):
            self.spawn(carried, _ignore)

    def _left(self, tab: CdpTab) -> None:
        self.gone(tab)
        self.pump()

    def _looked(self, tab: CdpTab, job: Job) -> None:
        if job.error is None:
            self.looked(tab, job.value)

    # The agent's own objects

    def _before(self, target: Target, close: Callable[..., Any]) -> Callable[..., Any]:
        # The `close` event comes when there is nothing left to look at.
        @wraps(close)
        def closing(*arguments: Any, **options: Any) -> Any:
            self._guard(self.last_looks, target)
            return close(*arguments, **options)

        return closing

    def _after(self, target: Target, make: Callable[..., Any]) -> Callable[..., Any]:
        # A new page that the agent uses at once would run ahead of its arming.
        @wraps(make)
        def making(*arguments: Any, **options: Any) -> Any:
            self.hold()
            try:
                made = make(*arguments, **options)
                if isinstance(made, BrowserContext) and isinstance(target, Browser):
                    self._guard(self._enter, made)
                elif isinstance(made, Page):
                    self._guard(self._wait_armed, made)
            finally:
                self._let_come()
            return made

        return making

    def _around(self, page: Page, move: Callable[..., Any]) -> Callable[..., Any]:
        # The page's own back button looks the same to the browser.
        @wraps(move)
        def moving(*arguments: Any, **options: Any) -> Any:
            with moving_in_history(self, self._pages.get(page)):
                return move(*arguments, **options)

        return moving

    def _wait_armed(self, page: Page) -> None:
        self._adopt(page)
        self.idle(CLOSING_MAX_S)

    def _guard(self, act: Callable[[Any], None], target: Any) -> None:
        try:
            act(target)
        except Error:
            pass  # the page went away meanwhile; the session says what that leaves out
        except Exception as error:  # noqa: BLE001 - the agent goes on
            self.failed("actions", error)

    def _let_come(self) -> None:
        self.release()
        while self._unclear and not self.is_held:
            self._adopt(self._unclear.pop(0))
        self._run_newcomers()

    def _let_go(self) -> None:
        self.log.close()
        with own_calls():
            self.requests.close()
            self._detach_all()

    def _detach_all(self) -> None:
        self.wrapper.undo()
        for context in self._contexts:
            context.remove_listener("page", self._appeared)
        for page, session in self._sessions.items():
            # Detaching has no time limit: a page that is stuck, or behind a dialog, would hold everything up.
            if not self.tabs[page].is_gone and not self.tabs[page].has_dialog:
                with suppress(Error, TimeoutError):
                    # A page that is stuck fails here within the limit.
                    send(session, "Runtime.evaluate", {"expression": "0"}, LETTING_GO_MS)
                    session.detach()

    # Effects

    def perform(self, effect: Effect) -> Any:
        """Carry out one effect in the greenlet that is here; raises `CommandRefused`."""
        with own_calls():
            return self._perform(effect)

    def _perform(self, effect: Effect) -> Any:
        match effect:
            case CallMethod():
                return self._send(effect)
            case Tell():
                return self._call(self._heart, effect)
            case Together():
                return [self._send(send) for send in effect.sends]
            case OpenTab():
                return self._open_probe()
            case CloseProbeTab():
                return self._close_probe(effect.tab)
            case Outline():
                return self._outline(effect.tab)
            case Sleep() | Work():
                raise CommandRefused("gone")  # left to the loop, unless that has ended

    def _send(self, effect: CallMethod) -> Any:
        if effect.tab.is_gone or effect.via:
            raise CommandRefused("gone")
        try:
            return self._call(self._sessions.get(effect.tab.page), effect)
        except CommandRefused as refused:
            raise CommandRefused("gone" if effect.tab.is_gone else str(refused)) from refused

    def _call(self, session: CDPSession | None, effect: CallMethod | Tell) -> Any:
        if session is None:
            raise CommandRefused("gone")
        try:
            return send(session, effect.method, effect.params, effect.timeout_ms)
        except (LateError, TimeoutError) as error:
            raise CommandRefused("timeout") from error
        except Error as error:
            log.debug("%s was refused: %s", effect.method, error)
            raise CommandRefused("failed") from error

    def _outline(self, tab: CdpTab) -> str:
        page = next((page for page, one in self._pages.items() if one is tab), None)
        if page is None:
            raise CommandRefused("failed")  # Playwright does not know it
        try:
            return str(page.locator("body").aria_snapshot(timeout=COMMAND_MAX_MS))
        except LateError as error:
            raise CommandRefused("timeout") from error
        except Error as error:
            raise CommandRefused("failed") from error

    def _open_probe(self) -> CdpTab:
        context = next((page.context for page in self._pages if not page.is_closed()), None)
        if context is None:
            raise CommandRefused("gone")
        # Held, so that the browser's own session does not take the probe for a page of the agent.
        self.hold()
        try:
            # The plain method: the wrapped one would wait for this very page.
            page = getattr(context.new_page, "__wrapped__", context.new_page)()
            self._adopt(page, "probe")
        except Error as error:
            raise CommandRefused("failed") from error
        finally:
            self._let_come()
        if page not in self._pages:
            raise CommandRefused("gone")
        return self._pages[page]

    def _close_probe(self, tab: CdpTab) -> None:
        for page, one in self._pages.items():
            if one is tab and not page.is_closed():
                page.close()


def _ignore(job: Job) -> None:
    """Let a job end without anybody waiting for it."""
