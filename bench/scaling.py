"""How grading grows: with workers, steps and page size; start-up; memory. Writes the plots in docs/.

Run: .venv/bin/python -m bench.scaling [--seconds 1] [--bundles 400] [--out docs/benchmarks]

Runs are made up (`bench.corpus`), each with pages of its own: nothing that one bundle taught helps the next.
Grading is of an answer, a URL and the last page, as most tasks are; beside it, of every page. Times are CPU
time, the least of several rounds, so that they hold on a busy machine; only workers are measured in wall
time, the best of several rounds that take turns.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import NamedTuple

import msgspec

from bench.corpus import STEPS, sized
from bench.figure import cpu
from bench.grade import BADGE, each, every_page, last_page
from bench.plot import Bar, Series, bars, lines
from bench.reading import peak
from replaykit.grading.engine import iter_grades
from replaykit.grading.options import GradeOptions
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
"""What a start-up ends with: one check of an address."""

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

NAMES = ("whole", "workers", "steps", "pages", "startup", "memory")
"""Of the measurements, in the order of the document."""

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"

_DOCUMENT = OUT.with_suffix(".md")


class Measured(NamedTuple):
    """One measurement: its plot, and the same as a table."""

    name: str
    """Of the plot's file."""
    plot: str
    """SVG."""
    table: Sequence[tuple[str, ...]]
    """Rows, the first of which names the columns."""


def by_workers(folder: Path, bundles: int) -> Measured:
    """Measure bundles graded per second by this process, and by one and two workers."""
    sources = [str(path) for path in sorted(folder.glob("many-*.zst"))[:bundles]]
    best: dict[int, Pace] = {}
    for jobs in (1, 2) * ROUNDS:
        found = _pace(sources, jobs)
        best[jobs] = found if jobs not in best else Pace(*map(min, best[jobs], found))
    table = [("workers", "bundles per second", "against one", "until the first verdict, ms")]
    for jobs, pace in best.items():
        told = (f"{1 / pace.gap:,.0f}", f"{best[1].gap / pace.gap:.2f}", f"{1000 * pace.start:,.0f}")
        table.append((str(jobs), *told))
    found_bars = [Bar(f"{jobs} worker{'s' * (jobs > 1)}", 1 / pace.gap) for jobs, pace in best.items()]
    return Measured("workers", bars("Bundles graded, by workers", "bundles per second", found_bars), table)


def whole(folder: Path) -> Measured:
    """Measure the command over 2,000 small bundles, start and report included, and the rate in between."""
    small = folder / "small"
    small.mkdir()
    sources = [
        str(sized(f"small-{n}", STEPS, SMALL_ROWS).sealed(small / f"{n:04}.zst")) for n in range(SMALL)
    ]
    table: list[tuple[str, ...]] = [
        ("checks", "workers", "whole command, s", "per second", "per second from first to last verdict")
    ]
    found_bars = []
    for name, task in {"answer and URL": ANSWER, "answer, URL, last page": BADGE}.items():
        words = [str(small), "--task", str(_suite(folder, task)), "--fail-on", ""]
        for jobs in (1, 2):
            seconds = min(_graded(*words, "--jobs", str(jobs)) for _ in range(COMMANDS))
            gap = min(_pace(sources, jobs, task).gap for _ in range(COMMANDS))
            rates = (SMALL / seconds, 1 / gap)
            table.append((name, str(jobs), f"{seconds:.2f}", *(f"{rate:,.0f}" for rate in rates)))
            found_bars.append(Bar(f"{name}, {jobs}", rates[0]))
    return Measured(
        "whole", bars("2,000 bundles, the whole command", "bundles per second", found_bars), table
    )


def by_steps(folder: Path, seconds: float) -> Measured:
    """Measure CPU time of one bundle against its steps."""
    made = {steps: sized("steps", steps, ROWS).sealed(folder / f"steps-{steps}.zst") for steps in STEP_COUNTS}
    return _curves("steps", "Grading one bundle, by its steps", "steps", made, seconds)


def by_page(folder: Path, seconds: float) -> Measured:
    """Measure CPU time of one bundle against the size of its pages."""
    made = {}
    for rows in PAGE_ROWS:
        run = sized("pages", STEPS, rows)
        made[round(len(run.looks[0].snapshot) / 1000)] = run.sealed(folder / f"pages-{rows}.zst")
    return _curves("pages", "Grading one bundle of 20 steps, by page size", "KB a page", made, seconds)


def start_up(folder: Path) -> Measured:
    """Measure CPU time of whole commands, beside an interpreter that does nothing."""
    suite = _suite(folder, URL)
    bundle = str(next(folder.glob("many-*.zst")))
    commands = {
        "python": ["-c", "pass"],
        "replaykit --help": ["-m", "replaykit", "--help"],
        "show": ["-m", "replaykit", "show", bundle],
        "grade": ["-m", "replaykit", "grade", bundle, "--task", str(suite), "--fail-on", ""],
    }
    spent = {name: min(_child(*words) for _ in range(ROUNDS)) for name, words in commands.items()}
    table = [("command", "CPU ms", "against only Python")]
    table += [(name, f"{1000 * s:.0f}", f"{s / spent['python']:.1f}") for name, s in spent.items()]
    found = [Bar(name, 1000 * seconds) for name, seconds in spent.items()]
    return Measured("startup", bars("A whole command", "CPU milliseconds", found), table)


def memory(folder: Path) -> Measured:
    """Measure the most memory that one worker holds, against the bundles that it grades."""
    words = ("-m", "bench.scaling", "--peak", str(folder))
    held = [(count, float(_python(*words, str(count)))) for count in BUNDLE_COUNTS]
    table = [("bundles graded", "MB"), *((str(count), f"{mb:.0f}") for count, mb in held)]
    series = [Series("one worker", held)]
    return Measured("memory", lines("Most memory of one worker", "bundles graded", "MB", series), table)


def write(found: Sequence[Measured], out: Path, document: Path | None) -> None:
    """Write the plots, and each table into the document between its marks."""
    out.mkdir(parents=True, exist_ok=True)
    for one in found:
        (out / f"{one.name}.svg").write_text(one.plot, "utf-8")
    if document is not None:
        text = document.read_text("utf-8")
        for one in found:
            begin, end = f"<!-- {one.name} -->\n", f"<!-- end of {one.name} -->"
            before, rest = text.split(begin)
            text = f"{before}{begin}{_told(one, out.name)}{end}{rest.split(end)[1]}"
        document.write_text(text, "utf-8")


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1, help="CPU seconds of each point")
    parser.add_argument("--bundles", type=int, default=400, help="bundles given to workers")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the plots")
    parser.add_argument("--only", action="append", choices=NAMES, help="measure this alone; again for more")
    parser.add_argument("--peak", nargs=2, metavar=("FOLDER", "COUNT"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.peak:
        print(_peak(Path(chosen.peak[0]), int(chosen.peak[1])))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number in range(max(chosen.bundles, *BUNDLE_COUNTS)):
            sized(f"many-{number}", STEPS, ROWS).sealed(folder / f"many-{number:04}.zst")
        measures: dict[str, Callable[[], Measured]] = {
            "whole": lambda: whole(folder),
            "workers": lambda: by_workers(folder, chosen.bundles),
            "steps": lambda: by_steps(folder, chosen.seconds),
            "pages": lambda: by_page(folder, chosen.seconds),
            "startup": lambda: start_up(folder),
            "memory": lambda: memory(folder),
        }
        found = [measure() for name, measure in measures.items() if name in (chosen.only or measures)]
    write(found, chosen.out, _DOCUMENT if chosen.out == OUT else None)
    print("\n".join(_told(one, chosen.out.name) for one in found))


def _curves(name: str, title: str, across: str, made: dict[int, Path], seconds: float) -> Measured:
    works: dict[str, Callable[[str], object]] = {
        "answer, URL, last page": last_page,
        "every page": every_page,
    }
    series = []
    for said, work in works.items():
        spent = cpu(*(each([str(path)], work) for path in made.values()), seconds=seconds * len(made))
        series.append(Series(said, [(x, 1000 * s) for x, s in zip(made, spent, strict=True)]))
    table = [(across, *(f"{one.name}, ms" for one in series), "file, KB")]
    for place, (x, path) in enumerate(made.items()):
        told = [f"{one.points[place][1]:.2f}" for one in series]
        table.append((str(x), *told, f"{path.stat().st_size / 1000:.0f}"))
    return Measured(name, lines(title, across, "CPU milliseconds", series), table)


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


def _graded(*words: str) -> float:
    """Return seconds of wall time that `grade` takes, report file included."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        _python("-m", "replaykit", "grade", *words, "-o", f"{folder}/report.jsonl")
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


def _told(one: Measured, folder: str) -> str:
    head, *rows = one.table
    parts = [head, tuple("---:" for _ in head), *rows]
    table = "\n".join(f"| {' | '.join(row)} |" for row in parts)
    title = one.plot.split("</title>")[0].split(">")[-1]
    return f"![{title}]({folder}/{one.name}.svg)\n\n{table}\n"


if __name__ == "__main__":
    main()
