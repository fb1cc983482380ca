"""The driver for `playwright.sync_api`.

Behind the sync API is an event loop, which runs whenever the agent is inside a call. The lifecycle is a task
on that loop. Each of its calls gets a greenlet of its own, as each event handler does: it may block there,
while loop and agent go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, TypeAlias

from greenlet import getcurrent, greenlet
from playwright.sync_api import Browser, BrowserContext, Error, Page
from playwright.sync_api import TimeoutError as LateError

from replaykit.recorder.browser.command_effects import CommandRefused
from replaykit.recorder.browser.effect_runner import PlaywrightApi
from replaykit.recorder.browser.lifecycle import Lifecycle
from replaykit.recorder.browser.method_wrapping import moving_in_history
from replaykit.recorder.browser.witnesses.command_log import own_calls

Method: TypeAlias = Callable[..., Any]

STOPPED = "Playwright has stopped"


class SyncDriver(Lifecycle):
    """The agent blocks until the lifecycle has done what it waits for."""

    api = PlaywrightApi(name="sync", kinds=(Page, BrowserContext, Browser), error=Error, late=LateError)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # One of Playwright's objects: it knows the loop, and how to wait for it.
        self._anchor: Any = None

    def attach(self, target: Any) -> Coroutine[Any, Any, None]:
        """Record a page, or all pages of a context or browser, as `Lifecycle` does."""
        if self.has_lost:
            raise Error(STOPPED)
        attaching = super().attach(target)
        self._anchor = target
        return attaching

    @property
    def has_lost(self) -> bool:
        """Whether Playwright has stopped: every call is refused then, and nothing under way is answered."""
        return self._anchor is not None and not self._anchor._loop.is_running()

    def run(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: Any) -> None:
        """Block until a part of the lifecycle is over."""
        waiting = work(*arguments)
        if self._anchor is not None and not self.has_lost:
            if self._block(waiting):
                return
            waiting = work(*arguments)
        # In a thread of its own: in this one there may be another loop.
        with ThreadPoolExecutor(1, "replaykit") as apart:
            apart.submit(asyncio.run, self._go_on_alone(waiting)).result()

    def _block(self, waiting: Coroutine[Any, Any, None]) -> bool:
        """Wait as each call of the sync API does; return False where the loop ends meanwhile."""
        # Not by Playwright's own `_sync`: before 1.65 that waits forever when the loop has ended.
        loop, fiber, here, is_waiting = self._anchor._loop, self._anchor._dispatcher_fiber, getcurrent(), True
        task = loop.create_task(waiting)
        task.add_done_callback(lambda _: is_waiting and here.switch())
        try:
            while not task.done() and not fiber.dead:
                fiber.switch()
        except BaseException:  # of a signal that came while the loop waited
            task.cancel()
            raise
        finally:
            is_waiting = False
            if not fiber.dead:
                asyncio._set_running_loop(loop)  # a signal unsets it
        return task.done() and task.result() is None

    async def _go_on_alone(self, waiting: Coroutine[Any, Any, None]) -> None:
        """Do without Playwright's loop: time goes by, all else that is under way is refused."""
        self._tasks.clear()
        self._timers.clear()
        for job in list(self._jobs):
            self._spawn(self._go_on(job))
        await waiting

    def pump(self) -> None:
        """Have the loop start what the session has asked for; callers may be in another thread."""
        if self._anchor is not None and not self.has_lost:
            self._anchor._loop.call_soon_threadsafe(self.start_queued)

    async def _call_method(self, method: Method, *arguments: Any, **options: Any) -> Any:
        if self.has_lost:
            raise CommandRefused("gone") from Error(STOPPED)
        answer = asyncio.get_running_loop().create_future()

        # A call blocks the greenlet that makes it, and the loop runs in this one.
        def call() -> None:
            try:
                with own_calls():
                    came = method(*arguments, **options)
            except asyncio.CancelledError:  # Playwright stops, and cancels all that is under way
                if not answer.done():
                    answer.set_exception(CommandRefused("gone"))
            except Exception as error:  # noqa: BLE001 - handed to whoever waits
                if not answer.done():
                    answer.set_exception(error)
            else:
                if not answer.done():
                    answer.set_result(came)

        greenlet(call).switch()
        return await answer

    def _let_come(self) -> None:
        if not self.has_lost:
            super()._let_come()

    def _closing(self, target: Any, close: Method) -> Method:
        @wraps(close)
        def closing(*arguments: Any, **options: Any) -> Any:
            self.run(self.last_looks, target)
            return close(*arguments, **options)

        return closing

    def _making(self, target: Any, make: Method) -> Method:
        @wraps(make)
        def making(*arguments: Any, **options: Any) -> Any:
            with self.holding():
                new = make(*arguments, **options)
                self.run(self.made, new)
            return new

        return making

    def _moving(self, page: Any, move: Method) -> Method:
        @wraps(move)
        def moving(*arguments: Any, **options: Any) -> Any:
            with moving_in_history(self, self._pages.get(page)):
                return move(*arguments, **options)

        return moving
