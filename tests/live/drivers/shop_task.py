"""The shop task as a Playwright agent, sync and async; as a program it takes the browser of its environment."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SEARCH = "Ines"
ORDER = "1010"
EMAIL = "desk@harbour.test"


def act(page: Any, task: Any, run: Any) -> None:
    """Look an order up, then save the settings."""
    page.get_by_role("link", name="Orders").click()
    page.get_by_label("Search").press_sequentially(SEARCH)
    page.get_by_label("Search").press("Enter")
    from_order(page, run)


def from_order(page: Any, run: Any) -> None:
    """From the orders that were found: all the rest."""
    page.get_by_role("link", name=ORDER, exact=True).click()
    total = page.locator("#total").inner_text()
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Contact email").fill(EMAIL)
    page.get_by_label("Language").select_option("fi")
    page.get_by_label("Send the weekly digest").check()
    page.get_by_role("button", name="Save settings").click()
    page.locator("#done").wait_for()
    run.answer(total)


async def act_async(page: Any, task: Any, run: Any) -> None:
    """The same with Playwright's async API."""
    await page.get_by_role("link", name="Orders").click()
    await page.get_by_label("Search").press_sequentially(SEARCH)
    await page.get_by_label("Search").press("Enter")
    await page.get_by_role("link", name=ORDER, exact=True).click()
    total = await page.locator("#total").inner_text()
    await page.get_by_role("link", name="Settings").click()
    await page.get_by_label("Contact email").fill(EMAIL)
    await page.get_by_label("Language").select_option("fi")
    await page.get_by_label("Send the weekly digest").check()
    await page.get_by_role("button", name="Save settings").click()
    await page.locator("#done").wait_for()
    run.answer(total)


class Reporter:
    """The run behind the events file, where there is one."""

    def answer(self, text: str) -> None:
        """Append the answer as a JSON line."""
        place = os.environ.get("REPLAYKIT_EVENTS")
        if place is None:
            return
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"type": "answer", "text": text, "t": time.time() * 1000}) + "\n")


def main(endpoint: str, start: str | None = None) -> None:
    """Do the shop task in the browser that is open."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(endpoint).contexts[0].pages[0]
        if start is not None:
            page.goto(start)
        act(page, None, Reporter())


if __name__ == "__main__":
    main(os.environ["REPLAYKIT_CDP_URL"], *sys.argv[1:])
