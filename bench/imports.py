"""How fast runs of other tools become bundles, with one job and with two: wall and processor time of each.

Run: .venv/bin/python -m bench.imports [--runs 500] [--turns 8]

Runs are made up: WebVoyager result folders with a screenshot a turn, each with bytes of its own. What is
measured is the command, from its start to its end, with all its processes. Wall time says little on a busy
machine, so what a second job brings is also told by processor time: what the first process does cannot be
shared, the rest can. What two loops bring at this moment, which share nothing, is measured beside it.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

from bench.figures.figure import Figure
from bench.figures.reporting import options, report
from bench.runs.spent import Cost, adopt, run
from tests.interop.samples import SEEN, chat, png, turn, write

SIDE = 160
"""Width and height of a screenshot, px; each has bytes of its own."""


def make_runs(folder: Path, runs: int, turns: int) -> None:
    """Write result folders, each with a chat and its screenshots."""
    for number in range(runs):
        said = [*(turn(f"Click [{k}]") for k in range(turns - 1)), turn(f"ANSWER; mug {number}")]
        run = folder / f"taskShop--{number}"
        write(run, "interact_messages.json", chat(*said, seen=SEEN * 20))
        for k in range(1, turns + 1):
            noise = random.Random(f"{number} {k}").randbytes(40_000)
            write(run, f"screenshot{k}.png", png(k, SIDE)[:-12] + noise + png(k, SIDE)[-12:])


def cost(source: Path, target: Path, runs: int, jobs: int) -> Cost:
    """Import all runs by the command. Exits where a run is not imported."""
    found = run(["import", "webvoyager", str(source), "-o", str(target), "--jobs", str(jobs)])
    if len(list(target.glob("*.zst"))) != runs:
        sys.exit(f"{runs} runs were to be imported, not {len(list(target.glob('*.zst')))}")
    return found


def spin(seconds: float) -> None:
    """Use the processor for so many seconds of its time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def loops(seconds: float = 1.0) -> list[float]:
    """Return the wall time of one unit of work in one process, and in two that share nothing."""
    context = get_context("spawn")
    took = []
    for count in (1, 2):
        workers = [context.Process(target=spin, args=(seconds,)) for _ in range(count)]
        start = time.perf_counter()
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        took.append((time.perf_counter() - start) / count)
    return took


def figures(costs: dict[int, Cost], runs: int) -> Iterator[Figure]:
    """Yield what a run costs, and what a second job saves."""
    one, two = costs[1], costs[2]
    for jobs, found in costs.items():
        name = f"{jobs} job{'s' * (jobs > 1)}"
        yield Figure(f"{name}: processor time", 1000 * found.all / runs, "ms/run")
        yield Figure(f"{name}: of which in the first process", 1000 * found.first / runs, "ms/run")
    walls = [1000 * cost.wall / runs for cost in (two, one)]
    yield Figure("2 jobs, wall time", walls[0], "ms/run", None, "1 job", walls[1])
    shared = 1000 * (two.first + (two.all - two.first) / 2) / runs
    yield Figure("2 jobs, a processor each", shared, "ms/run", None, "1 job", 1000 * one.all / runs)
    alone, beside = loops()
    yield Figure("2 loops that share nothing, wall time", 1000 * beside, "ms", None, "1 loop", 1000 * alone)


def main() -> int:
    """Measure and report."""
    given = options(__doc__, runs=500, turns=8).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in")
        make_runs(source, given.runs, given.turns)
        adopt()
        costs = {jobs: cost(source, Path(folder, f"out{jobs}"), given.runs, jobs) for jobs in (1, 2)}
    return report("imports", list(figures(costs, given.runs)), given)


if __name__ == "__main__":
    sys.exit(main())
