"""The agent's own objects: some of their methods are wrapped while a recording runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias

from replaykit.errors import BrowserNotSupported, NotAttachable
from replaykit.recorder.browser.driver import Driver
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.session.driver_messages import HistoryCall

Wrap: TypeAlias = Callable[[Any, Callable[..., Any]], Callable[..., Any]]
"""Makes a wrapper of an object's method."""


@contextmanager
def moving_in_history(driver: Driver, tab: CdpTab | None) -> Iterator[None]:
    """Report a back/forward navigation by the agent in a tab, and the end of its call."""
    if tab is None:
        yield
        return
    driver.feed(HistoryCall(at=driver.clock.now(), page=tab.page, is_over=False))
    try:
        yield
    finally:
        driver.feed(HistoryCall(at=driver.clock.now(), page=tab.page, is_over=True))


def require(target: object, kinds: tuple[type, ...], api: str) -> None:
    """Raise NotAttachable unless a target is one of a driver's objects, in a browser of the Chromium family.

    `api`: which of Playwright's two.
    """
    if not isinstance(target, kinds):
        kind = type(target)
        module = kind.__module__.removesuffix("._generated").removeprefix("builtins")
        raise NotAttachable(found=f"{module}.{kind.__qualname__}".strip("."), api=api)
    browser = browser_of(target)
    if browser is not None and browser.browser_type.name != "chromium":
        raise BrowserNotSupported(browser=browser.browser_type.name)


def context_of(target: Any) -> Any:
    """Return the context of a page, or a context itself; None = a browser."""
    return getattr(target, "context", target if hasattr(target, "pages") else None)


def browser_of(target: Any) -> Any:
    """Return the browser of a page or context, or a browser itself; None: the context has none."""
    context = context_of(target)
    return target if context is None else context.browser


def holds(target: Any, page: Any) -> bool:
    """Whether a target is a page, its context or its browser."""
    return any(target is one for one in (page, page.context, page.context.browser))


class Wrapper:
    """Wraps `close`, methods that create pages and contexts, and back/forward navigation.

    Each method once.
    """

    def __init__(self, closing: Wrap, making: Wrap, travelling: Wrap) -> None:
        self._wraps = {
            "close": closing,
            "new_page": making,
            "new_context": making,
            "go_back": travelling,
            "go_forward": travelling,
        }
        self._wrapped: list[tuple[Any, str]] = []
        self._listening: list[tuple[Any, str, Callable[..., Any]]] = []
        self._browsers: list[Any] = []

    @property
    def has_lost(self) -> bool:
        """Whether a browser is gone that no one here has closed."""
        return not all(browser.is_connected() for browser in self._browsers)

    def wrap(self, *targets: Any) -> None:
        """Wrap the methods of pages, contexts, browsers; None is skipped."""
        for target in targets:
            for name, wrapper in self._wraps.items():
                method = getattr(target, name, None)
                if method is not None and not hasattr(method, "__wrapped__"):
                    if name == "close" and hasattr(target, "is_connected"):
                        self._browsers.append(target)
                        method = self._parting(target, method)
                    setattr(target, name, wrapper(target, method))
                    self._wrapped.append((target, name))

    def listen(self, target: Any, event: str, call: Callable[..., Any]) -> None:
        """Listen for an event of the agent's objects, until they are left as they were."""
        target.on(event, call)
        self._listening.append((target, event, call))

    def _parting(self, browser: Any, close: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(close)
        def parting(*arguments: Any, **options: Any) -> Any:
            self._browsers = [one for one in self._browsers if one is not browser]
            return close(*arguments, **options)

        return parting

    def undo(self) -> None:
        """Leave all objects as they were: they may live on."""
        for target, name in self._wrapped:
            delattr(target, name)
        for target, event, call in self._listening:
            target.remove_listener(event, call)
        self._wrapped.clear()
        self._listening.clear()
