"""Opening and scrolling reports of 1,000 and 10,000 runs in Chromium, against a plain table of the same runs.

Run: .venv/bin/python -m bench.report [--runs 1000]... [--rounds 5]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.figures.figure import Figure, middle
from bench.figures.reporting import options, report
from bench.runs.corpus import sized
from replaykit.browser import find_browser
from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.verdict import Report
from replaykit.report.report_output import write_report
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import Task, decode_task

STEPS, ROWS = 5, 8
RUNS = (1000, 10_000)
OPENED = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
"""When the document was parsed and its script had run, ms."""
SCROLLED = """async (selector) => {
  const area = document.querySelector(selector), times = [];
  for (let step = 0, last = performance.now(); step < 120; step++) {
    area.scrollBy(0, 240);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times.slice(1).sort((a, b) => a - b)[113];
}"""
"""The frame that 95 % are shorter than, ms."""


def task() -> Task:
    """Return the task that the runs are graded against."""
    checks = [{"type": "string_match", "exact": "done"}, {"type": "url_match", "url": "https://x.example/"}]
    return decode_task({"id": "any", "intent": "Open an item and say done.", "checks": checks})


def table(graded: Report) -> str:
    """Return the least that shows the same rows."""
    rows = (f"<tr><td>{escape(one.task_id)}<td>{one.success}<td>{one.cup}" for one in graded.verdicts)
    return f"<!DOCTYPE html><title>Runs</title><table>{''.join(rows)}</table>"


def measured(browser: Browser, file: Path, area: str) -> tuple[float, float]:
    """Return when the file was there, and the slow frames of scrolling it, ms."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("[role=row], tr")
    opened, frame = page.evaluate(OPENED), page.evaluate(SCROLLED, area)
    page.close()
    return opened, frame


def figures(folder: Path, runs: int, rounds: int) -> Iterator[Figure]:
    """Measure both files in turns."""
    ours, plain = folder / "report.html", folder / "table.html"
    sources = [sized(f"run-{n}", STEPS, ROWS).sealed(folder / f"{n:05}.zst") for n in range(runs)]
    graded = grade_many(sources, options=GradeOptions(suite=Suite(tasks=(task(),))))
    write_report(graded, ours, sources=sources)
    plain.write_text(table(graded))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser())
        pairs = [(measured(browser, ours, "main"), measured(browser, plain, "html")) for _ in range(rounds)]
        browser.close()
    for place, name in enumerate(("open", "scroll, 95th of 100 frames")):
        found, beside = ([pair[side][place] for pair in pairs] for side in (0, 1))
        goal = 2000 if (name, runs) == ("open", RUNS[0]) else None
        yield middle(f"{runs:,} runs: {name}", found, "ms", goal, "plain table", beside)
    size, least = (one.stat().st_size / 1e6 for one in (ours, plain))
    yield Figure(f"{runs:,} runs: file", size, "MB", None, "plain table", least)


def main() -> int:
    """Measure and report."""
    parser = options(__doc__, rounds=5)
    parser.add_argument("--runs", type=int, action="append", help="again for more; default: 1000 and 10000")
    given = parser.parse_args()
    found: list[Figure] = []
    for runs in given.runs or RUNS:
        with tempfile.TemporaryDirectory() as folder:
            found += figures(Path(folder), runs, given.rounds)
    return report("report", found, given)


if __name__ == "__main__":
    sys.exit(main())
