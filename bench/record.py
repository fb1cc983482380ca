"""Recorder overhead per action and bytes per step on the fixture sites, against other ways to keep a run.

Ratios are to Playwright tracing. The other ways are a HAR file, and a PNG with the HTML after every action.
Three sites are those of the fixtures; the fourth is a page of real components (`bench.runs.trace_viewer`).

Run: .venv/bin/python -m bench.record [--rounds 5]

A way adds the median, over all actions of all rounds, of the difference to the same action of the same round
without recording: actions take 5 to 200 ms; a median of all would lie between two kinds of them.
Bytes are the median of all rounds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize, sync_playwright

from bench.figures.figure import Figure, Rounds, added, joined, middle, of_actions
from bench.figures.reporting import options, report
from bench.runs.actions import SITES
from bench.runs.trace_viewer import VIEWER, is_installed
from replaykit.browser import find_browser
from replaykit.recorder.recorder import Recorder

_T = TypeVar("_T")

VIEWPORT: ViewportSize = {"width": 1280, "height": 720}

ALL = {**SITES, "components": VIEWER}
"""Sites of the fixtures, and a page of real components."""

TOGETHER = "fixture sites"
"""Name of the figures of all sites of the fixtures."""


Drive: TypeAlias = Callable[..., None]
"""Does the actions on a page; `keep`, if given, is called after each, in its time."""


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
    """Drive and keep a PNG and the HTML after every action, as agents' own loops do; return their bytes."""
    with opened(browser) as context:
        page, number = context.new_page(), count()

        def keep() -> None:
            name = next(number)
            shoot(page, folder / f"{name}.png")
            (folder / f"{name}.html").write_text(page.content())

        drive(page, keep)
    return size_of(folder)


def shoot(page: Page, path: Path) -> None:
    """Take a screenshot; again where the browser, now and then, has none to give yet."""
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


KEPT = [way for way in WAYS if way != "plain"]
"""Ways that keep the run."""


class Spent:
    """Cost of the ways on a site, or on several: round by round."""

    def __init__(self) -> None:
        self.times: dict[str, list[list[float]]] = defaultdict(list)
        """Of every action, by way, ms; actions stand in the same order for all."""
        self.sizes: dict[str, list[float]] = defaultdict(list)
        """Of all files, by way, bytes."""

    @classmethod
    def of(cls, parts: Sequence[Spent]) -> Spent:
        """Return what several sites cost together."""
        whole = cls()
        for way in WAYS:
            whole.times[way] = [list(one) for one in joined(part.times[way] for part in parts)]
            whole.sizes[way] = list(map(sum, zip(*(part.sizes[way] for part in parts), strict=True)))
        return whole

    def figures(self, site: str) -> Iterator[Figure]:
        """Yield what each way adds to an action and how many bytes a step takes, beside tracing."""
        for way in KEPT:
            name, peer = f"{site}, {way}: added per action", "" if way == "tracing" else "tracing"
            beside = self.added(peer) if peer else ()
            yield of_actions(name, self.added(way), "ms", None, peer, beside)
        for way in KEPT:
            name, peer = f"{site}, {way}: bytes per step", "" if way == "tracing" else "tracing"
            yield middle(name, self.per_step(way), "B", None, peer, self.per_step(peer) if peer else ())

    def added(self, way: str) -> Rounds:
        """Return what a way adds to each action, ms."""
        return added(self.times[way], self.times["plain"])

    def per_step(self, way: str) -> list[float]:
        """Return bytes per step of each round."""
        return [size / len(self.times[way][0]) for size in self.sizes[way]]


def rotated(values: Sequence[_T], by: int) -> list[_T]:
    """Return values with the first `by` of them at the end."""
    by %= len(values)
    return [*values[by:], *values[:by]]


def measure(site: str, browser: Browser, rounds: Iterable[int]) -> Spent:
    """Drive a site in every way, round for round."""
    found = Spent()
    for number in rounds:
        # Who comes first changes: no one is always measured beside the same neighbour.
        for name in rotated(list(WAYS), number):
            times, size = _driven(site, browser, name)
            found.times[name].append(times)
            found.sizes[name].append(size)
    return found


def _driven(site: str, browser: Browser, way: str) -> tuple[list[float], int]:
    serve, actions = ALL[site]
    times: list[float] = []
    with serve() as server, tempfile.TemporaryDirectory() as folder:

        def drive(page: Page, keep: Callable[[], None] = _nothing) -> None:
            for action in actions(page, server.url):
                start = time.perf_counter()
                action()
                keep()
                times.append((time.perf_counter() - start) * 1000)

        return times, WAYS[way](browser, Path(folder), drive)


def _nothing() -> None:
    """Keep nothing."""


def figures(browser: Browser, rounds: int) -> Iterator[Figure]:
    """Yield the figures of each site, and of those of the fixtures together."""
    found = {site: measure(site, browser, range(rounds)) for site in (ALL if is_installed() else SITES)}
    for site, spent in found.items():
        yield from spent.figures(site)
    yield from Spent.of([found[site] for site in SITES]).figures(TOGETHER)


def main() -> int:
    """Measure and report."""
    given = options(__doc__, rounds=5).parse_args()
    with sync_playwright() as playwright:
        launch = playwright.chromium.launch
        flags = ["--no-sandbox", "--disable-gpu"]
        with closing(launch(executable_path=str(find_browser()), args=flags)) as browser:
            return report("record", list(figures(browser, given.rounds)), given)


if __name__ == "__main__":
    sys.exit(main())
