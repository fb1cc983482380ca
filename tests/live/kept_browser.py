"""One browser for the modules that follow each other: starting it takes longer than most tests."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.live.flags import FLAGS


class KeptBrowser:
    """Driver and browser of this thread. While the driver runs, no other can start in it."""

    def __init__(self) -> None:
        self.is_lent = False
        """Whether a module uses the driver."""
        self._driver: Playwright | None = None
        self._browser: Browser | None = None
        self._stack = ExitStack()

    def driver(self) -> Playwright:
        """Return the driver, started where it does not run."""
        if self._driver is None:
            self._driver = self._stack.enter_context(sync_playwright())
        return self._driver

    def browser(self, path: Path) -> Browser:
        """Return a headless browser without a context, a new one where the last one is lost."""
        if self._browser is None or not self._browser.is_connected():
            is_root = hasattr(os, "geteuid") and os.geteuid() == 0
            arguments = [*FLAGS, *(["--no-sandbox"] if is_root else [])]
            self._browser = self.driver().chromium.launch(executable_path=path, headless=True, args=arguments)
            self._stack.callback(self._browser.close)
        return self._browser

    def empty(self) -> None:
        """Close what a module left open."""
        for context in self._browser.contexts if self._browser is not None else ():
            context.close()

    def close(self) -> None:
        """End browser and driver, if they run."""
        self._driver = self._browser = None
        self._stack.close()
