"""How fast runs of other tools become bundles, with one job and with two: wall and processor time of each.

Run: .venv/bin/python -m bench.imports [--runs 500] [--turns 8] [--rounds 3]

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
from shutil import rmtree

from bench.figures.figure import Figure, middle
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


def figures(costs: dict[int, list[Cost]], runs: int) -> Iterator[Figure]:
    """Yield what a run costs, and what a second job saves."""
    for jobs, found in costs.items():
        name = f"{jobs} job{'s' * (jobs > 1)}"
        yield middle(f"{name}: processor time", [1000 * one.all / runs for one in found], "ms/run")
        firsts = [1000 * one.first / runs for one in found]
        yield middle(f"{name}: of which in the first process", firsts, "ms/run")
    two, one = ([1000 * cost.wall / runs for cost in costs[jobs]] for jobs in (2, 1))
    yield middle("2 jobs, wall time", two, "ms/run", None, "1 job", one)
    shared = [1000 * (cost.first + (cost.all - cost.first) / 2) / runs for cost in costs[2]]
    alone = [1000 * cost.all / runs for cost in costs[1]]
    yield middle("2 jobs, a processor each", shared, "ms/run", None, "1 job", alone)
    pairs = [loops() for _ in costs[1]]
    single, beside = ([1000 * pair[place] for pair in pairs] for place in (0, 1))
    yield middle("2 loops that share nothing, wall time", beside, "ms", None, "1 loop", single)


def main() -> int:
    """Measure and report."""
    given = options(__doc__, runs=500, turns=8, rounds=3).parse_args()
    costs: dict[int, list[Cost]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in")
        make_runs(source, given.runs, given.turns)
        adopt()
        for number in range(given.rounds):
            for jobs, found in costs.items():
                target = Path(folder, f"out{number}-{jobs}")
                found.append(cost(source, target, given.runs, jobs))
                rmtree(target)
    return report("imports", list(figures(costs, given.runs)), given)


if __name__ == "__main__":
    sys.exit(main())
