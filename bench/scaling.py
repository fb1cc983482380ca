"""How grading grows: with workers, steps and page size; start-up; memory.

Run: .venv/bin/python -m bench.scaling [--seconds 1] [--bundles 400] [--only steps]...

Runs are made up (`bench.runs.corpus`), each with pages of its own: nothing that one bundle taught helps the
next. Grading is of an answer, a URL and the last page, as most tasks are; beside it, of every page. Times are
CPU time, the least of several rounds, so that they hold on a busy machine; only workers are measured in wall
time, the median of several rounds that take turns. Each part keeps its figures as `scaling.PART`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any, NamedTuple, TypeAlias

import msgspec

from bench.figures.figure import Figure, Spread, cpu, least, middle
from bench.figures.reporting import options, report
from bench.grade import BADGE, each, every_page, last_page
from bench.runs.corpus import STEPS, sized
from bench.runs.reading import peak
from replaykit.grading.engine import iter_grades
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.workers.worker import grade_item
from replaykit.grading.workers.worker_messages import WorkItem
from replaykit.tasks.suite import SCHEMA, Suite
from replaykit.tasks.task import Task, decode_task

ROUNDS = 8
"""Of each number of workers, and of each command."""

URL = decode_task({
    "id": "last", "intent": "Open an item.",
    "checks": [{"type": "url_match", "url": "https://x.example/"}],
})  # fmt: skip
"""Last part of a start-up: one check of an address."""

ANSWER = decode_task({
    "id": "answer", "intent": "Open an item.",
    "checks": [
        {"type": "url_match", "url": "https://mail.example/items/19", "path": "prefix"},
        {"type": "string_match", "must_include": ["done"]},
    ],
})  # fmt: skip
"""Checks that look at no page."""

ROWS = 60
"""Rows of a page of 30 KB."""

STEP_COUNTS = (5, 20, 50, 100, 200)
PAGE_ROWS = (20, 60, 250, 500, 1000)
BUNDLE_COUNTS = (0, 20, 50, 100, 200, 400)
SMALL, SMALL_ROWS = 2000, 6
"""Bundles that a whole command grades, and rows of their pages."""

COMMANDS = 3
"""Rounds of those."""

Part: TypeAlias = Callable[[Path, Any], Iterator[Figure]]
"""Measures one thing on the bundles of a folder, as the options say."""


def by_workers(folder: Path, given: Any) -> Iterator[Figure]:
    """Measure grading by this process, and by one and two workers."""
    sources = [str(path) for path in sorted(folder.glob("many-*.zst"))[: given.bundles]]
    paces: dict[int, list[Pace]] = {1: [], 2: []}
    for jobs in (1, 2) * ROUNDS:
        paces[jobs].append(_pace(sources, jobs))
    gaps, starts = ([[1000 * pace[part] for pace in paces[jobs]] for jobs in (1, 2)] for part in (0, 1))
    yield middle("1 process", gaps[0], "ms/bundle")
    yield middle("2 processes", gaps[1], "ms/bundle", None, "1 process", gaps[0])
    yield middle("1 process: until the first verdict", starts[0], "ms")
    yield middle("2 processes: until the first verdict", starts[1], "ms")


def whole(folder: Path, given: Any) -> Iterator[Figure]:
    """Measure the command over many small bundles, start and report included, and the pace in between."""
    small = folder / "small"
    small.mkdir()
    made = (sized(f"small-{n}", STEPS, SMALL_ROWS).sealed(small / f"{n:04}.zst") for n in range(given.small))
    sources = [str(path) for path in made]
    for name, task in {"answer and URL": ANSWER, "answer, URL, last page": BADGE}.items():
        words = [str(small), "--task", str(_suite(folder, task)), "--fail-on", ""]
        commanded, paced = partial(_graded, words), partial(_gap, sources, task)
        yield from _of_processes(f"{name}, the command", commanded, 1000 / given.small)
        yield from _of_processes(f"{name}, first to last verdict", paced, 1000)


def _of_processes(name: str, work: Callable[[int], float], factor: float) -> Iterator[Figure]:
    """Measure ms per bundle by one process and by two, taking turns; `work` times `factor` is in ms."""
    found: dict[int, list[float]] = {1: [], 2: []}
    for jobs in (1, 2) * COMMANDS:
        found[jobs].append(factor * work(jobs))
    yield middle(f"{name}, 1 process", found[1], "ms/bundle")
    yield middle(f"{name}, 2 processes", found[2], "ms/bundle", None, "1 process", found[1])


def by_steps(folder: Path, given: Any) -> Iterator[Figure]:
    """Measure CPU time of one bundle against its steps."""
    made = {steps: sized("steps", steps, ROWS).sealed(folder / f"steps-{steps}.zst") for steps in STEP_COUNTS}
    return _curves(made, given.seconds)


def by_page(folder: Path, given: Any) -> Iterator[Figure]:
    """Measure CPU time of one bundle against the size of its pages."""
    made = {}
    for rows in PAGE_ROWS:
        run = sized("pages", STEPS, rows)
        made[round(len(run.looks[0].snapshot) / 1000)] = run.sealed(folder / f"pages-{rows}.zst")
    return _curves(made, given.seconds)


def start_up(folder: Path, given: Any) -> Iterator[Figure]:
    """Measure CPU time of whole commands, beside an interpreter that does nothing."""
    suite = _suite(folder, URL)
    bundle = str(sized("start", STEPS, ROWS).sealed(folder / "start.zst"))
    commands = {
        "python -c pass": ["-c", "pass"],
        "import replaykit": ["-c", "import replaykit"],
        "replaykit --help": ["-m", "replaykit", "--help"],
        "replaykit show": ["-m", "replaykit", "show", bundle],
        "replaykit grade": ["-m", "replaykit", "grade", bundle, "--task", str(suite), "--fail-on", ""],
    }
    rounds = [[_child(*words) for words in commands.values()] for _ in range(ROUNDS)]
    spent = dict(zip(commands, (Spread.of(taken) for taken in zip(*rounds, strict=True)), strict=True))
    nothing = spent.pop("python -c pass")
    yield least("python -c pass", nothing, 1000, "ms")
    for name, found in spent.items():
        yield least(name, found, 1000, "ms", None, "python -c pass", nothing)


def memory(folder: Path, given: Any) -> Iterator[Figure]:
    """Measure the most memory that one worker holds, against the bundles that it grades."""
    words = ("-m", "bench.scaling", "--peak", str(folder))
    for count in BUNDLE_COUNTS:
        found = [float(_python(*words, str(count))) for _ in range(COMMANDS)]
        yield middle("one worker", found, "MB", at=count)


PARTS: dict[str, Part] = {
    "whole": whole, "workers": by_workers, "steps": by_steps, "pages": by_page, "startup": start_up,
    "memory": memory,
}  # fmt: skip
"""Measurements, in the order of the document."""


def main() -> int:
    """Measure part by part, and report each."""
    parser = options(__doc__, seconds=1.0, bundles=400, small=SMALL)
    parser.add_argument("--only", action="append", choices=PARTS, help="measure this only; again for more")
    parser.add_argument("--peak", nargs=2, metavar=("FOLDER", "COUNT"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peak:
        print(_peak(Path(given.peak[0]), int(given.peak[1])))
        return 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number in range(max(given.bundles, *BUNDLE_COUNTS)):
            sized(f"many-{number}", STEPS, ROWS).sealed(folder / f"many-{number:04}.zst")
        return max([
            report(f"scaling.{name}", list(PARTS[name](folder, given)), given) for name in given.only or PARTS
        ])  # fmt: skip


def _curves(made: dict[int, Path], seconds: float) -> Iterator[Figure]:
    works: dict[str, Callable[[str], object]] = {
        "answer, URL, last page": last_page,
        "every page": every_page,
    }
    for name, work in works.items():
        spent = cpu(*(each([str(path)], work) for path in made.values()), seconds=seconds * len(made))
        for x, found in zip(made, spent, strict=True):
            yield least(name, found, 1000, "ms", at=x)
    for x, path in made.items():
        yield Figure("file", path.stat().st_size / 1000, "KB", at=x)


class Pace(NamedTuple):
    """How fast many are graded, in seconds."""

    gap: float
    """Wall time between two verdicts, from the first to the last."""
    start: float
    """Wall time until the first verdict."""


def _pace(sources: list[str], jobs: int, task: Task = BADGE) -> Pace:
    options = GradeOptions(suite=Suite(tasks=(task,)))
    start = time.perf_counter()
    times = [time.perf_counter() for _ in iter_grades(sources, options, jobs=jobs)]
    return Pace((times[-1] - times[0]) / (len(times) - 1), times[0] - start)


def _gap(sources: list[str], task: Task, jobs: int) -> float:
    return _pace(sources, jobs, task).gap


def _graded(words: Sequence[str], jobs: int) -> float:
    """Return seconds of wall time that `grade` takes, report file included."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        _python("-m", "replaykit", "grade", *words, "--jobs", str(jobs), "-o", f"{folder}/report.jsonl")
        return time.perf_counter() - start


def _suite(folder: Path, task: Task) -> Path:
    path = folder / f"{task.id}.json"
    path.write_bytes(msgspec.json.encode({"schema": SCHEMA, "tasks": [task]}))
    return path


def _child(*arguments: str) -> float:
    """Return CPU seconds of an interpreter with these arguments, all of it."""
    before = getrusage(RUSAGE_CHILDREN)
    _python(*arguments)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def _peak(folder: Path, count: int) -> float:
    """Grade some bundles as a worker does; return the most memory held, in MB."""
    options = GradeOptions(suite=Suite(tasks=(BADGE,)))
    for path in sorted(folder.glob("many-*.zst"))[:count]:
        grade_item(WorkItem(source=str(path)), options)
    return peak()


if __name__ == "__main__":
    sys.exit(main())
