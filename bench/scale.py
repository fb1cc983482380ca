"""A corpus of any number of bundles, graded by the command: start, rate, a kill, resuming, the report.

Run: .venv/bin/python -m bench.scale [--bundles 2000] [--jobs 2] [--steps 20] [--rounds 3] [--corpus FOLDER]

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

from bench.figures.figure import Figure, mean, middle
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

FEW = 10
"""Bundles whose grading needs no memory to speak of."""

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


class Round(NamedTuple):
    """Figures of one round: seconds, unless another unit is named."""

    whole: Graded
    """All bundles, without any row before."""
    again: Graded
    """The same after a kill."""
    report: Cost
    """The same once more, with nothing left to grade."""

    @property
    def twice(self) -> int:
        """Bundles that were graded before the kill and after it."""
        return self.again.rows.count - self.whole.rows.count


def measured(words: Sequence[str], folder: Path, count: int) -> Round:
    """Grade all; report; grade all again with a kill in between."""
    whole = graded(words, folder / "whole")
    report = graded(words, folder / "whole").cost
    graded(words, folder / "killed", count // 2)
    return Round(whole, graded(words, folder / "killed"), report)


def figures(paths: Sequence[Path], source: Path, folder: Path, given: Any) -> Iterator[Figure]:
    """Measure several rounds, each with rows of its own."""
    task, count = folder / "task.json", len(paths)
    task.write_bytes(msgspec.json.encode({"schema": SCHEMA, "tasks": [BADGE]}))
    words = ["grade", str(source), "--task", str(task), "--fail-on", "", "--jobs", str(given.jobs)]
    words += ["-o", str(folder / "report.json")]
    rounds = [measured(words, folder / f"round-{number}", count) for number in range(given.rounds)]
    few = graded([*words[:1], *map(str, paths[:FEW]), *words[2:]], folder / "few").cost
    yield middle("start to the first verdict", [1000 * one.whole.first for one in rounds], "ms")
    paces = [1000 * (one.whole.last - one.whole.first) / count for one in rounds]
    yield middle("first verdict to the last", paces, "ms/bundle")
    yield from _costs([one.whole.cost for one in rounds], count)
    grown = [1000 * (one.whole.cost.peak - few.peak) / (count - FEW) for one in rounds]
    yield middle("of which for each bundle", grown, "KB")
    rows = [one.whole.rows for one in rounds]
    yield middle("row of a verdict", [one.bytes / one.count for one in rows], "B")
    yield middle(
        "after a kill: start to the first new verdict", [1000 * one.again.first for one in rounds], "ms"
    )
    twice = max(one.twice for one in rounds)
    yield Figure("after a kill: graded twice", twice, "bundles", 0, "all of them", count, 0.5)
    yield middle("report of all, nothing left to grade", [one.report.wall for one in rounds], "s")
    spent = [1000 * one.report.all / count for one in rounds]
    yield middle("the same, processor time, all processes", spent, "ms/bundle")
    yield from _reads(paths[:SAMPLE])


def _costs(costs: Sequence[Cost], count: int) -> Iterator[Figure]:
    yield middle("processor time, all processes", [1000 * one.all / count for one in costs], "ms/bundle")
    yield middle("processor time, first process", [1000 * one.first / count for one in costs], "ms/bundle")
    yield middle("most memory of the first process", [one.peak for one in costs], "MB")


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
    parser = options(__doc__, bundles=2000, jobs=2, steps=20, rounds=3)
    parser.add_argument("--corpus", type=Path, help="folder of the bundles; by default made and removed")
    given: Any = parser.parse_args()
    adopt()
    with tempfile.TemporaryDirectory() as made:
        source = (given.corpus or Path(made)) / f"{given.bundles}-of-{given.steps}-steps"
        paths = corpus(source, given.bundles, given.steps)
        return report("scale", list(figures(paths, source, Path(made), given)), given)


if __name__ == "__main__":
    sys.exit(main())
