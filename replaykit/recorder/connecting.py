"""A second client of a browser that somebody else drives: connected, and out of the way."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from playwright.async_api import Browser, BrowserContext, Error, Page, async_playwright

from replaykit.errors import RecorderError


@asynccontextmanager
async def connected(endpoint: str) -> AsyncIterator[Browser]:
    """Connect and yield the browser; leaving ends the connection, not the browser."""
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.connect_over_cdp(endpoint, no_defaults=True)
        except Error as error:
            raise RecorderError(what=f"cannot connect to {endpoint}: {error.message}") from error
        for context in browser.contexts:
            _stay_out(context)
        browser.on("context", _stay_out)
        try:
            yield browser
        finally:
            with contextlib.suppress(Error):
                await browser.close()


async def open_pages(context: BrowserContext, urls: Sequence[str]) -> list[Page]:
    """Open every URL in a tab, blank ones first; a site that is down is the agent's problem, not ours."""
    blank = [page for page in context.pages if page.url == "about:blank"]
    pages = []
    for url in urls:
        page = blank.pop(0) if blank else await context.new_page()
        with contextlib.suppress(Error):
            await page.goto(url)
        pages.append(page)
    return pages


def when_closed(browser: Browser, call: Callable[[], None], *, or_its_pages: bool) -> None:
    """Call back once the browser is gone, or the last page of its first context."""
    browser.on("disconnected", lambda _: call())
    context = browser.contexts[0]

    def closed(_: object) -> None:
        if all(page.is_closed() for page in context.pages):
            call()

    def watch(page: Page) -> None:
        page.on("close", closed)

    if or_its_pages:
        for page in context.pages:
            watch(page)
        context.on("page", watch)


@contextmanager
def interrupts(call: Callable[[], object]) -> Iterator[None]:
    """Turn Ctrl-C into a call, so that the recording ends as it should."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, call)
    except (NotImplementedError, ValueError, RuntimeError):  # not the main thread, or no POSIX
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _stay_out(context: BrowserContext) -> None:
    # Without a listener of ours, this second client would dismiss the agent's dialogs.
    context.on("dialog", lambda dialog: None)
