"""The shop task by the DevTools protocol alone: a WebSocket, the mouse and the keys."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from collections.abc import Callable
from typing import Any

from shop_task import EMAIL, ORDER, SEARCH, Reporter
from websocket import WebSocket

PATIENCE_S = 20.0

# As a person's eye would: an element whose text or label says so.
FIND = """(() => {
  const says = (e) => (e.labels?.[0] ?? e).textContent.trim();
  const found = [...document.querySelectorAll(%s)].find((e) => says(e).startsWith(%s));
  if (document.readyState !== "complete" || !found) return null;
  found.scrollIntoView({block: "center"});
  const box = found.getBoundingClientRect();
  globalThis.__found = found;
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
CHOOSE = """(value) => {
  __found.value = value;
  __found.dispatchEvent(new Event("input", {bubbles: true}));
  __found.dispatchEvent(new Event("change", {bubbles: true}));
}"""


class Page:
    """One tab, by its own endpoint."""

    def __init__(self, endpoint: str) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{endpoint}/json/list", timeout=10) as reply:
            tabs = json.load(reply)
        tab = next(one for one in tabs if one["type"] == "page")
        self._socket = WebSocket(tab["webSocketDebuggerUrl"])
        self._number = 0

    def post(self, method: str, **params: Any) -> None:
        """Call a method, and wait for no result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))

    def send(self, method: str, **params: Any) -> Any:
        """Call a method; return its result."""
        self.post(method, **params)
        while (said := json.loads(self._socket.receive())).get("id") != self._number:
            pass
        return said.get("result")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression; None while the page has none. What throws is a mistake here."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True) or {}
        assert "exceptionDetails" not in result, result
        return result.get("result", {}).get("value")

    def until(self, look: Callable[[], Any]) -> Any:
        """Look until there is something to see."""
        deadline = time.monotonic() + PATIENCE_S
        while (seen := look()) is None:
            assert time.monotonic() < deadline, "waited in vain"
            time.sleep(0.02)
        return seen

    def find(self, selector: str, text: str) -> tuple[float, float]:
        """Return where the element is, CSS px."""
        expression = FIND % (json.dumps(selector), json.dumps(text))
        x, y = self.until(lambda: self.evaluate(expression))
        return x, y

    def click(self, selector: str, text: str) -> None:
        """Move the mouse there, press and release."""
        x, y = self.find(selector, text)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def focus(self, selector: str, text: str) -> None:
        """Put the cursor into a field, its content selected."""
        self.find(selector, text)
        self.evaluate("__found.focus(); __found.select()")

    def press(self, key: str, code: int, text: str) -> None:
        """Press and release one key."""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)


def main() -> None:
    """Do the shop task in the tab that is open."""
    page = Page(os.environ["REPLAYKIT_CDP_URL"])
    page.click("nav a", "Orders")
    page.focus("input", "Search")
    for letter in SEARCH:
        page.press(letter, ord(letter.upper()), letter)
    page.press("Enter", 13, "\r")
    page.until(lambda: page.evaluate("location.search || null"))
    page.click("#orders a", ORDER)
    total = page.until(lambda: page.evaluate("document.querySelector('#total')?.innerText ?? null"))
    page.click("nav a", "Settings")
    page.focus("input", "Contact email")
    page.send("Input.insertText", text=EMAIL)
    page.find("select", "Language")
    page.evaluate(f"({CHOOSE})('fi')")
    page.click("input", "Send the weekly digest")
    page.click("button", "Save settings")
    page.until(lambda: page.evaluate("document.querySelector('#done')?.innerText ?? null"))
    Reporter().answer(total)


if __name__ == "__main__":
    main()
