"""Cost of the recorder over a long run: CPU of a step and memory, at the beginning and at the end.

Run: .venv/bin/python -m bench.long_run [--steps 500]

One run goes through the shop again and again, with screenshots; then the same without a recorder. CPU is that
of the process in which agent and recorder run, memory the most that it has held so far. Each stretch is a
tenth.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from bench.figures.figure import Figure
from bench.figures.reporting import options, report
from bench.record import opened
from bench.runs.actions import Actions, shop
from bench.runs.reading import peak
from fixtures.sites.shop.server import serve
from replaykit.browser import find_browser
from replaykit.recorder.recorder import Recorder

STRETCHES = 10
FLAT = 1.25
"""Most that the end may cost of the beginning."""


class Stretch(NamedTuple):
    """A tenth of the run."""

    steps: int
    """Steps so far."""
    cpu: float
    """CPU ms of a step, the median."""
    memory: float
    """Most memory so far, MB."""


def stretches(actions: Sequence[Callable[[], object]]) -> list[Stretch]:
    """Do all and measure each tenth."""
    size, found = len(actions) // STRETCHES, []
    for number in range(STRETCHES):
        spent = [_cpu(action) for action in actions[number * size : (number + 1) * size]]
        found.append(Stretch((number + 1) * size, statistics.median(spent), peak()))
    return found


def _cpu(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return 1000 * (time.process_time() - start)


def actions_of(page: Page, url: str, steps: int) -> Actions:
    """Return so many actions: those of the shop, over and over."""
    return list(islice(chain.from_iterable(repeat(shop(page, url))), steps))


def recorded(browser: Browser, path: Path, steps: int) -> tuple[list[Stretch], float]:
    """Record so many steps; return what they cost, and the most memory once the file is sealed."""
    with serve() as site, opened(browser) as context, Recorder(path, screenshots="png") as recorder:
        page = context.new_page()
        recorder.attach(page)
        found = stretches(actions_of(page, site.url, steps))
    return found, peak()


def plain(browser: Browser, steps: int) -> list[Stretch]:
    """Do the same without a recorder."""
    with serve() as site, opened(browser) as context:
        return stretches(actions_of(context.new_page(), site.url, steps))


def figures(
    found: Sequence[Stretch], beside: Sequence[Stretch], sealed: float, size: int
) -> Iterator[Figure]:
    """Yield the curves, and the end against the beginning."""
    for one in found:
        yield Figure("recorded", one.cpu, "ms", at=one.steps)
    for one in beside:
        yield Figure("not recorded", one.cpu, "ms", at=one.steps)
    for one in found:
        yield Figure("most memory", one.memory, "MB", at=one.steps)
    # The first stretch loads modules and warms caches, so the second is the beginning.
    start, end = found[1], found[-1]
    yield Figure("CPU of a step, last tenth", end.cpu, "ms", None, "second tenth", start.cpu, FLAT)
    yield Figure("most memory, last tenth", end.memory, "MB", None, "second tenth", start.memory, FLAT)
    yield Figure("most memory, sealing included", sealed, "MB", None, "last tenth", end.memory)
    yield Figure("bytes per step", size / end.steps, "B")


def main() -> int:
    """Measure and report."""
    given = options(__doc__, steps=500).parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        launch, path = playwright.chromium.launch, Path(folder, "run.zst")
        flags = ["--no-sandbox", "--disable-gpu"]
        with closing(launch(executable_path=str(find_browser()), args=flags)) as browser:
            found, sealed = recorded(browser, path, given.steps)
            beside = plain(browser, given.steps)
        return report("long_run", list(figures(found, beside, sealed, path.stat().st_size)), given)


if __name__ == "__main__":
    sys.exit(main())
