"""Recorder overhead per action and bytes per step, against Playwright tracing, in one run.

Run: .venv/bin/python -m bench.record [--rounds 5]

What a way adds is the median, over all acts of all rounds, of the difference to the same act of the same
round without recording: acts take from 20 to 200 ms; a median of all would lie between two kinds of them.
Bytes are the mean of all rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from operator import sub
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import BrowserContext, Page, ViewportSize, sync_playwright

from fixtures.sites.shop.server import serve
from replaykit.browser import find
from replaykit.recorder.recorder import Recorder

_T = TypeVar("_T")

VIEWPORT: ViewportSize = {"width": 1280, "height": 720}


def acts(page: Page, url: str) -> list[Callable[[], object]]:
    """Return 20 acts on the shop, as a careful agent would do them."""
    sign_in = [
        lambda: page.goto(f"{url}/login"),
        lambda: page.fill("[name=user]", "clerk"),
        lambda: page.fill("[name=password]", "harbour-42"),
        lambda: page.click("button[type=submit]"),
    ]
    pages = (
        "orders",
        "products",
        "customers",
        "settings",
        "help",
        "orders/1003",
        "orders/1004",
        "orders/1005",
    )
    look = [lambda path=path: page.goto(f"{url}/{path}") for path in pages]
    search = [
        lambda: page.goto(f"{url}/orders"),
        lambda: page.fill("input[type=search]", "Ines"),
        lambda: page.fill("input[type=search]", "Tom"),
        lambda: page.fill("input[type=search]", ""),
    ]
    settings = [
        lambda: page.goto(f"{url}/settings"),
        lambda: page.fill("#contact-email", "desk@harbour.test"),
        lambda: page.check("#weekly-digest"),
        lambda: page.uncheck("#weekly-digest"),
    ]
    return [*sign_in, *look, *search, *settings]


def plain(context: BrowserContext, folder: Path, drive: Callable[[Page], None]) -> int:
    """Drive without recording."""
    drive(context.new_page())
    return 0


def tracing(context: BrowserContext, folder: Path, drive: Callable[[Page], None]) -> int:
    """Drive under Playwright tracing with screenshots and snapshots; return the bytes of the trace."""
    context.tracing.start(screenshots=True, snapshots=True)
    drive(context.new_page())
    context.tracing.stop(path=folder / "trace.zip")
    return (folder / "trace.zip").stat().st_size


def recorded(screenshots: str) -> Callable[[BrowserContext, Path, Callable[[Page], None]], int]:
    """Return a way of driving under the recorder; it returns the bytes of the bundle."""

    def run(context: BrowserContext, folder: Path, drive: Callable[[Page], None]) -> int:
        path = folder / "run.zst"
        with Recorder(path, screenshots=screenshots) as recorder:
            page = context.new_page()
            recorder.attach(page)
            drive(page)
        return path.stat().st_size

    return run


WAYS = {
    "plain": plain,
    "tracing": tracing,
    "replaykit, no screenshots": recorded("off"),
    "replaykit": recorded("png"),
}


def rotated(values: Sequence[_T], by: int) -> list[_T]:
    """Return values with the first `by` of them at the end."""
    by %= len(values)
    return [*values[by:], *values[:by]]


def measure(rounds: int) -> tuple[dict[str, list[float]], dict[str, int], int]:
    """Return ms of every act by way, bytes of all rounds by way, and the number of acts of a round."""
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    sizes = dict.fromkeys(WAYS, 0)
    steps = 0
    with serve() as shop, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find()), args=["--no-sandbox", "--disable-gpu"]
        )
        for number in range(rounds):
            # Who comes first changes: nobody is always measured beside the same neighbour.
            for name, way in rotated(list(WAYS.items()), number):
                spent: list[float] = []

                def drive(page: Page, spent: list[float] = spent) -> None:
                    for act in acts(page, shop.url):
                        start = time.perf_counter()
                        act()
                        spent.append((time.perf_counter() - start) * 1000)

                context = browser.new_context(viewport=VIEWPORT)
                with tempfile.TemporaryDirectory() as folder:
                    sizes[name] += way(context, Path(folder), drive)
                context.close()
                times[name] += spent
                steps = len(spent)
        browser.close()
    return times, sizes, steps


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    times, sizes, steps = measure(rounds)
    added = {name: statistics.median(map(sub, spent, times["plain"])) for name, spent in times.items()}
    traced = added["tracing"]
    print(f"{steps} acts on the shop, {rounds} rounds, medians; bytes: means")
    print(f"{'way':28}{'ms/act':>8}{'added':>8}{'of tracing':>12}{'B/step':>9}{'of tracing':>12}")
    for name, spent in times.items():
        median = statistics.median(spent)
        share = added[name] / traced if traced > 0 else float("nan")
        size = sizes[name] / len(spent)
        ratio = sizes[name] / sizes["tracing"]
        print(f"{name:28}{median:8.1f}{added[name]:8.1f}{share:12.2f}{size:9.0f}{ratio:12.2f}")


if __name__ == "__main__":
    main()
