"""Cost of the proof of completeness per action: the same recordings with it and without it, taking turns.

Without it the script in the page neither counts nor audits input events, and no command of the driver is
received; all else is recorded as usual. No screenshots are taken: they would hide what is measured.

Run: .venv/bin/python -m bench.proof [--rounds 9]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

from playwright.sync_api import Browser, Page, sync_playwright

from bench.figures.figure import Figure, Rounds, added, joined, of_actions
from bench.figures.reporting import options, report
from bench.record import recorded
from bench.runs.actions import SITES
from replaykit.browser import find_browser
from replaykit.recorder.browser.witnesses.command_log import DriverLog
from replaykit.recorder.page import page_script

GOAL_MS = 1.0
"""Most that the proof may add to an action."""

COUNTING = ("function countReceived(event, inner) {", "function audit() {")
"""Where the script counts events, and compares its counts with those of the browser."""

Spent = dict[str, dict[str, list[list[float]]]]
"""By site and way: ms of every action, round by round."""


@contextmanager
def unproven() -> Iterator[None]:
    """Record without counting events and without hearing commands."""
    source = page_script._source()
    for head in COUNTING:
        assert source.count(head) == 1, head  # else both ways would be the same
        source = source.replace(head, f"{head} return;")
    with (
        patch.object(page_script, "_source", lambda: source),
        patch.object(DriverLog, "open", lambda self, target: None),
    ):
        yield


def times_of(site: str, browser: Browser) -> list[float]:
    """Record the actions on a site; return the ms that each took."""
    serve, actions = SITES[site]
    times: list[float] = []

    def drive(page: Page, keep: Callable[[], None] | None = None) -> None:
        for action in actions(page, server.url):
            start = time.perf_counter()
            action()
            times.append((time.perf_counter() - start) * 1000)

    with serve() as server, tempfile.TemporaryDirectory() as folder:
        recorded("off")(browser, Path(folder), drive)
    return times


def measure(browser: Browser, rounds: int) -> Spent:
    """Record every site with and without the proof; who comes first changes."""
    spent: Spent = {site: defaultdict(list) for site in SITES}
    for number in range(rounds):
        for site, found in spent.items():
            for way in ("with", "without") if number % 2 else ("without", "with"):
                found[way].append(_times(site, browser, way))
    return spent


def _times(site: str, browser: Browser, way: str) -> list[float]:
    if way == "with":
        return times_of(site, browser)
    with unproven():
        return times_of(site, browser)


def figures(spent: Spent) -> Iterator[Figure]:
    """Return what the proof adds to an action: the median difference to the same action of the same round."""
    for site, found in spent.items():
        yield _figure(site, found["with"], found["without"])
    yield _figure("all sites", *(joined(one[way] for one in spent.values()) for way in ("with", "without")))


def _figure(name: str, proven: Rounds, plain: Rounds) -> Figure:
    return of_actions(f"{name}: added", added(proven, plain), "ms", GOAL_MS, "without", plain)


def main() -> int:
    """Measure and report."""
    given = options(__doc__, rounds=9).parse_args()
    with sync_playwright() as playwright:
        launch = playwright.chromium.launch
        path, flags = str(find_browser()), ["--no-sandbox", "--disable-gpu"]
        with closing(launch(executable_path=path, args=flags)) as browser:
            return report("proof", list(figures(measure(browser, given.rounds))), given)


if __name__ == "__main__":
    sys.exit(main())
