"""A list of primitive actions, as ATTACKS names them: by Playwright's sync and async pages, or by CDP alone."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from inspect import isawaitable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from raw_cdp import Page
from shop_task import Reporter

Call = list[Any]
"""Name of an action and its arguments."""

KEYS = {"Enter": 13, "Backspace": 8, "ArrowRight": 39, "ArrowDown": 40}
SETTLED_S = 0.3


def calls(page: Any, name: str, given: list[Any]) -> Any:
    """Call the method of a Playwright page that an action stands for."""
    if name == "prompt":
        return page.once("dialog", lambda dialog: dialog.accept(*given))
    if name in ("type", "press"):
        return getattr(page.keyboard, name)(*given)
    methods = {"click": page.click, "evaluate": page.evaluate, "goto": page.goto, "fill": page.fill}
    methods |= {"back": page.go_back, "forward": page.go_forward, "sleep": page.wait_for_timeout}
    methods |= {"arrive": lambda path: page.wait_for_url(lambda url: urlsplit(url).path == path)}
    methods["poll"] = lambda path: page.wait_for_function(there(path))
    return (methods | {"drag": page.drag_and_drop})[name](*given)


def there(path: str) -> str:
    """Return the script that reports whether a page is there and complete."""
    return f"location.pathname === {json.dumps(path)} && document.readyState === 'complete'"


def act(page: Any, actions: Iterable[Call]) -> None:
    """Do them with a sync page."""
    for name, *given in actions:
        calls(page, name, given)


async def act_async(page: Any, actions: Iterable[Call]) -> None:
    """Do them with an async page."""
    for name, *given in actions:
        called = calls(page, name, given)
        if isawaitable(called):
            await called


class Tab(Page):
    """The same by the DevTools protocol."""

    def do(self, name: str, given: list[Any]) -> None:
        """Carry one action out."""
        known = {"click": self.press_on, "press": self.key, "type": self.type}
        known |= {"evaluate": self.evaluate, "goto": self.goto, "fill": self.fill, "drag": self.drag}
        known |= {"back": lambda: self.travel(-1), "forward": lambda: self.travel(1)}
        known |= {"sleep": lambda ms: time.sleep(ms / 1000), "arrive": self.arrive}
        known |= {"go": self.go, "begin": lambda script: self.post("Runtime.evaluate", expression=script)}
        known["place"] = self.place
        known["poll"] = lambda path: self.until(lambda: self.evaluate(there(path)) or None)
        known[name](*given)

    def place(self, css: str) -> tuple[float, float]:
        """Return the middle of an element, once the page is complete."""
        found = f"document.readyState === 'complete' && document.querySelector({json.dumps(css)})"
        x, y = self.until(
            lambda: self.evaluate(
                f"(b => b && [b.x + b.width / 2, b.y + b.height / 2])(({found} || null)?.getBoundingClientRect())"
            )
        )
        return x, y

    def mouse(self, kind: str, at: tuple[float, float], **more: Any) -> None:
        """Send one event of the mouse."""
        held = {} if kind == "Moved" else {"button": "left", "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type=f"mouse{kind}", x=at[0], y=at[1], **held, **more)

    def press_on(self, css: str) -> None:
        """Click an element."""
        at = self.place(css)
        for kind in ("Moved", "Pressed", "Released"):
            self.mouse(kind, at)

    def drag(self, start: str, stop: str) -> None:
        """Press over one element, release over another."""
        first, last = self.place(start), self.place(stop)
        self.mouse("Moved", first)
        self.mouse("Pressed", first)
        for at in ((first[0] + 9, first[1]), last):
            self.mouse("Moved", at, buttons=1)
        self.mouse("Released", last)

    def key(self, name: str) -> None:
        """Press a named key."""
        self.press(name, KEYS[name], "\r" if name == "Enter" else "")

    def type(self, text: str) -> None:
        """Type a text key by key."""
        for letter in text:
            self.press(letter, ord(letter.upper()), letter)

    def fill(self, css: str, text: str) -> None:
        """Enter a text at once."""
        self.press_on(css)
        self.send("Input.insertText", text=text)

    def goto(self, url: str) -> None:
        """Go to an address, and wait until its page is complete."""
        self.send("Page.navigate", url=url)
        there = f"location.href === {json.dumps(url)} && document.readyState === 'complete'"
        self.until(lambda: self.evaluate(f"({there}) || null"))

    def go(self, url: str) -> None:
        """Go to an address, and wait for nothing."""
        self.send("Page.navigate", url=url)

    def arrive(self, path: str) -> None:
        """Wait, without a script, until the page that an action leads to is there."""
        self.until(lambda: urlsplit(self.entry(0)["url"]).path == path or None)

    def entry(self, way: int) -> dict[str, Any]:
        """Return an entry of the history: the page that is shown, or so many steps from it."""
        history = self.until(lambda: self.send("Page.getNavigationHistory"))
        return dict(history["entries"][history["currentIndex"] + way])

    def travel(self, way: int) -> None:
        """Go back or forward."""
        self.send("Page.navigateToHistoryEntry", entryId=self.entry(way)["id"])


def main(actions: list[Call]) -> None:
    """Do them in the tab that is open; `cdp` as an argument: by the protocol alone."""
    endpoint = os.environ["REPLAYKIT_CDP_URL"]
    if "cdp" in sys.argv:
        tab = Tab(endpoint)
        for name, *given in actions:
            tab.do(name, given)
        time.sleep(SETTLED_S)
    else:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            page = playwright.chromium.connect_over_cdp(endpoint).contexts[0].pages[0]
            act(page, [*actions, ["sleep", SETTLED_S * 1000]])
    Reporter().answer("done")


if __name__ == "__main__":
    main(json.loads(Path(os.environ["ATTACKS"]).read_text()))
