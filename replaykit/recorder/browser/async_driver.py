"""The driver for `playwright.async_api`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeAlias

from playwright.async_api import Browser, BrowserContext, Error, Page
from playwright.async_api import TimeoutError as LateError

from replaykit.recorder.browser.effect_runner import PlaywrightApi
from replaykit.recorder.browser.lifecycle import Lifecycle
from replaykit.recorder.browser.method_wrapping import moving_in_history

Method: TypeAlias = Callable[..., Awaitable[Any]]


class AsyncDriver(Lifecycle):
    """The agent awaits the lifecycle: both run on its loop."""

    api = PlaywrightApi(name="async", kinds=(Page, BrowserContext, Browser), error=Error, late=LateError)

    async def _call_method(self, method: Method, *arguments: Any, **options: Any) -> Any:
        return await method(*arguments, **options)

    def _closing(self, target: Any, close: Method) -> Method:
        @wraps(close)
        async def closing(*arguments: Any, **options: Any) -> Any:
            await self.last_looks(target)
            return await close(*arguments, **options)

        return closing

    def _making(self, target: Any, make: Method) -> Method:
        @wraps(make)
        async def making(*arguments: Any, **options: Any) -> Any:
            with self.holding():
                new = await make(*arguments, **options)
                await self.made(new)
            return new

        return making

    def _moving(self, page: Any, move: Method) -> Method:
        @wraps(move)
        async def moving(*arguments: Any, **options: Any) -> Any:
            with moving_in_history(self, self._pages.get(page)):
                return await move(*arguments, **options)

        return moving
