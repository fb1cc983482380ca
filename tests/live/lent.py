"""One browser for many recordings: starting it takes longer than most of them."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page


class Lent:
    """Stands in for a driver and the browser that it starts: one that runs, where only what it shows matters."""

    def __init__(self, browser: Browser) -> None:
        self.chromium = self
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    def __enter__(self) -> Lent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def launch(self, **_: Any) -> Lent:
        return self

    def new_context(self, **options: Any) -> BrowserContext:
        self._contexts.append(self._browser.new_context(**options))
        return self._contexts[-1]

    def new_page(self) -> Page:
        return self.new_context().new_page()

    def close(self) -> None:
        while self._contexts:
            self._contexts.pop().close()
