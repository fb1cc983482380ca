"""Recorder overhead per action and bytes per step on the fixture sites, against other ways to keep a run.

Playwright tracing is what the ratios are to; beside it, a HAR file, and a PNG with the HTML after every act.

Run: .venv/bin/python -m bench.record [--rounds 5]

What a way adds is the median, over all acts of all rounds, of the difference to the same act of the same
round without recording: acts take from 5 to 200 ms; a median of all would lie between two kinds of them.
Bytes are the mean of all rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from itertools import count
from operator import sub
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize, sync_playwright

from bench.acts import SITES
from replaykit.browser import find_browser
from replaykit.recorder.recorder import Recorder

_T = TypeVar("_T")

VIEWPORT: ViewportSize = {"width": 1280, "height": 720}


Drive: TypeAlias = Callable[..., None]
"""Does the acts on a page; `keep`, if given, is called after each, in its time."""


def plain(browser: Browser, folder: Path, drive: Drive) -> int:
    """Drive without recording."""
    with opened(browser) as context:
        drive(context.new_page())
    return 0


def tracing(browser: Browser, folder: Path, drive: Drive) -> int:
    """Drive under Playwright tracing with screenshots and snapshots; return the bytes of the trace."""
    with opened(browser) as context:
        context.tracing.start(screenshots=True, snapshots=True)
        drive(context.new_page())
        context.tracing.stop(path=folder / "trace.zip")
    return size_of(folder)


def har(browser: Browser, folder: Path, drive: Drive) -> int:
    """Drive while Playwright records a HAR file with bodies; return its bytes."""
    with opened(browser, record_har_path=folder / "run.har.zip") as context:
        drive(context.new_page())
    return size_of(folder)


def files(browser: Browser, folder: Path, drive: Drive) -> int:
    """Drive and keep a PNG and the HTML after every act, as agents' own loops do; return their bytes."""
    with opened(browser) as context:
        page, number = context.new_page(), count()

        def keep() -> None:
            name = next(number)
            shoot(page, folder / f"{name}.png")
            (folder / f"{name}.html").write_text(page.content())

        drive(page, keep)
    return size_of(folder)


def shoot(page: Page, path: Path) -> None:
    """Take a picture; again where the browser, now and then, has none to give yet."""
    with suppress(Error):
        page.screenshot(path=path)
        return
    page.screenshot(path=path)


def recorded(screenshots: str) -> Callable[[Browser, Path, Drive], int]:
    """Return a way of driving under the recorder; it returns the bytes of the bundle."""

    def run(browser: Browser, folder: Path, drive: Drive) -> int:
        path = folder / "run.zst"
        with opened(browser) as context, Recorder(path, screenshots=screenshots) as recorder:
            page = context.new_page()
            recorder.attach(page)
            drive(page)
        return path.stat().st_size

    return run


def opened(browser: Browser, **options: Any) -> AbstractContextManager[BrowserContext]:
    """Return a context that is closed at the end."""
    return closing(browser.new_context(viewport=VIEWPORT, **options))


def size_of(folder: Path) -> int:
    """Return the bytes of all files."""
    return sum(file.stat().st_size for file in folder.iterdir())


WAYS = {
    "plain": plain,
    "tracing": tracing,
    "HAR": har,
    "PNG and HTML": files,
    "replaykit, no screenshots": recorded("off"),
    "replaykit": recorded("png"),
}


class Spent:
    """What the ways cost on a site, or on several."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        """Of every act, by way, ms; acts stand in the same order for all."""
        self.size: dict[str, int] = defaultdict(int)
        """Of all files, by way, bytes."""

    def take(self, other: Spent) -> None:
        """Add what another site cost."""
        for name in WAYS:
            self.times[name] += other.times[name]
            self.size[name] += other.size[name]

    def table(self) -> str:
        """Return the table, a line each way."""
        lines = [f"{'way':28}{'ms/act':>8}{'added':>8}{'of tracing':>12}{'B/step':>9}{'of tracing':>12}"]
        return "\n".join([*lines, *map(self._line, WAYS)])

    def _line(self, name: str) -> str:
        spent, traced = self.times[name], self._added("tracing")
        share = self._added(name) / traced if traced > 0 else float("nan")
        size, ratio = self.size[name] / len(spent), self.size[name] / self.size["tracing"]
        middle = statistics.median(spent)
        return f"{name:28}{middle:8.1f}{self._added(name):8.1f}{share:12.2f}{size:9.0f}{ratio:12.2f}"

    def _added(self, name: str) -> float:
        return float(statistics.median(map(sub, self.times[name], self.times["plain"])))


def rotated(values: Sequence[_T], by: int) -> list[_T]:
    """Return values with the first `by` of them at the end."""
    by %= len(values)
    return [*values[by:], *values[:by]]


def measure(site: str, browser: Browser, rounds: Iterable[int]) -> Spent:
    """Drive a site in every way, round for round."""
    found = Spent()
    for number in rounds:
        # Who comes first changes: nobody is always measured beside the same neighbour.
        for name in rotated(list(WAYS), number):
            times, size = _driven(site, browser, name)
            found.times[name] += times
            found.size[name] += size
    return found


def _driven(site: str, browser: Browser, way: str) -> tuple[list[float], int]:
    serve, acts = SITES[site]
    times: list[float] = []
    with serve() as server, tempfile.TemporaryDirectory() as folder:

        def drive(page: Page, keep: Callable[[], None] = _nothing) -> None:
            for act in acts(page, server.url):
                start = time.perf_counter()
                act()
                keep()
                times.append((time.perf_counter() - start) * 1000)

        return times, WAYS[way](browser, Path(folder), drive)


def _nothing() -> None:
    """Keep nothing."""


def main() -> None:
    """Print a table for each site and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds, total = parser.parse_args().rounds, Spent()
    print(f"20 acts on each site, {rounds} rounds, medians; bytes: means")
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        with closing(
            playwright.chromium.launch(executable_path=str(find_browser()), args=options)
        ) as browser:
            for site in SITES:
                found = measure(site, browser, range(rounds))
                total.take(found)
                print(f"\n{site}\n{found.table()}")
    print(f"\nall\n{total.table()}")


if __name__ == "__main__":
    main()
