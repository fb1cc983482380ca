"""A corpus of any number of bundles, graded by the command: start, rate, a kill, resuming, the report.

Run: .venv/bin/python -m bench.scale [--bundles 2000] [--jobs 2] [--steps 20] [--corpus FOLDER]

Bundles are made up, each with pages of its own. `--corpus` keeps them for the next time: 100,000 take some
minutes. Each is graded for an answer, a URL and the last page. All processes of the command are killed once
half of the verdicts are known, and the same command goes on. What a bundle costs is what docs/benchmarks.md
computes ten million from.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bench.figures.figure import Figure, mean
from bench.figures.reporting import options, report
from bench.grade import BADGE
from bench.runs.corpus import sized
from bench.runs.reading import CountingSource
from bench.runs.spent import Cost, adopt, run
from replaykit.bundle.bundle_format import Limits
from replaykit.bundle.byte_source import LocalSource
from replaykit.bundle.opening import read_container
from replaykit.bundle.reader import Bundle
from replaykit.grading.grader import grade
from replaykit.tasks.suite import SCHEMA

ROWS = 6
"""Rows of a page of 4 KB."""

FOLDER = 1000
"""Bundles of a folder."""

SAMPLE = 100
"""Bundles whose reads are counted."""


class Rows:
    """Counts the rows of a folder of verdicts while they are written."""

    def __init__(self, folder: Path) -> None:
        self.count = 0
        self.bytes = 0
        self._folder = folder
        self._places: dict[Path, int] = {}

    def look(self) -> int:
        """Read what is new, and return the number of all rows."""
        for path in sorted(self._folder.glob("*.jsonl")):
            with path.open("rb") as file:
                file.seek(self._places.get(path, 0))
                part = file.read()
            self._places[path] = self._places.get(path, 0) + len(part)
            self.count += part.count(b"\n")
            self.bytes += len(part)
        return self.count


class Graded(NamedTuple):
    """One run of the command."""

    cost: Cost
    first: float
    """Seconds until the first new verdict."""
    last: float
    """Seconds until the last."""
    rows: Rows


def corpus(folder: Path, bundles: int, steps: int) -> list[Path]:
    """Return so many bundles of a folder, and make those that are missing."""
    paths = [folder / f"{n // FOLDER:05}" / f"{n:08}.zst" for n in range(bundles)]
    for place in {path.parent for path in paths}:
        place.mkdir(parents=True, exist_ok=True)
    missing = [path for path in paths if not path.exists()]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        list(pool.map(partial(_make, steps), missing, chunksize=50))
    return paths


def _make(steps: int, path: Path) -> None:
    part = path.with_suffix(".part")
    sized(f"site-{path.stem}", steps, ROWS).sealed(part)
    part.replace(path)


def graded(words: Sequence[str], results: Path, stop_at: int | None = None) -> Graded:
    """Run the command; kill it when so many verdicts are known."""
    rows, times = Rows(results), [0.0, 0.0]
    before, start = rows.look(), time.perf_counter()

    def ends() -> bool:
        known = rows.count
        if rows.look() > known:
            times[1] = time.perf_counter() - start
            times[0] = times[0] or times[1]
        return stop_at is not None and rows.count - before >= stop_at

    cost = run([*words, "--resume", str(results)], ends)
    ends()
    return Graded(cost, times[0], times[1], rows)


def figures(paths: Sequence[Path], source: Path, folder: Path, jobs: int) -> Iterator[Figure]:
    """Grade all; grade all again with a kill in between; report."""
    task, count = folder / "task.json", len(paths)
    task.write_bytes(msgspec.json.encode({"schema": SCHEMA, "tasks": [BADGE]}))
    words = ["grade", str(source), "--task", str(task), "--fail-on", "", "--jobs", str(jobs)]
    words += ["-o", str(folder / "report.json")]
    whole = graded(words, folder / "whole")
    yield Figure("start to the first verdict", 1000 * whole.first, "ms")
    yield Figure("first verdict to the last", 1000 * (whole.last - whole.first) / count, "ms/bundle")
    yield from _costs(whole, count)
    graded(words, folder / "killed", count // 2)
    again = graded(words, folder / "killed")
    twice = again.rows.count - count
    yield Figure("after a kill: start to the first new verdict", 1000 * again.first, "ms")
    yield Figure("after a kill: graded twice", twice, "bundles", 0, "all of them", count, 0.5)
    yield Figure("report of all, nothing left to grade", graded(words, folder / "whole").cost.wall, "s")
    yield from _reads(paths[:SAMPLE])


def _costs(whole: Graded, count: int) -> Iterator[Figure]:
    yield Figure("processor time, all processes", 1000 * whole.cost.all / count, "ms/bundle")
    yield Figure("processor time, first process", 1000 * whole.cost.first / count, "ms/bundle")
    yield Figure("most memory of the first process", whole.cost.peak, "MB")
    yield Figure("row of a verdict", whole.rows.bytes / whole.rows.count, "B")


def _reads(paths: Sequence[Path]) -> Iterator[Figure]:
    """Count what grading reads of a bundle: each read is a request where bundles are elsewhere."""
    sources = [CountingSource(LocalSource(path)) for path in paths]
    for source in sources:
        with Bundle(read_container(source, Limits())) as bundle:
            grade(bundle, BADGE)
    yield Figure("read of a bundle", mean(source.bytes for source in sources) / 1000, "KB")
    yield Figure("requests for a bundle", mean(source.reads for source in sources), "requests")


def main() -> int:
    """Measure and report."""
    parser = options(__doc__, bundles=2000, jobs=2, steps=20)
    parser.add_argument("--corpus", type=Path, help="folder of the bundles; by default made and removed")
    given: Any = parser.parse_args()
    adopt()
    with tempfile.TemporaryDirectory() as made:
        source = given.corpus or Path(made, "corpus")
        paths = corpus(source, given.bundles, given.steps)
        return report("scale", list(figures(paths, source, Path(made), given.jobs)), given)


if __name__ == "__main__":
    sys.exit(main())
