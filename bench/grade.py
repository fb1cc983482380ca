"""Bundles graded per second and core, against reading one JSON file of the same, and what memory saves.

Run: .venv/bin/python -m bench.grade [--seconds 2]
"""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from bench.figures.figure import Figure, Spread, cpu, least, middle
from bench.figures.reporting import main
from bench.runs.corpus import RECORDINGS, Run, apps, recorded
from replaykit.bundle.reader import open_bundle
from replaykit.grading import grader
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.workers.worker import grade_item
from replaykit.grading.workers.worker_messages import WorkItem
from replaykit.replay import page_cache
from replaykit.replay.player import Replay
from replaykit.replay.selectors.prefilter import Prefilter
from replaykit.tasks.task import Task, decode_task


def _last_page(selector: str) -> Task:
    """Return a check of the answer, one of the URL and one of the last page, as most tasks have."""
    page = {"type": "page", "url": "last", "selector": selector, "expect": {"not_empty": True}}
    url = {"type": "url_match", "url": "https://mail.example/items/19", "path": "prefix"}
    answer = {"type": "string_match", "exact": "done"}
    return decode_task({"id": "last-page", "intent": "Open an item.", "checks": [answer, url, page]})


BADGE, HEADING, NOTHING = map(_last_page, ("tr.line .badge", "h1", ".toast.error"))
"""Elements that every page of the made-up apps has, that every page of the fixture sites has, and that no
page has.
"""

SELECTORS = ("#confirm-delete", ".toast.error", "dialog[open] button[data-act=refund]")
"""Selectors that a policy looks for on every page, and hardly ever finds."""


ROUNDS = 3
"""Of each number of processes."""


def as_one_json(source: str) -> bytes:
    """Return what a harness without a format would write: events and base64 payloads in one JSON text."""
    with open_bundle(source) as bundle:
        events = [msgspec.to_builtins(event) for event in bundle.trajectory.events]
        blobs = {id: base64.b64encode(bundle.blob(id)).decode() for id in bundle.blob_ids}
    return json.dumps({"events": events, "blobs": blobs}).encode()


def each(sources: list[str], work: Callable[[str], object]) -> Callable[[], None]:
    """Return a pass over all sources that knows none of their pages yet."""

    def run() -> None:
        with mock.patch.object(page_cache, "_KEPT", page_cache.Kept()):
            for source in sources:
                work(source)

    return run


def last_page(source: str, task: Task = BADGE) -> object:
    """Grade an answer, a URL and the last page."""
    with open_bundle(source) as bundle:
        return grade(bundle, task)


def opened(source: str) -> None:
    """Open a bundle: its tail is read and verified."""
    with open_bundle(source):
        pass


def story(source: str) -> object:
    """Open it, and read and verify all events."""
    with open_bundle(source) as bundle:
        return bundle.trajectory


def final_text(source: str) -> object:
    """Read the events, and what the last page shows in one place."""
    with open_bundle(source) as bundle:
        page = Replay(bundle).final
        found = page.dom.glimpse("h1") if page is not None and page.dom is not None else None
        return found.text if found is not None else None


def without_findings(source: str) -> object:
    """Grade the same, and do not look for what went wrong on the way."""
    with mock.patch.object(grader, "findings_of", lambda *_, **__: ()):
        return last_page(source, HEADING)


STAGES = {
    "opened": opened,
    "and all events read": story,
    "and a text of the last page read": final_text,
    "and checks graded, without findings": without_findings,
}
"""First checks of an answer, a URL and a page, each with the setup before it."""


def every_page(source: str) -> object:
    """Look for something on all 20 pages."""
    with open_bundle(source) as bundle:
        pages = Replay(bundle).pages
        return [page.dom.select(css) for page in pages if page.dom is not None for css in SELECTORS]


def every_page_plainly(source: str) -> object:
    """Do the same, every page parsed and none kept."""
    with (
        mock.patch.object(page_cache, "_KEPT", page_cache.Kept(limit=0)),
        mock.patch.object(Prefilter, "excludes", lambda *_: False),
    ):
        return every_page(source)


def figures(folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure."""
    runs = _sealed(folder / "large", apps())
    sites = _sealed(folder / "sites", recorded())
    shipped = [str(path) for path in RECORDINGS]
    name = "answer, URL, last page: fixture sites"
    heading, nothing = partial(last_page, task=HEADING), partial(last_page, task=NOTHING)
    yield _against_json(name, sites, heading, seconds, goal=2000)
    for stage, work in STAGES.items():
        yield _against_json(f"of that: {stage}", sites, work, seconds)
    yield _against_json("the same, nothing there matches", sites, nothing, seconds, goal=2000)
    yield _against_json("the same, pages of 130 KB", runs, last_page, seconds)
    options = GradeOptions()
    yield _against_json(
        "the shipped recordings",
        shipped,
        lambda source: grade_item(WorkItem(source=source), options),
        seconds,
        most=1 / 2,
    )
    name = "3 selectors on 20 pages each"
    yield _selectors(f"{name}, fixture sites", sites, seconds, goal=500)
    yield _selectors("the same, pages of 130 KB", runs, seconds)
    yield from _scaling(shipped * 20)


def _sealed(folder: Path, runs: list[Run]) -> list[str]:
    folder.mkdir()
    return [str(run.sealed(folder / f"{number}.zst")) for number, run in enumerate(runs)]


def _selectors(name: str, sources: list[str], seconds: float, goal: int | None = None) -> Figure:
    known, plain = cpu(each(sources, every_page), each(sources, every_page_plainly), seconds=seconds)
    return _per_second(name, sources, known, "parsing every page", plain, goal=goal, most=1 / 2.5)


def _against_json(
    name: str, sources: list[str], work: Callable[[str], object], seconds: float, **limits: Any
) -> Figure:
    texts = {source: as_one_json(source) for source in sources}
    reading = each(sources, lambda source: json.loads(texts[source]))
    graded, read = cpu(each(sources, work), reading, seconds=seconds)
    return _per_second(name, sources, graded, "loading one JSON", read, **limits)


def _per_second(
    name: str,
    sources: list[str],
    spent: Spread,
    peer: str,
    theirs: Spread,
    goal: int | None = None,
    most: float | None = None,
) -> Figure:
    # Figures say at most: times, not rates, so that less is better.
    limit = None if goal is None else 1000 / goal
    return least(name, spent, 1000 / len(sources), "ms/bundle", limit, peer, theirs, most)


def _scaling(sources: list[str]) -> Iterator[Figure]:
    spent: dict[int, list[float]] = {1: [], 2: []}
    for jobs in (1, 2) * ROUNDS:
        start = time.perf_counter()
        grade_many(sources, jobs=jobs)
        spent[jobs].append(1000 * (time.perf_counter() - start) / len(sources))
    yield middle("2 processes, wall time", spent[2], "ms/bundle", None, "one process", spent[1])


if __name__ == "__main__":
    sys.exit(main("grade", __doc__, figures))
