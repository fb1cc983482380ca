"""Checks written after the recording: how many can be decided, by what was looked at when it was recorded.

Every run of the suite is recorded by a recorder that knows no checks (`none`), those of its own task alone
(`task`), or those of all tasks (`suite`), then graded with all checks of the whole suite. The truth is read
off the live site by a browser of its own, right after the run. Exit 1 where anything is decided wrongly.

Run: .venv/bin/python -m bench.evidence [--suite shop.yaml] [--runs N] [--evidence none]...
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from msgspec.structs import replace
from playwright.sync_api import Page, sync_playwright

from bench.figures.figure import Figure
from bench.figures.reporting import options, report
from fixtures.agents.pairs import TASKS, Pair, load_pairs
from replaykit.browser import find_browser
from replaykit.bundle.reader import open_bundle
from replaykit.grading.checks.check_grading import grade_checks
from replaykit.recorder.agent_runs import record_agent
from replaykit.replay.player import Replay
from replaykit.tasks.checks import Check, PageCheck, StringMatch, UrlMatch, texts
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task, fill_task

MODES = ("none", "task", "suite")
OUTCOMES = ("PASS", "FAIL", "UNDECIDED", "ERROR")
KINDS = ("answer", "url", "last page", "other page")
READ = """([selector, property]) => {
  const element = selector === null ? document.body : document.querySelector(selector);
  if (element === null) return null;
  if (property === 'text') return element.innerText;
  return String(property in element ? element[property] : element.getAttribute(property));
}"""


@dataclass
class Live:
    """Outcomes of the run and of the live site, without a recording."""

    answer: str | None = None
    url: str = ""
    values: dict[PageCheck, str | None] = field(default_factory=dict)


class Heard:
    """A run that also tells what the agent answers."""

    def __init__(self, run: Any, live: Live) -> None:
        self._run = run
        self._live = live

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def answer(self, text: str) -> None:
        self._live.answer = text
        self._run.answer(text)


def kind_of(check: Check) -> str | None:
    """Return the row of a check, None for kinds without a truth here."""
    match check:
        case StringMatch():
            return "answer"
        case UrlMatch():
            return "url"
        case PageCheck(url="last"):
            return "last page"
        case PageCheck():
            return "other page"
    return None


def record(pair: Pair, mode: str, suite: Iterable[Task], site: Any, path: Path) -> Live:
    """Record a run under one mode; return what was so at its end."""
    task, live, roots = pair.load_task(), Live(), pair.roots(site)
    checks = [check for other in suite for check in fill_task(other, roots).checks]

    def act(page: Page, told: Any, run: Any) -> None:
        pair.act()(page, told, Heard(run, live))
        last = page.context.pages[-1]
        live.url = last.url
        read_pages(last, (check for check in checks if kind_of(check) == "last page"), live)

    known = task if mode == "task" else replace(task, checks=())
    evidence = list(suite) if mode == "suite" else "task"
    record_agent(act, known, path, sites=roots, user=pair.load_user(), evidence=evidence)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(find_browser()), args=["--no-sandbox"])
        page = browser.new_page()
        for check in checks:
            if isinstance(check, PageCheck) and check.url != "last":
                page.goto(check.url)
                read_pages(page, [check], live)
        browser.close()
    return live


def read_pages(page: Page, checks: Iterable[Check], live: Live) -> None:
    """Read what each check asks of the page that is open."""
    for check in checks:
        assert isinstance(check, PageCheck)
        if check.locator is None:
            found = page.evaluate(READ, [check.selector, check.property])
        else:
            found = page.evaluate(check.locator)
        live.values[check] = found


def holds(check: Check, live: Live) -> bool:
    """Say whether a check holds, by the plainest rules that the suite needs."""
    match check:
        case StringMatch():
            return live.answer is not None and says(live.answer, check)
        case UrlMatch():
            return any(is_at(live.url, url) for url in texts(check.url))
        case PageCheck(expect=expect):
            found = live.values[check]
            if found is None:
                return False
            shown = plain(found)
            parts = [*texts(expect.contains), *expect.all_of]
            is_equal = expect.equals is None or shown == plain(expect.equals)
            has_parts = all(plain(part) in shown for part in parts)
            return is_equal and has_parts and not any(plain(part) in shown for part in texts(expect.excludes))
    raise AssertionError(check)


def says(answer: str, check: StringMatch) -> bool:
    """Say whether an answer is what was asked for."""
    said = plain(answer)
    is_whole = all(plain(one).rstrip(".") == said.rstrip(".") for one in texts(check.exact))
    return is_whole and all(plain(part) in said for part in texts(check.must_include))


def is_at(url: str, wanted: str) -> bool:
    """Say whether a URL has the path and the query of another."""
    found, asked = urlsplit(url), urlsplit(wanted)
    query = parse_qs(found.query)
    pairs = parse_qs(asked.query).items()
    is_same = (found.netloc, found.path) == (asked.netloc, asked.path)
    return is_same and all(query.get(name) == values for name, values in pairs)


def plain(text: str) -> str:
    """Return a text without what no check is about: case and white space."""
    return " ".join(text.split()).casefold()


def outcomes(
    path: Path, suite: Iterable[Task], roots: dict[str, tuple[str, ...]]
) -> Iterator[tuple[Check, str]]:
    """Grade a recording with every check of the suite."""
    with open_bundle(path) as bundle:
        replay = Replay(bundle)
        for task in suite:
            filled = fill_task(task, roots)
            results = grade_checks(filled, replay, "strict", sites=roots)
            yield from (
                (check, str(result.outcome)) for check, result in zip(filled.checks, results, strict=True)
            )


def measure(
    pairs: Iterable[Pair], suite: list[Task], mode: str
) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Return counts by kind and outcome, and what was decided wrongly."""
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for pair in pairs:
        with tempfile.TemporaryDirectory() as folder, pair.serve() as site:
            path = Path(folder) / "run.zst"
            live = record(pair, mode, suite, site, path)
            for check, outcome in outcomes(path, suite, pair.roots(site)):
                kind = kind_of(check)
                if kind is None:
                    continue
                counts[kind, outcome] += 1
                if outcome in ("PASS", "FAIL") and (outcome == "PASS") != holds(check, live):
                    counts[kind, "wrong"] += 1
                    wrong.append(f"{mode}: {pair.name}: {outcome}, but live it is not so: {check}")
                    print(wrong[-1], file=sys.stderr, flush=True)
    return counts, wrong


def figures(mode: str, counts: Counter[tuple[str, str]]) -> Iterator[Figure]:
    """Yield what was left open, and what was decided wrongly, of the checks of each kind."""
    for kind in KINDS:
        total = sum(counts[kind, outcome] for outcome in OUTCOMES)
        for name, most in (("UNDECIDED", None), ("ERROR", None), ("wrong", 0)):
            found = f"evidence {mode}, {kind}: {name.lower()}"
            yield Figure(found, counts[kind, name], "checks", None, "all of them", total, most)


def main() -> int:
    """Measure every mode and report."""
    parser = options(__doc__)
    parser.add_argument("--suite", default="shop.yaml")
    parser.add_argument("--runs", type=int, default=None)
    parser.add_argument("--evidence", choices=MODES, action="append")
    given = parser.parse_args()
    suite = list(load_suite(TASKS / given.suite).tasks)
    pairs = [pair for pair in load_pairs() if pair.suite == given.suite and pair.agent != "good_async"]
    pairs = pairs[: given.runs]
    print(f"{len(pairs)} runs of {given.suite}, each graded with all checks of its {len(suite)} tasks")
    found: list[Figure] = []
    for mode in given.evidence or MODES:
        found += figures(mode, measure(pairs, suite, mode)[0])
    return report("evidence", found, given)


if __name__ == "__main__":
    sys.exit(main())
